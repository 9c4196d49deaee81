//! Probe values from an FST file, the compressed format of `GTKWave`.
//!
//! The `fst-reader` crate reads it, on a thread of its own; `layout.rs` looks before whether the file is whole. What a
//! cycle is, `cycles.rs` tells.

mod layout;

use std::cell::Cell;
use std::io::{BufRead, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fst_reader::{
    FstFilter, FstHierarchyEntry, FstReader, FstSignalHandle, FstSignalValue, ReadSignalsError,
};

use crate::cycles::Cycles;
use crate::model::Warning;
use crate::sampler::{Edge, Sampler, Targets};
use crate::signals::{Signal, SignalTable};
use crate::source::{Change, ProbeSource, SourceError};
use crate::wanted::{Scopes, Wanted};

use layout::damaged;

pub use layout::is_fst;

/// Values that are handed over at once, and how many times so many may wait.
const BATCH: usize = 4096;
const BATCHES: usize = 8;

/// A [`ProbeSource`] over an FST file.
pub struct FstSource {
    values: Values,
    cycles: Cycles,
}

/// The values of the wanted signals, in the order of time.
struct Values {
    batches: Receiver<Result<Vec<Value>, SourceError>>,
    batch: Vec<Value>,
    /// How many of the batch were taken.
    taken: usize,
    /// By the index of a signal of the file.
    targets: Vec<Targets>,
}

/// A signal of the file has a new value.
struct Value {
    time: u64,
    signal: usize,
    now: u64,
    is_unknown: bool,
}

/// An FST file whose names are read.
pub struct FstHeader<R: BufRead + Seek> {
    reader: FstReader<R>,
    scopes: Scopes<usize>,
}

impl<R: BufRead + Seek + Send + 'static> FstHeader<R> {
    /// Reads the names in `input`.
    ///
    /// # Errors
    /// When it is no whole FST file.
    pub fn read(mut input: R) -> Result<Self, SourceError> {
        layout::check(&mut input)?;
        input.seek(SeekFrom::Start(0))?;
        let mut scopes = Scopes::default();
        let reader = guarded(|| {
            let mut reader = FstReader::open(input).map_err(damaged)?;
            let add = |entry| match entry {
                FstHierarchyEntry::Scope { name, .. } => scopes.enter(name),
                FstHierarchyEntry::UpScope => scopes.leave(),
                FstHierarchyEntry::Var {
                    name,
                    handle,
                    length,
                    ..
                } => {
                    // A range such as ` [7:0]` may follow.
                    let name = name.split(' ').next().unwrap_or_default().to_owned();
                    scopes.declare(name, handle.get_index(), length);
                }
                _ => {}
            };
            reader.read_hierarchy(add).map_err(damaged)?;
            Ok(reader)
        })?;
        Ok(Self { reader, scopes })
    }

    /// The signals of the file, each with its width in bits.
    pub fn signals(&self) -> impl Iterator<Item = (Signal, u32)> + '_ {
        self.scopes.signals()
    }

    /// Finds the signals of `table`, and begins to read their values.
    ///
    /// # Errors
    /// When it is not a waveform of the design.
    pub fn source(self, table: &SignalTable) -> Result<FstSource, SourceError> {
        let mut reader = self.reader;
        let wanted = Wanted::of(&self.scopes, table)?;
        let mut targets: Vec<Targets> = Vec::new();
        for &(signal, number) in &wanted.signals {
            targets.resize_with(targets.len().max(signal + 1), Targets::new);
            targets[signal].push(number);
        }
        let signals = targets.iter().enumerate();
        let signals = signals.filter(|(_, targets)| !targets.is_empty());
        let signals = signals.map(|(signal, _)| FstSignalHandle::from_index(signal));
        let filter = FstFilter::filter_signals(signals.collect());
        let (sender, batches) = sync_channel(BATCHES);
        std::thread::spawn(move || {
            if let Err(error) = guarded(|| send(&mut reader, &filter, &sender)) {
                // Nobody receives it if the run has ended.
                let _ = sender.send(Err(error));
            }
        });
        Ok(FstSource {
            values: Values {
                batches,
                batch: Vec::new(),
                taken: 0,
                targets,
            },
            cycles: Cycles::new(table, wanted.ticks),
        })
    }
}

impl FstSource {
    /// Reads the names in `input` and finds the signals of `table` among them.
    ///
    /// # Errors
    /// When it is no whole FST file, or not one of the design.
    pub fn new(
        input: impl BufRead + Seek + Send + 'static,
        table: &SignalTable,
    ) -> Result<Self, SourceError> {
        FstHeader::read(input)?.source(table)
    }
}

/// Hands on the values of these signals, as long as someone receives them.
fn send<R: BufRead + Seek>(
    reader: &mut FstReader<R>,
    filter: &FstFilter,
    sender: &SyncSender<Result<Vec<Value>, SourceError>>,
) -> Result<(), SourceError> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut take = |time, signal: FstSignalHandle, value: FstSignalValue<'_>| {
        let (now, is_unknown) = match value {
            FstSignalValue::String(digits) => {
                digits.iter().fold((0, false), |(value, odd), digit| {
                    (
                        value << 1 | u64::from(*digit == b'1'),
                        odd || !matches!(digit, b'0' | b'1'),
                    )
                })
            }
            FstSignalValue::Real(_) => (0, true),
        };
        batch.push(Value {
            time,
            signal: signal.get_index(),
            now,
            is_unknown,
        });
        if batch.len() == BATCH {
            let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
            return sender.send(Ok(full)).map_err(|_| ());
        }
        Ok(())
    };
    match reader.read_signals(filter, &mut take) {
        Ok(()) => {
            let _ = sender.send(Ok(batch));
            Ok(())
        }
        Err(ReadSignalsError::CallbackError(())) => Ok(()),
        Err(ReadSignalsError::ReadError(error)) => Err(damaged(error)),
    }
}

impl Values {
    /// The next value; `None` at the end of the file.
    fn peek(&mut self) -> Result<Option<&Value>, SourceError> {
        while self.taken == self.batch.len() {
            match self.batches.recv() {
                Ok(batch) => self.batch = batch?,
                Err(_) => return Ok(None),
            }
            self.taken = 0;
        }
        Ok(Some(&self.batch[self.taken]))
    }

    /// Reads up to the next rising edge of the clock, leaving in the sample what held before it.
    /// `None` at the end of the file.
    fn next_edge(&mut self, sampler: &mut Sampler) -> Result<Option<Edge>, SourceError> {
        loop {
            let Some(&Value {
                time,
                signal,
                now,
                is_unknown,
            }) = self.peek()?
            else {
                return Ok(sampler.settle());
            };
            if let Some(edge) = sampler.advance(time)? {
                return Ok(Some(edge));
            }
            self.taken += 1;
            sampler.note(&self.targets[signal], now, is_unknown);
        }
    }
}

impl ProbeSource for FstSource {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        let Self { values, cycles } = self;
        cycles.next(|sampler| values.next_edge(sampler))
    }

    fn changes(&self) -> &[Change] {
        self.cycles.changes()
    }

    fn is_done(&self) -> bool {
        self.cycles.is_done()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.cycles.take_warnings()
    }
}

thread_local! {
    /// Whether a panic of this thread is one of [`guarded`], which tells of it.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the crate, which gives up on some damaged files by panicking.
fn guarded<T>(read: impl FnOnce() -> Result<T, SourceError>) -> Result<T, SourceError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                previous(info);
            }
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(false);
    result.unwrap_or_else(|_| Err(damaged("its parts contradict one another")))
}

#[cfg(test)]
mod tests;
