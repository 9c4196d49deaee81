//! What was observed in a run, for the end of a timeline: tracks of their own, which every format writes as it can.
//!
//! Knows nothing of how it was observed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use petal_metadata::SiteId;
use petal_table::{Track, TrackContent, Value};

/// What was observed, as far as a timeline shows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The tracks.
    pub tracks: Vec<Track>,
    /// The cycles that are shown.
    pub shown: Range<u64>,
    /// The cycles whose samples are shown.
    pub sampled: Range<u64>,
}

/// A line of a timeline, cut to what is shown.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'a> {
    pub name: &'a str,
    pub site: Option<SiteId>,
    pub events: Events,
    arguments: &'a [(String, Vec<Value>)],
}

impl<'a> Row<'a> {
    /// What is told of an event, by its number on the track.
    pub fn arguments(&self, number: usize) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let all = self.arguments.iter();
        let all = all.map(move |(name, values)| (name.as_str(), &values[number]));
        all.filter(|(_, value)| **value != Value::Empty)
    }
}

/// What is on a line.
#[derive(Debug, PartialEq)]
pub(super) enum Events {
    /// Each with its order and its number.
    Instants(Vec<(u64, Option<u64>, usize)>),
    /// Each with its number. None overlaps another one.
    Slices(Vec<(Range<u64>, usize)>),
    Values(Vec<(u64, f64)>),
}

impl Events {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Instants(instants) => instants.len(),
            Self::Slices(slices) => slices.len(),
            Self::Values(values) => values.len(),
        }
    }
}

impl Observed {
    /// The lines of all tracks, in their order.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for track in &self.tracks {
            let Track {
                name,
                site,
                content,
                arguments,
            } = track;
            let events = match content {
                TrackContent::Instants(cycles) => {
                    // What ends with the run happens in the cycle after the last.
                    let shown = self.shown.start..=self.shown.end;
                    let cycles = cycles.iter().zip(0..);
                    let cycles = cycles.map(|(&(cycle, order), number)| (cycle, order, number));
                    let cycles = cycles.filter(|(cycle, ..)| shown.contains(cycle));
                    vec![Events::Instants(cycles.collect())]
                }
                TrackContent::Slices(slices) => self.below_one_another(slices),
                TrackContent::Values(values) => vec![within(values, &self.shown)],
                TrackContent::Samples(values) => vec![within(values, &self.sampled)],
            };
            rows.extend(events.into_iter().map(|events| Row {
                name,
                site: *site,
                events,
                arguments,
            }));
        }
        rows
    }

    fn below_one_another(&self, slices: &[(u64, u64)]) -> Vec<Events> {
        let mut rows: Vec<Vec<(Range<u64>, usize)>> = Vec::new();
        // The rows that are free, and the others by the ends of their last slices: there may be as many as slices.
        let (mut free, mut taken) = (BTreeSet::new(), BinaryHeap::new());
        for (&(start, cycles), number) in slices.iter().zip(0..) {
            let end = start + cycles;
            if end <= self.shown.start || start >= self.shown.end {
                continue;
            }
            let slice = start.max(self.shown.start)..end.min(self.shown.end);
            while let Some(&Reverse((end, row))) = taken.peek()
                && end <= slice.start
            {
                taken.pop();
                free.insert(row);
            }
            let row = free.pop_first().unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
            }
            taken.push(Reverse((slice.end, row)));
            rows[row].push((slice, number));
        }
        rows.into_iter().map(Events::Slices).collect()
    }
}

/// The values from the first of these cycles on.
fn within(values: &[(u64, f64)], shown: &Range<u64>) -> Events {
    let first = values.partition_point(|&(cycle, _)| cycle < shown.start);
    let values = values[first.saturating_sub(1)..].iter();
    let values = values.filter(|(cycle, _)| *cycle < shown.end);
    let values = values.map(|&(cycle, value)| (cycle.max(shown.start), value));
    Events::Values(values.collect())
}
