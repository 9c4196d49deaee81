//! Which statements of two runs are the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Fate, Match, Matching};
use crate::baseline::{Baseline, FileIdentity, StatementFigures};
use petal_analysis::sources::rename;

/// Matches statements.
///
/// Those of a source file that is the same in both runs by place. Others by an alignment of the
/// component's statements in source order: first of those whose front end's lines are known, by these too, whatever
/// their numbers, and then by the only one with its text and line. Then, as long as that finds any: the only block
/// with the same children; the only one with its text under the same parent; the only one with its
/// text in the component; the only one of its kind under the same parent.
pub(crate) fn statements(before: &Baseline, after: &Baseline, groups: &[Match]) -> Vec<Match> {
    let texts = Texts::new(before, after, groups);
    let (from, to) = (&before.statements, &after.statements);
    let mut matching = Matching::new(from.len(), to.len());
    matching.pair(
        |_, _| Fate::Same,
        |at| place(before, after, at),
        |at| place(after, before, at),
    );
    let placed_before = |at: usize| Some((texts.before(at), front_end(&from[at])?));
    let placed_after = |at: usize| Some((texts.after(at), front_end(&to[at])?));
    align(&mut matching, before, after, placed_before, placed_after);
    matching.pair(|_, _| Fate::Moved, placed_before, placed_after);
    let telling_before = |at: usize| texts.before(at).telling();
    let telling_after = |at: usize| texts.after(at).telling();
    align(&mut matching, before, after, telling_before, telling_after);
    loop {
        let pairs = matching.pairs.clone();
        let under = |at: usize| match from[at].parent {
            None => Some(None),
            Some(parent) => pairs.get(&parent).map(|&parent| Some(parent)),
        };
        let holders = holders(&matching, from, to, &texts);
        let any = matching.pair(|_, _| Fate::Same, |at| holders[at], Some)
            || matching.pair(
                |_, _| Fate::Same,
                |at| Some((under(at)?, texts.before(at))),
                |at| Some((to[at].parent, texts.after(at))),
            )
            || matching.pair(|_, _| Fate::Moved, telling_before, telling_after)
            || matching.pair(
                |_, _| Fate::Edited,
                |at| Some((under(at)?, texts.before(at).without_text()?)),
                |at| Some((to[at].parent, texts.after(at).without_text()?)),
            );
        if !any {
            break;
        }
    }
    for (before, after) in matching.by_key(telling_before, telling_after) {
        matching.add(before, after, Fate::Alike);
    }
    // What moved with its parent did not move.
    let pairs = matching.pairs.clone();
    for found in &mut matching.found {
        if let ([a], [b], Fate::Moved) = (&found.before[..], &found.after[..], found.fate) {
            let parent = from[*a].parent.map(|parent| pairs.get(&parent).copied());
            if parent == to[*b].parent.map(Some) {
                found.fate = Fate::Same;
            }
        }
    }
    matching.finish()
}

/// For each block before: the only block with the same text that holds children of it after.
fn holders(
    matching: &Matching,
    from: &[StatementFigures],
    to: &[StatementFigures],
    texts: &Texts<'_>,
) -> Vec<Option<usize>> {
    let mut holders: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); from.len()];
    for (&a, &b) in &matching.pairs {
        if let (Some(block), Some(holder)) = (from[a].parent, to[b].parent)
            && matching.after.contains(&holder)
            && texts.before(block) == texts.after(holder)
        {
            holders[block].insert(holder);
        }
    }
    let only = |found: &BTreeSet<usize>| (found.len() == 1).then(|| found.first().copied());
    holders.iter().map(|found| only(found).flatten()).collect()
}

/// What a statement says, without its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Text<'a> {
    component: &'a str,
    kind: &'a str,
    head: &'a str,
}

impl Text<'_> {
    /// For a statement whose text tells more than its kind.
    fn telling(self) -> Option<Self> {
        (!matches!(self.kind, "seq" | "par" | "sync")).then_some(self)
    }

    /// For a statement whose text may change. An enable that runs another group is another one.
    fn without_text(self) -> Option<Self> {
        (self.kind != "enable").then_some(Self { head: "", ..self })
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
            head: &self.renamed[at],
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
        head: &row.text,
    }
}

