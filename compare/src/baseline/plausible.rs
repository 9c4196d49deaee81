//! Whether the figures of a baseline file fit together: nothing else in petal looks again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Baseline, Frame};
use petal_analysis::ledger::ByKind;

/// More cycles than any run has. Sums of as many figures as fit into a file do not overflow.
const MAX_CYCLES: u64 = 1 << 40;

impl Baseline {
    /// What does not fit together, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_sizes()?;
        if self.useful + total(&self.overhead) != self.cycles || self.conditions > self.useful {
            return Err("its cycles do not add up".to_owned());
        }
        let charged: u64 = self.statements.iter().map(|row| total(&row.overhead)).sum();
        if charged + self.unplaced != total(&self.overhead) {
            return Err("the overhead of its statements does not add up".to_owned());
        }
        for cell in &self.cells {
            if cell.busy + total(&cell.control) != cell.cycles {
                return Err(format!(
                    "the cycles of the cell {} do not add up",
                    cell.path
                ));
            }
        }
        let paths = self.cells.iter().map(|cell| &cell.path);
        let names = self.groups.iter().map(|row| (&row.component, &row.name));
        if paths.collect::<BTreeSet<_>>().len() < self.cells.len()
            || names.collect::<BTreeSet<_>>().len() < self.groups.len()
        {
            return Err("it names a cell or group twice".to_owned());
        }
        for row in &self.statements {
            let file = row.place.is_none_or(|place| place.file < self.files.len());
            let parent = row.parent.is_none_or(|at| at < self.statements.len());
            if !file || !parent {
                return Err(format!("the statement {} is out of place", row.label));
            }
        }
        self.check_observations()?;
        if let Some(synthesis) = &self.synthesis {
            synthesis.check()?;
        }
        self.check_flame()
    }

    fn check_sizes(&self) -> Result<(), String> {
        let run = [
            self.warnings,
            self.cycles,
            self.useful,
            self.conditions,
            self.unplaced,
        ];
        let cells = self.cells.iter().flat_map(|row| {
            [row.times, row.cycles, row.busy]
                .into_iter()
                .chain(row.control)
        });
        let groups = self.groups.iter().flat_map(|row| [row.times, row.cycles]);
        let statements = self
            .statements
            .iter()
            .flat_map(|row| [row.times, row.cycles].into_iter().chain(row.overhead));
        let flame = self.flame.iter().map(|node| node.2 / 1000);
        let mut all = run
            .into_iter()
            .chain(self.overhead)
            .chain(cells)
            .chain(groups)
            .chain(statements)
            .chain(flame);
        match all.find(|&figure| figure > MAX_CYCLES) {
            Some(figure) => Err(format!("no run is as long as {figure} cycles")),
            None => Ok(()),
        }
    }

    /// What of the observations does not fit together, if anything.
    fn check_observations(&self) -> Result<(), String> {
        let sum = |counts: &BTreeMap<u64, u64>| {
            let mut counts = counts.values();
            counts.try_fold(0, |sum: u64, &count| sum.checked_add(count))
        };
        for row in &self.latencies {
            if sum(&row.histogram) != Some(row.count) {
                let name = &row.name;
                return Err(format!("the histogram of {name} does not add up"));
            }
        }
        let mut counts = vec![0; self.checkpoints.len()];
        for &at in &self.stamps {
            match counts.get_mut(at) {
                Some(count) => *count += 1,
                None => return Err("a stamp is of no checkpoint".to_owned()),
            }
        }
        if self.checkpoints.iter().map(|row| row.stamps).ne(counts) {
            return Err("its stamps do not add up".to_owned());
        }
        for row in &self.checkpoints {
            let mut counts = row.values.iter().map(|of| of.at_stamps.len() as u64);
            if counts.any(|count| count != row.stamps) {
                return Err(format!("the values of {} do not add up", row.name));
            }
        }
        Ok(())
    }

    fn check_flame(&self) -> Result<(), String> {
        let is_there = |frame: &Frame| match frame {
            Frame::Statement(at) => *at < self.statements.len(),
            Frame::Group(at) => *at < self.groups.len(),
            Frame::Label(_) => true,
        };
        let mut max_depth = 0;
        for node in &self.flame {
            if node.0 > max_depth || node.1 >= self.frames.len() {
                return Err("its flame graph has a loose node".to_owned());
            }
            max_depth = node.0 + 1;
        }
        if self.frames.iter().all(is_there) {
            Ok(())
        } else {
            Err("its flame graph names what is not there".to_owned())
        }
    }
}

