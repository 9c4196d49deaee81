//! The library search path: the Calyx standard library out of `calyx-stdlib`, with what newer ones have, behind
//! the user's folders.
//!
//! Owns the temporary folder that holds it. Knows nothing of what is in the files.

mod tcam;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock};

use petal_files::Scratch;

use crate::error::ProgramError;

/// Files that the standard library lacks.
const FILES: [(&str, &str); 2] = [
    ("float.futil", include_str!("../library/float.futil")),
    (
        "unsynthesizable.futil",
        include_str!("../library/unsynthesizable.futil"),
    ),
];

/// Floating-point primitives, of which the standard library lacks the Verilog, too.
const FLOATS: [(&str, &str); 6] = [
    ("addFN", include_str!("../library/float/addFN.futil")),
    ("mulFN", include_str!("../library/float/mulFN.futil")),
    (
        "compareFN",
        include_str!("../library/float/compareFN.futil"),
    ),
    (
        "divSqrtFN",
        include_str!("../library/float/divSqrtFN.futil"),
    ),
    ("fpToInt", include_str!("../library/float/fpToInt.futil")),
    ("intToFp", include_str!("../library/float/intToFp.futil")),
];

/// The folder that one spelling of an import begins with.
const PRIMITIVES_FOLDER: &str = "primitives";

/// What stands for the Verilog of each.
const STAND_IN: &str = include_str!("../library/float/stand-in.sv");

/// Primitives that older standard libraries lack: the file that newer ones have each in, its name and its text.
const PRIMITIVES: [(&str, &str, &str); 3] = [
    (
        "core.futil",
        "std_bypass_reg",
        include_str!("../library/std_bypass_reg.futil"),
    ),
    (
        "core.futil",
        "std_skid_buffer",
        include_str!("../library/std_skid_buffer.futil"),
    ),
    (
        "binary_operators.futil",
        "std_const_mult",
        include_str!("../library/std_const_mult.futil"),
    ),
];

/// The folder in which imports are looked up after the folder of the importing file.
///
/// Holds the Calyx standard library under both spellings in use (`primitives/core.futil` and
/// `core.futil`) behind the given folders, which win. Of its own files, it has those that were asked for.
#[derive(Debug)]
pub struct Library {
    pub(crate) dir: Arc<Scratch>,
    /// The real paths of the given folders, and its own.
    pub(crate) folders: Vec<PathBuf>,
}

impl Library {
    /// A library of the standard library and `folders`, earlier ones first.
    ///
    /// # Errors
    /// When a folder can't be read or the temporary folder can't be written.
    pub fn new(folders: &[PathBuf]) -> Result<Self, ProgramError> {
        let temporary = std::env::temp_dir();
        let dir = Scratch::new().map_err(failed(&temporary))?;
        let mut real = Vec::new();
        for folder in folders {
            let canonical = folder.canonicalize();
            real.push(canonical.map_err(|source| ProgramError::NoFolder {
                path: folder.clone(),
                source,
            })?);
            link(folder, Path::new(""), &dir)?;
        }
        real.push(dir.path().canonicalize().map_err(failed(dir.path()))?);
        Ok(Self {
            dir: Arc::new(dir),
            folders: real,
        })
    }

