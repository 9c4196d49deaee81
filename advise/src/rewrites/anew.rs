//! What a group writes once more while it goes on.
//!
//! A register or memory that is written in each cycle of a group, or read at an address, holds the same at its end however many cycles that
//! takes, as long as what it is given stays the same. Owns of which groups that is certain.

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, is_combinational, ports_read};
use petal_program::{Aliases, Course};

use super::state::{is_memory, port_of};

/// Whether a group of several cycles may write something anew that depends on what it has written: how often it does so depends on how the
/// compiler splits the group.
pub(super) fn writes_anew(component: &ir::Component, group: &ir::Group, aliases: &Aliases) -> bool {
    if Course::of(group).is_some_and(|course| course.cycles() == 1) {
        return false;
    }
    let holes = group.assignments.iter();
    let mut ends = holes.filter(|to| to.dst.borrow().is_hole());
    // What it is done with is written once.
    let last = match (ends.next(), ends.next()) {
        (Some(end), None) if end.guard.is_true() => port_of(&end.src).map(|(cell, _)| cell),
        _ => None,
    };
    let driven = group.assignments.iter().filter(|to| !chooses(&to.dst));
    let driven = driven.filter_map(|to| cell_of(&to.dst));
    let state = driven.filter(|cell| !is_combinational(cell) && !cell.borrow().is_this());
    let mut written: Cells = state.map(|cell| cell.borrow().name()).collect();
    if let Some(last) = last {
        written.remove(&last);
    }
    written.iter().any(|cell| {
        let given = values(component, &group.assignments, *cell, aliases);
        let waited = waited_for(group, *cell);
        let mut own = given.intersection(&written);
        own.any(|from| from == cell || !waited.contains(from))
    })
}

/// Whether what a cell is given by assignments and wires comes from itself.
pub(super) fn is_fed_back<T>(
    component: &ir::Component,
    assignments: &[ir::Assignment<T>],
    cell: ir::Id,
    aliases: &Aliases,
) -> bool {
    values(component, assignments, cell, aliases).contains(&cell)
}

/// The cells that a cell gets its values from, by these assignments and continuous ones, through combinational cells.
fn values<T>(
    component: &ir::Component,
    assignments: &[ir::Assignment<T>],
    cell: ir::Id,
    aliases: &Aliases,
) -> Cells {
    let mut found = Cells::new();
    let mut seen = Cells::new();
    let mut next = vec![cell];
    while let Some(to) = next.pop() {
        if !seen.insert(to) {
            continue;
        }
        let is_first = to == cell;
        let mut read = reads(assignments, to, is_first);
        read.extend(reads(&component.continuous_assignments, to, is_first));
        for from in read.iter().filter_map(cell_of) {
            let name = from.borrow().name();
            found.insert(name);
            if is_combinational(&from) || is_memory(&from.borrow()) {
                next.push(name);
            }
        }
    }
    let may_be = found
        .iter()
        .filter_map(|from| aliases.may_be(component.name, *from));
    let may_be: Cells = may_be.flatten().copied().collect();
    &found | &may_be
}

/// What assignments to a cell read: all but when it starts, or only how it chooses what it gives.
fn reads<T>(
    assignments: &[ir::Assignment<T>],
    cell: ir::Id,
    is_first: bool,
) -> Vec<ir::RRC<ir::Port>> {
    let to = assignments.iter().filter(|to| {
        let driven = cell_of(&to.dst).filter(|driven| driven.borrow().name() == cell);
        driven.is_some_and(|driven| is_first || is_combinational(&driven) || chooses(&to.dst))
    });
    to.flat_map(|to| {
        let is_start = to.dst.borrow().attributes.has(ir::NumAttr::Go);
        let read = ports_read(to).into_iter();
        read.filter(move |port| !(is_start && port.borrow().attributes.has(ir::NumAttr::Done)))
    })
    .collect()
}

/// Whether a port only chooses what a memory gives at once.
fn chooses(port: &ir::RRC<ir::Port>) -> bool {
    let is_of_memory = cell_of(port).is_some_and(|cell| is_memory(&cell.borrow()));
    is_of_memory && port.borrow().name.as_ref().starts_with("addr")
}

/// The cells of which a group waits for the `done` before it starts a cell.
fn waited_for(group: &ir::Group, cell: ir::Id) -> Cells {
    let mut all = Cells::new();
    let mut next = vec![cell];
    while let Some(cell) = next.pop() {
        let mut starts = group.assignments.iter().filter(|to| {
            let is_go = to.dst.borrow().attributes.has(ir::NumAttr::Go);
            is_go && port_of(&to.dst).is_some_and(|(of, _)| of == cell)
        });
        let (Some(start), None) = (starts.next(), starts.next()) else {
            continue;
        };
        let mut waits = Vec::new();
        conjuncts(&start.guard, &mut waits);
        waits.push(start.src.clone());
        let dones = waits
            .iter()
            .filter(|port| port.borrow().attributes.has(ir::NumAttr::Done));
        let cells = dones.filter_map(port_of).map(|(of, _)| of);
        next.extend(cells.filter(|of| all.insert(*of)));
    }
    all
}

/// The ports that all have to be high for a guard to hold.
fn conjuncts(guard: &ir::Guard<ir::Nothing>, found: &mut Vec<ir::RRC<ir::Port>>) {
    match guard {
        ir::Guard::Port(port) => found.push(port.clone()),
        ir::Guard::And(left, right) => {
            conjuncts(left, found);
            conjuncts(right, found);
        }
        _ => {}
    }
}
