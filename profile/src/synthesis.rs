//! A design for synthesis: the one that a run of the same options profiles, without probes.

use petal_passes::{GroupName, Hardware, MemoryPlace, Pipeline, Synthesizable};
use petal_program::{Library, Parsed};

use crate::error::Error;
use crate::front_end::SourceRoots;
use crate::interrupt;
use crate::options::DesignOptions;
use crate::places::Places;
use crate::reporter::Reporter;

/// Compiles a design for synthesis.
///
/// # Errors
/// When it can't be compiled, or the design with probes is other hardware, so that nobody knows what its parts come from.
pub fn synthesizable(
    options: &DesignOptions,
    memories: MemoryPlace,
    places: &mut Places,
    reporter: &dyn Reporter,
) -> Result<Synthesizable, Error> {
    if let Some(path) = options.file() {
        places.reads("the design", path)?;
    }
    for file in Pipeline::files_of(&options.pass_options)? {
        places.writes("-x", &file)?;
    }
    let pipeline = options.pipeline()?.verified();
    let library = Library::new(&options.libraries)?;
    let _ending = interrupt::Ending::at_once();
    let _printing = reporter.passes_begin();
    let mut parsed = Parsed::read(options.source.clone(), &library)?;
    for file in parsed.files() {
        places.reads("the import", file)?;
    }
    let roots = SourceRoots::new(options.file(), &options.source_roots)?;
    let (texts, problems) = roots.read(parsed.front_end_files());
    parsed.set_front_end(texts);
    for problem in &problems {
        reporter.note(problem);
    }
    let probed = parsed.program()?;
    let plain = Parsed::read(options.source.clone(), &library)?.program()?;
    let design = petal_passes::synthesizable(plain, probed, &pipeline, memories)?;
    interrupt::check()?;
    design.ok_or_else(|| {
        Error::new(
            "the probes change how the design is built, so petal cannot tell what the parts of the netlist come from; please report this \
             with the design",
        )
    })
}

/// Compiles the design of [`synthesizable`] without one of its groups.
///
/// # Errors
/// When what is left can't be compiled.
pub fn synthesizable_without(
    options: &DesignOptions,
    memories: MemoryPlace,
    group: &GroupName,
    reporter: &dyn Reporter,
) -> Result<Hardware, Error> {
    interrupt::check()?;
    let pipeline = options.pipeline()?.verified();
    let _ending = interrupt::Ending::at_once();
    let _printing = reporter.passes_begin();
    let plain = options.program()?;
    Ok(petal_passes::without(plain, &pipeline, memories, group)?)
}
