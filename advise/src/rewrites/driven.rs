//! Whether all that is read is driven.
//!
//! What a combinational cell gives whose inputs nobody drives depends on how the program is compiled: on which cells share its
//! hardware, and on whether the guard of the only one that ever drives it is kept. Owns where a component may look at that. In each
//! cycle a group, comb group or `invoke` has what it drives itself, under the guards that hold then, and what continuous
//! assignments drive. Whatever cannot be decided counts as not driven.

mod when;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use calyx_ir as ir;
use petal_program::dependences::{cell_of, is_combinational, ports_of};
use petal_program::tree::{GroupRef, View};

pub(crate) use self::when::key;
use self::when::{Atom, Facts, Timing, When, with};
use super::state::{Outputs, is_memory};

/// So many steps are made for a component.
const BUDGET: usize = 200_000;

/// Static groups that take longer are not looked at.
const MOST_CYCLES: u64 = 256;

/// An assignment.
struct Drive {
    to: ir::RRC<ir::Port>,
    from: ir::RRC<ir::Port>,
    when: When,
}

fn drives<T: Timing>(assignments: &[ir::Assignment<T>]) -> Vec<Drive> {
    let drives = assignments.iter().map(|assignment| Drive {
        to: assignment.dst.clone(),
        from: assignment.src.clone(),
        when: When::of(&assignment.guard),
    });
    drives.collect()
}

/// The outputs of components of which it is known what drives them.
pub(super) struct Known<'a> {
    /// Those that depend on state alone.
    of_state: &'a Outputs,
    /// Those that continuous assignments always drive.
    always: Outputs,
}

/// The components that may look at what nobody drives.
pub(super) fn undriven(ctx: &ir::Context, of_state: &Outputs) -> BTreeSet<ir::Id> {
    let mut known = Known {
        of_state,
        always: Outputs::new(),
    };
    let mut found = BTreeSet::new();
    for component in &ctx.components {
        let reader = Reader::of(component, &known);
        if reader.reads_undriven() {
            found.insert(component.name);
        }
        let nothing = Vec::new();
        let continuous = reader.at_once(&nothing);
        let this = component.signature.borrow();
        let mut always = Vec::new();
        for port in this.ports.iter().filter(|port| is_input(port)) {
            if continuous.is_driven(port, &Facts::new(), 0) {
                always.push((component.name, port.borrow().name));
            }
        }
        known.always.extend(always);
    }
    found
}

/// Whether something is to be given to a port: an input of a cell, or seen from inside an output of the component.
fn is_input(port: &ir::RRC<ir::Port>) -> bool {
    port.borrow().direction == ir::Direction::Input
}

/// Whether a port only takes what an enable of its cell lets in.
fn is_data(port: &ir::RRC<ir::Port>) -> bool {
    let of_component = cell_of(port).is_some_and(|cell| cell.borrow().is_component());
    let attributes = &port.borrow().attributes;
    let has_bool = |attribute| attributes.has(attribute);
    is_input(port)
        && !attributes.has(ir::NumAttr::Go)
        && !has_bool(ir::BoolAttr::Clk)
        && !has_bool(ir::BoolAttr::Reset)
        && (of_component || port.borrow().name != "write_en")
}

/// Whether an input of a primitive is 0 under all passes where nobody drives it: `default-assigns` gives that to what is not `@data`.
fn is_zero_otherwise(port: &ir::RRC<ir::Port>) -> bool {
    let is_kept = cell_of(port).is_some_and(|cell| {
        let cell = cell.borrow();
        matches!(
            cell.prototype,
            ir::CellType::Primitive { is_comb: false, .. }
        )
    });
    is_kept && !port.borrow().attributes.has(ir::BoolAttr::Data)
}

/// A component, and what its continuous assignments drive.
struct Reader<'a> {
    component: &'a ir::Component,
    known: &'a Known<'a>,
    continuous: Vec<Drive>,
    left: Cell<usize>,
}

/// What drives at the same time.
struct AtOnce<'a> {
    reader: &'a Reader<'a>,
    own: &'a [Drive],
    by_port: HashMap<(ir::Id, ir::Id), Vec<&'a Drive>>,
}

impl<'a> Reader<'a> {
    fn of(component: &'a ir::Component, known: &'a Known<'a>) -> Self {
        Self {
            component,
            known,
            continuous: drives(&component.continuous_assignments),
            left: Cell::new(BUDGET),
        }
    }

