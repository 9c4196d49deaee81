//! A second look at what is proved: the pieces that an edit changes, run before and after it with values that nobody knows.
//!
//! Owns which pieces of two programs correspond, and what a comparison of them says. It knows no rule of the edits: where pieces come
//! to the same, they do for all values; where they don't, there are values that show it. What it can't follow (loops, calls, what takes a time that
//! depends on values) leaves the same wherever it starts with the same. What needs a cell that an edit left out rests on the rule alone. Cells
//! are told apart by their names, `ref` cells too.

mod ends;
mod run;
mod shape;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use calyx_ir as ir;
use petal_program::Program;
use petal_program::tree::View;
use serde::Serialize;

use self::ends::Ends;
pub(crate) use self::run::{Assignment, assignments};
use self::run::{Machine, State};
use self::shape::{
    bodies, body, by_name, head, is_conditional, is_like, is_list, kind, shape, texts,
};
use self::terms::Terms;
use crate::rewrites::RewriteKind;

/// What a look at the pieces came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// Pieces that the change makes others.
    pub pieces: usize,
    /// Those that come to the same before and after it, run with values that nobody knows.
    pub equal: usize,
}

/// A piece of a program that an edit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The component, and what it is.
    pub name: String,
    /// Its text before and after the edit.
    pub texts: [String; 2],
    /// What comes of it.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Both come to the same, whatever the values.
    Equal,
    /// Nobody knows: why not.
    Open(String),
    /// They do not: with which values.
    Differs(String),
}

/// The pieces that are others after an edit of this kind, in the order of components.
pub fn pieces(before: &Program, after: &Program, kind: RewriteKind) -> Vec<Piece> {
    let mut found = Vec::new();
    for one in &before.ctx.components {
        let other = after.ctx.components.iter().find(|of| of.name == one.name);
        if let Some(other) = other {
            Pair::of(one, other, kind).pieces(&mut found);
        }
    }
    found
}

/// Whether a statement that runs a second time leaves what it left the first time, whatever the cells hold; `None` if it is not followed.
pub(crate) fn is_same_again(component: &ir::Component, view: View<'_>) -> Option<bool> {
    let machine = Machine::of(component);
    let mut terms = Terms::default();
    let mut run = machine.run(&mut terms);
    run.is_whole = true;
    run.statements(&[view]).ok()?;
    let once = run.cells.clone();
    run.statements(&[view]).ok()?;
    let is_kept = |(name, state): (&ir::Id, &State)| {
        let before = once.get(name);
        before.is_some_and(|before| before.held == state.held && before.given == state.given)
    };
    Some(run.cells.iter().all(is_kept))
}

