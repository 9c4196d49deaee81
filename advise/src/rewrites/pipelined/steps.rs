//! The steps of a loop of which the compiler knows how long each takes.
//!
//! Owns which groups are that, and in which order they may run.

use calyx_ir as ir;
use petal_metadata::{ControlId, ControlKind};
use petal_program::dependences::{Effects, is_combinational, ports_read, primitive};
use petal_program::latency::takes_one_cycle;
use petal_program::takes;
use petal_program::tree::{GroupRef, View};

use super::Scope;
use crate::proof::{self, Assignment};
use crate::rewrites::misread::writes_sometimes;
use crate::rewrites::settled::is_watched;

/// What a group does, or a part of it, and what that does to cells.
pub(super) type Part = (Vec<Assignment>, Effects);

/// Which part of a group a step is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    Read,
    Copy,
}

/// A step of a loop: a group, or a part of one.
#[derive(Clone)]
pub(super) struct Step<'a> {
    pub id: ControlId,
    pub view: View<'a>,
    pub group: GroupRef,
    pub kind: Kind,
    /// The comments in the text of the group, where it is the first part of that.
    pub comments: Vec<&'a str>,
    pub assignments: Vec<Assignment>,
    pub cycles: u64,
    pub effects: Effects,
}

impl Step<'_> {
    fn is_independent_of(&self, other: &Self) -> bool {
        let drives = &other.effects.drives;
        self.effects.is_independent_of(&other.effects) && self.effects.drives.is_disjoint(drives)
    }
}

impl Scope<'_> {
    /// Adds the groups that a statement runs, in an order in which they may run; `None` if the compiler does not know how long each takes, or
    /// something is not certain of one.
    pub(super) fn steps_of<'a>(&'a self, view: View<'a>, steps: &mut Vec<Step<'a>>) -> Option<()> {
        match view.kind().dynamic() {
            ControlKind::Seq => {
                let mut children = view.children().into_iter();
                children.try_for_each(|child| self.steps_of(child, steps))
            }
            ControlKind::Par => {
                let mut arms: Vec<Vec<Step<'_>>> = Vec::new();
                for child in view.children() {
                    let mut arm = Vec::new();
                    self.steps_of(child, &mut arm)?;
                    let mut others = arms.iter().flatten();
                    let is_apart =
                        others.all(|other| arm.iter().all(|step| step.is_independent_of(other)));
                    is_apart.then_some(())?;
                    arms.push(arm);
                }
                steps.extend(arms.into_iter().flatten());
                Some(())
            }
            ControlKind::Enable => {
                let group = view.group()?;
                let (key, _) = view.identity()?;
                let effects = self.dependences.effects(key)?;
                let mut cells = effects.reads.iter().chain(&effects.drives);
                let is_known = cells.all(|cell| self.is_of_known_length(*cell));
                let is_plain = is_known && !effects.timed && group.called().is_empty();
                is_plain.then_some(())?;
                let id = self.id(view)?;
                let parts = match &group {
                    GroupRef::Dynamic(of) if takes_one_cycle(&of.borrow()) => Err(1),
                    GroupRef::Dynamic(_) => Ok(self.read_and_copy(&group, effects)?),
                    GroupRef::Static(of) => {
                        let parts = self.read_and_copy(&group, effects);
                        parts.ok_or_else(|| of.borrow().latency)
                    }
                };
                let parts = match parts {
                    Ok([read, copy]) => vec![(read, 1, Kind::Read), (copy, 1, Kind::Copy)],
                    Err(cycles) => {
                        let mut own = proof::assignments(&group);
                        own.retain(|to| !to.dst.borrow().is_hole());
                        vec![((own, effects.clone()), cycles, Kind::Whole)]
                    }
                };
                let span = self.span_of(&group)?;
                let mut comments = self.text.comments(span);
                for ((assignments, effects), cycles, kind) in parts {
                    let is_plain = cycles > 0
                        && !writes_sometimes(&assignments)
                        && !looks_at_done(&assignments);
                    is_plain.then_some(())?;
                    steps.push(Step {
                        id,
                        view,
                        group: group.clone(),
                        kind,
                        comments: std::mem::take(&mut comments),
                        assignments,
                        cycles,
                        effects,
                    });
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Whether a cell is logic, a register, a memory, or something of two cycles of which nobody sees when it runs.
    fn is_of_known_length(&self, name: ir::Id) -> bool {
        self.component.find_cell(name).is_some_and(|cell| {
            let of = primitive(&cell.borrow());
            is_combinational(&cell)
                || match of.as_ref().and_then(|of| takes(of.as_ref())) {
                    Some(1) => true,
                    Some(_) => !is_watched(self.component, name, None),
                    None => false,
                }
        })
    }
}

/// Whether something that a group does depends on a `done`, which tells what was a cycle ago.
fn looks_at_done(own: &[Assignment]) -> bool {
    let is_done = |port: &ir::RRC<ir::Port>| port.borrow().attributes.has(ir::NumAttr::Done);
    own.iter().any(|to| ports_read(to).iter().any(is_done))
}
