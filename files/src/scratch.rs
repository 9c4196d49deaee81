//! Temporary folders beside what they become, or in the system's place for such.
//!
//! A folder is removed when its value is dropped. A process that is killed drops nothing; so each
//! folder is locked as long as its process lives, and whoever makes one next to it removes those
//! that nobody holds. The kernel drops the lock of a process however it ends, and a lock says
//! nothing about process numbers, which others may have by then. A process that ends of itself while its
//! threads go on removes what there is of them with [`end`].

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

const PREFIX: &str = ".petal-tmp-";
const RANDOM: usize = 6;

/// Whether a folder of this name is a temporary one of petal's.
pub fn is_scratch(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    name.is_some_and(|rest| {
        rest.len() == RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Those that the process has.
static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes all temporary folders that the process has. It makes no more of them: whoever wants one waits for the end of the process.
pub fn end() {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().for_each(|folder| remove(folder));
    std::mem::forget(all);
}

/// Removes a folder, to which other threads may go on writing.
fn remove(folder: &Path) {
    for _ in 0..100 {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
    }
}

/// A temporary folder, which only its user can look into.
#[derive(Debug)]
pub struct Scratch {
    // The folder goes before its lock does.
    dir: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes one in the system's folder for temporary files.
    ///
    /// # Errors
    /// As for [`new_in`](Self::new_in).
    pub fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }

    /// Makes one in the folder `parent`, and removes those that killed processes of this user left
    /// there.
    ///
    /// # Errors
    /// When no folder can be made there.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = loop {
            let dir = tempfile::Builder::new()
                .prefix(PREFIX)
                .rand_bytes(RANDOM)
                .tempdir_in(parent)?;
            // Until it is locked, it looks like one that a killed process left, and may be removed.
            let opened = match File::open(dir.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            // Some file systems have no locks; nothing is removed there.
            let locked = opened.lock().is_ok();
            if !locked || is_at(&opened, dir.path()) {
                break Self { dir, _lock: opened };
            }
        };
        all.insert(scratch.path().to_owned());
        drop(all);
        // What can't be removed now, the next one may remove.
        let _ = scratch.sweep(parent);
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Makes the folder `inside` in it, and those around that. Never itself: once it was removed, it stays away.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn create_dir(&self, inside: &Path) -> io::Result<()> {
        let mut folder = self.path().to_owned();
        for name in inside {
            folder.push(name);
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes the folders in `parent` that nobody holds.
    fn sweep(&self, parent: &Path) -> io::Result<()> {
        let user = fs::metadata(self.path())?.uid();
        for entry in fs::read_dir(parent)? {
            let entry = entry?;
            let path = entry.path();
            if !is_scratch(&entry.file_name()) || !entry.file_type()?.is_dir() {
                continue;
            }
            // It may be gone by now.
            let Ok(dir) = File::open(&path) else { continue };
            let own = dir.metadata().is_ok_and(|dir| dir.uid() == user);
            if own && dir.try_lock().is_ok() && is_at(&dir, &path) {
                let _ = fs::remove_dir_all(&path);
            }
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(self.path());
    }
}

/// Whether the opened folder is still the one at `path`.
fn is_at(opened: &File, path: &Path) -> bool {
    let identity = |there: io::Result<fs::Metadata>| there.ok().map(|at| (at.dev(), at.ino()));
    let opened = identity(opened.metadata());
    opened.is_some() && opened == identity(fs::symlink_metadata(path))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_next_one_removes_what_nobody_holds() {
        let dir = tempfile::tempdir().unwrap();
        let living = Scratch::new_in(dir.path()).unwrap();
        fs::write(living.path().join("file"), "mine").unwrap();
        // As a killed process leaves it: there, but not locked.
        let left = dir.path().join(".petal-tmp-AbC123");
        fs::create_dir_all(left.join("deep")).unwrap();
        fs::write(left.join("deep/file"), "").unwrap();
        // What others may have.
        let foreign = [
            ".petal-tmp-",
            ".petal-tmp-backup2",
            ".petal-tmp-abc-12",
            ".petal-config",
            "petal-tmp-AbC123",
        ];
        for name in foreign {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join(".petal-tmp-a1b2c3"), "a file").unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("file"), "mine").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join(".petal-tmp-linked")).unwrap();

        let next = Scratch::new_in(dir.path()).unwrap();
        assert!(!left.exists());
        assert_eq!(fs::read(living.path().join("file")).unwrap(), b"mine");
        assert_eq!(fs::read(elsewhere.path().join("file")).unwrap(), b"mine");
        drop((living, next));
        let mut expected = foreign.map(str::to_owned).to_vec();
        expected.extend([".petal-tmp-a1b2c3".into(), ".petal-tmp-linked".into()]);
        expected.sort();
        assert_eq!(names(dir.path()), expected);
    }

    #[test]
    fn many_at_once_leave_one_another_alone() {
        let dir = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let scratch = Scratch::new_in(dir.path()).unwrap();
                        let file = scratch.path().join("file");
                        fs::write(&file, "mine").unwrap();
                        thread::yield_now();
                        assert_eq!(fs::read(&file).unwrap(), b"mine");
                    }
                });
            }
        });
        assert!(names(dir.path()).is_empty());
    }
}
