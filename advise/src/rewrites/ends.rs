//! Whether statements surely end, and whether they may stop the simulation.
//!
//! An address out of the bounds of a memory stops the simulation, in petal's simulator and in Verilator, and so does a division by
//! zero. A step that never ends keeps what comes after it from doing so. Owns of which statements that is certain; what cannot be
//! decided may do both.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, ports_of, ports_read, primitive};
use petal_program::tree::{GroupRef, View};

/// Primitives that compare what they computed with what they should have, which stops the simulation.
const SELF_TESTS: [&str; 3] = ["std_div_pipe", "std_sdiv_pipe", "sqrt"];

/// So many cells may wait for one another until a group is done.
const MOST_IN_ROW: usize = 16;

/// What a statement may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct End {
    /// It may have an address out of bounds, or divide by zero.
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
    /// Cells of a component that decide what continuous assignments hand to what may stop.
    decisive: BTreeMap<ir::Id, Cells>,
}

impl Ends {
    pub fn of(ctx: &ir::Context) -> Self {
        let mut ends = Self::default();
        // Those that a component runs come before it.
        for component in &ctx.components {
            let decisive = ends.decisive(component);
            let by_itself = decisive.is_some();
            ends.decisive
                .insert(component.name, decisive.unwrap_or_default());
            let end = ends.statement(component, View::of(&component.control.borrow()));
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

    /// The cells that decide what the continuous assignments of a component hand to what may stop; `None` if they hand it nothing.
    fn decisive(&self, component: &ir::Component) -> Option<Cells> {
        let mut from: BTreeMap<ir::Id, Cells> = BTreeMap::new();
        let mut next = Vec::new();
        let mut by_itself = false;
        for assignment in &component.continuous_assignments {
            let Some(to) = cell_of(&assignment.dst) else {
                continue;
            };
            let read = ports_read(assignment);
            let read = read.iter().filter_map(cell_of);
            let read: Cells = read.map(|cell| cell.borrow().name()).collect();
            if may_stop(&assignment.dst, &assignment.src)
                || self.cell(&to.borrow()).may_stop
                || tests_itself(&to.borrow())
            {
                by_itself = true;
                next.extend(&read);
            }
            from.entry(to.borrow().name()).or_default().extend(read);
        }
        let mut all = Cells::new();
        while let Some(cell) = next.pop() {
            if all.insert(cell) {
                next.extend(from.get(&cell).into_iter().flatten());
            }
        }
        by_itself.then_some(all)
    }

    /// The components that give something, while they run, that continuous assignments hand to what may stop.
    pub fn watched(&self, ctx: &ir::Context) -> BTreeSet<ir::Id> {
        let cells = ctx.components.iter().flat_map(|component| {
            let decisive = self.decisive.get(&component.name).into_iter().flatten();
            decisive.filter_map(|cell| component.find_cell(*cell))
        });
        let components = cells.filter(|cell| cell.borrow().is_component());
        components
            .filter_map(|cell| cell.borrow().type_name())
            .collect()
    }

    /// Whether a component may stop.
    pub fn may_stop(&self, component: ir::Id) -> bool {
        self.stopping.contains(&component)
    }

    /// Whether continuous assignments of a component may stop.
    pub fn stops_by_itself(&self, component: &ir::Component) -> bool {
        self.decisive(component).is_some()
    }

    /// Whether a cell is one of these.
    pub fn decides(&self, component: &ir::Component, cell: ir::Id) -> bool {
        let cells = self.decisive.get(&component.name);
        cells.is_some_and(|cells| cells.contains(&cell))
    }

    /// What a statement of a component may do, with all that is below it.
    pub fn statement(&self, component: &ir::Component, view: View<'_>) -> End {
        let mut end = End {
            may_hang: matches!(view, View::Dynamic(ir::Control::While(_)))
                || view.attributes().has(ir::NumAttr::Sync),
            may_stop: view
                .comb_group()
                .is_some_and(|group| self.stops(component, &group.borrow().assignments)),
        };
        if let Some(cell) = view.invoked() {
            end = end.or(self.cell(&cell.borrow()));
            end.may_stop |= self.invoke_stops(component, view, &cell.borrow());
        }
        if let Some(group) = view.group() {
            end = end.or(self.group(component, &group));
        }
        let children = view.children().into_iter();
        children.fold(end, |end, child| end.or(self.statement(component, child)))
    }

    /// Whether an invoke hands something over that may stop.
    pub fn invoke_stops(&self, component: &ir::Component, view: View<'_>, cell: &ir::Cell) -> bool {
        let inputs = match view {
            View::Dynamic(ir::Control::Invoke(node)) => node.inputs.as_slice(),
            View::Static(ir::StaticControl::Invoke(node)) => node.inputs.as_slice(),
            _ => &[],
        };
        let pairs = inputs.iter().filter_map(|(port, from)| {
            let to = cell.ports.iter().find(|to| to.borrow().name == *port)?;
            Some((to, from))
        });
        let divides = tests_itself(cell)
            && !pairs
                .clone()
                .any(|(to, from)| to.borrow().name == "right" && is_divisor(cell, from));
        let (_, driven) = ports_of(view);
        let outputs = driven.iter().filter_map(cell_of);
        let handed_over = view.handed_over().into_iter().map(|(_, actual)| actual);
        let written = outputs.map(|cell| cell.borrow().name());
        let mut written = written.chain(handed_over).chain([cell.name()]);
        divides
            || pairs.into_iter().any(|(to, from)| may_stop(to, from))
            // What the cell gives is no constant.
            || driven.iter().any(|to| may_stop(to, to))
            || written.any(|cell| self.decides(component, cell))
    }

    /// Whether assignments hand something over that may stop, or start it.
    pub fn stops<T>(&self, component: &ir::Component, assignments: &[ir::Assignment<T>]) -> bool {
        let divided = |cell: &ir::Cell| {
            let given = assignments.iter().filter(|assignment| {
                let to = assignment.dst.borrow();
                !to.is_hole() && to.get_parent_name() == cell.name() && to.name == "right"
            });
            let mut given = given
                .map(|assignment| assignment.guard.is_true() && is_divisor(cell, &assignment.src));
            given.next() == Some(true) && given.next().is_none()
        };
        assignments.iter().any(|assignment| {
            let cell = cell_of(&assignment.dst);
            may_stop(&assignment.dst, &assignment.src)
                || cell.is_some_and(|cell| {
                    let cell = cell.borrow();
                    let divides = tests_itself(&cell) && !divided(&cell);
                    divides || self.decides(component, cell.name())
                })
        })
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
                may_stop: cells.may_stop
                    || runs_groups
                    || self.stops(component, &group.borrow().assignments),
                may_hang: false,
            },
            GroupRef::Dynamic(group) => {
                let group = group.borrow();
                End {
                    may_stop: cells.may_stop
                        || runs_groups
                        || self.stops(component, &group.assignments),
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
    // What takes longer needs to be asked until it is done, and what starts it may be over.
    let takes_one = start.dst.borrow().attributes.get(ir::NumAttr::Interval) == Some(1);
    let may_be_started = takes_one || start.src.borrow().is_constant(1, 1);
    is_done
        && may_be_started
        && match &*start.guard {
            ir::Guard::True => comes(group, &start.src, left - 1),
            ir::Guard::Not(inner) => {
                matches!(&**inner, ir::Guard::Port(port) if own_done(port))
                    && start.src.borrow().is_constant(1, 1)
            }
            ir::Guard::Port(port) => {
                takes_one && start.src.borrow().is_constant(1, 1) && comes(group, port, left - 1)
            }
            _ => false,
        }
}

fn tests_itself(cell: &ir::Cell) -> bool {
    primitive(cell).is_some_and(|of| SELF_TESTS.iter().any(|test| of == *test))
}

/// Whether a divider divides by this without a sign, and it is a constant other than 0.
fn is_divisor(cell: &ir::Cell, from: &ir::RRC<ir::Port>) -> bool {
    let from = from.borrow();
    let has_value = !from.is_hole()
        && matches!(from.cell_parent().borrow().prototype, ir::CellType::Constant { val, .. } if val != 0);
    cell.is_primitive(Some("std_div_pipe")) && has_value
}

/// Whether an assignment may hand a memory an address that it has no word for.
pub(super) fn may_stop(to: &ir::RRC<ir::Port>, from: &ir::RRC<ir::Port>) -> bool {
    let Some(cell) = cell_of(to) else {
        return false;
    };
    let (cell, port) = (cell.borrow(), to.borrow());
    let is_memory = primitive(&cell).is_some_and(|of| {
        let of = of.as_ref();
        ["comb_mem_d", "seq_mem_d", "dyn_mem_d"]
            .iter()
            .any(|memory| of.starts_with(memory))
    });
    if !is_memory {
        return false;
    }
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
