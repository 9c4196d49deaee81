//! Which components keep something from one run to the next that the compiler does not see.
//!
//! The pass `infer-share` takes a component for one that keeps nothing if each read in its groups and conditions comes after a write. It
//! does not look at continuous assignments, nor at what groups run. `cell-share` then makes one cell of two of such a component that are not
//! in use at the same time, and an edit may change which are. Owns which components have cells of which that may be so.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use crate::dependences::{Cells, is_declared, ports_of, ports_read};
use crate::kept::{Kept, is_go, parent};
use crate::latency::takes_one_cycle;
use crate::tree::{GroupRef, View};

/// What is known of the components of a program.
#[derive(Default)]
struct Known {
    /// They have something that could keep a value.
    stateful: BTreeSet<ir::Id>,
    /// A run of them may give what an earlier one left.
    keeping: BTreeSet<ir::Id>,
    /// Those of which the compiler surely sees that.
    unshared: BTreeSet<ir::Id>,
    /// How many cells of each component there are in one, with those in its cells.
    cells: BTreeMap<ir::Id, BTreeMap<ir::Id, usize>>,
}

/// The components with several cells of a component that keeps something without the compiler seeing it, their own or those of their
/// cells, which may become a part of them.
pub fn confused(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let known = Known::of(ctx);
    let is_confused = |cells: &BTreeMap<ir::Id, usize>| {
        let mut several = cells.iter().filter(|(_, count)| **count > 1);
        several.any(|(of, _)| known.keeping.contains(of) && !known.unshared.contains(of))
    };
    let all = known.cells.iter();
    all.filter(|(_, cells)| is_confused(cells))
        .map(|(name, _)| *name)
        .collect()
}

/// The components that may give in a run what an earlier one left.
pub fn keeping(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    Known::of(ctx).keeping
}

impl Known {
    fn of(ctx: &ir::Context) -> Self {
        let mut known = Self::default();
        // Those that a component runs come before it.
        for component in &ctx.components {
            known.add(ctx, component);
        }
        known
    }

    fn add(&mut self, ctx: &ir::Context, component: &ir::Component) {
        let name = component.name;
        let mut cells: BTreeMap<ir::Id, usize> = BTreeMap::new();
        let mut state = Cells::new();
        let mut has_keeping = false;
        for cell in component.cells.iter() {
            let cell = cell.borrow();
            let Some(of) = cell.type_name().filter(|_| !cell.is_reference()) else {
                continue;
            };
            if cell.is_component() {
                let inner = self.cells.get(&of).into_iter().flatten();
                for (inner, count) in inner.chain([(&of, &1)]) {
                    let all = cells.entry(*inner).or_default();
                    *all = all.saturating_add(*count);
                }
                has_keeping |= self.keeping.contains(&of);
            }
            let is_comb = matches!(
                cell.prototype,
                ir::CellType::Primitive { is_comb: true, .. }
            );
            if !is_comb && (!cell.is_component() || self.stateful.contains(&of)) {
                state.insert(cell.name());
            }
        }
        self.cells.insert(name, cells);
        if state.is_empty() {
            return;
        }
        self.stateful.insert(name);
        if has_keeping || Kept::with_wires(component, state).reads_early() {
            self.keeping.insert(name);
        }
        if self.is_unshared(ctx, component) {
            self.unshared.insert(name);
        }
    }

    /// Whether the compiler surely does not share cells of a component, whatever its passes do before.
    fn is_unshared(&self, ctx: &ir::Context, component: &ir::Component) -> bool {
        let attributes = &component.attributes;
        if attributes.has(ir::BoolAttr::Share) || attributes.has(ir::BoolAttr::StateShare) {
            return false;
        }
        let (mut seen, mut alone) = (Cells::new(), Cells::new());
        for cell in component.cells.iter() {
            let cell = cell.borrow();
            let Some(of) = cell.type_name().filter(|_| !cell.is_reference()) else {
                continue;
            };
            if cell.is_component() {
                if self.unshared.contains(&of) {
                    alone.insert(cell.name());
                }
            } else if is_declared(ctx, of, ir::BoolAttr::StateShare) {
                seen.insert(cell.name());
            } else if !is_declared(ctx, of, ir::BoolAttr::Share) {
                alone.insert(cell.name());
            }
        }
        let control = component.control.borrow();
        Seen { seen, alone }.reads_first(View::of(&control), &mut Cells::new())
    }
}

/// What the compiler sees of a component. Whatever is not certain counts as written.
struct Seen {
    /// Cells that may be shared, if each read of them comes after a write.
    seen: Cells,
    /// Cells of which one that is used is enough for the component not to be shared.
    alone: Cells,
}

impl Seen {
    /// Whether a statement surely reads what nothing before it may have written.
    fn reads_first(&self, view: View<'_>, written: &mut Cells) -> bool {
        let mut reads: Cells = ports_of(view).0.iter().filter_map(parent).collect();
        if let Some(group) = view.comb_group() {
            reads.extend(read(&group.borrow().assignments));
        }
        let mut writes = Cells::new();
        match view.group() {
            Some(GroupRef::Dynamic(group)) => {
                let group = group.borrow();
                writes = started(&group.assignments);
                let own = read(&group.assignments).into_iter();
                // A pass may take apart what waits for something.
                let is_whole = takes_one_cycle(&group);
                reads.extend(own.filter(|cell| is_whole || !writes.contains(cell)));
            }
            Some(GroupRef::Static(group)) => {
                let group = group.borrow();
                writes = started(&group.assignments);
                reads.extend(read(&group.assignments));
            }
            None => {}
        }
        writes.extend(view.invoked().map(|cell| cell.borrow().name()));
        let mut used = reads.union(&writes);
        if used.any(|cell| self.alone.contains(cell))
            || reads
                .iter()
                .any(|cell| self.seen.contains(cell) && !written.contains(cell))
        {
            return true;
        }
        written.extend(writes);
        let children = view.children();
        if matches!(
            view.kind(),
            petal_metadata::ControlKind::Par | petal_metadata::ControlKind::StaticPar
        ) {
            for child in &children {
                child.walk(&mut |view| match view.group() {
                    Some(GroupRef::Dynamic(group)) => {
                        written.extend(started(&group.borrow().assignments));
                    }
                    Some(GroupRef::Static(group)) => {
                        written.extend(started(&group.borrow().assignments));
                    }
                    None => written.extend(view.invoked().map(|cell| cell.borrow().name())),
                });
            }
        }
        let mut children = children.into_iter();
        children.any(|child| self.reads_first(child, written))
    }
}

/// The cells that assignments read, more than that they are done.
fn read<T>(assignments: &[ir::Assignment<T>]) -> Cells {
    let ports = assignments.iter().flat_map(ports_read);
    let ports = ports.filter(|port| !port.borrow().attributes.has(ir::NumAttr::Done));
    ports.filter_map(|port| parent(&port)).collect()
}

/// The cells that assignments may start.
fn started<T>(assignments: &[ir::Assignment<T>]) -> Cells {
    let starts = assignments.iter().filter(|start| is_go(&start.dst));
    starts.filter_map(|start| parent(&start.dst)).collect()
}
