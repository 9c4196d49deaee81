//! A timeline that is given up where it gets too long for viewers.

use std::io;
use std::ops::Range;

use super::{Changes, Format, Observed, Slice, SliceId, Track, TrackId, Whole};

/// The [`Format`] that hands on so many slices, and nothing any more once there are more: what it wrote is of no use then.
#[derive(Debug)]
pub struct Limited<F> {
    format: F,
    /// How many slices more there may be; `None` once there were too many.
    room: Option<u64>,
}

impl<F: Format> Limited<F> {
    /// Writes at most `max_slices` slices.
    pub fn new(format: F, max_slices: u64) -> Self {
        Self {
            format,
            room: Some(max_slices),
        }
    }

    /// Takes so many slices, if there is room for them.
    fn takes(&mut self, slices: u64) -> bool {
        self.room = self.room.and_then(|room| room.checked_sub(slices));
        self.room.is_some()
    }
}

impl<F: Format> Format for Limited<F> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        if self.takes(0) {
            self.format.track(track)?;
        }
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        if self.takes(0) {
            self.format.slice(id, slice)?;
        }
        Ok(())
    }

    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()> {
        if self.takes(changes.begins()) {
            self.format.changes(cycle, changes)?;
        }
        Ok(())
    }

    fn update(
        &mut self,
        slice: SliceId,
        cycles: Range<u64>,
        whole: Option<Whole>,
    ) -> io::Result<()> {
        if self.takes(1) {
            self.format.update(slice, cycles, whole)?;
        }
        Ok(())
    }

    fn shares(&mut self, track: TrackId, samples: &[(u64, f64)]) -> io::Result<()> {
        if self.takes(0) {
            self.format.shares(track, samples)?;
        }
        Ok(())
    }

    fn observed(&mut self, observed: &Observed) -> io::Result<()> {
        if self.takes(0) {
            self.format.observed(observed)?;
        }
        Ok(())
    }

    fn forget_patterns(&mut self) {
        self.format.forget_patterns();
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.takes(0) {
            self.format.finish()?;
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.room.is_some()
    }
}
