//! Follows a run, simulated or in a waveform, and writes what is written on the way.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Seek as _};
use std::path::Path;
use std::sync::mpsc::channel;

use petal_analysis::sites::EventSite;
use petal_analysis::{Analysis, ControlView, CriticalPath};
use petal_metadata::Metadata;
use petal_observe::{Directory, Observations, Results, Told};
use petal_reconstruct::{
    Ahead, CompiledView, Computation, Computed, Event, Events, FstHeader, Held, Item, KeptTrace,
    Observer, ProbeSource, ReconstructError, Reconstruction, SignalTable, SourceError, TraceWriter,
    VcdHeader, is_fst,
};
use petal_visualize::outputs::{TIMELINE, TRACE};
use petal_visualize::stream::{self, EventLines, Filtered, Stream, Subscriber};
use petal_visualize::timeline::{Counted, Format, Observed, Windowed};
use petal_visualize::{Overview, Section, Timeline, excerpts};

use crate::error::{Error, Unwritten};
use crate::folder::Staging;
use crate::interrupt::Interruptible;
use crate::memories::Memories;
use crate::observations::tracks;
use crate::observing::{Observing, directory_of};
use crate::outputs;
use crate::part::{self, draw_parts};
use crate::profile::{items, reader};
use crate::reporter::{EventStream, Reporter, Stage};

/// What is known of a design whose waveform is read.
pub struct Known<'a> {
    /// What can be observed.
    pub directory: &'a Directory,
    /// The memories before the run.
    pub memories: &'a Memories,
}

/// Why a waveform was not followed to its end.
pub enum Unfollowed {
    /// The waveform is at fault.
    Waveform(Error),
    /// What is made of it is: whoever writes the waveform finds that nobody reads it any more.
    Own(Error),
}

impl From<Unfollowed> for Error {
    fn from(unfollowed: Unfollowed) -> Self {
        match unfollowed {
            Unfollowed::Waveform(error) | Unfollowed::Own(error) => error,
        }
    }
}

/// Where a profile goes.
pub struct Output<'a, 'b> {
    pub staging: &'b Staging,
    pub metadata: &'a Metadata,
    pub reconstruction: &'b Reconstruction<'a>,
    pub view: ControlView,
    /// What the profile is called.
    pub name: &'b str,
    pub cycle_limit: u64,
    pub stage: &'b dyn Stage,
    pub reporter: &'b dyn Reporter,
}

