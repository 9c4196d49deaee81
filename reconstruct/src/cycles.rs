//! From the rising edges of a waveform's clock to the cycles of a run, whatever the format.
//!
//! A sample is what holds just before the clock rises: the values after all earlier timestamps,
//! without those of the timestamp at which the clock goes from 0 to 1. In a waveform with one time
//! a cycle, a signal that changes at each of them is in the clock's place. The run begins with the
//! first sample in which `go` is high and `reset` is not.

use petal_metadata::Id as _;

use crate::model::{Cycle, Warning};
use crate::sampler::{Edge, Sampler};
use crate::signals::{Signal, SignalTable, SlotId};
use crate::source::{Change, SourceError};

/// The cycles of a run while its waveform goes by.
pub(crate) struct Cycles {
    watched: Vec<Signal>,
    sampler: Sampler,
    phase: Phase,
    pace: Pace,
    /// How many there were so far.
    count: u64,
    /// The cycles after which the run ends, although the design is not done.
    pub limit: u64,
    is_done: bool,
    /// The name of `go`, and whether it was low in the run.
    go: String,
    paused: bool,
    warned: Vec<bool>,
    warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    BeforeRun,
    Running,
    Over,
}

impl Cycles {
    /// Those of a waveform with these signals, in which all values are 0 at first. `ticks`: each change of the clock
    /// is an edge.
    pub fn new(table: &SignalTable, ticks: bool) -> Self {
        let watched = table.watched.len();
        Self {
            watched: table.watched.clone(),
            sampler: Sampler::new(watched, ticks),
            phase: Phase::BeforeRun,
            pace: Pace::default(),
            count: 0,
            limit: u64::MAX,
            is_done: false,
            go: table.go.to_string(),
            paused: false,
            warned: vec![false; watched],
            warnings: Vec::new(),
        }
    }

    /// As [`ProbeSource::next_cycle`](crate::ProbeSource::next_cycle). `next_edge` reads up to the next rising edge of
    /// the clock, leaving in the sample what held before it; `None` at the end of the waveform.
    pub fn next(
        &mut self,
        mut next_edge: impl FnMut(&mut Sampler) -> Result<Option<Edge>, SourceError>,
    ) -> Result<bool, SourceError> {
        loop {
            if self.phase == Phase::Over {
                return Ok(false);
            }
            let Some(edge) = next_edge(&mut self.sampler)? else {
                return Err(SourceError::Unfinished { cycles: self.count });
            };
            let Edge {
                time,
                reset,
                go,
                done,
            } = edge;
            let odd = self.sampler.odd.take();
            if self.phase == Phase::BeforeRun {
                if reset || !go {
                    self.pace.edge = Some(time);
                    continue;
                }
                self.phase = Phase::Running;
                // Before the run there is no cycle to differ from.
                let sample = self.sampler.sample.iter().enumerate();
                self.sampler.changes = sample
                    .filter(|&(_, &value)| value != 0)
                    .map(|(slot, &value)| Change {
                        slot: SlotId::from_index(slot),
                        value,
                    })
                    .collect();
            }
            let is_reset = reset && !done;
            let odd = odd
                .or(is_reset.then_some("the design is reset in the middle of its run"))
                .map(str::to_owned)
                .or_else(|| self.pace.step(time));
            if let Some(problem) = odd {
                return Err(SourceError::Odd {
                    cycle: self.count,
                    time,
                    problem,
                });
            }
            self.warn_of_unknowns();
            if done || self.count >= self.limit {
                self.is_done = done;
                self.phase = Phase::Over;
                return Ok(false);
            }
            if !go && !std::mem::replace(&mut self.paused, true) {
                self.warnings.push(Warning {
                    cycle: Cycle::from_cycles(self.count),
                    signal: self.go.clone(),
                    text: "is low before the design is done; it may wait".to_owned(),
                });
            }
            self.count += 1;
            return Ok(true);
        }
    }

    /// How the sample of the latest cycle differs from that before.
    pub fn changes(&self) -> &[Change] {
        &self.sampler.changes
    }

    /// Whether the design was done when the run was over.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// What was odd since the last call.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    fn warn_of_unknowns(&mut self) {
        for &slot in &self.sampler.unsampled {
            let slot = slot.index();
            if !std::mem::replace(&mut self.warned[slot], true) {
                self.warnings.push(Warning {
                    cycle: Cycle::from_cycles(self.count),
                    signal: self.watched[slot].to_string(),
                    text: "is x or z; taken as 0".to_owned(),
                });
            }
        }
    }
}

/// Whether a clock ticks evenly: a waveform in which an edge is missing or too many would give a
/// profile with a cycle too few or too many.
#[derive(Debug, Default)]
struct Pace {
    /// The last edge.
    edge: Option<u64>,
    /// The time between the first two edges.
    period: Option<u64>,
}

impl Pace {
    /// What is odd about an edge at `time`. Some jitter is not: periods may be no multiples of the
    /// waveform's unit of time.
    fn step(&mut self, time: u64) -> Option<String> {
        let gap = time - self.edge.replace(time)?;
        let period = *self.period.get_or_insert(gap);
        let even = gap.saturating_mul(2) > period && gap < period.saturating_mul(2);
        (!even).then(|| format!("the cycle takes {gap} units of time, but the first one {period}"))
    }
}
