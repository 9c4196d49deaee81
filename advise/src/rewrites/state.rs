//! What depends on state alone: on registers, memories and what else keeps its value.
//!
//! A condition is looked at while other things run, if what it decides about became static. So it must not change with what they
//! drive: that holds if all combinational cells that compute it are driven by continuous assignments and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{cell_of, is_combinational, ports_of, ports_read, primitive};
use petal_program::tree::View;

/// A port of a component: its cell and its name.
pub(super) type Port = (ir::Id, ir::Id);

/// Ports of components: the component and the name of the port.
pub(super) type Outputs = BTreeSet<(ir::Id, ir::Id)>;

/// What has to do with the cells of a component, apart from a comb group and the statements that it is of.
#[derive(Default)]
pub(super) struct Others {
    /// Ports that are driven other than by continuous assignments.
    driven: BTreeSet<Port>,
    /// Cells that continuous assignments drive: which of their ports, and what these get something from.
    continuous: BTreeMap<ir::Id, (BTreeSet<ir::Id>, Vec<ir::RRC<ir::Port>>)>,
    /// Cells that are read, handed over or named by control.
    named: BTreeSet<ir::Id>,
}

impl Others {
    /// In a component, of which `handed_over` tells the cells that are handed over as `ref` cells.
    pub fn of(
        component: &ir::Component,
        handed_over: &BTreeSet<(ir::Id, ir::Id)>,
        apart_from: Option<ir::Id>,
    ) -> Self {
        let mut others = Self::default();
        for assignment in &component.continuous_assignments {
            let read = ports_read(assignment);
            others.named.extend(cells(&read));
            if let Some((cell, port)) = port_of(&assignment.dst) {
                let (ports, from) = others.continuous.entry(cell).or_default();
                ports.insert(port);
                from.extend(read);
            }
        }
        for group in component.get_groups().iter() {
            others.add(&group.borrow().assignments);
        }
        for group in component.get_static_groups().iter() {
            others.add(&group.borrow().assignments);
        }
        for group in component.comb_groups.iter() {
            if Some(group.borrow().name()) != apart_from {
                others.add(&group.borrow().assignments);
            }
        }
        View::of(&component.control.borrow()).walk(&mut |view| {
            let (read, driven) = ports_of(view);
            others.driven.extend(driven.iter().filter_map(port_of));
            let with = view.comb_group().map(|group| group.borrow().name());
            if with.is_none() || with != apart_from {
                others.named.extend(cells(&read));
                others.named.extend(cells(&driven));
            }
        });
        let handed_over = handed_over.iter();
        for (_, name) in handed_over.filter(|(of, _)| *of == component.name) {
            others.named.insert(*name);
            if let Some(cell) = component.find_cell(*name) {
                let cell = cell.borrow();
                let ports = cell.ports.iter();
                let ports = ports.map(|port| (*name, port.borrow().name));
                others.driven.extend(ports);
            }
        }
        others
    }

    fn add<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            self.driven.extend(port_of(&assignment.dst));
            self.named.extend(cells(&ports_read(assignment)));
        }
    }

    fn drives(&self, cell: ir::Id) -> bool {
        self.driven.iter().any(|(driven, _)| *driven == cell)
    }

    /// Whether something but a continuous assignment drives a cell, or something reads it.
    pub fn has_to_do_with(&self, cell: ir::Id) -> bool {
        self.drives(cell) || self.named.contains(&cell)
    }

    /// Whether continuous assignments drive a cell.
    pub fn is_continuous(&self, cell: ir::Id) -> bool {
        self.continuous.contains_key(&cell)
    }

    /// Whether these ports depend on nothing but state and inputs of the component. `outputs` are those of components that depend on
    /// state alone.
    pub fn is_of_state(
        &self,
        component: &ir::Component,
        ports: &[ir::RRC<ir::Port>],
        outputs: &Outputs,
    ) -> bool {
        let mut next: Vec<Port> = ports.iter().filter_map(port_of).collect();
        let mut seen: BTreeSet<Port> = BTreeSet::new();
        while let Some((name, port)) = next.pop() {
            if !seen.insert((name, port)) {
                continue;
            }
            let Some(cell) = component.find_cell(name) else {
                return false;
            };
            let from = self.continuous.get(&name);
            let needs_inputs = is_combinational(&cell);
            let cell = cell.borrow();
            if needs_inputs {
                if self.drives(name) || from.is_none() {
                    return false;
                }
            } else if is_memory(&cell) {
                let is_address = |port: &ir::Id| port.as_ref().starts_with("addr");
                let mut driven = self.driven.iter();
                let addressed = driven.any(|(of, port)| *of == name && is_address(port));
                let by_continuous = from.is_some_and(|(ports, _)| ports.iter().any(is_address));
                if addressed || !by_continuous {
                    return false;
                }
            } else if cell.is_component() {
                let of = cell.type_name();
                if !of.is_some_and(|of| outputs.contains(&(of, port))) {
                    return false;
                }
                continue;
            } else {
                if !primitive(&cell).is_some_and(|of| keeps(of.as_ref())) {
                    return false;
                }
                continue;
            }
            let from = from.into_iter().flat_map(|(_, from)| from);
            next.extend(from.filter_map(port_of));
        }
        true
    }
}

