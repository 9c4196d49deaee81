//! The order of what stock passes add to a program. Some of them go through hash maps, which have
//! another order in every run, so the same program would be compiled to other texts.
//!
//! Owns which passes these are and what the order is instead. Changes nothing but orders, so the
//! hardware stays what the pass made of it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use calyx_ir::{self as ir, RRC};
use calyx_utils::CalyxResult;

/// Runs the stock pass `pass` by `act` and puts what it added in order.
pub(crate) fn kept(
    ctx: &mut ir::Context,
    pass: &str,
    act: impl FnOnce(&mut ir::Context) -> CalyxResult<()>,
) -> CalyxResult<()> {
    match pass {
        // The ports that stand for `ref` cells, and what is assigned to them.
        "compile-invoke" => {
            intern(ctx);
            let before: Vec<_> = ctx.components.iter().map(Interface::of).collect();
            act(ctx)?;
            for (component, before) in ctx.components.iter().zip(&before) {
                before.sort(component);
            }
        }
        // The wire of each barrier.
        "compile-sync-without-sync-reg" => {
            let before: Vec<_> = ctx
                .components
                .iter()
                .map(|component| component.continuous_assignments.len())
                .collect();
            act(ctx)?;
            for (component, before) in ctx.components.iter_mut().zip(before) {
                let added = &mut component.continuous_assignments[before..];
                added.sort_by_key(|assignment| port_name(&assignment.dst));
            }
        }
        _ => act(ctx)?,
    }
    Ok(())
}

/// The cell or group of a port, and its name.
fn port_name(port: &RRC<ir::Port>) -> (String, String) {
    let ir::Canonical { cell, port } = port.borrow().canonical();
    (cell.to_string(), port.to_string())
}

/// What a component had before a pass.
struct Interface {
    /// The number of ports in its signature.
    signature: usize,
    /// The number of ports of each of its cells.
    cells: HashMap<ir::Id, usize>,
    groups: HashSet<ir::Id>,
}

impl Interface {
    fn of(component: &ir::Component) -> Self {
        let cells = component.cells.iter().map(|cell| cell.borrow());
        let groups = component.get_groups().iter();
        let static_groups = component.get_static_groups().iter();
        Self {
            signature: component.signature.borrow().ports.len(),
            cells: cells.map(|cell| (cell.name(), cell.ports.len())).collect(),
            groups: groups
                .map(|group| group.borrow().name())
                .chain(static_groups.map(|group| group.borrow().name()))
                .collect(),
        }
    }

    /// Sorts by name what the component has now and had not before: ports, and the assignments to
    /// and from ports of cells.
    fn sort(&self, component: &ir::Component) {
        let mut added = HashSet::new();
        sort_ports(
            &mut component.signature.borrow_mut(),
            self.signature,
            &mut added,
        );
        for cell in component.cells.iter() {
            let mut cell = cell.borrow_mut();
            if let Some(&count) = self.cells.get(&cell.name()) {
                sort_ports(&mut cell, count, &mut added);
            }
        }
        for group in component.get_groups().iter() {
            if !self.groups.contains(&group.borrow().name()) {
                // Looking up the name of a hole borrows the group.
                let mut assignments = std::mem::take(&mut group.borrow_mut().assignments);
                sort_assignments(&mut assignments, &added);
                group.borrow_mut().assignments = assignments;
            }
        }
        for group in component.get_static_groups().iter() {
            if !self.groups.contains(&group.borrow().name()) {
                // Looking up the name of a hole borrows the group.
                let mut assignments = std::mem::take(&mut group.borrow_mut().assignments);
                sort_assignments(&mut assignments, &added);
                group.borrow_mut().assignments = assignments;
            }
        }
    }
}

type Address = *const std::cell::RefCell<ir::Port>;

/// Sorts the ports of a cell behind the first `count`, and adds them to `added`.
fn sort_ports(cell: &mut ir::Cell, count: usize, added: &mut HashSet<Address>) {
    let new = &mut cell.ports[count..];
    new.sort_by_key(|port| port.borrow().name.to_string());
    added.extend(new.iter().map(Rc::as_ptr));
}

/// Sorts the first assignments of a group: those to and from `added` ports.
fn sort_assignments<T>(assignments: &mut [ir::Assignment<T>], added: &HashSet<Address>) {
    let count = assignments
        .iter()
        .take_while(|assignment| {
            added.contains(&Rc::as_ptr(&assignment.dst))
                || added.contains(&Rc::as_ptr(&assignment.src))
        })
        .count();
    assignments[..count]
        .sort_by_key(|assignment| (port_name(&assignment.dst), port_name(&assignment.src)));
}

/// Interns the names of the ports that stand for `ref` cells in an order that is always the same: the
/// compiler numbers names in the order in which it meets them, and sorts by these numbers later.
fn intern(ctx: &ir::Context) {
    let mut cells = ctx.components.iter().flat_map(|c| c.cells.iter());
    if !cells.any(|cell| cell.borrow().is_reference()) {
        return;
    }
    let mut interned: HashMap<ir::Id, Vec<String>> = HashMap::new();
    // A component comes after those that it has cells of, if need be in a later round.
    for _ in &ctx.components {
        let before = interned.len();
        for component in &ctx.components {
            if !interned.contains_key(&component.name)
                && let Some(names) = reference_ports(component, &interned)
            {
                interned.insert(component.name, names);
            }
        }
        if interned.len() == before {
            break;
        }
    }
}

/// The names of the ports that stand for the `ref` cells of a component; `None` unless those of all
/// components that it has cells of are in `interned`.
fn reference_ports(
    component: &ir::Component,
    interned: &HashMap<ir::Id, Vec<String>>,
) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for cell in component.cells.iter() {
        let cell = cell.borrow();
        let inner: &[String] = match cell.type_name() {
            Some(name) if cell.is_component() => interned.get(&name)?,
            _ => &[],
        };
        if !cell.is_reference() {
            continue;
        }
        let ports = cell.ports.iter().map(|port| port.borrow().name.to_string());
        for port in ports.chain(inner.iter().cloned()) {
            names.push(format!("{}_{port}", cell.name()));
        }
    }
    for name in &names {
        ir::Id::new(name);
        // What it becomes where there is a cell of that name.
        ir::Id::new(format!("{name}0"));
    }
    Some(names)
}
