//! Which cells and groups of two runs are the same ones, and the means to tell it of statements, which `statements` does. What
//! can't be told apart is never guessed: it is taken together, or has vanished from the one run and is
//! new in the other.

pub(super) mod statements;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::baseline::Baseline;

/// What became of something from one run to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is the same.
    Same,
    /// It has another text, at the same place of the program.
    Edited,
    /// It has another name.
    Renamed,
    /// It has the same text, in another statement.
    Moved,
    /// There are several with the same text, and nothing tells which is which.
    Alike,
    /// It is no more.
    Vanished,
    /// It was not there before.
    New,
}

/// What belongs together, by position in the lists of the two runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    pub(super) fate: Fate,
}

/// Matches, and what has none yet.
pub(super) struct Matching {
    pub(super) found: Vec<Match>,
    /// From before to after, for what is matched one to one.
    pub(super) pairs: BTreeMap<usize, usize>,
    /// What is left.
    pub(super) before: BTreeSet<usize>,
    pub(super) after: BTreeSet<usize>,
}

impl Matching {
    /// Nothing is matched.
    pub(super) fn new(before: usize, after: usize) -> Self {
        Self {
            found: Vec::new(),
            pairs: BTreeMap::new(),
            before: (0..before).collect(),
            after: (0..after).collect(),
        }
    }

    /// Takes together what belongs together.
    pub(super) fn add(&mut self, before: Vec<usize>, after: Vec<usize>, fate: Fate) {
        for at in &before {
            self.before.remove(at);
        }
        for at in &after {
            self.after.remove(at);
        }
        if let ([from], [to]) = (&before[..], &after[..]) {
            self.pairs.insert(*from, *to);
        }
        self.found.push(Match {
            before,
            after,
            fate,
        });
    }

    /// What is left, by key; things without a key take no part.
    pub(super) fn by_key<K: Ord>(
        &self,
        before: impl Fn(usize) -> Option<K>,
        after: impl Fn(usize) -> Option<K>,
    ) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut sides: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for &at in &self.before {
            if let Some(key) = before(at) {
                sides.entry(key).or_default().0.push(at);
            }
        }
        for &at in &self.after {
            if let Some(key) = after(at) {
                sides.entry(key).or_default().1.push(at);
            }
        }
        sides
            .into_values()
            .filter(|(before, after)| !before.is_empty() && !after.is_empty())
            .collect()
    }

    /// Pairs what is left and the only one with its key on both sides. Tells whether any was.
    pub(super) fn pair<K: Ord>(
        &mut self,
        fate: impl Fn(usize, usize) -> Fate,
        before: impl Fn(usize) -> Option<K>,
        after: impl Fn(usize) -> Option<K>,
    ) -> bool {
        let alone =
            |(before, after): &(Vec<usize>, Vec<usize>)| before.len() == 1 && after.len() == 1;
        let mut pairs = self.by_key(before, after);
        pairs.retain(alone);
        let any = !pairs.is_empty();
        for (before, after) in pairs {
            let fate = fate(before[0], after[0]);
            self.add(before, after, fate);
        }
        any
    }

    /// All matches: in the order of the run after, then what has vanished.
    pub(super) fn finish(mut self) -> Vec<Match> {
        for at in std::mem::take(&mut self.before) {
            self.add(vec![at], Vec::new(), Fate::Vanished);
        }
        for at in std::mem::take(&mut self.after) {
            self.add(Vec::new(), vec![at], Fate::New);
        }
        let order = |found: &Match| found.after.first().copied().unwrap_or(usize::MAX);
        self.found.sort_by_key(order);
        self.found
    }
}

/// Matches component cells: by path, else the only cell of its component in the same cell.
pub(super) fn cells(before: &Baseline, after: &Baseline) -> Vec<Match> {
    let split = |run: &Baseline, at: usize| match run.cells[at].path.rsplit_once('.') {
        Some((parent, name)) => (Some(parent.to_owned()), name.to_owned()),
        // The name of the main component does not matter.
        None => (None, String::new()),
    };
    let mut matching = Matching::new(before.cells.len(), after.cells.len());
    loop {
        let names: BTreeMap<String, String> = matching
            .pairs
            .iter()
            .map(|(&from, &to)| {
                (
                    before.cells[from].path.clone(),
                    after.cells[to].path.clone(),
                )
            })
            .collect();
        let placed = |at| match split(before, at) {
            (Some(parent), name) => names
                .get(&parent)
                .map(|parent| (Some(parent.clone()), name)),
            main => Some(main),
        };
        let of = |run: &Baseline, at: usize| run.cells[at].component.clone();
        let any = matching.pair(|_, _| Fate::Same, placed, |at| Some(split(after, at)))
            || matching.pair(
                |_, _| Fate::Renamed,
                |at| Some((placed(at)?.0, of(before, at))),
                |at| Some((split(after, at).0, of(after, at))),
            );
        if !any {
            return matching.finish();
        }
    }
}

/// Matches groups: by component and name, else by a body that no other group of the component has.
pub(super) fn groups(before: &Baseline, after: &Baseline) -> Vec<Match> {
    let (from, to) = (&before.groups, &after.groups);
    let mut matching = Matching::new(from.len(), to.len());
    matching.pair(
        |a, b| {
            if from[a].body == to[b].body && from[a].kind == to[b].kind {
                Fate::Same
            } else {
                Fate::Edited
            }
        },
        |at| Some((&from[at].component, &from[at].name)),
        |at| Some((&to[at].component, &to[at].name)),
    );
    matching.pair(
        |_, _| Fate::Renamed,
        |at| Some((&from[at].component, &from[at].kind, from[at].body.as_ref()?)),
        |at| Some((&to[at].component, &to[at].kind, to[at].body.as_ref()?)),
    );
    matching.finish()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::comparison::baseline_with;

    fn run(cells: &[(&str, &str)]) -> Baseline {
        let cells: Vec<_> = cells
            .iter()
            .map(|(path, component)| {
                json!({ "path": path, "component": component, "times": 0, "cycles": 0, "busy": 0 })
            })
            .collect();
        baseline_with(json!({ "cells": cells }))
    }

    #[test]
    fn cells_are_known_by_path_and_else_by_component() {
        let before = run(&[
            ("main", "main"),
            ("main.a", "stage"),
            ("main.a.x", "leaf"),
            ("main.b", "other"),
            ("main.p", "twin"),
            ("main.q", "twin"),
        ]);
        let after = run(&[
            ("top", "top"),
            ("top.b", "other"),
            ("top.c", "stage"),
            ("top.c.x", "leaf"),
            ("top.r", "twin"),
            ("top.s", "twin"),
        ]);
        let path = |run: &Baseline, list: &[usize]| -> String {
            list.iter().map(|&at| run.cells[at].path.as_str()).collect()
        };
        let told: Vec<String> = cells(&before, &after)
            .iter()
            .map(|found| {
                let from = path(&before, &found.before);
                format!("{from}>{} {:?}", path(&after, &found.after), found.fate)
            })
            .collect();
        expect![[r#"
            [
                "main>top Same",
                "main.b>top.b Same",
                "main.a>top.c Renamed",
                "main.a.x>top.c.x Same",
                ">top.r New",
                ">top.s New",
                "main.p> Vanished",
                "main.q> Vanished",
            ]
        "#]]
        .assert_debug_eq(&told);
    }
}
