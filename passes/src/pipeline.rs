//! The pipelines: the stock ones in pieces, with petal's passes woven in, and what comes out of
//! them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use calyx_backend::{Backend, VerilogBackend};
use calyx_ir as ir;
use calyx_opt::pass_manager::PassManager;
use calyx_opt::passes::WellFormed;
use calyx_opt::traversal::Named;
use calyx_utils::{CalyxResult, OutputFile};
use petal_files::Scratch;
use petal_metadata::Metadata;
use thiserror::Error;

use crate::frontend::Program;
use crate::marker;
use crate::options;
use crate::order;
use crate::plugin::{EncodeControl, Instrumentation};
use crate::positions;
use crate::requirements;
use crate::session::{Phase, Session};
use crate::structure::Structure;
use crate::verilog_names::{self, Renamed};
use crate::well_formed;

/// The stock pipeline with optimisations.
pub const ALL: &str = "all";
/// The stock pipeline without optimisations.
pub const NO_OPT: &str = "no-opt";

/// The stack that the Calyx compiler needs for the deepest programs that it is given, in bytes.
pub const STACK: usize = 512 << 20;

/// The pass that turns control programs into state machines; identity is kept up to here.
pub(crate) const CONTROL_COMPILATION: &str = "tdcc";

/// Passes before which the probes have to be in place: they turn groups into other groups.
pub(crate) const COMPILATION: [&str; 4] = [
    "static-inline",
    "compile-static-interface",
    "compile-static",
    CONTROL_COMPILATION,
];

/// Why a design can't be compiled.
#[derive(Debug, Error)]
pub enum PassesError {
    /// The design can't be read.
    #[error("cannot read the design {path}: {source}")]
    Read {
        /// The design.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The library folder can't be set up.
    #[error("cannot set up the Calyx library at {path}: {source}")]
    Library {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The design asks for a file that is not there.
    #[error(
        "{path}:{line}: `{name}` is not there; imports are looked up in the folder of this file and \
         then in the library (`--library DIR` adds a folder), Verilog in the folder of this file"
    )]
    Missing {
        /// The design, or a file that it imports.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What it imports or takes Verilog from.
        name: String,
    },
    /// The design asks for a file that is none of its own.
    #[error(
        "{path}:{line}: wants {file}, which is neither in the folder of the design nor in one of the library; \
         `--library DIR` adds the folder that it is in"
    )]
    Outside {
        /// The design, or a file that it imports.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What it imports or takes Verilog from.
        file: PathBuf,
    },
    /// The Calyx compiler refuses the design.
    #[error("the Calyx compiler refuses the design ({stage}):\n{message}")]
    Calyx {
        /// The pass, `parser` or `backend`.
        stage: String,
        /// The compiler's message, with the place in the source where it gives one.
        message: String,
    },
    /// The Calyx compiler gave up in the middle of a pass.
    #[error(
        "the Calyx compiler fails on the design {path} ({stage}): {message}; \
         this is a limit of Calyx 0.7.1, try another pipeline (`--passes`) or another formulation"
    )]
    Panic {
        /// The design.
        path: PathBuf,
        /// The pass, `parser` or `backend`.
        stage: String,
        /// What it said.
        message: String,
    },
    /// The design nests deeper than the compiler can follow.
    #[error(
        "{path}:{line}: the design nests too deep for the Calyx compiler: {problem}; \
         move a part of it into a component or group of its own"
    )]
    Nested {
        /// The design.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What there is too much of.
        problem: String,
    },
    /// A pass of the Calyx compiler would not come to an end.
    #[error(
        "the pass `cell-share` goes twice through each loop, and so 2^{depth} times through this one:\n\
         {place}\nleave it out with `--disable-pass cell-share`"
    )]
    Loops {
        /// How many loops are around one another.
        depth: u32,
        /// The innermost, with its place.
        place: String,
    },
    /// A component that hands over cells would be inlined.
    #[error(
        "the pass `inline` breaks the cell `{cell}`, whose component invokes another one with cells for its `ref` cells:\n\
         {place}\nremove `@inline` or leave the pass out with `--disable-pass inline`"
    )]
    Inlined {
        /// The cell.
        cell: String,
        /// Where it is declared.
        place: String,
    },
    /// A pass of petal's own gave up.
    #[error(
        "petal fails on the design {path} ({stage}): {message}; please report this with the design"
    )]
    Bug {
        /// The design.
        path: PathBuf,
        /// The pass.
        stage: String,
        /// What it said.
        message: String,
    },
    /// The design has constructs that the list of passes can't compile.
    #[error(
        "these passes cannot compile the design:\n{places}\n\
         choose passes that can with `--passes`: `all` compiles everything"
    )]
    Unsupported {
        /// Each construct with its place.
        places: String,
    },
    /// A simulation of the design would take too much memory.
    #[error(
        "{place}: {what}; a simulation of the design takes up to {bytes} of memory, and {limit} are allowed: \
         `--max-memory SIZE` allows more"
    )]
    Size {
        /// What takes most: the file and the line, counted from 1.
        place: String,
        /// What it is, with its number.
        what: String,
        /// What the whole design takes.
        bytes: String,
        /// What it may take.
        limit: String,
    },
    /// A pass can't be given an option.
    #[error("`-x {option}`: {problem}")]
    Option {
        /// The option, as it was given.
        option: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The list of passes can't be run.
    #[error("the list of passes is of no use: {0}")]
    Pipeline(String),
    /// A part of petal's own bookkeeping failed.
    #[error("the passes ran, but petal got no metadata from them: is `{0}` in the list of passes?")]
    NoMetadata(&'static str),
}

/// A list of passes, without petal's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    passes: Vec<String>,
    /// Options of passes, in the compiler's own syntax.
    options: Vec<String>,
    verified: bool,
}

