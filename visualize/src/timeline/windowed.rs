//! Parts of a timeline: hands on what is in some cycles, and leaves out the rest.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::format::{Begin, Change, Changes, End, Format, Open, Pattern, Whole};
use super::{Observed, Slice, SliceId, Track, TrackId};

/// The [`Format`] that hands what is in some cycles to another one. What a part cuts begins and ends with it; one that began before
/// tells the whole of it if it ends within.
#[derive(Debug)]
pub struct Windowed<F> {
    format: F,
    parts: Vec<Range<u64>>,
    /// The first part that is not over, and whether it has begun.
    at: usize,
    is_within: bool,
    /// The slices that are open, in the order in which they began.
    open: Vec<Open>,
    /// The values of counters.
    counters: BTreeMap<TrackId, u64>,
    /// How many slices were handed on.
    slices: u64,
}

impl<F: Format> Windowed<F> {
    /// Nothing so far.
    pub fn new(format: F) -> Self {
        Self {
            format,
            parts: Vec::new(),
            at: 0,
            is_within: false,
            open: Vec::new(),
            counters: BTreeMap::new(),
            slices: 0,
        }
    }

    /// Takes in the parts that begin before what comes next, as [`Held`](petal_reconstruct::Held) tells them.
    pub fn take(&mut self, parts: &[Range<u64>]) {
        // The last one may have got its end.
        self.parts.truncate(self.parts.len().saturating_sub(1));
        self.parts.extend_from_slice(&parts[self.parts.len()..]);
    }

    /// How it is written.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// How many slices were handed on.
    pub fn slices(&self) -> u64 {
        self.slices
    }

    /// Goes on up to a cycle: parts end up to it, and begin before it.
    fn go_to(&mut self, cycle: u64) -> io::Result<()> {
        while let Some(part) = self.parts.get(self.at) {
            let (start, end) = (part.start, part.end);
            if !self.is_within && start < cycle {
                self.begin(start)?;
            }
            if !self.is_within || end > cycle {
                return Ok(());
            }
            self.leave(end)?;
        }
        Ok(())
    }

    fn begin(&mut self, cycle: u64) -> io::Result<()> {
        self.is_within = true;
        self.slices += self.open.len() as u64;
        let begins = self.open.iter().map(|open| Begin {
            slice: open.slice,
            outgoing: 0,
            is_called: false,
        });
        let counters = self.counters.iter().map(|(&track, &value)| (track, value));
        let pattern = Pattern {
            ends: Vec::new(),
            begins: begins.collect(),
            counters: counters.collect(),
        };
        let numbers: Vec<u64> = self.open.iter().map(|open| open.activation).collect();
        self.format
            .changes(cycle, Changes::new(None, &pattern, &numbers))
    }

    fn leave(&mut self, cycle: u64) -> io::Result<()> {
        self.is_within = false;
        self.at += 1;
        let ends = self.open.iter().rev().map(|open| End {
            slice: open.slice,
            counted: false,
            cut: false,
        });
        let pattern = Pattern {
            ends: ends.collect(),
            begins: Vec::new(),
            // So that nothing goes on in viewers.
            counters: self.counters.keys().map(|&track| (track, 0)).collect(),
        };
        self.format
            .changes(cycle, Changes::new(None, &pattern, &[]))
    }
}

impl<F: Format> Format for Windowed<F> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        self.format.track(track)
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        self.format.slice(id, slice)
    }

    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()> {
        self.go_to(cycle)?;
        let start = self.parts.get(self.at).map(|part| part.start);
        let mut cut = Vec::new();
        for change in changes.iter() {
            match change {
                Change::Ended { slice, .. } => {
                    let at = self.open.iter().rposition(|open| open.slice == slice);
                    let began = at.map(|at| self.open.remove(at).since);
                    let before = began.filter(|began| start.is_some_and(|start| *began < start));
                    cut.push(before.map(|start| Whole {
                        start,
                        cycles: cycle - start,
                    }));
                }
                Change::Began {
                    slice, activation, ..
                } => self.open.push(Open {
                    slice,
                    since: cycle,
                    activation,
                }),
                Change::Counter { track, value } => {
                    self.counters.insert(track, value);
                }
            }
        }
        if self.is_within {
            self.slices += changes.begins();
            if cut.iter().all(Option::is_none) {
                return self.format.changes(cycle, changes);
            }
            let (pattern, numbers) = changes.cut(cut);
            let changes = Changes::new(None, &pattern, &numbers);
            return self.format.changes(cycle, changes);
        }
        if start == Some(cycle) {
            self.begin(cycle)?;
        }
        Ok(())
    }

    fn update(
        &mut self,
        slice: SliceId,
        cycles: Range<u64>,
        whole: Option<Whole>,
    ) -> io::Result<()> {
        let first = self.parts.partition_point(|part| part.end <= cycles.start);
        for part in &self.parts[first..] {
            let within = cycles.start.max(part.start)..cycles.end.min(part.end);
            if within.is_empty() {
                break;
            }
            let of = Whole {
                start: cycles.start,
                cycles: cycles.end - cycles.start,
            };
            let cut = (within != cycles).then_some(of);
            self.slices += 1;
            self.format.update(slice, within, whole.or(cut))?;
        }
        Ok(())
    }

    fn observed(&mut self, observed: &Observed) -> io::Result<()> {
        self.go_to(u64::MAX)?;
        self.format.observed(observed)
    }

    fn rests(&self, cycle: u64) -> bool {
        let next = self.parts.get(self.at);
        !self.is_within && next.is_none_or(|part| part.start > cycle)
    }

    fn resume(&mut self, open: Vec<Open>, counters: Vec<(TrackId, u64)>) {
        self.open = open;
        self.open.sort_by_key(|open| open.since);
        self.counters = counters.into_iter().collect();
    }

    fn wants(&self, cycles: &Range<u64>) -> bool {
        let next = self.parts.partition_point(|part| part.end <= cycles.start);
        let part = self.parts.get(next);
        part.is_some_and(|part| part.start < cycles.end)
    }

    fn forget_patterns(&mut self) {
        self.format.forget_patterns();
    }

    fn finish(&mut self) -> io::Result<()> {
        self.go_to(u64::MAX)?;
        self.format.finish()
    }

    fn is_whole(&self) -> bool {
        self.format.is_whole()
    }
}
