//! From a Calyx file on disk to the compiler's representation: the library search path, with the
//! Calyx standard library out of `calyx-stdlib`, and parsing.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calyx_frontend::Workspace;
use calyx_ir as ir;
use tempfile::TempDir;

use crate::nesting;
use crate::pipeline::{PassesError, guarded};

/// Steps that the parser may take for a file. Valid ones take 10 to 50 for each byte; imported files
/// are usually small.
const MOST_CALLS: usize = 100_000_000;
const CALLS_PER_BYTE: usize = 200;

/// The folder in which imports are looked up after the folder of the importing file.
///
/// Holds the Calyx standard library under both spellings in use (`primitives/core.futil` and
/// `core.futil`) behind the given folders, which win.
#[derive(Debug)]
pub struct Library {
    dir: Arc<TempDir>,
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
        let dir = TempDir::with_prefix("petal-lib-").map_err(failed(&temporary))?;
        for folder in folders {
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
        for (name, text) in known.chain([&calyx_stdlib::COMPILE_LIB]) {
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
        Ok(Self { dir: Arc::new(dir) })
    }

    /// The temporary folder that it is in.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Tells of an import that is missing where imports are looked up, and what it means that the
    /// parser took too many steps.
    fn explain(&self, error: PassesError) -> PassesError {
        match error {
            PassesError::Calyx { stage, message } if message.contains("call limit reached") => {
                let meaning = "this is an error (the parser gave up looking for what may be here)";
                let message = message.replace("call limit reached", meaning);
                PassesError::Calyx { stage, message }
            }
            PassesError::Calyx { stage, mut message } if message.contains("Import path") => {
                let library = self.dir.path().display().to_string();
                message = message.replace(&library, "the Calyx standard library");
                message.push_str("; `--library DIR` adds a folder to look in");
                PassesError::Calyx { stage, message }
            }
            other => other,
        }
    }
}

/// A parsed and type-checked Calyx program.
pub struct Program {
    pub(crate) ctx: ir::Context,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The backend reads the library's Verilog at the end.
    pub(crate) library: Arc<TempDir>,
}

impl Program {
    /// Reads the program in `file` and all that it imports. For programs that nest deep, this and
    /// all that is done with them needs a thread with [`STACK`](crate::STACK).
    ///
    /// # Errors
    /// When a file is missing or is not Calyx.
    pub fn read(file: &Path, library: &Library) -> Result<Self, PassesError> {
        // Told here, because the parser's own message has neither the path nor the reason.
        let source = std::fs::read(file).map_err(|source| PassesError::Read {
            path: file.to_owned(),
            source,
        })?;
        nesting::check(&source, |line, problem| PassesError::Nested {
            path: file.to_owned(),
            line,
            problem,
        })?;
        // An error inside of loops makes the parser try everything again at each level around it.
        let calls = MOST_CALLS.max(source.len().saturating_mul(CALLS_PER_BYTE));
        pest::set_call_limit(NonZeroUsize::new(calls));
        let ctx = guarded(file, "parser", || {
            let workspace = Workspace::construct(&Some(file.to_owned()), library.dir.path())?;
            ir::from_ast::ast_to_ir(workspace)
        })
        .map_err(|error| library.explain(error))?;
        Ok(Self {
            ctx,
            path: file.to_owned(),
            library: Arc::clone(&library.dir),
        })
    }
}