impl Pipeline {
    /// The pipeline that `text` names: `all`, `no-opt` or another stock alias, or a list of passes
    /// and aliases with commas. `without` names passes (or aliases) to leave out.
    ///
    /// # Errors
    /// When a name is unknown, or control is never compiled.
    pub fn parse(text: &str, without: &[String]) -> Result<Self, PassesError> {
        let manager = stock()?;
        let expand = |name: &str| {
            expand(&manager, name.trim())
                .ok_or_else(|| PassesError::Pipeline(format!("there is no pass or alias `{name}`")))
        };
        let mut passes: Vec<String> = Vec::new();
        for name in text.split(',') {
            passes.extend(expand(name)?);
        }
        for name in without {
            let left_out = expand(name)?;
            passes.retain(|pass| !left_out.contains(pass));
        }
        if !passes.iter().any(|pass| pass == CONTROL_COMPILATION) {
            return Err(PassesError::Pipeline(format!(
                "it lacks `{CONTROL_COMPILATION}`, which compiles control programs; \
                 start from `all` or `no-opt`"
            )));
        }
        Ok(Self {
            passes,
            options: Vec::new(),
            verified: false,
        })
    }

    /// The same passes with options: `PASS:OPTION` or `PASS:OPTION=VALUE` each, as the Calyx compiler
    /// has them. Of two values for one option the last counts.
    ///
    /// # Errors
    /// When a pass or option is unknown, a value is not one of the option, or a pass does not run.
    pub fn with_options(mut self, options: &[String]) -> Result<Self, PassesError> {
        options::check(&stock()?, &self.passes, options)?;
        self.options.extend_from_slice(options);
        Ok(self)
    }

    /// The same passes, for a caller that compares the [structure](Design::structure) or the run of the
    /// design with those of the plain one. The metadata tell it.
    #[must_use]
    pub fn verified(self) -> Self {
        Self {
            verified: true,
            ..self
        }
    }

    /// Whether a pass has an option.
    pub fn has_options(&self) -> bool {
        !self.options.is_empty()
    }

    /// The files that passes would write if they were given these options.
    ///
    /// # Errors
    /// When the compiler's passes can't be listed.
    pub fn files_of(options: &[String]) -> Result<Vec<PathBuf>, PassesError> {
        Ok(options::files(&stock()?, options))
    }

    /// The names of the passes, in order.
    pub fn passes(&self) -> &[String] {
        &self.passes
    }

    /// The passes with their options, for the record.
    fn described(&self) -> Vec<String> {
        let described = |pass: &String| {
            let of_pass = self.options.iter().filter(|option| {
                let name = option.split(':').next();
                name == Some(pass)
            });
            let of_pass: Vec<&str> = of_pass.map(String::as_str).collect();
            if of_pass.is_empty() {
                pass.clone()
            } else {
                of_pass.join(" ")
            }
        };
        self.passes.iter().map(described).collect()
    }
}

/// The passes behind a pass or alias; `None` for an unknown name. The pass manager tells what an
/// alias stands for only in its help text.
pub(crate) fn expand(manager: &PassManager, name: &str) -> Option<Vec<String>> {
    let help = manager.specific_help(name)?;
    if help.starts_with('`') {
        Some(
            help.lines()
                .filter_map(|line| line.strip_prefix("- "))
                .map(str::to_owned)
                .collect(),
        )
    } else {
        Some(vec![name.to_owned()])
    }
}

fn stock() -> Result<PassManager, PassesError> {
    PassManager::default_passes().map_err(|error| PassesError::Pipeline(format!("{error:?}")))
}

