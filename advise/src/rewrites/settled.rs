//! Whether what a group writes is written when it is done.
//!
//! A register has its new value in the cycle in which its `done` is high. So a group whose `done` follows from that of all that
//! it writes leaves it settled. Another one may write in the very cycle in which control goes on: a condition that is looked at then sees
//! the value before, and whether the group still runs in that cycle depends on how its control is compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use calyx_ir as ir;
use petal_program::dependences::{cell_of, is_combinational, ports_of, ports_read, primitive};
use petal_program::tree::View;
use petal_program::{Aliases, Course, rests, takes};

use super::anew::writes_anew;
use super::state::port_of;

/// Whether a group of the program may still write in the cycle in which it is done, or after that.
pub(super) fn is_unsettled(ctx: &ir::Context, aliases: &Aliases) -> bool {
    let components = ctx.components.iter();
    let latencies = components.map(|component| (component.name, component.latency));
    let latencies: BTreeMap<ir::Id, Option<_>> = latencies.collect();
    let latency = |cell: &ir::Cell, go: &ir::Port| {
        let of = cell.type_name()?;
        let known = match latencies.get(&of) {
            Some(latency) => *latency,
            None => ctx.lib.find_primitive(of)?.latency,
        };
        known
            .map(u64::from)
            .or_else(|| go.attributes.get(ir::NumAttr::Interval))
    };
    let mut components = ctx.components.iter();
    components.any(|component| {
        let mut groups = component.get_groups().iter();
        let mut statics = component.get_static_groups().iter();
        groups.any(|group| {
            let group = group.borrow();
            writes_late(component, &group) || writes_anew(component, &group, aliases)
        }) || statics.any(|group| leaves_running(component, &group.borrow(), latency))
    })
}

/// Whether a static group starts something that may go on when the group ends. `latency` tells what is known of how long something
/// takes.
fn leaves_running(
    component: &ir::Component,
    group: &ir::StaticGroup,
    latency: impl Fn(&ir::Cell, &ir::Port) -> Option<u64>,
) -> bool {
    let starts = group.assignments.iter().filter(|start| {
        let is_state = cell_of(&start.dst)
            .is_some_and(|cell| !is_combinational(&cell) && !cell.borrow().is_this());
        is_state && start.dst.borrow().attributes.has(ir::NumAttr::Go)
    });
    starts.into_iter().any(|start| {
        let Some(cell) = cell_of(&start.dst) else {
            return true;
        };
        let known = primitive(&cell.borrow()).and_then(|of| takes(of.as_ref()));
        let takes = latency(&cell.borrow(), &start.dst.borrow());
        let run = match &*start.guard {
            ir::Guard::True => Some((0, group.latency)),
            ir::Guard::Info(timing) => Some(timing.get_interval()),
            _ => None,
        };
        match (takes, run) {
            (Some(1), _) => false,
            // As long as it takes, so that it neither stops nor starts again.
            (_, Some((first, end))) if [known, takes].contains(&Some(end - first)) => {
                let is_last = end == group.latency && !cell.borrow().is_component();
                let may_go_on = || may_go_on(component, cell.borrow().name(), group.name());
                end > group.latency || is_last && !may_go_on()
            }
            _ => true,
        }
    })
}

/// Whether something of two cycles that a static group starts, or one that becomes static, may start anew as soon as it is done.
pub(super) fn may_go_on(component: &ir::Component, cell: ir::Id, group: ir::Id) -> bool {
    rests(component, group, cell) || !is_watched(component, cell, Some(group))
}

