//! What a format of timelines has to write.

use std::io;

use super::{Lane, LaneId, Slice, SliceId};

/// How a timeline is written. Cycles never go back from one call of `begin`, `end` and `count` to
/// the next, nor from one `update` of a row to the next.
pub trait Format {
    /// A new row, before anything on it. The row of a cell comes before those that it holds.
    ///
    /// # Errors
    /// These all fail when the file can't be written.
    fn lane(&mut self, lane: &Lane) -> io::Result<()>;

    /// What the slices with this number are from now on: the next new number, or one that is given
    /// again.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()>;

    /// A slice begins. Of the slices of a row that are open, the one that began last ends first.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn begin(
        &mut self,
        _id: SliceId,
        _at: u64,
        _activation: u64,
        _flows: &Flows,
    ) -> io::Result<()> {
        Ok(())
    }

    /// The slice that began in cycle `start` was active up to cycle `at`.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn end(&mut self, id: SliceId, start: u64, at: u64, activation: Activation) -> io::Result<()>;

    /// A control register changes at the end of these cycles.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()>;

    /// A counter has a new value from this cycle on.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn count(&mut self, _lane: LaneId, _at: u64, _value: u64) -> io::Result<()> {
        Ok(())
    }

    /// The timeline is complete.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn finish(&mut self) -> io::Result<()>;
}

/// Two formats at once.
impl<A: Format, B: Format> Format for (A, B) {
    fn lane(&mut self, lane: &Lane) -> io::Result<()> {
        self.0.lane(lane)?;
        self.1.lane(lane)
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        self.0.slice(id, slice)?;
        self.1.slice(id, slice)
    }

    fn begin(&mut self, id: SliceId, at: u64, activation: u64, flows: &Flows) -> io::Result<()> {
        self.0.begin(id, at, activation, flows)?;
        self.1.begin(id, at, activation, flows)
    }

    fn end(&mut self, id: SliceId, start: u64, at: u64, activation: Activation) -> io::Result<()> {
        self.0.end(id, start, at, activation)?;
        self.1.end(id, start, at, activation)
    }

    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()> {
        self.0.update(id, start, cycles)?;
        self.1.update(id, start, cycles)
    }

    fn count(&mut self, lane: LaneId, at: u64, value: u64) -> io::Result<()> {
        self.0.count(lane, at, value)?;
        self.1.count(lane, at, value)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()?;
        self.1.finish()
    }
}

/// Which activations of its cell, statement, group or primitive a slice holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation {
    /// The number of the first one, from 1 on.
    pub first: u64,
    /// How many there are: more than one where the compiler fixed the latency, and they follow one
    /// another without a break.
    pub count: u64,
}

/// Arrows from the slice of an enable to that of the cell that it invokes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flows {
    /// The arrows that leave the slice.
    pub starts: Vec<u64>,
    /// The arrow that ends at it.
    pub ends: Option<u64>,
}

impl Flows {
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty() && self.ends.is_none()
    }
}