    /// These assignments, beside continuous ones.
    fn at_once(&'a self, own: &'a [Drive]) -> AtOnce<'a> {
        let mut by_port: HashMap<_, Vec<&Drive>> = HashMap::new();
        for drive in own.iter().chain(&self.continuous) {
            by_port.entry(key(&drive.to)).or_default().push(drive);
        }
        AtOnce {
            reader: self,
            own,
            by_port,
        }
    }

    fn reads_undriven(&self) -> bool {
        let none = Facts::new();
        let nothing = Vec::new();
        let continuous = self.at_once(&nothing);
        if !continuous.takes_driven(&self.continuous, &none) {
            return true;
        }
        for group in self.component.get_groups().iter() {
            let own = drives(&group.borrow().assignments);
            if !self.at_once(&own).takes_driven(&own, &none) {
                return true;
            }
        }
        for group in self.component.get_static_groups().iter() {
            let group = group.borrow();
            let own = drives(&group.assignments);
            let at_once = self.at_once(&own);
            if group.latency > MOST_CYCLES {
                return true;
            }
            for cycle in 0..group.latency {
                let facts = Facts::from([(Atom::Cycle(cycle, cycle + 1), true)]);
                if !at_once.takes_driven(&own, &facts) {
                    return true;
                }
            }
        }
        let mut undriven = false;
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            undriven = undriven || !self.statement(view);
        });
        undriven
    }

    /// Whether all that a statement reads itself is driven.
    fn statement(&self, view: View<'_>) -> bool {
        let (read, taken) = ports_of(view);
        let mut own = Vec::new();
        if let Some(group) = view.comb_group() {
            own.extend(drives(&group.borrow().assignments));
        } else if matches!(
            view.group(),
            Some(GroupRef::Dynamic(_) | GroupRef::Static(_))
        ) {
            return true;
        }
        let none = Facts::new();
        {
            let at_once = self.at_once(&own);
            let mut read = read.iter();
            if !at_once.takes_driven(&own, &none)
                || !read.all(|port| at_once.is_known(port, &none, 0))
            {
                return false;
            }
        }
        let inputs = match view {
            View::Dynamic(ir::Control::Invoke(node)) => &node.inputs,
            View::Static(ir::StaticControl::Invoke(node)) => &node.inputs,
            _ => return true,
        };
        let outputs = match view {
            View::Dynamic(ir::Control::Invoke(node)) => &node.outputs,
            View::Static(ir::StaticControl::Invoke(node)) => &node.outputs,
            _ => return true,
        };
        let Some(cell) = view.invoked() else {
            return taken.is_empty();
        };
        for (name, from) in inputs {
            let Some(to) = cell.borrow().find(*name) else {
                return false;
            };
            own.push(Drive {
                to,
                from: from.clone(),
                when: When::Always,
            });
        }
        let at_once = self.at_once(&own);
        let given = outputs.iter().all(|(name, _)| {
            let port = cell.borrow().find(*name);
            port.is_some_and(|port| at_once.is_known(&port, &none, 0))
        });
        given && at_once.has_data(cell, &none)
    }
}

