//! The interface between a simulated run and reconstruction.

use std::io;

use thiserror::Error;

use crate::batch::{Batch, ListNumber};
use crate::model::Warning;
use crate::signals::SlotId;

/// Why the probe values of a run can't be had.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The waveform can't be read.
    #[error("cannot read the waveform: {0}")]
    Io(#[from] io::Error),
    /// The waveform is not what its format asks for.
    #[error("the waveform is no valid VCD (line {line}): {problem}; simulate the design again")]
    Syntax {
        /// Line, counted from 1.
        line: u64,
        /// What is wrong there.
        problem: String,
    },
    /// The waveform is a damaged FST file.
    #[error("the waveform is no valid FST: {problem}; simulate the design again")]
    Damaged {
        /// What is wrong with it.
        problem: String,
    },
    /// The waveform is the beginning of an FST file.
    #[error(
        "the waveform is an FST that is cut off, or that is still being written; simulate the design again, to its end"
    )]
    Truncated,
    /// The waveform is not of a Calyx design in petal's testbench.
    #[error(
        "the waveform has no scope `{scope}`, so it is not of a Calyx design; simulate the instrumented design, with the main component as instance `main` of a top module `toplevel`"
    )]
    Foreign {
        /// The scope that is missing.
        scope: String,
    },
    /// The waveform is of another design, or of another build of it.
    #[error(
        "the waveform and the metadata are of different builds (there is no `{marker}` in the waveform); instrument and simulate the design again"
    )]
    OtherDesign {
        /// The marker that is missing.
        marker: String,
    },
    /// Signals are missing.
    #[error(
        "the waveform lacks {missing} of {wanted} signals that petal needs, the first is `{first}`; simulate the design again with all of its signals traced"
    )]
    Missing {
        /// How many are missing.
        missing: usize,
        /// How many are needed.
        wanted: usize,
        /// The first missing one.
        first: String,
    },
    /// Time goes back.
    #[error(
        "the waveform is no valid VCD: time {time} comes after time {before}; simulate the design again"
    )]
    Backwards {
        /// The later time.
        before: u64,
        /// The earlier one, which comes after it.
        time: u64,
    },
    /// The cycles of the run can't be counted.
    #[error(
        "the waveform is odd in cycle {cycle}, which ends at time {time}: {problem}; simulate the design again, with one reset before the run and a clock that ticks evenly"
    )]
    Odd {
        /// The cycle.
        cycle: u64,
        /// The time in the waveform.
        time: u64,
        /// What is odd.
        problem: String,
    },
    /// The waveform ends before the run does.
    #[error(
        "the waveform ends after {cycles} cycles, before the design is done; simulate it to its end"
    )]
    Unfinished {
        /// Cycles of the run that are there.
        cycles: u64,
    },
    /// The run itself failed.
    #[error(transparent)]
    Run(Box<dyn std::error::Error + Send + Sync>),
}

/// A signal whose value differs from the cycle before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The signal.
    pub slot: SlotId,
    /// Its new value.
    pub value: u64,
}

/// A run, one cycle after the other.
pub trait ProbeSource {
    /// Goes to the next cycle: the first call to cycle 0. `false` when the run is over; then
    /// [`changes`](Self::changes) lead to the cycle after the last, in which `done` is high if the design
    /// [is done](Self::is_done).
    ///
    /// # Errors
    /// When the run can't be read any further.
    fn next_cycle(&mut self) -> Result<bool, SourceError>;

    /// The watched signals whose values in this cycle, settled, just before the rising edge, differ
    /// from those in the cycle before. Before cycle 0, all are 0.
    fn changes(&self) -> &[Change];

    /// Takes the next cycles: as many as the batch has room for, or those up to the end.
    fn fill(&mut self, batch: &mut Batch) {
        while batch.room() > 0 && batch.take(self) {}
    }

    /// The list that the [`changes`](Self::changes) are, if they are one that has a number.
    fn list(&self) -> Option<ListNumber> {
        None
    }

    /// Passes over the next cycles whose changes are these lists, one after the other, and of which there is nothing else to tell. Returns how
    /// many there are: as far as is known already.
    fn pass(&mut self, _lists: &[ListNumber]) -> usize {
        0
    }

    /// Whether the design was done when the run was over: not if it ended before.
    fn is_done(&self) -> bool {
        true
    }

    /// What was odd since the last call.
    fn take_warnings(&mut self) -> Vec<Warning>;
}
