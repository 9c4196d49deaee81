//! The executables of designs in the cache: which are there, and which go when there are too many.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::cache::{EXECUTABLE, Entry, Kind, VERILOG, entry_path};
use crate::options::BuildOptions;
use crate::runtime::common_flags;
use crate::testbench;
use crate::verilator::Verilator;

/// An executable in the cache: the folder has it and the Verilog that it was built from.
pub(crate) struct Built {
    path: PathBuf,
    cache: PathBuf,
}

/// How many executables the cache holds.
const MAX_BUILT: usize = 64;

impl Built {
    /// The place for the executable of a design.
    pub(crate) fn of(
        verilator: &Verilator,
        verilog: &[u8],
        cache: &Path,
        options: &BuildOptions,
    ) -> Self {
        let mut hasher = DefaultHasher::new();
        verilog.hash(&mut hasher);
        for path in &options.more.files {
            // Verilator tells of one that can't be read.
            (path, fs::read(path).ok()).hash(&mut hasher);
        }
        let parts = [
            common_flags(options.trace),
            options.optimisation.flag().to_owned(),
            format!("{:?} {:?}", options.top, options.signals),
            env!("CARGO_PKG_VERSION").to_owned(),
            testbench::SOURCE.to_owned(),
            hasher.finish().to_string(),
        ];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Self {
            path: entry_path(cache, Kind::Design, verilator, &parts),
            cache: cache.to_owned(),
        }
    }

    /// Copies the executable to `to`, if it is there and is that of this Verilog. A copy, because
    /// another process may remove it any time.
    pub(crate) fn fetch(&self, verilog: &[u8], to: &Path) -> bool {
        fs::read(self.path.join(VERILOG)).is_ok_and(|kept| kept == verilog)
            && fs::copy(self.path.join(EXECUTABLE), to).is_ok()
    }

    /// Puts a copy of an executable there.
    pub(crate) fn keep(&self, executable: &Path, verilog: &[u8]) -> Result<(), Error> {
        self.make_room();
        let Some(entry) = Entry::missing(&self.path)? else {
            return Ok(());
        };
        let copy = entry.folder.path().join(EXECUTABLE);
        fs::copy(executable, &copy).map_err(Error::io("write", &copy))?;
        let design = entry.folder.path().join(VERILOG);
        fs::write(&design, verilog).map_err(Error::io("write", &design))?;
        entry.publish()
    }

    /// Removes the oldest executables where there are too many. Not being able to is no reason to
    /// fail: others may be at it too.
    fn make_room(&self) {
        let entries = fs::read_dir(&self.cache).into_iter().flatten().flatten();
        let mut built: Vec<_> = entries
            .filter(|entry| entry.file_name().to_str().and_then(Kind::of) == Some(Kind::Design))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        built.sort();
        let surplus = (built.len() + 1).saturating_sub(MAX_BUILT);
        for (_, path) in built.into_iter().take(surplus) {
            let _ = fs::remove_dir_all(path);
        }
    }
}
