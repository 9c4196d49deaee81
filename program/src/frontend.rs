//! From a Calyx program to the compiler's representation.
//!
//! Owns which files a program is made of. What their syntax is, [`crate::syntax`] knows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calyx_frontend::Workspace;
use calyx_frontend::ast::NamespaceDef;
use calyx_ir as ir;
use petal_files::Scratch;

use crate::error::ProgramError;
use crate::guard::guarded;
use crate::includes::{Includes, is_float};
use crate::library::Library;
use crate::parse::parse_text;
use crate::positions;
use crate::refusal;
use crate::size;
use crate::source_info::Positions;
use crate::syntax::restore::Ignored;
use crate::syntax::{self, Translation};

/// A Calyx program that is still to be read.
#[derive(Debug, Clone)]
pub enum Source {
    /// In a file. What it imports is looked up in that file's folder first.
    File(PathBuf),
    /// A text from elsewhere. What it imports is looked up in the current folder first.
    Text {
        /// What errors call it, such as `<stdin>`.
        name: PathBuf,
        /// The program.
        text: String,
    },
    /// A text that stands for what is in a file. What it imports is looked up in the file's folder first.
    Edited {
        /// The file.
        path: PathBuf,
        /// The program.
        text: String,
    },
}

impl Source {
    /// The path of the file, or the name of the text.
    pub fn name(&self) -> &Path {
        match self {
            Self::File(path) | Self::Edited { path, .. } => path,
            Self::Text { name, .. } => name,
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Source {
    fn from(path: &P) -> Self {
        Self::File(path.as_ref().to_owned())
    }
}

/// The files of a program.
#[derive(Debug, Default)]
pub struct Texts {
    /// Those in Calyx, by their names in the compiler's table of positions.
    pub calyx: HashMap<String, CalyxFile>,
    /// Those of its front end, by the paths that the program has for them, as far as they are known.
    pub front_end: HashMap<String, String>,
}

impl Texts {
    /// Hands the Calyx files to `tell`, parsed again for the names in them.
    fn sources<T>(&self, tell: impl FnOnce(&[refusal::Source<'_>]) -> T) -> T {
        let _alone = positions::parsing();
        let mut files: Vec<_> = self.calyx.iter().collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        let sources = files.into_iter().filter_map(|(path, file)| {
            let (namespace, ..) = parse_text(Path::new(path), &file.text).ok()?;
            Some(refusal::Source {
                path,
                text: &file.text,
                namespace,
            })
        });
        tell(&sources.collect::<Vec<_>>())
    }

    /// The error of a pass, with its place if it is about a name for which the compiler has none.
    #[must_use]
    pub fn located(&self, error: ProgramError) -> ProgramError {
        let ProgramError::Calyx { stage, message } = error else {
            return error;
        };
        let told = self.sources(|sources| refusal::tell_of_name(&message, None, sources));
        ProgramError::Calyx {
            stage,
            message: told.unwrap_or(message),
        }
    }
}

/// A Calyx file.
#[derive(Debug, Default)]
pub struct CalyxFile {
    /// As the user has it.
    pub text: String,
    /// The ids in sets of positions, by the offset at which what they are of begins.
    pub(crate) of_sets: BTreeMap<usize, Vec<u64>>,
    /// What ids of positions stand for.
    pub(crate) positions: Positions,
}

/// A parsed Calyx program. Other than a [`Program`] it can go to another thread. One thread parses at a
/// time, and none compiles meanwhile, because the parser's table of positions is global: the others wait.
pub struct Parsed {
    workspace: Workspace,
    path: PathBuf,
    files: Vec<PathBuf>,
    texts: Texts,
    notes: Vec<String>,
    library: Arc<Scratch>,
    includes: Includes,
}

impl Parsed {
    /// Parses a program and all that it imports. For programs that nest deep, this and all that is done
    /// with them needs a thread with [`STACK`](crate::STACK).
    ///
    /// # Errors
    /// When a file is missing, is not Calyx, or is neither in the folder of the program nor in one of
    /// the library.
    pub fn read(source: impl Into<Source>, library: &Library) -> Result<Self, ProgramError> {
        let _alone = positions::parsing();
        let source = source.into();
        let mut parsed = Self {
            workspace: Workspace::default(),
            path: source.name().to_owned(),
            files: Vec::new(),
            texts: Texts::default(),
            notes: Vec::new(),
            library: Arc::clone(&library.dir),
            includes: Includes::default(),
        };
        parsed.parse(source, library)?;
        Ok(parsed)
    }

    /// The user's files that the program is made of, in no particular order: the source, what it
    /// imports, and the Verilog of primitives.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The paths of the front end's files that the program names, as it has them, each once.
    pub fn front_end_files(&self) -> BTreeSet<&str> {
        let texts = self.texts.calyx.values();
        texts.flat_map(|text| text.positions.files()).collect()
    }

    /// Takes the texts of front-end files, by those paths: they become a part of the metadata.
    pub fn set_front_end(&mut self, texts: HashMap<String, String>) {
        self.texts.front_end = texts;
    }

    /// What the user should know of the program: what petal ignores in it, each with its place.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Checks names and types.
    ///
    /// # Errors
    /// When the Calyx compiler refuses the program.
    pub fn program(self) -> Result<Program, ProgramError> {
        let Self {
            workspace,
            path,
            texts,
            library,
            includes,
            ..
        } = self;
        let reading = positions::compiling();
        let ctx = guarded(&path, "parser", || Ok(petal_compiler::ast_to_ir(workspace)))?;
        drop(reading);
        let ctx = ctx.map_err(|error| ProgramError::Calyx {
            stage: "parser".to_owned(),
            message: texts.sources(|sources| refusal::tell_of(&error, sources)),
        })?;
        Ok(Program {
            ctx,
            path,
            texts,
            library,
            includes,
        })
    }
}

/// A parsed and type-checked Calyx program.
pub struct Program {
    /// As the compiler has it.
    pub ctx: ir::Context,
    /// Where it is.
    pub path: PathBuf,
    /// The files that it is made of.
    pub texts: Texts,
    /// Holds the library: the backend reads the library's Verilog at the end.
    pub library: Arc<Scratch>,
    /// What the Verilog of its primitives needs besides itself.
    pub includes: Includes,
}

impl Program {
    /// Makes a cell of a component one of another primitive with the same ports and parameters, which the library has to have.
    pub fn set_primitive(&self, component: &str, cell: &str, primitive: &str) {
        let mut components = self.ctx.components.iter();
        let component = components.find(|of| of.name == component);
        if let Some(cell) = component.and_then(|component| component.find_cell(cell))
            && let ir::CellType::Primitive { name, .. } = &mut cell.borrow_mut().prototype
        {
            *name = primitive.into();
        }
    }

    /// Reads a program and all that it imports, as [`Parsed::read`] and [`Parsed::program`] do.
    ///
    /// # Errors
    /// As for these.
    pub fn read(source: impl Into<Source>, library: &Library) -> Result<Self, ProgramError> {
        Parsed::read(source, library)?.program()
    }

    /// Checks that a simulation takes at most `limit` bytes of memory, if every word of the program's
    /// memories is written.
    ///
    /// # Errors
    /// [`ProgramError::Size`] if it may take more.
    pub fn check_size(&self, limit: u64) -> Result<(), ProgramError> {
        let _reading = positions::compiling();
        size::check(&self.ctx, &self.path, limit)
    }
}

/// The files that a file of the program imports or takes Verilog from: in `folder`, which is its own, or in the
/// library. All must be below one of `folders`.
fn parts(
    namespace: &NamespaceDef,
    path: &Path,
    text: &str,
    folder: &Path,
    folders: &[PathBuf],
    library: &Library,
) -> Result<Vec<PathBuf>, ProgramError> {
    let mut parts = Vec::new();
    let externs = namespace
        .externs
        .iter()
        .filter_map(|(file, _)| file.as_ref());
    let externs = externs.map(|file| (file, false));
    let imports = namespace.imports.iter().map(|file| (file, true));
    for (name, is_import) in externs.chain(imports) {
        let mut found = folder.join(name);
        library.provide(&found)?;
        if is_import && !found.exists() {
            library.provide(name.as_ref())?;
            found = library.path().join(name);
        }
        let quoted = format!("\"{name}\"");
        let line = || {
            let before = text.lines().take_while(|line| !line.contains(&quoted));
            before.count() + 1
        };
        let Ok(file) = found.canonicalize() else {
            return Err(ProgramError::Missing {
                path: path.to_owned(),
                line: line(),
                name: quoted.trim_matches('"').to_owned(),
            });
        };
        if !folders.iter().any(|folder| file.starts_with(folder)) {
            return Err(ProgramError::Outside {
                path: path.to_owned(),
                line: line(),
                file,
            });
        }
        petal_files::check(&file).map_err(|source| ProgramError::Read {
            path: file.clone(),
            source,
        })?;
        parts.push(file);
    }
    Ok(parts)
}

impl Parsed {
    /// Parses a program and all that it imports, in the order of [`Workspace::construct`].
    fn parse(&mut self, source: Source, library: &Library) -> Result<(), ProgramError> {
        let mut folders = library.folders.clone();
        let mut known = HashSet::new();
        let design = source.name().to_owned();
        let mut given = None;
        let mut beside = PathBuf::new();
        match source {
            Source::File(path) => {
                petal_files::check(&path).map_err(|source| ProgramError::Read {
                    path: path.clone(),
                    source,
                })?;
                self.files.push(path);
            }
            Source::Text { text, .. } => given = Some(text),
            Source::Edited { path, text } => {
                path.parent()
                    .unwrap_or(Path::new(""))
                    .clone_into(&mut beside);
                given = Some(text);
            }
        }
        let mut waiting = vec![(design, true)];
        while let Some((path, is_design)) = waiting.pop() {
            let unreadable = |source| ProgramError::Read {
                path: path.clone(),
                source,
            };
            let mut folder = std::mem::take(&mut beside);
            let text = match given.take() {
                Some(text) => text,
                None => {
                    if !known.insert(path.canonicalize().map_err(unreadable)?) {
                        continue;
                    }
                    path.parent()
                        .unwrap_or(Path::new(""))
                        .clone_into(&mut folder);
                    petal_files::read_to_string(&path).map_err(unreadable)?
                }
            };
            let (namespace, translation, ignored) = parse_text(&path, &text)?;
            let positions = self.positions(&path, &text, &translation, &ignored);
            if is_design {
                // A relative path may have an empty parent.
                folder = Path::new(".")
                    .join(folder)
                    .canonicalize()
                    .map_err(unreadable)?;
                folders.push(folder.clone());
                let workspace = &mut self.workspace;
                let imports = namespace.imports.iter();
                workspace.original_imports = imports.map(ToString::to_string).collect();
                workspace.metadata.clone_from(&namespace.metadata);
            }
            self.files
                .extend(parts(&namespace, &path, &text, &folder, &folders, library)?);
            let workspace = &mut self.workspace;
            waiting.extend(guarded(&path, "parser", || {
                petal_compiler::add_file(workspace, namespace, is_design, &folder, library.path())
            })?);
            let name = path.to_string_lossy().into_owned();
            let file = CalyxFile {
                text,
                of_sets: translation.positions,
                positions,
            };
            self.texts.calyx.insert(name, file);
        }
        let (own, of_user) = library
            .folders
            .split_last()
            .expect("the last one is its own");
        let externs = self.workspace.lib.extern_paths().into_iter();
        // petal's own files need nothing, but for those that stand for wrappers around HardFloat.
        let externs = externs
            .filter(|path| !path.starts_with(own) || is_float(path))
            .cloned();
        self.includes = Includes::of(&externs.collect::<Vec<_>>(), of_user)?;
        self.files.extend(self.includes.files.iter().cloned());
        self.files.retain(|file| !file.starts_with(own));
        Ok(())
    }

    /// Reads the positions of a file, and notes what petal ignores in it.
    fn positions(
        &mut self,
        path: &Path,
        text: &str,
        translation: &Translation,
        ignored: &Ignored,
    ) -> Positions {
        let (positions, flaws) = Positions::read(
            text,
            &translation.source_info,
            translation.metadata.as_ref(),
        );
        let mut note = |offsets: &[usize], what: &dyn Fn(usize) -> String| {
            let Some(&first) = offsets.first() else {
                return;
            };
            let line = syntax::line(text, first);
            let others = match offsets.len() - 1 {
                0 => String::new(),
                1 => " (and one more)".to_owned(),
                others => format!(" (and {others} more)"),
            };
            let what = what(first);
            self.notes
                .push(format!("{}:{line}: {what}{others}", path.display()));
        };
        note(&ignored.fast, &|_| {
            format!(
                "`@fast` is unknown to Calyx {}, and ignored: a newer compiler may need fewer cycles for this `seq`",
                petal_compiler::CALYX_VERSION
            )
        });
        let at: Vec<usize> = flaws.iter().map(|flaw| flaw.at).collect();
        note(&at, &|_| format!("{}; it is ignored", flaws[0].message));
        let unknown = |at: &usize| {
            let ids = translation.positions[at].iter();
            ids.copied().find(|id| positions.of_set(*id).is_none())
        };
        let at: Vec<usize> = translation
            .positions
            .keys()
            .copied()
            .filter(|at| unknown(at).is_some())
            .collect();
        note(&at, &|at| match unknown(&at) {
            Some(id) if !translation.source_info.is_empty() => {
                format!("position {id} is not in the table `sourceinfo`")
            }
            _ => "there are positions, but no table `sourceinfo`".to_owned(),
        });
        positions
    }
}
