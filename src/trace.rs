//! Commands that show a profile again, from its folder.

use std::fmt::Write as _;
use std::ops::Range;

use petal_profile::folder::{self, Staging};
use petal_profile::{Error, interrupt, observations, outputs};
use petal_reconstruct::Event;
use petal_table::thousands;
use petal_visualize::{CallTrees, Frames, Section, Timeline, TreeFormat, TreeNodes};

use crate::args::{AgainArgs, FlameArgs, FramesArg, TimelineArgs, TraceArgs};
use crate::messages;
use crate::print::{is_read, print};
use crate::profile::open;
use crate::progress::Stage;
use crate::screen::screen;

/// `petal trace`
pub fn trace(args: &TraceArgs) -> Result<(), Error> {
    let profile = open(&args.dir)?;
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
    let wanted = observations::cycles(&args.dir, args.cycles.as_ref(), args.window.as_deref())?;
    let cycles = wanted.clone().unwrap_or(0..u64::MAX);
    let mut trees = CallTrees::new(&profile.metadata, cycles, format, nodes);
    let mut is_heard = true;
    let shown = profile.events(args.view.control.into(), &mut |event| {
        check_cycles(wanted.as_ref(), event)?;
        let text = trees.event(event);
        is_heard = text.map_or(Ok(true), |text| is_read(&text))?;
        // The trace may be long.
        let gone = || Error::new("nobody reads what is shown");
        is_heard.then_some(()).ok_or_else(gone)
    });
    if is_heard { shown } else { Ok(()) }
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
    let unwritten = || Error::io("write timelines to", &args.dir);
    let formats = outputs::timelines(&staging)?;
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
    let results = profile.observations()?;
    let observed = observations::tracks(results.as_ref(), cycles.as_ref(), false);
    timelines.finish(&observed).map_err(unwritten())?;
    drop(ending);
    interrupt::check()?;
    outputs::keep_timelines(timelines.format(), &staging)?;
    let slices = timelines.slices();
    let mut text = format!("{} slices\n", thousands(slices));
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
    print(&text)
}
