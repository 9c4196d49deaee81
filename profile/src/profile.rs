//! A profile's folder, opened.

use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use petal_analysis::{Analysis, ControlView, Figures as RunFigures, FiguresError, Period, Summary};
use petal_metadata::Metadata;
use petal_observe::Results;
use petal_reconstruct::{CompiledView, Event, Item, TraceReader, violations};
use petal_synth::{Figures, Synthesis};
use petal_visualize::outputs::{METADATA, Make, Output, Rendering, SUMMARY, TRACE};
use petal_visualize::timeline::Counted;
use petal_visualize::{Area, Frames, Section, Timeline};

use crate::error::Error;
use crate::folder::{self, Staging};
use crate::{interrupt, observations, outputs};

/// A profile that was written to a folder.
#[derive(Debug)]
pub struct Profile {
    /// What the compiler made of the design.
    pub metadata: Metadata,
    /// How long the run was, what it went to, and how it was made.
    pub summary: Summary,
    dir: PathBuf,
    trace: File,
    synthesis: Option<Synthesis>,
}

impl Profile {
    /// Opens the folder that a run wrote. What is read of it later is of the same run, even if another one takes its place meanwhile.
    ///
    /// # Errors
    /// When there is no whole profile, or it is damaged.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Error> {
        let dir = dir.as_ref();
        folder::consistent(dir, |summary| Self::open_files(dir, summary))
    }

    fn open_files(dir: &Path, summary: &Path) -> Result<Self, Error> {
        let metadata = Metadata::read(&dir.join(METADATA))?;
        let path = dir.join(TRACE);
        let trace = petal_files::open(&path).map_err(Error::io("read the trace", &path))?;
        let text = petal_files::read_to_string(summary).map_err(Error::io("read", summary))?;
        let damaged = |problem| {
            let path = summary.display();
            Error::new(format!(
                "{path} is damaged: {problem}; make it again with `petal run`"
            ))
        };
        let mut summary = Summary::of_json(&text).map_err(damaged)?;
        let synthesis = folder::synthesis(dir, &metadata.fingerprint);
        summary.set_clock(None, synthesis.as_ref().and_then(period));
        let profile = Self {
            metadata,
            summary,
            dir: dir.to_owned(),
            trace,
            synthesis,
        };
        profile.reader()?;
        Ok(profile)
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A reader of the trace, whatever is at its place by now; only the last one may be used.
    fn reader(&self) -> Result<TraceReader<BufReader<File>>, Error> {
        let path = self.dir.join(TRACE);
        let rewound = self.trace.try_clone().and_then(|mut file| {
            file.rewind()?;
            Ok(file)
        });
        let file = rewound.map_err(Error::io("read the trace", &path))?;
        reader(file, &path, &self.metadata)
    }

    /// Hands all events of the run to `take`, with control as `view` shows it.
    ///
    /// # Errors
    /// When the trace is damaged, `take` fails, or somebody asks to stop.
    pub fn events(
        &self,
        view: ControlView,
        take: &mut dyn FnMut(&Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.items(view, &mut |item| item.try_for_each(&mut *take))
    }

    /// The same; what comes again and again comes as one item.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn items(
        &self,
        view: ControlView,
        take: &mut dyn FnMut(&Item) -> Result<(), Error>,
    ) -> Result<(), Error> {
        items(self.reader()?, &self.metadata, view, take)
    }

    /// How many slices the timeline of the whole run has.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn slices(&self, view: ControlView) -> Result<u64, Error> {
        let mut counted = Timeline::new(&self.metadata, Section::default(), Counted);
        let uncounted = || Error::io("count the slices of", &self.dir);
        self.items(view, &mut |item| counted.item(item).map_err(uncounted()))?;
        Ok(counted.passed())
    }

    /// Analyses the run for everything but timelines; flame graphs and the report show control as `view` tells.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn analyse(&self, view: ControlView) -> Result<Analysis<'_>, Error> {
        let (analysis, _) = self.analyse_with(view, &mut |_| Ok(()))?;
        Ok(analysis)
    }

    /// The same, and hands all items to `take`. Returns the figures of the whole run, too, if the trace has only parts of it.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn analyse_with(
        &self,
        view: ControlView,
        take: &mut dyn FnMut(&Item) -> Result<(), Error>,
    ) -> Result<(Analysis<'_>, Option<RunFigures>), Error> {
        let mut analysis = Analysis::new(&self.metadata, view);
        analysis.set_period(self.summary.period());
        let (mut has_gaps, mut figures, mut whole) = (false, None, None);
        self.items(ControlView::Source, &mut |item| {
            analysis.item(item);
            match item {
                Item::Event(Event::Gap(_)) => has_gaps = true,
                Item::Event(Event::Figures(text)) => figures = Some(text.clone()),
                Item::Event(Event::End { cycles }) => {
                    let of = figures
                        .take()
                        .map(|text| RunFigures::of_json(&text, *cycles));
                    whole = of.transpose()?;
                }
                _ => {}
            }
            take(item)
        })?;
        if has_gaps || whole.is_some() {
            let figures = whole.as_ref().ok_or(FiguresError)?;
            analysis.restore(figures)?;
        }
        Ok((analysis, whole))
    }

    /// What is known of area and clock of its design; `None` if the folder has nothing of it, or of another design.
    pub fn synthesis(&self) -> Option<&Synthesis> {
        self.synthesis.as_ref()
    }

    /// What was observed in the run, if anything was.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn observations(&self) -> Result<Option<Results>, Error> {
        observations::read(&self.dir)
    }
}

