//! Steps of a `seq` that may run at once, and arms of a `par` that may as well run one after the other.

use std::ops::Range;

use petal_metadata::ControlId;
use petal_program::dependences::Effects;
use petal_program::tree::View;
use petal_table::listed;

use super::ends::End;
use super::misread::inlined_at;
use super::misread::loops::{Edited, has_fixed_loop};
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// Longer sequences are left out, since the work grows with the square of the length.
pub(super) const MAX_STEPS: usize = 128;

/// A step of a `seq`, or an arm of a `par`.
pub(super) struct Member<'a> {
    pub id: ControlId,
    pub span: Range<usize>,
    effects: &'a Effects,
    end: End,
}

impl Member<'_> {
    /// Whether nothing depends on which of two runs first, nor on whether they run at once.
    pub fn is_independent_of(&self, other: &Self) -> bool {
        let (a, b) = (self.effects, other.effects);
        a.is_independent_of(b) && a.drives.is_disjoint(&b.drives)
    }
}

/// How certain it is that it does not matter whether independent parts run at once or in this order.
fn in_any_order(parts: &[Member<'_>], premise: &str) -> (Certainty, String) {
    let mut before = parts.iter().scan(false, |hangs, part| {
        let may_never_come = *hangs && part.end.may_stop;
        *hangs |= part.end.may_hang;
        Some(may_never_come)
    });
    if before.any(|may_never_come| may_never_come) {
        return (
            Certainty::Checked,
            "one may have an address out of bounds or divide by zero, and one before it may never end".to_owned(),
        );
    }
    (Certainty::Proved, premise.to_owned())
}

/// As many of these parts as there are in a row, two at least, of which each is independent of all others.
pub(super) fn independent_rows(
    count: usize,
    independent: impl Fn(usize, usize) -> bool,
) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut reached = 0;
    for first in 0..count {
        let mut end = first + 1;
        while end < count && (first..end).all(|earlier| independent(earlier, end)) {
            end += 1;
        }
        if end > reached && end - first > 1 {
            rows.push(first..end);
        }
        reached = reached.max(end);
    }
    rows
}