/// What the front end's line of a statement says, without its number: edits above it change that.
fn front_end(row: &StatementFigures) -> Option<(&str, &str)> {
    let place = row.front_end.as_ref()?;
    Some((&place.file, place.text.as_deref()?))
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

/// Aligns the statements that are left and have a key, component by component. Counts only what an alignment from the end finds
/// too: where equal statements stand beside each other, the two differ.
fn align<K: Ord + Hash>(
    matching: &mut Matching,
    before: &Baseline,
    after: &Baseline,
    key_before: impl Fn(usize) -> Option<K>,
    key_after: impl Fn(usize) -> Option<K>,
) {
    let mut components: BTreeMap<&str, (Keyed<K>, Keyed<K>)> = BTreeMap::new();
    for &at in &matching.before {
        if let Some(key) = key_before(at) {
            let component = components.entry(&before.statements[at].component);
            component.or_default().0.push(at, key);
        }
    }
    for &at in &matching.after {
        if let Some(key) = key_after(at) {
            let component = components.entry(&after.statements[at].component);
            component.or_default().1.push(at, key);
        }
    }
    for (mut from, mut to) in components.into_values() {
        let forwards = aligned(&from, &to);
        from.reverse();
        to.reverse();
        for &(from, to) in forwards.intersection(&aligned(&from, &to)) {
            matching.add(vec![from], vec![to], Fate::Same);
        }
    }
}

/// Statements with their keys, in the order of the source or the other way round.
struct Keyed<K> {
    at: Vec<usize>,
    keys: Vec<K>,
}

impl<K> Default for Keyed<K> {
    fn default() -> Self {
        Self {
            at: Vec::new(),
            keys: Vec::new(),
        }
    }
}

impl<K> Keyed<K> {
    fn push(&mut self, at: usize, key: K) {
        self.at.push(at);
        self.keys.push(key);
    }

    fn reverse(&mut self) {
        self.at.reverse();
        self.keys.reverse();
    }
}

fn aligned<K: Ord + Hash>(before: &Keyed<K>, after: &Keyed<K>) -> BTreeSet<(usize, usize)> {
    capture_diff_slices(Algorithm::Myers, &before.keys, &after.keys)
        .into_iter()
        .filter_map(|operation| match operation {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => Some(
                before.at[old_index..][..len]
                    .iter()
                    .zip(&after.at[new_index..][..len]),
            ),
            _ => None,
        })
        .flatten()
        .map(|(&from, &to)| (from, to))
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::baseline::FrontEndPlace;
    use crate::comparison::baseline_with;
    use crate::comparison::matching::groups;

    /// A run of the component `main` with the statements of `program`: a line for each, indented as
    /// the program is. The file's digest is the program's text, unless that is to change.
    fn run(program: &str, file: &str, groups: &[(&str, &str)]) -> Baseline {
        let mut parents: Vec<usize> = Vec::new();
        let mut statements = Vec::new();
        for (at, line) in program.lines().enumerate() {
            let depth = (line.len() - line.trim_start().len()) / 2;
            let text = line.trim();
            parents.truncate(depth);
            let word = text.split(' ').next().unwrap_or(text);
            let block = ["seq", "par", "if", "while"].contains(&word);
            let kind = if block { word } else { "enable" };
            statements.push(json!({
                "component": "main", "label": format!("{text}@{at}"), "kind": kind, "text": text,
                "place": { "file": 0, "line": at + 1, "column": depth * 2 + 1 },
                "parent": parents.last(), "times": 0, "cycles": 0,
            }));
            parents.push(at);
        }
        let groups: Vec<_> = groups
            .iter()
            .map(|(name, body)| {
                json!({
                    "component": "main", "name": name, "kind": "dynamic", "body": body,
                    "times": 0, "cycles": 0,
                })
            })
            .collect();
        baseline_with(json!({
            "files": [{ "name": "d.futil", "digest": file }],
            "groups": groups,
            "statements": statements,
        }))
    }

    fn show(before: &Baseline, after: &Baseline) -> String {
        let groups = groups(before, after);
        let mut text = String::new();
        for found in statements(before, after, &groups) {
            let labels = |run: &Baseline, list: &[usize]| -> Vec<String> {
                let labels = list.iter().map(|&at| run.statements[at].label.clone());
                labels.collect()
            };
            let from = labels(before, &found.before).join(" ");
            let to = labels(after, &found.after).join(" ");
            text.push_str(format!("{:?}: {from} -> {to}", found.fate).trim_end());
            text.push('\n');
        }
        text
    }

    fn check(before: &str, after: &str, expected: &Expect) {
        expected.assert_eq(&show(&run(before, before, &[]), &run(after, after, &[])));
    }

    #[test]
    fn an_insertion_shifts_nothing() {
        check(
            "seq\n  init\n  while a\n    seq\n      x\n      y",
            "seq\n  init\n  more\n  while a\n    par\n      seq\n        x\n        y\n      z",
            &expect![[r#"
                Same: seq@0 -> seq@0
                Same: init@1 -> init@1
                New:  -> more@2
                Same: while a@2 -> while a@3
                New:  -> par@4
                Same: seq@3 -> seq@5
                Same: x@4 -> x@6
                Same: y@5 -> y@7
                New:  -> z@8
            "#]],
        );
    }

    #[test]
    fn equal_neighbours_are_taken_together_and_not_guessed() {
        check(
            "seq\n  x\n  x\n  y",
            "seq\n  x\n  x\n  x\n  y",
            &expect![[r#"
                Same: seq@0 -> seq@0
                Alike: x@1 x@2 -> x@1 x@2 x@3
                Same: y@3 -> y@4
            "#]],
        );
    }

    #[test]
    fn blocks_are_known_by_what_they_hold() {
        check(
            "par\n  seq\n    a\n  seq\n    b",
            "par\n  if p\n    seq\n      b\n  seq\n    c",
            &expect![[r#"
                Same: par@0 -> par@0
                New:  -> if p@1
                Same: seq@3 -> seq@2
                Same: b@4 -> b@3
                Same: seq@1 -> seq@4
                New:  -> c@5
                Vanished: a@2 ->
            "#]],
        );
    }

    #[test]
    fn an_edited_condition_and_a_moved_statement_are_told() {
        check(
            "seq\n  a\n  while x\n    b\n  c",
            "seq\n  c\n  while y\n    b\n  d",
            &expect![[r#"
                Same: seq@0 -> seq@0
                Same: c@4 -> c@1
                Edited: while x@2 -> while y@2
                Same: b@3 -> b@3
                New:  -> d@4
                Vanished: a@1 ->
            "#]],
        );
    }

    #[test]
    fn equal_statements_are_known_by_the_lines_of_the_front_end() {
        let with_lines = |program: &str, lines: &[&str]| {
            let mut run = run(program, program, &[]);
            for (statement, text) in run.statements.iter_mut().zip(lines) {
                statement.front_end = Some(FrontEndPlace {
                    file: "gen.py".to_owned(),
                    line: u32::try_from(program.len()).unwrap(),
                    text: (!text.is_empty()).then(|| (*text).to_owned()),
                });
            }
            run
        };
        let before = with_lines(
            "seq\n  x\n  x\n  par\n    x\n  x",
            &["main", "first", "second", "both", "third", ""],
        );
        let after = with_lines(
            "seq\n  x\n  x\n  x\n  par\n    x\n  x",
            &["main", "zeroth", "second", "first", "both", "third", ""],
        );
        expect![[r#"
            Same: seq@0 -> seq@0
            Alike: x@5 -> x@1 x@6
            Same: x@2 -> x@2
            Same: x@1 -> x@3
            Same: par@3 -> par@4
            Same: x@4 -> x@5
        "#]]
        .assert_eq(&show(&before, &after));
    }

    #[test]
    fn in_an_unchanged_file_the_place_decides() {
        let program = "seq\n  x\n  x\n  x";
        expect![[r#"
            Same: seq@0 -> seq@0
            Same: x@1 -> x@1
            Same: x@2 -> x@2
            Same: x@3 -> x@3
        "#]]
        .assert_eq(&show(&run(program, "", &[]), &run(program, "", &[])));
    }

    #[test]
    fn a_renamed_group_is_known_by_its_body() {
        let before = run(
            "seq\n  a\n  while p with c",
            "1",
            &[("a", "0"), ("c", "1"), ("e", "2"), ("f", "2"), ("g", "3")],
        );
        let after = run(
            "seq\n  b\n  while p with d",
            "2",
            &[("b", "0"), ("d", "1"), ("h", "2"), ("g", "4")],
        );
        expect![[r#"
            Same: seq@0 -> seq@0
            Same: a@1 -> b@1
            Same: while p with c@2 -> while p with d@2
        "#]]
        .assert_eq(&show(&before, &after));
        let told: Vec<String> = groups(&before, &after)
            .iter()
            .map(|found| {
                let names = |run: &Baseline, list: &[usize]| -> String {
                    list.iter()
                        .map(|&at| run.groups[at].name.as_str())
                        .collect()
                };
                let from = names(&before, &found.before);
                format!("{from}>{} {:?}", names(&after, &found.after), found.fate)
            })
            .collect();
        expect![[r#"
            [
                "a>b Renamed",
                "c>d Renamed",
                ">h New",
                "g>g Edited",
                "e> Vanished",
                "f> Vanished",
            ]
        "#]]
        .assert_debug_eq(&told);
    }
}
