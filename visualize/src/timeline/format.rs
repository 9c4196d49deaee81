//! What a format of timelines has to write.

use std::fmt::Debug;
use std::io;

use super::{Lane, LaneId, Slice, SliceId};

/// What ends and begins in the same cycle. A run has the same changes again and again, with other
/// numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moment {
    /// The slices that end: of a row, the one that began last is the first.
    pub ends: Vec<End>,
    /// The slices that begin.
    pub begins: Vec<Begin>,
    /// The counters that have a new value.
    pub counts: Vec<(LaneId, u64)>,
}

impl Moment {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.begins.is_empty() && self.counts.is_empty()
    }
}

/// A slice ends. Its number, if it has one: how many activations it holds, more than one where the
/// compiler fixed the latency, and they follow one another without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Which.
    pub slice: SliceId,
    /// Whether it has a number. If not, it holds one activation.
    pub counted: bool,
}

/// A slice begins. Its numbers: that of its first activation, from 1 on; those of the arrows that
/// leave it; and, if it is of a cell that another one holds, that of the arrow that ends at it, or
/// 0. Arrows go from enables to the cells that they invoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin {
    /// Which.
    pub slice: SliceId,
    /// How many arrows leave it.
    pub arrows: usize,
    /// Whether an arrow may end at it.
    pub is_called: bool,
}

/// How a timeline is written.
pub trait Format {
    /// What it remembers of a moment, to write it faster the next time.
    type Memo: Debug + Default;

    /// A new row, before anything on it. The row of a cell comes before those that it holds.
    ///
    /// # Errors
    /// These all fail when the file can't be written.
    fn lane(&mut self, lane: &Lane) -> io::Result<()>;

    /// What the slices with this number are from now on: the next new number, or one that is given
    /// again.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()>;

    /// A moment in cycle `at`, which is never before that of the last one, with the numbers of its
    /// ends and its begins.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn moment(
        &mut self,
        at: u64,
        moment: &Moment,
        numbers: &[u64],
        memo: &mut Self::Memo,
    ) -> io::Result<()>;

    /// A control register changes at the end of these cycles; those of a row come in the order of
    /// time.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()>;

    /// The timeline is complete.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn finish(&mut self) -> io::Result<()>;
}

/// Two formats at once.
impl<A: Format, B: Format> Format for (A, B) {
    type Memo = (A::Memo, B::Memo);

    fn lane(&mut self, lane: &Lane) -> io::Result<()> {
        self.0.lane(lane)?;
        self.1.lane(lane)
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        self.0.slice(id, slice)?;
        self.1.slice(id, slice)
    }

    fn moment(
        &mut self,
        at: u64,
        moment: &Moment,
        numbers: &[u64],
        memo: &mut Self::Memo,
    ) -> io::Result<()> {
        self.0.moment(at, moment, numbers, &mut memo.0)?;
        self.1.moment(at, moment, numbers, &mut memo.1)
    }

    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()> {
        self.0.update(id, start, cycles)?;
        self.1.update(id, start, cycles)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()?;
        self.1.finish()
    }
}
