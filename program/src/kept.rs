//! What a component keeps from one run to the next.
//!
//! The pass `cell-share` makes one cell of two that are not in use at the same time of one run, even where a later run reads what an
//! earlier one has left in one of them. Which cells it finds depends on the rest of the component and on the passes before it, so
//! an edit may make it find some. Owns which components have a cell that could be lost so, under whatever passes.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use crate::course::takes;
use crate::dependences::{
    Cells, cell_of, is_combinational, is_declared, ports_of, ports_read, primitive,
};
use crate::tree::{GroupRef, View};

/// The components that may read in a run what an earlier one left in a cell that the compiler may share. The entry point
/// runs once.
pub fn keeping(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let mut keeping = BTreeSet::new();
    // Those that a component runs come before it.
    for component in &ctx.components {
        // What they keep is its own when the compiler makes them a part of it.
        let has_keeping = || {
            let mut cells = component.cells.iter();
            cells.any(|cell| {
                let of = cell.borrow().type_name();
                of.is_some_and(|of| keeping.contains(&of))
            })
        };
        if component.name != ctx.entrypoint
            && (Kept::of(ctx, component).reads_early() || has_keeping())
        {
            keeping.insert(component.name);
        }
    }
    keeping
}

/// What a component reads in a run before it has written it.
pub(crate) struct Kept<'a> {
    component: &'a ir::Component,
    /// The cells that keep something, of which it matters whether they are read.
    cells: Cells,
    /// Cell → cells that continuous assignments hand to it, directly or not, if these count.
    wires: BTreeMap<ir::Id, Cells>,
    /// Cells that they hand to outputs.
    outputs: Cells,
}

impl<'a> Kept<'a> {
    fn of(ctx: &ir::Context, component: &'a ir::Component) -> Self {
        // What continuous assignments read is never shared.
        let continuous = component.continuous_assignments.iter();
        let read: Cells = continuous
            .flat_map(ports_read)
            .filter_map(|port| parent(&port))
            .collect();
        let is_shared = |cell: &ir::Cell| match &cell.prototype {
            ir::CellType::Component { .. } => true,
            ir::CellType::Primitive { name, is_comb, .. } => {
                !is_comb && is_declared(ctx, *name, ir::BoolAttr::StateShare)
            }
            _ => false,
        };
        let cells = component.cells.iter().filter_map(|cell| {
            let cell = cell.borrow();
            let name = cell.name();
            (!cell.is_reference() && is_shared(&cell) && !read.contains(&name)).then_some(name)
        });
        Self {
            component,
            cells: cells.collect(),
            wires: BTreeMap::new(),
            outputs: Cells::new(),
        }
    }

    /// The same of these cells, where what continuous assignments read counts like the rest.
    pub fn with_wires(component: &'a ir::Component, cells: Cells) -> Self {
        let mut wires: BTreeMap<ir::Id, Cells> = BTreeMap::new();
        let mut outputs = Cells::new();
        for assignment in &component.continuous_assignments {
            let Some(to) = cell_of(&assignment.dst) else {
                continue;
            };
            let from = Self::reads(std::slice::from_ref(assignment));
            if to.borrow().is_this() {
                outputs.extend(from);
            } else {
                wires.entry(to.borrow().name()).or_default().extend(from);
            }
        }
        let wires = wires.keys().map(|cell| (*cell, reached(&wires, *cell)));
        let wires: BTreeMap<ir::Id, Cells> = wires.collect();
        let indirect = outputs.iter().filter_map(|cell| wires.get(cell)).flatten();
        let indirect: Cells = indirect.copied().collect();
        outputs.extend(indirect);
        Self {
            component,
            cells,
            wires,
            outputs,
        }
    }

