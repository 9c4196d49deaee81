//! What became of the `ref` cells of a component.
//!
//! `compile-invoke` makes ports of them: where a component has `ref add = std_add(8)`, its groups
//! drive `add.left` before the pass and a new port `add_left` of the component after it, and the
//! group that runs an invoke wires the port to the cell that the invoke hands over, for as long as
//! the invoke takes. The pass keeps no map, but it calls each port by the cell and the cell's port, in
//! the order of the cells. So the ports of the component before and after tell which is which.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use calyx_utils::{CalyxResult, Error};

/// A `ref` cell.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub name: ir::Id,
    /// What it is an instance of.
    pub prototype: ir::CellType,
    /// Its ports but for clock and reset, in order, and whether each is a `go` port.
    ports: Vec<(ir::Id, bool)>,
}

impl Reference {
    /// Whether a `go` port starts it.
    pub fn is_started(&self) -> bool {
        self.ports.iter().any(|(_, go)| *go)
    }

    /// Whether it has a port of this name.
    pub fn has(&self, port: &str) -> bool {
        self.ports.iter().any(|(name, _)| name.as_ref() == port)
    }
}

/// What a port of a component that `compile-invoke` added stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefPort {
    /// A port of the n-th `ref` cell, and whether that is a `go` port.
    Own(usize, bool),
    /// A port of a cell that is handed on to a `ref` cell.
    HandedOn,
}

/// The `ref` cells of one component.
#[derive(Debug, Clone, Default)]
pub(crate) struct References {
    /// In the order of the source.
    pub cells: Vec<Reference>,
    /// The ports that they became; none before `compile-invoke`.
    ports: HashMap<ir::Id, RefPort>,
    /// All ports of the component after the last pass.
    signature: HashSet<ir::Id>,
}

impl References {
    /// Those of a component as it is written.
    pub fn of(component: &ir::Component) -> Self {
        let references = component.cells.iter().map(|cell| cell.borrow());
        let cells = references.filter(|cell| cell.is_reference()).map(|cell| {
            let ports = cell.ports.iter().map(|port| port.borrow());
            Reference {
                name: cell.name(),
                prototype: cell.prototype.clone(),
                ports: ports
                    .filter(|port| {
                        !port.has_attribute(ir::BoolAttr::Clk)
                            && !port.has_attribute(ir::BoolAttr::Reset)
                    })
                    .map(|port| (port.name, port.attributes.has(ir::NumAttr::Go)))
                    .collect(),
            }
        });
        Self {
            cells: cells.collect(),
            ports: HashMap::new(),
            signature: signature(component).into_iter().collect(),
        }
    }

    /// The position of the `ref` cell `name`.
    pub fn position(&self, name: ir::Id) -> Option<usize> {
        self.cells.iter().position(|cell| cell.name == name)
    }

    /// What the port `name` of the component stands for, if it came from a `ref` cell.
    pub fn port(&self, name: ir::Id) -> Option<RefPort> {
        self.ports.get(&name).copied()
    }

    /// Whether a pass replaced the cells by ports that are not recorded yet.
    fn are_replaced(&self, component: &ir::Component) -> bool {
        let mut cells = component.cells.iter();
        !self.cells.is_empty()
            && self.ports.is_empty()
            && !cells.any(|cell| cell.borrow().is_reference())
    }

    /// Whether the ports that stand for the cells are recorded, or there are none.
    fn are_recorded(&self) -> bool {
        self.cells.is_empty() || !self.ports.is_empty()
    }

    /// What each of the ports that `component` got stands for. `all` has the components that the cells
    /// are of.
    ///
    /// # Errors
    /// When there is no port for a port of a cell.
    fn ports(
        &self,
        component: &ir::Component,
        all: &HashMap<ir::Id, Self>,
    ) -> CalyxResult<HashMap<ir::Id, RefPort>> {
        let mut new: Vec<ir::Id> = signature(component);
        new.retain(|port| !self.signature.contains(port));
        let mut ports = HashMap::new();
        for (at, cell) in self.cells.iter().enumerate() {
            let direct = cell.ports.iter();
            let direct = direct.map(|&(port, go)| (port, RefPort::Own(at, go)));
            let handed_on = match cell.prototype {
                ir::CellType::Component { name } => all.get(&name),
                _ => None,
            };
            let handed_on = handed_on.iter().flat_map(|inner| inner.ports.keys());
            let handed_on = handed_on.map(|&port| (port, RefPort::HandedOn));
            for (port, stands_for) in direct.chain(handed_on) {
                let name = take(&mut new, &format!("{}_{port}", cell.name))
                    .ok_or_else(|| lost(component, cell))?;
                ports.insert(name, stands_for);
            }
        }
        Ok(ports)
    }
}

/// Takes the port that the compiler called `name`, or with a number behind it where that name was
/// taken.
fn take(ports: &mut Vec<ir::Id>, name: &str) -> Option<ir::Id> {
    let number = |port: &ir::Id| -> Option<(usize, String)> {
        let number = port.as_ref().strip_prefix(name)?;
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| (number.len(), number.to_owned()))
    };
    let first = ports
        .iter()
        .enumerate()
        .filter_map(|(at, port)| Some((number(port)?, at)))
        .min();
    first.map(|(_, at)| ports.swap_remove(at))
}

fn lost(component: &ir::Component, cell: &Reference) -> Error {
    Error::misc(format!(
        "petal cannot follow what became of the `ref` cell `{}` of component `{}`; \
         is a pass in use that petal does not know?",
        cell.name, component.name
    ))
}

/// Follows the `ref` cells of all components through the pass that just ran.
///
/// # Errors
/// When the pass did away with one in another way than `compile-invoke` does.
pub(crate) fn follow(all: &mut HashMap<ir::Id, References>, ctx: &ir::Context) -> CalyxResult<()> {
    let replaced = |component: &&ir::Component| {
        let references = all.get(&component.name);
        references.is_some_and(|references| references.are_replaced(component))
    };
    let mut open: Vec<&ir::Component> = ctx.components.iter().filter(replaced).collect();
    // A component comes after those that it has `ref` cells of.
    while let Some(at) = open.iter().position(|component| {
        let mut cells = all[&component.name].cells.iter();
        cells.all(|cell| match cell.prototype {
            ir::CellType::Component { name } => all.get(&name).is_none_or(References::are_recorded),
            _ => true,
        })
    }) {
        let component = open.remove(at);
        let ports = all[&component.name].ports(component, all)?;
        all.entry(component.name).or_default().ports = ports;
    }
    if let Some(component) = open.first() {
        return Err(lost(component, &all[&component.name].cells[0]));
    }
    for component in &ctx.components {
        if let Some(references) = all.get_mut(&component.name) {
            references.signature = signature(component).into_iter().collect();
        }
    }
    Ok(())
}

/// The names of a component's ports, in order.
fn signature(component: &ir::Component) -> Vec<ir::Id> {
    let signature = component.signature.borrow();
    signature
        .ports
        .iter()
        .map(|port| port.borrow().name)
        .collect()
}
