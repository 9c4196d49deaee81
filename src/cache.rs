//! The folder in which Verilator's builds are kept.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::outputs;

/// `petal cache clean`
pub fn clean() -> Result<(), Failure> {
    let dir = path();
    match fs::remove_dir_all(&dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::io("remove the cache", &dir)(error))
        }
        _ => outputs::print(&format!("{} is empty\n", dir.display())),
    }
}

/// Where builds are kept, by the XDG base directory specification.
pub fn path() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = match (variable("XDG_CACHE_HOME"), variable("HOME")) {
        (Some(cache), _) => PathBuf::from(cache),
        (None, Some(home)) => PathBuf::from(home).join(".cache"),
        (None, None) => std::env::temp_dir(),
    };
    base.join("petal")
}

/// The folder for builds, which is there.
pub fn dir() -> PathBuf {
    let dir = path();
    // Where the cache can't be made, builds are only slower.
    match fs::create_dir_all(&dir) {
        Ok(()) => dir,
        Err(_) => std::env::temp_dir().join("petal"),
    }
}

/// The size of all files in the folder `dir`, in bytes.
pub fn size(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}
