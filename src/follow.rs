//! Follows a run, simulated or in a waveform, and writes what is written on the way.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Seek as _};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use petal_metadata::Metadata;
use petal_observe::{Directory, Observations};
use petal_reconstruct::{
    Ahead, CompiledView, Computation, Computed, Events, FstHeader, Observer, ProbeSource,
    ReconstructError, Reconstruction, SignalTable, SourceError, TraceWriter, VcdHeader, is_fst,
};
use petal_visualize::outputs::TRACE;
use petal_visualize::timeline::{Format, Windowed};
use petal_visualize::{Analysis, Section, Timeline};

use crate::args::ControlArg;
use crate::events;
use crate::failure::Failure;
use crate::folder::Staging;
use crate::interrupt::{self, Interruptible};
use crate::messages;
use crate::observe::{self, Observing};
use crate::outputs::{self, Formats};
use crate::progress::Stage;
use crate::trace::{Folder, trace_reader};

/// Opens a waveform, which may also come through a pipe while it is made.
pub fn open_waveform(path: &Path, quiet: bool) -> Result<File, Failure> {
    let failed = || Failure::io("read the waveform", path);
    let kind = fs::metadata(path).map_err(failed())?.file_type();
    if !kind.is_fifo() {
        return petal_files::open(path).map_err(failed());
    }
    // It may take for ever, and there is nothing to clean up yet. Whoever reads the note can end it.
    let _ending = interrupt::Ending::at_once([]);
    interrupt::check()?;
    if !quiet {
        messages::note(format!(
            "waiting for a simulator to write to the pipe {}",
            path.display()
        ));
    }
    File::open(path).map_err(failed())
}

/// Where a profile goes.
pub struct Output<'a, 'b> {
    pub staging: &'b Staging,
    pub metadata: &'a Metadata,
    pub reconstruction: &'b Reconstruction<'a>,
    pub view: ControlArg,
    /// What the profile is called.
    pub name: &'b str,
    /// Where to tell of the run while it goes on.
    pub events: Option<&'b Path>,
    pub cycle_limit: u64,
    pub stage: &'b Stage,
}