/// Those outputs of components that depend on state alone, not on inputs.
pub(super) fn outputs(ctx: &ir::Context, handed_over: &BTreeSet<(ir::Id, ir::Id)>) -> Outputs {
    let mut all = Outputs::new();
    for component in &ctx.components {
        let others = Others::of(component, handed_over, None);
        let this = component.signature.borrow();
        for port in &this.ports {
            let name = port.borrow().name;
            if others.driven.contains(&(this.name(), name)) {
                continue;
            }
            let drivers = component.continuous_assignments.iter();
            let drivers: Vec<ir::RRC<ir::Port>> = drivers
                .filter(|assignment| {
                    let port = assignment.dst.borrow();
                    !port.is_hole() && port.name == name && port.get_parent_name() == this.name()
                })
                .flat_map(ports_read)
                .collect();
            let is_driven = !drivers.is_empty();
            if is_driven
                && !others.reads_inputs(&drivers)
                && others.is_of_state(component, &drivers, &all)
            {
                all.insert((component.name, name));
            }
        }
    }
    all
}

impl Others {
    /// Whether something that these ports come from, through continuous assignments, is an input of the component.
    fn reads_inputs(&self, ports: &[ir::RRC<ir::Port>]) -> bool {
        let mut next = ports.to_vec();
        let mut seen: BTreeSet<ir::Id> = BTreeSet::new();
        while let Some(port) = next.pop() {
            if let Some((cell, _)) = port_of(&port) {
                if seen.insert(cell) {
                    let from = self.continuous.get(&cell);
                    next.extend(from.into_iter().flat_map(|(_, from)| from.iter().cloned()));
                }
            } else if !port.borrow().is_hole() && port.borrow().cell_parent().borrow().is_this() {
                return true;
            }
        }
        false
    }
}

/// Whether every condition without a comb group depends on state and inputs alone.
pub(super) fn is_steady(
    component: &ir::Component,
    handed_over: &BTreeSet<(ir::Id, ir::Id)>,
    outputs: &Outputs,
) -> bool {
    let mut conditions = Vec::new();
    View::of(&component.control.borrow()).walk(&mut |view| {
        if view.comb_group().is_none() && view.invoked().is_none() {
            conditions.extend(ports_of(view).0);
        }
    });
    let others = Others::of(component, handed_over, None);
    others.is_of_state(component, &conditions, outputs)
}

/// Whether cells of a primitive give the same in all of a cycle, whatever they are given meanwhile.
fn keeps(primitive: &str) -> bool {
    let is_pipe = primitive.starts_with("std_") && primitive.ends_with("_pipe");
    primitive == "std_reg" || primitive.starts_with("seq_mem_d") || is_pipe
}

pub(super) fn port_of(port: &ir::RRC<ir::Port>) -> Option<Port> {
    let cell = cell_of(port)?;
    let name = cell.borrow().name();
    Some((name, port.borrow().name))
}

fn cells(ports: &[ir::RRC<ir::Port>]) -> Vec<ir::Id> {
    let ports = ports.iter().filter_map(port_of);
    ports.map(|(cell, _)| cell).collect()
}

/// Whether it is a memory that gives at once what is at its address.
pub(crate) fn is_memory(cell: &ir::Cell) -> bool {
    primitive(cell).is_some_and(|of| of.as_ref().starts_with("comb_mem_d"))
}
