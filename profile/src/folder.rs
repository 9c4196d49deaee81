//! The folder of a profile: the names of its files, and how they get there.
//!
//! Files are written to a temporary folder beside their place. Once all are there, its part with the
//! files becomes the folder `PENDING` by one rename: from then on the new files are those of the
//! profile, and moving them to their places is only a matter of time. A process that is killed
//! meanwhile leaves it to the next command (`settle`), so nobody ever gets a part of a profile, or
//! none. Other programs can tell by the summary, which goes first and comes back last. What else is
//! in the folder stays as it is. Of several commands that write to a folder, one at a time moves files.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

use petal_files::{Scratch, is_descriptor, is_scratch};
use petal_reconstruct::is_trace;
use petal_synth::Synthesis;
use petal_visualize::outputs::{OUTPUTS, SUMMARY, TRACE};
use serde_json::Value as Json;

use crate::error::Error;
use crate::interrupt::{self, Ending};

/// The Verilog of the instrumented design; not kept.
pub const VERILOG: &str = "design.sv";
/// What is left there of a build that failed.
pub const LOGS: [&str; 2] = ["verilator.log", "compiler.log"];

/// What `petal synth` found out, which may be in a folder without a profile.
pub const SYNTHESIS: &str = "synthesis.json";

/// How long to wait between looks whether a folder is free.
const PATIENCE: Duration = Duration::from_millis(5);

/// The folder with new files on their way to their places.
const PENDING: &str = ".petal-pending";
/// In it, the new files by their names, and the names of those that there are no more.
const WRITTEN: &str = "written";
const REMOVED: &str = "removed";

/// The summary of a folder, which is there if the folder is whole.
///
/// # Errors
/// When there is no whole profile.
pub fn whole(dir: &Path) -> Result<PathBuf, Error> {
    let summary = dir.join(SUMMARY);
    if !summary.exists() && is_folder(&dir.join(PENDING)) {
        lock(dir)?;
    }
    if summary.exists() {
        return Ok(summary);
    }
    let shown = dir.display();
    Err(Error::new(if dir.is_file() {
        format!("{shown} is a file, and no profile: name the folder that `petal run` wrote")
    } else if !dir.exists() {
        format!("there is no {shown}: name the folder that `petal run` wrote")
    } else {
        format!("{shown} holds no whole profile (there is no {SUMMARY}); make one with `petal run`")
    }))
}

/// What opens files of the profile in `dir`, of one profile even if another takes its place
/// meanwhile. It gets the path of the summary.
///
/// # Errors
/// When there is no whole profile, or it can't be opened.
pub fn consistent<T>(dir: &Path, open: impl Fn(&Path) -> Result<T, Error>) -> Result<T, Error> {
    loop {
        let summary = whole(dir)?;
        let before = version(&summary);
        let opened = open(&summary);
        // The summary is the first to go.
        if before.is_some() && before == version(&summary) {
            return opened;
        }
        interrupt::check()?;
    }
}

/// What differs between two files that are at one place one after the other.
fn version(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.ctime(), file.ctime_nsec()))
}

