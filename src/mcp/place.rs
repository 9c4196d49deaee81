//! The folder that the server was started in, which nothing that a client names leads out of.
//!
//! Knows which files a command reads and writes by itself beside those that it is given.

use std::path::{Path, PathBuf};

use petal_profile::Error;
use petal_profile::outputs::ADVICE;
use petal_program::{Library, Parsed};
use petal_visualize::outputs::OUTPUTS;

use crate::perform::{joined, on_large_stack};

/// What else lies in the folder of a profile: patches, and what `petal synth` finds out.
const BESIDE_OUTPUTS: [&str; 2] = [ADVICE, "synthesis.json"];

/// That folder.
#[derive(Debug)]
pub struct Place {
    /// Without links.
    root: PathBuf,
}

impl Place {
    /// The current folder.
    pub fn here() -> Result<Self, Error> {
        let root = Path::new(".").canonicalize();
        Ok(Self {
            root: root.map_err(Error::io("look at the folder", Path::new(".")))?,
        })
    }

    /// That a path leads nowhere else, whether or not there is something.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        let outside = || {
            Error::usage(format!(
                "{} is outside of the folder that `petal mcp` was started in; name something in that",
                path.display()
            ))
        };
        let mut there = self.root.join(path);
        // A link that leads nowhere is there, too.
        while there.symlink_metadata().is_err() {
            // What follows a folder that is not there may not go up from it.
            if there.file_name().is_none() || !there.pop() {
                return Err(outside());
            }
        }
        let real = there.canonicalize().map_err(|_| outside())?;
        if real.starts_with(&self.root) {
            Ok(())
        } else {
            Err(outside())
        }
    }

    /// Where a file in it is, if it is there.
    pub fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let path = self.root.join(path).canonicalize().ok()?;
        path.starts_with(&self.root).then_some(path)
    }

    /// The same of a profile's folder and its files.
    pub fn check_profile(&self, dir: &Path) -> Result<(), Error> {
        self.check(dir)?;
        let outputs = OUTPUTS.iter().map(|output| output.name);
        let mut files = outputs.chain(BESIDE_OUTPUTS);
        files.try_for_each(|name| self.check(&dir.join(name)))
    }

    /// The same of a design, and of all that it is made of or run with. It has no Verilog of its own, which other programs would read, or run.
    pub fn check_design(&self, design: &Path) -> Result<(), Error> {
        self.check(design)?;
        let name = design.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix(".futil").unwrap_or(&name);
        for beside in [format!("{name}.data"), format!("{stem}.observe.toml")] {
            self.check(&design.with_file_name(beside))?;
        }
        for file in files(design)? {
            self.check(&file)?;
            let text = petal_files::read_to_string(&file).unwrap_or_default();
            let mut words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            if words.any(|word| ["extern", "primitive"].contains(&word)) {
                return Err(Error::new(format!(
                    "{} has Verilog of its own (`extern` or `primitive`), which other programs would read, and perhaps run; outside of `petal mcp`, `petal run {}` profiles it, and \
                     the tools that take a profile show that",
                    file.display(),
                    design.display()
                )));
            }
        }
        Ok(())
    }
}

/// The user's files that a program is made of; none if it can't be read, which the command tells.
fn files(design: &Path) -> Result<Vec<PathBuf>, Error> {
    let design = design.to_owned();
    let parsing = on_large_stack(move || {
        let library = Library::new(&[])?;
        let parsed = Parsed::read(design.as_path(), &library);
        Ok(parsed.map_or_else(|_| Vec::new(), |parsed| parsed.files().to_vec()))
    })?;
    joined(parsing)
}