/// Whether somebody sees of something of two cycles when it runs: what is no static group drives it, or looks at its `done`; or what it gives is
/// looked at in the second cycle, when it depends on the cycle before. Otherwise it may start anew as soon as it is done: in the first cycle it
/// still gives what it gave. Who looks at an output of the component in that cycle, looks at a cell that runs. The group `but` becomes static, and
/// may not look at what it gives at all. A `ref` cell is somebody else's, too.
pub(super) fn is_watched(component: &ir::Component, cell: ir::Id, but: Option<ir::Id>) -> bool {
    let is_of = |port: &ir::RRC<ir::Port>| port_of(port).is_some_and(|(of, _)| of == cell);
    let is_done =
        |port: &ir::RRC<ir::Port>| is_of(port) && port.borrow().attributes.has(ir::NumAttr::Done);
    let looks = |assignments: &[ir::Assignment<ir::Nothing>], is_seen: &dyn Fn(&_) -> bool| {
        let mut all = assignments.iter();
        all.any(|to| is_of(&to.dst) || ports_read(to).iter().any(is_seen))
    };
    let is_given = |to: &&ir::Assignment<ir::Nothing>| {
        to.guard.is_true()
            && cell_of(&to.dst).is_some_and(|of| of.borrow().is_this())
            && !is_done(&to.src)
    };
    let wires = component.continuous_assignments.iter();
    let wires: Vec<_> = wires.filter(|to| !is_given(to)).cloned().collect();
    let is_reference = |cell: ir::RRC<ir::Cell>| cell.borrow().is_reference();
    let mut groups = component.get_groups().iter();
    let mut combs = component.comb_groups.iter();
    let mut statics = component.get_static_groups().iter();
    let mut watched = component.find_cell(cell).is_none_or(is_reference)
        || looks(&wires, &is_of)
        || groups.any(|group| {
            let group = group.borrow();
            let mut read = group.assignments.iter().flat_map(ports_read);
            if but == Some(group.name()) {
                read.any(|port| is_of(&port) && !is_done(&port))
            } else {
                looks(&group.assignments, &is_done)
            }
        })
        || combs.any(|group| looks(&group.borrow().assignments, &is_done))
        || statics.any(|group| {
            let group = group.borrow();
            let mut all = group.assignments.iter();
            all.any(|to| ports_read(to).iter().any(is_done)) || reads_late(&group, cell)
        });
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (read, driven) = ports_of(view);
        let invoked = view.invoked().map(|of| of.borrow().name());
        let mut handed = view.handed_over().into_iter();
        watched |= read.iter().any(is_done)
            || driven.iter().any(is_of)
            || invoked == Some(cell)
            || handed.any(|(_, of)| of == cell);
    });
    watched
}

/// Whether a group that starts something of two cycles may look at what that gives in the second one.
fn reads_late(group: &ir::StaticGroup, cell: ir::Id) -> bool {
    let cycles = |guard: &ir::Guard<ir::StaticTiming>| match guard {
        ir::Guard::Info(timing) => {
            let (from, to) = timing.get_interval();
            from..to
        }
        _ => 0..group.latency,
    };
    let is_of = |port: &ir::RRC<ir::Port>| port_of(port).is_some_and(|(of, _)| of == cell);
    let starts = group.assignments.iter();
    let starts =
        starts.filter(|to| is_of(&to.dst) && to.dst.borrow().attributes.has(ir::NumAttr::Go));
    let late: Vec<_> = starts
        .map(|start| cycles(&start.guard))
        .map(|run| run.start + 1..run.end)
        .collect();
    let overlap = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
    let mut reads = group.assignments.iter();
    reads.any(|to| {
        let seen = cycles(&to.guard);
        let guard = to.guard.all_ports();
        if guard.iter().any(is_of) {
            return !late.is_empty();
        }
        if !is_of(&to.src) {
            return false;
        }
        // A register takes it when it is told to.
        let register = port_of(&to.dst).filter(|(_, port)| *port == "in");
        let taken = register.map(|(register, _)| {
            let enables = group.assignments.iter();
            let enables =
                enables.filter(move |to| port_of(&to.dst) == Some((register, "write_en".into())));
            enables.map(|to| cycles(&to.guard)).collect::<Vec<_>>()
        });
        late.iter().any(|late| {
            overlap(late, &seen)
                && taken
                    .as_ref()
                    .is_none_or(|taken| taken.iter().any(|taken| overlap(late, taken)))
        })
    })
}

