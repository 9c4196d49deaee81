//! What stands for a run that is too long for viewers: its beginning, and of the loop in which most of it passes iterations from the middle,
//! the longest one and the shortest one.

use std::collections::BTreeMap;
use std::ops::Range;

use petal_analysis::{Alike, Analysis};
use petal_table::text::thousands;

use super::Part;

/// The parts that stand for a run, in the order of their cycles, with so many slices together, about; none has cycles of another one.
pub fn excerpts(analysis: &Analysis<'_>, max_slices: u64) -> Vec<Part> {
    let run = analysis.cycles();
    let activations = analysis.activations().durations();
    let activations: u64 = activations.map(|(_, durations)| durations.count).sum();
    // As many cycles as have a third of these slices.
    let room = u128::from(run) * u128::from(max_slices) / u128::from(3 * activations.max(1));
    let room = u64::try_from(room).unwrap_or(run).clamp(1, run.max(1));
    let mut chosen = vec![(0..room, "the beginning".to_owned())];
    let loops = analysis.iterations().into_iter();
    let loops = loops.filter_map(|(name, lengths)| Loop::new(name, lengths));
    match loops
        .filter(|of| of.median.0 <= room)
        .max_by_key(Loop::cycles)
    {
        Some(most) => chosen.extend(most.parts(room)),
        None => {
            let about = "the middle of the run, which has no loop whose iterations fit";
            chosen.push((run / 2..run / 2 + room, about.to_owned()));
        }
    }
    joined(chosen, run)
}

/// A loop that goes round more than once.
struct Loop {
    name: String,
    lengths: BTreeMap<u64, Alike>,
    /// The iterations of median length.
    median: (u64, Alike),
}

impl Loop {
    fn new(name: String, lengths: BTreeMap<u64, Alike>) -> Option<Self> {
        let all: u64 = lengths.values().map(|alike| alike.count).sum();
        let mut before = 0;
        let median = lengths.iter().find(|(_, alike)| {
            before += alike.count;
            2 * before >= all
        });
        let median = median.map(|(&cycles, &alike)| (cycles, alike))?;
        (all > 1).then_some(Self {
            name,
            lengths,
            median,
        })
    }

    fn cycles(&self) -> u64 {
        let lengths = self.lengths.iter();
        lengths.map(|(cycles, alike)| cycles * alike.count).sum()
    }

    /// Its parts, with at most so many cycles each.
    fn parts(&self, room: u64) -> Vec<(Range<u64>, String)> {
        let (cycles, alike) = self.median;
        let about = format!(
            "{}, from an iteration of the median length on, {} cycles",
            self.name,
            thousands(cycles),
        );
        let shown = room / cycles.max(1) * cycles;
        let mut parts = vec![(alike.middle..alike.middle.saturating_add(shown), about)];
        let extremes = [
            ("longest", self.lengths.last_key_value()),
            ("shortest", self.lengths.first_key_value()),
        ];
        for (which, found) in extremes {
            if let Some((&length, alike)) = found.filter(|(length, _)| **length != cycles) {
                let about = format!(
                    "the {which} iteration of {}, {} cycles",
                    self.name,
                    thousands(length)
                );
                let end = alike.first.saturating_add(length.min(room));
                parts.push((alike.first..end, about));
            }
        }
        parts
    }
}

/// The parts in the order of their cycles, those that overlap as one.
fn joined(mut parts: Vec<(Range<u64>, String)>, run: u64) -> Vec<Part> {
    parts.sort_by_key(|(cycles, _)| cycles.start);
    let mut joined: Vec<(Range<u64>, String)> = Vec::new();
    for (cycles, about) in parts {
        let cycles = cycles.start..cycles.end.min(run);
        match joined.last_mut() {
            Some((last, of_last)) if cycles.start <= last.end => {
                last.end = last.end.max(cycles.end);
                *of_last = format!("{of_last}; {about}");
            }
            _ => joined.push((cycles, about)),
        }
    }
    let joined = joined.into_iter();
    joined
        .map(|(cycles, about)| Part::new(cycles, about, run))
        .collect()
}
