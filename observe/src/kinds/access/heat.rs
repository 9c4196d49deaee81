//! Accesses by address and time, for a picture.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{AccessKind, Accesses};

/// How many parts of the run a picture has at most, how many rows one has, and how many all have together.
const COLUMNS: u64 = 72;
const ROWS: u64 = 32;
const ALL_ROWS: u64 = 48;

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
    /// Those of memories in a run of so many cycles. Where there are many, large ones have fewer rows.
    pub fn all(all: &'a [Accesses], cycles: u64) -> Vec<Self> {
        let spans = all.iter().filter_map(|of| Some((of, span(of)?)));
        let rows = |most: u64| -> u64 {
            let rows = spans
                .clone()
                .map(|(_, (first, last))| (last - first + 1).min(most));
            rows.sum()
        };
        let most = (1..=ROWS).rev().find(|&most| rows(most) <= ALL_ROWS);
        let shown = spans
            .clone()
            .take(usize::try_from(ALL_ROWS).unwrap_or(usize::MAX));
        shown
            .map(|(of, span)| Self::of(of, span, cycles, most.unwrap_or(1)))
            .collect()
    }

    fn of(of: &'a Accesses, (first, last): (u64, u64), cycles: u64, most: u64) -> Self {
        let words_each = (last - first + 1).div_ceil(most).max(1);
        let cycles_each = cycles.div_ceil(COLUMNS).max(1);
        let mut cells = BTreeMap::new();
        for access in &of.accesses {
            let Some(index) = access.index else { continue };
            let place = ((index - first) / words_each, access.cycle / cycles_each);
            let counts: &mut [u64; 2] = cells.entry(place).or_default();
            counts[usize::from(access.access == AccessKind::Write)] += 1;
        }
        Self {
            name: &of.name,
            words: [first, last + 1],
            words_each,
            cycles,
            cycles_each,
            cells: cells
                .into_iter()
                .map(|((row, column), [reads, writes])| [row, column, reads, writes])
                .collect(),
        }
    }
}

/// The first and the last word that is accessed.
fn span(of: &Accesses) -> Option<(u64, u64)> {
    let indices = of.accesses.iter().filter_map(|of| of.index);
    Some((indices.clone().min()?, indices.max()?))
}
