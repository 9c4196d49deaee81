//! Accesses by address and time, for a picture.

use serde::Serialize;

use super::{AccessKind, Accesses};

/// How many parts of the run a picture has at most, how many rows one has, and how many all have together.
const COLUMNS: u64 = 96;
const ROWS: u64 = 48;
const ALL_ROWS: u64 = 64;

/// How often which words of a memory were accessed when.
#[derive(Serialize)]
pub(crate) struct Heat<'a> {
    name: &'a str,
    /// The first word and the one after the last, and how many are in a row.
    words: [u64; 2],
    words_each: u64,
    cycles: u64,
    /// How many are in a column.
    cycles_each: u64,
    /// Row, column, reads and writes, where there are any.
    cells: Vec<[u64; 4]>,
}

impl<'a> Heat<'a> {
    /// Those of memories in a run of so many cycles. More memories have fewer rows each.
    pub fn all(all: &'a [Accesses], cycles: u64) -> Vec<Self> {
        let used = all.iter().filter(|of| !of.accesses.is_empty());
        let most = (ALL_ROWS / (used.clone().count() as u64).max(1)).clamp(1, ROWS);
        let shown = used.take(usize::try_from(ALL_ROWS).unwrap_or(usize::MAX));
        shown.filter_map(|of| Self::of(of, cycles, most)).collect()
    }

    fn of(of: &'a Accesses, cycles: u64, most: u64) -> Option<Self> {
        let indices = of.accesses.iter().filter_map(|of| of.index);
        let first = indices.clone().min()?;
        let last = indices.max()?;
        let words_each = (last - first + 1).div_ceil(most).max(1);
        let cycles_each = cycles.div_ceil(COLUMNS).max(1);
        let mut cells = std::collections::BTreeMap::new();
        for access in &of.accesses {
            let Some(index) = access.index else { continue };
            let place = ((index - first) / words_each, access.cycle / cycles_each);
            let counts: &mut [u64; 2] = cells.entry(place).or_default();
            counts[usize::from(access.access == AccessKind::Write)] += 1;
        }
        Some(Self {
            name: &of.name,
            words: [first, last + 1],
            words_each,
            cycles,
            cycles_each,
            cells: cells
                .into_iter()
                .map(|((row, column), [reads, writes])| [row, column, reads, writes])
                .collect(),
        })
    }
}
