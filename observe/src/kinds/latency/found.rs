//! What a latency finds while a run goes by: its intervals, and which work their cycles belong to.

use std::collections::BTreeMap;

use super::open::{Beginning, Open};
use crate::look::Look;
use crate::recorded::Recording;
use crate::work::{Cycles, Work};

/// What a latency has found so far.
#[derive(Default)]
pub(super) struct Found {
    pub open: Open,
    pub intervals: Vec<(u64, u64)>,
    /// What is recorded at the beginnings and at the ends.
    pub at_start: Vec<Recording>,
    pub at_end: Vec<Recording>,
    pub histogram: BTreeMap<u64, u64>,
    /// When something ended that had not begun.
    pub unmatched: Vec<u64>,
    /// The cycles of all intervals up to `counted`, open ones as well.
    pub cycles: Cycles,
    pub counted: u64,
    pub shortest: Option<Shortest>,
}

/// The first of the shortest intervals.
pub(super) struct Shortest {
    pub start: u64,
    pub cycles: u64,
    /// What it consists of, once nobody else remembers those cycles.
    pub parts: Option<Cycles>,
}

impl Shortest {
    pub fn parts(&self, work: &Work) -> Cycles {
        let mut parts = Cycles::new();
        for (from, to, shape) in work.during(self.start, self.start + self.cycles) {
            *parts.entry(shape).or_default() += to - from;
        }
        parts
    }
}

impl Found {
    /// Counts the cycles up to this one for all that is open.
    pub fn count_to(&mut self, cycle: u64, work: &Work) {
        if self.open.count > 0 {
            for (from, to, shape) in work.during(self.counted, cycle) {
                *self.cycles.entry(shape).or_default() += (to - from) * self.open.count;
            }
        }
        self.counted = cycle;
    }

    /// Ends now what began there.
    pub fn end(&mut self, (start, values): Beginning, look: &Look<'_, '_>) {
        self.add(start, look.cycle - start);
        for (of, &bits) in self.at_start.iter_mut().zip(&values) {
            of.so_far.bits.push(bits);
        }
        // Nobody knows the values after the last cycle.
        if look.tree.is_some() {
            self.at_end.iter_mut().for_each(|of| of.record(look));
        }
    }

    fn add(&mut self, start: u64, cycles: u64) {
        *self.histogram.entry(cycles).or_default() += 1;
        self.intervals.push((start, cycles));
        let shortest = self.shortest.as_ref();
        if shortest.is_none_or(|shortest| cycles < shortest.cycles) {
            self.shortest = Some(Shortest {
                start,
                cycles,
                parts: None,
            });
        }
    }

    /// Takes back what was counted for intervals that did not end.
    pub fn leave_unfinished(&mut self, work: &Work) {
        let starts: Vec<u64> = self.open.starts().collect();
        for (at, &start) in starts.iter().enumerate() {
            let next = starts.get(at + 1).copied().unwrap_or(self.counted);
            for (from, to, shape) in work.during(start, next) {
                let counted = self.cycles.entry(shape).or_default();
                *counted -= (to - from) * (at as u64 + 1);
            }
        }
        self.cycles.retain(|_, cycles| *cycles > 0);
    }
}
