//! What a run would take with multipliers and dividers of another latency: simulated, and compared with the run as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Instant;

use petal_analysis::activations::Activations;
use petal_analysis::elements::ElementKind;
use petal_embedded::{Compiled, TIMED, Visible};
use petal_metadata::{CellId, CellKind, ComponentId, Id as _, Metadata, Origin, nearest};
use petal_profile::{
    DECLARED, DesignOptions, Error, Memories, Options, Places, Profile, Simulator, Timed, interrupt,
};

use super::{NO_END, Row, SIMULATED, UNCOMPARED};
use crate::advise::run_once;
use crate::messages;
use crate::run::profiled;

/// A primitive, or a cell such as `main.mul`, and after how many cycles it is to be done.
pub type Wanted = (String, RangeInclusive<u32>);

/// How many runs one call asks for at most.
const MAX_RUNS: usize = 256;
/// How many cells are asked for by themselves, those that are used most.
const MAX_CELLS: usize = 8;

/// Multipliers or dividers that can have another latency: all of a primitive, or one cell.
struct Asked {
    /// What they are called.
    name: String,
    primitive: String,
    /// The names of the component and the cell.
    cell: Option<(String, String)>,
    /// How often they became active.
    uses: u64,
}

/// What is asked for at once: some of them, and after how many cycles each is done.
type Question<'a> = Vec<(&'a Asked, u32)>;

/// All that is wanted at once, with each number of cycles.
fn combined<'a>(wanted: &[(&'a Asked, RangeInclusive<u32>)]) -> Vec<Question<'a>> {
    let mut combined = vec![Question::new()];
    for (timed, cycles) in wanted {
        let each = combined.iter().flat_map(|question| {
            cycles.clone().map(|cycles| {
                let mut question = question.clone();
                question.push((*timed, cycles));
                question
            })
        });
        combined = each.collect();
    }
    combined
}

