//! The timeline of parts of a run, with an overview of the whole: what viewers open at once, however long the run is.
//!
//! Reads the trace twice or three times: to see what there is, to find an activation, to draw. What is chosen, and what an overview shows,
//! `petal_visualize` knows.

use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;

use petal_analysis::{Analysis, ControlView};
use petal_metadata::Metadata;
use petal_observe::Results;
use petal_reconstruct::{Event, Item};
use petal_visualize::timeline::{Observed, Windowed};
use petal_visualize::{
    Around, Overview, Part, PartError, Perfetto, Section, Survey, Timeline, excerpts,
};

use crate::error::Error;
use crate::observations::{keeps_windows, tracks};
use crate::profile::Profile;

/// Slices that a viewer opens about as fast as none (`docs/performance.md`).
pub const MAX_SLICES: u64 = 50_000;

/// What part of a run is asked for.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// What stands for all of it.
    Excerpts,
    /// These cycles.
    Cycles(Range<u64>),
    /// An activation.
    Around(Around),
}

/// A timeline that was drawn.
#[derive(Debug, Clone)]
pub struct Parts {
    /// What it has of the run.
    pub parts: Vec<Part>,
    /// Whether it also has the whole run at a glance.
    pub has_overview: bool,
    /// How many slices it has.
    pub slices: u64,
}

/// Draws what is `wanted` of a profile, with control as `view` shows it, on a timeline that goes to the file `out`.
///
/// # Errors
/// When there is no such part, or a file can't be read or written.
pub fn draw(
    profile: &Profile,
    view: ControlView,
    wanted: &Wanted,
    out: &Path,
) -> Result<Parts, Error> {
    let results = profile.observations()?;
    if keeps_windows(results.as_ref()) {
        return draw_kept(profile, view, results.as_ref(), wanted, out);
    }
    let mut overview = Overview::new(&profile.metadata);
    let (analysis, _) = profile.analyse_with(ControlView::Source, &mut |item| {
        overview.item(item);
        Ok(())
    })?;
    let parts = parts(profile, &analysis, wanted)?;
    let shown = match &parts[..] {
        [part] => Some(&part.cycles),
        _ => None,
    };
    let observed = tracks(results.as_ref(), shown, true);
    let slices = draw_parts(
        &profile.metadata,
        &mut |take| profile.items(view, take),
        (&overview, &parts),
        &observed,
        out,
    )?;
    Ok(Parts {
        parts,
        has_overview: true,
        slices,
    })
}

/// The parts that are `wanted` of a run.
fn parts(profile: &Profile, analysis: &Analysis<'_>, wanted: &Wanted) -> Result<Vec<Part>, Error> {
    let missing = |error| no_part(profile.dir(), &error);
    Ok(match wanted {
        Wanted::Excerpts => excerpts(analysis, MAX_SLICES),
        Wanted::Cycles(cycles) => {
            vec![Part::of_cycles(cycles, analysis.cycles()).map_err(missing)?]
        }
        Wanted::Around(around) => {
            let survey = Survey::new(&profile.metadata, analysis);
            let mut search = survey.search(around, MAX_SLICES).map_err(missing)?;
            profile.events(ControlView::Source, &mut |event| {
                search.event(event);
                Ok(())
            })?;
            vec![search.part()]
        }
    })
}

/// The cycles that are `wanted` of a run, or all of it.
///
/// # Errors
/// When there is no such part, or the trace can't be read.
pub fn cycles(profile: &Profile, wanted: Option<&Wanted>) -> Result<Range<u64>, Error> {
    let Some(wanted) = wanted else {
        return Ok(0..profile.summary.cycles);
    };
    let (analysis, _) = profile.analyse_with(ControlView::Source, &mut |_| Ok(()))?;
    let parts = parts(profile, &analysis, wanted)?;
    Ok(parts[0].cycles.clone())
}

/// Hands all that a run has to somebody.
pub(crate) type Read<'a> =
    dyn FnMut(&mut dyn FnMut(&Item) -> Result<(), Error>) -> Result<(), Error> + 'a;