/// A memory of main that a simulation loads and stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Name of the `@external` cell.
    pub name: String,
    /// Its name in the Verilog, and so that of its data files: differs where Verilog does not
    /// allow the name.
    pub instance: String,
    /// Bits per element.
    pub width: u64,
    /// Number of elements in each dimension, outermost first.
    pub dims: Vec<u64>,
}

/// A compiled design.
pub struct Design {
    program: ir::Context,
    /// The source.
    path: PathBuf,
    /// Has the files of the extern primitives.
    library: Arc<Scratch>,
    /// The memories of main.
    pub memories: Vec<Memory>,
    /// What hardware it is, probes left out.
    pub structure: Structure,
}

impl Design {
    /// The program after all passes, with names that Verilog allows: only guarded continuous
    /// assignments, primitives and component instances.
    pub fn program(&self) -> &ir::Context {
        &self.program
    }

    /// The temporary folder that it needs: it is removed with the design.
    pub fn folder(&self) -> &Path {
        self.library.path()
    }

    /// The whole design as `SystemVerilog`, primitives included; the top module is `main`.
    ///
    /// # Errors
    /// When the compiler's backend refuses the design, or the temporary folder can't be written.
    pub fn verilog(&self) -> Result<String, PassesError> {
        let _reading = positions::compiling();
        verilog(&self.program, &self.path, self.library.path())
    }
}

/// Compiles a program as the stock compiler does.
///
/// # Errors
/// When the compiler refuses the program.
pub fn compile(program: Program, pipeline: &Pipeline) -> Result<Design, PassesError> {
    let _reading = positions::compiling();
    let manager = stock()?;
    let (design, _) = build(program, pipeline, |ctx, path| {
        for pass in &pipeline.passes {
            run(&manager, ctx, path, pass)?;
        }
        Ok(())
    })?;
    Ok(design)
}

/// Compiles a program with probes in it.
///
/// # Errors
/// When the compiler refuses the program.
pub fn instrument(
    program: Program,
    pipeline: &Pipeline,
) -> Result<(Design, Metadata), PassesError> {
    let _reading = positions::compiling();
    let manager = stock()?;
    let mut metadata = None;
    let (mut design, renamed) = build(program, pipeline, |ctx, path| {
        metadata = Some(run_probed(&manager, ctx, path, pipeline)?);
        Ok(())
    })?;
    let mut metadata = metadata.expect("set by the passes, which have run");
    rename_instances(&mut metadata, &renamed);
    metadata.verified = pipeline.verified;
    metadata.seal();
    marker::name(&mut design.program, &metadata);
    Ok((design, metadata))
}

/// Runs the passes with petal's own steps among them ([`crate::plugin`] has them as passes).
fn run_probed(
    manager: &PassManager,
    ctx: &mut ir::Context,
    path: &Path,
    pipeline: &Pipeline,
) -> Result<Metadata, PassesError> {
    let encode = EncodeControl::name();
    let probe = Instrumentation::name();
    let mut session = guarded(path, encode, || Ok(Session::of(ctx)))?;
    session.pipeline = pipeline.described();
    for pass in &pipeline.passes {
        if session.phase() == Phase::Source && COMPILATION.contains(&pass.as_str()) {
            guarded(path, probe, || {
                session.probe(ctx);
                Ok(())
            })?;
        }
        run(manager, ctx, path, pass)?;
        if session.phase() == Phase::Probed && pass == CONTROL_COMPILATION {
            guarded(path, probe, || session.control_compiled(ctx))?;
        } else if session.phase() != Phase::Compiled {
            guarded(path, encode, || session.follow(ctx))?;
        }
    }
    guarded(path, probe, || Ok(session.metadata(ctx)))?
        .ok_or(PassesError::NoMetadata(CONTROL_COMPILATION))
}

fn build(
    program: Program,
    pipeline: &Pipeline,
    run: impl FnOnce(&mut ir::Context, &Path) -> Result<(), PassesError>,
) -> Result<(Design, Renamed), PassesError> {
    let Program {
        mut ctx,
        path,
        library,
    } = program;
    let main = ctx.entrypoint;
    requirements::check(&ctx, &pipeline.passes)?;
    let external = external_memories(&ctx);
    ctx.bc.enable_verification = true;
    ctx.bc.flat_assign = true;
    ctx.extra_opts.clone_from(&pipeline.options);
    run(&mut ctx, &path)?;
    let structure = Structure::of(&ctx);
    let renamed = verilog_names::rename(&mut ctx);
    let memories = memories(main, external, &renamed);
    Ok((
        Design {
            program: ctx,
            path,
            library,
            memories,
            structure,
        },
        renamed,
    ))
}

