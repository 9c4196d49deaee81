//! Commands that show a profile again, from its folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use petal_analysis::{Alike, ControlView};
use petal_metadata::nearest;
use petal_profile::folder::{self, Staging};
use petal_profile::part::{Wanted, draw};
use petal_profile::{Error, Profile, interrupt, observations, outputs};
use petal_reconstruct::Event;
use petal_table::{Column, Table, thousands};
use petal_visualize::outputs::TIMELINE;
use petal_visualize::timeline::Observed;
use petal_visualize::{CallTrees, Frames, Section, Timeline, TreeFormat, TreeNodes};
use serde_json::json;

use crate::args::{AgainArgs, FlameArgs, FramesArg, TimelineArgs, TraceArgs};
use crate::messages;
use crate::part::about;
use crate::print::{is_read, print};
use crate::profile::open;
use crate::progress::Stage;
use crate::screen::screen;

/// Bytes that are printed at once.
const PRINTED: usize = 1 << 16;

/// `petal trace`
pub fn trace(args: &TraceArgs) -> Result<(), Error> {
    let profile = open(&args.dir)?;
    if let Some(name) = &args.of_loop {
        return iterations(args, &profile, name);
    }
    let wanted = observations::cycles(&args.dir, args.cycles.as_ref(), args.window.as_deref())?;
    show(args, &profile, wanted.as_ref()).map(|_| ())
}

/// Prints the call trees of these cycles, of all if there are none. Returns whether somebody reads on.
fn show(args: &TraceArgs, profile: &Profile, wanted: Option<&Range<u64>>) -> Result<bool, Error> {
    let format = if args.json {
        TreeFormat::JsonLines
    } else {
        TreeFormat::Text(screen())
    };
    let nodes = if args.continuous {
        TreeNodes::WithContinuous
    } else {
        TreeNodes::Traced
    };
    let cycles = wanted.cloned().unwrap_or(0..u64::MAX);
    let mut trees = CallTrees::new(&profile.metadata, cycles, format, nodes);
    let mut text = String::new();
    let mut is_heard = true;
    let shown = profile.events(args.view.control.into(), &mut |event| {
        check_cycles(wanted, event)?;
        text.extend(trees.event(event));
        if text.len() >= PRINTED {
            is_heard = is_read(&std::mem::take(&mut text))?;
        }
        // The trace may be long.
        let gone = || Error::new("nobody reads what is shown");
        is_heard.then_some(()).ok_or_else(gone)
    });
    if is_heard && is_read(&text)? {
        shown.map(|()| true)
    } else {
        Ok(false)
    }
}

/// How long the iterations of a loop take; and the first, a typical, the longest and the last one, as far as they differ.
fn iterations(args: &TraceArgs, profile: &Profile, name: &str) -> Result<(), Error> {
    let analysis = profile.analyse(ControlView::Source)?;
    let (mut named, others): (Vec<_>, Vec<_>) = analysis
        .iterations()
        .into_iter()
        .partition(|(of, _)| of == name);
    let Some((_, lengths)) = named.pop() else {
        let loops = others.into_iter().map(|(of, _)| of);
        return Err(no_loop(name, &loops.collect::<Vec<_>>()));
    };
    // Of as many, the shorter one.
    let Some((&cycles, _)) = lengths.iter().rev().max_by_key(|(_, alike)| alike.count) else {
        return Err(Error::new(format!(
            "`{name}` has no iterations, or nothing in the compiled design tells one from the next"
        )));
    };
    let mut table = Table::new(
        ["cycles", "iterations", "first begins in cycle"]
            .map(Column::number)
            .to_vec(),
    );
    for (&cycles, alike) in &lengths {
        table.push(vec![cycles.into(), alike.count.into(), alike.first.into()]);
    }
    let all: u64 = lengths.values().map(|alike| alike.count).sum();
    if !args.json && !is_read(&format!("{name}\n\n{}", table.shown(screen(), 2)))? {
        return Ok(());
    }
    for of in Example::list(&lengths, cycles) {
        let end = of.begin + of.cycles;
        let head = if args.json {
            let which = of.which.join(", ");
            let head = json!({
                "loop": name, "iteration": which, "cycles": of.cycles, "count": of.count, "of": all, "start": of.begin, "end": end,
            });
            format!("{head}\n")
        } else {
            let line = format!(
                "{} iteration: cycles {}..{}; {} of {} {} so long",
                of.which.join(" and "),
                thousands(of.begin),
                thousands(end),
                thousands(of.count),
                thousands(all),
                if of.count == 1 { "is" } else { "are" },
            );
            format!("\n{}\n\n", screen().folded(&line, 2))
        };
        if !is_read(&head)? || !show(args, profile, Some(&(of.begin..end)))? {
            break;
        }
    }
    Ok(())
}

/// There is no loop of this name.
fn no_loop(name: &str, loops: &[String]) -> Error {
    let near = nearest(name, loops);
    let there = match (&near[..], loops) {
        ([near, ..], _) => format!("is it `{near}`?"),
        (_, []) => "the design has none".to_owned(),
        (_, loops) => format!("there are `{}`", loops.join("`, `")),
    };
    let kind = name.rsplit('.').next().unwrap_or(name);
    let is_other = kind
        .split_once('@')
        .is_some_and(|(kind, _)| !["while", "repeat"].contains(&kind));
    if is_other && !loops.is_empty() {
        let loops = loops.join("`, `");
        return Error::usage(format!("`{name}` is no loop; there are `{loops}`"));
    }
    Error::usage(format!("there is no loop `{name}`; {there}"))
}

/// An iteration of a loop that is shown.
struct Example {
    /// What it is an example of.
    which: Vec<&'static str>,
    begin: u64,
    cycles: u64,
    /// How many take as long.
    count: u64,
}

