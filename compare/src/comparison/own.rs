//! What the cycles of two runs went to by themselves, without what is inside: so a change stands at its cause, and not at all that is around it.
//!
//! The leaves of the flame graphs add up to the runs. Each counts for the statement or group that it is nearest to: overhead and conditions
//! for the statement that they are charged to, all else for its group.

use std::collections::BTreeMap;

use serde::Serialize;

use super::flame::{label, stacks};
use super::matching::{Fate, Match};
use crate::baseline::{Baseline, Frame};

/// What something did by itself in two runs. All together are the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnRow {
    /// The component and the statement or group, as in the run after, if it is there; the label of a cell for what has neither.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
    /// The head of a statement in the source.
    pub source: String,
    /// In thousandths of cycles, before and after.
    pub own: (u64, u64),
    /// What they were, with the same.
    pub parts: BTreeMap<String, (u64, u64)>,
}

impl OwnRow {
    /// By how many thousandths of a cycle it changed.
    pub fn change(&self) -> u64 {
        self.own.0.abs_diff(self.own.1)
    }

    /// By how many thousandths of a cycle its parts changed, which may make up for one another.
    pub fn shift(&self) -> u64 {
        let parts = self.parts.values();
        parts.map(|(was, is)| was.abs_diff(*is)).sum()
    }
}

/// What stacks count for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// Statements that belong together, by their match.
    Statement(usize),
    /// Groups, likewise.
    Group(usize),
    /// Anything else, by its label.
    Label(String),
}

/// All that did something by itself, what changed most first.
pub(super) fn own(
    before: &Baseline,
    after: &Baseline,
    statements: &[Match],
    groups: &[Match],
) -> Vec<OwnRow> {
    let mut sums: BTreeMap<Subject, BTreeMap<String, (u64, u64)>> = BTreeMap::new();
    for (run, is_after) in [(before, false), (after, true)] {
        let statements = numbers(statements, is_after);
        let groups = numbers(groups, is_after);
        for (stack, weight) in stacks(run) {
            let (subject, part) = subject(run, &stack, &statements, &groups);
            let sum = sums.entry(subject).or_default().entry(part).or_default();
            if is_after {
                sum.1 += weight;
            } else {
                sum.0 += weight;
            }
        }
    }
    let rows = sums.into_iter().map(|(subject, parts)| {
        let (name, fate, source) = named(before, after, statements, groups, &subject);
        let own = parts
            .values()
            .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        OwnRow {
            name,
            fate,
            source,
            own,
            parts,
        }
    });
    let mut rows: Vec<OwnRow> = rows.collect();
    rows.sort_by_key(|row| {
        let longer = row.own.0.max(row.own.1);
        std::cmp::Reverse((row.change(), row.shift(), longer))
    });
    rows
}

/// What the statements of a run did by themselves, in thousandths of cycles, by their positions in the list.
pub(crate) fn of_statements(run: &Baseline) -> BTreeMap<usize, u64> {
    let statements = (0..run.statements.len()).map(|at| (at, at)).collect();
    let groups = (0..run.groups.len()).map(|at| (at, at)).collect();
    let mut sums = BTreeMap::new();
    for (stack, weight) in stacks(run) {
        if let (Subject::Statement(at), _) = subject(run, &stack, &statements, &groups) {
            *sums.entry(at).or_default() += weight;
        }
    }
    sums
}

/// The number of its match for each position in the list of a run.
fn numbers(matches: &[Match], is_after: bool) -> BTreeMap<usize, usize> {
    let all = matches.iter().enumerate();
    all.flat_map(|(number, found)| {
        let list = if is_after {
            &found.after
        } else {
            &found.before
        };
        list.iter().map(move |&at| (at, number))
    })
    .collect()
}

