//! Commands that show a profile again, from its folder.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use petal_analysis::{Analysis, Ending, Figures, FiguresError, Hardware, Verified};
use petal_metadata::Metadata;
use petal_reconstruct::{CompiledView, Event, TraceReader, check};
use petal_table::thousands;
use petal_visualize::outputs::{METADATA, Make, Output, Rendering, SUMMARY, TRACE};
use petal_visualize::{CallTrees, Frames, Section, Timeline, TreeFormat, TreeNodes};
use serde::Deserialize as _;

use crate::args::{AgainArgs, ControlArg, FlameArgs, FramesArg, TimelineArgs, TraceArgs, ViewArgs};
use crate::failure::Failure;
use crate::folder::{self, Staging};
use crate::interrupt;
use crate::messages;
use crate::observe;
use crate::outputs;

/// A profile's folder, opened.
pub struct Folder {
    pub metadata: Metadata,
    pub name: String,
    /// Why the run ended early, if it did.
    pub stopped: Option<String>,
    /// What was active then.
    ending: Option<Ending>,
    /// What was odd in the run, or lacking.
    warnings: Vec<String>,
    /// What the compiled design consists of.
    hardware: Option<Hardware>,
    /// What `petal advise` found.
    advice: Option<serde_json::Value>,
    /// The name of the data file, if there was one.
    pub data: Option<String>,
    /// How it was made sure that the plain design runs alike.
    pub verified: Verified,
    /// Versions of the tools that made it.
    pub versions: Vec<(String, String)>,
    pub reader: TraceReader<BufReader<File>>,
    /// The trace, and where it was.
    trace: (File, PathBuf),
}

impl Folder {
    /// Opens the folder that a run wrote.
    pub fn open(dir: &Path) -> Result<Self, Failure> {
        folder::consistent(dir, |summary| Self::open_files(dir, summary))
    }

    fn open_files(dir: &Path, summary: &Path) -> Result<Self, Failure> {
        let metadata = Metadata::read(&dir.join(METADATA))?;
        let path = dir.join(TRACE);
        let file = petal_files::open(&path).map_err(Failure::io("read the trace", &path))?;
        let same = file
            .try_clone()
            .map_err(Failure::io("read the trace", &path))?;
        let reader = trace_reader(&metadata, file, &path)?;
        let text = petal_files::read_to_string(summary).map_err(Failure::io("read", summary))?;
        let damaged = |problem: &dyn std::fmt::Display| {
            let path = summary.display();
            Failure::new(format!(
                "{path} is damaged: {problem}; make it again with `petal run`"
            ))
        };
        let summary: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        let known = |key: &str| Some(summary.get(key)?.as_str()?.to_owned());
        let versions = summary["versions"].as_object().into_iter().flatten();
        if !metadata.verified {
            messages::note(format_args!("{}: {}", dir.display(), Verified::No.text()));
        }
        Ok(Self {
            metadata,
            name: known("design").ok_or_else(|| damaged(&"it does not name the design"))?,
            stopped: known("stopped"),
            data: known("data"),
            ending: Option::deserialize(&summary["ending"])
                .map_err(|error| damaged(&format_args!("`ending`: {error}")))?,
            warnings: Vec::deserialize(&summary["warnings"])
                .map_err(|error| damaged(&format_args!("`warnings`: {error}")))?,
            hardware: Option::deserialize(&summary["hardware"])
                .map_err(|error| damaged(&format_args!("`hardware`: {error}")))?,
            advice: summary.get("advice").cloned(),
            verified: Verified::deserialize(&summary["verified"])
                .map_err(|error| damaged(&format_args!("`verified`: {error}")))?,
            versions: versions
                .filter_map(|(tool, version)| Some((tool.clone(), version.as_str()?.to_owned())))
                .collect(),
            reader,
            trace: (same, path),
        })
    }

    /// Another reader of the same trace, whatever is at its place by now; only the last one may be used.
    pub fn again(&self) -> Result<TraceReader<BufReader<File>>, Failure> {
        let (file, path) = &self.trace;
        let rewound = file.try_clone().and_then(|mut file| {
            file.rewind()?;
            Ok(file)
        });
        let file = rewound.map_err(Failure::io("read the trace", path))?;
        trace_reader(&self.metadata, file, path)
    }

