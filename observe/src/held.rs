//! What was observed of one run held against what was observed of another: what a chip recorded against a simulation, stamp by stamp.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use petal_table::{Columns, Screen, Table, counted, thousands};
use serde::Serialize;

use crate::kinds::{Latency, Results};
use crate::tables::ResultTable;

/// A kind of observations, and the name of one.
type Name = (&'static str, String);

/// What one observation told: of each thing its cycles, and what it was. Of sums there is no cycle.
type Entries = Vec<(Option<u64>, String)>;

/// What two runs have in common of what a monitor can record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Whether all is the same.
    pub same: bool,
    /// How many observations were held against one another.
    pub observations: usize,
    /// How many entries they have in the first run.
    pub entries: usize,
    /// The cycles that both tell of, if one of them had no room for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Range<u64>>,
    /// The latencies that are not compared, since one run tells nothing of them: they overlapped.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub not_compared: BTreeSet<String>,
    /// Where observations first differ.
    pub differences: Vec<Difference>,
}

/// Where an observation is not the same in two runs for the first time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The kind of observation, and its name.
    pub observation: String,
    /// The number of the entry, from 0 on.
    pub entry: usize,
    /// What it is in the first run, if there is such an entry.
    pub before: Option<String>,
    /// What it is in the other.
    pub after: Option<String>,
}

