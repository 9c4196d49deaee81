//! From a design to instrumented Verilog.

use std::slice;
use std::sync::Arc;

use petal_metadata::Metadata;
use petal_passes::{Design, PassesError, Pipeline};
use petal_program::{Drivers, Parsed, ProgramError};

use crate::error::Error;
use crate::front_end::SourceRoots;
use crate::interrupt;
use crate::options::DesignOptions;
use crate::places::Places;
use crate::reporter::Reporter;
use crate::verify::Verification;

/// A design with probes.
pub struct Compiled {
    /// What the compiler made of it.
    pub design: Design,
    /// What the probes mean.
    pub metadata: Metadata,
    /// What the user should know of the source.
    pub notes: Vec<String>,
    /// Whether the plain design is the same, unless nobody wants to know.
    pub verification: Option<Verification>,
    /// What starts the cells of the source.
    pub drivers: Drivers,
}

/// Compiles a design with probes, and begins to compile the plain one. A simulation may take `limit`
/// bytes of memory, if there is to be one.
///
/// # Errors
/// When the design can't be compiled, or what passes write, or what `places` has, would take the place of a source.
pub fn instrument(
    options: &DesignOptions,
    limit: Option<u64>,
    places: &mut Places,
    reporter: &dyn Reporter,
) -> Result<Compiled, Error> {
    let source = &options.source;
    let file = options.file();
    if let Some(path) = file {
        places.reads("the design", path)?;
    }
    for file in Pipeline::files_of(&options.pass_options)? {
        places.writes("-x", &file)?;
    }
    let pipeline = options.pipeline()?;
    let library = options.library()?;
    // A pass can't be stopped, and some take long.
    let _ending = interrupt::Ending::at_once();
    let mut parsed = Parsed::read(source.clone(), &library)?;
    for file in parsed.files() {
        places.reads("the import", file)?;
    }
    let mut notes = parsed.notes().to_vec();
    notes.extend(without_effect(options, &parsed)?);
    let roots = SourceRoots::new(file, &options.source_roots)?;
    let (texts, problems) = roots.read(parsed.front_end_files());
    parsed.set_front_end(texts);
    notes.extend(problems);
    let program = options.program_of(parsed)?;
    if let Some(limit) = limit {
        program.check_size(limit)?;
    }
    let drivers = Drivers::new(&program.ctx);
    let printing = reporter.passes_begin();
    let verification = if options.is_verified {
        let plain = Parsed::read(source.clone(), &library)?;
        Some(Verification::begin(
            plain,
            options.clone(),
            pipeline.clone(),
            Arc::clone(&printing),
        )?)
    } else {
        None
    };
    let pipeline = match verification {
        Some(_) => pipeline.verified(),
        None => pipeline,
    };
    let (design, metadata) = match petal_passes::instrument(program, &pipeline) {
        Ok(compiled) => compiled,
        // Where the compiler fails without petal's passes, too, they only met what it had left.
        Err(error @ PassesError::Program(ProgramError::Bug { .. })) => {
            let plain = match verification {
                Some(verification) => verification.failure(),
                None => options
                    .program()
                    .and_then(|program| Ok(petal_passes::compile(program, &pipeline)?))
                    .err(),
            };
            return Err(plain.unwrap_or_else(|| error.into()));
        }
        Err(error) => return Err(error.into()),
    };
    interrupt::check()?;
    Ok(Compiled {
        design,
        metadata,
        notes,
        verification,
        drivers,
    })
}

/// What the user should know of options that change nothing.
fn without_effect(options: &DesignOptions, parsed: &Parsed) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    let all = Pipeline::parse(&options.passes, &[])?;
    for pass in &options.disabled_passes {
        if Pipeline::parse(&options.passes, slice::from_ref(pass))? == all {
            notes.push(format!(
                "`--disable-pass {pass}` has no effect: it is not among the passes of `{}`",
                options.passes
            ));
        }
    }
    if !options.source_roots.is_empty() && parsed.front_end_files().is_empty() {
        notes.push(
            "`--source-root` has no effect: the design names no lines of a front end's files"
                .to_owned(),
        );
    }
    Ok(notes)
}
