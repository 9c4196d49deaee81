//! The library search path: the Calyx standard library out of `calyx-stdlib`, with what newer ones have, behind
//! the user's folders.
//!
//! Owns the temporary folder that holds it. Knows nothing of what is in the files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use petal_files::Scratch;

use crate::error::PassesError;

/// What the standard library lacks, by file: all of it, or what comes behind the file that is there.
const ADDED: [(&str, &str); 3] = [
    (
        "unsynthesizable.futil",
        include_str!("../library/unsynthesizable.futil"),
    ),
    ("core.futil", include_str!("../library/core.futil")),
    (
        "binary_operators.futil",
        include_str!("../library/binary_operators.futil"),
    ),
];

/// The folder in which imports are looked up after the folder of the importing file.
///
/// Holds the Calyx standard library under both spellings in use (`primitives/core.futil` and
/// `core.futil`) behind the given folders, which win.
#[derive(Debug)]
pub struct Library {
    pub(crate) dir: Arc<Scratch>,
    /// The real paths of the given folders.
    pub(crate) folders: Vec<PathBuf>,
}

impl Library {
    /// A library of the standard library and `folders`, earlier ones first.
    ///
    /// # Errors
    /// When a folder can't be read or the temporary folder can't be written.
    pub fn new(folders: &[PathBuf]) -> Result<Self, PassesError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| PassesError::Library { path, source }
        };
        let temporary = std::env::temp_dir();
        let dir = Scratch::new().map_err(failed(&temporary))?;
        let mut real = Vec::new();
        for folder in folders {
            real.push(folder.canonicalize().map_err(failed(folder))?);
            for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
                let entry = entry.map_err(failed(folder))?;
                let link = dir.path().join(entry.file_name());
                if link.symlink_metadata().is_err() {
                    let target = entry.path().canonicalize().map_err(failed(&entry.path()))?;
                    std::os::unix::fs::symlink(target, &link).map_err(failed(&link))?;
                }
            }
        }
        let known = calyx_stdlib::KNOWN_LIBS.iter().flat_map(|(_, files)| files);
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        for (name, text) in known.chain([&calyx_stdlib::COMPILE_LIB]).chain(&ADDED) {
            files.entry(name).or_default().push_str(text);
        }
        for (name, text) in &files {
            for top in ["", "primitives"] {
                let base = dir.path().join(top);
                if !top.is_empty() && base.is_symlink() {
                    // One of the folders brings a `primitives` of its own.
                    continue;
                }
                let file = base.join(name);
                if file.exists() {
                    continue;
                }
                let parent = file.parent().unwrap_or(&base);
                std::fs::create_dir_all(parent).map_err(failed(parent))?;
                std::fs::write(&file, text).map_err(failed(&file))?;
            }
        }
        real.push(dir.path().canonicalize().map_err(failed(dir.path()))?);
        Ok(Self {
            dir: Arc::new(dir),
            folders: real,
        })
    }

    /// The temporary folder that it is in.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}
