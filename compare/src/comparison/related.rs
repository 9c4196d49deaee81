//! Whether two runs have enough in common to be compared.

use std::collections::BTreeSet;

use super::Comparison;
use crate::baseline::{Baseline, GroupFigures, StatementFigures};

impl Comparison {
    /// Why nothing follows from a comparison of these runs; `None` if something does.
    ///
    /// Runs are of the same design, in different versions, if their source files are the same, or if at
    /// least half of the groups of the one with fewer are in the other one: in a component of the same
    /// name by the same name, or anywhere by the same body. Where a run has no groups, its
    /// statements stand for them. And a run that takes no cycles tells nothing of one that takes some.
    pub fn refusal(before: &Baseline, after: &Baseline) -> Option<String> {
        if let Some((idle, _)) = [(before, after), (after, before)]
            .into_iter()
            .find(|(idle, other)| idle.cycles == 0 && other.cycles > 0)
        {
            return Some(format!(
                "the run of {} takes no cycles, so it did nothing that could be compared",
                idle.design
            ));
        }
        (!is_related(before, after)).then(|| {
            format!(
                "{} and {} have nothing in common: more than half of the groups of \
                 the smaller one are not in the other, neither by name nor by body",
                before.design, after.design
            )
        })
    }
}

fn is_related(before: &Baseline, after: &Baseline) -> bool {
    before.files == after.files
        || if before.groups.is_empty() || after.groups.is_empty() {
            statements(before, after)
        } else {
            groups(before, after)
        }
}

/// Whether `common` of `all` are enough. Of none, nothing is known.
fn enough(common: usize, all: usize) -> bool {
    all > 0 && 2 * common >= all
}

fn groups(before: &Baseline, after: &Baseline) -> bool {
    let (few, many) = if before.groups.len() <= after.groups.len() {
        (&before.groups, &after.groups)
    } else {
        (&after.groups, &before.groups)
    };
    let name = |row: &GroupFigures| (row.component.clone(), row.name.clone());
    let body = |row: &GroupFigures| Some((row.kind.clone(), row.body.clone()?));
    let names: BTreeSet<_> = many.iter().map(name).collect();
    let bodies: BTreeSet<_> = many.iter().filter_map(body).collect();
    let is_common = |row: &&GroupFigures| {
        names.contains(&name(row)) || body(row).is_some_and(|body| bodies.contains(&body))
    };
    enough(few.iter().filter(is_common).count(), few.len())
}

fn statements(before: &Baseline, after: &Baseline) -> bool {
    let (few, many) = if before.statements.len() <= after.statements.len() {
        (&before.statements, &after.statements)
    } else {
        (&after.statements, &before.statements)
    };
    let text = |row: &StatementFigures| (row.component.clone(), row.text.clone());
    let texts: BTreeSet<_> = many.iter().map(text).collect();
    let common = few.iter().filter(|row| texts.contains(&text(row))).count();
    enough(common, few.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::comparison::baseline_with;

    /// A run with groups of these names and bodies in `main`.
    fn run(groups: &[(&str, &str)]) -> Baseline {
        let groups: Vec<_> = groups
            .iter()
            .map(|(name, body)| {
                json!({ "component": "main", "name": name, "kind": "dynamic", "body": body, "times": 0, "cycles": 0 })
            })
            .collect();
        baseline_with(json!({ "groups": groups }))
    }

    #[test]
    fn half_of_the_groups_make_a_design() {
        let mut before = run(&[("a", "1"), ("b", "2"), ("c", "3")]);
        // A library that both import.
        let library = json!({ "name": "math.futil", "digest": "1" });
        let library: crate::baseline::FileIdentity = serde_json::from_value(library).unwrap();
        before.files.push(library.clone());
        let related = |groups: &[(&str, &str)]| {
            let mut after = run(groups);
            let own = crate::baseline::FileIdentity {
                digest: "2".to_owned(),
                ..library.clone()
            };
            after.files.extend([library.clone(), own]);
            let either = [(&before, &after), (&after, &before)]
                .map(|(one, other)| Comparison::refusal(one, other).is_none());
            assert_eq!(either[0], either[1], "the order makes a difference");
            either[0]
        };
        assert!(related(&[("a", "1"), ("b", "2"), ("c", "3")]));
        // All were edited; all were renamed; some of each.
        assert!(related(&[("a", "4"), ("b", "5"), ("c", "6")]));
        assert!(related(&[("x", "1"), ("y", "2"), ("z", "3")]));
        assert!(related(&[("a", "4"), ("y", "2"), ("z", "5")]));
        // Much is new, much is gone.
        assert!(related(&[
            ("a", "1"),
            ("c", "3"),
            ("d", "7"),
            ("e", "8"),
            ("f", "9")
        ]));
        assert!(related(&[("b", "2")]));
        // By chance.
        assert!(!related(&[("a", "4"), ("y", "5"), ("z", "6")]));
        assert!(!related(&[("x", "4")]));
        assert!(!related(&[]));
    }

    #[test]
    fn a_run_without_groups_is_known_by_its_files_and_statements() {
        let of = |digest: &str, text: &str| {
            let statement = json!({
                "component": "main", "label": "invoke@L1", "kind": "invoke", "text": text,
                "place": null, "times": 0, "cycles": 0,
            });
            baseline_with(json!({
                "files": [{ "name": "d.futil", "digest": digest }], "statements": [statement],
            }))
        };
        let related = |a: &Baseline, b: &Baseline| Comparison::refusal(a, b).is_none();
        assert!(related(&of("1", "invoke f"), &of("1", "invoke g")));
        assert!(related(&of("1", "invoke f"), &of("2", "invoke f")));
        assert!(!related(&of("1", "invoke f"), &of("2", "invoke g")));
    }

    #[test]
    fn a_run_of_no_cycles_did_nothing() {
        let files = json!([{ "name": "d.futil", "digest": "1" }]);
        let of = |cycles: u64| {
            let cell = json!({
                "path": "main", "component": "main", "times": 1, "cycles": cycles, "busy": cycles,
            });
            let cells = if cycles == 0 { vec![] } else { vec![cell] };
            let frames = json!(if cycles == 0 {
                vec![]
            } else {
                vec![json!({ "label": "main" })]
            });
            let flame = json!(if cycles == 0 {
                vec![]
            } else {
                vec![json!([0, 0, cycles])]
            });
            baseline_with(json!({
                "files": files, "cycles": cycles, "useful": cycles, "cells": cells, "frames": frames,
                "flame": flame,
            }))
        };
        assert!(
            Comparison::refusal(&of(3), &of(0))
                .unwrap()
                .contains("no cycles")
        );
        assert!(
            Comparison::refusal(&of(0), &of(3))
                .unwrap()
                .contains("no cycles")
        );
        assert_eq!(Comparison::refusal(&of(0), &of(0)), None);
        assert_eq!(Comparison::refusal(&of(3), &of(3)), None);
    }
}