fn total(overhead: &ByKind) -> u64 {
    overhead.iter().sum()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::comparison::{Comparison, Style, differential};

    const SAMPLE: &str = r#"{
        "petal-baseline": 2, "petal": "1", "design": "d", "passes": ["p"], "warnings": 0,
        "cycles": 9, "useful": 5, "conditions": 1, "overhead": {"fsm-and-par-done": 3, "other": 1}, "unplaced": 1,
        "files": [{"name": "d.futil", "digest": "0"}],
        "cells": [
            {"path": "main", "component": "main", "times": 1, "cycles": 9, "busy": 6, "control": {"fsm-and-par-done": 3}},
            {"path": "main.a", "component": "sub", "times": 2, "cycles": 4, "busy": 4}
        ],
        "groups": [{"component": "main", "name": "g", "kind": "comb", "body": "1", "times": 2, "cycles": 2}],
        "statements": [
            {"component": "main", "label": "seq@L1", "kind": "seq", "text": "seq", "times": 1, "cycles": 9,
             "place": {"file": 0, "line": 1, "column": 1}, "overhead": {"fsm-and-par-done": 3}},
            {"component": "main", "label": "g@L2", "kind": "enable", "text": "g", "times": 1, "cycles": 2,
             "place": null, "parent": 0}
        ],
        "frames": [{"label": "main"}, {"statement": 0}, {"group": 0}],
        "flame": [[0, 0, 1], [1, 1, 4], [2, 2, 4]],
        "latencies": [{"name": "l", "count": 3, "median": 2, "p99": 7, "max": 7, "over_shortest": 5, "histogram": {"2": 2, "7": 1}}],
        "counters": [{"name": "c", "total": 8}],
        "checkpoints": [{"name": "k", "stamps": 2, "median_distance": 4, "values": [{"name": "i", "at_stamps": ["0", "1"]}]}, {"name": "m", "stamps": 1}],
        "stamps": [0, 1, 0],
        "synthesis": {"device": "d", "has_memories": false, "tools": ["t"], "luts": 9, "ffs": 8, "brams": 0, "dsps": 1, "carries": 2,
                      "periods_ps": [7000, 7100, 7300]}
    }"#;

    fn read(text: &str) -> Option<Baseline> {
        Baseline::from_json(text, Path::new("b.json")).ok()
    }

    #[test]
    fn a_baseline_that_is_read_is_written_again() {
        let sample = read(SAMPLE).expect("it is a baseline");
        assert_eq!(read(&sample.to_json()).as_ref(), Some(&sample));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Whatever is accepted can be compared, and its deltas add up.
        #[test]
        fn nothing_that_is_accepted_breaks_a_comparison(
            edits in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z\\[\\]{}\", ;-]{0,2}"), 0..4),
        ) {
            let sample = read(SAMPLE).expect("it is a baseline");
            let mut text = SAMPLE.to_owned();
            for (at, with) in edits {
                let at = at.index(text.len());
                text.replace_range(at..=at, &with);
            }
            if let Some(edited) = read(&text) {
                let comparison = Comparison::new(&sample, &edited);
                let charged: i64 = comparison.statements.iter().map(|row| row.overhead.delta()).sum();
                prop_assert_eq!(charged + comparison.unplaced.delta(), comparison.overhead.delta());
                prop_assert_eq!(
                    comparison.useful.delta() + comparison.overhead.delta(),
                    comparison.cycles.delta()
                );
                comparison.report(Style::Markdown, true);
                // An error says that nothing was active.
                let _ = differential(&sample, &edited, Vec::new());
                let _ = differential(&edited, &sample, Vec::new());
            }
        }
    }
}
