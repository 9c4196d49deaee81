//! What a `done` may still tell of an earlier write.
//!
//! Owns which groups decide by the `done` of a register or memory that was written a cycle before they run.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use super::effects::Cells;
use super::uses::{Uses, cell_of, is_combinational, name_of, ports_read};
use crate::course::Course;
use crate::tree::{View, called_group};

/// What nothing has written a cycle before a group runs.
pub(super) struct Fresh {
    drivers: BTreeMap<ir::Id, usize>,
    once: Cells,
    /// Groups that others run.
    called: Cells,
    /// Cells that others hand over, and may have written.
    handed: Cells,
}

impl Fresh {
    pub fn of(component: &ir::Component, is_entry: bool) -> Self {
        let groups = component.get_groups().iter();
        let called = groups.flat_map(|group| {
            let group = group.borrow();
            let called = group.assignments.iter().filter_map(called_group);
            called.collect::<Vec<_>>()
        });
        let called: Cells = called.collect();
        let mut once = once(component, is_entry);
        once.retain(|group| !called.contains(group));
        let cells = component.cells.iter().map(|cell| cell.borrow());
        Self {
            drivers: drivers(component),
            once,
            called,
            handed: cells
                .filter(|cell| cell.is_reference())
                .map(|cell| cell.name())
                .collect(),
        }
    }

    /// Those of the cells that a group drives which hold that because it runs once, or which nothing else drives.
    pub fn of_group(&self, group: &ir::Group) -> Cells {
        let mut fresh = self.once(group.name());
        if !self.called.contains(&group.name())
            && let Some(course) = Course::of(group)
        {
            // Its own run before did not write them at its end.
            fresh.extend(self.single().filter(|cell| course.is_quiet(*cell)));
        }
        fresh
    }

    /// The same of a group that runs once, none of another one.
    pub fn once(&self, group: ir::Id) -> Cells {
        let single = self.single();
        single.filter(|_| self.once.contains(&group)).collect()
    }

    fn single(&self) -> impl Iterator<Item = ir::Id> {
        let all = self.drivers.iter().filter(|(_, count)| **count <= 1);
        let cells = all.map(|(cell, _)| *cell);
        cells.filter(|cell| !self.handed.contains(cell))
    }
}

/// Components of which a group decides by the `done` of a register or memory that only a look at its course says to be low at its begin: another
/// one that shares its hardware would be seen.
pub fn deciding_by_course(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let decides = |component: &&ir::Component| {
        let fresh = Fresh::of(component, component.name == ctx.entrypoint);
        component.get_groups().iter().any(|group| {
            let group = group.borrow();
            let once = fresh.once(group.name());
            reads_stale(&group.assignments, &once, &component.continuous_assignments)
        })
    };
    let deciding = ctx.components.iter().filter(decides);
    deciding.map(|component| component.name).collect()
}

/// How many groups and statements drive each cell.
pub fn drivers(component: &ir::Component) -> BTreeMap<ir::Id, usize> {
    let mut drivers: BTreeMap<ir::Id, usize> = BTreeMap::new();
    let mut add = |cells: Cells| {
        for cell in cells {
            *drivers.entry(cell).or_default() += 1;
        }
    };
    for group in component.get_groups().iter() {
        add(driven(&group.borrow().assignments));
    }
    for group in component.get_static_groups().iter() {
        add(driven(&group.borrow().assignments));
    }
    View::of(&component.control.borrow()).walk(&mut |view| {
        if view.invoked().is_some() {
            let mut uses = Uses::default();
            uses.control(view);
            add(uses.drives);
        }
    });
    drivers
}

fn driven<T>(assignments: &[ir::Assignment<T>]) -> Cells {
    let cells = assignments.iter();
    let cells = cells.filter_map(|assignment| name_of(&assignment.dst));
    cells.collect()
}

/// The groups of the entry point that run once at most: nothing of them is there from a run before.
fn once(component: &ir::Component, is_entry: bool) -> Cells {
    let mut enabled: BTreeMap<ir::Id, usize> = BTreeMap::new();
    if is_entry {
        let control = component.control.borrow();
        let mut left = vec![(View::of(&control), 1)];
        while let Some((view, times)) = left.pop() {
            let is_loop = view.kind().is_loop();
            let times = if is_loop { 2 } else { times };
            if let Some(group) = view.group() {
                *enabled.entry(group.name()).or_default() += times;
            }
            left.extend(view.children().into_iter().map(|child| (child, times)));
        }
    }
    enabled.retain(|_, times| *times == 1);
    enabled.into_keys().collect()
}

