//! A second look at what a rule calls proved: the pieces that an edit changes, run before and after it with values that nobody knows.
//!
//! Owns what a comparison of pieces says, without which nothing is proved. It knows no rule of the edits: where pieces come to the same, they do for
//! all values; where they don't, there are values that show it. What it can't follow (calls, loops and groups of which values tell how long they take) leaves the same wherever it
//! starts with the same. Cells are told apart by their names, `ref` cells too.

mod ends;
mod left;
mod pair;
mod past;
mod run;
mod shape;
mod terms;

use std::fmt::Write as _;

use calyx_ir as ir;
use petal_program::Program;
use petal_program::tree::View;
use serde::Serialize;

use self::pair::Pair;
pub(crate) use self::run::{Assignment, assignments, times};
use self::run::{Machine, State};
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
            let once = one.name == before.ctx.entrypoint;
            Pair::of(one, other, kind, once).pieces(&mut found);
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

/// Why nothing shows that pieces come to the same, if so: a clause. Those that do not are a matter of their own.
pub(crate) fn why_open(pieces: &[Piece]) -> Option<String> {
    let of = |piece: &Piece| match &piece.verdict {
        Verdict::Open(why) => Some(format!("{}: {why}", piece.name)),
        Verdict::Equal | Verdict::Differs(_) => None,
    };
    let differs = |piece: &Piece| matches!(piece.verdict, Verdict::Differs(_));
    if pieces.iter().any(differs) {
        return None;
    }
    pieces.iter().find_map(of)
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
            Verdict::Open(why) => format!("not shown: {why}"),
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

#[cfg(test)]
mod tests;