    /// Whether a run may read, or give, what it has not written.
    pub fn reads_early(&self) -> bool {
        let mut written = Cells::new();
        let control = self.component.control.borrow();
        let is_unwritten =
            |cell: &ir::Id, written: &Cells| self.cells.contains(cell) && !written.contains(cell);
        !self.cells.is_empty()
            && (self.reads_before(View::of(&control), &mut written)
                || self.outputs.iter().any(|cell| is_unwritten(cell, &written)))
    }

    /// What continuous assignments hand to cells that assignments read or drive.
    fn by_wires<T>(&self, assignments: &[ir::Assignment<T>]) -> Cells {
        let ports = assignments.iter().flat_map(|assignment| {
            let read = ports_read(assignment).into_iter();
            read.chain([assignment.dst.clone()])
        });
        self.handed(ports)
    }

    fn handed(&self, ports: impl IntoIterator<Item = ir::RRC<ir::Port>>) -> Cells {
        let cells = ports.into_iter().filter_map(|port| parent(&port));
        let handed = cells.filter_map(|cell| self.wires.get(&cell));
        handed.flatten().copied().collect()
    }

    /// Whether a statement may read what it has not written in this run. `written` are the cells that surely are, before it and
    /// then after it.
    fn reads_before(&self, view: View<'_>, written: &mut Cells) -> bool {
        // What it gives to a register, that takes only if something enables it.
        let (read, driven) = ports_of(view);
        let mut reads: Cells = read.iter().filter_map(parent).collect();
        reads.extend(self.handed(read.into_iter().chain(driven)));
        if let Some(cell) = view.invoked() {
            let given = self.wires.get(&cell.borrow().name());
            reads.extend(given.into_iter().flatten());
        }
        if let Some(group) = view.comb_group() {
            let group = group.borrow();
            reads.extend(Self::reads(&group.assignments));
            reads.extend(self.by_wires(&group.assignments));
        }
        for (_, actual) in view.handed_over() {
            reads.insert(actual);
        }
        if let Some(group) = view.group() {
            reads.extend(self.group_reads(&group, &mut Cells::new()));
        }
        let is_unwritten = |cell: &ir::Id| self.cells.contains(cell) && !written.contains(cell);
        if reads.iter().any(is_unwritten) {
            return true;
        }
        match view {
            View::Dynamic(ir::Control::Seq(_)) | View::Static(ir::StaticControl::Seq(_)) => {
                let mut steps = view.children().into_iter();
                return steps.any(|step| self.reads_before(step, written));
            }
            View::Dynamic(ir::Control::Par(_)) | View::Static(ir::StaticControl::Par(_)) => {
                let before = written.clone();
                return view.children().into_iter().any(|arm| {
                    let mut in_arm = before.clone();
                    let found = self.reads_before(arm, &mut in_arm);
                    written.extend(in_arm);
                    found
                });
            }
            View::Dynamic(ir::Control::If(_)) | View::Static(ir::StaticControl::If(_)) => {
                let mut after: Option<Cells> = None;
                let branches = match view {
                    View::Dynamic(ir::Control::If(node)) => {
                        [View::of(&node.tbranch), View::of(&node.fbranch)]
                    }
                    View::Static(ir::StaticControl::If(node)) => {
                        [View::Static(&node.tbranch), View::Static(&node.fbranch)]
                    }
                    _ => return true,
                };
                for branch in branches {
                    let mut in_branch = written.clone();
                    if self.reads_before(branch, &mut in_branch) {
                        return true;
                    }
                    after = Some(match after {
                        Some(other) => &other & &in_branch,
                        None => in_branch,
                    });
                }
                written.extend(after.unwrap_or_default());
            }
            View::Dynamic(ir::Control::While(_) | ir::Control::Repeat(_))
            | View::Static(ir::StaticControl::Repeat(_)) => {
                // It may run not once.
                let mut body = view.children().into_iter();
                return body.any(|body| self.reads_before(body, &mut written.clone()));
            }
            View::Dynamic(ir::Control::Invoke(_)) | View::Static(ir::StaticControl::Invoke(_)) => {
                written.extend(view.invoked().map(|cell| cell.borrow().name()));
            }
            View::Dynamic(_) | View::Static(_) => {
                if let Some(group) = view.group() {
                    written.extend(Self::writes(&group));
                }
            }
        }
        false
    }

