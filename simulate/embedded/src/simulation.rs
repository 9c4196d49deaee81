//! A run as a source of probe values.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use num_bigint::BigUint;
use petal_reconstruct::{Batch, Change, ProbeSource, Signal, SourceError, Value, Warning};

use crate::elaborate::{self, Design, Latencies, Scope};
use crate::error::{Error, Stopped};
use crate::graph::NodeId;
use crate::machine::{self, Machine, RESET_CYCLES};
use crate::observed;
use crate::program::{Context, Program};
use crate::states::StateCode;
use crate::waveform::{self, Waveform, WaveformFile};

/// How to run a design.
pub struct Options {
    /// The run ends with an error after so many cycles.
    pub cycle_limit: u64,
    /// The run ends with an error once this is set.
    pub interrupt: Arc<AtomicBool>,
    /// Whether a run that ends with an error counts as one that ends there:
    /// [`Simulation::stopped`] returns the error.
    pub partial: bool,
    /// Where to write all values of the design.
    pub waveforms: Vec<WaveformFile>,
    /// The cycles of which they are written, ascending and with gaps between them; in the gaps, nothing is known. `None`: all, with
    /// those of the reset before.
    pub kept: Option<Vec<Range<u64>>>,
    /// When states get code of their own: for speed alone.
    pub states: StateCode,
}

impl Default for Options {
    /// No limit, whole runs, no file.
    fn default() -> Self {
        Self {
            cycle_limit: u64::MAX,
            interrupt: Arc::default(),
            partial: false,
            waveforms: Vec::new(),
            kept: None,
            states: StateCode::default(),
        }
    }
}

/// What of a run can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible {
    /// The probes.
    Probes,
    /// All values, as [`Options::waveforms`] asks for.
    All,
}

/// A lowered design, compiled to machine code once for any number of runs: one after the other, or at the same
/// time on several threads. A copy shares the code.
#[derive(Clone)]
pub struct Compiled {
    machine: Arc<machine::Compiled>,
    /// The values that a waveform has, if all are visible.
    watched: Option<Vec<NodeId>>,
}

impl Compiled {
    /// Compiles `program`, which must have gone through all passes and have names that
    /// Verilog allows. `probes` are the signals to deliver.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the program has primitives that are not the standard library's,
    /// [`Error::NoSignal`] if a probe is not there.
    pub fn new(program: &Context, probes: &[Signal], visible: Visible) -> Result<Self, Error> {
        Self::observing(program, &Latencies::new(), probes, &[], visible)
    }

    /// The same, with values whose slots come after those of the probes, where these primitives are done after another number of cycles than
    /// the library's. That programs which rely on the library's compute the same is not to be expected.
    ///
    /// # Errors
    /// Those of [`Compiled::new`]; also [`Error::NoSignal`] if something is not there that a value is computed of.
    pub fn observing(
        program: &Context,
        latencies: &Latencies,
        probes: &[Signal],
        observed: &[Value],
        visible: Visible,
    ) -> Result<Self, Error> {
        let mut design = elaborate::elaborate(&Program::of(program), latencies)?;
        let mut probes = find(&design, probes)?;
        probes.extend(observed::add(&mut design, observed)?);
        let watched = (visible == Visible::All).then(|| waveform::values(&design));
        let nodes = watched.as_deref().unwrap_or_default();
        let machine = machine::Compiled::new(design, &probes, nodes)?;
        Ok(Self {
            machine: Arc::new(machine),
            watched,
        })
    }

    #[cfg(test)]
    pub(crate) fn of(machine: Arc<machine::Compiled>) -> Self {
        let watched = None;
        Self { machine, watched }
    }

    /// Prepares a run. All memories are 0 at first.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is not enough memory for those of the design, [`Error::Waveform`] if the
    /// waveform can't be written, [`Error::NotVisible`] if there is to be one, and not all values are visible.
    pub fn simulation(&self, options: Options) -> Result<Simulation, Error> {
        let waveform = match (options.waveforms, &self.watched) {
            (files, _) if files.is_empty() => None,
            (_, None) => return Err(Error::NotVisible),
            (files, Some(watched)) => {
                let reset = RESET_CYCLES as u64;
                let shift = |part: Range<u64>| part.start + reset..part.end + reset;
                let kept = options
                    .kept
                    .map(|kept| kept.into_iter().map(shift).collect());
                let waveform = Waveform::new(files, self.machine.design(), watched, kept);
                Some(waveform.map_err(Error::Waveform)?)
            }
        };
        let machine = Machine::new(
            Arc::clone(&self.machine),
            options.cycle_limit,
            options.interrupt,
            options.states,
        )?;
        Ok(Simulation {
            changes: Vec::new(),
            machine,
            waveform,
            partial: options.partial,
            started: false,
            stopped: None,
        })
    }
}