/// Draws these parts of a run, and the whole at a glance; returns how many slices the parts have.
pub(crate) fn draw_parts(
    metadata: &Metadata,
    read: &mut Read<'_>,
    (overview, parts): (&Overview<'_>, &[Part]),
    observed: &Observed,
    out: &Path,
) -> Result<u64, Error> {
    let unwritten = || Error::io("write", out);
    let mut perfetto = begin(out)?;
    overview.write(&mut perfetto, parts).map_err(unwritten())?;
    let end = parts.last().map_or(0, |part| part.cycles.end);
    if let [Part { cycles, .. }] = parts {
        let section = Section {
            cycles: Some(cycles.clone()),
            ..Section::default()
        };
        let mut timeline = Timeline::new(metadata, section, perfetto).awaiting_observations();
        read(&mut |item| timeline.item(item).map_err(unwritten()))?;
        timeline.finish(observed).map_err(unwritten())?;
        return Ok(timeline.slices());
    }
    let cycles: Vec<Range<u64>> = parts.iter().map(|part| part.cycles.clone()).collect();
    let mut windowed = Windowed::new(perfetto);
    windowed.take(&cycles);
    let timeline = Timeline::new(metadata, Section::default(), windowed);
    let mut timeline = timeline.awaiting_observations();
    // There is nothing to see after the last one.
    let mut is_over = false;
    let seen = read(&mut |item| {
        if matches!(item, Item::Again(again) if again.end().cycles() <= end) {
            return timeline.item(item).map_err(unwritten());
        }
        item.try_for_each(|event| {
            is_over = matches!(event, Event::Run(run) if run.start.cycles() >= end);
            if is_over {
                return Err(Error::new("all parts are drawn"));
            }
            timeline.event(event).map_err(unwritten())
        })
    });
    if is_over {
        let event = Event::End { cycles: end };
        timeline.event(&event).map_err(unwritten())?;
    } else {
        seen?;
    }
    timeline.finish(observed).map_err(unwritten())?;
    Ok(timeline.format().slices())
}

/// Draws some cycles of a profile that has only parts of its run.
fn draw_kept(
    profile: &Profile,
    view: ControlView,
    results: Option<&Results>,
    wanted: &Wanted,
    out: &Path,
) -> Result<Parts, Error> {
    let Wanted::Cycles(cycles) = wanted else {
        return Err(Error::usage(format!(
            "{}: the profile keeps windows of the run only, so nothing can be counted in it; choose one with `--window NAME#N`, or \
             some cycles with `--cycles`",
            profile.dir().display()
        )));
    };
    let unwritten = || Error::io("write", out);
    let section = Section {
        cycles: Some(cycles.clone()),
        ..Section::default()
    };
    let timeline = Timeline::new(&profile.metadata, section, begin(out)?);
    let mut timeline = timeline.awaiting_observations();
    let mut part = None;
    profile.events(view, &mut |event| {
        if let Event::End { cycles: run } = event {
            let of = Part::of_cycles(cycles, *run);
            part = Some(of.map_err(|error| no_part(profile.dir(), &error))?);
        }
        timeline.event(event).map_err(unwritten())
    })?;
    let observed = tracks(results, Some(cycles), false);
    timeline.finish(&observed).map_err(unwritten())?;
    Ok(Parts {
        parts: part.into_iter().collect(),
        has_overview: false,
        slices: timeline.slices(),
    })
}

/// Begins a timeline in the file `out`.
fn begin(out: &Path) -> Result<Perfetto<BufWriter<File>>, Error> {
    let file = File::create(out).map_err(Error::io("write", out))?;
    Perfetto::new(BufWriter::new(file)).map_err(Error::io("write", out))
}

fn no_part(dir: &Path, error: &PartError) -> Error {
    match error {
        PartError::Unknown { .. } => Error::usage(format!(
            "{error}; `petal stats {} control` lists statements, `groups` and `cells` the others",
            dir.display()
        )),
        PartError::Cycles { .. } | PartError::Several { .. } | PartError::Fewer { .. } => {
            Error::usage(error.to_string())
        }
    }
}
