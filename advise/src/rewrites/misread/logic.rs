//! Logic that the compiler takes away, although it is needed (`dead-assign-removal` of Calyx 0.7.1).
//!
//! In a group it keeps logic that leads to something that stays. What leads to a cell it forgets where continuous assignments lead something else to
//! the same cell. Of a static component other than the entry point, the groups outside of loops become continuous assignments.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, is_combinational, ports_read};
use petal_program::tree::{NodeKey, View};

use crate::proof;

/// Whether a component has logic that leads to the same logic as continuous assignments do, or, inside of a loop and outside of it, as other groups.
pub(super) fn is_lost(component: &ir::Component, is_entry: bool) -> bool {
    let control = component.control.borrow();
    let control = View::of(&control);
    let dynamics = component.get_groups().iter().map(|group| {
        let group = group.borrow();
        (group.name(), led_to(&group.assignments))
    });
    let statics = component.get_static_groups().iter().map(|group| {
        let group = group.borrow();
        (group.name(), led_to(&group.assignments))
    });
    let by_wires = led_to(&component.continuous_assignments);
    let mut loops = BTreeMap::new();
    loops_around(control, &mut Vec::new(), &mut loops);
    let mut places: BTreeMap<ir::Id, BTreeSet<(Vec<NodeKey>, Cells)>> = BTreeMap::new();
    let mut by_both = false;
    for (group, led) in dynamics.chain(statics) {
        let around = loops.remove(&group).unwrap_or_default();
        for (cell, from) in led {
            by_both |= by_wires.contains_key(&cell);
            let here = around.iter().map(|around| (around.clone(), from.clone()));
            places.entry(cell).or_default().extend(here);
        }
    }
    let may_be_static = || {
        let mut is_dynamic = false;
        control.walk(&mut |view| {
            is_dynamic |= matches!(view, View::Dynamic(ir::Control::While(_)))
                && !view.attributes().has(ir::NumAttr::Bound)
                && proof::times(component, control, view, is_entry).is_none();
        });
        !is_dynamic
    };
    let is_mixed = |places: &BTreeSet<(Vec<NodeKey>, Cells)>| {
        let mut pairs = places
            .iter()
            .flat_map(|one| places.iter().map(move |other| (one, other)));
        pairs.any(|(one, other)| one.0 != other.0 && one.1 != other.1)
    };
    by_both || !is_entry && places.values().any(is_mixed) && may_be_static()
}

/// Whether logic gets something of other logic in a loop than what it gets before and after that: in a component other than the entry point, the compiler
/// may take it away.
pub(in super::super) fn is_led_otherwise<T>(
    inside: &[ir::Assignment<T>],
    outside: &[ir::Assignment<T>],
) -> bool {
    let (inside, outside) = (led_to(inside), led_to(outside));
    let mut both = outside
        .iter()
        .filter_map(|(cell, from)| Some((from, inside.get(cell)?)));
    both.any(|(one, other)| one != other)
}

/// Logic that other logic leads to, and which.
fn led_to<T>(assignments: &[ir::Assignment<T>]) -> BTreeMap<ir::Id, Cells> {
    let logic = |port: &ir::RRC<ir::Port>| {
        let cell = cell_of(port).filter(is_combinational)?;
        let name = cell.borrow().name();
        Some(name)
    };
    let mut led: BTreeMap<ir::Id, Cells> = BTreeMap::new();
    for to in assignments {
        let from: Cells = ports_read(to).iter().filter_map(logic).collect();
        if let Some(cell) = logic(&to.dst).filter(|_| !from.is_empty()) {
            led.entry(cell).or_default().extend(from);
        }
    }
    led
}

/// The loops around each enable of each group, from the outermost on.
fn loops_around(
    view: View<'_>,
    around: &mut Vec<NodeKey>,
    found: &mut BTreeMap<ir::Id, BTreeSet<Vec<NodeKey>>>,
) {
    if let Some(group) = view.group() {
        found
            .entry(group.name())
            .or_default()
            .insert(around.clone());
    }
    let own = view.identity().filter(|_| view.kind().is_loop());
    around.extend(own.map(|(key, _)| key));
    for child in view.children() {
        loops_around(child, around, found);
    }
    if own.is_some() {
        around.pop();
    }
}