impl<'a> Output<'a, '_> {
    /// Follows a waveform in a file of either format; `name` is what errors call it.
    pub fn read_file(
        &self,
        name: &Path,
        file: File,
        observing: &Observing,
    ) -> Result<Followed<'a>, Failure> {
        let mut file = BufReader::with_capacity(1 << 20, file);
        let start = file.fill_buf().map_err(Failure::io("read", name))?;
        if !is_fst(start) {
            return self.read_waveform(name, file, observing, None);
        }
        if file.rewind().is_err() {
            return Err(Failure::new(format!(
                "{}: an FST has its parts in no order, so it can't come through a pipe; write it to a file",
                name.display()
            )));
        }
        let header = FstHeader::read(file).map_err(in_waveform(name))?;
        let directory = || observe::directory_of(header.signals());
        let observations = observing.of(self.metadata, directory)?;
        self.follow(name, observations, |table| header.source(table))
    }

    /// Follows a waveform as VCD, while it comes; `name` is what errors call it. `directory` has what can be observed, if more is
    /// known than the waveform tells.
    pub fn read_waveform(
        &self,
        name: &Path,
        waveform: impl Read + Send + 'static,
        observing: &Observing,
        directory: Option<&Directory>,
    ) -> Result<Followed<'a>, Failure> {
        let waveform = BufReader::with_capacity(1 << 20, waveform);
        let header = VcdHeader::read(waveform).map_err(in_waveform(name))?;
        let of_waveform = || observe::directory_of(header.signals());
        let directory = || directory.cloned().unwrap_or_else(of_waveform);
        let observations = observing.of(self.metadata, directory)?;
        self.follow(name, observations, |table| {
            let source = header.source(table)?;
            Ok(source.with_limit(self.cycle_limit))
        })
    }

    fn follow<S: ProbeSource + Send + 'static>(
        &self,
        name: &Path,
        mut observations: Option<Observations<'a>>,
        source: impl FnOnce(&SignalTable) -> Result<S, SourceError>,
    ) -> Result<Followed<'a>, Failure> {
        let table = self.reconstruction.signals();
        let followed = match &mut observations {
            None => {
                let source = source(table).map_err(in_waveform(name))?;
                self.profile(&mut Interruptible::new(Ahead::new(source)), None)
            }
            Some(observations) => {
                let computation = Computation::of(observations.values());
                let source = source(&computation.signals(table)).map_err(in_waveform(name))?;
                let source = Computed::new(source, computation, table);
                let mut source = Interruptible::new(Ahead::new(source));
                self.profile(&mut source, Some(observations))
            }
        };
        let analysis = followed.map_err(|error| match error {
            ReconstructError::Source(error) => in_waveform(name)(error),
            ReconstructError::Sink(failure) => failure,
        })?;
        Ok(Followed {
            analysis,
            observations,
        })
    }

    /// Follows a run, and writes what is written on the way.
    pub fn profile(
        &self,
        source: &mut impl ProbeSource,
        mut observations: Option<&mut Observations<'a>>,
    ) -> Result<Analysis<'a>, ReconstructError<Failure>> {
        let stream = self.events.map(|path| {
            events::stream(path, self.name, self.metadata, observations.as_deref_mut())
        });
        let stream = stream.transpose().map_err(ReconstructError::Sink)?;
        // The parts that are kept are known only when the run is over.
        let is_drawn = observations.as_ref().is_none_or(|of| !of.have_windows());
        let (analysis, ()) = self.reconstruction.fan_out(
            source,
            |events| self.analyse(events),
            |events| self.draw(events, is_drawn, stream),
            observations.map(|observations| observations as &mut dyn Observer),
            &mut |progress| {
                let active = || progress.active();
                self.stage.tell(progress.cycles(), self.metadata, active);
            },
        )?;
        Ok(analysis)
    }

    /// Writes and analyses the events that come. Those of a run that failed end early.
    fn analyse(&self, events: Events) -> Result<Analysis<'a>, Failure> {
        let trace = outputs::create(&self.staging.path(TRACE))?;
        let mut trace = TraceWriter::new(trace, &self.metadata.fingerprint)
            .map_err(|error| cannot_write(&error))?;
        let mut analysis = Analysis::new(self.metadata, self.view.into());
        events.try_for_each(|event| {
            analysis.event(event);
            trace.event(event).map_err(|error| cannot_write(&error))
        })?;
        Ok(analysis)
    }

    /// Draws the events that come on the timelines, unless parts of them are drawn later, and tells of them.
    fn draw(
        &self,
        events: Events,
        is_drawn: bool,
        stream: Option<Box<dyn Format + Send>>,
    ) -> Result<(), Failure> {
        if !is_drawn && stream.is_none() {
            return events.try_for_each(|_| Ok(()));
        }
        let mut formats = Formats::new();
        if is_drawn {
            formats = outputs::timelines(self.staging)?;
        }
        formats.extend(stream);
        let mut timelines = Timeline::new(self.metadata, Section::default(), formats);
        let compiled =
            (self.view == ControlArg::Compiled).then(|| CompiledView::new(self.metadata));
        events.try_for_each(|event| {
            match &compiled {
                Some(view) => timelines.event(&view.event(event.clone())),
                None => timelines.event(event),
            }
            .map_err(|error| cannot_write(&error))
        })?;
        if !is_drawn {
            return Ok(());
        }
        outputs::finish_timelines(timelines.format(), self.staging)
    }
}

/// Draws the cycles that are kept on the timelines, once the trace is written.
pub fn draw_windows(
    staging: &Staging,
    metadata: &Metadata,
    view: ControlArg,
    kept: Vec<Range<u64>>,
) -> Result<(), Failure> {
    let formats = Windowed::new(outputs::timelines(staging)?, kept);
    let mut timelines = Timeline::new(metadata, Section::default(), formats);
    let path = staging.path(TRACE);
    let trace = File::open(&path).map_err(Failure::io("read the trace", &path))?;
    let reader = trace_reader(metadata, trace, &path)?;
    Folder::read(metadata, reader, view, &mut |event| {
        timelines.event(event).map_err(|error| cannot_write(&error))
    })?;
    outputs::finish_timelines(timelines.format().format(), staging)
}

/// A waveform that was read to its end.
pub struct Followed<'a> {
    pub analysis: Analysis<'a>,
    pub observations: Option<Observations<'a>>,
}

fn in_waveform(name: &Path) -> impl Fn(SourceError) -> Failure {
    move |error| Failure::new(format!("{}: {error}", name.display()))
}

fn cannot_write(error: &io::Error) -> Failure {
    Failure::new(format!("cannot write to the output folder: {error}"))
}