    /// Hands all events to `take`, as `view` shows them.
    pub fn read(
        metadata: &Metadata,
        reader: TraceReader<BufReader<File>>,
        view: ControlArg,
        take: &mut dyn FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let compiled = (view == ControlArg::Compiled).then(|| CompiledView::new(metadata));
        let mut checker = check::Checker::new(metadata);
        // The advice that was found is written although there was an interrupt.
        let asked_before = interrupt::requested();
        for event in reader {
            let event = event?;
            checker.event(&event)?;
            if !asked_before {
                interrupt::check()?;
            }
            let event = match &compiled {
                Some(view) => view.event(event),
                None => event,
            };
            take(&event)?;
        }
        Ok(())
    }

    /// Analyses the trace for everything but timelines; flame graphs and the report show control as `view`
    /// tells.
    pub fn analyse(
        metadata: &Metadata,
        reader: TraceReader<BufReader<File>>,
        view: ControlArg,
    ) -> Result<Analysis<'_>, Failure> {
        let analysis = Analysis::new(metadata, view.into());
        let (analysis, _) = Self::analyse_with(analysis, metadata, reader, &mut |_| Ok(()))?;
        Ok(analysis)
    }

    /// The same, and hands all events to `take`. Returns the figures of the whole run, too, if the trace has only parts of it.
    pub fn analyse_with<'a>(
        mut analysis: Analysis<'a>,
        metadata: &'a Metadata,
        reader: TraceReader<BufReader<File>>,
        take: &mut dyn FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<(Analysis<'a>, Option<Figures>), Failure> {
        let (mut has_gaps, mut figures, mut whole) = (false, None, None);
        Self::read(metadata, reader, ControlArg::Source, &mut |event| {
            analysis.event(event);
            match event {
                Event::Gap(_) => has_gaps = true,
                Event::Figures(text) => figures = Some(text.clone()),
                Event::End { cycles } => {
                    let of = figures.take().map(|text| Figures::of_json(&text, *cycles));
                    whole = of.transpose()?;
                }
                _ => {}
            }
            take(event)
        })?;
        if has_gaps || whole.is_some() {
            let figures = whole.as_ref().ok_or(FiguresError)?;
            analysis.restore(figures)?;
        }
        Ok((analysis, whole))
    }
}

