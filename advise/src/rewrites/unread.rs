//! Memories that stop the run, and that the compiler may take away.
//!
//! It takes away a cell that nobody reads, and a static group needs no `done`. So a memory may be there in one program, and stop the
//! run at an address that is out of bounds, and not in the other. Owns which components have such a memory.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, ports_of};
use petal_program::tree::View;

use super::ends::may_stop;
use super::flow::Flow;

/// The components with a memory of their own that may get an address out of bounds, and whose values lead to nothing that stays.
pub(super) fn components(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let components = ctx.components.iter();
    let with = components.filter(|component| {
        let uses = Uses::of(component);
        let mut own = component.cells.iter().filter(|cell| !stays(&cell.borrow()));
        let kept = uses.kept(component);
        own.any(|cell| {
            let name = cell.borrow().name();
            uses.stopping.contains(&name) && !kept.contains(&name)
        })
    });
    with.map(|component| component.name).collect()
}

/// Whether a cell is there whoever reads it.
fn stays(cell: &ir::Cell) -> bool {
    cell.is_component()
        || cell.is_this()
        || cell.is_reference()
        || cell.attributes.has(ir::BoolAttr::External)
}

/// What a component does with its cells.
#[derive(Default)]
struct Uses {
    flow: Flow,
    /// Those that may get an address out of bounds.
    stopping: Cells,
    /// Those that control looks at.
    decides: Cells,
}

impl Uses {
    fn of(component: &ir::Component) -> Self {
        let mut uses = Self::default();
        uses.add(&component.continuous_assignments);
        for group in component.get_groups().iter() {
            uses.add(&group.borrow().assignments);
        }
        for group in component.get_static_groups().iter() {
            uses.add(&group.borrow().assignments);
        }
        for group in component.comb_groups.iter() {
            uses.add(&group.borrow().assignments);
        }
        View::of(&component.control.borrow()).walk(&mut |view| {
            let (read, _) = ports_of(view);
            let read = read.iter().filter_map(cell_of);
            uses.decides.extend(read.map(|cell| cell.borrow().name()));
        });
        uses
    }

    fn add<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        // That something is done is no value.
        let is_value = |port: &ir::Port| !port.attributes.has(ir::NumAttr::Done);
        self.flow.add(assignments, is_value);
        let stopping = assignments.iter();
        let stopping = stopping.filter(|to| may_stop(&to.dst, &to.src));
        let stopping = stopping.filter_map(|to| cell_of(&to.dst));
        self.stopping
            .extend(stopping.map(|cell| cell.borrow().name()));
    }

    /// The cells that stay, and those whose values lead there.
    fn kept(&self, component: &ir::Component) -> Cells {
        let cells = component.cells.iter().map(|cell| cell.borrow());
        let staying = cells.filter(|cell| stays(cell)).map(|cell| cell.name());
        let own = component.signature.borrow().name();
        let decides = self.decides.iter().copied();
        self.flow.sources(staying.chain([own]).chain(decides))
    }
}
