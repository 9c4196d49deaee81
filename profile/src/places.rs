//! The files that a command reads and those that it writes: no output may take the place of an
//! input, of another output or of a file of a profile.
//!
//! Knows all of them before anything is written. Knows nothing of what is in them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::folder;
use crate::options::Options;
use crate::outputs;

/// What is known of the files of a command.
#[derive(Debug, Default)]
pub struct Places {
    inputs: Vec<ClaimedFile>,
    outputs: Vec<ClaimedFile>,
    folders: Folders,
}

/// A file, and what it is to the user.
#[derive(Debug)]
struct ClaimedFile {
    name: String,
    /// Device and number, if it is there: the same for all links to a file.
    file: Option<(u64, u64)>,
    /// Its folder without links, and its name there.
    path: PathBuf,
}

impl Places {
    /// Takes in an input, such as `the design`.
    ///
    /// # Errors
    /// When an output would take its place.
    pub fn reads(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        let name = format!("{what} {}", path.display());
        let input = ClaimedFile::new(name, path, &mut self.folders);
        if let Some(output) = self.outputs.iter().find(|output| output.is(&input)) {
            return Err(lost(output, &input));
        }
        self.inputs.push(input);
        Ok(())
    }

    /// The inputs so far.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().map(|input| &*input.path)
    }

    /// Takes in the profile in `dir` as an input.
    ///
    /// # Errors
    /// As for [`reads`](Self::reads).
    pub fn reads_profile(&mut self, dir: &Path) -> Result<(), Error> {
        let mut files = outputs::files().into_iter();
        files.try_for_each(|name| self.reads("the profile's file", &dir.join(name)))
    }

    /// Takes in the file that is written because of `option`.
    ///
    /// # Errors
    /// When it would take the place of an input, of another output or of a file of a profile.
    pub fn writes(&mut self, option: &str, path: &Path) -> Result<(), Error> {
        let shown = path.display();
        let name = format!("`{option} {shown}`");
        let output = ClaimedFile::new(name, path, &mut self.folders);
        if let Some(dir) = folder::profile_with(&output.path) {
            return Err(Error::usage(format!(
                "`{option} {shown}` would take the place of a file of the profile in {}; write to another place",
                dir.display()
            )));
        }
        self.check(&output)?;
        self.outputs.push(output);
        Ok(())
    }

    /// Takes in the folder `dir`, to which a profile is written because of `--out`.
    ///
    /// # Errors
    /// As for [`writes`](Self::writes), and when there is something in it but no profile.
    pub fn writes_profile(&mut self, dir: &Path) -> Result<(), Error> {
        self.writes_folder("--out", dir)
    }

    /// The same, where the folder is told by this option.
    ///
    /// # Errors
    /// As for [`writes_profile`](Self::writes_profile).
    pub fn writes_folder(&mut self, option: &str, dir: &Path) -> Result<(), Error> {
        folder::check_free(option, dir)?;
        let option = format!("`{option} {}`", dir.display());
        let names = outputs::files().into_iter().chain(folder::LOGS);
        let folders = &mut self.folders;
        let mut written = vec![ClaimedFile::new(option.clone(), dir, folders)];
        written.extend(
            names.map(|name| {
                ClaimedFile::new(format!("{option} ({name})"), &dir.join(name), folders)
            }),
        );
        written.iter().try_for_each(|output| self.check(output))?;
        // They may be links to one another: each is replaced for itself.
        self.outputs.extend(written);
        Ok(())
    }

    /// Takes in all that a run writes: its profile in the folder `dir`, and its waveforms.
    ///
    /// # Errors
    /// As for [`writes_profile`](Self::writes_profile).
    pub fn writes_run(&mut self, options: &Options, dir: &Path) -> Result<(), Error> {
        self.writes_profile(dir)?;
        let waveforms = [("--fst", &options.fst), ("--vcd", &options.vcd)];
        let mut waveforms = waveforms.into_iter();
        waveforms.try_for_each(|(option, file)| match file {
            Some(file) => self.writes(option, file),
            None => Ok(()),
        })
    }

    /// Fails if the output would take the place of an input or of another output.
    fn check(&self, output: &ClaimedFile) -> Result<(), Error> {
        if let Some(input) = self.inputs.iter().find(|input| input.is(output)) {
            return Err(lost(output, input));
        }
        if let Some(other) = self.outputs.iter().find(|other| other.is(output)) {
            return Err(Error::usage(format!(
                "{} and {} are the same file; give each a place of its own",
                other.name, output.name
            )));
        }
        Ok(())
    }
}

fn lost(output: &ClaimedFile, input: &ClaimedFile) -> Error {
    Error::usage(format!(
        "{} would take the place of {}; write to another place",
        output.name, input.name
    ))
}

impl ClaimedFile {
    fn new(name: String, path: &Path, folders: &mut Folders) -> Self {
        let file = fs::metadata(path).ok();
        Self {
            name,
            file: file.map(|file| (file.dev(), file.ino())),
            path: folders.resolved(path),
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path || (self.file.is_some() && self.file == other.file)
    }
}

/// Folders without links, as far as they are there: each is looked up once, since many files are in few of them.
#[derive(Debug, Default)]
struct Folders(HashMap<PathBuf, PathBuf>);

impl Folders {
    /// The path with all links but its last name followed.
    fn resolved(&mut self, path: &Path) -> PathBuf {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return real(&path);
        };
        let folder = self.0.entry(folder.to_owned());
        folder.or_insert_with_key(|folder| real(folder)).join(name)
    }
}

/// The folder with all links followed, as far as it is there.
fn real(folder: &Path) -> PathBuf {
    let there = folder
        .ancestors()
        .find(|of| of.exists() || of.file_name().is_none());
    let there = there.unwrap_or(folder);
    let mut path = there.canonicalize().unwrap_or_else(|_| there.to_owned());
    path.extend(folder.strip_prefix(there).into_iter().flatten());
    path
}
