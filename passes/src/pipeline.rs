//! The pipelines: the stock ones, run pass by pass, with petal's own steps between the passes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use calyx_ir as ir;
use calyx_opt::pass_manager::PassManager;
use calyx_opt::passes::{CellShare, CompileStatic, WellFormed};
use calyx_opt::traversal::Named;
use petal_metadata::Metadata;
use petal_program::{Program, ProgramError, Texts, Written, guarded, guarded_own, nearest};

use crate::design::{self, Design};
use crate::error::PassesError;
use crate::kept_state::{self, Joined, Pairs};
use crate::marker;
use crate::options;
use crate::order;
use crate::owners::Marks;
use crate::papercuts;
use crate::requirements;
use crate::session::{Phase, Session};
use crate::structure::Structure;
use crate::verilog_names::{self, Renamed};
use crate::well_formed;

/// The stock pipeline with optimisations.
pub const ALL: &str = "all";
/// The stock pipeline without optimisations.
pub const NO_OPT: &str = "no-opt";

/// The pass that turns control programs into state machines; identity is kept up to here.
pub(crate) const CONTROL_COMPILATION: &str = "tdcc";

/// Passes before which the probes have to be in place: they turn groups into other groups.
pub(crate) const COMPILATION: [&str; 4] = [
    "static-inline",
    "compile-static-interface",
    "compile-static",
    CONTROL_COMPILATION,
];

/// Passes of newer compilers that make state machines (`fsm`) of control, whose states petal can't tell apart.
const FSM_PASSES: [&str; 3] = ["fsm-builder", "static-fsm-alloc", "static-repeat-fsm-alloc"];

