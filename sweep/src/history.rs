//! The runs of one design over time: what each commit took, and which was the first to make it worse.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// A run, and the commit that it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the format, [`VERSION`](crate::VERSION).
    pub version: u32,
    /// The commit, in hexadecimal.
    pub commit: String,
    /// When it was made, in seconds since 1970.
    pub time: i64,
    /// How many commits it stands on: tells the order of those that were made in the same second.
    pub ancestors: u64,
    /// The first line of its message.
    pub subject: String,
    /// The design.
    pub design: String,
    /// A number of the compiled design, as in `metadata.json`.
    pub fingerprint: String,
    /// The passes that compiled it, with commas.
    pub pipeline: String,
    /// Length of the run.
    pub cycles: u64,
    /// Cycles in which something worked that is no condition.
    pub computation_cycles: u64,
    /// Cycles in which nothing but conditions was computed.
    pub condition_cycles: u64,
    /// The others.
    pub overhead_cycles: u64,
    /// They, by kind.
    pub overhead: BTreeMap<String, u64>,
    /// The version of petal.
    pub petal: String,
}

/// All runs of one design, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The design.
    pub name: String,
    /// Its runs, in the order in which their commits were made.
    pub entries: Vec<Entry>,
}

/// What the script of a history's page gets.
#[derive(Serialize)]
pub(crate) struct HistoryData<'a> {
    name: &'a str,
    entries: &'a [Entry],
    worse: Option<usize>,
}

/// The histories of all designs among the entries, by their names.
pub fn histories(entries: &[Entry]) -> Vec<History> {
    let designs: BTreeSet<&str> = entries.iter().map(|entry| &*entry.design).collect();
    let history = |design| History::new(design, entries);
    designs.into_iter().map(history).collect()
}

impl History {
    /// The history of the entries with this design.
    fn new(name: &str, entries: &[Entry]) -> Self {
        let entries = entries.iter().filter(|entry| entry.design == name);
        let mut entries: Vec<Entry> = entries.cloned().collect();
        entries.sort_by(|a, b| {
            (a.time, a.ancestors, &a.commit).cmp(&(b.time, b.ancestors, &b.commit))
        });
        Self {
            name: name.to_owned(),
            entries,
        }
    }

    /// The first run since the shortest one that takes more cycles than it: which one has made the design as slow as it is
    /// now. None if the last run is as short as any.
    pub fn worse(&self) -> Option<usize> {
        let least = self.entries.iter().map(|entry| entry.cycles).min()?;
        let is_least = |entry: &Entry| entry.cycles == least;
        let at = self.entries.iter().rposition(is_least)? + 1;
        (at < self.entries.len()).then_some(at)
    }

    pub(crate) fn data(&self) -> HistoryData<'_> {
        HistoryData {
            name: &self.name,
            entries: &self.entries,
            worse: self.worse(),
        }
    }
}