    /// Takes `text` for the file of the standard library with this name.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn replace(&self, name: &str, text: &str) -> Result<(), ProgramError> {
        self.write(&Path::new(PRIMITIVES_FOLDER).join(name), text)?;
        self.write(Path::new(name), text)
    }

    /// The temporary folder that it is in.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The same, with all of its files, for others than petal to read.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn complete(&self) -> Result<&Path, ProgramError> {
        for name in files().keys() {
            self.provide(&Path::new(PRIMITIVES_FOLDER).join(name))?;
            self.provide(Path::new(name))?;
        }
        Ok(self.path())
    }

    /// Writes the file of the standard library with this name, or with this path in the folder, if there is one and no other is in its place.
    ///
    /// # Errors
    /// When it can't be written.
    pub(crate) fn provide(&self, name: &Path) -> Result<(), ProgramError> {
        let mut folders = [self.path()].into_iter().chain(self.own());
        let inside = folders.find_map(|folder| name.strip_prefix(folder).ok());
        let name = normalized(inside.unwrap_or(name));
        let primitive = name.strip_prefix(PRIMITIVES_FOLDER).unwrap_or(&name);
        let text = primitive.to_str().and_then(|name| files().get(name));
        let path = self.path().join(&name);
        let Some(text) = text.filter(|_| !path.exists()) else {
            return Ok(());
        };
        if self.folders.len() > 1 || name != primitive {
            return self.write(&name, text);
        }
        // Both spellings mean the same file, unless a folder of the user's comes before them.
        self.write(&Path::new(PRIMITIVES_FOLDER).join(primitive), text)?;
        let top = primitive.iter().next().unwrap_or_default();
        let link = self.path().join(top);
        if link.symlink_metadata().is_ok() {
            return Ok(());
        }
        let target = Path::new(PRIMITIVES_FOLDER).join(top);
        std::os::unix::fs::symlink(target, &link).map_err(failed(&link))
    }

    /// Writes a file, and the folders that it is in, unless it is there.
    fn write(&self, name: &Path, text: &str) -> Result<(), ProgramError> {
        let path = self.path().join(name);
        if path.exists() {
            return Ok(());
        }
        if let Some(folder) = name.parent() {
            self.dir.create_dir(folder).map_err(failed(&path))?;
        }
        std::fs::write(&path, text).map_err(failed(&path))
    }

    /// Its own folder, by its real path.
    pub(crate) fn own(&self) -> Option<&Path> {
        self.folders.last().map(PathBuf::as_path)
    }
}

/// A path without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normalized.pop()),
            part => normalized.push(part),
        }
    }
    normalized
}

/// A question whether a file of the library is meant by what a program imports.
pub(crate) fn near(import: &str) -> String {
    let names = files().keys().map(|name| format!("primitives/{name}"));
    crate::refusal::nearest(import, names)
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> ProgramError {
    let path = path.to_owned();
    move |source| ProgramError::Library { path, source }
}

/// Links what is in `folder` into the folder `inside` of `dir`, but for what is there already. Folders that libraries
/// have parts of are put together.
fn link(folder: &Path, inside: &Path, dir: &Scratch) -> Result<(), ProgramError> {
    const SHARED: [&str; 3] = ["primitives", "memories", "float"];
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let entry = entry.map_err(failed(folder))?;
        let name = entry.file_name();
        let inside = inside.join(&name);
        let path = dir.path().join(&inside);
        let target = entry.path().canonicalize().map_err(failed(&entry.path()))?;
        if SHARED.iter().any(|shared| name == *shared) {
            // Where a link was not kept as one, a file has the folder's name.
            if target.is_dir() {
                dir.create_dir(&inside).map_err(failed(&path))?;
                link(&target, &inside, dir)?;
            }
        } else if path.symlink_metadata().is_err() {
            std::os::unix::fs::symlink(target, &path).map_err(failed(&path))?;
        }
    }
    Ok(())
}

/// All files of the library, by their names in `primitives`.
pub fn files() -> &'static BTreeMap<String, String> {
    static ALL: LazyLock<BTreeMap<String, String>> = LazyLock::new(all);
    &ALL
}

fn all() -> BTreeMap<String, String> {
    let known = calyx_stdlib::KNOWN_LIBS.iter().flat_map(|(_, files)| files);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in known.chain([&calyx_stdlib::COMPILE_LIB]).chain(&FILES) {
        files.insert((*name).to_owned(), (*text).to_owned());
    }
    for (file, primitive, text) in PRIMITIVES {
        let declared = format!("primitive {primitive}");
        let file = files.entry(file.to_owned()).or_default();
        if !file.contains(&declared) {
            file.push_str(text);
        }
    }
    // Memories that are defined as the sequential ones are, but don't promise to take one cycle.
    let known = calyx_stdlib::KNOWN_LIBS.iter();
    for (_, parts) in known.filter(|(name, _)| *name == "seq_memories") {
        for (name, text) in parts {
            let text = text
                .replace("seq_mem", "dyn_mem")
                .replace("seq.sv", "dyn.sv")
                .replace("@interval(1) ", "");
            files.entry(name.replace("seq", "dyn")).or_insert(text);
        }
    }
    for (name, text) in FLOATS {
        files.insert(format!("float/{name}.futil"), text.to_owned());
        files.insert(format!("float/{name}.sv"), STAND_IN.to_owned());
    }
    files.insert("tcam.futil".to_owned(), tcam::text());
    files
}
