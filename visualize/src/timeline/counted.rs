//! A timeline that nobody draws: how many slices it would have.

use std::io;
use std::ops::Range;

use super::{Changes, Format, Slice, SliceId, Track, Whole};

/// The [`Format`] that needs nothing: [`Timeline::passed`](super::Timeline::passed) tells how many slices there are.
#[derive(Debug)]
pub struct Counted;

impl Format for Counted {
    fn track(&mut self, _track: &Track) -> io::Result<()> {
        Ok(())
    }

    fn slice(&mut self, _id: SliceId, _slice: &Slice) -> io::Result<()> {
        Ok(())
    }

    fn changes(&mut self, _cycle: u64, _changes: Changes<'_>) -> io::Result<()> {
        Ok(())
    }

    fn update(
        &mut self,
        _slice: SliceId,
        _cycles: Range<u64>,
        _whole: Option<Whole>,
    ) -> io::Result<()> {
        Ok(())
    }

    fn rests(&self, _cycle: u64) -> bool {
        true
    }

    fn wants(&self, _cycles: &Range<u64>) -> bool {
        false
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
