//! Reads of ports that nothing drives: which ones a design may make, and in which cycles it does.
//!
//! A port of a primitive that its library calls `@data` may have any value in a cycle in which none of its assignments is active. That matters
//! if the value gets anywhere: through combinational cells and active assignments to what is stored at the clock's edge, or into the guard of
//! something that is. Each way there is an alternative of literals that are high together ([`Term`]); most alternatives need a driver of
//! the port to be active, and are left out, so that of a design without such reads hardly anything is left to observe.
//!
//! Knows nothing of groups: what reads is known by the cells without outputs that are driven whenever it is active.

mod guards;
mod joint;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

use petal_reconstruct::{Id as _, Signal, UndrivenRead, Value, ValueOp};

use super::{Driver, Elaborator, InstanceId, Latencies, PortId, UnitId};
use crate::error::Error;
use crate::program::{CellKind, Context, Operand, Program, Role};
use guards::{Guards, Literals};
use joint::Joint;
use ways::{Reader, Users, Ways, least};

/// The reads of undriven ports that a lowered program may make.
///
/// # Errors
/// [`Error::Unsupported`] for cells of primitives that are not the standard library's.
pub fn undriven(program: &Context, latencies: &Latencies) -> Result<Vec<UndrivenRead>, Error> {
    let program = Program::of(program);
    let (elaborator, main) = Elaborator::new(&program, latencies)?;
    let mut finder = Finder {
        elaborator: &elaborator,
        main,
        users: Users::new(&elaborator),
        guards: Guards::new(&elaborator),
        joint: Joint::new(&elaborator),
        found: Vec::new(),
    };
    elaborator
        .free_inputs()
        .for_each(|(unit, name, port)| finder.reads(unit, name, port));
    Ok(finder.found)
}

/// Finds the reads of ports.
struct Finder<'a> {
    elaborator: &'a Elaborator<'a>,
    main: InstanceId,
    users: Users<'a>,
    guards: Guards<'a>,
    joint: Joint<'a>,
    found: Vec<UndrivenRead>,
}

impl Finder<'_> {
    /// Adds the reads of a port, which is the input of this name of a unit.
    fn reads(&mut self, unit: UnitId, name: &str, port: PortId) {
        let guards = &mut self.guards;
        guards.is_beyond = false;
        guards.is_joint_beyond = false;
        let driver = self.elaborator.ports[port.index()].driver;
        let (drivers, value) = match driver {
            Driver::Assigned(instance, target) => {
                let alternatives = target.assignments.iter();
                let alternatives =
                    alternatives.flat_map(|(guard, _)| guards.alternatives(instance, guard, true));
                let alternatives: Vec<Literals> = alternatives.collect();
                let values = target.assignments.iter();
                let values = values.map(|(guard, _)| guards.value(instance, guard));
                (alternatives, values.reduce(or))
            }
            Driver::Nothing => (Vec::new(), None),
            Driver::Node(_) | Driver::Unit(..) => return,
        };
        // It is always driven.
        if drivers.iter().any(BTreeSet::is_empty) {
            return;
        }
        let joint = (&mut *guards, &mut self.joint);
        let mut ways = Ways::new(self.elaborator, joint, port, drivers, &self.users);
        ways.follow();
        ways.ended(self.main);
        let mut found = std::mem::take(&mut ways.found);
        let cell = &self.elaborator.units[unit.index()];
        let too_many = ways.are_too_many();
        let mut is_beyond = too_many || ways.guards.is_beyond;
        if too_many || ways.guards.is_joint_beyond {
            // Then not all who read it are known, and perhaps none.
            found.insert(ways.reader(cell.holder, port), BTreeSet::new());
        }
        let found = found.into_iter();
        let found = found.map(|(reader, ways)| (reader, least(ways.into_iter().collect())));
        let found: Vec<(Reader, Vec<Literals>)> = found.collect();
        is_beyond |= !guards.take_room(found.iter().flat_map(|(_, ways)| ways));
        for (reader, ways) in found {
            let holder = &self.elaborator.instances[reader.instance.index()];
            let undriven = value.clone().map_or(Value::Constant(1, 1), not);
            let ways = ways.iter().filter(|_| !is_beyond);
            let ways = ways.map(|way| guards.all_of(way)).reduce(or);
            let when = ways.map(|ways| and(undriven, ways));
            self.found.push(UndrivenRead {
                cell: Signal {
                    scope: self.elaborator.scope_of(cell.holder),
                    name: cell.cell.to_owned(),
                },
                port: name.to_owned(),
                when,
                reader: self.elaborator.scope_of(reader.instance),
                marks: reader.marks.to_vec(),
                takes: holder.component.ports[reader.takes].name.clone(),
            });
        }
    }
}

