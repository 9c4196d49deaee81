//! Which cells, groups and statements of two runs are the same ones. What can't be told apart is
//! never guessed: it is taken together, or has vanished from the one run and is new in the other.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::baseline::source::rename;
use crate::baseline::{Baseline, FileIdentity, StatementFigures};

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
    /// It has the same text, at another place of the program.
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
struct Matching {
    found: Vec<Match>,
    /// From before to after, for what is matched one to one.
    pairs: BTreeMap<usize, usize>,
    before: BTreeSet<usize>,
    after: BTreeSet<usize>,
}

impl Matching {
    fn new(before: usize, after: usize) -> Self {
        Self {
            found: Vec::new(),
            pairs: BTreeMap::new(),
            before: (0..before).collect(),
            after: (0..after).collect(),
        }
    }

    fn add(&mut self, before: Vec<usize>, after: Vec<usize>, fate: Fate) {
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
    fn by_key<K: Ord>(
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
    fn pair<K: Ord>(
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
    fn finish(mut self) -> Vec<Match> {
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

/// Matches statements.
///
/// Those of a source file that is the same in both runs by place. Others by an alignment of the
/// component's statements in source order; then by their text under the same parent, by their text
/// anywhere in the component, and as the only one of their kind under the same parent, as long as
/// that finds any.
pub(super) fn statements(before: &Baseline, after: &Baseline, groups: &[Match]) -> Vec<Match> {
    let texts = Texts::new(before, after, groups);
    let (from, to) = (&before.statements, &after.statements);
    let mut matching = Matching::new(from.len(), to.len());
    matching.pair(
        |_, _| Fate::Same,
        |at| place(before, after, at),
        |at| place(after, before, at),
    );
    align(&mut matching, before, after, &texts);
    loop {
        let pairs = matching.pairs.clone();
        let under = |at: usize| match from[at].parent {
            None => Some(None),
            Some(parent) => pairs.get(&parent).map(|&parent| Some(parent)),
        };
        let any = matching.pair(
            |_, _| Fate::Same,
            |at| Some((under(at)?, texts.before(at))),
            |at| Some((to[at].parent, texts.after(at))),
        ) || matching.pair(
            |_, _| Fate::Moved,
            |at| says_something(&from[at]).then(|| texts.before(at)),
            |at| says_something(&to[at]).then(|| texts.after(at)),
        ) || matching.pair(
            |_, _| Fate::Edited,
            |at| Some((under(at)?, texts.before(at).without_text()?)),
            |at| Some((to[at].parent, texts.after(at).without_text()?)),
        );
        if !any {
            break;
        }
    }
    for (before, after) in matching.by_key(
        |at| says_something(&from[at]).then(|| texts.before(at)),
        |at| says_something(&to[at]).then(|| texts.after(at)),
    ) {
        matching.add(before, after, Fate::Alike);
    }
    matching.finish()
}

/// What a statement says, without its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Text<'a> {
    component: &'a str,
    kind: &'a str,
    text: &'a str,
}

impl Text<'_> {
    /// For a statement whose text may change. An enable that runs another group is another one.
    fn without_text(self) -> Option<Self> {
        (self.kind != "enable").then_some(Self { text: "", ..self })
    }
}

/// The texts of all statements, with the names that groups have after.
struct Texts<'a> {
    before: &'a Baseline,
    after: &'a Baseline,
    renamed: Vec<String>,
}

impl<'a> Texts<'a> {
    fn new(before: &'a Baseline, after: &'a Baseline, groups: &[Match]) -> Self {
        let names: BTreeMap<(&str, &str), &str> = groups
            .iter()
            .filter(|found| found.fate == Fate::Renamed)
            .flat_map(|found| found.before.iter().zip(&found.after))
            .map(|(&from, &to)| {
                let group = &before.groups[from];
                let name = (group.component.as_str(), group.name.as_str());
                (name, after.groups[to].name.as_str())
            })
            .collect();
        let renamed = before
            .statements
            .iter()
            .map(|row| {
                rename(&row.text, |word| {
                    names.get(&(&*row.component, word)).copied()
                })
            })
            .collect();
        Self {
            before,
            after,
            renamed,
        }
    }

    fn before(&self, at: usize) -> Text<'_> {
        Text {
            text: &self.renamed[at],
            ..text(&self.before.statements[at])
        }
    }

    fn after(&self, at: usize) -> Text<'_> {
        text(&self.after.statements[at])
    }
}

fn text(row: &StatementFigures) -> Text<'_> {
    Text {
        component: &row.component,
        kind: row.kind.trim_start_matches("static "),
        text: &row.text,
    }
}

/// Whether the text of a statement tells more than its kind.
fn says_something(row: &StatementFigures) -> bool {
    !matches!(text(row).kind, "seq" | "par" | "sync")
}

/// The place of a statement, if its file is the same in the other run.
fn place<'a>(
    run: &'a Baseline,
    other: &Baseline,
    at: usize,
) -> Option<(&'a str, &'a FileIdentity, u32, u32, &'a str)> {
    let row = &run.statements[at];
    let place = row.place?;
    let file = &run.files[place.file];
    let known = other.files.contains(file);
    let kind = text(row).kind;
    known.then_some((&row.component, file, place.line, place.column, kind))
}

/// Aligns what is left, component by component. Counts only what an alignment from the end finds
/// too: where equal statements stand beside each other, the two differ.
fn align(matching: &mut Matching, before: &Baseline, after: &Baseline, texts: &Texts<'_>) {
    let mut components: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for &at in &matching.before {
        let component = components.entry(&before.statements[at].component);
        component.or_default().0.push(at);
    }
    for &at in &matching.after {
        let component = components.entry(&after.statements[at].component);
        component.or_default().1.push(at);
    }
    for (mut from, mut to) in components.into_values() {
        let forwards = aligned(&from, &to, texts);
        from.reverse();
        to.reverse();
        for &(from, to) in forwards.intersection(&aligned(&from, &to, texts)) {
            matching.add(vec![from], vec![to], Fate::Same);
        }
    }
}

fn aligned(before: &[usize], after: &[usize], texts: &Texts<'_>) -> BTreeSet<(usize, usize)> {
    let from: Vec<Text<'_>> = before.iter().map(|&at| texts.before(at)).collect();
    let to: Vec<Text<'_>> = after.iter().map(|&at| texts.after(at)).collect();
    capture_diff_slices(Algorithm::Myers, &from, &to)
        .into_iter()
        .filter_map(|operation| match operation {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => Some(
                before[old_index..][..len]
                    .iter()
                    .zip(&after[new_index..][..len]),
            ),
            _ => None,
        })
        .flatten()
        .map(|(&from, &to)| (from, to))
        .collect()
}
