//! Follows a run, simulated or in a waveform, and writes what is written on the way.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Seek as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use petal_analysis::{Analysis, CriticalPath};
use petal_metadata::Metadata;
use petal_observe::{Directory, Observations, Results};
use petal_reconstruct::{
    Ahead, CompiledView, Computation, Computed, Event, Events, FstHeader, Held, KeptTrace,
    Observer, ProbeSource, ReconstructError, Reconstruction, SignalTable, SourceError, TraceWriter,
    VcdHeader, is_fst,
};
use petal_visualize::outputs::TRACE;
use petal_visualize::timeline::{Format, Observed, Windowed};
use petal_visualize::{Section, Timeline};

use crate::args::ControlArg;
use crate::compile::Memories;
use crate::events;
use crate::failure::Failure;
use crate::folder::Staging;
use crate::interrupt::{self, Interruptible};
use crate::messages;
use crate::observe::{self, Observing};
use crate::outputs;
use crate::progress::Stage;

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

/// What is known of a design whose waveform is read.
pub struct Known<'a> {
    /// What can be observed.
    pub directory: &'a Directory,
    /// The memories before the run.
    pub memories: &'a Memories,
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

    /// Follows a waveform as VCD, while it comes; `name` is what errors call it. `known` is what is known of the design beside what the
    /// waveform tells.
    pub fn read_waveform(
        &self,
        name: &Path,
        waveform: impl Read + Send + 'static,
        observing: &Observing,
        known: Option<&Known<'_>>,
    ) -> Result<Followed<'a>, Failure> {
        let waveform = BufReader::with_capacity(1 << 20, waveform);
        let header = VcdHeader::read(waveform).map_err(in_waveform(name))?;
        let of_waveform = || observe::directory_of(header.signals());
        let directory = || known.map_or_else(of_waveform, |known| known.directory.clone());
        let mut observations = observing.of(self.metadata, directory)?;
        if let Some((observations, known)) = observations.as_mut().zip(known) {
            let scope = &self.metadata.scope;
            observations.start_with(|cell| {
                let memory = (cell.scope == *scope).then_some(&*cell.name);
                memory.map_or_else(Vec::new, |name| known.memories.words(name))
            });
        }
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
        let (analysis, timelines) = followed.map_err(|error| match error {
            ReconstructError::Source(error) => in_waveform(name)(error),
            ReconstructError::Sink(failure) => failure,
        })?;
        Ok(Followed {
            analysis,
            timelines,
            observations,
        })
    }

    /// Follows a run, and writes what is written on the way. The timelines are to be completed.
    pub fn profile(
        &self,
        source: &mut impl ProbeSource,
        mut observations: Option<&mut Observations<'a>>,
    ) -> Result<(Analysis<'a>, Timelines<'a>), ReconstructError<Failure>> {
        let stream = self.events.map(|path| {
            events::stream(path, self.name, self.metadata, observations.as_deref_mut())
        });
        let stream = stream.transpose().map_err(ReconstructError::Sink)?;
        let held = observations.as_deref_mut().and_then(Observations::hold);
        let is_whole = held.is_none();
        let ((analysis, critical), (timelines, trace)) = self.reconstruction.fan_out(
            source,
            |events| self.analyse(events, is_whole),
            |events| match held {
                None => Ok((self.draw(events, stream)?, None)),
                Some(held) => {
                    let (timelines, trace) = self.draw_kept(events, held, stream)?;
                    Ok((timelines, Some(trace)))
                }
            },
            observations.map(|observations| observations as &mut dyn Observer),
            &mut |progress| {
                let active = || progress.active();
                self.stage.tell(progress.cycles(), self.metadata, active);
            },
        )?;
        if let Some(trace) = trace {
            let figures = analysis.figures(critical.finish()).json();
            let written = trace.finish(&figures, analysis.cycles());
            written.map_err(|error| ReconstructError::Sink(cannot_write(&error)))?;
        }
        Ok((analysis, timelines))
    }

    fn trace(&self) -> Result<TraceWriter<BufWriter<File>>, Failure> {
        let trace = outputs::create(&self.staging.path(TRACE))?;
        TraceWriter::new(trace, &self.metadata.fingerprint).map_err(|error| cannot_write(&error))
    }

    /// Analyses the events that come. If the trace has all of them, writes it, too; if not, follows the critical path, which can't be had
    /// from it later. The events of a run that failed end early.
    fn analyse(
        &self,
        events: Events,
        is_whole: bool,
    ) -> Result<(Analysis<'a>, CriticalPath<'a>), Failure> {
        let mut trace = is_whole.then(|| self.trace()).transpose()?;
        let mut analysis = Analysis::new(self.metadata, self.view.into());
        let mut critical = CriticalPath::new(self.metadata);
        events.try_for_each(|event| {
            analysis.event(event);
            match &mut trace {
                Some(trace) => trace.event(event).map_err(|error| cannot_write(&error)),
                None => {
                    critical.event(event);
                    Ok(())
                }
            }
        })?;
        Ok((analysis, critical))
    }

    /// Draws the events that come on the timelines, and tells of them.
    fn draw(
        &self,
        events: Events,
        stream: Option<Box<dyn Format + Send>>,
    ) -> Result<Timelines<'a>, Failure> {
        let mut formats = outputs::timelines(self.staging)?;
        formats.extend(stream);
        let mut drawn = self.drawn(formats);
        events.try_for_each(|event| drawn.event(event))?;
        let mut timeline = drawn.timeline;
        Ok(Timelines(Box::new(move |observed, staging| {
            let written = timeline.finish(observed);
            written.map_err(|error| cannot_write(&error))?;
            outputs::keep_timelines(timeline.format(), staging)
        })))
    }

    /// Draws those of the events that come that are kept, and writes them to the trace, which is to be completed. Tells of all.
    fn draw_kept(
        &self,
        events: Events,
        mut held: Held,
        stream: Option<Box<dyn Format + Send>>,
    ) -> Result<(Timelines<'a>, KeptTrace<BufWriter<File>>), Failure> {
        let mut trace = KeptTrace::new(self.trace()?);
        let mut told = stream.map(|stream| self.drawn(vec![stream]));
        let mut drawn = self.drawn(Windowed::new(outputs::timelines(self.staging)?));
        events.try_for_each(|event| {
            if let Some(told) = &mut told {
                told.event(event)?;
            }
            held.event(event, &mut |event, parts| {
                drawn.timeline.format_mut().take(parts);
                drawn.event(event)?;
                let written = trace.event(event, parts);
                written.map_err(|error| cannot_write(&error))
            })
        })?;
        let mut timeline = drawn.timeline;
        let mut told = told.map(|told| told.timeline);
        let timelines = Timelines(Box::new(move |observed, staging| {
            let told = told.as_mut().map(|told| told.finish(&Observed::default()));
            let written = told.unwrap_or(Ok(()));
            let written = written.and_then(|()| timeline.finish(observed));
            written.map_err(|error| cannot_write(&error))?;
            outputs::keep_timelines(timeline.format().format(), staging)
        }));
        Ok((timelines, trace))
    }

    fn drawn<F: Format>(&self, format: F) -> Drawn<'a, F> {
        let is_compiled = self.view == ControlArg::Compiled;
        Drawn {
            timeline: Timeline::new(self.metadata, Section::default(), format)
                .awaiting_observations(),
            view: is_compiled.then(|| CompiledView::new(self.metadata)),
        }
    }
}

