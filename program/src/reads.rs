//! Which registers and the like each group, condition and `invoke` of a program takes values from.
//!
//! Owns what a program says of that: also through combinational cells that continuous assignments drive, and through the ports of component
//! cells. Memories are left out, since which word is read depends on an address. What a combinational cell gives that another group drives
//! belongs to that group.

use std::collections::{BTreeSet, HashMap, HashSet};

use calyx_ir as ir;
use petal_metadata::{ControlId, Id as _, Read, ReadSource, Reads};

use crate::dependences::{is_combinational, ports_of, primitive};
use crate::tree::View;
use crate::written::Written;

/// Who takes which values in a program whose control nodes have their identities.
#[must_use]
pub fn reads(program: &ir::Context, written: &Written) -> Reads {
    let finder = Finder::new(program);
    let mut reads = Reads::default();
    for component in &program.components {
        let name = component.name.to_string();
        let mut add = |group: ir::Id, found: BTreeSet<Read>| {
            reads
                .groups
                .insert((name.clone(), group.to_string()), found);
        };
        for group in component.groups.iter() {
            let group = group.borrow();
            add(group.name(), finder.of(component, &group.assignments));
        }
        for group in component.static_groups.iter() {
            let group = group.borrow();
            add(group.name(), finder.of(component, &group.assignments));
        }
        for group in component.comb_groups.iter() {
            let group = group.borrow();
            add(group.name(), finder.of(component, &group.assignments));
        }
        let state = component.cells.iter().filter(|cell| keeps(cell));
        let state = state.map(|cell| (name.clone(), cell.borrow().name().to_string()));
        reads.state.extend(state);
        let started = component.continuous_assignments.iter().map(|of| &of.dst);
        let started = started.filter(|port| {
            let port = port.borrow();
            !port.is_hole() && port.attributes.has(ir::NumAttr::Go)
        });
        let continuous = started.map(|port| {
            let cell = port.borrow().get_parent_name();
            (name.clone(), cell.to_string())
        });
        reads.continuous.extend(continuous);
        finder.control(component, written, &mut reads);
    }
    reads
}

/// Whether a cell is a primitive that keeps what it gives, and no memory.
fn keeps(cell: &ir::RRC<ir::Cell>) -> bool {
    let of = primitive(&cell.borrow());
    of.is_some_and(|of| of != "undef" && !of.as_ref().contains("_mem_d")) && !is_combinational(cell)
}

/// Whether a guard leaves the choice to nothing but the time that a static group has run.
fn is_sure<T>(guard: &ir::Guard<T>) -> bool {
    match guard {
        ir::Guard::True | ir::Guard::Info(_) => true,
        ir::Guard::And(one, other) => is_sure(one) && is_sure(other),
        _ => false,
    }
}

/// A component, and the cell of the one around it that it is; none of the first.
type Frame<'a> = (&'a ir::Component, Option<ir::RRC<ir::Cell>>);

/// What is found of the values that something takes.
#[derive(Default)]
struct Found {
    reads: BTreeSet<Read>,
    /// The ports that were followed, each with the cells around it.
    seen: HashSet<(Vec<ir::Id>, ir::Canonical, bool)>,
}

struct Finder<'a> {
    components: HashMap<ir::Id, &'a ir::Component>,
    /// The continuous assignments of each component, by what they drive.
    continuous: HashMap<ir::Id, HashMap<ir::Canonical, Vec<&'a ir::Assignment<ir::Nothing>>>>,
}

impl<'a> Finder<'a> {
    fn new(program: &'a ir::Context) -> Self {
        let components = program.components.iter();
        let continuous = components.clone().map(|component| {
            let mut drivers: HashMap<_, Vec<_>> = HashMap::new();
            for assignment in &component.continuous_assignments {
                let port = assignment.dst.borrow().canonical();
                drivers.entry(port).or_default().push(assignment);
            }
            (component.name, drivers)
        });
        Self {
            continuous: continuous.collect(),
            components: components.map(|of| (of.name, of)).collect(),
        }
    }

    /// What assignments of a component take.
    fn of<T>(
        &self,
        component: &'a ir::Component,
        assignments: &[ir::Assignment<T>],
    ) -> BTreeSet<Read> {
        let mut found = Found::default();
        for assignment in assignments {
            self.assignment(&mut vec![(component, None)], assignment, false, &mut found);
        }
        found.reads
    }

