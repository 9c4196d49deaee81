//! What the accesses of a memory come to: what to know before it is split, banked or buffered.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Access, AccessKind, Site};
use crate::stats::{quantile, ratio};

/// How many banks a memory might have.
const BANKS: [u64; 2] = [2, 4];

/// What the accesses of a memory come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many reads there are, and of how many different words.
    pub reads: u64,
    /// See `reads`.
    pub words_read: u64,
    /// The same of writes.
    pub writes: u64,
    /// See `writes`.
    pub words_written: u64,
    /// Writes whose word was written again before anybody read it.
    pub overwritten: u64,
    /// Words that nobody read after they were written last.
    pub unread: u64,
    /// Cycles in which the memory is asked or written.
    pub in_use: u64,
    /// The most of them without a break.
    pub longest_burst: u64,
    /// How far it is from an access to the next one, most of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<Stride>,
    /// How long it takes until a word is accessed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
    /// What banks would do; none where the sizes are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub banks: Vec<Banks>,
    /// The reads and the writes of each group.
    pub groups: Vec<SiteAccesses>,
}

/// The most frequent distance from one access to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stride {
    /// Words; negative towards the beginning of the memory.
    pub words: i64,
    /// How often it is that.
    pub times: u64,
    /// Of how many distances.
    pub of: u64,
}

/// Cycles from one access of a word to its next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reuse {
    /// The fewest.
    pub min: u64,
    /// At least half of all have no more.
    pub median: u64,
    /// The most.
    pub max: u64,
}

/// How many accesses in a row banks serve at once, on average, if all keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Banks {
    /// How many banks.
    pub banks: u64,
    /// With neighbouring words in different banks.
    pub cyclic: f64,
    /// With a part of the memory in each.
    pub block: f64,
}

/// The reads or writes of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteAccesses {
    /// Reads or writes.
    pub access: AccessKind,
    /// Numbers of sites, of a group that is reached in several ways the first one; several if they access the memory at once.
    pub by: Vec<usize>,
    /// How many.
    pub count: u64,
    /// Of how many different words.
    pub words: u64,
    /// From one of them to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<Stride>,
}

impl Summary {
    /// That of a memory with so many words, if that is known, and the cycles in which it is in use: all, and the most without a break.
    pub fn of(accesses: &[Access], sites: &[Site], words: Option<u64>, usage: (u64, u64)) -> Self {
        let of = |kind| accesses.iter().filter(move |of| of.access == kind);
        let count = |kind| of(kind).count() as u64;
        let distinct = |kind| distinct(of(kind));
        let fates = fates(accesses);
        // What is read and written in one cycle is used once.
        let mut before = None;
        let uses: Vec<(u64, u64)> = accesses
            .iter()
            .filter(|of| before.replace(of.cycle) != Some(of.cycle))
            .filter_map(|of| Some((of.cycle, of.index?)))
            .collect();
        let indices: Vec<u64> = uses.iter().map(|&(_, index)| index).collect();
        let banks = words.filter(|_| !indices.is_empty());
        let banks = banks.into_iter().flat_map(|words| {
            BANKS.map(|banks| Banks {
                banks,
                cyclic: at_once(&indices, banks, |index| index % banks),
                block: at_once(&indices, banks, |index| index / words.div_ceil(banks)),
            })
        });
        Self {
            reads: count(AccessKind::Read),
            words_read: distinct(AccessKind::Read),
            writes: count(AccessKind::Write),
            words_written: distinct(AccessKind::Write),
            overwritten: fates.0,
            unread: fates.1,
            in_use: usage.0,
            longest_burst: usage.1,
            stride: Stride::of(indices.iter().copied()),
            reuse: Reuse::of(&uses),
            banks: banks.collect(),
            groups: groups(accesses, sites),
        }
    }
}

/// How many different addresses there are.
fn distinct<'a>(accesses: impl Iterator<Item = &'a Access>) -> u64 {
    let all: HashSet<&[u64]> = accesses.map(|of| &of.address[..]).collect();
    all.len() as u64
}

/// How many writes were overwritten unread, and how many words are unread in the end.
fn fates(accesses: &[Access]) -> (u64, u64) {
    let mut unread: HashSet<&[u64]> = HashSet::new();
    let mut overwritten = 0;
    for Access {
        access, address, ..
    } in accesses
    {
        match access {
            AccessKind::Read => {
                unread.remove(&address[..]);
            }
            AccessKind::Write => overwritten += u64::from(!unread.insert(address)),
        }
    }
    (overwritten, unread.len() as u64)
}

/// How many accesses are served at once on average, if those in a row that are in different banks are.
fn at_once(indices: &[u64], banks: u64, bank: impl Fn(u64) -> u64) -> f64 {
    let mut steps = 0;
    let mut taken: Vec<u64> = Vec::new();
    for &index in indices {
        let bank = bank(index);
        if taken.is_empty() || taken.contains(&bank) || taken.len() as u64 == banks {
            taken.clear();
            steps += 1;
        }
        taken.push(bank);
    }
    ratio(indices.len() as u64, steps)
}

