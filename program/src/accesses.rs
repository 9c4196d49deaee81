//! Which memories a group accesses whenever it runs.

use std::collections::BTreeMap;

use calyx_ir as ir;

use crate::dependences::primitive;

/// The memories of a component that each of its groups drives an address of, without a guard, each with its primitive: by the names of
/// component and group. Those that are `ref` cells are left out.
pub type Accesses = BTreeMap<(String, String), BTreeMap<String, String>>;

/// Those of a program.
pub fn accesses(program: &ir::Context) -> Accesses {
    let mut all = Accesses::new();
    for component in &program.components {
        let mut add = |group: ir::Id, memories: BTreeMap<String, String>| {
            all.insert((component.name.to_string(), group.to_string()), memories);
        };
        for group in component.groups.iter() {
            add(group.borrow().name(), of(&group.borrow().assignments));
        }
        for group in component.comb_groups.iter() {
            add(group.borrow().name(), of(&group.borrow().assignments));
        }
        for group in component.static_groups.iter() {
            // Some of them drive it in a part of their time only, but in some cycle they do.
            add(group.borrow().name(), of(&group.borrow().assignments));
        }
    }
    all
}

fn of<T>(assignments: &[ir::Assignment<T>]) -> BTreeMap<String, String> {
    let always = assignments.iter().filter(|of| of.guard.is_true());
    let addresses = always.filter_map(|of| {
        let port = of.dst.borrow();
        if port.is_hole() || !port.name.as_ref().starts_with("addr") {
            return None;
        }
        let cell = port.cell_parent();
        let cell = cell.borrow();
        let memory = primitive(&cell).filter(|of| of.as_ref().contains("_mem_d"));
        let memory = memory.filter(|_| !cell.is_reference())?;
        Some((cell.name().to_string(), memory.to_string()))
    });
    addresses.collect()
}
