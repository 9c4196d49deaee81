//! What was observed in two runs, side by side: latencies, counters, memories, checkpoints, and the order of their stamps.
//!
//! An observation is the same in both runs if it has the same name: what it is of may have changed its place.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::rows::Change;
use crate::baseline::{AccessFigures, Baseline, CheckpointFigures, CounterFigures, LatencyFigures};

/// A number of an observation before and after; `None` where a run does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Measure {
    /// In the run that is compared with.
    pub before: Option<u64>,
    /// In the run that is compared.
    pub after: Option<u64>,
}

impl Measure {
    /// The change, where both runs have it.
    pub fn change(self) -> Option<Change> {
        let (before, after) = self.before.zip(self.after)?;
        Some(Change { before, after })
    }
}

/// Which runs have an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runs {
    /// Both.
    Both,
    /// Only the one that is compared with.
    Before,
    /// Only the one that is compared.
    After,
}

/// A latency, in cycles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LatencyRow {
    /// What it is called.
    pub name: String,
    /// Which runs have it.
    pub runs: Runs,
    /// How many there were.
    pub count: Measure,
    /// The middle one.
    pub median: Measure,
    /// At least 99 of 100 are not longer.
    pub p99: Measure,
    /// The longest one.
    pub max: Measure,
    /// What all took longer than the shortest one.
    pub over_shortest: Measure,
    /// How many took how many cycles before, and after.
    pub histogram: BTreeMap<u64, (u64, u64)>,
}

/// A counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterRow {
    /// What it is called.
    pub name: String,
    /// Which runs have it.
    pub runs: Runs,
    /// The sum over all cycles.
    pub total: Measure,
}

/// How a memory was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessRow {
    /// What it is called.
    pub name: String,
    /// Which runs have it.
    pub runs: Runs,
    /// How many reads there were.
    pub reads: Measure,
    /// Of how many different words.
    pub words_read: Measure,
    /// How many writes there were.
    pub writes: Measure,
    /// Of how many different words.
    pub words_written: Measure,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointRow {
    /// What it is called.
    pub name: String,
    /// Which runs have it.
    pub runs: Runs,
    /// How often it happened.
    pub stamps: Measure,
    /// The median distance of two stamps, in cycles.
    pub median_distance: Measure,
}

/// The order of the stamps of the checkpoints that both runs have, with the values that both record. Stamps of one cycle are in the order of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    /// How many stamps there are.
    pub stamps: Change,
    /// Which is the first that is not the same in both; `None` if all are.
    pub first_difference: Option<usize>,
    /// From there on, and a little before it, what to leave out (`-`) of the order before and what to put in (`+`) to get the one
    /// after; a space for what is in both, and `…` for more of that.
    pub alignment: Vec<(char, String)>,
    /// Whether there are more differences than the alignment has.
    pub is_cut: bool,
}

/// The observations of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Observations {
    /// The latencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyRow>,
    /// The counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterRow>,
    /// The memories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<AccessRow>,
    /// The checkpoints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointRow>,
    /// The order of their stamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
}

/// How many stamps are aligned.
const ALIGNED: usize = 2000;
/// How many of them are shown.
const SHOWN: usize = 30;
/// How many stamps are shown around a difference.
const AROUND: usize = 2;
/// A name, which runs have it, and its figures before and after.
type Pair<'a, T> = (String, Runs, Option<&'a T>, Option<&'a T>);

/// What has a name in either run, in the order of the run after. Of those with the same name the first is the first, and so on.
fn both<'a, T>(before: &'a [T], after: &'a [T], name: fn(&T) -> &String) -> Vec<Pair<'a, T>> {
    let numbered = |rows: &'a [T]| {
        let mut seen: BTreeMap<&String, usize> = BTreeMap::new();
        let rows = rows.iter().map(|row| {
            let count = seen.entry(name(row)).or_default();
            *count += 1;
            ((name(row), *count), row)
        });
        rows.collect::<Vec<_>>()
    };
    let (was, is) = (numbered(before), numbered(after));
    let old: BTreeMap<_, &T> = was.iter().copied().collect();
    let new: BTreeMap<_, &T> = is.iter().copied().collect();
    let pairs = is.iter().map(|(key, row)| {
        let was = old.get(key).copied();
        let runs = was.map_or(Runs::After, |_| Runs::Both);
        (key.0.clone(), runs, was, Some(*row))
    });
    let gone = was.iter().filter(|(key, _)| !new.contains_key(key));
    let gone = gone.map(|(key, row)| (key.0.clone(), Runs::Before, Some(*row), None));
    pairs.chain(gone).collect()
}

