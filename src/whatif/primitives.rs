//! What a run would take with multipliers and dividers of another latency: simulated, and compared with the run as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use petal_analysis::activations::Activations;
use petal_analysis::elements::ElementKind;
use petal_embedded::{Compiled, Latencies, TIMED};
use petal_files::Scratch;
use petal_metadata::{CellKind, Metadata, nearest};
use petal_profile::{Error, Memories, Options, Profile, interrupt};
use petal_program::{Library, Parsed};

use super::Row;
use crate::advise::run_once;
use crate::messages;

/// The file of the library that has them, and its Verilog.
const FILES: [&str; 2] = ["binary_operators.futil", "binary_operators.sv"];
/// What the library says of its multipliers.
const DECLARED: u32 = 3;

/// A primitive, and after how many cycles it is to be done.
pub type Wanted = (String, RangeInclusive<u32>);

/// How many runs one call asks for at most.
const MAX_RUNS: usize = 256;

/// All that is wanted at once, with each number of cycles.
fn combined(wanted: &[Wanted]) -> Vec<Latencies> {
    let mut combined = vec![Latencies::new()];
    for (name, cycles) in wanted {
        let each = combined.iter().flat_map(|latencies| {
            cycles.clone().map(|cycles| {
                let mut latencies = latencies.clone();
                latencies.insert(name.clone(), cycles);
                latencies
            })
        });
        combined = each.take(MAX_RUNS + 1).collect();
    }
    combined
}

/// Fails if somebody asks for what is no such primitive.
pub fn check(wanted: &[Wanted]) -> Result<(), Error> {
    let unknown = wanted.iter().find(|(name, _)| !TIMED.contains(&&**name));
    if combined(wanted).len() > MAX_RUNS {
        return Err(Error::usage(format!(
            "that is more than {MAX_RUNS} runs: ask for fewer latencies at once"
        )));
    }
    let names = wanted.iter().map(|(name, _)| name);
    if names.collect::<BTreeSet<_>>().len() < wanted.len() {
        return Err(Error::usage("a primitive has one latency: name each once"));
    }
    let Some((name, _)) = unknown else {
        return Ok(());
    };
    let near = nearest(name, TIMED);
    let near = near.first().map(|near| format!("; is it `{near}`?"));
    Err(Error::usage(format!(
        "`{name}` is no primitive whose latency can be another one{}; there are {}",
        near.unwrap_or_default(),
        TIMED.join(", ")
    )))
}

/// Why the design's primitives can't have another latency, if that is so.
fn hindrance(options: &Options) -> Option<String> {
    let [file, _] = FILES;
    let design = options.design.file();
    let own = design.and_then(Path::parent).map(Path::to_owned);
    let folders = options.design.libraries.iter().cloned().chain(own);
    let mut files = folders.flat_map(|folder| {
        let spellings = [folder.join(file), folder.join("primitives").join(file)];
        spellings.into_iter().filter(|path| path.exists())
    });
    files.next().map(|path| {
        let path = path.display();
        format!("only the standard library's can have another latency, and there is {path}")
    })
}

/// The answers: of all that is `wanted` at once, or of each primitive that the design has; `results` are the memories after the run as it is.
pub fn rows(
    options: &Options,
    profile: &Profile,
    activations: &Activations<'_>,
    results: &str,
    wanted: &[Wanted],
) -> Result<Vec<Row>, Error> {
    let mut uses = timed(&profile.metadata);
    let missing = wanted.iter().find(|(name, _)| !uses.contains_key(name));
    if let Some((name, _)) = missing {
        return Err(Error::usage(format!("the design has no cell of `{name}`")));
    }
    if uses.is_empty() {
        return Ok(Vec::new());
    }
    let mut questions: Vec<(Latencies, Option<i64>)> = Vec::new();
    if wanted.is_empty() {
        count(profile, activations, &mut uses);
        for (name, count) in uses {
            let is_multiplier = name.contains("mult");
            for cycles in if is_multiplier { 1..DECLARED } else { 1..2 } {
                let saved = count.saturating_mul(u64::from(DECLARED - cycles));
                let counted = i64::try_from(saved).ok().filter(|_| is_multiplier);
                questions.push((Latencies::from([(name.clone(), cycles)]), counted));
            }
        }
    } else {
        let all = combined(wanted).into_iter();
        questions.extend(all.map(|latencies| (latencies, None)));
    }
    let rows = questions
        .iter()
        .map(|(latencies, counted)| row(options, profile, results, latencies, *counted));
    let rows = match hindrance(options) {
        Some(why) => Err(Error::new(why)),
        None => rows.collect(),
    };
    match rows {
        Err(error) if wanted.is_empty() => {
            interrupt::check()?;
            messages::note(format!("not asked of primitives: {error}"));
            Ok(Vec::new())
        }
        rows => rows,
    }
}

