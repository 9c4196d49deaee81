//! `petal run --on-change`: runs a design again whenever a file that the run reads has changed, and has the open report show it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use petal_profile::{Error, ErrorKind, Places, interrupt};

use super::once::{Shown, once};
use crate::args::RunArgs;
use crate::live::Live;
use crate::messages;

/// How long to wait between looks at the files.
const PATIENCE: Duration = Duration::from_millis(100);

/// What differs between two contents of a file; `None` if it is not there.
type Version = Option<(u64, u64, i64, i64)>;

/// Runs the design until somebody ends it.
pub fn on_change(args: &RunArgs, out: &Path) -> Result<(), Error> {
    let live = Live::new(out)?;
    let mut watched = BTreeMap::from([(args.design.design.clone(), None)]);
    let mut shown = Shown::All;
    loop {
        for (path, seen) in &mut watched {
            *seen = version(path);
        }
        let mut places = Places::default();
        let ended = once(args, &mut places, shown);
        interrupt::check()?;
        let failed = match ended {
            Err(error) if error.kind() == ErrorKind::Usage => return Err(error),
            Err(error) => {
                messages::error(&error);
                Some(error)
            }
            Ok(()) => None,
        };
        if let Shown::All = shown {
            if !args.quiet {
                messages::note(format_args!(
                    "{} shows the report, and each run of it (Ctrl-C ends this)",
                    live.link()
                ));
            }
            live.open();
            shown = Shown::Difference;
        }
        live.changed(failed.as_ref());
        for path in places.inputs() {
            let path: PathBuf = path.to_owned();
            watched.entry(path).or_insert_with_key(|path| version(path));
        }
        while watched.iter().all(|(path, seen)| version(path) == *seen) {
            interrupt::check()?;
            thread::sleep(PATIENCE);
        }
        // An editor may need a moment for all of it.
        thread::sleep(PATIENCE);
    }
}

fn version(path: &Path) -> Version {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
}