impl Held {
    /// Holds the results of two runs against one another.
    pub fn new(before: &Results, after: &Results) -> Self {
        let within = match (&before.recorded, &after.recorded) {
            (Some(one), Some(other)) => Some(one.start.max(other.start)..one.end.min(other.end)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let overlapped = before.overlapped.iter().chain(&after.overlapped);
        let not_compared: BTreeSet<String> = overlapped.cloned().collect();
        let [before, after] = [before, after].map(|of| Compared {
            results: of,
            latencies: of
                .latencies
                .iter()
                .filter(|of| !not_compared.contains(&of.name))
                .collect(),
        });
        let all = |known: fn(&Latency) -> bool| {
            let mut latencies = before.latencies.iter().chain(&after.latencies);
            latencies.all(|of| known(of))
        };
        // Sums alone have no intervals.
        let has_intervals = all(|of| of.intervals.len() as u64 == of.count);
        let has_powers = all(|of| of.by_powers().is_some());
        let known = [has_intervals, has_powers && !has_intervals];
        let [was, is] = [&before, &after].map(|of| of.entries(within.as_ref(), known));
        let names: BTreeSet<&Name> = was.keys().chain(is.keys()).collect();
        let none = Entries::new();
        let mut differences = Vec::new();
        for name in &names {
            let [was, is] = [&was, &is].map(|of| of.get(*name).unwrap_or(&none));
            let same = was.iter().zip(is).take_while(|(a, b)| a == b).count();
            if same < was.len().max(is.len()) {
                let (kind, name) = name;
                differences.push(Difference {
                    observation: format!("{kind} {name}"),
                    entry: same,
                    before: was.get(same).map(shown),
                    after: is.get(same).map(shown),
                });
            }
        }
        Self {
            same: differences.is_empty(),
            observations: names.len(),
            entries: was.values().map(Vec::len).sum(),
            within,
            not_compared,
            differences,
        }
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all keys are texts.
    pub fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("it is plain JSON");
        json.push('\n');
        json
    }

    /// As people read it.
    pub fn text(&self, screen: Screen) -> String {
        let observations = counted(self.observations as u64, "observation");
        let within = self.within.as_ref().map(|of| {
            let (first, last) = (thousands(of.start), thousands(of.end.saturating_sub(1)));
            format!(", in the cycles {first} to {last}, of which both tell")
        });
        let within = within.unwrap_or_default();
        let mut rest = String::new();
        for name in &self.not_compared {
            let _ = writeln!(
                rest,
                "not compared: `{name}`, which began again before it ended, so that its sums tell nothing"
            );
        }
        if self.same {
            let entries = thousands(self.entries as u64);
            return format!("the same: {entries} entries of {observations}{within}\n{rest}");
        }
        let columns = Columns::default()
            .text("observation", |of: &&Difference| {
                of.observation.clone().into()
            })
            .number("entry", |of| (of.entry as u64).into())
            .text("before", |of| of.before.clone().unwrap_or_default().into())
            .text("after", |of| of.after.clone().unwrap_or_default().into());
        let count = self.differences.len();
        let title = format!("not the same: {count} of {observations}, which first differ{within}");
        let table = ResultTable::new("differences", title, columns, self.differences.iter());
        let title = format!("{}\n", table.title);
        let (columns, rows) = table.into_parts();
        let mut table = Table::new(columns);
        rows.for_each(|row| table.push(row));
        title + &table.shown(screen, 2) + &rest
    }
}

fn shown((cycle, what): &(Option<u64>, String)) -> String {
    match (cycle, &what[..]) {
        (None, what) => what.to_owned(),
        (Some(cycle), "") => format!("cycle {cycle}"),
        (Some(cycle), what) => format!("cycle {cycle}: {what}"),
    }
}

/// What is compared of a run.
struct Compared<'a> {
    results: &'a Results,
    latencies: Vec<&'a Latency>,
}

impl Compared<'_> {
    /// All that a monitor can tell of a run, within these cycles: of latencies each interval, or how many took how long, if it is known of both
    /// runs. Who was active or wrote is in no wire, and not asked for.
    fn entries(
        &self,
        within: Option<&Range<u64>>,
        [has_intervals, has_powers]: [bool; 2],
    ) -> BTreeMap<Name, Entries> {
        let of = self.results;
        let is_within = |cycle: u64| within.is_none_or(|within| within.contains(&cycle));
        let until = |cycle: u64| within.map_or(cycle, |within| cycle.min(within.end));
        let mut all: BTreeMap<Name, Entries> = BTreeMap::new();
        let mut add = |kind: &'static str, name: &str, cycle: Option<u64>, what: String| {
            if cycle.is_none_or(is_within) {
                let entries = all.entry((kind, name.to_owned())).or_default();
                entries.push((cycle, what));
            }
        };
        add("cycles", "of the run", None, of.cycles.to_string());
        for checkpoint in &of.checkpoints {
            for (at, &cycle) in checkpoint.cycles.iter().enumerate() {
                let values = checkpoint.values.iter();
                let values = values.map(|of| format!("{}={}", of.name, of.shown(at).plain()));
                let values: Vec<String> = values.collect();
                add(
                    "checkpoint",
                    &checkpoint.name,
                    Some(cycle),
                    values.join(", "),
                );
            }
        }
        for latency in &self.latencies {
            let (count, total) = (latency.count, latency.total);
            let range = latency.min.zip(latency.max);
            let range = range.map_or(String::new(), |(min, max)| format!(", {min} to {max} each"));
            let what = format!(
                "{count} of {total} cycles{range}, {} unfinished, {} unmatched",
                latency.unfinished, latency.unmatched
            );
            add("latency", &latency.name, None, what);
        }
        for latency in self.latencies.iter().filter(|_| has_powers) {
            for (least, count) in latency.by_powers().into_iter().flatten() {
                let most = (2 * least).saturating_sub(1);
                let what = format!("{count} of {least} to {most} cycles");
                add("histogram", &latency.name, None, what);
            }
        }
        for latency in self.latencies.iter().filter(|_| has_intervals) {
            for &(start, cycles) in &latency.intervals {
                if is_within(until(start + cycles).saturating_sub(1)) {
                    let what = counted(cycles, "cycle");
                    add("interval", &latency.name, Some(start), what);
                }
            }
        }
        for watch in &of.watches {
            for change in &watch.changes {
                let what = format!("{} -> {}", change.old.unwrap_or_default(), change.new);
                add("watch", &watch.name, Some(change.cycle), what);
            }
        }
        for rule in &of.rules {
            for violation in &rule.violations {
                let start = within.map_or(violation.cycle, |of| violation.cycle.max(of.start));
                let end = until(violation.cycle + violation.cycles);
                // What is broken from before the first to the last of them, no entry of a monitor tells.
                let is_told = start == violation.cycle || within.is_some_and(|of| end < of.end);
                if start < end && is_told {
                    let what = counted(end - start, "cycle");
                    add("rule", &rule.name, Some(start), what);
                }
            }
        }
        for counter in &of.counters {
            add("counter", &counter.name, None, counter.total.to_string());
        }
        all
    }
}
