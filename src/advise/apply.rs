//! `petal advise --apply`: changes the design's file.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use petal_advise::Advice;
use petal_profile::{Error, folder};

use crate::design;
use crate::messages;

/// Where the design's file is kept as it was.
fn kept(path: &Path) -> PathBuf {
    let mut kept = path.as_os_str().to_owned();
    kept.push(".orig");
    PathBuf::from(kept)
}

/// The design's file itself, where the path leads to it by symbolic links. Fails if it can't be changed.
pub fn check(path: &Path) -> Result<PathBuf, Error> {
    if design::is_standard_input(path) {
        return Err(Error::usage(
            "`--apply` changes a file: give the design as one, not on standard input",
        ));
    }
    let kept = kept(path);
    // A link that leads nowhere is there, too.
    if kept.symlink_metadata().is_ok() {
        return Err(Error::usage(format!(
            "{} is there already, and `--apply` would lose it: move it away",
            kept.display()
        )));
    }
    let real = fs::canonicalize(path).map_err(Error::io("read the design", path))?;
    let metadata = fs::metadata(&real).map_err(Error::io("read the design", path))?;
    if metadata.permissions().readonly() {
        return Err(Error::usage(format!(
            "{} is read-only, and `--apply` would change it: make it writable, or apply the patch to a copy",
            path.display()
        )));
    }
    Ok(real)
}

/// Changes the design's file, whose text was `text`, keeps it as it was, and tells so.
pub fn apply(path: &Path, text: &str, advice: &Advice, quiet: bool) -> Result<(), Error> {
    if advice.all_patch.is_empty() {
        return Ok(());
    }
    let real = check(path)?;
    let before = petal_files::read(path).map_err(Error::io("read the design", path))?;
    if before != text.as_bytes() {
        return Err(Error::new(format!(
            "{} was changed meanwhile, so the advice is not applied",
            path.display()
        )));
    }
    let metadata = fs::metadata(&real).map_err(Error::io("read the design", path))?;
    // With the same mode, and as far as that is allowed of the same owner.
    let write = |to: &Path, content: &[u8]| {
        let draft = folder::Draft::of(to, content)?;
        let _ = std::os::unix::fs::chown(draft.path(), Some(metadata.uid()), Some(metadata.gid()));
        fs::set_permissions(draft.path(), metadata.permissions())
            .map_err(Error::io("write", to))?;
        draft.finish()
    };
    let kept = kept(path);
    write(&kept, &before)?;
    write(&real, advice.text.as_bytes())?;
    if !quiet {
        let is_proved = advice.proved_patch == advice.all_patch;
        let checked = ", also by what is only checked (`--proved` leaves that out)";
        messages::note(format_args!(
            "{} is changed as advised{}; {} is as it was",
            path.display(),
            if is_proved { "" } else { checked },
            kept.display()
        ));
    }
    Ok(())
}
