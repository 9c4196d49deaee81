//! Gives everything in a lowered program a name that Verilog allows.
//!
//! Calyx identifiers may hold `-` and `'`, which the backend would write out as they are. Only
//! names change, and only those with such a character.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;

use crate::marker;

/// The new names of cells: component (by its old name), old name → new name.
pub(crate) type Renamed = HashMap<(ir::Id, ir::Id), ir::Id>;

fn is_plain(name: ir::Id) -> bool {
    name.as_ref()
        .bytes()
        .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// A plain name for `name` that is not in `taken`, which then holds it.
fn plain(name: ir::Id, taken: &mut HashSet<ir::Id>) -> ir::Id {
    let base = name
        .as_ref()
        .replace(|c: char| c != '_' && !c.is_ascii_alphanumeric(), "_");
    let mut candidate = ir::Id::new(&base);
    let mut number = 0;
    while !taken.insert(candidate) {
        candidate = ir::Id::new(format!("{base}_{number}"));
        number += 1;
    }
    candidate
}

/// Renames components, their ports and their cells.
pub(crate) fn rename(ctx: &mut ir::Context) -> Renamed {
    let mut taken: HashSet<ir::Id> = ctx.components.iter().map(|c| c.name).collect();
    taken.extend(ctx.lib.signatures().map(|primitive| primitive.name));
    let components: HashMap<ir::Id, ir::Id> = ctx
        .components
        .iter()
        .map(|component| component.name)
        .filter(|&name| !is_plain(name))
        .map(|name| (name, plain(name, &mut taken)))
        .collect();
    let ports: HashMap<(ir::Id, ir::Id), ir::Id> =
        ctx.components.iter().flat_map(port_names).collect();
    let mut renamed = Renamed::new();
    for component in &mut ctx.components {
        rename_ports(&component.signature, component.name, &ports);
        rename_cells(component, &components, &ports, &mut renamed);
        if let Some(&name) = components.get(&component.name) {
            component.name = name;
        }
    }
    if let Some(&name) = components.get(&ctx.entrypoint) {
        ctx.entrypoint = name;
    }
    renamed
}

/// New names for the ports of a component, where they need one.
fn port_names(component: &ir::Component) -> Vec<((ir::Id, ir::Id), ir::Id)> {
    let names: Vec<ir::Id> = component
        .signature
        .borrow()
        .ports
        .iter()
        .map(|port| port.borrow().name)
        .collect();
    let mut taken: HashSet<ir::Id> = names.iter().copied().collect();
    names
        .into_iter()
        .filter(|&name| !is_plain(name))
        .map(|name| ((component.name, name), plain(name, &mut taken)))
        .collect()
}

fn rename_ports(
    cell: &ir::RRC<ir::Cell>,
    component: ir::Id,
    ports: &HashMap<(ir::Id, ir::Id), ir::Id>,
) {
    for port in &cell.borrow().ports {
        let old = port.borrow().name;
        if let Some(&new) = ports.get(&(component, old)) {
            port.borrow_mut().name = new;
        }
    }
}

fn rename_cells(
    component: &mut ir::Component,
    components: &HashMap<ir::Id, ir::Id>,
    ports: &HashMap<(ir::Id, ir::Id), ir::Id>,
    renamed: &mut Renamed,
) {
    let mut taken: HashSet<ir::Id> = component
        .cells
        .iter()
        .map(|cell| cell.borrow().name())
        .collect();
    taken.extend(
        component
            .signature
            .borrow()
            .ports
            .iter()
            .map(|port| port.borrow().name),
    );
    let cells: Vec<ir::RRC<ir::Cell>> = component.cells.drain().collect();
    for cell in &cells {
        let old = cell.borrow().name();
        let component_type = match &cell.borrow().prototype {
            ir::CellType::Component { name } => Some(*name),
            _ => None,
        };
        if let Some(name) = component_type {
            rename_ports(cell, name, ports);
            if let Some(&name) = components.get(&name) {
                cell.borrow_mut().prototype = ir::CellType::Component { name };
            }
        }
        if !is_plain(old) {
            let new = plain(old, &mut taken);
            renamed.insert((component.name, old), new);
            marker::rename(&mut cell.borrow_mut(), new);
        }
    }
    component.cells.append(cells.into_iter());
}
