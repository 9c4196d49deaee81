//! Some cycles of a run, handed over at once.
//!
//! Owns how they are kept: changes that come again and again are a list with a number, which is handed over once.

use std::sync::Arc;

use crate::model::Warning;
use crate::source::{Change, ProbeSource, SourceError};

/// The number of a list of changes: the first list that a source hands over is 1. 0 is the empty one.
pub type ListNumber = u32;

/// A cycle: what changes in it is a list, and after that what is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchCycle(u64);

impl BatchCycle {
    /// `end`: the number of changes in the batch up to here that are cycles' own.
    #[must_use]
    pub fn new(list: ListNumber, end: u32) -> Self {
        Self(u64::from(end) << 32 | u64::from(list))
    }

    /// The same as one word: the end above the list's number.
    #[must_use]
    pub fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// The cycle after it that has this list, and no changes of its own.
    pub(crate) fn followed_by(self, list: ListNumber) -> Self {
        Self(self.0 & !u64::from(u32::MAX) | u64::from(list))
    }

    pub(crate) fn list(self) -> usize {
        half(self.0 & u64::from(u32::MAX))
    }

    pub(crate) fn end(self) -> usize {
        half(self.0 >> 32)
    }
}

fn half(word: u64) -> usize {
    usize::try_from(word).expect("it has 32 bits")
}

/// Some cycles of a source.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) cycles: Vec<BatchCycle>,
    /// Those that are no list's.
    pub(crate) changes: Vec<Change>,
    /// The lists that are new in this batch.
    pub(crate) lists: Vec<Arc<[Change]>>,
    /// With the number of the cycle in this batch.
    pub(crate) warnings: Vec<(usize, Vec<Warning>)>,
    /// Whether the last of the cycles is the one after the run; and whether the design was done then.
    pub(crate) ends: bool,
    pub(crate) is_done: bool,
    /// What `next_cycle` failed with after these cycles.
    pub(crate) error: Option<SourceError>,
}

impl Batch {
    /// Cycles that are handed over at once.
    pub const CYCLES: usize = 2048;

    /// Cycles that there is room for.
    #[must_use]
    pub fn room(&self) -> usize {
        Self::CYCLES.saturating_sub(self.cycles.len())
    }

    /// The cycles of the run that are there: not the one after it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cycles.len() - usize::from(self.ends)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many changes are cycles' own.
    #[must_use]
    pub fn own_changes(&self) -> usize {
        self.changes.len()
    }

    /// Whether the run goes on after these cycles.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.error.is_none() && !self.ends
    }

    /// Takes the next cycle of a source. Returns whether the run goes on.
    pub fn take(&mut self, source: &mut (impl ProbeSource + ?Sized)) -> bool {
        match source.next_cycle() {
            Ok(running) => {
                self.add_cycle(|changes| changes.extend_from_slice(source.changes()));
                self.warn(source.take_warnings());
                if !running {
                    self.ends = true;
                    self.is_done = source.is_done();
                }
            }
            Err(error) => self.error = Some(error),
        }
        self.goes_on()
    }

    /// Adds a cycle with the changes that `tell` adds.
    pub fn add_cycle(&mut self, tell: impl FnOnce(&mut Vec<Change>)) {
        tell(&mut self.changes);
        let end = u32::try_from(self.changes.len()).expect("batches are small");
        self.cycles.push(BatchCycle::new(0, end));
    }

    /// Adds cycles of the run, and the changes that are their own.
    pub fn extend(
        &mut self,
        cycles: impl IntoIterator<Item = BatchCycle>,
        changes: impl IntoIterator<Item = Change>,
    ) {
        self.cycles.extend(cycles);
        self.changes.extend(changes);
    }

    /// Adds what was odd to the last cycle.
    pub fn warn(&mut self, warnings: Vec<Warning>) {
        if let Some(cycle) = self.cycles.len().checked_sub(1)
            && !warnings.is_empty()
        {
            self.warnings.push((cycle, warnings));
        }
    }

    /// Hands over the next list.
    pub fn add_list(&mut self, list: Arc<[Change]>) {
        self.lists.push(list);
    }

    /// Takes the next cycles of a source instead of those that are there. Returns whether the run goes on.
    ///
    /// # Errors
    /// When the run can't be read any further.
    pub fn refill(
        &mut self,
        source: &mut (impl ProbeSource + ?Sized),
    ) -> Result<bool, SourceError> {
        self.clear();
        source.fill(self);
        self.error.take().map_or(Ok(!self.ends), Err)
    }

    /// Makes room for other cycles.
    pub fn clear(&mut self) {
        self.cycles.clear();
        self.changes.clear();
        self.lists.clear();
        self.warnings.clear();
        self.ends = false;
        self.error = None;
    }
}
