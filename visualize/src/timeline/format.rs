//! What a format of timelines gets to write: tracks, slices, and what changes from cycle to cycle.
//!
//! Owns the [`Format`] trait and the only decoder of what changes. A format that writes a slice as one
//! record implements [`WholeSliceFormat`](super::WholeSliceFormat) instead.

use std::io;
use std::ops::Range;

use super::{Observed, Slice, SliceId, Track, TrackId};

/// How a timeline is written.
pub trait Format {
    /// A new track, before anything on it. The track of a cell comes before those that it holds.
    ///
    /// # Errors
    /// These all fail when the file can't be written.
    fn track(&mut self, track: &Track) -> io::Result<()>;

    /// What the slices with this number are from now on: the next new number, or one that is given
    /// again.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()>;

    /// What changes in `cycle`, which is never before that of the changes before.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()>;

    /// A control register changes at the end of these cycles; those of a track come in the order of
    /// time. `whole` if the section has only a part of them.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn update(
        &mut self,
        slice: SliceId,
        cycles: Range<u64>,
        whole: Option<Whole>,
    ) -> io::Result<()>;

    /// The values of a track of shares, each with its first cycle, in the order of time. They are of the whole run,
    /// also where other tracks show a section. A format without counters leaves them out.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn shares(&mut self, _track: TrackId, _samples: &[(u64, f64)]) -> io::Result<()> {
        Ok(())
    }

    /// What was observed in the run, after all else. A format that has no place for it leaves it out.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn observed(&mut self, _observed: &Observed) -> io::Result<()> {
        Ok(())
    }

    /// Whether nobody needs what changes in `cycle`, nor in the cycles after it until this is asked again. Before the next change that is
    /// needed comes what is open then: [`resume`](Self::resume).
    fn rests(&self, _cycle: u64) -> bool {
        false
    }

    /// What is open and what counters are, in the place of all changes since it [rests](Self::rests).
    fn resume(&mut self, _open: Vec<Open>, _counters: Vec<(TrackId, u64)>) {}

    /// Whether an update in these cycles is needed.
    fn wants(&self, _cycles: &Range<u64>) -> bool {
        true
    }

    /// From now on, the numbers of patterns stand for other ones.
    fn forget_patterns(&mut self) {}

    /// The timeline is complete.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn finish(&mut self) -> io::Result<()>;

    /// Whether everything was written. If not, there was more than fits, and the file is of no use.
    fn is_whole(&self) -> bool {
        true
    }
}

/// A slice that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// Which.
    pub slice: SliceId,
    /// The cycle in which it began.
    pub since: u64,
    /// The number of its activation, or 0 if the trace does not tell.
    pub activation: u64,
}

/// The whole of a slice that a section cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// Its first cycle.
    pub start: u64,
    /// Its length in cycles.
    pub cycles: u64,
}

impl Whole {
    /// The detail that tells its first cycle.
    pub const START: &'static str = "cut: starts in cycle";
    /// The detail that tells its length.
    pub const CYCLES: &'static str = "cut: cycles in all";
}

/// A number for each pattern of changes that comes again and again, from 0 on.
pub type PatternId = usize;

/// What changes in one cycle: a pattern, which the run has again and again, and the numbers in it, which
/// differ from time to time.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    id: Option<PatternId>,
    pattern: &'a Pattern,
    numbers: &'a [u64],
}

/// A change on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// A slice ends. Of a track, the one that began last is the first to end.
    Ended {
        /// Which.
        slice: SliceId,
        /// How many activations it holds, where the compiler fixed the latency and they follow one
        /// another without a break; `None` where slices hold one, and 0 if the trace does not tell.
        activations: Option<u64>,
        /// The whole of it, if it is cut.
        whole: Option<Whole>,
    },
    /// A slice begins.
    Began {
        /// Which.
        slice: SliceId,
        /// The number of its first activation, from 1 on, or 0 if the trace does not tell.
        activation: u64,
        /// The flows that leave it. They lead from enables to the cells that they invoke.
        outgoing: &'a [u64],
        /// The flow that ends at it, or 0; `None` where none can.
        incoming: Option<u64>,
    },
    /// A counter has a new value.
    Counter {
        /// Its track.
        track: TrackId,
        /// The value from this cycle on.
        value: u64,
    },
}

impl<'a> Changes<'a> {
    /// The changes of a pattern with these numbers; `id` if the pattern has a number.
    pub(super) fn new(id: Option<PatternId>, pattern: &'a Pattern, numbers: &'a [u64]) -> Self {
        debug_assert_eq!(pattern.numbers(), numbers.len());
        Self {
            id,
            pattern,
            numbers,
        }
    }

    /// How many slices begin.
    pub fn begins(&self) -> u64 {
        self.pattern.begins.len() as u64
    }

    /// The number of the pattern: changes that have the same one differ in their numbers only, until
    /// [`Format::forget_patterns`]. `None` if the pattern does not come again.
    pub fn pattern(&self) -> Option<PatternId> {
        self.id
    }

