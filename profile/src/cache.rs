//! The folder in which Verilator's builds are kept: where it is, and that it is its user's alone.
//!
//! What is in it is `petal_verilator`'s.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use petal_files::Scratch;

use crate::error::Error;

/// Where builds are kept, by the XDG base directory specification.
///
/// # Errors
/// When the environment names no place.
pub fn path() -> Result<PathBuf, Error> {
    let folder = |name| {
        let folder = PathBuf::from(std::env::var_os(name)?);
        // The specification has it that other values are none.
        folder.is_absolute().then_some(folder)
    };
    folder("XDG_CACHE_HOME")
        .or_else(|| Some(folder("HOME")?.join(".cache")))
        .map(|base| base.join("petal"))
        .ok_or_else(|| {
            Error::new(
                "there is no place for a cache: neither XDG_CACHE_HOME nor HOME is the path of a folder",
            )
        })
}

/// The cache, opened.
pub(crate) struct Cache {
    dir: PathBuf,
    _scratch: Option<Scratch>,
}

impl Cache {
    /// Opens the user's cache, which is made if it is not there. Where it can't be, builds go to a
    /// temporary folder, and are only slower.
    ///
    /// Fails if somebody else could have put executables there.
    pub fn open() -> Result<Self, Error> {
        if let Ok(dir) = path()
            && make(&dir).is_ok()
        {
            check(&dir)?;
            return Ok(Self::of(&dir));
        }
        let scratch = Scratch::new().map_err(Error::io("write to", &std::env::temp_dir()))?;
        Ok(Self {
            dir: scratch.path().to_owned(),
            _scratch: Some(scratch),
        })
    }

    /// A cache of its own, which nobody else knows of.
    pub fn of(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            _scratch: None,
        }
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Makes the folder if it is not there, for its user alone.
///
/// # Errors
/// When it can't be made.
pub fn make(dir: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Fails unless the folder belongs to this user, and nobody else could have written to it. Nobody
/// else can look into it then, either.
///
/// # Errors
/// Then, and when it can't be read.
pub fn check(dir: &Path) -> Result<(), Error> {
    let refused = |problem: &str| {
        Err(Error::new(format!(
            "the cache {} {problem}, so what is in it may be anybody's, and petal runs nothing from there; \
             remove it, or set XDG_CACHE_HOME to a folder of your own",
            dir.display()
        )))
    };
    let failed = || Error::io("read the cache", dir);
    let folder = fs::metadata(dir).map_err(failed())?;
    // Of a link, both ends count.
    let link = fs::symlink_metadata(dir).map_err(failed())?;
    let user = geteuid().as_raw();
    if folder.uid() != user || link.uid() != user {
        return refused("belongs to another user");
    }
    if folder.mode() & 0o022 != 0 {
        return refused("can be written by other users");
    }
    if folder.mode() & 0o077 != 0 {
        let private = Permissions::from_mode(0o700);
        fs::set_permissions(dir, private).map_err(Error::io("protect the cache", dir))?;
    }
    Ok(())
}
