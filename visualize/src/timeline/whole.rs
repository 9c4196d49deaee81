//! Whole slices: pairs begins with ends, for formats that write a slice as one record.

use std::io;
use std::ops::Range;

use super::{Change, Changes, Format, Observed, Slice, SliceId, Track, Whole};

/// A slice from its begin to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeSlice {
    /// What it is a slice of.
    pub slice: SliceId,
    /// The cycles in which it was active.
    pub cycles: Range<u64>,
    /// The numbers of the activations that it holds, from 1 on, or `0..0` if the trace does not tell; `None` for the
    /// update of a control register.
    pub activations: Option<Range<u64>>,
    /// The whole of it, if it is cut.
    pub whole: Option<Whole>,
}

/// How a timeline of whole slices is written. Counters and flows are left out.
pub trait WholeSliceFormat {
    /// As [`Format::track`].
    ///
    /// # Errors
    /// These all fail when the file can't be written.
    fn track(&mut self, track: &Track) -> io::Result<()>;

    /// As [`Format::slice`].
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()>;

    /// A slice that has ended, in the order of ends. Of those that end in the same cycle, the outer ones
    /// come first.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn whole_slice(&mut self, slice: &WholeSlice) -> io::Result<()>;

    /// As [`Format::observed`].
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn observed(&mut self, _observed: &Observed) -> io::Result<()> {
        Ok(())
    }

    /// The timeline is complete.
    #[expect(clippy::missing_errors_doc, reason = "above")]
    fn finish(&mut self) -> io::Result<()>;
}

/// How many slices wait at most.
const MAX_WAITING: usize = 1 << 17;

/// The [`Format`] that hands whole slices to a [`WholeSliceFormat`].
#[derive(Debug)]
pub struct WholeSlices<F> {
    format: F,
    /// How many slices may be written, and whether there were more.
    max_slices: u64,
    is_whole: bool,
    /// The slices that are not written yet, since there may be too many, and how many are.
    waiting: Vec<WholeSlice>,
    written: u64,
    /// Where each slice began last, and the number of its first activation.
    began: Vec<(u64, u64)>,
    /// The slices that end in the same cycle, inner ones first.
    ending: Vec<WholeSlice>,
}

impl<F: WholeSliceFormat> WholeSlices<F> {
    /// Writes at most `max_slices` slices.
    pub fn new(format: F, max_slices: u64) -> Self {
        Self {
            format,
            max_slices,
            is_whole: true,
            waiting: Vec::new(),
            written: 0,
            began: Vec::new(),
            ending: Vec::new(),
        }
    }

    /// How slices are written.
    pub fn format_mut(&mut self) -> &mut F {
        &mut self.format
    }

    /// The slices that end in the same cycle are complete.
    fn take_ending(&mut self) -> io::Result<()> {
        while let Some(slice) = self.ending.pop() {
            self.take(slice)?;
        }
        Ok(())
    }

    /// Takes the next slice, unless there is no room for it.
    fn take(&mut self, slice: WholeSlice) -> io::Result<()> {
        if self.written + self.waiting.len() as u64 == self.max_slices {
            self.is_whole = false;
            self.waiting = Vec::new();
        }
        if self.is_whole {
            self.waiting.push(slice);
        }
        if self.waiting.len() == MAX_WAITING {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the slices that wait.
    fn write(&mut self) -> io::Result<()> {
        self.written += self.waiting.len() as u64;
        self.waiting
            .drain(..)
            .try_for_each(|slice| self.format.whole_slice(&slice))
    }
}

impl<F: WholeSliceFormat> Format for WholeSlices<F> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        self.format.track(track)
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        if !self.is_whole {
            return Ok(());
        }
        if id == self.began.len() {
            self.began.push((0, 0));
        } else {
            // Those that wait are what it was.
            self.write()?;
        }
        self.format.slice(id, slice)
    }

    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()> {
        if !self.is_whole {
            return Ok(());
        }
        if self
            .ending
            .last()
            .is_some_and(|last| last.cycles.end != cycle)
        {
            self.take_ending()?;
        }
        for change in changes.iter() {
            match change {
                Change::Ended {
                    slice,
                    activations,
                    whole,
                } => {
                    let (start, first) = self.began[slice];
                    self.ending.push(WholeSlice {
                        slice,
                        cycles: start..cycle,
                        activations: Some(match first {
                            0 => 0..0,
                            _ => first..first + activations.unwrap_or(1),
                        }),
                        whole,
                    });
                }
                Change::Began {
                    slice, activation, ..
                } => self.began[slice] = (cycle, activation),
                Change::Counter { .. } => {}
            }
        }
        Ok(())
    }

