//! What makes results depend on how many cycles something takes.
//!
//! Owns what of a component lets time be seen, apart from arms of a `par` that race. Whatever cannot be decided lets it be
//! seen.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use super::effects::Cells;
use super::stale::{Fresh, implies, reads_stale};
use super::uses::{cell_of, is_combinational, name_of, ports_of, ports_read};
use crate::tree::{GroupRef, View, called_group};

/// Whether the latency of the component was promised to those that run it.
pub fn is_promised(component: &ir::Component) -> bool {
    let signature = component.signature.borrow();
    let mut ports = signature.ports.iter();
    is_promise(&component.attributes) || ports.any(|port| is_promise(&port.borrow().attributes))
}

/// Whether the latency of a statement was promised, of its group, or of what is below it.
pub fn is_promised_for(view: View<'_>) -> bool {
    let of_group = match view.group() {
        Some(GroupRef::Dynamic(group)) => is_promise(&group.borrow().attributes),
        Some(GroupRef::Static(_)) | None => false,
    };
    let is_leaf = view.group().is_some() && view.children().is_empty();
    of_group && runs_component(view)
        || is_promise(view.attributes()) && (!is_leaf || runs_component(view))
}

fn is_promise(attributes: &ir::Attributes) -> bool {
    attributes.has(ir::NumAttr::Promotable) || attributes.has(ir::NumAttr::Interval)
}

fn runs_component(view: View<'_>) -> bool {
    let Some(GroupRef::Dynamic(group)) = view.group() else {
        return true;
    };
    let group = group.borrow();
    let mut driven = group
        .assignments
        .iter()
        .filter_map(|assignment| cell_of(&assignment.dst));
    driven.any(|cell| cell.borrow().is_component())
}

/// Whether something in the component changes from cycle to cycle without a statement that changes it, or is read that
/// holds for a cycle only.
pub(super) fn is_clocked(component: &ir::Component, is_entry: bool) -> bool {
    let runs = component.continuous_assignments.iter().any(|assignment| {
        let of_state = cell_of(&assignment.dst)
            .is_some_and(|cell| !is_combinational(&cell) && !cell.borrow().is_this());
        of_state && !is_data(&assignment.dst)
    });
    let runs_by_itself = || {
        component.cells.iter().any(|cell| {
            let cell = cell.borrow();
            let primitive = matches!(
                cell.prototype,
                ir::CellType::Primitive { is_comb: false, .. }
            );
            let has_go = cell
                .ports
                .iter()
                .any(|port| port.borrow().attributes.has(ir::NumAttr::Go));
            primitive && !has_go && cell.ports.len() > 1 && !is_row_of_one(component, &cell)
        })
    };
    runs || runs_by_itself() || reads_moments(component, is_entry) || reads_control(component)
}

/// Whether a cell is a `pipelined_mult` of one static group, which looks at what it gives only when that is a product of operands that the
/// group has given to it: then it is as logic of the group.
fn is_row_of_one(component: &ir::Component, cell: &ir::Cell) -> bool {
    const CYCLES: u64 = 4;
    if !cell.is_primitive(Some("pipelined_mult")) {
        return false;
    }
    let name = cell.name();
    let is_of = |port: &ir::RRC<ir::Port>| name_of(port) == Some(name);
    let names = |assignments: &[ir::Assignment<ir::Nothing>]| {
        let mut all = assignments.iter();
        all.any(|to| is_of(&to.dst) || ports_read(to).iter().any(is_of))
    };
    let mut elsewhere = cell.is_reference() || names(&component.continuous_assignments);
    let mut groups = component.get_groups().iter();
    elsewhere |= groups.any(|group| names(&group.borrow().assignments));
    let mut combs = component.comb_groups.iter();
    elsewhere |= combs.any(|group| names(&group.borrow().assignments));
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (read, driven) = ports_of(view);
        let mut handed = view.handed_over().into_iter();
        elsewhere |= read.iter().chain(&driven).any(is_of) || handed.any(|(_, of)| of == name);
    });
    let statics = component.get_static_groups().iter();
    let mut with = statics.filter(|group| {
        let group = group.borrow();
        let mut all = group.assignments.iter();
        all.any(|to| is_of(&to.dst) || ports_read(to).iter().any(is_of))
    });
    let (Some(group), None) = (with.next(), with.next()) else {
        return false;
    };
    let group = group.borrow();
    let given = |port: &str| {
        let mut all = group.assignments.iter();
        let given = all
            .by_ref()
            .find(|to| is_of(&to.dst) && to.dst.borrow().name == port);
        let only = given.filter(|_| !all.any(|to| is_of(&to.dst) && to.dst.borrow().name == port));
        only.and_then(|to| match &*to.guard {
            ir::Guard::Info(timing) => Some(timing.get_interval()),
            ir::Guard::True => Some((0, group.latency)),
            _ => None,
        })
    };
    let (Some(fed), Some(other)) = (given("left"), given("right")) else {
        return false;
    };
    let is_in_time = |to: &ir::Assignment<ir::StaticTiming>| {
        let (from, end) = interval(&to.guard).unwrap_or((0, group.latency));
        fed.0 + CYCLES <= from && end <= fed.1 + CYCLES
    };
    let mut reads = group.assignments.iter();
    !elsewhere
        && fed == other
        && reads.all(|to| !ports_read(to).iter().any(is_of) || is_in_time(to))
}