/// Fails if somebody asks for what no design has, or for a profile of several runs.
pub fn check(wanted: &[Wanted], has_profile: bool) -> Result<(), Error> {
    let runs = wanted.iter().try_fold(1_usize, |runs, (_, cycles)| {
        runs.checked_mul(cycles.clone().count())
    });
    if runs.is_none_or(|runs| runs > MAX_RUNS) {
        return Err(Error::usage(format!(
            "that is more than {MAX_RUNS} runs: ask for fewer latencies at once"
        )));
    }
    if has_profile && runs != Some(1) {
        return Err(Error::usage(
            "`--profile` is of one run: ask for one latency of each",
        ));
    }
    let names = wanted.iter().map(|(name, _)| name);
    if names.collect::<BTreeSet<_>>().len() < wanted.len() {
        return Err(Error::usage(
            "what is asked has one latency: name each once",
        ));
    }
    let is_unknown = |name: &str| !name.contains('.') && !TIMED.contains(&name);
    let unknown = wanted.iter().find(|(name, _)| is_unknown(name));
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

/// The answers, as far as there is time: of all that is `wanted` at once, or of each primitive and cell that the design has; `results` are the memories after the run
/// as it is.
pub fn rows(
    options: &Options,
    profile: &Profile,
    activations: &Activations<'_>,
    results: &str,
    (wanted, until): (&[Wanted], Option<Instant>),
) -> Result<Vec<Row>, Error> {
    let all = timed(&profile.metadata, activations);
    let mut questions: Vec<(Question<'_>, Option<i64>)> = Vec::new();
    if wanted.is_empty() {
        for timed in all.iter().take_while(|timed| timed.cell.is_none()) {
            let is_multiplier = timed.primitive.contains("mult");
            for cycles in if is_multiplier { 1..DECLARED } else { 1..2 } {
                let saved = timed.uses.saturating_mul(u64::from(DECLARED - cycles));
                let counted = i64::try_from(saved).ok().filter(|_| is_multiplier);
                questions.push((vec![(timed, cycles)], counted));
            }
        }
        let cells = all.iter().filter(|timed| timed.cell.is_some());
        let is_alone = |of: &&Asked| {
            let same = all.iter().filter(|other| other.primitive == of.primitive);
            same.count() <= 2
        };
        // One that is the only one of its primitive is asked for already.
        let mut cells: Vec<&Asked> = cells.filter(|of| !is_alone(of)).collect();
        cells.sort_by_key(|of| std::cmp::Reverse(of.uses));
        let cells = cells.into_iter().take(MAX_CELLS);
        questions.extend(cells.map(|timed| (vec![(timed, 1)], None)));
    } else {
        let all = combined(&find(&all, wanted)?).into_iter();
        questions.extend(all.map(|question| (question, None)));
    }
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let is_in_time = || until.is_none_or(|until| Instant::now() < until);
    let tried = questions.iter().take_while(|_| is_in_time());
    let rows = tried.map(|(question, counted)| row(options, profile, results, question, *counted));
    let rows: Result<Vec<Row>, Error> = match options.design.latency_hindrance() {
        Some(why) => Err(Error::new(why)),
        None => rows.collect(),
    };
    match rows {
        Ok(rows) if rows.len() < questions.len() => {
            messages::note(format!(
                "{} other latencies of primitives were not tried for want of time (`--budget`)",
                questions.len() - rows.len()
            ));
            Ok(rows)
        }
        Err(error) if wanted.is_empty() => {
            interrupt::check()?;
            messages::note(format!("not asked of primitives: {error}"));
            Ok(Vec::new())
        }
        rows => rows,
    }
}

/// What is wanted, of all that there is.
fn find<'a>(
    all: &'a [Asked],
    wanted: &[Wanted],
) -> Result<Vec<(&'a Asked, RangeInclusive<u32>)>, Error> {
    let found = wanted.iter().map(|(name, cycles)| {
        let found = all.iter().find(|asked| asked.name == *name);
        let found = found.ok_or_else(|| {
            let kind = if name.contains('.') {
                "multiplier or divider"
            } else {
                "cell of"
            };
            Error::usage(format!("the compiled design has no {kind} `{name}`"))
        });
        found.map(|asked| (asked, cycles.clone()))
    });
    let found: Vec<(&Asked, RangeInclusive<u32>)> = found.collect::<Result<_, Error>>()?;
    let of_all = found.iter().filter(|(asked, _)| asked.cell.is_none());
    for (all, _) in of_all {
        let is_of = |asked: &Asked| asked.cell.is_some() && asked.primitive == all.primitive;
        if let Some((one, _)) = found.iter().find(|(asked, _)| is_of(asked)) {
            return Err(Error::usage(format!(
                "`{}` is one of all `{}`: ask for the latency of one or of the other",
                one.name, all.name
            )));
        }
    }
    Ok(found)
}

fn row(
    options: &Options,
    profile: &Profile,
    results: &str,
    question: &Question<'_>,
    counted: Option<i64>,
) -> Result<Row, Error> {
    let (saved, how) = match run(options, question)? {
        None => (None, NO_END),
        Some((_, others)) if others != results => (None, "simulated: other results"),
        Some((cycles, _)) => {
            let [before, after] = [profile.summary.cycles, cycles].map(i64::try_from);
            let saved = before.ok().zip(after.ok());
            let has_results = results.trim() != "{}" && profile.summary.no_data.is_none();
            let how = if has_results { SIMULATED } else { UNCOMPARED };
            (saved.map(|(before, after)| before - after), how)
        }
    };
    Ok(Row {
        what_if: text(question),
        counted,
        saved,
        between: None,
        how,
        advice: String::new(),
    })
}

fn text(question: &Question<'_>) -> String {
    let names = question.iter();
    let names = names.map(|(asked, cycles)| format!("{}={cycles}", asked.name));
    names.collect::<Vec<_>>().join(", ")
}

/// The design with these latencies.
fn design(options: &DesignOptions, question: &Question<'_>) -> DesignOptions {
    let latencies = question.iter().map(|(asked, cycles)| Timed {
        primitive: asked.primitive.clone(),
        cell: asked.cell.clone(),
        cycles: *cycles,
    });
    DesignOptions {
        latencies: latencies.collect(),
        ..options.clone()
    }
}

/// Profiles the design with the latencies that are `wanted`.
pub fn profile(
    options: &Options,
    (metadata, activations): (&Metadata, &Activations<'_>),
    wanted: &[Wanted],
    out: &Path,
    places: &mut Places,
) -> Result<(), Error> {
    let all = timed(metadata, activations);
    let found = find(&all, wanted)?;
    let all = combined(&found);
    let question = &all[0];
    let options = Options {
        design: design(&options.design, question),
        name: Some(format!("{}, {}", options.name(), text(question))),
        simulator: Simulator::Embedded,
        ..options.clone()
    };
    profiled(&options, out, places, true)?;
    Ok(())
}

/// The cycles of a run with these latencies, and the memories after it; `None` if it came to no end.
fn run(options: &Options, question: &Question<'_>) -> Result<Option<(u64, String)>, Error> {
    let design = design(&options.design, question);
    let compiled = petal_passes::compile(design.program()?, &design.pipeline()?)?;
    let memories = Memories::of(options, &compiled)?;
    let latencies = design.simulated_latencies();
    let program = compiled.program();
    let machine = Compiled::observing(program, &latencies, &[], &[], Visible::Probes);
    let machine = machine.map_err(|error| {
        Error::new(format!(
            "{error}; `petal whatif` needs petal's own simulator, which knows primitives of other latencies"
        ))
    })?;
    run_once(&machine, &compiled, &memories, options.cycle_limit).map(Result::ok)
}

/// Those that the design has: first each primitive, then each cell.
fn timed(metadata: &Metadata, activations: &Activations<'_>) -> Vec<Asked> {
    let mut uses: BTreeMap<(ComponentId, CellId), u64> = BTreeMap::new();
    for (element, durations) in activations.durations() {
        if let ElementKind::Primitive(cell, _) = element.kind {
            let component = activations.component_of(element);
            *uses.entry((component, cell)).or_default() += durations.count;
        }
    }
    let mut primitives: BTreeMap<&str, u64> = BTreeMap::new();
    let mut cells = Vec::new();
    for id in metadata.component_ids() {
        let component = metadata.component(id);
        for (at, cell) in component.cells.iter().enumerate() {
            let CellKind::Primitive(name) = &cell.kind else {
                continue;
            };
            if !TIMED.contains(&name.as_str()) {
                continue;
            }
            let uses = uses.get(&(id, CellId::from_index(at))).copied();
            let uses = uses.unwrap_or(0);
            *primitives.entry(name).or_default() += uses;
            if cell.origin == Origin::Source && component.span.is_some() {
                cells.push(Asked {
                    name: format!("{}.{}", component.name, cell.name),
                    primitive: name.clone(),
                    cell: Some((component.name.clone(), cell.name.clone())),
                    uses,
                });
            }
        }
    }
    let primitives = primitives.into_iter().map(|(name, uses)| Asked {
        name: name.to_owned(),
        primitive: name.to_owned(),
        cell: None,
        uses,
    });
    primitives.chain(cells).collect()
}