/// A list of passes, without petal's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    passes: Vec<String>,
    /// Options of passes, in the compiler's own syntax.
    options: Vec<String>,
    verified: bool,
    strict: bool,
    /// Whether it is the stock pipeline without optimisations, which gets the pass that a design needs.
    is_completed: bool,
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
            let name = name.trim();
            expand(&manager, name).ok_or_else(|| {
                let near = nearest(name, options::names(&manager));
                PassesError::Pipeline(format!("there is no pass or alias `{name}`{near}"))
            })
        };
        let mut passes: Vec<String> = Vec::new();
        for name in text.split(',') {
            passes.extend(expand(name)?);
        }
        for name in without {
            let left_out = expand(name)?;
            passes.retain(|pass| !left_out.contains(pass));
        }
        if let Some(pass) = passes.iter().find(|pass| FSM_PASSES.contains(&&***pass)) {
            return Err(PassesError::Pipeline(format!(
                "`{pass}` makes state machines (`fsm`) of control, and petal cannot tell what runs in one; \
                 start from `all` or `no-opt`"
            )));
        }
        if !passes.iter().any(|pass| pass == CONTROL_COMPILATION) {
            return Err(PassesError::Pipeline(format!(
                "it lacks `{CONTROL_COMPILATION}`, which compiles control programs; \
                 start from `all` or `no-opt`"
            )));
        }
        Ok(Self {
            is_completed: text.trim() == NO_OPT
                && !without
                    .iter()
                    .any(|name| name.trim() == requirements::REPEAT),
            passes,
            options: Vec::new(),
            verified: false,
            strict: false,
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
    /// design with those of the plain one. The metadata say so.
    #[must_use]
    pub fn verified(self) -> Self {
        Self {
            verified: true,
            ..self
        }
    }

    /// The same passes, of which `papercut` refuses what it warns of otherwise.
    #[must_use]
    pub fn strict(self) -> Self {
        Self {
            strict: true,
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

    /// The same with the pass that the design needs and `no-opt` lacks; that pass.
    pub(crate) fn completed(&self, ctx: &ir::Context) -> (Self, Option<&'static str>) {
        if !self.is_completed {
            return (self.clone(), None);
        }
        let (passes, added) = requirements::completed(ctx, &self.passes, &COMPILATION);
        let completed = Self {
            passes,
            ..self.clone()
        };
        (completed, added)
    }

    /// Whether the passes compile static groups and static control, which need a pass of their own.
    pub fn compiles_static(&self) -> bool {
        self.passes.iter().any(|pass| pass == CompileStatic::name())
    }

    /// Whether a pass gives one piece of hardware the work of several cells.
    pub fn shares_cells(&self) -> bool {
        self.passes.iter().any(|pass| pass == CellShare::name())
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

/// The passes behind a pass or alias; `None` for an unknown name. Only the pass manager's help text
/// says what an alias stands for.
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

pub(crate) fn stock() -> Result<PassManager, PassesError> {
    petal_compiler::default_passes().map_err(|error| PassesError::Pipeline(format!("{error:?}")))
}

/// Compiles a program as the stock compiler does.
///
/// # Errors
/// When the compiler refuses the program.
pub fn compile(program: Program, pipeline: &Pipeline) -> Result<Design, PassesError> {
    let _reading = petal_program::compiling();
    let manager = stock()?;
    let (pipeline, added) = &pipeline.completed(&program.ctx);
    let (mut design, _) = build(program, pipeline, |ctx, path| {
        for pass in &pipeline.passes {
            run(&manager, ctx, path, pipeline, pass)?;
        }
        Ok(())
    })?;
    design.added_pass = *added;
    Ok(design)
}

/// Compiles a program with probes in it.
///
/// # Errors
/// When the compiler refuses the program.
pub fn instrument(
    mut program: Program,
    pipeline: &Pipeline,
) -> Result<(Design, Metadata), PassesError> {
    let reading = petal_program::compiling();
    let manager = stock()?;
    let (pipeline, added) = &pipeline.completed(&program.ctx);
    let mut result = None;
    let texts = Arc::new(std::mem::take(&mut program.texts));
    let built = build(program, pipeline, |ctx, path| {
        let texts = Arc::clone(&texts);
        result = Some(run_probed(&manager, ctx, path, texts, pipeline, None)?);
        Ok(())
    });
    let (mut design, renamed) = match built {
        Ok(built) => built,
        Err(error) => {
            drop(reading);
            return Err(match error {
                PassesError::Program(error) => texts.located(error).into(),
                other => other,
            });
        }
    };
    let (mut metadata, (warnings, joined)) = result.expect("set by the passes, which have run");
    design.added_pass = *added;
    design.warnings = warnings;
    design.joined = joined;
    design::rename_instances(&mut metadata, &renamed);
    metadata.verified = pipeline.verified;
    metadata.seal();
    marker::name(&mut design.program, &metadata);
    Ok((design, metadata))
}

/// Runs the passes with petal's own steps among them ([`crate::plugin`] has them as passes). Returns the
/// warnings for the user, too. With `marks`, assignments have those of their groups in the end.
pub(crate) fn run_probed(
    manager: &PassManager,
    ctx: &mut ir::Context,
    path: &Path,
    texts: Arc<Texts>,
    pipeline: &Pipeline,
    mut marks: Option<&mut Marks>,
) -> Result<(Metadata, (Vec<String>, Joined)), PassesError> {
    let encode = Written::STEP;
    let probe = petal_compiler::INSTRUMENTATION;
    let mut session = guarded_own(path, encode, || Ok(Session::of(ctx, texts)))?;
    session.pipeline = pipeline.described();
    let (mut warnings, mut joined) = (Vec::new(), Joined::new());
    for pass in &pipeline.passes {
        if session.phase == Phase::Source && COMPILATION.contains(&pass.as_str()) {
            guarded_own(path, probe, || {
                session.probe(ctx);
                Ok(())
            })?;
            // Each copy of a group has its own name by now.
            if let Some(marks) = &mut marks {
                marks.mark(ctx);
            }
        }
        let apart = if pass == kept_state::PASS {
            guarded(path, pass, || Ok(kept_state::pairs(ctx)))?
        } else {
            Pairs::new()
        };
        let merging = marks.as_ref().and_then(|marks| marks.merging(ctx, pass));
        warnings.extend(run(manager, ctx, path, pipeline, pass)?);
        if let (Some(marks), Some(merging)) = (&mut marks, merging) {
            marks.merged(ctx, &merging);
        }
        if session.phase == Phase::Probed && pass == CONTROL_COMPILATION {
            if let Some(marks) = &mut marks {
                marks.mark(ctx);
            }
            guarded_own(path, probe, || session.control_compiled(ctx))?;
        } else if session.phase != Phase::Compiled {
            guarded_own(path, encode, || session.follow(ctx))?;
        }
        let (notes, cells) = session.joined(&apart);
        warnings.extend(notes);
        joined.extend(cells);
    }
    let metadata = guarded_own(path, probe, || Ok(session.metadata(ctx)))?
        .ok_or(PassesError::NoMetadata(CONTROL_COMPILATION))?;
    if let (Some(marks), Some(probes)) = (&mut marks, &session.probes) {
        marks.name(probes, &metadata);
    }
    Ok((metadata, (warnings, joined)))
}

/// Compiles a program by `run`, which runs the passes.
pub(crate) fn build(
    program: Program,
    pipeline: &Pipeline,
    run: impl FnOnce(&mut ir::Context, &Path) -> Result<(), PassesError>,
) -> Result<(Design, Renamed), PassesError> {
    let Program {
        mut ctx,
        path,
        library,
        includes,
        ..
    } = program;
    let main = ctx.entrypoint;
    requirements::check(&ctx, &pipeline.passes)?;
    let external = design::external_memories(&ctx);
    ctx.bc.enable_verification = true;
    ctx.bc.flat_assign = true;
    ctx.extra_opts.clone_from(&pipeline.options);
    run(&mut ctx, &path)?;
    let structure = Structure::of(&ctx);
    petal_compiler::prepare_library(&mut ctx.lib, library.path()).map_err(|source| {
        ProgramError::Library {
            path: library.path().to_owned(),
            source,
        }
    })?;
    let renamed = verilog_names::rename(&mut ctx);
    let memories = design::memories(main, external, &renamed);
    Ok((
        Design {
            program: ctx,
            path,
            library,
            includes,
            memories,
            added_pass: None,
            warnings: Vec::new(),
            joined: Joined::new(),
            structure,
        },
        renamed,
    ))
}

/// Runs one of the compiler's passes. Returns what it warns of.
pub(crate) fn run(
    manager: &PassManager,
    ctx: &mut ir::Context,
    path: &Path,
    pipeline: &Pipeline,
    pass: &str,
) -> Result<Vec<String>, PassesError> {
    requirements::check_pass(ctx, pass)?;
    if pass == papercuts::PASS {
        let warnings = guarded(path, pass, || papercuts::find(ctx))?;
        return if pipeline.strict && !warnings.is_empty() {
            let places = warnings.join("\n");
            Err(PassesError::Papercuts { places })
        } else {
            Ok(warnings)
        };
    }
    let stock = |ctx: &mut ir::Context| petal_compiler::run_pass(manager, ctx, pass);
    guarded(path, pass, || {
        if pass == WellFormed::name() {
            well_formed::check(ctx, stock)
        } else {
            order::kept(ctx, pass, stock)
        }
    })?;
    Ok(Vec::new())
}