    /// The cells that assignments read.
    fn reads<T>(assignments: &[ir::Assignment<T>]) -> Cells {
        let ports = assignments.iter().flat_map(ports_read);
        let ports = ports.filter(|port| !port.borrow().attributes.has(ir::NumAttr::Done));
        ports.filter_map(|port| parent(&port)).collect()
    }

    fn group_reads(&self, group: &GroupRef, seen: &mut Cells) -> Cells {
        let mut reads = match group {
            GroupRef::Dynamic(group) => {
                let group = group.borrow();
                let mut reads = Self::reads(&group.assignments);
                let first: Cells = Self::started(&group)
                    .into_iter()
                    .filter(|cell| waits_for(&group, *cell))
                    .collect();
                reads.retain(|cell| !first.contains(cell));
                reads.extend(self.by_wires(&group.assignments));
                reads
            }
            GroupRef::Static(group) => {
                let group = group.borrow();
                let mut reads = Self::reads(&group.assignments);
                let first = Self::started_at_once(&group).into_iter();
                let first: Cells = first
                    .filter(|(cell, ready)| comes_later(&group, *cell, *ready))
                    .map(|(cell, _)| cell)
                    .collect();
                reads.retain(|cell| !first.contains(cell));
                reads.extend(self.by_wires(&group.assignments));
                reads
            }
        };
        for name in group.called() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(group) = self.component.find_group(name) {
                reads.extend(self.group_reads(&GroupRef::Dynamic(group), seen));
            } else if let Some(group) = self.component.find_static_group(name) {
                reads.extend(self.group_reads(&GroupRef::Static(group), seen));
            }
        }
        reads
    }

    /// The cells that a group surely writes or runs.
    fn writes(group: &GroupRef) -> Cells {
        match group {
            GroupRef::Dynamic(group) => {
                let group = group.borrow();
                let mut written = Self::started(&group);
                written.extend(ends_with(&group));
                written
            }
            GroupRef::Static(group) => {
                let group = group.borrow();
                let starts = group.assignments.iter().filter(|assignment| {
                    let surely = match &*assignment.guard {
                        ir::Guard::True => true,
                        ir::Guard::Info(timing) => timing.get_interval().0 < group.latency,
                        _ => false,
                    };
                    surely && assignment.src.borrow().is_constant(1, 1) && is_go(&assignment.dst)
                });
                starts
                    .filter_map(|assignment| parent(&assignment.dst))
                    .collect()
            }
        }
    }

    /// The cells that a static group starts in its first cycle and keeps on until they are done, with the cycle in which they are.
    fn started_at_once(group: &ir::StaticGroup) -> Vec<(ir::Id, u64)> {
        let starts = group.assignments.iter().filter_map(|assignment| {
            let cell = cell_of(&assignment.dst).filter(|_| is_go(&assignment.dst))?;
            let ready = primitive(&cell.borrow()).and_then(|of| takes(of.as_ref()))?;
            let (begins, ends) = match &*assignment.guard {
                ir::Guard::True => (0, group.latency),
                ir::Guard::Info(timing) => timing.get_interval(),
                _ => return None,
            };
            let surely = begins == 0 && ends >= ready && assignment.src.borrow().is_constant(1, 1);
            let name = cell.borrow().name();
            surely.then_some((name, ready))
        });
        starts.collect()
    }

    /// The cells that a group starts in its first cycle, whatever holds then.
    fn started(group: &ir::Group) -> Cells {
        let starts = group.assignments.iter().filter(|assignment| {
            let cell = parent(&assignment.dst);
            let surely = assignment.guard.is_true()
                || matches!(&*assignment.guard, ir::Guard::Not(inner) if matches!(&**inner, ir::Guard::Port(port)
                    if port.borrow().attributes.has(ir::NumAttr::Done) && parent(port) == cell));
            surely && assignment.src.borrow().is_constant(1, 1) && is_go(&assignment.dst)
        });
        starts
            .filter_map(|assignment| parent(&assignment.dst))
            .collect()
    }
}