fn row(
    options: &Options,
    profile: &Profile,
    results: &str,
    latencies: &Latencies,
    counted: Option<i64>,
) -> Result<Row, Error> {
    let (saved, how) = match run(options, latencies)? {
        None => (None, "simulated: no end"),
        Some((_, others)) if others != results => (None, "simulated: other results"),
        Some((cycles, _)) => {
            let [before, after] = [profile.summary.cycles, cycles].map(i64::try_from);
            let saved = before.ok().zip(after.ok());
            let has_results = results.trim() != "{}" && profile.summary.no_data.is_none();
            let how = if has_results {
                "simulated"
            } else {
                "simulated: no results to compare"
            };
            (saved.map(|(before, after)| before - after), how)
        }
    };
    let names = latencies.iter();
    let names = names.map(|(name, cycles)| format!("{name}={cycles}"));
    Ok(Row {
        what_if: names.collect::<Vec<_>>().join(", "),
        counted,
        saved,
        how,
    })
}

/// The cycles of a run with these latencies, and the memories after it; `None` if it came to no end.
fn run(options: &Options, latencies: &Latencies) -> Result<Option<(u64, String)>, Error> {
    let design = &options.design;
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    declare(latencies, scratch.path())?;
    let mut folders = vec![scratch.path().to_owned()];
    folders.extend(design.libraries.iter().cloned());
    let library = Library::new(&folders)?;
    let program = Parsed::read(design.source.clone(), &library)?.program()?;
    let compiled = petal_passes::compile(program, &design.pipeline()?)?;
    let memories = Memories::of(options, &compiled)?;
    let machine = Compiled::with_latencies(compiled.program(), latencies).map_err(|error| {
        Error::new(format!(
            "{error}; `petal whatif` needs petal's own simulator, which knows primitives of other latencies"
        ))
    })?;
    run_once(&machine, &compiled, &memories, options.cycle_limit).map(Result::ok)
}

/// Writes the library's file with what these primitives are to declare to a folder.
fn declare(latencies: &Latencies, folder: &Path) -> Result<(), Error> {
    let library = Library::new(&[])?;
    let from = library.complete()?;
    let interval = |cycles: u32| format!("@interval({cycles})");
    for file in FILES {
        let path = from.join(file);
        let mut text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        for (name, &cycles) in latencies {
            // Up to the next primitive.
            let Some(start) = text.find(&format!("primitive {name}<")) else {
                continue;
            };
            let end = text[start + 1..]
                .find("primitive ")
                .map_or(text.len(), |end| start + 1 + end);
            let own = text[start..end].replacen(&interval(DECLARED), &interval(cycles), 1);
            text.replace_range(start..end, &own);
        }
        for place in [folder.join(file), folder.join("primitives").join(file)] {
            if let Some(above) = place.parent() {
                fs::create_dir_all(above).map_err(Error::io("write", above))?;
            }
            fs::write(&place, &text).map_err(Error::io("write", &place))?;
        }
    }
    Ok(())
}

/// The name of a primitive whose latency can be another one.
fn name(kind: &CellKind) -> Option<&String> {
    match kind {
        CellKind::Primitive(name) => TIMED.contains(&&**name).then_some(name),
        CellKind::Component(_) => None,
    }
}

/// Those that the design has, of which none is counted yet.
fn timed(metadata: &Metadata) -> BTreeMap<String, u64> {
    let components = metadata.component_ids().map(|id| metadata.component(id));
    let cells = components.flat_map(|component| &component.cells);
    let names = cells.filter_map(|cell| name(&cell.kind));
    names.map(|name| (name.clone(), 0)).collect()
}

/// Counts how often each became active.
fn count(profile: &Profile, activations: &Activations<'_>, uses: &mut BTreeMap<String, u64>) {
    for (element, durations) in activations.durations() {
        if let ElementKind::Primitive(cell, _) = element.kind {
            let component = activations.component_of(element);
            let kind = &profile.metadata.component(component).cell(cell).kind;
            if let Some(count) = name(kind).and_then(|name| uses.get_mut(name)) {
                *count += durations.count;
            }
        }
    }
}
