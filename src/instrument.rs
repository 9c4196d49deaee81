//! `petal instrument`.

use petal_profile::folder::Draft;
use petal_profile::{Compiled, Error, Places, interrupt};

use crate::args::InstrumentArgs;
use crate::messages;
use crate::terminal::Terminal;

/// `petal instrument`: compiles a design with probes.
pub fn instrument(args: &InstrumentArgs) -> Result<(), Error> {
    let mut places = Places::default();
    places.writes("--verilog", &args.verilog)?;
    places.writes("--metadata", &args.metadata)?;
    let Compiled {
        design,
        metadata,
        notes,
        verification,
        ..
    } = petal_profile::instrument(
        &args.design.options()?,
        None,
        &mut places,
        &Terminal::default(),
    )?;
    notes.iter().for_each(messages::note);
    design.warnings.iter().for_each(messages::warning);
    if let Some(verification) = verification
        && !verification.by_structure(&design)?
    {
        return Err(Error::new(
            "the probes change how the design is built; `petal run` finds out whether they change its run, \
             and `--unverified` goes on nevertheless",
        ));
    }
    let verilog = Draft::of(&args.verilog, design.verilog()?.as_bytes())?;
    let metadata = Draft::of(&args.metadata, metadata.to_json().as_bytes())?;
    interrupt::check()?;
    verilog.finish()?;
    metadata.finish()
}
