//! What warnings and broken rules make of a run: they are told, or it fails.

use petal_analysis::Summary;
use petal_observe::Results;
use petal_profile::{Error, observations};

use crate::args::ObserveArgs;
use crate::messages;

/// Fails, or warns, if a rule was broken.
pub fn judge(results: Option<&Results>, args: &ObserveArgs, quiet: bool) -> Result<(), Error> {
    let broken = results.map(observations::broken_rules).unwrap_or_default();
    if args.fail_on_violation && !broken.is_empty() {
        return Err(Error::new(broken.join("\n")));
    }
    if !quiet {
        broken.iter().for_each(messages::warning);
    }
    Ok(())
}

/// Tells the warnings of a run.
pub fn warn(summary: &Summary, quiet: bool) {
    if !quiet {
        summary.warnings.iter().for_each(messages::warning);
    }
}

/// The failure of a run with warnings that may have none. They are told already, unless nothing is.
pub fn strict(summary: &Summary, quiet: bool) -> Error {
    let told = if quiet { &summary.warnings[..] } else { &[] };
    let first = "the run has warnings, and `--strict` makes them errors".to_owned();
    Error::new(
        told.iter()
            .fold(first, |text, warning| format!("{text}\n  {warning}")),
    )
}