/// Reads the trace of this design in a file that is at `path`.
fn trace_reader(
    metadata: &Metadata,
    file: File,
    path: &Path,
) -> Result<TraceReader<BufReader<File>>, Failure> {
    TraceReader::new(BufReader::new(file), &metadata.fingerprint)
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// `petal trace`
pub fn trace(args: &TraceArgs) -> Result<(), Failure> {
    let Folder {
        metadata, reader, ..
    } = Folder::open(&args.dir)?;
    let format = if args.json {
        TreeFormat::JsonLines
    } else {
        TreeFormat::Text
    };
    let nodes = if args.continuous {
        TreeNodes::WithContinuous
    } else {
        TreeNodes::Traced
    };
    let wanted = observe::cycles(&args.dir, args.cycles.as_ref(), args.window.as_deref())?;
    let cycles = wanted.clone().unwrap_or(0..u64::MAX);
    let mut trees = CallTrees::new(&metadata, cycles, format, nodes);
    let mut is_read = true;
    let shown = Folder::read(&metadata, reader, args.view.control, &mut |event| {
        check_cycles(wanted.as_ref(), event)?;
        let text = trees.event(event);
        is_read = text.map_or(Ok(true), |text| outputs::is_read(&text))?;
        // The trace may be long.
        let gone = || Failure::new("nobody reads what is shown");
        is_read.then_some(()).ok_or_else(gone)
    });
    if is_read { shown } else { Ok(()) }
}

/// Fails at the end of a run that has none of these cycles. That there are none at all is told.
pub fn check_cycles(cycles: Option<&Range<u64>>, event: &Event) -> Result<(), Failure> {
    match (cycles, event) {
        (_, Event::End { cycles: 0 }) => messages::note("the run has no cycles"),
        (Some(cycles), Event::End { cycles: end }) if cycles.start >= *end => {
            return Err(Failure::usage(format!(
                "the run has the cycles 0..{end}: there is none from {} on",
                cycles.start
            )));
        }
        _ => {}
    }
    Ok(())
}

/// `petal flame`
pub fn flame(args: &FlameArgs) -> Result<(), Failure> {
    let frames = match args.frames {
        FramesArg::Calyx => Frames::Calyx,
        FramesArg::Adl => Frames::FrontEnd,
        FramesArg::Both => Frames::Both,
    };
    again(&args.again, frames, |make| matches!(make, Make::Flame(_)))
}

/// `petal report`
pub fn report(args: &AgainArgs) -> Result<(), Failure> {
    again(args, Frames::Calyx, |make| matches!(make, Make::Report(_)))
}

/// Puts advice into the summary and the report of a profile.
pub fn add_advice(dir: &Path, advice: serde_json::Value) -> Result<(), Failure> {
    let args = AgainArgs {
        dir: dir.to_owned(),
        view: ViewArgs {
            control: ControlArg::Source,
        },
    };
    let wanted = |output: &Output| matches!(output.make, Make::Report(_)) || output.name == SUMMARY;
    write_again(&args, Frames::Calyx, Some(advice), wanted)
}

/// Writes the files again that are made in such a way.
fn again(args: &AgainArgs, frames: Frames, wanted: fn(Make) -> bool) -> Result<(), Failure> {
    write_again(args, frames, None, |output| wanted(output.make))
}

fn write_again(
    args: &AgainArgs,
    frames: Frames,
    advice: Option<serde_json::Value>,
    wanted: impl Fn(&Output) -> bool,
) -> Result<(), Failure> {
    // So that the trace stays that of the folder.
    let lock = folder::lock(&args.dir)?;
    let folder = Folder::open(&args.dir)?;
    if frames != Frames::Calyx && !folder.metadata.front_end.has_lines() {
        return Err(no_front_end(&args.dir));
    }
    let staging = Staging::new(&args.dir)?.locked(lock);
    let analysis = Folder::analyse(&folder.metadata, folder.reader, args.view.control)?;
    let mut summary = analysis.summary(&folder.name, folder.versions);
    summary.stopped = folder.stopped;
    summary.data = folder.data;
    summary.ending = folder.ending;
    summary.hardware = folder.hardware;
    summary.warnings = folder.warnings;
    summary.verified = folder.verified;
    summary.advice = advice.or(folder.advice);
    summary.observations = observe::read(&args.dir)?.map(|results| results.page());
    let names = outputs::write(
        &Rendering::new(&analysis, frames),
        &summary,
        &staging,
        wanted,
    )?;
    staging.commit(&names)
}

/// `petal timeline`
pub fn timeline(args: &TimelineArgs) -> Result<(), Failure> {
    let lock = folder::lock(&args.dir)?;
    let Folder {
        metadata, reader, ..
    } = Folder::open(&args.dir)?;
    let staging = Staging::new(&args.dir)?.locked(lock);
    let cycles = observe::cycles(&args.dir, args.cycles.as_ref(), args.window.as_deref())?;
    let section = Section {
        cycles: cycles.clone(),
        cell: args.cell.clone(),
        depth: args.depth.and_then(|depth| usize::try_from(depth).ok()),
    };
    let unwritten = || Failure::io("write timelines to", &args.dir);
    let formats = outputs::timelines(&staging)?;
    let mut timelines = Timeline::new(&metadata, section, formats).awaiting_observations();
    Folder::read(&metadata, reader, args.view.control, &mut |event| {
        check_cycles(cycles.as_ref(), event)?;
        timelines.event(event).map_err(unwritten())
    })?;
    if let Some(cell) = args.cell.as_ref().filter(|_| !timelines.found()) {
        return Err(Failure::new(format!(
            "no component cell `{cell}` was active; `petal stats {} cells` lists those that were",
            args.dir.display()
        )));
    }
    let ending = staging.ending([]);
    let results = observe::read(&args.dir)?;
    let observed = observe::tracks(results.as_ref(), cycles.as_ref(), false);
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
    outputs::print(&text)
}

/// What is asked for lines of a front end, and there are none.
pub fn no_front_end(dir: &Path) -> Failure {
    Failure::new(format!(
        "{}: the design names no lines of a front end's files; calyx-py and Dahlia write them unless told otherwise",
        dir.display()
    ))
}