/// A timeline of a run, with control as it is to be shown.
struct Drawn<'a, F: Format> {
    timeline: Timeline<'a, F>,
    view: Option<CompiledView>,
}

impl<F: Format> Drawn<'_, F> {
    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        match &self.view {
            Some(view) => self.timeline.event(&view.event(event.clone())),
            None => self.timeline.event(event),
        }
        .map_err(|error| cannot_write(&error))
    }
}

/// Completes timelines, and lines of events.
type Complete<'a> = dyn FnOnce(&Observed, &Staging) -> Result<(), Failure> + Send + 'a;

/// Timelines of a run that is over, and the lines of its events, which wait for what was observed.
pub struct Timelines<'a>(Box<Complete<'a>>);

impl Timelines<'_> {
    /// Completes them.
    pub fn finish(self, results: Option<&Results>, staging: &Staging) -> Result<(), Failure> {
        (self.0)(&observe::tracks(results, None, false), staging)
    }
}

/// A waveform that was read to its end.
pub struct Followed<'a> {
    pub analysis: Analysis<'a>,
    pub timelines: Timelines<'a>,
    pub observations: Option<Observations<'a>>,
}

fn in_waveform(name: &Path) -> impl Fn(SourceError) -> Failure {
    move |error| Failure::new(format!("{}: {error}", name.display()))
}

fn cannot_write(error: &io::Error) -> Failure {
    let of_events = error.get_ref();
    if let Some(error) = of_events.and_then(|error| error.downcast_ref::<events::Unwritten>()) {
        return Failure::new(error.to_string());
    }
    Failure::new(format!("cannot write to the output folder: {error}"))
}