fn writes_late(component: &ir::Component, group: &ir::Group) -> bool {
    let written = group.assignments.iter().filter_map(|assignment| {
        let cell = cell_of(&assignment.dst)?;
        (!is_combinational(&cell) && !cell.borrow().is_this() && !is_address(assignment))
            .then_some(cell)
    });
    let written: Vec<ir::RRC<ir::Cell>> = written.collect();
    let settled = settled(group, &written);
    let mut names = written.iter().map(|cell| cell.borrow().name());
    names.any(|name| !settled.contains(&name)) || starts_again(component, group)
}

/// Whether the group lets a cell that takes several cycles start anew when it is done, because the group goes on: then that may be done
/// at any time later, and what it gives depends on how the group is split.
fn starts_again(component: &ir::Component, group: &ir::Group) -> bool {
    let ends = group.assignments.iter().any(|assignment| {
        let port = assignment.dst.borrow();
        port.is_hole() && port.name == "done" && port.get_parent_name() == group.name() && {
            let ports = ports_read(assignment).into_iter();
            let mut cells = ports.filter_map(|port| cell_of(&port));
            cells.all(|cell| takes_several_cycles(&cell.borrow()))
        }
    });
    let mut begins = group.assignments.iter().filter(|assignment| {
        let cell = cell_of(&assignment.dst);
        cell.is_some_and(|cell| takes_several_cycles(&cell.borrow()))
            && assignment.dst.borrow().attributes.has(ir::NumAttr::Go)
    });
    begins.any(|assignment| !ends && !is_until_done(&assignment.guard, &assignment.dst))
        || Course::of(group).is_some_and(|course| {
            let mut again = course.started_again().iter();
            again.any(|cell| !is_for_registers(component, group, *cell))
        })
}

/// Whether nobody sees that a cell is started once more after it was done: it rests after the group, and what it gives goes into registers of the
/// group alone, which take it in the cycle in which it is done.
fn is_for_registers(component: &ir::Component, group: &ir::Group, cell: ir::Id) -> bool {
    let is_of = |port: &ir::RRC<ir::Port>| port_of(port).is_some_and(|(of, _)| of == cell);
    let is_done =
        |port: &ir::RRC<ir::Port>| is_of(port) && port.borrow().attributes.has(ir::NumAttr::Done);
    let takes_it_then = |to: &ir::RRC<ir::Port>| {
        let Some((register, port)) = port_of(to) else {
            return false;
        };
        let is_register =
            cell_of(to).is_some_and(|cell| cell.borrow().is_primitive(Some("std_reg")));
        let writes = group.assignments.iter();
        let mut writes =
            writes.filter(|of| port_of(&of.dst) == Some((register, "write_en".into())));
        is_register && port == "in" && writes.all(|of| is_done(&of.src))
    };
    let reads = |assignment: &ir::Assignment<ir::Nothing>| ports_read(assignment).iter().any(is_of);
    let in_group = |assignment: &ir::Assignment<ir::Nothing>| {
        let read = ports_read(assignment).into_iter();
        let mut read = read.filter(|port| is_of(port) && !is_done(port));
        read.next().is_none() || assignment.guard.is_true() && takes_it_then(&assignment.dst)
    };
    let mut in_control = false;
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (read, _) = ports_of(view);
        in_control |= read.iter().any(is_of);
    });
    let groups = component.get_groups().iter();
    let mut others = groups.filter(|other| other.borrow().name() != group.name());
    let mut combs = component.comb_groups.iter();
    let mut statics = component.get_static_groups().iter();
    rests(component, group.name(), cell)
        && group.assignments.iter().all(in_group)
        && !in_control
        && !component.continuous_assignments.iter().any(reads)
        && !others.any(|other| other.borrow().assignments.iter().any(reads))
        && !combs.any(|other| other.borrow().assignments.iter().any(reads))
        && !statics.any(|other| {
            let other = other.borrow();
            let mut read = other.assignments.iter().flat_map(ports_read);
            read.any(|port| is_of(&port))
        })
}

fn takes_several_cycles(cell: &ir::Cell) -> bool {
    match primitive(cell) {
        Some(of) => of != "std_reg" && !of.as_ref().contains("mem_d"),
        None => cell.is_component(),
    }
}