/// A run of a lowered design, compiled to machine code. It advances as [`ProbeSource::next_cycle`] is
/// called.
///
/// The design is reset for three cycles. Then `go` is high until `done` is, and all other inputs are
/// 0.
pub struct Simulation {
    machine: Machine,
    waveform: Option<Waveform>,
    /// The probes that differ from the cycle before.
    changes: Vec<Change>,
    partial: bool,
    started: bool,
    stopped: Option<Stopped>,
}

impl Simulation {
    /// Compiles `program` for one run. See [`Compiled::new`].
    ///
    /// # Errors
    /// Those of [`Compiled::new`] and [`Compiled::simulation`].
    pub fn new(program: &Context, probes: &[Signal], options: Options) -> Result<Self, Error> {
        let visible = match &options.waveforms[..] {
            [] => Visible::Probes,
            _ => Visible::All,
        };
        Compiled::new(program, probes, visible)?.simulation(options)
    }

    /// Sets words of an external memory, by their indices in row-major order, to the lowest bits of what is given. Words that
    /// are not given stay as they are: 0 at first. Indices that the memory does not have are nobody's.
    pub fn write_memory(&mut self, name: &str, words: &BTreeMap<u64, BigUint>) {
        self.machine.write_memory(name, words);
    }

    /// The words of an external memory that are not 0, by their indices in row-major order; `None` if
    /// there is no such memory.
    pub fn read_memory(&self, name: &str) -> Option<BTreeMap<u64, BigUint>> {
        self.machine.read_memory(name)
    }

    /// The ports on each combinational loop.
    pub fn loops(&self) -> &[Vec<String>] {
        self.machine.loops()
    }

    /// Runs from the beginning without a look at the probes: to its end, or into the cycle with this number. Returns the cycles before.
    ///
    /// # Errors
    /// When the run can't go on.
    pub fn run_to(&mut self, end: u64) -> Result<u64, SourceError> {
        let mut batch = Batch::default();
        let mut cycles = 0;
        while end - cycles > Batch::CYCLES as u64 {
            let goes_on = batch.refill(self)?;
            cycles += batch.len() as u64;
            if !goes_on {
                return Ok(cycles);
            }
        }
        while self.next_cycle()? && cycles < end {
            cycles += 1;
        }
        Ok(cycles)
    }

    /// Why the run ended before the design was done, if it did.
    pub fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// Writes the rest of the waveform.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish_waveform(&mut self) -> Result<(), Error> {
        let waveform = self.waveform.take();
        waveform.map_or(Ok(()), |waveform| {
            waveform.finish().map_err(Error::Waveform)
        })
    }

    fn reset(&mut self) -> Result<(), SourceError> {
        let mut written = Ok(());
        let waveform = &mut self.waveform;
        let reset = self.machine.reset(&mut |machine| {
            if let (Some(waveform), Ok(())) = (waveform.as_mut(), &written) {
                written = waveform.cycle(machine);
            }
        });
        written.map_err(failed)?;
        reset.map_err(|stopped| SourceError::Run(Box::new(stopped)))
    }
}

fn failed(error: std::io::Error) -> SourceError {
    SourceError::Run(Box::new(Error::Waveform(error)))
}

impl ProbeSource for Simulation {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        if !self.started {
            self.started = true;
            self.reset()?;
        }
        let step = self.machine.step();
        self.changes.clear();
        self.machine.changes(&mut self.changes);
        if let Some(waveform) = &mut self.waveform {
            waveform.cycle(&self.machine).map_err(failed)?;
        }
        match step {
            Ok(runs) => Ok(runs),
            Err(stopped) if self.partial => {
                self.stopped = Some(*stopped);
                Ok(false)
            }
            Err(stopped) => Err(SourceError::Run(stopped)),
        }
    }

    fn fill(&mut self, batch: &mut Batch) {
        while batch.room() > 0 {
            let did_some = self.machine.run(batch);
            if !did_some && !batch.take(self) {
                return;
            }
        }
    }

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn is_done(&self) -> bool {
        self.stopped.is_none()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.machine.take_warnings()
    }
}

/// The values behind `signals`.
fn find(design: &Design, signals: &[Signal]) -> Result<Vec<NodeId>, Error> {
    let mut scopes = HashMap::new();
    index(&design.main, &mut vec!["toplevel".to_owned()], &mut scopes);
    signals
        .iter()
        .map(|signal| {
            scopes
                .get(&signal.scope)
                .and_then(|scope| scope.get(signal.name.as_str()).copied())
                .filter(|&node| design.graph.node(node).width <= 64)
                .ok_or_else(|| Error::NoSignal(signal.to_string()))
        })
        .collect()
}

type Scopes<'a> = HashMap<Vec<String>, HashMap<&'a str, NodeId>>;

/// Adds `scope`, which is in the scopes `path`, and all below it.
fn index<'a>(scope: &'a Scope, path: &mut Vec<String>, scopes: &mut Scopes<'a>) {
    path.push(scope.name.clone());
    let signals = scope.signals.iter();
    let signals = signals.map(|(name, node)| (name.as_str(), *node)).collect();
    scopes.insert(path.clone(), signals);
    for child in &scope.children {
        index(child, path, scopes);
    }
    path.pop();
}
