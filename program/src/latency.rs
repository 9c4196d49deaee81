//! How many cycles a group takes, as far as its primitives tell.
//!
//! Owns of which groups that is certain, whatever the compiler and the program say of them.

use std::collections::BTreeSet;
use std::rc::Rc;

use calyx_ir as ir;

use crate::dependences::{cell_of, ports_read};

/// Whether a group always takes one cycle: in the first it starts something that takes one, and with that it is done.
pub fn takes_one_cycle(group: &ir::Group) -> bool {
    let own = group.name();
    let mut holes = group.assignments.iter().flat_map(|assignment| {
        let read = ports_read(assignment).into_iter();
        read.filter(|port| port.borrow().is_hole())
    });
    let mut ends = group.assignments.iter().filter(|assignment| {
        let port = assignment.dst.borrow();
        port.is_hole() && port.get_parent_name() == own
    });
    latency(group) == Some(1) && ends.next().is_some() && holes.next().is_none()
}

/// The cycles that a group takes, where its primitives tell: it starts one, others as soon as one before them is done, and is done with
/// the last.
pub fn latency(group: &ir::Group) -> Option<u64> {
    let holes = group.assignments.iter();
    let mut ends = holes.filter(|assignment| assignment.dst.borrow().is_hole());
    let (Some(end), None) = (ends.next(), ends.next()) else {
        return None;
    };
    let is_done = end.dst.borrow().name == "done" && end.guard.is_true();
    is_done
        .then(|| latency_of(group, &end.src, &mut BTreeSet::new()))
        .flatten()
}

/// The cycles after which this port of a primitive tells that it is done, where primitives tell; the cells that lead to that go to `row`.
pub fn latency_of(
    group: &ir::Group,
    done: &ir::RRC<ir::Port>,
    row: &mut BTreeSet<ir::Id>,
) -> Option<u64> {
    let cell = cell_of(done)?;
    let cell = cell.borrow();
    row.insert(cell.name()).then_some(())?;
    let number = done.borrow().attributes.get(ir::NumAttr::Done)?;
    let start = only(group, |port| {
        let is_go = port.attributes.get(ir::NumAttr::Go) == Some(number);
        is_go && port.get_parent_name() == cell.name()
    })?;
    let takes = start.dst.borrow().attributes.get(ir::NumAttr::Interval);
    let takes = takes.filter(|_| !cell.is_component())?;
    let is_one = start.src.borrow().is_constant(1, 1);
    let before = match &*start.guard {
        ir::Guard::True if is_one => return Some(takes),
        ir::Guard::Not(inner) if is_one => {
            let is_own = matches!(&**inner, ir::Guard::Port(port) if Rc::ptr_eq(port, done));
            return (takes > 1 && is_own).then_some(takes);
        }
        ir::Guard::Port(port) if is_one => port,
        ir::Guard::True => &start.src,
        _ => return None,
    };
    let is_done = before.borrow().attributes.has(ir::NumAttr::Done);
    Some(takes + is_done.then(|| latency_of(group, before, row))??)
}

/// The only assignment of a group to such a port of a cell.
pub fn only(
    group: &ir::Group,
    is_wanted: impl Fn(&ir::Port) -> bool,
) -> Option<&ir::Assignment<ir::Nothing>> {
    let mut all = group.assignments.iter().filter(|assignment| {
        let port = assignment.dst.borrow();
        !port.is_hole() && is_wanted(&port)
    });
    let only = all.next()?;
    all.next().is_none().then_some(only)
}