/// A reader of the trace in a file.
pub(crate) fn reader(
    file: File,
    path: &Path,
    metadata: &Metadata,
) -> Result<TraceReader<BufReader<File>>, Error> {
    TraceReader::new(BufReader::new(file), &metadata.fingerprint)
        .map_err(|error| Error::new(format!("{}: {error}", path.display())))
}

/// Hands all that a trace has to `take`, with control as `view` shows it.
pub(crate) fn items(
    mut trace: TraceReader<BufReader<File>>,
    metadata: &Metadata,
    view: ControlView,
    take: &mut dyn FnMut(&Item) -> Result<(), Error>,
) -> Result<(), Error> {
    let compiled = (view == ControlView::Compiled).then(|| CompiledView::new(metadata));
    let mut checker = violations::Checker::new(metadata);
    // The advice that was found is written although there was an interrupt.
    let interrupt = interrupt::flag();
    let asked_before = interrupt.load(Ordering::Relaxed);
    while let Some(item) = trace.next_item() {
        let item = item?;
        checker.item(&item)?;
        if !asked_before && interrupt.load(Ordering::Relaxed) {
            return Err(Error::interrupted());
        }
        match &compiled {
            Some(view) => take(&view.item(item))?,
            None => take(&item)?,
        }
    }
    Ok(())
}

/// What a report shows of the area; `None` if nothing is known of the parts of the design.
pub(crate) fn area(synthesis: &Synthesis) -> Option<Area> {
    let Figures { luts, ffs, .. } = synthesis.area.total;
    (!synthesis.area.rows.is_empty()).then(|| Area {
        device: synthesis.device.clone(),
        has_memories: synthesis.has_memories,
        fmax_mhz: synthesis.clock.as_ref().map(|clock| clock.fmax_mhz),
        luts,
        ffs,
        parts: synthesis.area.table(),
    })
}

/// The period of the clock that place and route found.
pub fn period(synthesis: &Synthesis) -> Option<Period> {
    Period::of_mhz(synthesis.clock.as_ref()?.fmax_mhz)
}

/// Writes the flame graphs of the profile in `dir` again.
///
/// # Errors
/// When it can't be read or written, or `frames` are lines of a front end, and the design names none.
pub fn write_flames(dir: &Path, view: ControlView, frames: Frames) -> Result<(), Error> {
    write_again(
        dir,
        view,
        frames,
        |_| {},
        |output| matches!(output.make, Make::Flame(_)),
    )
}

/// Writes what shows area and time of the profile in `dir` again.
///
/// # Errors
/// When it can't be read or written.
pub fn write_area(dir: &Path) -> Result<(), Error> {
    write_again(
        dir,
        ControlView::Source,
        Frames::Calyx,
        |_| {},
        |output| output.make.render().is_some(),
    )
}

/// Writes the report of the profile in `dir` again.
///
/// # Errors
/// When it can't be read or written.
pub fn write_report(dir: &Path, view: ControlView) -> Result<(), Error> {
    write_again(
        dir,
        view,
        Frames::Calyx,
        |_| {},
        |output| matches!(output.make, Make::Report(_)),
    )
}

/// Puts advice into the summary and the report of the profile in `dir`.
///
/// # Errors
/// When it can't be read or written.
pub fn add_advice(dir: &Path, advice: serde_json::Value) -> Result<(), Error> {
    add(dir, |summary| summary.set_advice(Some(advice)))
}

/// The same with what `petal whatif` found.
///
/// # Errors
/// When it can't be read or written.
pub fn add_what_if(dir: &Path, what_if: serde_json::Value) -> Result<(), Error> {
    add(dir, |summary| summary.what_if = Some(what_if))
}

fn add(dir: &Path, change: impl FnOnce(&mut Summary)) -> Result<(), Error> {
    let wanted = |output: &Output| matches!(output.make, Make::Report(_)) || output.name == SUMMARY;
    write_again(dir, ControlView::Source, Frames::Calyx, change, wanted)
}

fn write_again(
    dir: &Path,
    view: ControlView,
    frames: Frames,
    change: impl FnOnce(&mut Summary),
    wanted: impl Fn(&Output) -> bool,
) -> Result<(), Error> {
    // So that the trace stays that of the folder.
    let lock = folder::lock(dir)?;
    let profile = Profile::open(dir)?;
    if frames != Frames::Calyx && !profile.metadata.front_end.has_lines() {
        return Err(no_front_end(dir));
    }
    let staging = Staging::new(dir)?.locked(lock);
    let analysis = profile.analyse(view)?;
    let mut summary = profile.summary.clone();
    change(&mut summary);
    summary.observations = profile.observations()?.map(|results| results.page());
    let names = outputs::write(
        &Rendering::new(&analysis, frames).with_area(profile.synthesis().and_then(area)),
        &summary,
        &staging,
        wanted,
    )?;
    staging.commit(&names)
}

/// What is asked for lines of a front end, and there are none.
pub fn no_front_end(dir: &Path) -> Error {
    Error::new(format!(
        "{}: the design names no lines of a front end's files; calyx-py and Dahlia write them unless told otherwise",
        dir.display()
    ))
}