/// The cycles beyond which a guard surely does not hold, as far as it says so itself.
fn interval(guard: &ir::Guard<ir::StaticTiming>) -> Option<(u64, u64)> {
    match guard {
        ir::Guard::Info(timing) => Some(timing.get_interval()),
        ir::Guard::And(a, b) => interval(a).or_else(|| interval(b)),
        _ => None,
    }
}

/// Whether something reads when a group or the component itself runs or is done, other than to run another group.
fn reads_control(component: &ir::Component) -> bool {
    let is_own = |port: &ir::RRC<ir::Port>| {
        let port = port.borrow();
        let of_this = !port.is_hole() && port.cell_parent().borrow().is_this();
        of_this && (port.attributes.has(ir::NumAttr::Go) || port.attributes.has(ir::NumAttr::Done))
    };
    let is_control = |port: &ir::RRC<ir::Port>| port.borrow().is_hole() || is_own(port);
    let by_wires = |assignments: &[ir::Assignment<ir::Nothing>]| {
        assignments
            .iter()
            .flat_map(ports_read)
            .any(|port| is_control(&port))
    };
    let mut in_control = false;
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (read, _) = ports_of(view);
        in_control |= read.iter().any(is_control);
    });
    in_control
        || by_wires(&component.continuous_assignments)
        || component
            .comb_groups
            .iter()
            .any(|group| by_wires(&group.borrow().assignments))
        || component.get_groups().iter().any(|group| {
            let group = group.borrow();
            in_group(group.name(), &group.assignments, &is_control)
        })
        || component.get_static_groups().iter().any(|group| {
            let group = group.borrow();
            in_group(group.name(), &group.assignments, &is_control)
        })
}

/// Whether a group reads when something runs or is done, other than to run groups and to be done with those that it runs.
fn in_group<T>(
    name: ir::Id,
    assignments: &[ir::Assignment<T>],
    is_control: &impl Fn(&ir::RRC<ir::Port>) -> bool,
) -> bool {
    let mut run: Cells = assignments.iter().filter_map(called_group).collect();
    run.insert(name);
    assignments.iter().any(|assignment| {
        let runs = assignment.dst.borrow().is_hole();
        let is_of_run = |port: &ir::RRC<ir::Port>| {
            let port = port.borrow();
            port.is_hole() && run.contains(&port.get_parent_name())
        };
        let mut read = ports_read(assignment).into_iter();
        read.any(|port| is_control(&port) && !(runs && is_of_run(&port)))
    })
}

/// Whether a port of state takes what it is given only when something else says so.
fn is_data(port: &ir::RRC<ir::Port>) -> bool {
    let of_component = cell_of(port).is_some_and(|cell| cell.borrow().is_component());
    let port = port.borrow();
    let is_address = port.name.as_ref().starts_with("addr");
    !port.attributes.has(ir::NumAttr::Go)
        && (of_component || is_address || port.attributes.has(ir::BoolAttr::Data))
}

/// Whether something reads that a cell is done that it does not run itself.
fn reads_moments(component: &ir::Component, is_entry: bool) -> bool {
    let is_moment = |port: &ir::RRC<ir::Port>, driven: &Cells| {
        let is_done = port.borrow().attributes.has(ir::NumAttr::Done);
        is_done && name_of(port).is_some_and(|cell| !driven.contains(&cell))
    };
    let fresh = Fresh::of(component, is_entry);
    let continuous = &component.continuous_assignments;
    let in_group = |group: &ir::Group| {
        let assignments = &group.assignments;
        moments(assignments, &is_moment)
            || reads_stale(assignments, &fresh.of_group(group), continuous)
    };
    let in_static = |group: &ir::StaticGroup| {
        let assignments = &group.assignments;
        moments(assignments, &is_moment)
            || reads_stale(assignments, &fresh.once(group.name()), continuous)
    };
    let none = Cells::new();
    let in_any = |assignments: &[ir::Assignment<ir::Nothing>]| {
        let mut ports = assignments.iter().flat_map(ports_read);
        ports.any(|port| is_moment(&port, &none))
    };
    let mut in_control = false;
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (read, _) = ports_of(view);
        in_control |= read.iter().any(|port| is_moment(port, &none));
    });
    in_control
        || in_any(&component.continuous_assignments)
        || component
            .comb_groups
            .iter()
            .any(|group| in_any(&group.borrow().assignments))
        || component
            .get_groups()
            .iter()
            .any(|group| in_group(&group.borrow()))
        || component
            .get_static_groups()
            .iter()
            .any(|group| in_static(&group.borrow()))
}

