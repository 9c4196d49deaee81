//! Groups that take a cycle each, as one group.
//!
//! Two groups that both write in their first cycle and are done in the second are done at once, so one group with the assignments of both
//! is done when either is. It needs no registers to remember which of them is.

use std::fmt::Write as _;
use std::ops::Range;

use calyx_ir as ir;
use petal_program::latency::takes_one_cycle;
use petal_program::tree::{GroupRef, View};

use super::parallel::{Member, independent_rows};
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope, join};

/// An enable of a group that takes one cycle.
struct Short<'a> {
    part: Member<'a>,
    group: ir::RRC<ir::Group>,
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
            .map(|(child, part)| match child.group()? {
                GroupRef::Dynamic(group) if takes_one_cycle(&group.borrow()) => {
                    Some(Short { part, group })
                }
                GroupRef::Dynamic(_) | GroupRef::Static(_) => None,
            })
            .collect();
        let independent = |a: usize, b: usize| match (&steps[a], &steps[b]) {
            (Some(a), Some(b)) => {
                a.group.borrow().name() != b.group.borrow().name()
                    && a.part.is_independent_of(&b.part)
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
        let is_root = self.is_root(view);
        for range in tried {
            let whole = range.len() == count;
            // Of a component that is a single group, the `done` of a `ref` cell would decide whether that is handed over.
            if whole
                && is_root
                && self
                    .component
                    .cells
                    .iter()
                    .any(|cell| cell.borrow().is_reference())
            {
                continue;
            }
            let mut kept = view
                .children()
                .into_iter()
                .skip(range.start)
                .take(range.len());
            let may_stop = kept.any(|child| self.ends.statement(self.component, child).may_stop);
            // Whose `done` nobody reads, the compiler may take away, and what stops the run with it.
            let unread = may_stop.then_some(
                "one may have an address out of bounds, and is taken away if nobody reads what it does",
            );
            let doubt = self
                .again
                .come_first(self.component, view, range.clone(), self.ends)
                .or(unread);
            let steps: Vec<&Short<'_>> = steps[range].iter().flatten().collect();
            found.extend(self.one_group(view, &steps, whole, doubt));
        }
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

    fn one_group(
        &self,
        view: View<'_>,
        steps: &[&Short<'_>],
        whole: bool,
        doubt: Option<&str>,
    ) -> Option<Rewrite> {
        let (first, last) = (steps.first()?, steps.last()?);
        let name = {
            let (first, last) = (first.group.borrow(), last.group.borrow());
            let link = if steps.len() == 2 { "and" } else { "to" };
            let name = format!("{}_{link}_{}", first.name(), last.name());
            self.free_name(&name, super::GROUP_PORTS)
        };
        let mut edits = Vec::new();
        let mut bodies = Vec::new();
        let mut names = Vec::new();
        for step in steps {
            let group = step.group.borrow();
            let is_last = std::ptr::eq(*step, *last);
            bodies.push(self.body(&group, is_last.then_some(&name))?);
            names.push(format!("`{}`", group.name()));
        }
        let at = self.span(&first.group.borrow().attributes)?;
        let indent = self.text.indent(at.start);
        let mut text = format!("group {name} {{\n");
        for body in bodies.iter().filter(|body| !body.is_empty()) {
            let _ = writeln!(text, "{indent}  {body}");
        }
        let _ = write!(text, "{indent}}}");
        for step in steps {
            let group = step.group.borrow();
            let span = self.span(&group.attributes)?;
            let is_first = std::ptr::eq(*step, *first);
            let goes = self.runs_of(group.name()).concat().len() == 1
                && !self.is_run_by_groups(group.name());
            edits.push(match (is_first, goes) {
                (true, true) => Edit::replace(span, text.clone()),
                (true, false) => Edit::insert(span.start, format!("{text}\n{indent}")),
                (false, true) => Edit::replace(self.text.with_space(span), ""),
                (false, false) => continue,
            });
        }
        let inner = first.part.span.start..last.part.span.end;
        let is_par = view.kind() == petal_metadata::ControlKind::Par;
        let region = if whole && is_par {
            let span = self.statement(view)?;
            self.text.unwrap(span.clone(), inner, &mut edits);
            span
        } else {
            inner
        };
        let mut goes = vec![(first.part.span.clone(), format!("{name};"))];
        for pair in steps.windows(2) {
            let (before, step) = (&pair[0].part.span, &pair[1].part.span);
            let with_comment = self.text.has_comment(&(before.end..step.start));
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
        let certainty = match doubt {
            Some(doubt) => (Certainty::Checked, doubt.to_owned()),
            None => (
                Certainty::Proved,
                "each takes one cycle, and none of them writes what another one reads or writes"
                    .to_owned(),
            ),
        };
        Some(self.rewrite(
            RewriteKind::MergedGroups,
            steps.iter().map(|step| vec![step.part.id]).collect(),
            region,
            format!("make one group of {}", join(&names)),
            certainty,
            edits,
        ))
    }

    /// What stands in a group: with its `done` as that of another group, or without it.
    fn body(&self, group: &ir::Group, done_of: Option<&String>) -> Option<String> {
        let span = self.span(&group.attributes)?;
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