pub(crate) fn is_go(port: &ir::RRC<ir::Port>) -> bool {
    port.borrow().attributes.has(ir::NumAttr::Go)
}

/// The cell that a group writes or runs and is done with, if that is all that it waits for.
fn ends_with(group: &ir::Group) -> Option<ir::Id> {
    let mut ends = group
        .assignments
        .iter()
        .filter(|assignment| assignment.dst.borrow().is_hole());
    let (Some(end), None) = (ends.next(), ends.next()) else {
        return None;
    };
    let is_done = end.src.borrow().attributes.has(ir::NumAttr::Done);
    let cell = parent(&end.src).filter(|_| end.guard.is_true() && is_done);
    let mut others = group.assignments.iter();
    cell.filter(|cell| others.any(|start| is_go(&start.dst) && parent(&start.dst) == Some(*cell)))
}

/// Whether all that a group starts beside a cell waits until that is done.
fn waits_for(group: &ir::Group, cell: ir::Id) -> bool {
    let mut others = group.assignments.iter().filter(|assignment| {
        let of =
            (!assignment.dst.borrow().is_hole()).then(|| assignment.dst.borrow().cell_parent());
        of.is_some_and(|of| {
            is_go(&assignment.dst) && of.borrow().name() != cell && !is_combinational(&of)
        })
    });
    !is_given(&group.assignments, cell)
        && others.all(|assignment| {
            is_done_of(&assignment.src, cell)
                || matches!(&*assignment.guard, ir::Guard::Port(port) if is_done_of(port, cell))
        })
}

/// Whether all that a static group starts beside a cell comes when that is done.
fn comes_later(group: &ir::StaticGroup, cell: ir::Id, ready: u64) -> bool {
    let mut others = group.assignments.iter().filter(|assignment| {
        let of = cell_of(&assignment.dst).filter(|_| is_go(&assignment.dst));
        of.is_some_and(|of| of.borrow().name() != cell && !is_combinational(&of))
    });
    !is_given(&group.assignments, cell)
        && others.all(|assignment| {
            matches!(&*assignment.guard, ir::Guard::Info(timing) if timing.get_interval().0 >= ready)
        })
}

/// Whether a port tells that a cell is done.
fn is_done_of(port: &ir::RRC<ir::Port>, cell: ir::Id) -> bool {
    port.borrow().attributes.has(ir::NumAttr::Done) && parent(port) == Some(cell)
}

/// Whether what a cell gives goes elsewhere than to cells that keep it: what looks at it must be what waits for it, and not by way of a cell
/// that gives it back.
fn is_given<T>(assignments: &[ir::Assignment<T>], cell: ir::Id) -> bool {
    assignments.iter().any(|assignment| {
        let looks = ports_read(assignment)
            .iter()
            .any(|port| parent(port) == Some(cell) && !is_done_of(port, cell));
        let keeps = cell_of(&assignment.dst)
            .is_some_and(|to| to.borrow().name() != cell && !is_combinational(&to));
        looks && !keeps
    })
}

/// The cells that these wires lead from to a cell, by way of others.
fn reached(wires: &BTreeMap<ir::Id, Cells>, cell: ir::Id) -> Cells {
    let mut all = Cells::new();
    let mut next = vec![cell];
    while let Some(cell) = next.pop() {
        let from = wires.get(&cell).into_iter().flatten();
        next.extend(from.filter(|from| all.insert(**from)));
    }
    all
}

/// The cell that a port belongs to.
pub(crate) fn parent(port: &ir::RRC<ir::Port>) -> Option<ir::Id> {
    cell_of(port).map(|cell| cell.borrow().name())
}