    fn update(
        &mut self,
        slice: SliceId,
        cycles: Range<u64>,
        whole: Option<Whole>,
    ) -> io::Result<()> {
        if !self.is_whole {
            return Ok(());
        }
        self.take(WholeSlice {
            slice,
            cycles,
            activations: None,
            whole,
        })
    }

    /// Each event counts as a slice.
    fn observed(&mut self, observed: &Observed) -> io::Result<()> {
        self.take_ending()?;
        self.write()?;
        let rows = observed.rows();
        let events: u64 = rows.iter().map(|row| row.events.len() as u64).sum();
        if self.written.saturating_add(events) > self.max_slices {
            self.is_whole = false;
        }
        if self.is_whole {
            self.format.observed(observed)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.take_ending()?;
        self.write()?;
        self.format.finish()
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::{Begin, End, Pattern};
    use super::*;

    /// What is written: slice, first cycle, end.
    #[derive(Default)]
    struct List(Vec<(SliceId, u64, u64)>);

    impl WholeSliceFormat for List {
        fn track(&mut self, _: &Track) -> io::Result<()> {
            Ok(())
        }

        fn slice(&mut self, _: SliceId, _: &Slice) -> io::Result<()> {
            Ok(())
        }

        fn whole_slice(&mut self, slice: &WholeSlice) -> io::Result<()> {
            let cycles = &slice.cycles;
            self.0.push((slice.slice, cycles.start, cycles.end));
            Ok(())
        }

        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Slice 0 holds slice 1 in cycles 2 to 4; then slice 1 comes alone.
    fn written(max_slices: u64) -> WholeSlices<List> {
        let mut slices = WholeSlices::new(List::default(), max_slices);
        for id in 0..2 {
            let slice = Slice {
                track: 1,
                name: String::new(),
                path: String::new(),
                category: "group",
                is_update: false,
                site: None,
                details: Vec::new(),
            };
            slices.slice(id, &slice).unwrap();
        }
        let steps: [(u64, &[SliceId], &[SliceId]); 4] = [
            (2, &[], &[0, 1]),
            (5, &[1, 0], &[1]),
            (6, &[1], &[]),
            (9, &[], &[]),
        ];
        for (cycle, ends, begins) in steps {
            let end = |&slice| End {
                slice,
                counted: false,
                cut: false,
            };
            let begin = |&slice| Begin {
                slice,
                outgoing: 0,
                is_called: false,
            };
            let pattern = Pattern {
                ends: ends.iter().map(end).collect(),
                begins: begins.iter().map(begin).collect(),
                counters: Vec::new(),
            };
            let numbers = vec![1; begins.len()];
            let changes = Changes::new(None, &pattern, &numbers);
            slices.changes(cycle, changes).unwrap();
        }
        slices.finish().unwrap();
        slices
    }

    #[test]
    fn begins_have_their_ends_and_outer_slices_come_first() {
        let all = written(3);
        assert_eq!(all.format.0, [(0, 2, 5), (1, 2, 5), (1, 5, 6)]);
        assert!(all.is_whole());
    }

    #[test]
    fn more_slices_than_fit_are_told_and_not_written() {
        let some = written(2);
        assert_eq!(some.format.0, []);
        assert!(!some.is_whole());
    }
}
