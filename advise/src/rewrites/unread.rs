//! Memories that stop the run, and that the compiler may take away.
//!
//! It takes away a cell that nobody reads, and a static group needs no `done`. So a memory may be there in one program, and stop the
//! run at an address that is out of bounds, and not in the other. Owns which components have such a memory.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, ports_of, ports_read};
use petal_program::tree::View;

use super::ends::may_stop;

/// The components with a memory of their own that may get an address out of bounds, and whose values lead to nothing that stays.
pub(super) fn components(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let components = ctx.components.iter();
    let with = components.filter(|component| {
        let flow = Flow::of(component);
        let mut own = component.cells.iter().filter(|cell| !stays(&cell.borrow()));
        let kept = flow.kept(component);
        own.any(|cell| {
            let name = cell.borrow().name();
            flow.stopping.contains(&name) && !kept.contains(&name)
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

/// How values go from cell to cell.
#[derive(Default)]
struct Flow {
    /// The cells that each gets something from.
    from: BTreeMap<ir::Id, Cells>,
    /// Those that may get an address out of bounds.
    stopping: Cells,
    /// Those that control looks at.
    decides: Cells,
}

impl Flow {
    fn of(component: &ir::Component) -> Self {
        let mut flow = Self::default();
        flow.add(&component.continuous_assignments);
        for group in component.get_groups().iter() {
            flow.add(&group.borrow().assignments);
        }
        for group in component.get_static_groups().iter() {
            flow.add(&group.borrow().assignments);
        }
        for group in component.comb_groups.iter() {
            flow.add(&group.borrow().assignments);
        }
        View::of(&component.control.borrow()).walk(&mut |view| {
            let (read, _) = ports_of(view);
            let read = read.iter().filter_map(cell_of);
            flow.decides.extend(read.map(|cell| cell.borrow().name()));
        });
        flow
    }

    fn add<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            let Some(to) = cell_of(&assignment.dst) else {
                continue;
            };
            let to = to.borrow().name();
            if may_stop(&assignment.dst, &assignment.src) {
                self.stopping.insert(to);
            }
            let read = ports_read(assignment).into_iter();
            let values = read.filter(|port| !port.borrow().attributes.has(ir::NumAttr::Done));
            let from = values.filter_map(|port| Some(cell_of(&port)?.borrow().name()));
            self.from.entry(to).or_default().extend(from);
        }
    }

    /// The cells that stay, and those whose values lead there.
    fn kept(&self, component: &ir::Component) -> Cells {
        let cells = component.cells.iter().map(|cell| cell.borrow());
        let staying = cells.filter(|cell| stays(cell)).map(|cell| cell.name());
        let own = component.signature.borrow().name();
        let mut next: Vec<ir::Id> = staying.chain([own]).collect();
        next.extend(&self.decides);
        let mut kept = Cells::new();
        while let Some(cell) = next.pop() {
            if kept.insert(cell) {
                next.extend(self.from.get(&cell).into_iter().flatten());
            }
        }
        kept
    }
}
