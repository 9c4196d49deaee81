//! What is said of the timeline of a part of a run.

use std::fmt::Write as _;
use std::path::Path;

use petal_analysis::ControlView;
use petal_profile::Error;
use petal_profile::part::{MAX_SLICES, Parts, Wanted, draw};
use petal_table::thousands;

use crate::profile::open;

/// Writes what is `wanted` of the profile in `dir` to the file `out`; returns what to say of it.
pub fn write(dir: &Path, wanted: &Wanted, out: &Path) -> Result<String, Error> {
    let profile = open(dir)?;
    Ok(about(
        dir,
        &draw(&profile, ControlView::Source, wanted, out)?,
    ))
}

/// What a timeline shows of the profile in `dir`.
pub fn about(dir: &Path, drawn: &Parts) -> String {
    let slices = thousands(drawn.slices);
    let lead = if drawn.has_overview {
        "the whole run at a glance, and all of"
    } else {
        "what is kept of"
    };
    let cycles = |at: usize| {
        let cycles = &drawn.parts[at].cycles;
        format!("{}..{}", thousands(cycles.start), thousands(cycles.end))
    };
    let mut text = String::new();
    let _ = match &drawn.parts[..] {
        [part] if drawn.has_overview => writeln!(
            text,
            "{lead} cycles {}: {} ({slices} slices)",
            cycles(0),
            part.about
        ),
        [_] => writeln!(text, "{lead} cycles {} ({slices} slices)", cycles(0)),
        _ => writeln!(text, "{lead} these cycles ({slices} slices)"),
    };
    if drawn.parts.len() > 1 {
        let width = (0..drawn.parts.len()).map(|at| cycles(at).len()).max();
        for (at, part) in drawn.parts.iter().enumerate() {
            let width = width.unwrap_or(0);
            let _ = writeln!(text, "  {:width$}  {}", cycles(at), part.about);
        }
    }
    if drawn.slices > MAX_SLICES {
        let _ = writeln!(
            text,
            "viewers take their time to open more than {} slices",
            thousands(MAX_SLICES)
        );
    }
    if drawn.has_overview {
        let dir = dir.display();
        let next = |part: &petal_visualize::Part| part.next.clone();
        let _ = match &drawn.parts[..] {
            [part] => match next(part) {
                Some(next) => writeln!(text, "the next part: petal view {dir} {next}"),
                None => writeln!(text, "the run has no part after it"),
            },
            parts => match parts.iter().find_map(next) {
                Some(next) => writeln!(text, "another part: petal view {dir} {next}"),
                None => Ok(()),
            },
        };
    }
    text
}
