//! Observations of a run: where their request comes from, and where their results go.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use petal_metadata::Metadata;
use petal_observe::{
    Countable, Directory, Observations, Refused, Request, Results, Written, countable,
};
use petal_passes::Design;
use petal_reconstruct::Signal;
use petal_visualize::outputs::{OBSERVATION_TABLES, OBSERVATIONS};
use petal_visualize::timeline::{Observed, ObservedContent, ObservedTrack};

use crate::args::{CountersArgs, DesignArgs, ObserveArgs};
use crate::compile;
use crate::failure::Failure;
use crate::folder::Staging;
use crate::messages;
use crate::outputs;
use crate::places::Places;

/// What is to be observed, and the file that it is from.
pub struct Observing {
    request: Request,
    file: Option<(PathBuf, String)>,
}

impl Observing {
    /// What the arguments ask for. Without `--observe`, the file beside the design is taken, if there is one.
    pub fn new(
        args: &ObserveArgs,
        design: Option<&Path>,
        places: &mut Places,
    ) -> Result<Self, Failure> {
        let beside = design.and_then(|path| {
            let name = path.file_name()?.to_str()?;
            let name = name.strip_suffix(".futil").unwrap_or(name);
            Some(path.with_file_name(format!("{name}.observe.toml")))
        });
        let path = args.observe.clone();
        let path = path.or_else(|| beside.filter(|path| path.is_file()));
        let mut observing = Self {
            request: Request::default(),
            file: None,
        };
        if let Some(path) = path {
            places.reads("the observations", &path)?;
            let text = petal_files::read_to_string(&path).map_err(Failure::io("read", &path))?;
            let request = Request::parse(&text);
            observing.request = request
                .map_err(|problem| Failure::new(format!("{}: {problem}", path.display())))?;
            observing.file = Some((path, text));
        }
        observing.request.extend(args.request());
        Ok(observing)
    }

    /// Makes the observations ready; `None` if nothing is asked for.
    pub fn of<'a>(
        &self,
        metadata: &'a Metadata,
        directory: impl FnOnce() -> Directory,
    ) -> Result<Option<Observations<'a>>, Failure> {
        if self.request.is_empty() && !Observations::are_marked(metadata) {
            return Ok(None);
        }
        let observations = Observations::new(metadata, &directory(), &self.request);
        observations
            .map(Some)
            .map_err(|refused| self.failure(&refused))
    }

    /// Whether the run may end before the design is done.
    pub fn may_stop(&self) -> bool {
        self.request.stop_on.is_some()
    }

    /// Whether only parts of the run are kept.
    pub fn have_windows(&self) -> bool {
        !self.request.windows.is_empty()
    }

    fn failure(&self, refused: &Refused) -> Failure {
        let problem = &refused.problem;
        let place = refused
            .text
            .at
            .zip(self.file.as_ref())
            .map(|(at, (path, text))| {
                let line = text[..at.min(text.len())].matches('\n').count() + 1;
                format!("{}:{line}: ", path.display())
            });
        Failure::new(format!("{}{problem}", place.unwrap_or_default()))
    }
}

/// What can be observed in a design: words of memories only where petal simulates it.
pub fn directory(design: &Design, has_memories: bool) -> Directory {
    let mut directory = if has_memories {
        Directory::with_memories()
    } else {
        Directory::without_memories()
    };
    for instance in design.instances() {
        for cell in instance.cells {
            let (scope, name) = (instance.scope.clone(), cell.name);
            directory.add_cell(Signal { scope, name }, &cell.primitive, &cell.parameters);
        }
        directory.add(instance.scope, instance.signals);
    }
    directory
}

/// `petal counters`: what can be counted in a design.
pub fn counters(args: &CountersArgs) -> Result<(), Failure> {
    // Nothing runs that would have to be verified.
    let design = DesignArgs {
        unverified: true,
        ..args.design.clone()
    };
    let compile::Compiled {
        design, metadata, ..
    } = compile::instrument(&design, None, &mut Places::default())?;
    let counters = countable(&metadata, &directory(&design, true));
    let rows = counters.iter().map(
        |Countable {
             name,
             values,
             about,
         }| {
            let value = match &values[..] {
                [one] => one.clone(),
                all => format!("of all {} together", all.len()),
            };
            (name, value, about)
        },
    );
    let rows: Vec<_> = rows.collect();
    let width =
        |text: fn(&(&String, String, &&str)) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let names = width(|(name, ..)| name.chars().count());
    let values = width(|(_, value, _)| value.chars().count());
    let mut text = String::new();
    for (name, value, about) in &rows {
        let _ = writeln!(text, "{name:names$}  {value:values$}  {about}");
    }
    outputs::print(&text)
}

/// What can be observed in a waveform.
pub fn directory_of(signals: impl Iterator<Item = (Signal, u32)>) -> Directory {
    let mut directory = Directory::without_memories();
    for (Signal { scope, name }, width) in signals {
        directory.add(scope, [(name, width)]);
    }
    directory
}

/// Writes the results.
pub fn write(results: &Results, staging: &Staging) -> Result<(), Failure> {
    staging.write(OBSERVATIONS, results.json())?;
    for (name, table) in results.tables() {
        let path = format!("{OBSERVATION_TABLES}/{name}");
        staging.write(&path, table)?;
    }
    Ok(())
}

/// The results in the folder of a profile, if something was observed.
pub fn read(dir: &Path) -> Result<Option<Results>, Failure> {
    let path = dir.join(OBSERVATIONS);
    let text = match petal_files::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io("read", &path)(error)),
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::new(format!(
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
pub fn cycles(
    dir: &Path,
    cycles: Option<&Range<u64>>,
    window: Option<&str>,
) -> Result<Option<Range<u64>>, Failure> {
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
        return Err(Failure::usage(format!(
            "there is no window `{wanted}`: {help}"
        )));
    };
    let part = usize::try_from(number)
        .ok()
        .and_then(|number: usize| number.checked_sub(1));
    match part.and_then(|part| window.parts.get(part)) {
        Some(&(start, cycles)) => Ok(Some(start..start + cycles)),
        None => Err(Failure::usage(format!(
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

/// Fails, or warns, if a rule was broken.
pub fn judge(results: &Results, fails: bool, quiet: bool) -> Result<(), Failure> {
    let broken: Vec<String> = results
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
        .collect();
    if broken.is_empty() {
        return Ok(());
    }
    if fails {
        return Err(Failure::new(broken.join("\n")));
    }
    if !quiet {
        broken.iter().for_each(messages::warning);
    }
    Ok(())
}
