//! The folder of a profile: the names of its files, and how they get there.
//!
//! Files are written to a hidden folder beside their place and renamed at the end, `summary.json`
//! last. So a folder with a summary is whole, and one that a failed run left has none. Of several
//! commands that write to a folder, one at a time renames, so all files are of the same run.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::failure::Failure;

/// The metadata of the design.
pub const METADATA: &str = "metadata.json";
/// The Petal trace.
pub const TRACE: &str = "trace.petal";
/// The summary; there only when everything else is.
pub const SUMMARY: &str = "summary.json";
/// The memories after the run.
pub const MEMORIES: &str = "memories.json";
/// The Verilog of the instrumented design; not kept.
pub const VERILOG: &str = "design.sv";

/// The summary of a folder, which is there if the folder is whole.
pub fn whole(dir: &Path) -> Result<PathBuf, Failure> {
    let summary = dir.join(SUMMARY);
    if summary.exists() {
        return Ok(summary);
    }
    Err(Failure::new(format!(
        "{} holds no whole profile (there is no {SUMMARY}); make one with `petal run`",
        dir.display()
    )))
}

/// Files on their way into a profile's folder.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    dir: TempDir,
    lock: Option<fs::File>,
}

/// Waits until nobody else writes to the profile in `dir`, and keeps others from it as long as the
/// result lives. Some file systems have no locks; then it is up to the user.
pub fn lock(dir: &Path) -> Option<fs::File> {
    let dir = fs::File::open(dir).ok()?;
    dir.lock().ok()?;
    Some(dir)
}

impl Staging {
    /// Prepares to write into `target`, which is made if it is not there.
    pub fn new(target: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(target).map_err(Failure::io("create the output folder", target))?;
        let dir = TempDir::with_prefix_in(".petal-", target)
            .map_err(Failure::io("write to the output folder", target))?;
        Ok(Self {
            target: target.to_owned(),
            dir,
            lock: None,
        })
    }

    /// The same, with the folder locked already.
    pub fn locked(self, lock: Option<fs::File>) -> Self {
        Self { lock, ..self }
    }

    /// Where to write the file `name` for now.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Failure::io("create the folder", parent))?;
        }
        fs::write(&path, content).map_err(Failure::io("write", &self.target.join(name)))
    }

    /// Moves the files `names` to their place, in this order; one that was not written is removed
    /// from there. A summary from before is removed first, so that the folder does not look whole in
    /// between.
    pub fn commit(mut self, names: &[&str]) -> Result<(), Failure> {
        let _lock = self.lock.take().or_else(|| lock(&self.target));
        for name in names {
            self.check_place(name)?;
        }
        if names.contains(&SUMMARY) {
            remove(&self.target.join(SUMMARY))?;
        }
        for name in names {
            let place = self.target.join(name);
            if let Some(parent) = place.parent() {
                fs::create_dir_all(parent).map_err(Failure::io("create the folder", parent))?;
            }
            let written = self.path(name);
            if written.exists() {
                fs::rename(written, &place).map_err(Failure::io("write", &place))?;
            } else {
                remove(&place)?;
            }
        }
        Ok(())
    }

    /// Fails where a file could not be renamed to its place, or would end up outside of the folder.
    fn check_place(&self, name: &str) -> Result<(), Failure> {
        let place = self.target.join(name);
        let refuse = |path: &Path, what: &str| {
            Err(Failure::new(format!(
                "cannot write {}: {} is {what}; remove it",
                place.display(),
                path.display()
            )))
        };
        if place.is_dir() && !place.is_symlink() {
            return refuse(&place, "a folder");
        }
        match place.parent() {
            Some(parent) if parent != self.target && parent.is_symlink() => {
                refuse(parent, "a symbolic link")
            }
            _ => Ok(()),
        }
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io("replace", path)(error))
        }
        _ => Ok(()),
    }
}

/// A file outside of a profile's folder, which gets its name once it is whole.
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins the file `path`.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        // The name of something else, such as /dev/null, is not to be given to a file.
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Failure::new(format!(
                "cannot write {}: it is there and no regular file",
                path.display()
            )));
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new("."));
        // For all that the user's umask allows to read it.
        let anybody = fs::Permissions::from_mode(0o666);
        let file = tempfile::Builder::new()
            .permissions(anybody)
            .tempfile_in(folder)
            .map_err(Failure::io("write", path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// The whole file `path`, but for its name.
    pub fn of(path: &Path, content: &[u8]) -> Result<Self, Failure> {
        let draft = Self::new(path)?;
        draft
            .open()?
            .write_all(content)
            .map_err(Failure::io("write", path))?;
        Ok(draft)
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes to it.
    pub fn open(&self) -> Result<fs::File, Failure> {
        self.file.reopen().map_err(Failure::io("write", &self.path))
    }

    /// Gives it its name.
    pub fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        self.file
            .persist(&path)
            .map(drop)
            .map_err(|error| Failure::io("write", &path)(error.error))
    }
}

/// Writes a file of its own: whole, or not at all.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    Draft::of(path, content)?.finish()
}
