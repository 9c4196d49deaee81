//! The values of the wanted signals while a waveform goes by, and the samples that are taken of them: what
//! holds just before each rising edge of the clock.
//!
//! Knows times and values; knows nothing of how they are written in a file, or of a run.

use std::cmp::Ordering;

use petal_metadata::Id as _;

use crate::signals::SlotId;
use crate::source::{Change, SourceError};

/// A rising edge of the clock, with `reset`, `go` and `done` just before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub time: u64,
    pub reset: bool,
    pub go: bool,
    pub done: bool,
}

/// Wanted signals by number: four that are always there, then the watched ones.
pub(crate) const CLOCK: usize = 0;
pub(crate) const RESET: usize = 1;
pub(crate) const GO: usize = 2;
pub(crate) const DONE: usize = 3;
const WATCHED: usize = 4;

/// What one signal of a waveform is wanted for: several signals of a design may be one there.
pub(crate) type Targets = Vec<usize>;

/// The number of a watched signal.
pub(crate) fn number_of(slot: SlotId) -> usize {
    WATCHED + slot.index()
}

/// The watched signal with this number, which must be one's.
fn slot_of(number: usize) -> SlotId {
    SlotId::from_index(number - WATCHED)
}

/// The values of the wanted signals.
#[derive(Default)]
pub(crate) struct Sampler {
    /// Whether each change of the clock is an edge.
    ticks: bool,
    /// The timestamp that is being read.
    time: u64,
    /// The clock in the timestamp that is being read, and how many times it changed.
    clock: u64,
    toggles: u32,
    /// What makes the next edge doubtful.
    pub odd: Option<&'static str>,
    /// Changes of the timestamp that is being read: number, value, whether it is x or z.
    pending: Vec<(usize, u64, bool)>,
    settled: Vec<u64>,
    unknown: Vec<bool>,
    unknowns: usize,
    /// The watched signals that were x or z just before the last rising edge.
    pub unsampled: Vec<SlotId>,
    /// Numbers of watched signals that may differ from the sample.
    dirty: Vec<usize>,
    is_dirty: Vec<bool>,
    /// Watched values just before the last rising edge, and how they differ from those before it.
    pub sample: Vec<u64>,
    pub changes: Vec<Change>,
}

impl Sampler {
    /// All values are 0. `ticks`: each change of the clock is an edge.
    pub fn new(watched: usize, ticks: bool) -> Self {
        Self {
            ticks,
            settled: vec![0; WATCHED + watched],
            unknown: vec![false; WATCHED + watched],
            is_dirty: vec![false; WATCHED + watched],
            sample: vec![0; watched],
            ..Self::default()
        }
    }

    /// Takes in a value of the signals `targets`.
    pub fn note(&mut self, targets: &Targets, value: u64, unknown: bool) {
        let value = if unknown { 0 } else { value };
        for &number in targets {
            if number == CLOCK {
                if unknown {
                    self.odd = Some("the clock is x or z");
                }
                self.toggles += u32::from(value != self.clock);
                self.clock = value;
            }
            self.pending.push((number, value, unknown));
        }
    }

    /// Goes on to the timestamp `time`. If the clock rose in the one before, takes the sample from
    /// before that.
    pub fn advance(&mut self, time: u64) -> Result<Option<Edge>, SourceError> {
        match time.cmp(&self.time) {
            Ordering::Less => Err(SourceError::Backwards {
                before: self.time,
                time,
            }),
            Ordering::Equal => Ok(None),
            Ordering::Greater => {
                let edge = self.settle();
                self.time = time;
                Ok(edge)
            }
        }
    }

    /// Ends a timestamp.
    pub fn settle(&mut self) -> Option<Edge> {
        if self.pending.is_empty() {
            return None;
        }
        if std::mem::take(&mut self.toggles) > 1 {
            self.odd = Some("the clock changes more than once at one time");
        }
        for (number, odd) in [(RESET, "`reset` is x or z"), (DONE, "`done` is x or z")] {
            if self.unknown[number] {
                self.odd = Some(odd);
            }
        }
        let rises = self.clock != self.settled[CLOCK] && (self.ticks || self.clock == 1);
        let edge = rises.then(|| Edge {
            time: self.time,
            reset: self.settled[RESET] == 1,
            go: self.settled[GO] == 1,
            done: self.settled[DONE] == 1,
        });
        if rises {
            self.unsampled.clear();
            if self.unknowns > 0 {
                let numbers = WATCHED..self.unknown.len();
                let unknown = numbers.filter(|&number| self.unknown[number]);
                self.unsampled.extend(unknown.map(slot_of));
            }
            self.changes.clear();
            for number in self.dirty.drain(..) {
                self.is_dirty[number] = false;
                let value = self.settled[number];
                let slot = slot_of(number);
                let sampled = &mut self.sample[slot.index()];
                if *sampled != value {
                    *sampled = value;
                    self.changes.push(Change { slot, value });
                }
            }
        }
        for (number, value, unknown) in self.pending.drain(..) {
            self.settled[number] = value;
            if self.unknown[number] != unknown {
                self.unknown[number] = unknown;
                self.unknowns = if unknown {
                    self.unknowns + 1
                } else {
                    self.unknowns - 1
                };
            }
            if number >= WATCHED && !self.is_dirty[number] {
                self.is_dirty[number] = true;
                self.dirty.push(number);
            }
        }
        edge
    }
}