    /// Adds what the statements of a component take themselves.
    fn control(&self, component: &'a ir::Component, written: &Written, reads: &mut Reads) {
        let Some(source) = written.components.get(&component.name) else {
            return;
        };
        let order = source.preorder().into_iter();
        let ids: HashMap<_, _> = order.zip((0..).map(ControlId::from_index)).collect();
        View::of(&component.control.borrow()).walk(&mut |view| {
            let Some(&id) = view.identity().and_then(|(key, _)| ids.get(&key)) else {
                return;
            };
            let key = (component.name.to_string(), id);
            if let Some(barrier) = view.attributes().get(ir::NumAttr::Sync) {
                reads.barriers.insert(key.clone(), barrier);
            }
            let mut found = Found::default();
            for port in ports_of(view).0 {
                self.port(&mut vec![(component, None)], &port, false, &mut found);
            }
            let is_plain = view.invoked().is_none() && view.comb_group().is_none();
            if let ([port], true) = (&ports_of(view).0[..], is_plain) {
                let port = port.borrow().canonical().to_string();
                reads.ports.insert(key.clone(), port);
            }
            if let Some(group) = view.comb_group().filter(|_| view.invoked().is_some()) {
                let group = group.borrow();
                found.reads.extend(self.of(component, &group.assignments));
            }
            if !found.reads.is_empty() {
                reads.statements.insert(key, found.reads);
            }
        });
    }

    fn assignment<T>(
        &self,
        at: &mut Vec<Frame<'a>>,
        assignment: &ir::Assignment<T>,
        is_guarded: bool,
        found: &mut Found,
    ) {
        // A guard is always looked at.
        for port in assignment.guard.all_ports() {
            self.port(at, &port, is_guarded, found);
        }
        let is_guarded = is_guarded || !is_sure(&assignment.guard);
        self.port(at, &assignment.src, is_guarded, found);
    }

    /// Adds where the value of a port comes from.
    fn port(
        &self,
        at: &mut Vec<Frame<'a>>,
        port: &ir::RRC<ir::Port>,
        is_guarded: bool,
        found: &mut Found,
    ) {
        let port = port.borrow();
        if port.is_hole() {
            return;
        }
        let cell = port.cell_parent();
        let prototype = cell.borrow().prototype.clone();
        match prototype {
            ir::CellType::Constant { .. } => {}
            ir::CellType::ThisComponent => self.handed_in(at, port.name, is_guarded, found),
            ir::CellType::Component { name } => {
                let inner = self.components.get(&name).copied();
                let own = inner.and_then(|inner| inner.signature.borrow().find(port.name));
                if let (Some(inner), Some(own)) = (inner, own) {
                    at.push((inner, Some(cell)));
                    self.driven(at, &own, is_guarded, found);
                    at.pop();
                }
            }
            ir::CellType::Primitive { name, is_comb, .. } => {
                let is_value = !port.attributes.has(ir::NumAttr::Done);
                let source = if name == "undef" {
                    Some(ReadSource::Undefined)
                } else {
                    (keeps(&cell) && is_value).then_some(ReadSource::State)
                };
                if let Some(source) = source {
                    let cells = at.iter().filter_map(|(_, cell)| cell.as_ref());
                    let cells = cells.chain([&cell]);
                    found.reads.insert(Read {
                        path: cells.map(|of| of.borrow().name().to_string()).collect(),
                        source,
                        is_guarded,
                    });
                } else if is_comb {
                    self.combinational(at, &cell, is_guarded, found);
                }
            }
        }
    }

    /// Adds what comes out of a combinational cell that continuous assignments drive.
    fn combinational(
        &self,
        at: &mut Vec<Frame<'a>>,
        cell: &ir::RRC<ir::Cell>,
        is_guarded: bool,
        found: &mut Found,
    ) {
        let chooses = cell.borrow().is_primitive(Some("std_mux"));
        let ports = cell.borrow().ports.clone();
        for input in &ports {
            if input.borrow().direction == ir::Direction::Input {
                let is_chosen = chooses && input.borrow().name != "cond";
                self.driven(at, input, is_guarded || is_chosen, found);
            }
        }
    }

    /// Adds what continuous assignments drive a port with.
    fn driven(
        &self,
        at: &mut Vec<Frame<'a>>,
        port: &ir::RRC<ir::Port>,
        is_guarded: bool,
        found: &mut Found,
    ) {
        let Some((component, _)) = at.last() else {
            return;
        };
        let cells = at.iter().filter_map(|(_, cell)| cell.as_ref());
        let path = cells.map(|of| of.borrow().name()).collect();
        let canonical = port.borrow().canonical();
        if !found.seen.insert((path, canonical.clone(), is_guarded)) {
            return;
        }
        let drivers = self.continuous.get(&component.name);
        let drivers = drivers.and_then(|of| of.get(&canonical));
        for assignment in drivers.into_iter().flatten() {
            self.assignment(at, assignment, is_guarded, found);
        }
    }

    /// Adds what the component around hands to an input of the innermost one. What groups hand over, they take themselves.
    fn handed_in(
        &self,
        at: &mut Vec<Frame<'a>>,
        port: ir::Id,
        is_guarded: bool,
        found: &mut Found,
    ) {
        let Some((inner, cell)) = at.pop() else {
            return;
        };
        let input = cell.as_ref().and_then(|cell| cell.borrow().find(port));
        if let Some(input) = input {
            self.driven(at, &input, is_guarded, found);
        }
        at.push((inner, cell));
    }
}
