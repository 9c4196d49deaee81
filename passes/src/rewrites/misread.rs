//! What the compiler's own analyses misread: of such a component it may make one cell of two that are needed at once, and any change
//! of the program may change which.

use std::collections::BTreeSet;

use calyx_ir as ir;

use super::state::is_memory;
use crate::dependences::{cell_of, is_combinational};
use crate::tree::called_group;

/// The components with something that live ranges misread.
pub(super) fn components(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let misread = ctx.components.iter().filter(|component| {
        let mut groups = component.get_groups().iter();
        let mut statics = component.get_static_groups().iter();
        let mut combs = component.comb_groups.iter();
        groups.any(|group| runs_another(&group.borrow().assignments))
            || statics.any(|group| {
                let assignments = &group.borrow().assignments;
                runs_another(assignments) || writes_sometimes(assignments)
            })
            || combs.any(|group| group.borrow().assignments.iter().any(writes))
    });
    misread.map(|component| component.name).collect()
}

/// Whether a group runs another one: what that reads and uses is not seen.
fn runs_another<T>(assignments: &[ir::Assignment<T>]) -> bool {
    assignments.iter().any(|to| called_group(to).is_some())
}

/// Whether a combinational group writes something: it is taken for one that doesn't.
fn writes(assignment: &ir::Assignment<ir::Nothing>) -> bool {
    let is_address = assignment.dst.borrow().name.as_ref().starts_with("addr");
    cell_of(&assignment.dst)
        .is_some_and(|cell| !(is_combinational(&cell) || is_address && is_memory(&cell.borrow())))
}

/// Whether a static group may leave as it is what it gives a value to: it is taken for written.
fn writes_sometimes(assignments: &[ir::Assignment<ir::StaticTiming>]) -> bool {
    assignments.iter().any(|assignment| {
        let is_state = cell_of(&assignment.dst)
            .is_some_and(|cell| !is_combinational(&cell) && !cell.borrow().is_this());
        let is_go = assignment.dst.borrow().attributes.has(ir::NumAttr::Go);
        let is_sure = matches!(&*assignment.guard, ir::Guard::True | ir::Guard::Info(_))
            && assignment.src.borrow().is_constant(1, 1);
        is_state && is_go && !is_sure
    })
}