impl<'a> Output<'a, '_> {
    /// Follows a waveform in a file of either format; `name` is what errors call it.
    pub fn read_file(
        &self,
        name: &Path,
        file: File,
        observing: &Observing,
    ) -> Result<Followed<'a>, Error> {
        let mut file = BufReader::with_capacity(1 << 20, file);
        let start = file.fill_buf().map_err(Error::io("read", name))?;
        if !is_fst(start) {
            return Ok(self.read_waveform(name, file, observing, None)?);
        }
        if file.rewind().is_err() {
            return Err(Error::new(format!(
                "{}: an FST has its parts in no order, so it can't come through a pipe; write it to a file",
                name.display()
            )));
        }
        let header = FstHeader::read(file).map_err(in_waveform(name))?;
        let directory = || directory_of(header.signals());
        let observations = observing.of(self.metadata, directory)?;
        Ok(self.follow(name, observations, |table| header.source(table))?)
    }

    /// Follows a waveform as VCD, while it comes; `name` is what errors call it. `known` is what is known of the design beside what the
    /// waveform tells.
    pub fn read_waveform(
        &self,
        name: &Path,
        waveform: impl Read + Send + 'static,
        observing: &Observing,
        known: Option<&Known<'_>>,
    ) -> Result<Followed<'a>, Unfollowed> {
        let waveform = BufReader::with_capacity(1 << 20, waveform);
        let header = VcdHeader::read(waveform).map_err(unread(name))?;
        let of_waveform = || directory_of(header.signals());
        let directory = || known.map_or_else(of_waveform, |known| known.directory.clone());
        let observations = observing.of(self.metadata, directory);
        let mut observations = observations.map_err(Unfollowed::Own)?;
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
    ) -> Result<Followed<'a>, Unfollowed> {
        let table = self.reconstruction.signals();
        let followed = match &mut observations {
            None => {
                let source = source(table).map_err(unread(name))?;
                self.profile(&mut Interruptible::new(Ahead::new(source)), None)
            }
            Some(observations) => {
                let computation = Computation::of(observations.values());
                let source = source(&computation.signals(table)).map_err(unread(name))?;
                let source = Computed::new(source, computation, table);
                let mut source = Interruptible::new(Ahead::new(source));
                self.profile(&mut source, Some(observations))
            }
        };
        let (analysis, timelines) = followed.map_err(|error| match error {
            ReconstructError::Source(error) => unread(name)(error),
            ReconstructError::Sink(error) => Unfollowed::Own(error),
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
    ) -> Result<(Analysis<'a>, Timelines<'a>), ReconstructError<Error>> {
        let stream = self.stream(observations.as_deref_mut());
        let stream = stream.map_err(ReconstructError::Sink)?;
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
            observations
                .as_deref_mut()
                .map(|observations| observations as &mut dyn Observer),
            &mut |progress| {
                let active = &mut || progress.active();
                self.stage.cycle(progress.cycles(), self.metadata, active);
            },
        )?;
        if observations.is_some_and(|observations| observations.is_full()) {
            let text = "what is observed takes more memory than it may: observe less, or let `--max-memory` allow more";
            return Err(ReconstructError::Sink(Error::new(text)));
        }
        if let Some(trace) = trace {
            let figures = analysis.figures(critical.finish()).json();
            let written = trace.finish(&figures, analysis.cycles());
            written.map_err(|error| ReconstructError::Sink(cannot_write(&error)))?;
        }
        Ok((analysis, timelines))
    }

    /// Begins to tell of a run, with what is observed in it, if somebody wants to hear of it.
    fn stream(
        &self,
        observations: Option<&mut Observations<'_>>,
    ) -> Result<Option<Box<dyn Format + Send>>, Error> {
        let streams = self.reporter.events()?;
        if streams.is_empty() {
            return Ok(None);
        }
        let unwritten = |error: io::Error| cannot_write(&error);
        let subscribers = streams
            .into_iter()
            .map(|EventStream { name, filter, out }| {
                let out = BufWriter::with_capacity(1 << 16, out);
                let lines = EventLines::new(self.name, &name, filter.as_ref(), out)?;
                let subscriber: Box<dyn Subscriber + Send> = match filter {
                    Some(filter) => Box::new(Filtered::new(filter, lines)),
                    None => Box::new(lines),
                };
                Ok(subscriber)
            });
        let subscribers: io::Result<Vec<_>> = subscribers.collect();
        let subscribers = subscribers.map_err(unwritten)?;
        let (sites, observed) = match observations {
            None => (Vec::new(), None),
            Some(observations) => {
                let list = observations.list().into_iter();
                let sites: Vec<EventSite> = list
                    .map(|(kind, name)| EventSite::observed(kind, name))
                    .collect();
                let ids: Vec<_> = sites.iter().map(|site| site.id).collect();
                let (sender, observed) = channel();
                observations.tell(move |told: Told| {
                    // Whoever reads may be gone after an error, which is told elsewhere.
                    let _ = sender.send(stream::Observed {
                        cycle: told.cycle,
                        site: ids[told.observation],
                        index: told.index,
                        value: told.value,
                        name: told.name,
                        recorded: told.recorded,
                    });
                });
                (sites, Some(observed))
            }
        };
        let stream = Stream::new(self.metadata, &sites, observed, subscribers);
        Ok(Some(Box::new(stream.map_err(unwritten)?)))
    }

    fn trace(&self) -> Result<TraceWriter<BufWriter<File>>, Error> {
        let trace = outputs::create(&self.staging.path(TRACE))?;
        TraceWriter::new(trace, &self.metadata.fingerprint).map_err(|error| cannot_write(&error))
    }

    /// Analyses the events that come. If the trace has not all of them, follows the critical path, which can't be had from it later. The
    /// events of a run that failed end early.
    fn analyse(
        &self,
        events: Events,
        is_whole: bool,
    ) -> Result<(Analysis<'a>, CriticalPath<'a>), Error> {
        let mut analysis = Analysis::new(self.metadata, self.view);
        let mut critical = CriticalPath::new(self.metadata);
        events.try_for_each_item(|item| {
            analysis.item(item);
            if is_whole {
                return Ok(());
            }
            item.try_for_each(|event| {
                critical.event(event);
                Ok::<(), Error>(())
            })
        })?;
        Ok((analysis, critical))
    }

    /// Writes the events that come to the trace, tells of them, and counts what they are on a timeline. The timelines are drawn from the trace,
    /// once it is known how much of the run they have.
    fn draw(
        &self,
        events: Events,
        stream: Option<Box<dyn Format + Send>>,
    ) -> Result<Timelines<'a>, Error> {
        let mut trace = self.trace()?;
        let mut told = stream.map(|stream| self.drawn(vec![stream]));
        let mut counted = self.drawn(Counted);
        let mut overview = Overview::new(self.metadata);
        events.try_for_each_item(|item| {
            if let Some(told) = &mut told {
                item.try_for_each(|event| told.event(event))?;
            }
            trace.item(item).map_err(|error| cannot_write(&error))?;
            overview.item(item);
            counted.item(item)
        })?;
        let (metadata, view) = (self.metadata, self.view);
        let slices = counted.timeline.passed();
        let mut told = told.map(|told| told.timeline);
        Ok(Timelines(Box::new(move |observed, staging, analysis| {
            let told = told.as_mut().map(|told| told.finish(observed));
            told.unwrap_or(Ok(()))
                .map_err(|error| cannot_write(&error))?;
            let path = staging.path(TRACE);
            let read = &mut |take: &mut dyn FnMut(&Item) -> Result<(), Error>| {
                let file = File::open(&path).map_err(Error::io("read the trace", &path))?;
                items(reader(file, &path, metadata)?, metadata, view, take)
            };
            if slices > outputs::MAX_SLICES {
                let parts = excerpts(analysis, part::MAX_SLICES);
                let out = staging.path(TIMELINE);
                draw_parts(metadata, read, (&overview, &parts), observed, &out)?;
                return Ok(false);
            }
            let formats = outputs::timelines(staging)?;
            let timeline = Timeline::new(metadata, Section::default(), formats);
            let mut timeline = timeline.awaiting_observations();
            read(&mut |item| timeline.item(item).map_err(|error| cannot_write(&error)))?;
            let written = timeline.finish(observed);
            written.map_err(|error| cannot_write(&error))?;
            outputs::keep_timelines(timeline.format(), staging)?;
            Ok(true)
        })))
    }

    /// Draws those of the events that come that are kept, and writes them to the trace, which is to be completed. Tells of all.
    fn draw_kept(
        &self,
        events: Events,
        mut held: Held,
        stream: Option<Box<dyn Format + Send>>,
    ) -> Result<(Timelines<'a>, KeptTrace<BufWriter<File>>), Error> {
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
        let timelines = Timelines(Box::new(move |observed, staging, _| {
            let told = told.as_mut().map(|told| told.finish(&Observed::default()));
            let written = told.unwrap_or(Ok(()));
            let written = written.and_then(|()| timeline.finish(observed));
            written.map_err(|error| cannot_write(&error))?;
            outputs::keep_timelines(timeline.format().format(), staging)?;
            Ok(true)
        }));
        Ok((timelines, trace))
    }

    fn drawn<F: Format>(&self, format: F) -> Drawn<'a, F> {
        let is_compiled = self.view == ControlView::Compiled;
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
    fn item(&mut self, item: &Item) -> Result<(), Error> {
        match &self.view {
            Some(view) => self.timeline.item(&view.item(item.clone())),
            None => self.timeline.item(item),
        }
        .map_err(|error| cannot_write(&error))
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        match &self.view {
            Some(view) => self.timeline.event(&view.event(event.clone())),
            None => self.timeline.event(event),
        }
        .map_err(|error| cannot_write(&error))
    }
}

