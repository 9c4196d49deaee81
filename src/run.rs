//! `petal run`: profiles a design, once or whenever it changes.

mod last;
mod on_change;
mod once;

use petal_profile::{Error, Places};

pub use self::last::Last;
use self::on_change::on_change;
pub use self::once::report;
use self::once::{Shown, folder, once};
use crate::args::{RunArgs, SimulatorArg};
use crate::design::is_standard_input;
use crate::export;

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
