//! `if`s in a `par` of which at most one is taken.

use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlId;
use petal_program::dependences::Cells;
use petal_program::exclusion::Condition;
use petal_program::tree::View;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// An arm of a `par` that is an `if` without `else`.
struct Arm {
    id: ControlId,
    span: Range<usize>,
    condition: Condition,
    comb_group: Option<ir::RRC<ir::CombGroup>>,
    writes: Cells,
    reads: Cells,
    /// What it does may depend on when it runs.
    timed: bool,
}

impl Scope<'_> {
    /// A `par` waits for all of its arms and counts them; one `if` with `else` needs neither.
    pub fn branches(&self, view: View<'_>, found: &mut Vec<Rewrite>) {
        let children = view.children();
        let arms: Vec<Option<Arm>> = children.iter().map(|child| self.arm(*child)).collect();
        let mut first = 0;
        while first < arms.len() {
            let mut end = first;
            while let Some(Some(next)) = arms.get(end) {
                let mut before = arms[first..end].iter().flatten();
                if !before.all(|arm| arm.condition.excludes(&next.condition)) {
                    break;
                }
                end += 1;
            }
            if end - first > 1 {
                let exclusive: Vec<&Arm> = arms[first..end].iter().flatten().collect();
                let whole = exclusive.len() == arms.len();
                found.extend(self.one_if(view, &exclusive, whole));
            }
            first = end.max(first + 1);
        }
    }

    fn arm(&self, view: View<'_>) -> Option<Arm> {
        let condition = Condition::of(self.component, view)?;
        let (key, _) = view.identity()?;
        let (branch, _) = view.children().first()?.identity()?;
        let own = self.dependences.own(key)?;
        Some(Arm {
            id: self.id(view)?,
            span: self.statement(view)?,
            condition,
            comb_group: view.comb_group(),
            writes: self.dependences.effects(branch)?.writes.clone(),
            reads: own.reads.clone(),
            timed: self.dependences.effects(key)?.timed,
        })
    }

    fn one_if(&self, view: View<'_>, arms: &[&Arm], whole: bool) -> Option<Rewrite> {
        let (first, last) = (arms.first()?, arms.last()?);
        let inner = first.span.start..last.span.end;
        let mut edits = Vec::new();
        let region = if whole {
            let span = self.statement(view)?;
            self.text.unwrap(span.clone(), inner, &mut edits);
            span
        } else {
            inner
        };
        for pair in arms.windows(2) {
            let between = pair[0].span.end..pair[1].span.start;
            if self.text.has_comment(&between) {
                edits.push(Edit::insert(between.end, "else "));
            } else {
                edits.retain(|edit| {
                    edit.range.is_empty()
                        || edit.range.start < between.start
                        || edit.range.end > between.end
                });
                edits.push(Edit::replace(between, " else "));
            }
        }
        // One after the other, conditions with cycles of their own would cost more than they did at once.
        let mut continuous = Vec::new();
        let mut doubted = None;
        for group in arms.iter().filter_map(|arm| arm.comb_group.as_ref()) {
            let group = group.borrow();
            if continuous.contains(&group.name()) {
                continue;
            }
            let condition = self.condition(&group)?;
            let of_arm = |id: &ControlId| arms.iter().any(|arm| arm.id == *id);
            if !condition.statements.iter().all(of_arm) {
                return None;
            }
            edits.extend(condition.edits);
            doubted = doubted.or(condition.doubt);
            continuous.push(group.name());
        }
        // They do not race with one another, but they may with other arms, and with what is around the `par`.
        let timed = if whole {
            let (key, _) = view.identity()?;
            self.dependences.effects(key)?.timed
        } else {
            arms.iter().any(|arm| arm.timed)
        };
        let mut all = arms
            .iter()
            .flat_map(|arm| arms.iter().map(move |other| (arm, other)));
        let changes = all.any(|(arm, other)| !arm.writes.is_disjoint(&other.reads));
        let doubt = timed
            .then(|| "what they do may depend on when they run".to_owned())
            .or_else(|| changes.then(|| "a branch writes what a condition reads".to_owned()))
            .or_else(|| doubted.map(str::to_owned));
        let certainty = match doubt {
            Some(doubt) => (Certainty::Checked, doubt),
            None => (
                Certainty::Proved,
                "their conditions exclude one another, and no branch writes what a condition reads"
                    .to_owned(),
            ),
        };
        let with = match continuous.len() {
            0 => "",
            1 => ", and its comb group continuous",
            _ => ", and their comb groups continuous",
        };
        Some(self.rewrite(
            RewriteKind::ExclusiveBranches,
            vec![arms.iter().map(|arm| arm.id).collect()],
            region,
            format!(
                "make one `if` with `else` of the {} `if`s in this `par`{with}",
                arms.len()
            ),
            certainty,
            edits,
        ))
    }
}