/// Fails unless a profile can go to `dir`, which an option tells, without anything else being there: unless it holds a
/// profile, nothing, or is not there.
///
/// # Errors
/// Then.
pub fn check_free(option: &str, dir: &Path) -> Result<(), Error> {
    // What can't be read can't be written to either, which is told then.
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.retain(|name| !is_scratch(name) && !is_log(&dir.join(name)));
    names.sort();
    match names.first() {
        Some(first) if !is_profile(dir) => Err(Error::usage(format!(
            "the output folder {} holds {} and no profile; choose a new or empty folder with `{option}`",
            dir.display(),
            first.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether the file is the log of a build that failed.
fn is_log(path: &Path) -> bool {
    LOGS.iter().any(|name| path.ends_with(name))
        && petal_files::read(path).is_ok_and(|text| text.starts_with(b"$ "))
}

/// What is known of area and clock of the design with this fingerprint, as `synthesis.json` in the folder has it.
pub fn synthesis(dir: &Path, fingerprint: &str) -> Option<Synthesis> {
    let text = petal_files::read_to_string(&dir.join(SYNTHESIS)).ok()?;
    Synthesis::from_json(&text).filter(|synthesis| synthesis.fingerprint == fingerprint)
}

/// Whether petal has written a profile to the folder, whether or not all of it is still there. What
/// `petal instrument` writes is no profile.
pub fn is_profile(dir: &Path) -> bool {
    let json = |name| {
        let text = petal_files::read(&dir.join(name)).ok()?;
        serde_json::from_slice::<Json>(&text).ok()
    };
    if json(SYNTHESIS).is_some_and(|of| of["area"]["total"]["luts"].is_number()) {
        return true;
    }
    let summary = || json(SUMMARY);
    let trace = || {
        let mut start = Vec::new();
        let file = petal_files::open(&dir.join(TRACE)).ok()?;
        file.take(64).read_to_end(&mut start).ok()?;
        Some(start)
    };
    is_folder(&dir.join(PENDING))
        || summary().is_some_and(|summary| summary["versions"]["petal"].is_string())
        || trace().is_some_and(|start| is_trace(&start))
}

/// The folder of the profile that has a file at `path`.
pub fn profile_with(path: &Path) -> Option<PathBuf> {
    let mut names = OUTPUTS.iter().map(|output| output.name);
    let name = names.find(|name| path.ends_with(name))?;
    let dir = path.ancestors().nth(Path::new(name).components().count())?;
    is_profile(dir).then(|| dir.to_owned())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

/// Files on their way into a profile's folder.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    scratch: Scratch,
    lock: Option<File>,
    made: Made,
}

/// Folders that this command has made, outermost first. Those that are still empty in the end are
/// removed.
#[derive(Debug, Default)]
struct Made(Vec<PathBuf>);

impl Made {
    /// Makes the folder `dir`, and those around it that are not there.
    fn new(dir: &Path) -> io::Result<Self> {
        let mut made = Self::default();
        let missing: Vec<&Path> = dir
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => made.0.push(folder.to_owned()),
                // Another command was faster.
                Err(_) if folder.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        // Fails where `dir` is something else.
        fs::create_dir_all(dir).map(|()| made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Waits until nobody else writes to the profile in `dir`, and keeps others from it as long as the
/// result lives. Some file systems have no locks; then it is up to the user.
///
/// # Errors
/// When somebody asks to stop meanwhile.
pub fn lock(dir: &Path) -> Result<Option<File>, Error> {
    let mut lock = File::open(dir).ok();
    // A partial profile is written although there was an interrupt.
    let asked_before = interrupt::is_requested();
    while let Some(opened) = &lock {
        match opened.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if asked_before => thread::sleep(PATIENCE),
            Err(TryLockError::WouldBlock) => {
                interrupt::check()?;
                thread::sleep(PATIENCE);
            }
            Err(TryLockError::Error(_)) => lock = None,
        }
    }
    settle(dir)?;
    Ok(lock)
}

impl Staging {
    /// Prepares to write into `target`, which is made if it is not there.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn new(target: &Path) -> Result<Self, Error> {
        loop {
            let made = Made::new(target).map_err(Error::io("create the output folder", target))?;
            let scratch = match Scratch::new_in(target) {
                // A command that failed has removed the folder that it had made.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !target.exists() => {
                    continue;
                }
                scratch => scratch.map_err(Error::io("write to the output folder", target))?,
            };
            let staging = Self {
                target: target.to_owned(),
                scratch,
                lock: None,
                made,
            };
            let written = staging.path("");
            fs::create_dir_all(&written)
                .map_err(Error::io("write to the output folder", target))?;
            return Ok(staging);
        }
    }

    /// The same, with the folder locked already.
    #[must_use]
    pub fn locked(self, lock: Option<File>) -> Self {
        Self { lock, ..self }
    }

    /// While the result lives, Ctrl-C ends the command at once, and nothing that was made for the profile is left, nor are `files`.
    pub fn ending<'a>(&'a self, files: impl IntoIterator<Item = &'a Path>) -> Ending {
        let made = self.made.0.iter().rev();
        Ending::leaving(files, made.map(PathBuf::as_path))
    }

    /// Where to write the file `name` of the profile for now.
    pub fn path(&self, name: &str) -> PathBuf {
        let written = self.scratch.path().join(PENDING).join(WRITTEN);
        written.join(name)
    }

    /// A place for the file or folder `name` that is no part of the profile.
    pub fn work(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Writes a file of the profile.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Error> {
        let path = self.path(name);
        if let Some(parent) = path.parent().filter(|_| name.contains('/')) {
            // Not what is around it: when an interrupt has removed that, it stays away.
            match fs::create_dir(parent) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::io("create the folder", parent)(error));
                }
                _ => {}
            }
        }
        fs::write(&path, content).map_err(Error::io("write", &self.target.join(name)))
    }

    /// Moves the files `names` to their places; one that was not written is removed from there.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn commit(mut self, names: &[&str]) -> Result<(), Error> {
        let _lock = match self.lock.take() {
            Some(lock) => Some(lock),
            None => lock(&self.target)?,
        };
        let mut removed = String::new();
        for name in names {
            let is_written = self.path(name).exists();
            if !is_written && self.target.join(name).symlink_metadata().is_err() {
                continue;
            }
            check_place(&self.target, Path::new(name))?;
            if !is_written {
                removed.push_str(name);
                removed.push('\n');
            }
        }
        let failed = || Error::io("write to the output folder", &self.target);
        let pending = self.scratch.path().join(PENDING);
        fs::write(pending.join(REMOVED), removed).map_err(failed())?;
        // An impatient user has to wait for the rest, which takes no time.
        let _unbroken = interrupt::unbroken();
        fs::rename(pending, self.target.join(PENDING)).map_err(failed())?;
        settle(&self.target)
    }
}

/// Moves the files that are pending in `dir` to their places. If the process ends on the way, it can
/// be done again.
fn settle(dir: &Path) -> Result<(), Error> {
    let pending = dir.join(PENDING);
    if !is_folder(&pending) {
        return Ok(());
    }
    let written = pending.join(WRITTEN);
    let mut names = BTreeSet::new();
    list(&written, Path::new(""), &mut names).map_err(Error::io("read", &pending))?;
    let summary = names.take(Path::new(SUMMARY));
    if summary.is_some() {
        remove(&dir.join(SUMMARY))?;
    }
    let removed = petal_files::read_to_string(&pending.join(REMOVED)).unwrap_or_default();
    for name in removed.lines().map(Path::new) {
        // Nobody else's list is to lead out of the folder.
        if name
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            check_place(dir, name)?;
            remove(&dir.join(name))?;
        }
    }
    for name in names.iter().chain(&summary) {
        check_place(dir, name)?;
        let place = dir.join(name);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create the folder", parent))?;
        }
        fs::rename(written.join(name), &place).map_err(Error::io("write", &place))?;
    }
    fs::remove_dir_all(&pending).map_err(Error::io("remove", &pending))
}