impl Stride {
    fn of(indices: impl Iterator<Item = u64>) -> Option<Self> {
        let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
        let mut before: Option<u64> = None;
        for index in indices {
            if let Some(before) = before.replace(index) {
                let distance = index.wrapping_sub(before).cast_signed();
                *counts.entry(distance).or_default() += 1;
            }
        }
        let of = counts.values().sum();
        // Of two that are as frequent the shorter one.
        let most = counts
            .into_iter()
            .max_by_key(|&(words, times)| (times, std::cmp::Reverse(words.unsigned_abs())));
        most.map(|(words, times)| Self { words, times, of })
    }

    /// How many of all distances are it, in per cent.
    pub(super) fn share(self) -> f64 {
        100.0 * ratio(self.times, self.of)
    }
}

impl Reuse {
    fn of(uses: &[(u64, u64)]) -> Option<Self> {
        let mut last: HashMap<u64, u64> = HashMap::new();
        let mut distances = BTreeMap::new();
        for &(cycle, index) in uses {
            if let Some(before) = last.insert(index, cycle) {
                *distances.entry(cycle - before).or_insert(0) += 1;
            }
        }
        Some(Self {
            min: *distances.first_key_value()?.0,
            median: quantile(&distances, 1, 2)?,
            max: *distances.last_key_value()?.0,
        })
    }
}

/// The reads and the writes of each group, in the order in which they come first. A group that is reached in several ways is one.
fn groups(accesses: &[Access], sites: &[Site]) -> Vec<SiteAccesses> {
    type Key<'a> = (AccessKind, Vec<(&'a str, &'a str, Option<u32>)>);
    let mut numbers: HashMap<Key<'_>, usize> = HashMap::new();
    let mut known: HashMap<(AccessKind, &[usize]), usize> = HashMap::new();
    let mut all: Vec<Vec<&Access>> = Vec::new();
    for access in accesses {
        let ways = known.entry((access.access, &access.by));
        let number = *ways.or_insert_with(|| {
            let places = access.by.iter().map(|&site| {
                let site = &sites[site];
                (&*site.group, &*site.statement, site.line)
            });
            let key = (access.access, places.collect());
            let next = numbers.len();
            *numbers.entry(key).or_insert(next)
        });
        if number == all.len() {
            all.push(Vec::new());
        }
        all[number].push(access);
    }
    let groups = all.into_iter().map(|all| SiteAccesses {
        access: all[0].access,
        by: all[0].by.clone(),
        count: all.len() as u64,
        words: distinct(all.iter().copied()),
        stride: Stride::of(all.iter().filter_map(|of| of.index)),
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(cycle: u64, access: AccessKind, index: u64) -> Access {
        Access {
            cycle,
            access,
            address: vec![index],
            index: Some(index),
            data: None,
            by: Vec::new(),
        }
    }

    #[test]
    fn writes_that_nobody_reads_are_told() {
        use AccessKind::{Read, Write};
        let all = [
            access(0, Write, 3),
            access(1, Write, 3),
            access(2, Read, 3),
            access(2, Write, 3),
            access(9, Write, 1),
        ];
        let summary = Summary::of(&all, &[], Some(4), (4, 3));
        assert_eq!((summary.reads, summary.words_read), (1, 1));
        assert_eq!((summary.writes, summary.words_written), (4, 2));
        assert_eq!((summary.overwritten, summary.unread), (1, 2));
        let reuse = summary.reuse.expect("word 3 is used again");
        assert_eq!((reuse.min, reuse.median, reuse.max), (1, 1, 1));
    }

    #[test]
    fn banks_serve_neighbours_at_once() {
        let row: Vec<u64> = (0..8).collect();
        assert!((at_once(&row, 2, |index| index % 2) - 2.0).abs() < 1e-9);
        assert!((at_once(&row, 4, |index| index % 4) - 4.0).abs() < 1e-9);
        // Both halves are left one after the other: only where they meet two are served at once.
        let blocks = at_once(&row, 2, |index| index / 4);
        assert!((blocks - 8.0 / 7.0).abs() < 1e-9, "{blocks}");
        assert!(at_once(&[], 2, |index| index).abs() < 1e-9);
    }

    #[test]
    fn the_stride_is_the_most_frequent_distance() {
        let stride =
            |all: &[u64]| Stride::of(all.iter().copied()).map(|of| (of.words, of.times, of.of));
        assert_eq!(stride(&[0, 4, 8, 12, 1]), Some((4, 3, 4)));
        assert_eq!(stride(&[3, 2, 1]), Some((-1, 2, 2)));
        assert_eq!(stride(&[3]), None);
    }
}
