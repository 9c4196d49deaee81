//! From a Calyx file on disk to the compiler's representation: the library search path, with the
//! Calyx standard library out of `calyx-stdlib`, and parsing.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calyx_frontend::Workspace;
use calyx_frontend::ast::NamespaceDef;
use calyx_ir as ir;
use petal_files::Scratch;

use crate::error::PassesError;
use crate::guard::guarded;
use crate::nesting;
use crate::positions;
use crate::size;

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
    dir: Arc<Scratch>,
    /// The real paths of the given folders.
    folders: Vec<PathBuf>,
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

/// A parsed Calyx program. Other than a [`Program`] it can go to another thread. One thread parses at a
/// time, and none compiles meanwhile, because the parser's table of positions is global: the others wait.
pub struct Parsed {
    workspace: Workspace,
    path: PathBuf,
    files: Vec<PathBuf>,
    library: Arc<Scratch>,
}

impl Parsed {
    /// Parses the program in `file` and all that it imports. For programs that nest deep, this and
    /// all that is done with them needs a thread with [`STACK`](crate::STACK).
    ///
    /// # Errors
    /// When a file is missing, is not Calyx, or is neither in the folder of `file` nor in one of the
    /// library.
    pub fn read(file: &Path, library: &Library) -> Result<Self, PassesError> {
        let _alone = positions::parsing();
        let (workspace, files) = parse(file, library)?;
        Ok(Self {
            workspace,
            path: file.to_owned(),
            files,
            library: Arc::clone(&library.dir),
        })
    }

    /// The user's files that the program is made of, in no particular order: the source, what it
    /// imports, and the Verilog of primitives.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Checks names and types.
    ///
    /// # Errors
    /// When the Calyx compiler refuses the program.
    pub fn program(self) -> Result<Program, PassesError> {
        let Self {
            workspace,
            path,
            library,
            ..
        } = self;
        let _reading = positions::compiling();
        let ctx = guarded(&path, "parser", || ir::from_ast::ast_to_ir(workspace))?;
        Ok(Program { ctx, path, library })
    }
}

/// A parsed and type-checked Calyx program.
pub struct Program {
    pub(crate) ctx: ir::Context,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The backend reads the library's Verilog at the end.
    pub(crate) library: Arc<Scratch>,
}

impl Program {
    /// Reads the program in `file` and all that it imports, as [`Parsed::read`] and
    /// [`Parsed::program`] do.
    ///
    /// # Errors
    /// As for these.
    pub fn read(file: &Path, library: &Library) -> Result<Self, PassesError> {
        Parsed::read(file, library)?.program()
    }
}

impl Program {
    /// Checks that a simulation takes at most `limit` bytes of memory, if every word of the program's
    /// memories is written.
    ///
    /// # Errors
    /// [`PassesError::Size`] if it may take more.
    pub fn check_size(&self, limit: u64) -> Result<(), PassesError> {
        let _reading = positions::compiling();
        size::check(&self.ctx, &self.path, limit)
    }
}

/// Tells what it means that the parser took too many steps.
fn explain(error: PassesError) -> PassesError {
    match error {
        PassesError::Calyx { stage, message } => {
            let meaning = "this is an error (the parser gave up looking for what may be here)";
            let message = message.replace("call limit reached", meaning);
            PassesError::Calyx { stage, message }
        }
        other => other,
    }
}

/// Parses a program and all that it imports, in the order of [`Workspace::construct`]. Returns also
/// which files of the user these are, and those that their primitives come from.
fn parse(file: &Path, library: &Library) -> Result<(Workspace, Vec<PathBuf>), PassesError> {
    let mut workspace = Workspace::default();
    let mut folders = library.folders.clone();
    let mut known = HashSet::new();
    petal_files::check(file).map_err(|source| PassesError::Read {
        path: file.to_owned(),
        source,
    })?;
    let mut files = vec![file.to_owned()];
    let mut waiting = vec![(file.to_owned(), true)];
    while let Some((path, is_design)) = waiting.pop() {
        let unreadable = |source| PassesError::Read {
            path: path.clone(),
            source,
        };
        if !known.insert(path.canonicalize().map_err(unreadable)?) {
            continue;
        }
        let text = std::fs::read(&path).map_err(unreadable)?;
        nesting::check(&text, |line, problem| PassesError::Nested {
            path: path.clone(),
            line,
            problem,
        })?;
        // An error inside of loops makes the parser try everything again at each level around it.
        let calls = MOST_CALLS.max(text.len().saturating_mul(CALLS_PER_BYTE));
        pest::set_call_limit(NonZeroUsize::new(calls));
        let namespace = guarded(&path, "parser", || {
            NamespaceDef::construct(&Some(path.clone()))
        })
        .map_err(explain)?;
        let mut folder = path.parent().unwrap_or(Path::new("")).to_owned();
        if is_design {
            // A relative path may have an empty parent.
            folder = Path::new(".")
                .join(folder)
                .canonicalize()
                .map_err(unreadable)?;
            folders.push(folder.clone());
            workspace.original_imports.clone_from(&namespace.imports);
            workspace.metadata.clone_from(&namespace.metadata);
        }
        let externs = namespace
            .externs
            .iter()
            .filter_map(|(file, _)| file.as_ref());
        let externs = externs.map(|file| (file, folder.join(file)));
        let imports = namespace.imports.iter().map(|file| {
            let beside = folder.join(file);
            let found = if beside.exists() {
                beside
            } else {
                library.path().join(file)
            };
            (file, found)
        });
        for (name, found) in externs.chain(imports) {
            let line = || {
                let quoted = format!("\"{name}\"");
                let text = String::from_utf8_lossy(&text);
                let before = text.lines().take_while(|line| !line.contains(&quoted));
                before.count() + 1
            };
            let Ok(file) = found.canonicalize() else {
                return Err(PassesError::Missing {
                    path: path.clone(),
                    line: line(),
                    name: name.clone(),
                });
            };
            if !folders.iter().any(|folder| file.starts_with(folder)) {
                return Err(PassesError::Outside {
                    path: path.clone(),
                    line: line(),
                    file,
                });
            }
            petal_files::check(&file).map_err(|source| PassesError::Read {
                path: file.clone(),
                source,
            })?;
            files.push(file);
        }
        waiting.extend(guarded(&path, "parser", || {
            workspace.merge_namespace(namespace, is_design, &folder, false, library.path())
        })?);
    }
    if let Some(own) = library.folders.last() {
        files.retain(|file| !file.starts_with(own));
    }
    Ok((workspace, files))
}