/// Those of some registers that hold, before one of some steps runs a second time, after all of them have run once, what that will give another register,
/// whatever the cells hold at first.
pub(crate) fn same_before(
    component: &ir::Component,
    steps: &[View<'_>],
    step: usize,
    given: ir::Id,
    registers: &[ir::Id],
) -> Vec<ir::Id> {
    let machine = Machine::of(component);
    let mut terms = Terms::default();
    let mut run = machine.run(&mut terms);
    run.is_whole = true;
    let mut held = || {
        run.statements(steps).ok()?;
        run.statements(&steps[..step]).ok()?;
        let before = run.cells.clone();
        run.statements(&steps[step..=step]).ok()?;
        Some((before, run.cells.get(&given)?.held?))
    };
    let Some((before, word)) = held() else {
        return Vec::new();
    };
    let has_it = |register: &&ir::Id| {
        let state = before.get(*register);
        **register != given && state.is_some_and(|state| state.held == Some(word))
    };
    registers.iter().filter(has_it).copied().collect()
}

impl Looked {
    pub(crate) fn at(pieces: &[Piece]) -> Self {
        let equal = pieces.iter().filter(|of| of.verdict == Verdict::Equal);
        Self {
            pieces: pieces.len(),
            equal: equal.count(),
        }
    }
}

/// What is shown of a proved change, and its pieces, as text.
pub(crate) fn text(number: usize, what: &str, premise: &str, pieces: &[Piece]) -> String {
    let Looked { pieces: all, equal } = Looked::at(pieces);
    let mut text = format!("{number}  {what}\n\n  rule: {premise}\n");
    let _ = match (equal, all) {
        (_, 0) => writeln!(
            text,
            "  no group, statement or condition becomes another one\n"
        ),
        (1, 1) => writeln!(
            text,
            "  the piece that it changes comes to the same, run with unknown values\n"
        ),
        _ if equal == all => writeln!(
            text,
            "  all {all} pieces that it changes come to the same, run with unknown values\n"
        ),
        _ => writeln!(
            text,
            "  {equal} of {all} pieces that it changes come to the same, run with unknown values\n"
        ),
    };
    for Piece {
        name,
        texts: [before, after],
        verdict,
    } in pieces
    {
        let said = match verdict {
            Verdict::Equal => "the same, whatever the values".to_owned(),
            Verdict::Open(why) => format!("by the rule alone: {why}"),
            Verdict::Differs(how) => format!("NOT THE SAME: {how}"),
        };
        let _ = writeln!(text, "  {name}: {said}");
        for (sign, lines) in [('-', before), ('+', after)] {
            for line in lines.lines() {
                let _ = writeln!(text, "    {sign} {line}");
            }
        }
        text.push('\n');
    }
    text
}

/// A component, before and after.
struct Pair<'a> {
    both: [&'a ir::Component; 2],
    machines: [Machine<'a>; 2],
    /// The cells that only one of them has.
    apart: BTreeSet<ir::Id>,
    /// A cell that is something else in the other one.
    other: Option<ir::Id>,
    /// Whether the edit may leave something else in cells that nobody looks at, which is the claim of its rule.
    leaves_others: bool,
}

fn cells(component: &ir::Component) -> BTreeMap<ir::Id, String> {
    let cells = component.cells.iter().map(|cell| {
        let cell = cell.borrow();
        (cell.name(), format!("{:?}", cell.prototype))
    });
    cells.collect()
}

impl<'a> Pair<'a> {
    fn of(before: &'a ir::Component, after: &'a ir::Component, kind: RewriteKind) -> Self {
        let [one, other] = [before, after].map(cells);
        let names = one.keys().chain(other.keys()).copied();
        Self {
            both: [before, after],
            machines: [before, after].map(Machine::of),
            apart: names
                .filter(|name| one.contains_key(name) != other.contains_key(name))
                .collect(),
            other: one
                .iter()
                .find_map(|(name, of)| (other.get(name)? != of).then_some(*name)),
            leaves_others: matches!(kind, RewriteKind::CopyPropagation | RewriteKind::Shift),
        }
    }

    fn pieces(&self, found: &mut Vec<Piece>) {
        let controls = self.both.map(|of| of.control.borrow());
        let [before, after] = [&controls[0], &controls[1]].map(|of| View::of(of));
        let mut same = BTreeSet::new();
        self.control(before, after, &mut same, found);
        for name in by_name(same) {
            let [Some(one), Some(other)] = self.both.map(|of| body(of, name)) else {
                continue;
            };
            if one != other {
                let texts = [one, other];
                let verdict = self.groups(name);
                found.push(self.piece(&format!("the group `{name}`"), texts, verdict));
            }
        }
    }

    fn piece(&self, what: &str, texts: [String; 2], verdict: Verdict) -> Piece {
        Piece {
            name: format!("{}: {what}", self.both[0].name),
            texts,
            verdict,
        }
    }

    /// Compares statements; `same` gets the groups that run in the same places.
    fn control(
        &self,
        before: View<'_>,
        after: View<'_>,
        same: &mut BTreeSet<ir::Id>,
        found: &mut Vec<Piece>,
    ) {
        if shape(before) == shape(after) {
            before.walk(&mut |view| same.extend(view.group().map(|group| group.name())));
            return;
        }
        let (one, other) = (before.children(), after.children());
        let heads = [head(before), head(after)];
        let is_same = heads[0] == heads[1] && !is_list(before);
        let is_condition = is_conditional(before) && kind(before) == kind(after);
        if (is_same || is_condition) && one.len() == other.len() {
            if !is_same {
                let verdict = self.verdict(|machine, terms, which| {
                    let view = [before, after][which];
                    Ok(Ends::of_condition(machine.run(terms).condition(view)?))
                });
                found.push(self.piece("a condition", heads, verdict));
            }
            for (one, other) in one.into_iter().zip(other) {
                self.control(one, other, same, found);
            }
            return;
        }
        if is_list(before) && kind(before) == kind(after) {
            self.list(&one, &other, kind(before) == 's', same, found);
        } else {
            self.statements(&[before], &[after], found);
        }
    }

    /// Compares lists of statements: what is not the same at their begins and ends.
    fn list(
        &self,
        one: &[View<'_>],
        other: &[View<'_>],
        is_seq: bool,
        same: &mut BTreeSet<ir::Id>,
        found: &mut Vec<Piece>,
    ) {
        let shapes = |views: &[View<'_>]| views.iter().map(|view| shape(*view)).collect::<Vec<_>>();
        let (first, second) = (shapes(one), shapes(other));
        let most = first.len().min(second.len());
        let begin = (0..most).take_while(|at| first[*at] == second[*at]).count();
        let ends = (0..most - begin)
            .take_while(|at| first[first.len() - 1 - at] == second[second.len() - 1 - at]);
        let end = ends.count();
        for view in one[..begin].iter().chain(&one[one.len() - end..]) {
            view.walk(&mut |view| same.extend(view.group().map(|group| group.name())));
        }
        let (one, other) = (
            &one[begin..one.len() - end],
            &other[begin..other.len() - end],
        );
        match (one, other) {
            _ if one.len() == other.len()
                && one.iter().zip(other).all(|(a, b)| is_like(*a, *b)) =>
            {
                for (one, other) in one.iter().zip(other) {
                    self.control(*one, *other, same, found);
                }
            }
            _ if is_seq => self.statements(one, other, found),
            _ => {
                let texts = [one, other].map(texts);
                let verdict = Verdict::Open("arms of a `par` are others".to_owned());
                found.push(self.piece("arms", texts, verdict));
            }
        }
    }

    fn statements(&self, one: &[View<'_>], other: &[View<'_>], found: &mut Vec<Piece>) {
        let verdict = self.verdict(|machine, terms, which| {
            let mut run = machine.run(terms);
            run.statements([one, other][which])?;
            Ok(self.ends(run, which))
        });
        let text = |which: usize, views: &[View<'_>]| {
            let bodies = bodies(self.both[which], views);
            format!("{}\n{bodies}", texts(views))
        };
        let texts = [text(0, one), text(1, other)];
        found.push(self.piece("these statements", texts, verdict));
    }

    fn groups(&self, name: ir::Id) -> Verdict {
        self.verdict(|machine, terms, which| {
            let control = self.both[which].control.borrow();
            let mut run = machine.run(terms);
            // Of a group that is another one, its text tells nothing.
            run.is_whole = true;
            let mut done = None;
            View::of(&control).walk(&mut |view| {
                let is_it = view.group().is_some_and(|group| group.name() == name);
                if is_it && done.is_none() {
                    done = Some(run.statements(&[view]));
                }
            });
            done.unwrap_or_else(|| Err("nothing runs it".to_owned()))?;
            Ok(self.ends(run, which))
        })
    }
}

#[cfg(test)]
mod tests;
