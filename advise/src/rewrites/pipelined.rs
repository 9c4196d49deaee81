//! Loops of which an iteration starts before the one before it is over.
//!
//! If the compiler knows how long each step of a loop takes, and how often that runs, each step may as well start as soon as all that it waits for is there, which may be before
//! the last step of the iteration before. Then one static group has what runs in a cycle of several iterations at once, and before and after
//! the loop stand the steps of the first and the last ones. Steps of which one reads what the other one writes stay in their order, or run in
//! one cycle, in which it reads what was there before. Owns of which loops that is offered, and of which it is certain.

mod body;
mod each_cycle;
mod guards;
mod kept;
mod logic;
mod new;
mod overlapping;
mod parts;
mod reuse;
mod schedule;
mod stages;
mod steps;
mod text;

use calyx_ir as ir;
use petal_metadata::{ControlId, ControlKind};
use petal_program::tree::View;

use self::new::New;
use self::reuse::Ahead;
use self::steps::Step;
use super::invariant::Invariant;
use super::misread::loops::Edited;
use super::{Certainty, Rewrite, Scope};

/// Loops of more steps are left out.
const MOST_STEPS: usize = 64;

/// A loop that is a step of a `seq`, and always runs as often.
#[derive(Clone)]
struct Loop<'a> {
    seq: View<'a>,
    /// Which step of that it is.
    at: usize,
    view: View<'a>,
    times: u64,
    steps: Vec<Step<'a>>,
    /// Steps that run once before it, and are not among the others.
    before: Vec<Invariant<'a>>,
    /// What reads words for its first iteration, where each finds words that the one before has read.
    ahead: Option<Ahead<'a>>,
    /// Logic that only steps of it drive.
    new: Vec<New>,
    certainty: (Certainty, String),
}

impl Scope<'_> {
    /// The loops of a `seq` of which iterations may overlap.
    pub fn pipelined(&self, seq: View<'_>, found: &mut Vec<Rewrite>) {
        for (at, view) in seq.children().into_iter().enumerate() {
            let Some((times, doubt)) = self.surely_runs(view) else {
                continue;
            };
            let Some(body) = view.children().first().copied().filter(|_| times > 2) else {
                continue;
            };
            let mut steps = Vec::new();
            let is_list = body.kind() == ControlKind::Seq;
            if !is_list || self.steps_of(body, &mut steps).is_none() || steps.len() > MOST_STEPS {
                continue;
            }
            let longer = (!self.observed.is_apart).then_some(super::NEEDED_LONGER);
            let certainty = match longer.or(doubt) {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => (
                    Certainty::Proved,
                    "the same steps run as often, and any two of which one writes what the other one reads or writes in the same order, or in one cycle, in which it reads what was there before"
                        .to_owned(),
                ),
            };
            let of = Loop {
                seq,
                at,
                view,
                times,
                steps,
                before: Vec::new(),
                ahead: None,
                new: Vec::new(),
                certainty,
            };
            let invariants = self.invariants_of(seq, at);
            let without = self.without(of.clone(), invariants);
            for of in [Some(of), without].into_iter().flatten() {
                found.extend(self.overlaps(&of));
                let reused = self.with_reuse(&of);
                found.extend(reused.into_iter().flat_map(|of| self.overlaps(&of)));
            }
        }
    }

    /// How often a loop runs, if that is always as often, and why it is not certain that it may become static, if so.
    fn surely_runs(&self, view: View<'_>) -> Option<(u64, Option<&'static str>)> {
        let times = self.times(view)?;
        if view.kind() != ControlKind::While {
            return Some((times, None));
        }
        let with = view.comb_group();
        let stops =
            with.is_some_and(|of| self.ends.stops(self.component, &of.borrow().assignments));
        (!stops).then_some(())?;
        let is_bound = view.attributes().has(ir::NumAttr::Bound);
        let doubt = (!is_bound).then(|| self.doubt_if_fixed(view)).flatten();
        Some((times, doubt))
    }

    /// The same loop with these steps before it; `None` if none of its steps is among them.
    fn without<'a>(&self, mut of: Loop<'a>, invariants: Vec<Invariant<'a>>) -> Option<Loop<'a>> {
        for step in invariants {
            let count = of.steps.len();
            of.steps.retain(|of| of.id != step.id);
            if of.steps.len() == count {
                continue;
            }
            if step.certainty.0 == Certainty::Checked {
                of.certainty.clone_from(&step.certainty);
            }
            of.before.push(step);
        }
        let gone: Vec<View<'_>> = of.before.iter().map(|step| step.view).collect();
        let is_while = of.view.kind() == ControlKind::While;
        let at_once = self.loops_at_once(Edited {
            gone: &gone,
            fixed: is_while.then_some(of.view),
        });
        if at_once {
            of.certainty = (Certainty::Checked, super::LOOPS_AT_ONCE.to_owned());
        }
        (!of.before.is_empty()).then_some(of)
    }

    /// The loop with iterations that overlap: as one group, and as one that runs again.
    fn overlaps(&self, of: &Loop<'_>) -> Vec<Rewrite> {
        let apart = self.with_own_logic(of);
        let apart = apart.as_ref();
        let in_each_cycle = self.in_each_cycle(of);
        let in_each_cycle =
            in_each_cycle.or_else(|| apart.and_then(|apart| self.in_each_cycle(apart)));
        let overlapping = self.overlapping([Some(of), apart], in_each_cycle.is_some());
        in_each_cycle.into_iter().chain(overlapping).collect()
    }
}

impl Loop<'_> {
    fn keyword(&self) -> &'static str {
        match self.view.kind() {
            ControlKind::While => "while",
            _ => "repeat",
        }
    }

    /// What a group of all its steps is called.
    fn name(&self) -> Option<String> {
        let (first, last) = (self.steps.first()?, self.steps.last()?);
        Some(format!("{}_to_{}", first.group.name(), last.group.name()))
    }

    /// The statements that an edit of it is about.
    fn ids(&self) -> Vec<ControlId> {
        let before = self.before.iter().map(|step| step.id);
        let mut ids: Vec<_> = before
            .chain(self.steps.iter().map(|step| step.id))
            .collect();
        ids.dedup();
        ids
    }

    /// What runs before its own steps, in the `seq` that it is a step of.
    fn earlier(&self) -> Vec<View<'_>> {
        let mut earlier = self.seq.children();
        earlier.truncate(self.at);
        earlier.extend(self.before.iter().map(|step| step.view));
        earlier
    }
}