fn run(
    manager: &PassManager,
    ctx: &mut ir::Context,
    path: &Path,
    pass: &String,
) -> Result<(), PassesError> {
    let stock =
        |ctx: &mut ir::Context| manager.execute_plan(ctx, std::slice::from_ref(pass), &[], false);
    guarded(path, pass, || {
        if pass == WellFormed::name() {
            well_formed::check(ctx, stock)
        } else {
            order::kept(ctx, pass, stock)
        }
    })
}

/// The Verilog of a compiled program. The backend writes to files only, and starts a file anew for
/// the primitives and for the components: here, in the folder of the library.
fn verilog(ctx: &ir::Context, path: &Path, library: &Path) -> Result<String, PassesError> {
    let failed = |source| PassesError::Library {
        path: library.to_owned(),
        source,
    };
    let dir = tempfile::tempdir_in(library).map_err(failed)?;
    let primitives = dir.path().join("primitives.sv");
    let components = dir.path().join("components.sv");
    guarded(path, "backend", || {
        VerilogBackend::validate(ctx)?;
        VerilogBackend::link_externs(ctx, &mut OutputFile::File(primitives.clone()))?;
        VerilogBackend::emit(ctx, &mut OutputFile::File(components.clone()))
    })?;
    let mut verilog = std::fs::read_to_string(&primitives).map_err(failed)?;
    verilog.push_str(&std::fs::read_to_string(&components).map_err(failed)?);
    Ok(verilog)
}

/// An `@external` memory of the entry point: name, width and dimensions.
type External = (ir::Id, u64, Vec<u64>);

fn external_memories(ctx: &ir::Context) -> Vec<External> {
    let Some(main) = ctx.components.iter().find(|c| c.name == ctx.entrypoint) else {
        return vec![];
    };
    main.cells
        .iter()
        .map(|cell| cell.borrow())
        .filter(|cell| cell.get_attribute(ir::BoolAttr::External).is_some())
        .filter_map(|cell| {
            let dims: Vec<u64> = match cell.get_parameter("SIZE") {
                Some(size) => vec![size],
                None => (0..4)
                    .map_while(|dim| cell.get_parameter(format!("D{dim}_SIZE")))
                    .collect(),
            };
            let width = cell.get_parameter("WIDTH")?;
            (!dims.is_empty()).then(|| (cell.name(), width, dims))
        })
        .collect()
}

fn memories(main: ir::Id, external: Vec<External>, renamed: &Renamed) -> Vec<Memory> {
    external
        .into_iter()
        .map(|(name, width, dims)| Memory {
            name: name.to_string(),
            instance: renamed
                .get(&(main, name))
                .copied()
                .unwrap_or(name)
                .to_string(),
            width,
            dims,
        })
        .collect()
}

/// Brings the Verilog names in the metadata up to date.
fn rename_instances(metadata: &mut Metadata, renamed: &Renamed) {
    let new_name = |component: &str, old: &str| {
        renamed
            .get(&(component.into(), old.into()))
            .map(ToString::to_string)
    };
    for component in &mut metadata.components {
        for cell in &mut component.cells {
            let renamed = |name: &String| new_name(&component.name, name);
            if let Some(name) = cell.instance.as_ref().and_then(renamed) {
                cell.instance = Some(name);
            }
        }
        for register in &mut component.registers {
            if let Some(name) = new_name(&component.name, &register.name) {
                register.name = name;
            }
        }
    }
    for level in metadata.scope.iter_mut().skip(2) {
        // Only a wrapper around the entry point adds a level; it is called main.
        if let Some(name) = new_name("main", level) {
            *level = name;
        }
    }
}

thread_local! {
    /// The message of a panic that [`guarded`] is about to report; `None` outside of it.
    static PANIC: Cell<Option<String>> = const { Cell::new(None) };
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the compiler on the design `path`. Calyx gives up on some inputs by panicking.
pub(crate) fn guarded<T>(
    path: &Path,
    stage: &str,
    act: impl FnOnce() -> CalyxResult<T>,
) -> Result<T, PassesError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                return previous(info);
            }
            let payload = info.payload();
            let message = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| {
                    payload
                        .downcast_ref::<&str>()
                        .map(|text| (*text).to_owned())
                })
                .unwrap_or_else(|| "no message".to_owned());
            PANIC.set(Some(message));
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    GUARDED.set(false);
    let own = [EncodeControl::name(), Instrumentation::name()];
    let stage = stage.to_owned();
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(PassesError::Calyx {
            stage,
            message: format!("{error:?}"),
        }),
        Err(_) => {
            let message = PANIC.take().unwrap_or_else(|| "no message".to_owned());
            let path = path.to_owned();
            Err(if own.contains(&&*stage) {
                PassesError::Bug {
                    path,
                    stage,
                    message,
                }
            } else {
                PassesError::Panic {
                    path,
                    stage,
                    message,
                }
            })
        }
    }
}