/// Whether a guard holds only as long as the cell with this port is not done.
fn is_until_done(guard: &ir::Guard<ir::Nothing>, go: &ir::RRC<ir::Port>) -> bool {
    match guard {
        ir::Guard::And(left, right) => is_until_done(left, go) || is_until_done(right, go),
        ir::Guard::Not(inner) => match &**inner {
            ir::Guard::Port(port) => {
                let port = port.borrow();
                port.attributes.has(ir::NumAttr::Done)
                    && port.get_parent_name() == go.borrow().get_parent_name()
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether an assignment only chooses what a memory gives at once.
fn is_address(assignment: &ir::Assignment<ir::Nothing>) -> bool {
    let of = cell_of(&assignment.dst).and_then(|cell| primitive(&cell.borrow()));
    let port = assignment.dst.borrow().name;
    of.is_some_and(|of| of.as_ref().starts_with("comb_mem_d")) && port.as_ref().starts_with("addr")
}

/// Those of the cells that have their new values when the group is done.
fn settled(group: &ir::Group, written: &[ir::RRC<ir::Cell>]) -> BTreeSet<ir::Id> {
    let reads_done = |assignment: &ir::Assignment<ir::Nothing>| {
        let ports = ports_read(assignment).into_iter();
        let done = ports.filter(|port| port.borrow().attributes.has(ir::NumAttr::Done));
        let cells = done.filter_map(|port| cell_of(&port));
        cells
            .map(|cell| cell.borrow().name())
            .collect::<BTreeSet<_>>()
    };
    let is_done = |assignment: &&ir::Assignment<ir::Nothing>| {
        let port = assignment.dst.borrow();
        port.is_hole() && port.name == "done" && port.get_parent_name() == group.name()
    };
    // One of several alternatives may come before the others.
    let mut ends = group.assignments.iter().filter(is_done);
    let mut settled = match (ends.next(), ends.next()) {
        (Some(only), None) if is_conjunction(&only.guard) => reads_done(only),
        _ => BTreeSet::new(),
    };
    settled.retain(|end| written.iter().any(|cell| cell.borrow().name() == *end));
    if settled.is_empty() {
        return settled;
    }
    // What is written in the first cycle has its value in the second, and no `done` comes before.
    for cell in written {
        let cell = cell.borrow();
        let enable = match primitive(&cell) {
            Some(of) if of == "std_reg" || of.as_ref().starts_with("comb_mem_d") => "write_en",
            Some(of) if of.as_ref().starts_with("seq_mem_d") => "content_en",
            _ => continue,
        };
        let at_once = group.assignments.iter().any(|assignment| {
            let port = assignment.dst.borrow();
            port.name == enable
                && !port.is_hole()
                && port.get_parent_name() == cell.name()
                && assignment.guard.is_true()
                && assignment.src.borrow().is_constant(1, 1)
        });
        if at_once {
            settled.insert(cell.name());
        }
    }
    if let Some(course) = Course::of(group) {
        settled.extend(course.settled());
    }
    // What begins only when something else is done, is done after that.
    loop {
        let before = settled.len();
        for end in settled.clone() {
            let begins = group.assignments.iter().filter(|assignment| {
                let port = assignment.dst.borrow();
                !port.is_hole()
                    && port.get_parent_name() == end
                    && (matches!(port.name.as_ref(), "write_en" | "content_en")
                        || port.attributes.has(ir::NumAttr::Go))
            });
            let waits = begins.map(|assignment| {
                if is_conjunction(&assignment.guard) {
                    reads_done(assignment)
                } else {
                    BTreeSet::new()
                }
            });
            settled.extend(waits.reduce(|all, waits| &all & &waits).unwrap_or_default());
        }
        if settled.len() == before {
            return settled;
        }
    }
}

/// Whether a guard holds only if all ports in it are high.
fn is_conjunction(guard: &ir::Guard<ir::Nothing>) -> bool {
    match guard {
        ir::Guard::True | ir::Guard::Port(_) => true,
        ir::Guard::And(left, right) => is_conjunction(left) && is_conjunction(right),
        _ => false,
    }
}
