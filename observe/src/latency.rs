//! Latencies: from one event to another, in the order of the beginnings or by a tag.
//!
//! Whatever happens in a run is looked at a fixed number of times, however many intervals are open.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::blame::blame;
use crate::collect::Look;
use crate::results::{self, quantile};
use crate::work::{Cycles, Work};

pub(crate) struct Latency {
    pub name: String,
    pub when: String,
    pub from: usize,
    pub to: usize,
    /// The tags at the beginning and at the end.
    pub tags: Option<(usize, usize)>,
    /// Whether it ends with the run, if that comes to its end: something that is active does.
    pub ends_with_run: bool,
    /// Whether ends without a beginning are nothing to tell: `done` may be high longer than it needs to.
    pub is_handshake: bool,
    /// Its number among the latencies.
    pub number: usize,
    pub found: Found,
}

/// What a latency has found so far.
#[derive(Default)]
pub(crate) struct Found {
    open: Open,
    intervals: Vec<(u64, u64)>,
    histogram: BTreeMap<u64, u64>,
    unmatched: u64,
    /// The cycles of all intervals up to `counted`, open ones as well.
    cycles: Cycles,
    counted: u64,
    shortest: Option<Shortest>,
}

/// The first of the shortest intervals.
struct Shortest {
    start: u64,
    cycles: u64,
    /// What it consists of, once nobody else remembers those cycles.
    parts: Option<Cycles>,
}

impl Shortest {
    fn parts(&self, work: &Work) -> Cycles {
        let mut parts = Cycles::new();
        for (from, to, shape) in work.during(self.start, self.start + self.cycles) {
            *parts.entry(shape).or_default() += to - from;
        }
        parts
    }
}

/// What began and did not end.
#[derive(Default)]
struct Open {
    /// The first cycle of each, in the order of the beginnings; `None` of those that have ended.
    began: VecDeque<Option<u64>>,
    /// The number of the first of these.
    first: usize,
    /// How many have not ended.
    count: u64,
    of_tag: HashMap<u64, VecDeque<usize>>,
}

impl Open {
    fn begin(&mut self, cycle: u64, tag: u64) {
        let number = self.first + self.began.len();
        self.began.push_back(Some(cycle));
        self.of_tag.entry(tag).or_default().push_back(number);
        self.count += 1;
    }

    /// Ends the first that has this tag: the cycle in which it began.
    fn end(&mut self, tag: u64) -> Option<u64> {
        let with_tag = self.of_tag.get_mut(&tag)?;
        let number = with_tag.pop_front();
        if with_tag.is_empty() {
            self.of_tag.remove(&tag);
        }
        let start = self.began[number? - self.first].take();
        while let Some(None) = self.began.front() {
            self.began.pop_front();
            self.first += 1;
        }
        self.count -= 1;
        start
    }

    fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.began.iter().copied().flatten()
    }
}

impl Latency {
    pub fn look(&mut self, look: &Look<'_, '_>) -> bool {
        let begins = look.tree.is_some() && look.values[self.from] != 0;
        let may_end = look.tree.is_some() || (self.ends_with_run && look.is_done);
        let ends = may_end && look.values[self.to] != 0;
        let found = &mut self.found;
        if begins || ends || look.tree.is_none() {
            found.count_to(look.cycle, look.work);
        }
        if begins {
            let tag = self.tags.map_or(0, |(from, _)| look.values[from]);
            found.open.begin(look.cycle, tag);
        }
        if ends {
            let tag = self.tags.map_or(0, |(_, to)| look.values[to]);
            match found.open.end(tag) {
                Some(start) => found.add(start, look.cycle - start),
                None if look.tree.is_some() && !self.is_handshake => found.unmatched += 1,
                None => {}
            }
        }
        begins || ends
    }

    /// How many intervals there are.
    pub fn kept(&self) -> usize {
        self.found.intervals.len()
    }

    /// From which cycle on it needs to know what was active, if somebody else knows of the shortest interval.
    pub fn needs_since(&self) -> Option<u64> {
        self.found.open.starts().next()
    }

    /// Keeps what it needs of the cycles before this one, which are about to be forgotten.
    pub fn keep(&mut self, before: u64, work: &Work) {
        self.found.count_to(before.max(self.found.counted), work);
        let shortest = self.found.shortest.as_mut();
        if let Some(shortest) = shortest.filter(|of| of.parts.is_none() && of.start < before) {
            shortest.parts = Some(shortest.parts(work));
        }
    }

    /// What it found in a run that is over.
    pub fn results(mut self, work: &Work) -> results::Latency {
        self.found.leave_unfinished(work);
        let Found {
            open,
            intervals,
            histogram,
            unmatched,
            cycles,
            shortest,
            ..
        } = self.found;
        let count = intervals.len() as u64;
        let total: u64 = intervals.iter().map(|(_, cycles)| cycles).sum();
        let min = shortest.as_ref().map(|of| of.cycles);
        let shortest = shortest.map(|of| match of.parts {
            Some(parts) => parts,
            None => of.parts(work),
        });
        let is_stall = |shape: usize| work.is_stall(shape, self.number);
        let stall = cycles.iter().filter(|(shape, _)| is_stall(**shape));
        results::Latency {
            name: self.name,
            when: self.when,
            count,
            min,
            median: quantile(&histogram, 1, 2),
            p99: quantile(&histogram, 99, 100),
            max: histogram.keys().next_back().copied(),
            total,
            unfinished: open.count,
            unmatched,
            over_shortest: total - min.unwrap_or(0) * count,
            stall: stall.map(|(_, cycles)| cycles).sum(),
            blame: blame(
                work,
                self.number,
                &cycles,
                &shortest.unwrap_or_default(),
                count,
            ),
            histogram,
            intervals,
        }
    }
}

impl Found {
    /// Counts the cycles up to this one for all that is open.
    fn count_to(&mut self, cycle: u64, work: &Work) {
        if self.open.count > 0 {
            for (from, to, shape) in work.during(self.counted, cycle) {
                *self.cycles.entry(shape).or_default() += (to - from) * self.open.count;
            }
        }
        self.counted = cycle;
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
    fn leave_unfinished(&mut self, work: &Work) {
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

#[cfg(test)]
mod tests {
    use super::Open;

    #[test]
    fn ends_find_the_first_beginning_of_their_tag() {
        let mut open = Open::default();
        for (cycle, tag) in [(0, 7), (1, 8), (2, 7), (3, 9)] {
            open.begin(cycle, tag);
        }
        assert_eq!(open.end(8), Some(1));
        assert_eq!(open.end(8), None);
        assert_eq!(open.end(7), Some(0));
        assert_eq!(open.end(7), Some(2));
        assert_eq!((open.count, open.starts().next()), (1, Some(3)));
    }

    #[test]
    fn what_has_ended_is_forgotten_whatever_the_order() {
        // As many looks as there are beginnings: what is kept goes from the oldest open one to the latest.
        let mut open = Open::default();
        for number in 0..1000 {
            open.begin(number, number);
        }
        for number in (1..1000).rev() {
            assert_eq!(open.end(number), Some(number));
        }
        assert_eq!((open.began.len(), open.of_tag.len()), (1000, 1));
        assert_eq!(open.end(0), Some(0));
        assert!(open.began.is_empty() && open.of_tag.is_empty());
    }
}
