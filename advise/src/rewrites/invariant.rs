//! Steps of a loop that do the same in each iteration: they may as well run once, before it.
//!
//! A loop runs `before; step; after` so many times. If the step has nothing to do with what is before it, and what is after it changes nothing that the
//! step reads or writes, each run of the step but the first one finds what that left. Owns of which groups that is offered, and of which it is certain.

use std::collections::HashSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::{ControlId, ControlKind};
use petal_program::dependences::{Cells, Effects, cell_of, ports_read};
use petal_program::tree::{GroupRef, View};

use super::ends::End;
use super::misread::loops::Edited;
use super::parallel::MAX_STEPS;
use super::state::is_memory;
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};
use crate::proof;

/// A loop below a statement.
#[derive(Clone, Copy)]
struct Loop<'a> {
    parent: View<'a>,
    /// Which of the statements below that it is.
    at: usize,
    view: View<'a>,
    /// Whether it surely runs whenever it is entered.
    runs: bool,
}

/// A step of a loop that may run before it.
#[derive(Clone)]
pub(super) struct Invariant<'a> {
    pub id: ControlId,
    pub view: View<'a>,
    pub span: Range<usize>,
    pub certainty: (Certainty, String),
}

/// A part of an iteration.
#[derive(Clone, Copy)]
struct Part<'a> {
    effects: &'a Effects,
    end: End,
}

/// What else an iteration does.
#[derive(Clone, Default)]
struct Others<'a> {
    /// What may run before the step, or beside it.
    before: Vec<Part<'a>>,
    after: Vec<Part<'a>>,
    /// Whether the body would end with a loop or branch without the step.
    is_last_but_loop: bool,
}

