//! Loops that begin with a later step: the steps before it come before the loop, and at the end of its body.
//!
//! `repeat n { first; rest; }` runs the same steps in the same order as `first; repeat n - 1 { rest; first; } rest;`. In the latter the compiler may run
//! what comes first beside the rest of the iteration before. Owns of which loops and from which step on that is offered, and of which it is certain.

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::{is_combinational, primitive};
use petal_program::latency::takes_one_cycle;
use petal_program::takes;
use petal_program::tree::{GroupRef, View};

use super::parallel::Member;
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// A loop in a `seq`, and the steps of its body.
struct Loop<'a> {
    view: View<'a>,
    times: u64,
    steps: Vec<View<'a>>,
    parts: Vec<Member<'a>>,
    certainty: (Certainty, String),
}

impl Scope<'_> {
    /// The loops of a `seq` that may begin with a later step.
    pub fn rotated(&self, seq: View<'_>, found: &mut Vec<Rewrite>) {
        for (at, view) in seq.children().into_iter().enumerate() {
            let is_loop = view.kind() == ControlKind::Repeat;
            let times = view.repeats().filter(|times| is_loop && *times > 2);
            let (Some(times), Some(body)) = (times, view.children().first().copied()) else {
                continue;
            };
            let steps = body.children();
            let is_fixed = body.kind() == ControlKind::Seq && steps.iter().all(|of| is_fixed(*of));
            let Some(parts) = self.parts(body).filter(|_| is_fixed) else {
                continue;
            };
            let again = self
                .again
                .come_first(self.component, seq, at..at + 1, self.ends);
            let doubt = again.or((!self.observed.is_apart).then_some(
                "the compiler may give the work of several cells to one that is needed for longer now",
            ));
            let certainty = match doubt {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => (
                    Certainty::Proved,
                    "the same steps run as often and in the same order".to_owned(),
                ),
            };
            let of = Loop {
                view,
                times,
                steps,
                parts,
                certainty,
            };
            found.extend((1..of.steps.len()).filter_map(|cut| self.begun_with(&of, cut)));
        }
    }

    /// A loop that begins with this step.
    fn begun_with(&self, of: &Loop<'_>, cut: usize) -> Option<Rewrite> {
        let (first, rest) = of.parts.split_at(cut);
        let needs = |later: &Member<'_>, earlier: &Member<'_>| !later.is_independent_of(earlier);
        // It has to wait for a step before it, and some step before it need not wait for all of the rest.
        let waits = first.iter().any(|one| needs(&rest[0], one));
        let gains = first
            .iter()
            .any(|one| rest.iter().any(|other| !needs(one, other)));
        if !waits || !gains || !is_at_rest(self.component, of.steps[cut - 1]) {
            return None;
        }
        let region = self.statement(of.view)?;
        let body = first[0].span.start..rest.last()?.span.end;
        let before = region.start..body.start;
        // What is said of the loop or its body may be said of their lengths.
        let repeat = self.text.find(before.clone(), "repeat")?;
        let number = self.text.find(before.clone(), &of.times.to_string())?;
        let seq = self.text.find(before.clone(), "seq")?;
        let is_plain = repeat.start == region.start
            && self.text.mark(before, b'@').is_none()
            && number.end < seq.start;
        if !is_plain {
            return None;
        }
        let own = |members: &[Member<'_>]| {
            members[0].span.start..members.last().map_or(0, |last| last.span.end)
        };
        let (first_span, rest_span) = (own(first), own(rest));
        let inner = self.text.lead(body.start);
        let outer = self.text.lead(region.start);
        let first_text = self.text.of(first_span.clone());
        let rest_text = self.text.of(rest_span);
        let is_moved_out = [&inner, &outer].iter().all(|lead| lead.starts_with('\n'));
        let outside = |text: &str| {
            if is_moved_out {
                text.replace(&inner, &outer)
            } else {
                text.to_owned()
            }
        };
        let edits = vec![
            Edit::insert(region.start, outside(first_text) + &outer),
            Edit::replace(number, (of.times - 1).to_string()),
            Edit::replace(self.text.with_space(first_span), ""),
            Edit::insert(body.end, format!("{inner}{first_text}")),
            Edit::insert(region.end, outer.clone() + &outside(rest_text)),
        ];
        let names: Vec<String> = [first, rest]
            .into_iter()
            .map(|members| self.name(members, &(0..members.len())))
            .collect();
        let [first_name, rest_name] = &*names else {
            return None;
        };
        let ids = of.parts.iter().map(|part| part.id).collect();
        Some(self.rewrite(
            RewriteKind::RotatedLoop,
            vec![ids],
            region,
            format!("begin each iteration of this `repeat` with {rest_name}, and run {first_name} before it and at its end"),
            of.certainty.clone(),
            edits,
        ))
    }
}

/// Whether a statement has nothing but groups of which the compiler knows how long they take.
fn is_fixed(view: View<'_>) -> bool {
    match view.kind().dynamic() {
        ControlKind::Enable => match view.group() {
            Some(GroupRef::Dynamic(group)) => takes_one_cycle(&group.borrow()),
            Some(GroupRef::Static(_)) => true,
            None => false,
        },
        ControlKind::Seq | ControlKind::Par => view.children().into_iter().all(is_fixed),
        _ => false,
    }
}

/// Whether all that a statement starts is done in the cycle after it, so that it may come last in a loop.
fn is_at_rest(component: &ir::Component, view: View<'_>) -> bool {
    let is_short = |name: ir::Id| {
        component.find_cell(name).is_some_and(|cell| {
            let of = primitive(&cell.borrow());
            is_combinational(&cell) || of.is_some_and(|of| takes(of.as_ref()) == Some(1))
        })
    };
    let mut all = true;
    view.walk(&mut |view| {
        let driven = view.group().map(|group| group.driven()).unwrap_or_default();
        all &= driven.into_iter().flatten().all(is_short);
    });
    all
}
