//! What was observed in a run: on its way to the folder of the profile and back, and on timelines.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use petal_observe::{Results, Written};
use petal_visualize::outputs::{OBSERVATION_TABLES, OBSERVATIONS};
use petal_visualize::timeline::{Observed, ObservedContent, ObservedTrack};

use crate::error::Error;
use crate::folder::Staging;

/// Writes the results.
pub(crate) fn write(results: &Results, staging: &Staging) -> Result<(), Error> {
    staging.write(OBSERVATIONS, results.json())?;
    for (name, table) in results.tables() {
        let path = format!("{OBSERVATION_TABLES}/{name}");
        staging.write(&path, table)?;
    }
    Ok(())
}

/// The results in the folder of a profile, if something was observed.
///
/// # Errors
/// When a file can't be read or written.
pub fn read(dir: &Path) -> Result<Option<Results>, Error> {
    let path = dir.join(OBSERVATIONS);
    let text = match petal_files::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Error::new(format!(
            "{} is damaged: {error}; make it again with `petal run`",
            path.display()
        ))
    })
}

/// Whether a profile with these results has only parts of its run.
pub fn keeps_windows(results: Option<&Results>) -> bool {
    results.is_some_and(|results| !results.windows.is_empty())
}

/// The cycles that are asked for, or those of a window of the profile in `dir`.
///
/// # Errors
/// When a file can't be read or written.
pub fn cycles(
    dir: &Path,
    cycles: Option<&Range<u64>>,
    window: Option<&str>,
) -> Result<Option<Range<u64>>, Error> {
    let Some(wanted) = window else {
        return Ok(cycles.cloned());
    };
    let windows = read(dir)?
        .map(|results| results.windows)
        .unwrap_or_default();
    let (name, number) = match wanted.rsplit_once('#') {
        Some((name, number)) => (name, number.parse::<u64>().ok()),
        None => (wanted, Some(1)),
    };
    let named = windows.iter().find(|window| window.name == name);
    let Some((window, number)) = named.zip(number) else {
        let names = windows.iter().map(|window| format!("`{}`", window.name));
        let names: Vec<String> = names.collect();
        let help = match names[..] {
            [] => "the run was not asked for any; `petal run --window` is how".to_owned(),
            _ => format!(
                "there is {}, each with a number such as `#1`",
                names.join(", ")
            ),
        };
        return Err(Error::usage(format!(
            "there is no window `{wanted}`: {help}"
        )));
    };
    let part = usize::try_from(number)
        .ok()
        .and_then(|number: usize| number.checked_sub(1));
    match part.and_then(|part| window.parts.get(part)) {
        Some(&(start, cycles)) => Ok(Some(start..start + cycles)),
        None => Err(Error::usage(format!(
            "there is no window `{wanted}`: it was kept {} times",
            window.parts.len()
        ))),
    }
}

/// The tracks of results on a timeline, as far as they are in the cycles that it shows. Where it has an overview of the whole run, so
/// have samples.
pub fn tracks(
    results: Option<&Results>,
    shown: Option<&Range<u64>>,
    has_overview: bool,
) -> Observed {
    let Some(results) = results else {
        return Observed::default();
    };
    // Arrows lead through the events of several checkpoints in their order.
    let mut stamps = vec![Vec::new(); results.checkpoints.len()];
    let has_order = stamps.len() > 1;
    for (order, (cycle, at)) in (0..).zip(results.stamps()) {
        stamps[at].push((cycle, has_order.then_some(order)));
    }
    let checkpoints = results.checkpoints.iter().zip(stamps);
    let checkpoints = checkpoints.map(|(of, stamps)| (&of.name, ObservedContent::Instants(stamps)));
    let latencies = results.latencies.iter().map(|of| {
        let mut intervals = of.intervals.clone();
        intervals.sort_unstable();
        (&of.name, ObservedContent::Slices(intervals))
    });
    let rules = results.rules.iter().map(|of| {
        let slices = of.violations.iter();
        let slices = slices.map(|at| (at.cycle, at.cycles));
        (&of.name, ObservedContent::Slices(slices.collect()))
    });
    #[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
    let watches = results.watches.iter().map(|of| {
        // A word of a memory is no value over time, and a register has its new one in the next cycle.
        let writes = of.changes.iter().filter(|change| change.index.is_some());
        let writes: Vec<_> = writes.map(|change| (change.cycle, None)).collect();
        let later = u64::from(of.is_written);
        let values = of.changes.iter();
        let values = values.map(|change| (change.cycle + later, change.new as f64));
        let content = match &writes[..] {
            [] => ObservedContent::Values(values.collect()),
            _ => ObservedContent::Instants(writes),
        };
        (&of.name, content)
    });
    let sample = results.sample.unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
    let counters = results.counters.iter().map(|of| {
        let samples = (0..).map(|at| at * sample).zip(of.samples.iter());
        let values = samples.map(|(cycle, &sum)| (cycle, sum as f64));
        (&of.name, ObservedContent::Samples(values.collect()))
    });
    let windows = results.windows.iter().map(|of| {
        let mut parts = of.parts.clone();
        parts.sort_unstable();
        (&of.name, ObservedContent::Slices(parts))
    });
    let derived = results.derived.iter().map(|of| {
        let samples = (0..).map(|at| at * sample).zip(of.samples.iter());
        let values = samples.filter_map(|(cycle, value)| Some((cycle, (*value)?)));
        (&of.name, ObservedContent::Samples(values.collect()))
    });
    let all = windows
        .chain(checkpoints)
        .chain(latencies)
        .chain(rules)
        .chain(watches)
        .chain(counters)
        .chain(derived);
    let tracks = all.map(|(name, content)| ObservedTrack {
        name: name.clone(),
        content,
    });
    let whole = 0..results.cycles;
    let shown = shown.cloned().unwrap_or_else(|| whole.clone());
    Observed {
        tracks: tracks.collect(),
        sampled: if has_overview { whole } else { shown.clone() },
        shown,
    }
}

/// The rules that were broken, each with how often, when first, and by whom.
pub fn broken_rules(results: &Results) -> Vec<String> {
    results
        .rules
        .iter()
        .filter(|rule| rule.cycles > 0)
        .map(|rule| {
            let first = &rule.violations[0];
            let word = if rule.always { "always" } else { "never" };
            let cause = match &first.written {
                Some(Written { cycle, by }) => {
                    format!("by what was written in cycle {cycle}: {}", by.join(" | "))
                }
                None => format!("in which was active: {}", first.active.join(" | ")),
            };
            format!(
                "{word} {} is broken in {} of {} cycles, first in cycle {}, {cause}",
                rule.name, rule.cycles, results.cycles, first.cycle
            )
        })
        .collect()
}
