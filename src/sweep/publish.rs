//! What is made of a sweep's rows: its dataset and its page, and what is said of them.

use std::path::Path;

use petal_profile::Error;
use petal_sweep::{Row, Sweep};

use super::dataset;
use super::folder::{PAGE, write};
use crate::print::print;
use crate::screen::screen;

/// What the names of figures begin with that are observed.
const OBSERVED: [&str; 5] = ["count:", "checkpoint:", "latency:", "access:", "broken:"];

/// Writes what shows all rows.
pub(super) fn publish(sweep: &Sweep, rows: &[Row], out: &Path) -> Result<(), Error> {
    dataset::write(sweep, rows, out)?;
    write(&out.join(PAGE), &sweep.html(rows))
}

/// Tells what the runs gave; fails if some gave nothing.
pub(super) fn tell(
    sweep: &Sweep,
    rows: &[Row],
    out: Option<&Path>,
    quiet: bool,
) -> Result<(), Error> {
    let missing = sweep.pareto.iter().find(|name| {
        let is_optional = OBSERVED.iter().any(|prefix| name.starts_with(prefix));
        let there = rows.iter().any(|row| row.figures.contains_key(*name));
        let any = rows.iter().any(|row| row.error.is_none());
        any && !there && !is_optional
    });
    if !quiet {
        print(&sweep.text(rows, screen()))?;
        if let Some(out) = out {
            let page = out.join(PAGE);
            print(&format!("\n  {}   open in a browser\n", page.display()))?;
        }
    }
    if let Some(name) = missing {
        return Err(Error::new(format!(
            "`pareto` names the figure `{name}`, which no run has; there is {}",
            Sweep::figures(rows).join(", ")
        )));
    }
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    match failed {
        0 => Ok(()),
        1 => Err(Error::new(
            "one run failed; the same command tries it again",
        )),
        failed => Err(Error::new(format!(
            "{failed} runs failed; the same command tries them again"
        ))),
    }
}
