//! What was observed in a run: on its way to the folder of the profile and back, and on timelines.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use petal_observe::{Broken, Results, Written};
use petal_table::thousands;
use petal_visualize::outputs::{OBSERVATION_TABLES, OBSERVATIONS};
use petal_visualize::timeline::Observed;

use crate::error::Error;
use crate::folder::Staging;

/// Writes the results.
pub(crate) fn write(results: &Results, staging: &Staging) -> Result<(), Error> {
    staging.write(OBSERVATIONS, results.json())?;
    for (name, table) in results.files() {
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
    let whole = 0..results.cycles;
    let shown = shown.cloned().unwrap_or_else(|| whole.clone());
    Observed {
        tracks: results.tracks(),
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
                    let cycle = thousands(*cycle);
                    format!("by what was written in cycle {cycle}: {}", by.join(" | "))
                }
                None => format!("while this was active: {}", first.active.join(" | ")),
            };
            format!(
                "{word} {} is broken in {} of {} cycles, first in cycle {}, {cause}",
                rule.name,
                thousands(rule.cycles),
                thousands(results.cycles),
                thousands(first.cycle)
            )
        })
        .collect()
}

/// What libraries said of cells, and was not so.
pub(crate) fn broken_promises(results: &Results) -> Vec<String> {
    let broken = results.broken_promises.iter().map(|broken| {
        let Broken {
            cell,
            primitive,
            cycles,
            first,
            times,
        } = broken;
        format!(
            "{cell} was not done in time {}x, first when it was started in cycle {}: its primitive `{primitive}` declares `@interval({cycles})`, and what the compiler makes of that may compute something else",
            thousands(*times),
            thousands(*first)
        )
    });
    broken.collect()
}
