//! What is in the cache folder: the names of its entries and of their files, so that nothing else is
//! ever removed from it, and how an entry gets there whole.
//!
//! An entry is a folder `KIND-VERSION-HASH`: the kind of entry, Verilator's version, and a hash of all
//! that it depends on. It is made in a folder of its own and then renamed, so others see all of it or none, and of several that make the
//! same entry one wins and all are served. Does not know what is in one.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use petal_files::{Scratch, is_scratch};

use crate::Error;
use crate::verilator::Verilator;

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The executable of a design, and the Verilog that it was built from.
    Design,
    /// A precompiled header.
    Header,
    /// Verilator's runtime, compiled.
    Runtime,
}

pub(crate) const VERILOG: &str = "design.sv";
pub(crate) const EXECUTABLE: &str = "simulation";
/// The header that all C++ of a design includes first.
pub(crate) const HEADER: &str = "petal.h";

impl Kind {
    const ALL: [Self; 3] = [Self::Design, Self::Header, Self::Runtime];

    fn name(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Header => "header",
            Self::Runtime => "runtime",
        }
    }

    /// The place of an entry.
    pub(crate) fn path(self, cache: &Path, verilator: &Verilator, hash: u64) -> PathBuf {
        let version = &verilator.version.text;
        cache.join(format!("{}-{version}-{hash:016x}", self.name()))
    }

    /// The kind of the entry with this name, if it is one.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (kind, rest) = name.split_once('-')?;
        let (version, hash) = rest.rsplit_once('-')?;
        let hexadecimal = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if version.is_empty() || hash.len() != 16 || !hash.bytes().all(hexadecimal) {
            return None;
        }
        Self::ALL.into_iter().find(|of| of.name() == kind)
    }

    /// Whether an entry of this kind has a file of this name.
    fn has(self, file: &str) -> bool {
        match self {
            Self::Design => [VERILOG, EXECUTABLE].contains(&file),
            Self::Header => file == HEADER || file.strip_suffix(".gch") == Some(HEADER),
            Self::Runtime => Path::new(file)
                .extension()
                .is_some_and(|extension| extension == "o"),
        }
    }
}

/// Removes what builds have put into the folder `cache`, and nothing else. Returns what is left:
/// what builds did not put there. The folder itself stays, and what builds that run are making.
///
/// # Errors
///
/// [`Error::Io`].
pub fn clean_cache(cache: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = || Error::io("clean the cache", cache);
    // Removes what killed builds have left.
    drop(Scratch::new_in(cache).map_err(failed())?);
    let mut left = Vec::new();
    for entry in fs::read_dir(cache).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let is_folder = entry.file_type().map_err(failed())?.is_dir();
        let kind = entry.file_name().to_str().and_then(Kind::of);
        match kind.filter(|_| is_folder) {
            Some(kind) => empty(kind, &entry.path(), &mut left).map_err(failed())?,
            None if is_folder && is_scratch(&entry.file_name()) => {}
            None => left.push(entry.path()),
        }
    }
    left.sort();
    Ok(left)
}

/// Removes an entry, unless there is more in it than builds have put there.
fn empty(kind: Kind, path: &Path, left: &mut Vec<PathBuf>) -> io::Result<()> {
    let before = left.len();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| kind.has(name));
        if is_ours && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        } else {
            left.push(entry.path());
        }
    }
    if left.len() == before {
        fs::remove_dir(path)?;
    }
    Ok(())
}

/// A cache entry in the making.
pub(crate) struct Entry {
    pub folder: Scratch,
    path: PathBuf,
}

impl Entry {
    /// A place to make the entry at `path`; `None` if it is already there.
    pub fn missing(path: &Path) -> Result<Option<Self>, Error> {
        if path.is_dir() {
            return Ok(None);
        }
        let cache = path.parent().unwrap_or(Path::new("."));
        Ok(Some(Self {
            folder: Scratch::new_in(cache).map_err(Error::io("create a folder in", cache))?,
            path: path.to_owned(),
        }))
    }

    /// Puts the entry in its place, unless another process was faster.
    pub fn publish(self) -> Result<(), Error> {
        match fs::rename(self.folder.path(), &self.path) {
            Err(_) if self.path.is_dir() => Ok(()),
            Err(error) => Err(Error::io("create", &self.path)(error)),
            Ok(()) => Ok(()),
        }
    }
}

/// Where the entry is that depends on these parts, and on which Verilator makes it.
pub(crate) fn entry_path(
    cache: &Path,
    kind: Kind,
    verilator: &Verilator,
    parts: &[&str],
) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    verilator.compiler.version.hash(&mut hasher);
    verilator.root.hash(&mut hasher);
    parts.hash(&mut hasher);
    kind.path(cache, verilator, hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_builds_made_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path();
        let write = |name: &str| {
            let path = cache.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        for made in [
            "design-5.006-0123456789abcdef/design.sv",
            "design-5.006-0123456789abcdef/simulation",
            "header-5.006-0123456789abcdef/petal.h",
            "header-5.006-0123456789abcdef/petal.h.gch",
            "runtime-5.036-0123456789abcdef/verilated.o",
            ".petal-tmp-a1b2c3/petal.h",
        ] {
            write(made);
        }
        let mut others = [
            write("design-5.006-fedcba9876543210/notes.txt"),
            write("design-notes/simulation"),
            write("design-5.006-0123456789ABCDEF/simulation"),
            write("header-5.006-0123456789abcde0"),
            write("thesis.tex"),
        ];
        others.sort();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("simulation"), "").unwrap();
        let link = cache.join("design-5.006-0000000000000000");
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();

        let left = clean_cache(cache).unwrap();
        for path in others.iter().chain([&link]) {
            assert!(path.exists(), "{} is gone", path.display());
        }
        assert!(elsewhere.path().join("simulation").exists());
        let entries = fs::read_dir(cache).unwrap().count();
        assert_eq!(entries, others.len() + 1, "{left:?}");
        assert_eq!(left.len(), entries, "{left:?}");
    }
}
