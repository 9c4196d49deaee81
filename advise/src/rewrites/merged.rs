//! Groups that take a cycle each, as one group.
//!
//! Two groups that both write in their first cycle and are done in the second are done at once, so one group with the assignments of both
//! is done when either is. It needs no registers to remember which of them is.

use std::fmt::Write as _;
use std::ops::Range;

use petal_program::latency::takes_one_cycle;
use petal_program::tree::{GroupRef, View};
use petal_table::listed;

use super::parallel::{Member, independent_rows};
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// An enable of a group that takes one cycle.
pub(super) struct Short<'a> {
    pub part: Member<'a>,
    pub group: GroupRef,
}

/// Enables that become one, in the order of control.
pub(super) struct Joined<'a, 'b> {
    pub view: View<'a>,
    /// Which of those below the statement they are.
    pub range: Range<usize>,
    pub steps: &'b [&'b Short<'a>],
}

impl Scope<'_> {
    /// Neighbouring enables in a `seq` or `par` that do not depend on one another.
    pub fn merged(&self, view: View<'_>, found: &mut Vec<Rewrite>) {
        let Some(parts) = self.parts(view) else {
            return;
        };
        let count = parts.len();
        let children = view.children().into_iter();
        let steps: Vec<Option<Short<'_>>> = children
            .zip(parts)
            .map(|(child, part)| {
                let group = child.group()?;
                let is_short =
                    matches!(&group, GroupRef::Dynamic(of) if takes_one_cycle(&of.borrow()));
                is_short.then_some(Short { part, group })
            })
            .collect();
        let independent = |a: usize, b: usize| match (&steps[a], &steps[b]) {
            (Some(a), Some(b)) => {
                a.group.name() != b.group.name() && a.part.is_independent_of(&b.part)
            }
            _ => false,
        };
        let mut tried = independent_rows(count, independent);
        for first in 1..count {
            let pair = first - 1..first + 1;
            if independent(first - 1, first) && !tried.contains(&pair) {
                tried.push(pair);
            }
        }
        for range in tried {
            let steps: Vec<&Short<'_>> = steps[range.clone()].iter().flatten().collect();
            let joined = Joined {
                view,
                range,
                steps: &steps,
            };
            found.extend(self.of_independent(&joined));
        }
    }

    fn has_references(&self) -> bool {
        let mut cells = self.component.cells.iter();
        cells.any(|cell| cell.borrow().is_reference())
    }

    /// Why it is not certain that these parts may begin and end at once, if so.
    fn doubt_of_one(&self, view: View<'_>, range: Range<usize>) -> Option<&'static str> {
        let kept = view.children().into_iter();
        let mut kept = kept.skip(range.start).take(range.len());
        let may_stop = kept.any(|child| self.ends.statement(self.component, child).may_stop);
        // Whose `done` nobody reads, the compiler may take away, and what stops the run with it.
        let unread = may_stop.then_some(
            "one may have an address out of bounds, and is taken away if nobody reads what it does",
        );
        let again = self
            .again
            .come_first(self.component, view, range, self.ends);
        again.or(unread)
    }

    /// Whether a statement is all of the component's control, but for what is around it alone.
    fn is_root(&self, view: View<'_>) -> bool {
        let control = self.component.control.borrow();
        let mut root = View::of(&control);
        loop {
            if root.identity() == view.identity() {
                return true;
            }
            match root.children().as_slice() {
                [only] => root = *only,
                _ => return false,
            }
        }
    }

    fn of_independent(&self, joined: &Joined<'_, '_>) -> Option<Rewrite> {
        let name = self.name_of_one(joined.steps)?;
        let last = joined.steps.last()?.group.name();
        let mut bodies = Vec::new();
        for step in joined.steps {
            let done_of = (step.group.name() == last).then_some(&name);
            bodies.push(self.body(&step.group, done_of)?);
        }
        self.made_one(
            joined,
            RewriteKind::MergedGroups,
            (&format!("group {name}"), &bodies),
            format!("make one group of {}", joined.names()),
            "each takes one cycle, and none of them writes what another one reads or writes",
        )
    }

    /// One group of several, which begins with `head` and has a body from each; `premise` says why that computes the same.
    pub fn made_one(
        &self,
        joined: &Joined<'_, '_>,
        kind: RewriteKind,
        (head, bodies): (&str, &[String]),
        what: String,
        premise: &str,
    ) -> Option<Rewrite> {
        let Joined { view, range, .. } = joined;
        // Of a component that is a single group, the `done` of a `ref` cell would decide whether that is handed over.
        if joined.is_whole() && self.is_root(*view) && self.has_references() {
            return None;
        }
        let certainty = match self.doubt_of_one(*view, range.clone()) {
            Some(doubt) => (Certainty::Checked, doubt.to_owned()),
            None => (Certainty::Proved, premise.to_owned()),
        };
        let (region, edits) = self.one_group(joined, head, bodies)?;
        let statements = joined.steps.iter().map(|step| vec![step.part.id]);
        Some(self.rewrite(kind, statements.collect(), region, what, certainty, edits))
    }

    /// What one group of several is called.
    pub fn name_of_one(&self, steps: &[&Short<'_>]) -> Option<String> {
        let (first, last) = (steps.first()?.group.name(), steps.last()?.group.name());
        let link = if steps.len() == 2 { "and" } else { "to" };
        Some(self.free_name(&format!("{first}_{link}_{last}"), super::GROUP_PORTS))
    }

    /// Where groups are written.
    pub fn span_of(&self, group: &GroupRef) -> Option<Range<usize>> {
        match group {
            GroupRef::Dynamic(group) => self.span(&group.borrow().attributes),
            GroupRef::Static(group) => self.span(&group.borrow().attributes),
        }
    }

    /// The edits that make one group of several: what it begins with, and what it has from each; with the part of the text that they are about.
    fn one_group(
        &self,
        joined: &Joined<'_, '_>,
        head: &str,
        bodies: &[String],
    ) -> Option<(Range<usize>, Vec<Edit>)> {
        let Joined { view, steps, .. } = *joined;
        let (first, last) = (*steps.first()?, *steps.last()?);
        let mut edits = Vec::new();
        let at = self.span_of(&first.group)?;
        let indent = self.text.indent(at.start);
        let mut text = format!("{head} {{\n");
        for body in bodies.iter().filter(|body| !body.is_empty()) {
            let _ = writeln!(text, "{indent}  {body}");
        }
        let _ = write!(text, "{indent}}}");
        for step in steps {
            let span = self.span_of(&step.group)?;
            let name = step.group.name();
            let is_first = name == first.group.name();
            let goes = self.runs_of(name).concat().len() == 1 && !self.is_run_by_groups(name);
            edits.push(match (is_first, goes) {
                (true, true) => Edit::replace(span, text.clone()),
                (true, false) => Edit::insert(span.start, format!("{text}\n{indent}")),
                (false, true) => Edit::replace(self.text.with_space(span), ""),
                (false, false) => continue,
            });
        }
        let inner = first.part.span.start..last.part.span.end;
        let is_par = view.kind() == petal_metadata::ControlKind::Par;
        let region = if joined.is_whole() && is_par {
            let span = self.statement(view)?;
            self.text.unwrap(span.clone(), inner, &mut edits);
            span
        } else {
            inner
        };
        let name = head.rsplit(' ').next()?;
        let mut goes = vec![(first.part.span.clone(), format!("{name};"))];
        for pair in steps.windows(2) {
            let (before, step) = (&pair[0].part.span, &pair[1].part.span);
            // A comment before one of them may end in what follows.
            let with_comment = self.text.has_comment(&(first.part.span.end..step.start));
            let range = if with_comment {
                self.text.with_space(step.clone())
            } else {
                before.end..step.end
            };
            goes.push((range, String::new()));
        }
        // White space that goes with the `par` around them is gone already.
        edits.retain(|edit| {
            let is_in = |(range, _): &(Range<usize>, String)| {
                range.start <= edit.range.start && edit.range.end <= range.end
            };
            !goes.iter().any(is_in)
        });
        let goes = goes.into_iter();
        edits.extend(goes.map(|(range, text)| Edit::replace(range, text)));
        Some((region, edits))
    }

    /// What stands in a group: with its `done` as that of another group, or without it.
    fn body(&self, group: &GroupRef, done_of: Option<&String>) -> Option<String> {
        let span = self.span_of(group)?;
        let inner = self.text.body(span.clone())? + 1..span.end.checked_sub(1)?;
        let dones = self.text.dones(inner.clone(), group.name().as_ref());
        let [[name, whole]] = dones.as_slice() else {
            return None;
        };
        let (goes, text) = match done_of {
            Some(other) => (name.clone(), other.as_str()),
            None => (self.text.with_space(whole.clone()), ""),
        };
        let before = self.text.of(inner.start..goes.start);
        let after = self.text.of(goes.end..inner.end);
        Some(format!("{before}{text}{after}").trim().to_owned())
    }
}

impl Joined<'_, '_> {
    /// Whether they are all that is below the statement.
    fn is_whole(&self) -> bool {
        self.range.len() == self.view.children().len()
    }

    /// What the groups are called.
    pub fn names(&self) -> String {
        let names = self.steps.iter();
        let names: Vec<String> = names
            .map(|step| format!("`{}`", step.group.name()))
            .collect();
        listed(&names)
    }
}