/// Completes timelines, and lines of events; returns whether the timeline has the whole run.
type Complete<'a> =
    dyn FnOnce(&Observed, &Staging, &Analysis<'_>) -> Result<bool, Error> + Send + 'a;

/// Timelines of a run that is over, and the lines of its events, which wait for what was observed.
pub struct Timelines<'a>(Box<Complete<'a>>);

impl Timelines<'_> {
    /// Completes them; returns whether they have the whole run.
    pub fn finish(
        self,
        results: Option<&Results>,
        staging: &Staging,
        analysis: &Analysis<'_>,
    ) -> Result<bool, Error> {
        (self.0)(&tracks(results, None, false), staging, analysis)
    }
}

/// A waveform that was read to its end.
pub struct Followed<'a> {
    pub analysis: Analysis<'a>,
    pub timelines: Timelines<'a>,
    pub observations: Option<Observations<'a>>,
}

fn unread(name: &Path) -> impl Fn(SourceError) -> Unfollowed {
    move |error| Unfollowed::Waveform(in_waveform(name)(error))
}

pub fn in_waveform(name: &Path) -> impl Fn(SourceError) -> Error {
    move |error| Error::new(format!("{}: {error}", name.display()))
}

fn cannot_write(error: &io::Error) -> Error {
    let of_events = error.get_ref();
    if let Some(error) = of_events.and_then(|error| error.downcast_ref::<Unwritten>()) {
        return Error::new(error.to_string());
    }
    Error::new(format!("cannot write to the output folder: {error}"))
}
