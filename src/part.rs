//! The timeline of a part of a run, with an overview of the whole: what viewers open at once, however long the run is.
//!
//! Reads the trace three times: to see what there is, to find the part, to draw it. What is chosen, and what an overview
//! shows, `petal_visualize` knows.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;

use petal_analysis::ControlView;
use petal_observe::Results;
use petal_profile::{Error, Profile, observations};
use petal_reconstruct::Event;
use petal_table::thousands;
use petal_visualize::{Overview, Part, PartError, Perfetto, Section, Survey, Timeline, Wanted};

use crate::profile::open;
use crate::trace::check_cycles;

/// Slices that a viewer opens about as fast as none (`docs/performance.md`).
const MAX_SLICES: u64 = 50_000;
/// So many slices, unpacked, with room for what comes with them.
pub const MAX_BYTES: u64 = 80 * MAX_SLICES;

/// Writes what is `wanted` of the profile in `dir` to the file `out`; returns what to say of it.
pub fn write(dir: &Path, wanted: &Wanted, out: &Path) -> Result<String, Error> {
    let profile = open(dir)?;
    let results = profile.observations()?;
    if observations::keeps_windows(results.as_ref()) {
        return write_kept(dir, &profile, results.as_ref(), wanted, out);
    }
    let mut overview = Overview::new(&profile.metadata);
    let mut survey = Survey::new(&profile.metadata);
    read(&profile, &mut |event| {
        overview.event(event);
        survey.event(event);
        Ok(())
    })?;
    let mut search = survey.search(wanted, MAX_SLICES).map_err(|error| {
        let shown = dir.display();
        match &error {
            PartError::Cycles { .. } => Error::usage(error.to_string()),
            PartError::Unknown { .. } => Error::usage(format!(
                "{error}; `petal stats {shown} control` lists statements, `groups` and `cells` the others"
            )),
            PartError::Several { .. } | PartError::Fewer { .. } => {
                Error::usage(error.to_string())
            }
        }
    })?;
    read(&profile, &mut |event| {
        search.event(event);
        Ok(())
    })?;
    let part = search.part();
    let mut perfetto = begin(out)?;
    overview
        .write(&mut perfetto, &part.cycles, &part.about)
        .map_err(Error::io("write", out))?;
    let slices = draw(
        &profile,
        results.as_ref(),
        &part.cycles,
        perfetto,
        true,
        out,
    )?;
    Ok(about(dir, &part, slices))
}

/// Writes some cycles of a profile that has only parts of its run.
fn write_kept(
    dir: &Path,
    profile: &Profile,
    results: Option<&Results>,
    wanted: &Wanted,
    out: &Path,
) -> Result<String, Error> {
    let Wanted::Cycles(cycles) = wanted else {
        return Err(Error::usage(format!(
            "{}: the profile keeps windows of the run only, so nothing can be counted in it; choose one with `--window NAME#N`, or \
             some cycles with `--cycles`",
            dir.display()
        )));
    };
    let slices = draw(profile, results, cycles, begin(out)?, false, out)?;
    Ok(format!(
        "what is kept of cycles {}..{} ({} slices)\n",
        thousands(cycles.start),
        thousands(cycles.end),
        thousands(slices)
    ))
}

/// Begins a timeline in the file `out`.
fn begin(out: &Path) -> Result<Perfetto<BufWriter<File>>, Error> {
    let file = File::create(out).map_err(Error::io("write", out))?;
    Perfetto::new(BufWriter::new(file)).map_err(Error::io("write", out))
}

/// Draws some cycles, and what was observed in them, on the timeline that goes to `out`; returns how many slices there are.
fn draw(
    profile: &Profile,
    results: Option<&Results>,
    cycles: &Range<u64>,
    perfetto: Perfetto<BufWriter<File>>,
    has_overview: bool,
    out: &Path,
) -> Result<u64, Error> {
    let section = Section {
        cycles: Some(cycles.clone()),
        ..Section::default()
    };
    let timeline = Timeline::new(&profile.metadata, section, perfetto);
    let mut timeline = timeline.awaiting_observations();
    read(profile, &mut |event| {
        if !has_overview {
            check_cycles(Some(cycles), event)?;
        }
        timeline.event(event).map_err(Error::io("write", out))
    })?;
    let observed = observations::tracks(results, Some(cycles), has_overview);
    timeline
        .finish(&observed)
        .map_err(Error::io("write", out))?;
    Ok(timeline.slices())
}

/// Goes through the trace.
fn read(profile: &Profile, take: &mut dyn FnMut(&Event) -> Result<(), Error>) -> Result<(), Error> {
    profile.events(ControlView::Source, take)
}

fn about(dir: &Path, part: &Part, slices: u64) -> String {
    let cycles = &part.cycles;
    let mut text = format!(
        "the whole run at a glance, and all of cycles {}..{}: {} ({} slices)\n",
        thousands(cycles.start),
        thousands(cycles.end),
        part.about,
        thousands(slices)
    );
    if slices > MAX_SLICES {
        let _ = writeln!(
            text,
            "viewers take their time to open more than {} slices",
            thousands(MAX_SLICES)
        );
    }
    let _ = match &part.next {
        Some(next) => writeln!(text, "the next part: petal view {} {next}", dir.display()),
        None => writeln!(text, "the run has no part after it"),
    };
    text
}