impl<'a> Elaborator<'a> {
    /// The inputs of units that may have any value while nothing drives them.
    fn free_inputs(&self) -> impl Iterator<Item = (UnitId, &'a str, PortId)> {
        // What passes make of control is driven by what passes know of it.
        let units = self.units.iter().enumerate();
        let units = units.filter(|(_, cell)| !cell.primitive.is_generated);
        units.flat_map(|(at, cell)| {
            let inputs = cell.inputs.iter().filter(|(name, _)| {
                let own = cell.ports.iter().find(|own| own.own_name == *name);
                own.is_some_and(|own| own.is_data)
            });
            inputs.map(move |&(name, port)| (UnitId::from_index(at), name, port))
        })
    }

    /// The inputs that an output of a unit is computed of in the same cycle, by their names.
    fn combinational(&self, unit: UnitId, output: &str) -> BTreeMap<&'a str, PortId> {
        let cell = &self.units[unit.index()];
        let comb = cell.unit.combs.iter().find(|comb| comb.output == output);
        let inputs = cell.inputs.iter().copied();
        let inputs = inputs.filter(|(name, _)| comb.is_some_and(|comb| comb.reads(name)));
        inputs.collect()
    }

    /// The Verilog instances down to this one, from the top of the simulation on.
    fn scope_of(&self, instance: InstanceId) -> Vec<String> {
        let path = self.instances[instance.index()].path.split('.');
        let path = path.map(str::to_owned);
        std::iter::once("toplevel".to_owned()).chain(path).collect()
    }

    /// The cells of an instance that have no output: the names of their inputs, each with what drives it.
    fn marks(&self, instance: InstanceId) -> impl Iterator<Item = (&str, Driver<'_>)> {
        let holder = &self.instances[instance.index()];
        holder.component.cells.iter().filter_map(|cell| {
            let CellKind::Primitive(_) = cell.kind else {
                return None;
            };
            let numbers = cell.first_port..cell.first_port + cell.ports;
            let own = &holder.component.ports[numbers];
            let [input] = own else { return None };
            let port = holder.ports[cell.first_port];
            let driver = self.ports[port.index()].driver;
            input.is_input.then_some((input.name.as_str(), driver))
        })
    }

    /// The port that an operand of an assignment is.
    fn port_of(&self, instance: InstanceId, operand: Operand) -> Option<PortId> {
        match operand {
            Operand::Port(at) => Some(self.instances[instance.index()].ports[at]),
            Operand::Constant(..) => None,
        }
    }

    /// The port by which the run of an instance ends.
    fn done_of(&self, instance: InstanceId) -> Option<PortId> {
        let instance = &self.instances[instance.index()];
        let mut signature = instance.component.ports[..instance.component.signature].iter();
        let at = signature.position(|port| port.role == Some(Role::Done))?;
        Some(instance.ports[at])
    }
}

fn and(one: Value, other: Value) -> Value {
    Value::Op(ValueOp::And, 1, vec![one, other])
}

fn or(one: Value, other: Value) -> Value {
    Value::Op(ValueOp::Or, 1, vec![one, other])
}

fn not(of: Value) -> Value {
    Value::Op(ValueOp::Not, 1, vec![of])
}
