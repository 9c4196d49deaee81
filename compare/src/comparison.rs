//! The comparison of two runs: for the run, and for each component cell, group and statement, the
//! cycles before and after.

mod culprits;
mod export;
mod flame;
mod listing;
mod matching;
mod observations;
mod observed;
mod own;
mod related;
mod report;
mod rows;
mod synthesis;
mod verdict;

use std::collections::BTreeMap;

use petal_analysis::have_other_data;
use petal_reconstruct::Overhead;
use serde::Serialize;

use crate::baseline::{Baseline, CellFigures, FrontEndPlace, GroupFigures, StatementFigures};

pub use culprits::Culprit;
use culprits::culprits;
pub use flame::differential;
pub(crate) use flame::{Both, both};
pub use listing::Style;
pub use matching::Fate;
use matching::{Match, statements};
pub use observations::{
    AccessRow, CheckpointRow, CounterRow, LatencyRow, Measure, Observations, Order, Runs,
};
pub use own::OwnRow;
pub(crate) use own::of_statements;
pub use rows::{CellRow, Change, GroupRow, StatementRow, Subject};
pub use synthesis::{ClockChange, SynthesisChange};
pub use verdict::{Bound, Judgement, Limit};

/// A comparison of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The designs.
    pub designs: Designs,
    /// What to keep in mind when reading it.
    pub notes: Vec<String>,
    /// Length of the run.
    pub cycles: Change,
    /// Cycles in which something useful ran, conditions included.
    pub useful: Change,
    /// The part of them in which something worked that is no condition.
    pub computation: Change,
    /// The other part, in which nothing but conditions was computed.
    pub conditions: Change,
    /// The other cycles. Together with `useful` they add up to `cycles`.
    pub overhead: Change,
    /// They, by kind.
    pub overhead_by_kind: BTreeMap<String, Change>,
    /// The part of the overhead that no statement is charged for. Together with the overhead of all
    /// statements it adds up to `overhead`.
    pub unplaced: Change,
    /// The component cells.
    pub cells: Vec<CellRow>,
    /// The groups.
    pub groups: Vec<GroupRow>,
    /// The statements.
    pub statements: Vec<StatementRow>,
    /// What grew most.
    pub culprits: Vec<Culprit>,
    /// What the cycles went to by themselves: all together are the runs.
    #[serde(skip)]
    pub own: Vec<OwnRow>,
    /// What was observed.
    #[serde(skip_serializing_if = "Observations::is_empty")]
    pub observations: Observations,
    /// Period and time, where the user said them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockChange>,
    /// Area, clock and time, where both were synthesised for the same device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<SynthesisChange>,
}

/// The names of the designs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Designs {
    /// Of the run that is compared with.
    pub before: String,
    /// Of the run that is compared.
    pub after: String,
}

/// How many passes are named; more are counted.
const PASSES: usize = 4;

impl Comparison {
    /// Compares the run `after` with the run `before`.
    pub fn new(before: &Baseline, after: &Baseline) -> Self {
        let change = |of: fn(&Baseline) -> u64| Change {
            before: of(before),
            after: of(after),
        };
        let same_groups = matching::groups(before, after);
        let same_statements = statements::statements(before, after, &same_groups);
        let groups: Vec<GroupRow> = same_groups
            .iter()
            .map(|found| group_row(before, after, found))
            .collect();
        let statements: Vec<StatementRow> = same_statements
            .iter()
            .map(|found| statement_row(before, after, found))
            .collect();
        // The first line names compilers that are not the same.
        let (synthesis, problem) = match SynthesisChange::new(before, after) {
            Ok(synthesis) => (synthesis, None),
            Err(problem) => (None, Some(problem)),
        };
        let is_other = before.calyx != after.calyx;
        let name = |run: &Baseline| match run.calyx.as_str() {
            calyx if is_other && !calyx.is_empty() => format!("{} (calyx {calyx})", run.design),
            _ => run.design.clone(),
        };
        Self {
            designs: Designs {
                before: name(before),
                after: name(after),
            },
            notes: notes(before, after).into_iter().chain(problem).collect(),
            cycles: change(|run| run.cycles),
            useful: change(|run| run.useful),
            computation: change(|run| run.useful - run.conditions),
            conditions: change(|run| run.conditions),
            overhead: change(Baseline::total_overhead),
            overhead_by_kind: Overhead::ALL
                .into_iter()
                .map(|kind| {
                    let change = Change {
                        before: before.overhead[kind.index()],
                        after: after.overhead[kind.index()],
                    };
                    (kind.to_string(), change)
                })
                .collect(),
            unplaced: change(|run| run.unplaced),
            cells: matching::cells(before, after)
                .iter()
                .map(|found| cell_row(before, after, found))
                .collect(),
            culprits: culprits(&groups, &statements),
            own: own::own(before, after, &same_statements, &same_groups),
            observations: Observations::new(before, after),
            clock: ClockChange::given(before, after),
            synthesis,
            groups,
            statements,
        }
    }
}

