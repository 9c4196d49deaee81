//! `petal instrument`.

use crate::args::InstrumentArgs;
use crate::compile;
use crate::failure::Failure;
use crate::folder::Draft;
use crate::interrupt;
use crate::messages;
use crate::places::Places;

/// `petal instrument`: compiles a design with probes.
pub fn instrument(args: &InstrumentArgs) -> Result<(), Failure> {
    let mut places = Places::default();
    places.writes("--verilog", &args.verilog)?;
    places.writes("--metadata", &args.metadata)?;
    let compile::Compiled {
        design,
        metadata,
        notes,
        verification,
    } = compile::instrument(&args.design, None, &mut places)?;
    notes.iter().for_each(messages::note);
    design.warnings.iter().for_each(messages::warning);
    if let Some(verification) = verification {
        verification.compare(&design, None);
        if !verification.by_structure()? {
            return Err(Failure::new(
                "the probes change how the design is built; `petal run` finds out whether they change its run, \
                 and `--unverified` goes on nevertheless",
            ));
        }
    }
    let verilog = Draft::of(&args.verilog, design.verilog()?.as_bytes())?;
    let metadata = Draft::of(&args.metadata, metadata.to_json().as_bytes())?;
    interrupt::check()?;
    verilog.finish()?;
    metadata.finish()
}