impl Observations {
    /// Compares what was observed in two runs.
    pub(super) fn new(before: &Baseline, after: &Baseline) -> Self {
        let latencies = both(&before.latencies, &after.latencies, |row| &row.name).into_iter();
        let latencies = latencies.map(|(name, runs, was, is)| {
            let measure = |of: fn(&LatencyFigures) -> Option<u64>| Measure {
                before: was.and_then(of),
                after: is.and_then(of),
            };
            let mut histogram: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
            for (&cycles, &count) in was.into_iter().flat_map(|row| &row.histogram) {
                histogram.entry(cycles).or_default().0 = count;
            }
            for (&cycles, &count) in is.into_iter().flat_map(|row| &row.histogram) {
                histogram.entry(cycles).or_default().1 = count;
            }
            LatencyRow {
                name,
                runs,
                count: measure(|row| Some(row.count)),
                median: measure(|row| row.median),
                p99: measure(|row| row.p99),
                max: measure(|row| row.max),
                over_shortest: measure(|row| Some(row.over_shortest)),
                histogram,
            }
        });
        let counters = both(&before.counters, &after.counters, |row| &row.name).into_iter();
        let counters = counters.map(|(name, runs, was, is)| {
            let total = |row: Option<&CounterFigures>| row.map(|row| row.total);
            CounterRow {
                name,
                runs,
                total: Measure {
                    before: total(was),
                    after: total(is),
                },
            }
        });
        let accesses = both(&before.accesses, &after.accesses, |row| &row.name).into_iter();
        let accesses = accesses.map(|(name, runs, was, is)| {
            let measure = |of: fn(&AccessFigures) -> u64| Measure {
                before: was.map(of),
                after: is.map(of),
            };
            AccessRow {
                name,
                runs,
                reads: measure(|row| row.reads),
                words_read: measure(|row| row.words_read),
                writes: measure(|row| row.writes),
                words_written: measure(|row| row.words_written),
            }
        });
        let checkpoints = both(&before.checkpoints, &after.checkpoints, |row| &row.name);
        let checkpoints = checkpoints.into_iter().map(|(name, runs, was, is)| {
            let measure = |of: fn(&CheckpointFigures) -> Option<u64>| Measure {
                before: was.and_then(of),
                after: is.and_then(of),
            };
            CheckpointRow {
                name,
                runs,
                stamps: measure(|row| Some(row.stamps)),
                median_distance: measure(|row| row.median_distance),
            }
        });
        Self {
            latencies: latencies.collect(),
            counters: counters.collect(),
            accesses: accesses.collect(),
            checkpoints: checkpoints.collect(),
            order: Order::new(before, after),
        }
    }

    /// Whether nothing was observed.
    pub fn is_empty(&self) -> bool {
        let figures = self.latencies.is_empty() && self.counters.is_empty();
        figures && self.accesses.is_empty() && self.checkpoints.is_empty()
    }
}

/// What both runs have in the order of stamps: checkpoints, each with its values.
type Common<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// All stamps of a run, of the checkpoints and values that both runs have: `mac k=0 i=1`.
fn order(run: &Baseline, common: &Common<'_>) -> Vec<String> {
    let mut so_far = vec![0; run.checkpoints.len()];
    let stamps = run.stamps.iter().filter_map(|&number| {
        let of = &run.checkpoints[number];
        let at = so_far[number];
        so_far[number] += 1;
        let names = common.get(of.name.as_str())?;
        let mut stamp = of.name.clone();
        for name in names {
            let value = of.values.iter().find(|of| of.name == *name);
            let value = value.and_then(|of| of.at_stamps.get(at));
            let _ = write!(stamp, " {name}={}", value.map_or("", String::as_str));
        }
        Some(stamp)
    });
    stamps.collect()
}

impl Order {
    fn new(before: &Baseline, after: &Baseline) -> Option<Self> {
        let rows = both(&before.checkpoints, &after.checkpoints, |row| &row.name);
        let mut common = Common::new();
        for (_, _, was, is) in &rows {
            if let (Some(was), Some(is)) = (was, is) {
                let names = is.values.iter().map(|of| of.name.as_str());
                let names = names.filter(|name| was.values.iter().any(|of| of.name == *name));
                common.insert(&is.name, names.collect());
            }
        }
        if common.is_empty() {
            return None;
        }
        let (was, is) = (order(before, &common), order(after, &common));
        let same = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
        let first_difference = (same < was.len().max(is.len())).then_some(same);
        let mut aligned = Self {
            stamps: Change {
                before: was.len() as u64,
                after: is.len() as u64,
            },
            first_difference,
            alignment: Vec::new(),
            is_cut: false,
        };
        if first_difference.is_some() {
            aligned.align(&was, &is, same.saturating_sub(AROUND));
        }
        Some(aligned)
    }

    /// Aligns both orders from a stamp on that is the same in both, or the first.
    fn align(&mut self, was: &[String], is: &[String], from: usize) {
        let part = |all: &[String]| from..all.len().min(from + ALIGNED);
        let (was_part, is_part) = (&was[part(was)], &is[part(is)]);
        let steps = capture_diff_slices(Algorithm::Myers, was_part, is_part);
        let groups = group_diff_ops(steps, AROUND).into_iter().enumerate();
        let steps = groups.flat_map(|(nth, steps)| {
            let steps = steps.into_iter().enumerate();
            steps.map(move |(at, step)| (nth > 0 && at == 0, step))
        });
        for (is_apart, step) in steps {
            if is_apart {
                self.alignment.push(('…', String::new()));
            }
            let (old, new) = (&was_part[step.old_range()], &is_part[step.new_range()]);
            let mut add = |sign: char, names: &[String]| {
                let names = names.iter().map(|name| (sign, name.clone()));
                self.alignment.extend(names);
            };
            if step.tag() == DiffTag::Equal {
                add(' ', old);
            } else {
                add('-', old);
                add('+', new);
            }
        }
        self.is_cut = self.alignment.len() > SHOWN || was.len().max(is.len()) > from + ALIGNED;
        self.alignment.truncate(SHOWN);
    }
}