fn notes(before: &Baseline, after: &Baseline) -> Vec<String> {
    let mut notes = Vec::new();
    for (which, run) in [("before", before), ("after", after)] {
        if let Some(stopped) = &run.stopped {
            notes.push(format!("the run {which} is a partial one: {stopped}"));
        }
        if !run.verified {
            notes.push(format!(
                "the run {which} is not verified: nobody made sure that the design runs alike without probes"
            ));
        }
        if run.warnings > 0 {
            notes.push(format!(
                "the waveform of the run {which} was odd in {} places",
                run.warnings
            ));
        }
    }
    if have_other_data(before.data_digest.as_deref(), after.data_digest.as_deref()) {
        let file = |data: &Option<String>| data.clone().unwrap_or("no file".to_owned());
        let (was, is) = (file(&before.data), file(&after.data));
        let files = if was == is {
            format!("{is} changed")
        } else {
            format!("{was} before, {is} after")
        };
        notes.push(format!(
            "the runs had different data ({files}), which may be why they differ"
        ));
    }
    if before.petal != after.petal {
        notes.push(format!(
            "the profiles are of petal {} and petal {}",
            before.petal, after.petal
        ));
    }
    for (which, run, other) in [("before", before, after), ("after", after, before)] {
        let mut only: Vec<&str> = Vec::new();
        for pass in &run.passes {
            if !other.passes.contains(pass) && !only.contains(&pass.as_str()) {
                only.push(pass);
            }
        }
        match only.len() {
            0 => {}
            1..=PASSES => notes.push(format!(
                "only the run {which} was compiled with {}",
                only.join(", ")
            )),
            more => notes.push(format!(
                "only the run {which} was compiled with {more} passes"
            )),
        }
    }
    notes
}

fn cell_row(before: &Baseline, after: &Baseline, found: &Match) -> CellRow {
    let change = |of: fn(&CellFigures) -> u64| {
        Change::sum(
            &found.before,
            &found.after,
            |at| of(&before.cells[at]),
            |at| of(&after.cells[at]),
        )
    };
    let was = found.before.first().map(|&at| &before.cells[at].path);
    let name = found.after.first().map(|&at| &after.cells[at].path);
    CellRow {
        subject: Subject {
            name: name.or(was).cloned().unwrap_or_default(),
            fate: found.fate,
            was: was.filter(|_| found.fate == Fate::Renamed).cloned(),
            alike: None,
            times: change(|row| row.times),
            cycles: change(|row| row.cycles),
        },
        busy: change(|row| row.busy),
        control: change(|row| row.control.iter().sum()),
    }
}

fn group_row(before: &Baseline, after: &Baseline, found: &Match) -> GroupRow {
    let was = found.before.first().map(|&at| &before.groups[at]);
    let is = found.after.first().map(|&at| &after.groups[at]);
    let name = is
        .or(was)
        .map(|row| format!("{}.{}", row.component, row.name));
    let effects =
        |row: Option<&GroupFigures>| row.map(|row| row.effects.clone()).unwrap_or_default();
    let (old, new) = (effects(was), effects(is));
    let without = |effects: &[String], others: &[String]| {
        let kept = effects.iter().filter(|effect| !others.contains(effect));
        kept.cloned().collect()
    };
    let change = |of: fn(&GroupFigures) -> u64| Change {
        before: was.map_or(0, of),
        after: is.map_or(0, of),
    };
    GroupRow {
        subject: Subject {
            name: name.unwrap_or_default(),
            fate: found.fate,
            was: was
                .filter(|_| found.fate == Fate::Renamed)
                .map(|row| row.name.clone()),
            alike: None,
            times: change(|row| row.times),
            cycles: change(|row| row.cycles),
        },
        now: without(&new, &old),
        no_longer: if is.is_some() {
            without(&old, &new)
        } else {
            Vec::new()
        },
    }
}

fn statement_row(before: &Baseline, after: &Baseline, found: &Match) -> StatementRow {
    let change = |of: fn(&StatementFigures) -> u64| {
        Change::sum(
            &found.before,
            &found.after,
            |at| of(&before.statements[at]),
            |at| of(&after.statements[at]),
        )
    };
    let was = found.before.first().map(|&at| &before.statements[at]);
    let is = found.after.first().map(|&at| &after.statements[at]);
    let row = is.or(was);
    StatementRow {
        subject: Subject {
            name: row
                .map(|row| format!("{}.{}", row.component, row.label))
                .unwrap_or_default(),
            fate: found.fate,
            was: was.and_then(|row| match found.fate {
                Fate::Edited => Some(row.text.clone()),
                Fate::Moved => Some(row.label.clone()),
                _ => None,
            }),
            alike: (found.fate == Fate::Alike).then_some((found.before.len(), found.after.len())),
            times: change(|row| row.times),
            cycles: change(|row| row.cycles),
        },
        overhead: change(StatementFigures::charged),
        source: row.map(|row| row.text.clone()).unwrap_or_default(),
        front_end: row.and_then(|row| {
            let FrontEndPlace { file, line, text } = row.front_end.as_ref()?;
            let text = text.as_deref().unwrap_or_default();
            Some(format!("{file}:{line} {text}").trim_end().to_owned())
        }),
    }
}

/// A baseline with these fields; the others are empty.
#[cfg(test)]
fn baseline_with(fields: serde_json::Value) -> Baseline {
    let mut whole = serde_json::json!({
        "petal-baseline": 2, "petal": "1", "design": "d", "passes": [], "warnings": 0,
        "cycles": 0, "useful": 0, "conditions": 0, "overhead": {}, "unplaced": 0,
        "files": [], "cells": [], "groups": [], "statements": [], "frames": [], "flame": [],
    });
    let serde_json::Value::Object(fields) = fields else {
        panic!("{fields} is no object");
    };
    for (key, value) in fields {
        whole[key] = value;
    }
    Baseline::from_json(&whole.to_string(), std::path::Path::new("test")).expect("it is a baseline")
}