/// What a stack counts for, and as what.
fn subject(
    run: &Baseline,
    stack: &[Frame],
    statements: &BTreeMap<usize, usize>,
    groups: &BTreeMap<usize, usize>,
) -> (Subject, String) {
    let kind = stack.last().and_then(|leaf| {
        let kind = label(run, leaf).strip_prefix("(overhead: ")?;
        kind.strip_suffix(')')
    });
    let statement = |frame: &Frame| match frame {
        Frame::Statement(at) => statements.get(at).map(|&at| Subject::Statement(at)),
        _ => None,
    };
    let group = |frame: &Frame| match frame {
        Frame::Group(at) => groups.get(at).map(|&at| Subject::Group(at)),
        _ => None,
    };
    let is_condition =
        |frame: &Frame| matches!(frame, Frame::Group(at) if run.groups[*at].kind == "comb");
    for (depth, frame) in stack.iter().enumerate().rev() {
        let above = stack[..depth].last().and_then(statement);
        let found = match above {
            Some(above) if is_condition(frame) => Some((above, "conditions")),
            _ => group(frame)
                .or_else(|| statement(frame))
                .map(|found| (found, "computation")),
        };
        if let Some((subject, part)) = found {
            return (subject, kind.unwrap_or(part).to_owned());
        }
    }
    // Cells without control and groups: continuous assignments, or a component's start.
    let cell = stack.iter().rev().find(|frame| {
        let label = label(run, frame);
        !label.starts_with("(overhead: ") && !label.ends_with(" (primitive)")
    });
    let name = cell.map_or("", |frame| label(run, frame));
    (
        Subject::Label(name.to_owned()),
        kind.unwrap_or("computation").to_owned(),
    )
}

/// The name of a subject, what became of it, and its source.
fn named(
    before: &Baseline,
    after: &Baseline,
    statements: &[Match],
    groups: &[Match],
    subject: &Subject,
) -> (String, Fate, String) {
    match subject {
        Subject::Statement(number) => {
            let found = &statements[*number];
            let row = match (found.after.first(), found.before.first()) {
                (Some(&at), _) => &after.statements[at],
                (None, Some(&at)) => &before.statements[at],
                (None, None) => return (String::new(), found.fate, String::new()),
            };
            let name = format!("{}.{}", row.component, row.label);
            (name, found.fate, row.text.clone())
        }
        Subject::Group(number) => {
            let found = &groups[*number];
            let row = match (found.after.first(), found.before.first()) {
                (Some(&at), _) => &after.groups[at],
                (None, Some(&at)) => &before.groups[at],
                (None, None) => return (String::new(), found.fate, String::new()),
            };
            let name = format!("{}.{}", row.component, row.name);
            (name, found.fate, String::new())
        }
        Subject::Label(label) => (label.clone(), Fate::Same, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::comparison::{Comparison, baseline_with};

    /// A loop that checks its condition in cycles of its own, or not.
    fn run(conditions: u64, overhead: u64) -> Baseline {
        let statement = |label: &str, kind: &str, parent: Option<usize>| json!({ "component": "main", "label": label, "kind": kind, "text": kind, "place": null, "parent": parent, "times": 1, "cycles": 1 });
        let group = |name: &str, kind: &str| json!({ "component": "main", "name": name, "kind": kind, "body": name, "times": 1, "cycles": 1 });
        baseline_with(json!({
            "cycles": 10 + conditions + overhead,
            "useful": 10 + conditions, "conditions": conditions, "overhead": { "fsm-update": overhead }, "unplaced": overhead,
            "statements": [statement("seq@L1", "seq", None), statement("while@L2", "while", Some(0))],
            "groups": [group("more", "comb"), group("add", "dynamic")],
            "frames": [{ "label": "main" }, { "statement": 0 }, { "statement": 1 }, { "group": 0 }, { "group": 1 },
                { "label": "lt (primitive)" }, { "label": "(overhead: FSM update)" }],
            "flame": [[0, 0, 0], [1, 1, 0], [2, 2, 0], [3, 3, 0], [4, 5, conditions * 1000], [3, 4, 10000], [3, 6, overhead * 1000]],
        }))
    }

    #[test]
    fn a_change_stands_at_its_cause_and_all_rows_are_the_runs() {
        let (before, after) = (run(8, 3), run(0, 1));
        let rows = Comparison::new(&before, &after).own;
        let told: Vec<(&str, (u64, u64))> = rows.iter().map(|row| (&*row.name, row.own)).collect();
        assert_eq!(
            told,
            [
                ("main.while@L2", (11_000, 1000)),
                ("main.add", (10_000, 10_000))
            ]
        );
        assert_eq!(rows[0].parts["conditions"], (8000, 0));
        assert_eq!(rows[0].parts["FSM update"], (3000, 1000));
        let sum = rows
            .iter()
            .fold((0, 0), |sum, row| (sum.0 + row.own.0, sum.1 + row.own.1));
        assert_eq!(sum, (before.cycles * 1000, after.cycles * 1000));
    }
}
