//! The folder of a sweep: what its files are called, and what may be done with it.

use std::fs;
use std::io;
use std::path::Path;

use petal_files::is_scratch;
use petal_profile::{Error, folder};

/// What is in the folder of a sweep: what it is made of, its page, and folders with rows, profiles and what was generated.
pub(super) const SWEEP: &str = "sweep.json";
pub(super) const PAGE: &str = "sweep.html";
pub(super) const ROWS: &str = "rows";
pub(super) const PROFILES: &str = "profiles";
pub(super) const GENERATED: &str = "generated";

/// The file of a row, in a folder of its own that is locked while somebody is at the run.
pub(super) const ROW: &str = "row.json";

/// Fails unless the folder is not there, empty, or has the file or folder `mark`, which all have that hold such a thing.
pub fn check_free(out: &Path, mark: &str, what: &str) -> Result<(), Error> {
    let entries = match fs::read_dir(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("write to the output folder", out))?,
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.retain(|name| !is_scratch(name));
    names.sort();
    match names.first() {
        Some(first) if !out.join(mark).exists() => Err(Error::usage(format!(
            "the output folder {} holds {} and no {what}; choose a new or empty folder with `--out`",
            out.display(),
            first.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a file, unless it is there: several commands may work on parts of one sweep in one folder.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    folder::write_whole(path, text.as_bytes())
}

/// Removes a folder, if it is there.
pub(super) fn remove(dir: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", dir)(error))
        }
        _ => Ok(()),
    }
}