    /// Whether slices end that are cut.
    pub fn is_cut(&self) -> bool {
        self.pattern.ends.iter().any(|end| end.cut)
    }

    /// What differs between changes of the same pattern: of an ended slice its activations, if it tells
    /// them, and if it is cut the first cycle and the length of the whole; of one that began its activation and its flows.
    pub fn numbers(&self) -> &'a [u64] {
        self.numbers
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.pattern.is_empty()
    }

    /// The same changes, with the whole of each slice that ends and is cut.
    pub(super) fn cut(&self, wholes: Vec<Option<Whole>>) -> (Pattern, Vec<u64>) {
        let mut pattern = self.pattern.clone();
        let mut numbers = self.numbers.to_vec();
        pattern.cut(&mut numbers, wholes);
        (pattern, numbers)
    }

    /// The changes: slices that end, slices that begin, counters.
    pub fn iter(&self) -> impl Iterator<Item = Change<'a>> + use<'a> {
        let Self {
            pattern,
            mut numbers,
            ..
        } = *self;
        // There are as many as the pattern needs.
        let mut take = move |count: usize| {
            let (taken, rest) = numbers.split_at(count);
            numbers = rest;
            taken
        };
        let all = 0..pattern.ends.len() + pattern.begins.len() + pattern.counters.len();
        all.map(move |at| {
            if let Some(end) = pattern.ends.get(at) {
                return Change::Ended {
                    slice: end.slice,
                    activations: take(usize::from(end.counted)).first().copied(),
                    whole: match take(2 * usize::from(end.cut)) {
                        &[start, cycles] => Some(Whole { start, cycles }),
                        _ => None,
                    },
                };
            }
            let at = at - pattern.ends.len();
            if let Some(begin) = pattern.begins.get(at) {
                return Change::Began {
                    slice: begin.slice,
                    activation: take(1)[0],
                    outgoing: take(begin.outgoing),
                    incoming: take(usize::from(begin.is_called)).first().copied(),
                };
            }
            let (track, value) = pattern.counters[at - pattern.begins.len()];
            Change::Counter { track, value }
        })
    }
}

/// What changes in a cycle, but for the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pattern {
    /// The slices that end: of a track, the one that began last is the first.
    pub ends: Vec<End>,
    /// The slices that begin.
    pub begins: Vec<Begin>,
    /// The counters that have a new value.
    pub counters: Vec<(TrackId, u64)>,
}

/// A slice ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub slice: SliceId,
    /// Whether it tells its activations.
    pub counted: bool,
    /// Whether it tells the whole.
    pub cut: bool,
}

/// A slice begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begin {
    pub slice: SliceId,
    /// How many flows leave it.
    pub outgoing: usize,
    /// Whether a flow may end at it.
    pub is_called: bool,
}

impl Pattern {
    /// Has the slices that end tell the whole of them, where there is one.
    pub fn cut(&mut self, numbers: &mut Vec<u64>, wholes: Vec<Option<Whole>>) {
        let before = std::mem::take(numbers);
        let mut before = before.into_iter();
        for (end, whole) in self.ends.iter_mut().zip(wholes) {
            numbers.extend(before.by_ref().take(usize::from(end.counted)));
            if let Some(Whole { start, cycles }) = whole {
                end.cut = true;
                numbers.extend([start, cycles]);
            }
        }
        numbers.extend(before);
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.begins.is_empty() && self.counters.is_empty()
    }

    /// How many numbers it takes.
    pub fn numbers(&self) -> usize {
        let begins = self.begins.iter();
        let begins = begins.map(|begin| 1 + begin.outgoing + usize::from(begin.is_called));
        let ends = self.ends.iter();
        let ends = ends.map(|end| usize::from(end.counted) + 2 * usize::from(end.cut));
        ends.sum::<usize>() + begins.sum::<usize>()
    }
}

/// Several formats at once.
impl<F: Format + ?Sized> Format for Vec<Box<F>> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        self.iter_mut().try_for_each(|format| format.track(track))
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        self.iter_mut()
            .try_for_each(|format| format.slice(id, slice))
    }

    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()> {
        self.iter_mut()
            .try_for_each(|format| format.changes(cycle, changes))
    }

    fn update(
        &mut self,
        slice: SliceId,
        cycles: Range<u64>,
        whole: Option<Whole>,
    ) -> io::Result<()> {
        self.iter_mut()
            .try_for_each(|format| format.update(slice, cycles.clone(), whole))
    }

    fn shares(&mut self, track: TrackId, samples: &[(u64, f64)]) -> io::Result<()> {
        self.iter_mut()
            .try_for_each(|format| format.shares(track, samples))
    }

    fn observed(&mut self, observed: &Observed) -> io::Result<()> {
        self.iter_mut()
            .try_for_each(|format| format.observed(observed))
    }

    fn forget_patterns(&mut self) {
        for format in self {
            format.forget_patterns();
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.iter_mut().try_for_each(|format| format.finish())
    }

    fn is_whole(&self) -> bool {
        self.iter().all(|format| format.is_whole())
    }
}