/// Whether a group decides by the `done` of a register or memory that something else, or its own run before, may have
/// written a cycle ago: any but those that are `fresh`. That it is done with it is another matter: control does not look at once. Nor does it matter where a
/// register is written once too often by that: what the group itself starts in its first cycle is done after that, and
/// writes it again. In a memory, another word may have been written.
pub(super) fn reads_stale<T>(
    assignments: &[ir::Assignment<T>],
    fresh: &Cells,
    continuous: &[ir::Assignment<ir::Nothing>],
) -> bool {
    let has = |port: &ir::RRC<ir::Port>, attribute| port.borrow().attributes.has(attribute);
    let is_stale = |port: &ir::RRC<ir::Port>| {
        let cell = cell_of(port).filter(|_| has(port, ir::NumAttr::Done));
        cell.is_some_and(|cell| {
            let cell = cell.borrow();
            let mut ports = cell.ports.iter();
            let takes_one =
                ports.any(|port| port.borrow().attributes.get(ir::NumAttr::Interval) == Some(1));
            takes_one && !fresh.contains(&cell.name())
        })
    };
    let of_cell = |port: &ir::RRC<ir::Port>, cell: Option<ir::Id>| name_of(port) == cell;
    let starts = |cell: Option<ir::Id>| {
        let all = assignments.iter();
        let of_it = all.filter(|assignment| {
            of_cell(&assignment.dst, cell) && has(&assignment.dst, ir::NumAttr::Go)
        });
        of_it.collect::<Vec<_>>()
    };
    let is_started_at_once = |cell: Option<ir::Id>| {
        let starts = starts(cell);
        let at_once = |start: &&ir::Assignment<T>| {
            start.guard.is_true() && start.src.borrow().is_constant(1, 1)
        };
        !starts.is_empty() && starts.iter().all(at_once)
    };
    let is_started_by = |cell: Option<ir::Id>, other: Option<ir::Id>| {
        let is_done =
            |port: &ir::RRC<ir::Port>| of_cell(port, other) && has(port, ir::NumAttr::Done);
        let starts = starts(cell);
        let waits =
            |start: &&ir::Assignment<T>| is_done(&start.src) || implies(&start.guard, &is_done);
        !starts.is_empty() && starts.iter().all(waits)
    };
    let is_register = |cell: &ir::Cell| cell.is_primitive(Some("std_reg"));
    // By the group, directly or through logic that wires feed with it, or by what wires hand it to.
    let is_read = |register: &ir::Cell| {
        let mut from = Cells::from([register.name()]);
        let gives = |from: &Cells, port: &ir::RRC<ir::Port>| {
            let cell = cell_of(port).filter(|_| !has(port, ir::NumAttr::Done));
            cell.is_some_and(|cell| {
                let cell = cell.borrow();
                // Two that are handed over may be one.
                let handed = register.is_reference() && cell.is_reference() && is_register(&cell);
                handed || from.contains(&cell.name())
            })
        };
        let mut before = 0;
        while before < from.len() {
            before = from.len();
            for wire in continuous {
                if ports_read(wire).iter().any(|port| gives(&from, port)) {
                    match cell_of(&wire.dst).filter(is_combinational) {
                        Some(logic) => from.insert(logic.borrow().name()),
                        None => return true,
                    };
                }
            }
        }
        let mut ports = assignments.iter().flat_map(ports_read);
        ports.any(|port| gives(&from, &port))
    };
    let inner = assignments.iter();
    let mut inner = inner.filter(|assignment| !assignment.dst.borrow().is_hole());
    inner.any(|assignment| {
        let started = name_of(&assignment.dst);
        let mut stale = ports_read(assignment)
            .into_iter()
            .filter(|port| is_stale(port));
        stale.any(|port| {
            let waits_for = name_of(&port);
            let again = started != waits_for
                && is_started_at_once(waits_for)
                && is_started_by(started, waits_for)
                && cell_of(&assignment.dst).is_some_and(|cell| {
                    let cell = cell.borrow();
                    is_register(&cell) && !is_read(&cell)
                });
            !again
        })
    })
}

/// Whether a guard holds only while such a port is high.
pub(super) fn implies<T>(
    guard: &ir::Guard<T>,
    is_wanted: &impl Fn(&ir::RRC<ir::Port>) -> bool,
) -> bool {
    match guard {
        ir::Guard::Port(port) => is_wanted(port),
        ir::Guard::And(a, b) => implies(a, is_wanted) || implies(b, is_wanted),
        ir::Guard::Or(a, b) => implies(a, is_wanted) && implies(b, is_wanted),
        _ => false,
    }
}
