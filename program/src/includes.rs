//! The Verilog that the Verilog of primitives needs besides itself.
//!
//! Owns where `` `include`` looks, and that Calyx's floating-point primitives are made of Berkeley `HardFloat`, which
//! users download into the library. Reads directives, and nothing else of Verilog.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::ProgramError;

/// `HardFloat`, from the folder of the primitives that need it.
const HARDFLOAT: &str = "HardFloat-1/source";

/// The folder of those primitives, from that of a library.
const FLOAT: &str = "primitives/float";

/// What depends on the processor that `HardFloat` behaves as, from its folder: Calyx takes this one.
const SPECIALIZED: &str = "RISCV";

/// What a simulator reads besides the Verilog of a design.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Includes {
    /// The folders in which to look for included files, the first one first.
    pub folders: Vec<PathBuf>,
    /// Files with modules for those who name them.
    pub modules: Vec<PathBuf>,
    /// All files that are read, each once: those that are included, and those with modules.
    pub files: Vec<PathBuf>,
    /// What nobody has, though the Verilog needs it.
    pub(crate) missing: Option<Missing>,
}

/// A part of `HardFloat`, and where it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub path: PathBuf,
    pub line: usize,
    pub name: String,
}

impl Includes {
    /// That nothing is missing.
    ///
    /// # Errors
    /// When `HardFloat` is needed and missing. petal's own simulator does without.
    pub fn complete(&self) -> Result<(), ProgramError> {
        self.missing.as_ref().map_or(Ok(()), |missing| {
            Err(ProgramError::HardFloat {
                path: missing.path.clone(),
                line: missing.line,
                name: missing.name.clone(),
            })
        })
    }

    /// What the Verilog in the files `externs` needs. `libraries` are the user's folders.
    ///
    /// # Errors
    /// When a file can't be read.
    pub(crate) fn of(externs: &[PathBuf], libraries: &[PathBuf]) -> Result<Self, ProgramError> {
        let mut texts = Vec::new();
        for path in externs {
            texts.push((path.clone(), read(path)?));
        }
        // Not all of those primitives include a file: some only name modules of `HardFloat`.
        let needs_more = |(path, text): &(PathBuf, String)| {
            included(text).next().is_some() || converts(path, text).is_some()
        };
        if !texts.iter().any(needs_more) {
            return Ok(Self::default());
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        let beside = externs.iter().filter_map(|path| path.parent());
        for folder in beside.map(Path::to_owned).chain(libraries.iter().cloned()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let of_library = libraries.iter().map(|library| library.join(FLOAT));
        let mut places = folders.iter().cloned().chain(of_library);
        let hardfloat =
            places.find_map(|folder| Some(folder.join(HARDFLOAT)).filter(|at| at.is_dir()));
        let mut missing = None;
        if hardfloat.is_none() {
            let mut texts = texts.iter();
            let needing = texts.find_map(|(path, text)| Some((path, converts(path, text)?)));
            missing = needing.map(|(path, line)| Missing {
                path: path.clone(),
                line,
                name: CONVERSION.to_owned(),
            });
        }
        let hardfloat: Vec<PathBuf> = hardfloat
            .into_iter()
            .flat_map(|source| [source.join(SPECIALIZED), source])
            .filter(|folder| folder.is_dir())
            .collect();
        folders.extend(hardfloat.iter().cloned());
        let mut includes = Self {
            folders,
            missing,
            ..Self::default()
        };
        let mut files = BTreeSet::new();
        includes.follow(texts, &mut files)?;
        let mut modules = Vec::new();
        for folder in &hardfloat {
            modules.extend(verilog_in(folder)?);
        }
        // What is included already would be there twice.
        modules.retain(|path| !files.contains(path));
        let mut texts = Vec::new();
        for path in &modules {
            texts.push((path.clone(), read(path)?));
        }
        includes.follow(texts, &mut files)?;
        files.extend(modules.iter().cloned());
        includes.modules = modules;
        includes.files = files.into_iter().collect();
        Ok(includes)
    }

    /// Adds all that these texts include to `files`.
    fn follow(
        &mut self,
        mut texts: Vec<(PathBuf, String)>,
        files: &mut BTreeSet<PathBuf>,
    ) -> Result<(), ProgramError> {
        while let Some((path, text)) = texts.pop() {
            for (line, name) in included(&text) {
                let mut places = self.folders.iter().map(|folder| folder.join(name));
                match places.find(|place| place.is_file()) {
                    Some(file) if files.insert(file.clone()) => {
                        let text = read(&file)?;
                        texts.push((file, text));
                    }
                    None if name.contains("HardFloat") => {
                        self.missing.get_or_insert_with(|| Missing {
                            path: path.clone(),
                            line,
                            name: name.to_owned(),
                        });
                    }
                    // The simulator tells of what it really needs: a directive may not count.
                    Some(_) | None => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a file is in the folder of floating-point primitives.
pub(crate) fn is_float(path: &Path) -> bool {
    let folder = path.parent();
    folder.is_some_and(|folder| folder.ends_with("float"))
}

/// The module of `HardFloat` that those primitives give their operands to.
const CONVERSION: &str = "fNToRecFN";

/// The line, counted from 1, in which a primitive that includes nothing names that module.
fn converts(path: &Path, text: &str) -> Option<usize> {
    if !is_float(path) || included(text).next().is_some() || text.contains("module fNToRecFN") {
        return None;
    }
    let at = text.lines().position(|line| line.contains(CONVERSION))?;
    Some(at + 1)
}

/// The files that a text includes, with the lines, counted from 1.
fn included(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().zip(1..).filter_map(|(line, number)| {
        let code = line.split("//").next().unwrap_or_default();
        let (_, rest) = code.split_once("`include")?;
        let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
        Some((number, name))
    })
}

/// The Verilog files in a folder, by name.
fn verilog_in(folder: &Path) -> Result<Vec<PathBuf>, ProgramError> {
    let failed = |source| ProgramError::Library {
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "v") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, ProgramError> {
    petal_files::read_to_string(path).map_err(|source| ProgramError::Read {
        path: path.to_owned(),
        source,
    })
}