impl Example {
    /// Those of a loop, most of whose iterations take `typical` cycles.
    fn list(lengths: &BTreeMap<u64, Alike>, typical: u64) -> Vec<Self> {
        let first = lengths.iter().min_by_key(|(_, alike)| alike.first);
        let last = lengths.iter().max_by_key(|(_, alike)| alike.last);
        let wanted = [
            ("typical", lengths.get_key_value(&typical)),
            ("first", first),
            ("longest", lengths.last_key_value()),
            ("last", last),
        ];
        let mut list: Vec<Self> = Vec::new();
        for (which, found) in wanted {
            let Some((&cycles, alike)) = found else {
                continue;
            };
            let begin = if which == "last" {
                alike.last
            } else {
                alike.first
            };
            if let Some(known) = list.iter_mut().find(|known| known.cycles == cycles) {
                // Of a typical one, nobody needs to know that the first or the last one is like it.
                let is_typical = cycles == typical;
                if which == "longest" || (known.begin == begin && !is_typical) {
                    known.which.push(which);
                    continue;
                }
                if is_typical {
                    continue;
                }
            }
            list.push(Self {
                which: vec![which],
                begin,
                cycles,
                count: alike.count,
            });
        }
        list
    }
}

/// Fails at the end of a run that has none of these cycles. That there are none at all is told.
pub fn check_cycles(cycles: Option<&Range<u64>>, event: &Event) -> Result<(), Error> {
    match (cycles, event) {
        (_, Event::End { cycles: 0 }) => messages::note("the run has no cycles"),
        (Some(cycles), Event::End { cycles: end }) if cycles.start >= *end => {
            return Err(Error::usage(format!(
                "the run has the cycles 0..{end}: there is none from {} on",
                cycles.start
            )));
        }
        _ => {}
    }
    Ok(())
}

/// `petal flame`
pub fn flame(args: &FlameArgs) -> Result<(), Error> {
    let frames = match args.frames {
        FramesArg::Calyx => Frames::Calyx,
        FramesArg::Adl => Frames::FrontEnd,
        FramesArg::Both => Frames::Both,
    };
    let _drawing = Stage::new("drawing the flame graphs", false);
    petal_profile::write_flames(&args.again.dir, args.again.view.control.into(), frames)
}

/// `petal report`
pub fn report(args: &AgainArgs) -> Result<(), Error> {
    let _drawing = Stage::new("writing the report", false);
    petal_profile::write_report(&args.dir, args.view.control.into())
}

/// `petal timeline`
pub fn timeline(args: &TimelineArgs) -> Result<(), Error> {
    let drawing = Stage::new("drawing the timeline", false);
    let lock = folder::lock(&args.dir)?;
    let profile = open(&args.dir)?;
    let staging = Staging::new(&args.dir)?.locked(lock);
    let cycles = observations::cycles(&args.dir, args.cycles.as_ref(), args.window.as_deref())?;
    let section = Section {
        cycles: cycles.clone(),
        cell: args.cell.clone(),
        depth: args.depth.and_then(|depth| usize::try_from(depth).ok()),
    };
    let results = profile.observations()?;
    let is_part = cycles.is_some() || args.cell.is_some() || args.depth.is_some();
    // What is asked for may be long.
    let is_limited = !args.whole && !is_part && !observations::keeps_windows(results.as_ref());
    let view = args.view.control.into();
    let mut text = if is_limited && profile.slices(view)? > outputs::MAX_SLICES {
        let out = staging.path(TIMELINE);
        let drawn = draw(&profile, view, &Wanted::Excerpts, &out)?;
        about(&args.dir, &drawn)
    } else {
        let observed = observations::tracks(results.as_ref(), cycles.as_ref(), false);
        let slices = draw_section(args, &profile, &staging, section, &observed)?;
        format!("{} slices\n", thousands(slices))
    };
    let names = outputs::timeline_names();
    for &name in &names {
        let shown = args.dir.join(name);
        let _ = match std::fs::metadata(staging.path(name)) {
            Ok(file) => writeln!(text, "{}: {} bytes", shown.display(), thousands(file.len())),
            Err(_) => writeln!(text, "{}: left out, too many slices", shown.display()),
        };
    }
    staging.commit(&names)?;
    drop(drawing);
    if is_part {
        let dir = args.dir.display();
        let _ = writeln!(
            text,
            "a part of the run; `petal timeline {dir}` draws what the run did"
        );
    }
    print(&text)
}

/// Draws a section of the run on all timelines; returns how many slices it has.
fn draw_section(
    args: &TimelineArgs,
    profile: &Profile,
    staging: &Staging,
    section: Section,
    observed: &Observed,
) -> Result<u64, Error> {
    let unwritten = || Error::io("write timelines to", &args.dir);
    let cycles = section.cycles.clone();
    let formats = outputs::timelines(staging)?;
    let mut timelines = Timeline::new(&profile.metadata, section, formats).awaiting_observations();
    profile.events(args.view.control.into(), &mut |event| {
        check_cycles(cycles.as_ref(), event)?;
        timelines.event(event).map_err(unwritten())
    })?;
    if let Some(cell) = args.cell.as_ref().filter(|_| !timelines.found()) {
        return Err(Error::new(format!(
            "no component cell `{cell}` was active; `petal stats {} cells` lists those that were",
            args.dir.display()
        )));
    }
    let ending = staging.ending([]);
    timelines.finish(observed).map_err(unwritten())?;
    drop(ending);
    interrupt::check()?;
    outputs::keep_timelines(timelines.format(), staging)?;
    Ok(timelines.slices())
}