impl AtOnce<'_> {
    /// Whether everything is driven that these assignments hand to what keeps it, to control or to memories as an address.
    fn takes_driven(&self, drives: &[Drive], facts: &Facts) -> bool {
        drives.iter().all(|drive| self.takes(drive, facts))
    }

    fn takes(&self, drive: &Drive, facts: &Facts) -> bool {
        if drive.when.holds(facts) == Some(false) {
            return true;
        }
        if !self.is_decided(&drive.when, facts) {
            return false;
        }
        let facts = with(facts, &drive.when);
        let is_known = || self.is_known(&drive.from, &facts, 0);
        if drive.to.borrow().is_hole() {
            return is_known();
        }
        let cell = drive.to.borrow().cell_parent();
        if is_combinational(&cell) {
            return true;
        }
        let runs = drive.to.borrow().attributes.has(ir::NumAttr::Go) && !cell.borrow().is_this();
        let is_address =
            is_memory(&cell.borrow()) && drive.to.borrow().name.as_ref().starts_with("addr");
        let is_enabled = cell
            .borrow()
            .ports
            .iter()
            .any(|port| is_input(port) && port.borrow().attributes.has(ir::NumAttr::Go));
        // What an enable of the cell lets in is looked at with that.
        let is_let_in = is_enabled && is_data(&drive.to) && !is_address && !cell.borrow().is_this();
        if is_let_in && !self.own.is_empty() {
            return true;
        }
        if !is_known() {
            return false;
        }
        if !runs || drive.from.borrow().is_constant(0, 1) {
            return true;
        }
        let mut facts = facts;
        When::port(&drive.from).imply(true, &mut facts);
        self.has_data(&cell, &facts)
    }

    /// Whether a cell that starts to work has what it works with.
    fn has_data(&self, cell: &ir::RRC<ir::Cell>, facts: &Facts) -> bool {
        let cell = cell.borrow();
        let is_component = cell.is_component();
        let is_written = cell.find("write_en").is_none_or(|port| {
            let mut drives = self.by_port.get(&key(&port)).into_iter().flatten();
            drives.any(|drive| {
                let is_off = drive.when.holds(facts) == Some(false);
                !is_off && !drive.from.borrow().is_constant(0, 1)
            })
        });
        cell.ports.iter().filter(|port| is_data(port)).all(|port| {
            let needs = if is_component {
                // The rest is 0 where nobody drives it, whatever the pipeline.
                port.borrow().attributes.has(ir::BoolAttr::Data)
                    || self.by_port.contains_key(&key(port))
            } else {
                port.borrow().name != "write_data" || is_written
            };
            !needs || self.is_driven(port, facts, 0)
        })
    }

    /// Whether all is driven that a guard looks at.
    fn is_decided(&self, when: &When, facts: &Facts) -> bool {
        match when {
            When::Always => true,
            When::Atom(_, ports) => ports.iter().all(|port| self.is_known(port, facts, 0)),
            When::Not(inner) => self.is_decided(inner, facts),
            When::And(a, b) => self.is_decided(a, facts) && self.is_decided(b, &with(facts, a)),
            When::Or(a, b) => {
                let mut otherwise = facts.clone();
                a.imply(false, &mut otherwise);
                self.is_decided(a, facts) && self.is_decided(b, &otherwise)
            }
        }
    }

    /// Whether it is driven what a port gives.
    fn is_known(&self, port: &ir::RRC<ir::Port>, facts: &Facts, depth: usize) -> bool {
        let left = self.reader.left.get();
        // Deeper than all cells there are is a circle.
        if left == 0 || depth > 2 * self.reader.component.cells.len() {
            return false;
        }
        self.reader.left.set(left - 1);
        if port.borrow().is_hole() {
            return true;
        }
        let parent = port.borrow().cell_parent();
        let cell = parent.borrow();
        let inputs_are_driven = |of: &dyn Fn(&ir::RRC<ir::Port>) -> bool| {
            let inputs = cell.ports.iter().filter(|port| is_input(port) && of(port));
            inputs
                .into_iter()
                .all(|port| self.is_driven(port, facts, depth + 1))
        };
        match &cell.prototype {
            ir::CellType::Constant { .. } => true,
            ir::CellType::ThisComponent => {
                !is_input(port) || self.is_driven(port, facts, depth + 1)
            }
            ir::CellType::Component { name } => {
                let output = (*name, port.borrow().name);
                let known = self.reader.known;
                port.borrow().attributes.has(ir::NumAttr::Done)
                    || known.of_state.contains(&output)
                    || known.always.contains(&output) && inputs_are_driven(&is_data)
            }
            ir::CellType::Primitive { name, is_comb, .. } => {
                if *is_comb {
                    inputs_are_driven(&|_| true)
                } else if is_memory(&cell) {
                    port.borrow().attributes.has(ir::NumAttr::Done)
                        || inputs_are_driven(&|port| {
                            port.borrow().name.as_ref().starts_with("addr")
                        })
                } else {
                    name != "undef"
                }
            }
        }
    }

    /// Whether something drives a port, with what is driven itself, or it is 0 where nothing does.
    fn is_driven(&self, port: &ir::RRC<ir::Port>, facts: &Facts, depth: usize) -> bool {
        let Some(drives) = self.by_port.get(&key(port)) else {
            return is_zero_otherwise(port);
        };
        let mut open = None;
        for drive in drives {
            match drive.when.holds(facts) {
                Some(true) => return self.is_known(&drive.from, facts, depth + 1),
                Some(false) => {}
                None => open = open.or_else(|| drive.when.undecided(facts)),
            }
        }
        let Some((atom, ports)) = open else {
            return is_zero_otherwise(port);
        };
        let both = [true, false].into_iter();
        ports
            .iter()
            .all(|port| self.is_known(port, facts, depth + 1))
            && both.into_iter().all(|holds| {
                let mut facts = facts.clone();
                facts.insert(atom.clone(), holds);
                self.is_driven(port, &facts, depth + 1)
            })
    }
}