impl Scope<'_> {
    /// The steps of loops right below a statement that may run before these.
    pub fn invariants(&self, parent: View<'_>, found: &mut Vec<Rewrite>) {
        for (at, view) in parent.children().into_iter().enumerate() {
            let Some(region) = self.statement(view).filter(|_| view.kind().is_loop()) else {
                continue;
            };
            let keyword = match view.kind() {
                ControlKind::While => "while",
                _ => "repeat",
            };
            let is_step = parent.kind().dynamic() == ControlKind::Seq;
            for step in self.invariants_of(parent, at) {
                let text = self.text.of(step.span.clone());
                let name = self.text.head(step.span.clone());
                let lead = self.text.lead(region.start);
                let mut edits = self.text.without(&[step.span]);
                if is_step {
                    edits.push(Edit::insert(region.start, format!("{text}{lead}")));
                } else {
                    edits.push(Edit::insert(region.start, format!("seq {{ {text} ")));
                    edits.push(Edit::insert(region.end, " }"));
                }
                found.push(self.rewrite(
                    RewriteKind::LoopInvariant,
                    vec![vec![step.id]],
                    region.clone(),
                    format!(
                        "run `{name}` once before this `{keyword}`, rather than in each iteration"
                    ),
                    step.certainty,
                    edits,
                ));
            }
        }
    }

    /// The steps of one of these loops that may run before it.
    pub fn invariants_of<'a>(&self, parent: View<'a>, at: usize) -> Vec<Invariant<'a>> {
        let mut found = Vec::new();
        let children = parent.children();
        let view = children[at];
        let own = view.identity();
        let own = own.and_then(|(key, _)| self.dependences.own(key));
        let (Some(body), Some(own)) = (view.children().first().copied(), own) else {
            return found;
        };
        let times = self.times(view);
        let of = Loop {
            parent,
            at,
            view,
            runs: times.is_some_and(|times| times > 0),
        };
        let stops = |group: ir::RRC<ir::CombGroup>| {
            self.ends.stops(self.component, &group.borrow().assignments)
        };
        let condition = Part {
            effects: own,
            end: End {
                may_stop: view.comb_group().is_some_and(stops),
                may_hang: false,
            },
        };
        let others = Others {
            before: vec![condition],
            ..Others::default()
        };
        self.invariants_below(of, body, &others, &mut found);
        found
    }

    /// Those among the steps and arms of a statement that runs once in each iteration.
    fn invariants_below<'a>(
        &self,
        of: Loop<'_>,
        view: View<'a>,
        others: &Others<'_>,
        found: &mut Vec<Invariant<'a>>,
    ) {
        let children = view.children();
        let is_seq = match view.kind().dynamic() {
            ControlKind::Seq => true,
            ControlKind::Par => false,
            _ => return,
        };
        if !(2..=MAX_STEPS).contains(&children.len()) {
            return;
        }
        let part = |child: &View<'_>| {
            let (key, _) = child.identity()?;
            Some(Part {
                effects: self.dependences.effects(key)?,
                end: self.ends.statement(self.component, *child),
            })
        };
        let Some(parts) = children.iter().map(part).collect::<Option<Vec<_>>>() else {
            return;
        };
        for (at, child) in children.iter().enumerate() {
            let mut others = others.clone();
            others.before.extend(&parts[..at]);
            let later = if is_seq {
                &mut others.after
            } else {
                &mut others.before
            };
            later.extend(&parts[at + 1..]);
            let before = at.checked_sub(1).map(|before| children[before]);
            others.is_last_but_loop = is_seq
                && others.after.is_empty()
                && before.is_none_or(|before| before.group().is_none());
            if child.group().is_none() {
                self.invariants_below(of, *child, &others, found);
            } else if others.leave(&parts[at]) {
                found.extend(self.invariant(of, *child, &parts[at], &others));
            }
        }
    }

    /// A step that has nothing to do with others, if it does the same in each iteration.
    fn invariant<'a>(
        &self,
        of: Loop<'_>,
        view: View<'a>,
        step: &Part<'_>,
        others: &Others<'_>,
    ) -> Option<Invariant<'a>> {
        let (id, span) = (self.id(view)?, self.statement(view)?);
        let is_same = proof::is_same_again(self.component, view);
        let may_be_same = || view.group().is_some_and(|group| !is_fed_back(&group));
        is_same.unwrap_or_else(may_be_same).then_some(())?;
        let is_step = of.parent.kind().dynamic() == ControlKind::Seq;
        let mut earlier = of.parent.children();
        earlier.truncate(if is_step { of.at } else { 0 });
        let first = |earlier: &[View<'_>], gone: &[View<'_>], moved: View<'_>| {
            let place = (of.parent, earlier, gone);
            self.again
                .comes_first(self.component, place, &[moved], self.ends)
        };
        let again = first(&earlier, &[], view).or_else(|| {
            // What made the loop wait may have been the step.
            earlier.push(view);
            first(&earlier, &[view], of.view)
        });
        let doubts = [
            (
                is_same.is_none(),
                "nobody knows how long it takes, or what it comes to",
            ),
            (
                !of.runs && self.matters_without(of, step),
                "the loop may not run at all, and then something else may see what this did, or wait for it",
            ),
            (
                others.wait_for(step.end),
                "it may have an address out of bounds, divide by zero or never end, and so may what it comes before",
            ),
            (
                self.may_be_others(step.effects),
                "it writes a `ref` cell that may be another one, too",
            ),
            (
                self.loops_at_once(Edited {
                    gone: &[view],
                    ..Edited::default()
                }),
                super::LOOPS_AT_ONCE,
            ),
            (
                others.is_last_but_loop,
                "the loop would end with what may take no time, which the compiler misreads",
            ),
            (!self.observed.is_apart, super::NEEDED_LONGER),
        ];
        let doubt = doubts.iter().find(|(doubts, _)| *doubts);
        let certainty = match again.or(doubt.map(|(_, why)| *why)) {
            Some(doubt) => (Certainty::Checked, doubt.to_owned()),
            None => (
                Certainty::Proved,
                "each run of it but the first one finds what that left, since nothing else in the loop writes what it reads or writes"
                    .to_owned(),
            ),
        };
        Some(Invariant {
            id,
            view,
            span,
            certainty,
        })
    }

    /// Whether it may make a difference that a step runs where its loop does not.
    fn matters_without(&self, of: Loop<'_>, step: &Part<'_>) -> bool {
        let mut seen = Cells::new();
        let wires = &self.component.continuous_assignments;
        let read = wires.iter().flat_map(ports_read);
        seen.extend(read.filter_map(|port| cell_of(&port).map(|cell| cell.borrow().name())));
        let mut inside = HashSet::new();
        of.view
            .walk(&mut |view| inside.extend(view.identity().map(|(key, _)| key)));
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            let key = view.identity().map(|(key, _)| key);
            let key = key.filter(|key| !inside.contains(key));
            let effects = key.and_then(|key| self.dependences.own(key));
            seen.extend(effects.into_iter().flat_map(|effects| &effects.reads));
        });
        let is_seen = |name: &ir::Id| {
            let cell = self.component.find_cell(*name);
            let is_from_outside = cell.is_none_or(|cell| {
                let cell = cell.borrow();
                cell.is_reference() || cell.attributes.has(ir::BoolAttr::External)
            });
            let is_handed_over = || self.handed_over.contains(&(self.component.name, *name));
            seen.contains(name) || is_from_outside || is_handed_over()
        };
        step.end != End::default() || step.effects.writes.iter().any(is_seen)
    }

    /// Whether a statement writes a `ref` cell that may be another one.
    fn may_be_others(&self, effects: &Effects) -> bool {
        let mut written = effects.writes.iter();
        written.any(|cell| {
            let may_be = self.aliases.may_be(self.component.name, *cell);
            may_be.is_some_and(|cells| cells.len() > 1)
        })
    }
}

impl Part<'_> {
    /// Whether nothing that it does changes what a step before it finds when it runs again.
    fn leaves(&self, step: &Self) -> bool {
        let (own, other) = (self.effects, step.effects);
        !own.timed
            && own.writes.is_disjoint(&other.reads)
            && own.writes.is_disjoint(&other.writes)
            && !own.sees(other)
            && !other.sees(own)
    }
}

impl Others<'_> {
    /// Whether a step finds the same in each iteration, and nothing before it has to do with it.
    fn leave(&self, step: &Part<'_>) -> bool {
        let mut before = self.before.iter();
        before.all(|part| part.effects.is_independent_of(step.effects))
            && !step.effects.timed
            && self.after.iter().all(|part| part.leaves(step))
    }

    /// Whether it matters that a step that ends like this comes first.
    fn wait_for(&self, step: End) -> bool {
        let mut before = self.before.iter();
        before.any(|part| part.end.may_hang && step.may_stop || part.end.may_stop && step.may_hang)
    }
}

/// Whether a group computes something from registers or memories that it writes itself.
fn is_fed_back(group: &GroupRef) -> bool {
    let own = proof::assignments(group);
    let ports = own.iter().flat_map(ports_read);
    let driven: Cells = group.driven().into_iter().flatten().collect();
    let values = ports.filter(|port| !port.borrow().attributes.has(ir::NumAttr::Done));
    let mut cells = values.filter_map(|port| cell_of(&port));
    cells.any(|cell| {
        let cell = cell.borrow();
        let keeps = cell.is_primitive(Some("std_reg")) || is_memory(&cell);
        keeps && driven.contains(&cell.name())
    })
}