fn moments<T>(
    assignments: &[ir::Assignment<T>],
    is_moment: &impl Fn(&ir::RRC<ir::Port>, &Cells) -> bool,
) -> bool {
    let driven: Cells = assignments
        .iter()
        .filter_map(|assignment| name_of(&assignment.dst))
        .collect();
    let mut ports = assignments.iter().flat_map(ports_read);
    ports.any(|port| is_moment(&port, &driven))
}

/// Combinational cells that all groups which drive them give the same, and how many these are: nobody sees which of them do.
pub(super) fn driven_alike(component: &ir::Component) -> BTreeMap<ir::Id, usize> {
    let mut given: BTreeMap<ir::Id, Vec<Vec<String>>> = BTreeMap::new();
    for group in component.comb_groups.iter() {
        add_given(&group.borrow().assignments, &mut given);
    }
    for group in component.get_groups().iter() {
        add_given(&group.borrow().assignments, &mut given);
    }
    let mut others: Cells = component
        .continuous_assignments
        .iter()
        .filter_map(|assignment| name_of(&assignment.dst))
        .collect();
    for group in component.get_static_groups().iter() {
        let assignments = &group.borrow().assignments;
        add_given(assignments, &mut given);
        // What a guard says of cycles is each group's own.
        let guarded = assignments.iter().filter(|of| !of.guard.is_true());
        others.extend(guarded.filter_map(|of| name_of(&of.dst)));
    }
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (_, driven) = ports_of(view);
        others.extend(driven.iter().filter_map(name_of));
        others.extend(view.handed_over().into_iter().map(|(_, cell)| cell));
    });
    // Whoever hands them over may drive them, too.
    let cells = component.cells.iter().map(|cell| cell.borrow());
    others.extend(
        cells
            .filter(|cell| cell.is_reference())
            .map(|cell| cell.name()),
    );
    let alike = given.into_iter().filter(|(cell, ways)| {
        !others.contains(cell) && ways.windows(2).all(|two| two[0] == two[1])
    });
    alike.map(|(cell, ways)| (cell, ways.len())).collect()
}

/// What these assignments give each combinational cell, as text.
fn add_given<T: ToString + Clone + Eq>(
    assignments: &[ir::Assignment<T>],
    given: &mut BTreeMap<ir::Id, Vec<Vec<String>>>,
) {
    let mut of_group: BTreeMap<ir::Id, Vec<String>> = BTreeMap::new();
    for assignment in assignments {
        let cell = cell_of(&assignment.dst).filter(is_combinational);
        if let Some(cell) = cell {
            let text = ir::Printer::assignment_to_str(assignment);
            of_group.entry(cell.borrow().name()).or_default().push(text);
        }
    }
    for (cell, mut texts) in of_group {
        texts.sort();
        given.entry(cell).or_default().push(texts);
    }
}

/// What a statement gives a cell of a component that it runs: the cells from which its inputs come, directly or not.
pub(super) fn given(component: &ir::Component, view: View<'_>, cell: ir::Id) -> Cells {
    let mut flow = Flow::default();
    flow.add(&component.continuous_assignments);
    if let Some(group) = view.comb_group() {
        flow.add(&group.borrow().assignments);
    }
    let mut inputs: Vec<ir::RRC<ir::Port>> = Vec::new();
    match view.group() {
        // What they run in turn may give it something, too.
        Some(GroupRef::Dynamic(_)) => {
            for group in component.get_groups().iter() {
                let group = group.borrow();
                let is_own = view.group().is_some_and(|own| own.name() == group.name());
                if is_own || view.group().is_some_and(|own| !own.called().is_empty()) {
                    flow.add(&group.assignments);
                }
            }
        }
        Some(GroupRef::Static(group)) => flow.add(&group.borrow().assignments),
        None => match view {
            View::Dynamic(ir::Control::Invoke(node)) => {
                inputs.extend(node.inputs.iter().map(|(_, port)| port.clone()));
            }
            View::Static(ir::StaticControl::Invoke(node)) => {
                inputs.extend(node.inputs.iter().map(|(_, port)| port.clone()));
            }
            _ => {}
        },
    }
    let mut cells: Cells = inputs.iter().filter_map(name_of).collect();
    cells.extend(flow.inputs_of(cell));
    flow.sources(cells)
}

