//! Which cell of the source does the work that a cell of the compiled program does.
//!
//! Resource sharing renames cells inside assignments in place and keeps their order. So the cells
//! that a group drives before and after a pass, side by side, tell which cell took over from
//! which, and the profile can use the source's names. Other passes may reorder the assignments of a
//! group, but then it drives the same cells as before; sharing never swaps two cells of a group,
//! because each is renamed to one that it shares with, and cells of one group are not shared.

use std::collections::HashMap;

use calyx_ir as ir;
use petal_program::tree::{GroupRef, NodeKey, Slot, View, driven_cell, parent_cell};

/// Something that drives cells, followed through the passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Driver {
    /// An enable, invoke or condition of the control program.
    Control(NodeKey, Slot),
    /// A group that other groups call.
    Called(ir::Id),
}

/// What a driver drives at the moment, and what it drove in the source.
#[derive(Debug, Clone, Default)]
struct Driven {
    /// The group when it was first seen.
    first: Option<ir::Id>,
    /// The group now, to see whether it is still the same thing.
    what: Option<ir::Id>,
    cells: Vec<Option<ir::Id>>,
    /// Cell now → cell in the source, where they differ.
    source: HashMap<ir::Id, ir::Id>,
}

/// The renamings of one component.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sharing {
    drivers: HashMap<Driver, Driven>,
    /// Cell in the source → cell that does its work, where they differ.
    lives_in: HashMap<ir::Id, ir::Id>,
}

impl Sharing {
    /// Compares what every driver of `component` drives with what it drove at the last call.
    pub fn observe(&mut self, component: &ir::Component) {
        let mut now: Vec<(Driver, ir::Id, Vec<Option<ir::Id>>)> = Vec::new();
        View::of(&component.control.borrow()).walk(&mut |view| {
            let Some((key, slot)) = view.identity() else {
                return;
            };
            if let Some(group) = view.group() {
                now.push((Driver::Control(key, slot), group.name(), group.driven()));
            } else if let Some(cell) = view.invoked() {
                let cells = invoke_cells(view, cell.borrow().name());
                now.push((Driver::Control(key, slot), "invoke".into(), cells));
            } else if let Some(group) = view.comb_group() {
                let group = group.borrow();
                let cells = group.assignments.iter().map(driven_cell).collect();
                now.push((Driver::Control(key, Slot::Condition), group.name(), cells));
            }
        });
        for group in component.get_groups().iter() {
            let group = GroupRef::Dynamic(group.clone());
            now.push((Driver::Called(group.name()), group.name(), group.driven()));
        }
        for group in component.get_static_groups().iter() {
            let group = GroupRef::Static(group.clone());
            now.push((Driver::Called(group.name()), group.name(), group.driven()));
        }
        let same_type =
            |a: ir::Id, b: ir::Id| match (component.find_cell(a), component.find_cell(b)) {
                (Some(a), Some(b)) => a.borrow().prototype == b.borrow().prototype,
                _ => false,
            };
        for (driver, what, cells) in now {
            let history = self.drivers.entry(driver).or_default();
            if history.what == Some(what)
                && history.cells.len() == cells.len()
                && !is_reordered(&history.cells, &cells)
            {
                for (before, after) in history.cells.iter().zip(&cells) {
                    let (Some(before), Some(after)) = (*before, *after) else {
                        continue;
                    };
                    if before != after && same_type(before, after) {
                        let source = history.source.get(&before).copied().unwrap_or(before);
                        history.source.insert(after, source);
                        self.lives_in.insert(source, after);
                    }
                }
            }
            history.first.get_or_insert(what);
            history.what = Some(what);
            history.cells = cells;
        }
    }

    /// The source's name for the cell that `driver` drives under the name `cell`.
    pub fn source_cell(&self, driver: Driver, cell: ir::Id) -> ir::Id {
        self.drivers
            .get(&driver)
            .and_then(|driven| driven.source.get(&cell))
            .copied()
            .unwrap_or(cell)
    }

    /// The name of the driver's group when it was first seen.
    pub fn first_name(&self, driver: Driver) -> Option<ir::Id> {
        self.drivers.get(&driver)?.first
    }

    /// The cell that does the work of the source's `cell`.
    pub fn lives_in(&self, cell: ir::Id) -> ir::Id {
        self.lives_in.get(&cell).copied().unwrap_or(cell)
    }
}

/// Whether the same cells are driven, maybe in another order.
fn is_reordered(before: &[Option<ir::Id>], after: &[Option<ir::Id>]) -> bool {
    let sorted = |cells: &[Option<ir::Id>]| {
        let mut cells = cells.to_vec();
        cells.sort_unstable();
        cells
    };
    sorted(before) == sorted(after)
}

/// The cells that an invoke drives: the invoked one, those that take its outputs, and those of its
/// comb group.
fn invoke_cells(view: View<'_>, cell: ir::Id) -> Vec<Option<ir::Id>> {
    let outputs = match view {
        View::Dynamic(ir::Control::Invoke(node)) => &node.outputs,
        View::Static(ir::StaticControl::Invoke(node)) => &node.outputs,
        _ => return vec![Some(cell)],
    };
    let mut cells = vec![Some(cell)];
    cells.extend(outputs.iter().map(|(_, port)| parent_cell(&port.borrow())));
    if let Some(group) = view.comb_group() {
        cells.extend(group.borrow().assignments.iter().map(driven_cell));
    }
    cells
}