impl Scope<'_> {
    /// The parts of a `seq` or `par`; `None` if something is not certain of one of them.
    pub fn parts(&self, view: View<'_>) -> Option<Vec<Member<'_>>> {
        let children = view.children();
        if !(2..=MAX_STEPS).contains(&children.len()) {
            return None;
        }
        let part = |child: View<'_>| {
            let (key, _) = child.identity()?;
            Some(Member {
                id: self.id(child)?,
                span: self.statement(child)?,
                effects: self.dependences.effects(key)?,
                end: self.ends.statement(self.component, child),
            })
        };
        children.into_iter().map(part).collect()
    }

    /// Neighbouring steps, or neighbouring parts of the `seq`, that do not depend on one another.
    pub fn steps(&self, view: View<'_>, found: &mut Vec<Rewrite>) {
        let (Some(parts), Some(span)) = (self.parts(view), self.statement(view)) else {
            return;
        };
        let count = parts.len();
        let independent = |a: usize, b: usize| parts[a].is_independent_of(&parts[b]);
        let mut tried: Vec<Vec<Range<usize>>> = Vec::new();
        let mut try_arms = |arms: Vec<Range<usize>>| {
            if !tried.contains(&arms) {
                found.extend(self.at_once(&parts, &arms, &span, view));
                tried.push(arms);
            }
        };
        for row in independent_rows(count, independent) {
            try_arms(row.map(|step| step..step + 1).collect());
        }
        for middle in 1..count {
            if !independent(middle - 1, middle) {
                continue;
            }
            try_arms(vec![middle - 1..middle, middle..middle + 1]);
            // As much as possible before it beside as much as possible after it.
            let (mut first, mut end) = (middle - 1, middle + 1);
            loop {
                let earlier = first > 0 && (middle..end).all(|later| independent(first - 1, later));
                if earlier {
                    first -= 1;
                }
                let later = end < count && (first..middle).all(|earlier| independent(earlier, end));
                if later {
                    end += 1;
                }
                if !earlier && !later {
                    break;
                }
            }
            try_arms(vec![first..middle, middle..end]);
        }
    }

    /// Runs these parts of a `seq` at once.
    fn at_once(
        &self,
        parts: &[Member<'_>],
        arms: &[Range<usize>],
        seq: &Range<usize>,
        view: View<'_>,
    ) -> Option<Rewrite> {
        let span =
            |steps: &Range<usize>| parts[steps.start].span.start..parts[steps.end - 1].span.end;
        let (first, last) = (arms.first()?, arms.last()?);
        let region = span(first).start..span(last).end;
        let mut edits = Vec::new();
        let whole = first.start == 0 && last.end == parts.len();
        if whole {
            let keyword = self.text.find(self.span(view.attributes())?, "seq")?;
            edits.push(Edit::replace(keyword, "par"));
        } else {
            self.text.wrap(region.clone(), "par", &mut edits);
        }
        let closing = (!whole).then(|| edits.pop()).flatten();
        for arm in arms.iter().filter(|arm| arm.len() > 1) {
            self.text.wrap(span(arm), "seq", &mut edits);
        }
        edits.extend(closing);
        let names: Vec<String> = arms.iter().map(|arm| self.name(parts, arm)).collect();
        let children = view.children();
        let inlined = |view: View<'_>| inlined_at(self.components, view);
        let has_loop = |step: usize| has_fixed_loop(children[step], Edited::default(), &inlined);
        let arms_with_loops = arms.iter().filter(|arm| (*arm).clone().any(has_loop));
        let loops = (arms_with_loops.count() > 1).then_some(super::LOOPS_AT_ONCE);
        let again = self
            .again
            .come_first(self.component, view, first.start..last.end, self.ends);
        let certainty = match again.or(loops) {
            Some(doubt) => (Certainty::Checked, doubt.to_owned()),
            None => in_any_order(
                &parts[first.start..last.end],
                "none of them writes what another one reads or writes",
            ),
        };
        let ids = |arm: &Range<usize>| parts[arm.clone()].iter().map(|part| part.id).collect();
        let region = if whole { seq.clone() } else { region };
        Some(self.rewrite(
            RewriteKind::ParallelSteps,
            arms.iter().map(ids).collect(),
            region,
            format!("run {} at once, in a `par`", listed(&names)),
            certainty,
            edits,
        ))
    }

    /// Arms that do not depend on one another may run in any order.
    pub fn arms(&self, view: View<'_>, found: &mut Vec<Rewrite>) {
        let (Some(parts), Some(span)) = (self.parts(view), self.statement(view)) else {
            return;
        };
        let pairs =
            (0..parts.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
        let mut pairs = pairs.map(|(a, b)| (&parts[a], &parts[b]));
        if !pairs.all(|(a, b)| a.is_independent_of(b)) {
            return;
        }
        let Some(keyword) = self
            .span(view.attributes())
            .and_then(|span| self.text.find(span, "par"))
        else {
            return;
        };
        // The `par` waits as a whole, the arms need not.
        let doubt = view.children().into_iter().find_map(|arm| {
            let place = (view, &[][..], &[][..]);
            self.again
                .comes_first(self.component, place, &[arm], self.ends)
        });
        found.push(self.rewrite(
            RewriteKind::SequentialArms,
            parts.iter().map(|part| vec![part.id]).collect(),
            span,
            "run the arms of this `par` one after the other, in a `seq`".to_owned(),
            match doubt {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => in_any_order(&parts, "no arm writes what another one reads or writes"),
            },
            vec![Edit::replace(keyword, "seq")],
        ));
    }

    /// What a message calls some steps: a group or cell by its name, what is more by its first word.
    pub fn name(&self, parts: &[Member<'_>], steps: &Range<usize>) -> String {
        let name = |part: &Member<'_>| {
            let head = self.text.head(part.span.clone());
            format!("`{}`", head.trim_end_matches(" with"))
        };
        match &parts[steps.clone()] {
            [only] => name(only),
            [first, .., last] => format!("{} to {}", name(first), name(last)),
            [] => String::new(),
        }
    }

    /// Why it is not certain that a `while` may become one which always runs as often, if so.
    pub fn doubt_if_fixed(&self, view: View<'_>) -> Option<&'static str> {
        if self.again.stops_without_loops(self.components, self.ends) {
            return Some(super::again::DOUBT);
        }
        let at_once = self.loops_at_once(Edited {
            fixed: Some(view),
            ..Edited::default()
        });
        at_once.then_some(super::LOOPS_AT_ONCE)
    }

    /// A `while` that always runs the same number of times.
    pub fn loops(&self, view: View<'_>, found: &mut Vec<Rewrite>) {
        let is_bound = view.attributes().has(calyx_ir::NumAttr::Bound);
        let (Some(id), Some(span)) = (self.id(view), self.span(view.attributes())) else {
            return;
        };
        let Some(keyword) = self.text.find(span.clone(), "while").filter(|_| !is_bound) else {
            return;
        };
        let certain = self.times(view);
        let certain = certain.filter(|times| *times > 0 && self.doubt_if_fixed(view).is_none());
        let of = (self.component.name.to_string(), id);
        let (count, certainty) = match (certain, self.observed.iterations.get(&of)) {
            (Some(count), _) => (
                count,
                (
                    Certainty::Proved,
                    "what its condition is made of starts with constants, and goes on from them alone"
                        .to_owned(),
                ),
            ),
            (_, Some(&count)) => (
                count,
                (
                    Certainty::Checked,
                    format!("it ran {count} times each time that it was entered, with these data"),
                ),
            ),
            (_, None) => return,
        };
        found.push(self.rewrite(
            RewriteKind::FixedIterations,
            vec![vec![id]],
            span,
            format!("say that this loop always runs {count} times: `@bound({count})`"),
            certainty,
            vec![Edit::insert(keyword.start, format!("@bound({count}) "))],
        ));
    }
}
