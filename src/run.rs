//! `petal run`: profiles a design, once or whenever it changes.

mod last;
mod on_change;
mod once;

use std::path::Path;

use petal_profile::{Error, Options, Places, Profiled};

pub use self::last::Last;
use self::on_change::on_change;
pub use self::once::report;
use self::once::{Shown, folder, once};
use crate::args::{RunArgs, SimulatorArg};
use crate::design::is_standard_input;
use crate::export;
use crate::messages;
use crate::outcome::strict;
use crate::terminal::Terminal;

/// Profiles a design for a command that asks more of it, and tells what the run warns of.
pub fn profiled(
    options: &Options,
    out: &Path,
    places: &mut Places,
    quiet: bool,
) -> Result<Profiled, Error> {
    let mut profiled = petal_profile::run_in(options, out, places, &Terminal::new(quiet))?;
    let summary = &profiled.summary;
    // What the run before was, `petal compare --last` wants to know, whoever ran it.
    if let Some(before) = profiled.before.take() {
        Last::new(before, (&profiled.metadata, summary), out)?;
    }
    if !quiet {
        summary.warnings.iter().for_each(messages::warning);
    }
    if options.design.is_strict && !summary.warnings.is_empty() {
        return Err(strict(summary, quiet));
    }
    Ok(profiled)
}

/// `petal run`
pub fn run(args: &RunArgs) -> Result<(), Error> {
    if args.verilator.is_some() && args.simulator == Some(SimulatorArg::Embedded) {
        return Err(Error::usage(
            "`--verilator` chooses Verilator as the simulator: leave it out, or `--simulator embedded`",
        ));
    }
    if args.tables {
        export::check()?;
    }
    if !args.on_change {
        return once(args, &mut Places::default(), Shown::All);
    }
    if is_standard_input(&args.design.design) {
        return Err(Error::usage(
            "standard input does not change: write the design to a file for `--on-change`",
        ));
    }
    if args.also.synth.is_some() {
        return Err(Error::usage(
            "`--synth` takes longer than one waits after an edit: leave it out, or `--on-change`",
        ));
    }
    on_change(args, &folder(args)?)
}
