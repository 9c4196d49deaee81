//! Whether statements surely end, and whether they may stop the simulation.
//!
//! An address out of the bounds of a `comb_mem` stops the simulation, in petal's simulator and in Verilator. A step that never ends
//! keeps what comes after it from doing so. Owns of which statements that is certain; what cannot be decided may do both.

use std::collections::BTreeSet;

use calyx_ir as ir;

use super::state::is_memory;
use crate::dependences::cell_of;
use crate::tree::{GroupRef, View};

/// So many cells may wait for one another until a group is done.
const MOST_IN_ROW: usize = 16;

/// What a statement may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct End {
    /// It may have an address out of bounds.
    pub may_stop: bool,
    /// It may never end.
    pub may_hang: bool,
}

impl End {
    fn or(self, other: Self) -> Self {
        Self {
            may_stop: self.may_stop || other.may_stop,
            may_hang: self.may_hang || other.may_hang,
        }
    }
}

/// The components of a program of which something is not certain.
#[derive(Debug, Default)]
pub(super) struct Ends {
    stopping: BTreeSet<ir::Id>,
    hanging: BTreeSet<ir::Id>,
}

impl Ends {
    pub fn of(ctx: &ir::Context) -> Self {
        let mut ends = Self::default();
        // Those that a component runs come before it.
        for component in &ctx.components {
            let end = ends.statement(component, View::of(&component.control.borrow()));
            let by_itself = component
                .continuous_assignments
                .iter()
                .any(|assignment| may_stop(&assignment.dst, &assignment.src));
            if end.may_stop || by_itself {
                ends.stopping.insert(component.name);
            }
            // A component without control ends when its wires say so.
            if end.may_hang || View::of(&component.control.borrow()).identity().is_none() {
                ends.hanging.insert(component.name);
            }
        }
        ends
    }

    /// What a statement of a component may do, with all that is below it.
    pub fn statement(&self, component: &ir::Component, view: View<'_>) -> End {
        let mut end = End {
            may_hang: matches!(view, View::Dynamic(ir::Control::While(_)))
                || view.attributes().has(ir::NumAttr::Sync),
            may_stop: view
                .comb_group()
                .is_some_and(|group| stops(&group.borrow().assignments)),
        };
        if let Some(cell) = view.invoked() {
            end = end.or(self.cell(&cell.borrow()));
        }
        if let Some(group) = view.group() {
            end = end.or(self.group(component, &group));
        }
        let children = view.children().into_iter();
        children.fold(end, |end, child| end.or(self.statement(component, child)))
    }

    fn cell(&self, cell: &ir::Cell) -> End {
        let Some(of) = cell.type_name().filter(|_| cell.is_component()) else {
            return End::default();
        };
        End {
            may_stop: self.stopping.contains(&of),
            may_hang: self.hanging.contains(&of),
        }
    }

    fn group(&self, component: &ir::Component, group: &GroupRef) -> End {
        let run = |cells: Vec<Option<ir::Id>>| {
            let cells = cells.into_iter().flatten();
            let cells = cells.filter_map(|name| component.find_cell(name));
            cells.fold(End::default(), |end, cell| {
                end.or(self.cell(&cell.borrow()))
            })
        };
        let cells = run(group.driven());
        let runs_groups = !group.called().is_empty();
        match group {
            GroupRef::Static(group) => End {
                may_stop: cells.may_stop || runs_groups || stops(&group.borrow().assignments),
                may_hang: false,
            },
            GroupRef::Dynamic(group) => {
                let group = group.borrow();
                End {
                    may_stop: cells.may_stop || runs_groups || stops(&group.assignments),
                    may_hang: cells.may_hang || runs_groups || !ends(&group),
                }
            }
        }
    }
}

/// Whether a group is surely done some time: what it is done with is started in its first cycle, or by something that is.
fn ends(group: &ir::Group) -> bool {
    let mut dones = group
        .assignments
        .iter()
        .filter(|assignment| assignment.dst.borrow().is_hole());
    let (Some(done), None) = (dones.next(), dones.next()) else {
        return false;
    };
    done.guard.is_true() && comes(group, &done.src, MOST_IN_ROW)
}

/// Whether a port is surely high some time: the `done` of a cell that is started.
fn comes(group: &ir::Group, port: &ir::RRC<ir::Port>, left: usize) -> bool {
    if port.borrow().is_constant(1, 1) {
        return true;
    }
    let Some(cell) = cell_of(port).filter(|_| left > 0) else {
        return false;
    };
    let cell = cell.borrow();
    let is_done = port.borrow().attributes.has(ir::NumAttr::Done) && !cell.is_this();
    let own_done = |port: &ir::RRC<ir::Port>| {
        port.borrow().attributes.has(ir::NumAttr::Done)
            && cell_of(port).is_some_and(|of| of.borrow().name() == cell.name())
    };
    let mut starts = group.assignments.iter().filter(|assignment| {
        let to = assignment.dst.borrow();
        !to.is_hole() && to.get_parent_name() == cell.name() && to.attributes.has(ir::NumAttr::Go)
    });
    let (Some(start), None) = (starts.next(), starts.next()) else {
        return false;
    };
    is_done
        && match &*start.guard {
            ir::Guard::True => comes(group, &start.src, left - 1),
            ir::Guard::Not(inner) => {
                matches!(&**inner, ir::Guard::Port(port) if own_done(port))
                    && start.src.borrow().is_constant(1, 1)
            }
            ir::Guard::Port(port) => {
                start.src.borrow().is_constant(1, 1) && comes(group, port, left - 1)
            }
            _ => false,
        }
}

fn stops<T>(assignments: &[ir::Assignment<T>]) -> bool {
    let mut assignments = assignments.iter();
    assignments.any(|assignment| may_stop(&assignment.dst, &assignment.src))
}

/// Whether an assignment may hand a memory an address that it has no word for.
pub(super) fn may_stop(to: &ir::RRC<ir::Port>, from: &ir::RRC<ir::Port>) -> bool {
    let Some(cell) = cell_of(to).filter(|cell| is_memory(&cell.borrow())) else {
        return false;
    };
    let (cell, port) = (cell.borrow(), to.borrow());
    let Some(dimension) = port.name.as_ref().strip_prefix("addr") else {
        return false;
    };
    let size = cell
        .get_parameter(format!("D{dimension}_SIZE"))
        .or_else(|| cell.get_parameter("SIZE"));
    let Some(size) = size else { return true };
    let from = from.borrow();
    if !from.is_hole()
        && let ir::CellType::Constant { val, .. } = from.cell_parent().borrow().prototype
    {
        return val >= size;
    }
    let words = 1_u64.checked_shl(u32::try_from(port.width).unwrap_or(u32::MAX));
    words.is_none_or(|words| words > size)
}