/// What flows where.
#[derive(Default)]
struct Flow {
    /// Cell → cells whose ports are handed to it, but for what makes it run.
    from: BTreeMap<ir::Id, Cells>,
    combinational: Cells,
}

impl Flow {
    fn add<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            let Some(cell) = cell_of(&assignment.dst) else {
                continue;
            };
            if assignment.dst.borrow().attributes.has(ir::NumAttr::Go) {
                continue;
            }
            let name = cell.borrow().name();
            if is_combinational(&cell) {
                self.combinational.insert(name);
            }
            let ports = ports_read(assignment);
            let not_done = ports
                .iter()
                .filter(|port| !port.borrow().attributes.has(ir::NumAttr::Done));
            self.from
                .entry(name)
                .or_default()
                .extend(not_done.filter_map(name_of));
        }
    }

    fn inputs_of(&self, cell: ir::Id) -> Cells {
        self.from.get(&cell).cloned().unwrap_or_default()
    }

    /// These cells, and those that combinational ones among them get something from.
    fn sources(&self, cells: Cells) -> Cells {
        let mut all = Cells::new();
        let mut next: Vec<ir::Id> = cells.into_iter().collect();
        while let Some(cell) = next.pop() {
            if all.insert(cell) && self.combinational.contains(&cell) {
                next.extend(self.inputs_of(cell));
            }
        }
        all
    }
}

/// Components of cells of which a group looks at more than that they are done, while they run.
pub(super) fn observed(component: &ir::Component) -> BTreeSet<ir::Id> {
    let mut components = BTreeSet::new();
    for group in component.get_groups().iter() {
        let group = group.borrow();
        let mut flow = Flow::default();
        flow.add(&component.continuous_assignments);
        flow.add(&group.assignments);
        for (cell, of) in run_by(&group.assignments) {
            if is_observed(&group, &flow, cell) {
                components.insert(of);
            }
        }
    }
    for group in component.get_static_groups().iter() {
        let run = run_by(&group.borrow().assignments);
        components.extend(run.into_iter().map(|(_, of)| of));
    }
    components
}

/// The cells of components that assignments run, with their components.
fn run_by<T>(assignments: &[ir::Assignment<T>]) -> BTreeSet<(ir::Id, ir::Id)> {
    let run = assignments.iter().filter_map(|assignment| {
        let cell = cell_of(&assignment.dst)?;
        let is_go = assignment.dst.borrow().attributes.has(ir::NumAttr::Go);
        let cell = cell.borrow();
        (is_go && cell.is_component()).then_some((cell.name(), cell.type_name()?))
    });
    run.collect()
}

fn is_observed(group: &ir::Group, flow: &Flow, cell: ir::Id) -> bool {
    let looks = |cells: Cells| flow.sources(cells).contains(&cell);
    let read = |assignment: &ir::Assignment<ir::Nothing>| -> Cells {
        let ports = ports_read(assignment);
        let not_done = ports
            .iter()
            .filter(|port| !port.borrow().attributes.has(ir::NumAttr::Done));
        not_done.filter_map(name_of).collect()
    };
    // What keeps to itself until it is done.
    let waits = |assignment: &ir::Assignment<ir::Nothing>| {
        let is_done = |port: &ir::RRC<ir::Port>| {
            port.borrow().attributes.has(ir::NumAttr::Done) && name_of(port) == Some(cell)
        };
        is_done(&assignment.src) || implies(&assignment.guard, &is_done)
    };
    group.assignments.iter().any(|assignment| {
        let Some(to) = cell_of(&assignment.dst) else {
            return assignment.dst.borrow().is_hole() && looks(read(assignment));
        };
        let name = to.borrow().name();
        if is_combinational(&to) || to.borrow().is_this() || name == cell {
            return false;
        }
        if is_data(&assignment.dst) {
            let looks = looks(flow.inputs_of(name)) && !waits(assignment);
            let mut starts = group
                .assignments
                .iter()
                .filter(|other| name_of(&other.dst) == Some(name) && !is_data(&other.dst));
            return looks && !starts.all(waits);
        }
        !waits(assignment) && looks(read(assignment))
    })
}