/// The names of all files in the folder `top`, from its subfolder `below` on.
fn list(top: &Path, below: &Path, names: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(top.join(below)) {
        // All of them are in their places.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(top, &name, names)?;
        } else {
            names.insert(name);
        }
    }
    Ok(())
}

/// Fails where the file `name` could not be renamed to its place in `dir`, or would end up outside of
/// the folder.
fn check_place(dir: &Path, name: &Path) -> Result<(), Error> {
    let place = dir.join(name);
    let refuse = |path: &Path, what: &str| {
        Err(Error::new(format!(
            "cannot write {}: {} is {what}; remove it",
            place.display(),
            path.display()
        )))
    };
    if is_folder(&place) {
        return refuse(&place, "a folder");
    }
    match place.parent() {
        Some(parent) if parent != dir && parent.is_symlink() => refuse(parent, "a symbolic link"),
        _ => Ok(()),
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("replace", path)(error))
        }
        _ => Ok(()),
    }
}

/// A file outside of a profile's folder, which gets its name once it is whole.
pub struct Draft {
    scratch: Scratch,
    path: PathBuf,
}

impl Draft {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn new(path: &Path) -> Result<Self, Error> {
        // The name of something else, such as /dev/null, is not to be given to a file. /dev/stdout may
        // lead to one, but is itself none.
        if is_descriptor(path) || fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Error::new(format!(
                "cannot write {}: it is there and no regular file",
                path.display()
            )));
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new("."));
        let scratch = Scratch::new_in(folder).map_err(Error::io("write", path))?;
        Ok(Self {
            scratch,
            path: path.to_owned(),
        })
    }

    /// The whole file `path`, but for its name.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn of(path: &Path, content: &[u8]) -> Result<Self, Error> {
        let draft = Self::new(path)?;
        draft
            .create()?
            .write_all(content)
            .map_err(Error::io("write", path))?;
        Ok(draft)
    }

    /// Where it is for now.
    pub fn path(&self) -> PathBuf {
        self.scratch.path().join("file")
    }

    /// Creates it.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn create(&self) -> Result<File, Error> {
        File::create(self.path()).map_err(Error::io("write", &self.path))
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn finish(self) -> Result<(), Error> {
        fs::rename(self.path(), &self.path).map_err(Error::io("write", &self.path))
    }
}

/// Writes a file of its own: whole, or not at all.
///
/// # Errors
/// When a file can't be read or written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    Draft::of(path, content)?.finish()
}
