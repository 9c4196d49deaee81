//! Whether a port may have any value because of something that nothing drives, whatever that is.
//!
//! Where two ports are undriven, neither alone may matter: of `a & b` both are 0 for the simulator, and each seems to decide that the other one does
//! not matter.

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::{Id as _, Value};

use super::guards::{Guards, Literals, size};
use super::{and, not, or};
use crate::elaborate::{Driver, Elaborator, InstanceId, PortId, UnitId};
use crate::program::{Guard, Operand, Target};

/// How many operations it may take to tell.
const MAX: usize = 1024;

/// What is known of one port.
struct Known {
    /// When it may have any value; `None` if it never may.
    when: Option<Value>,
    /// Whether that takes more than can be observed.
    is_beyond: bool,
}

/// What is known of all ports so far.
pub(super) struct Joint<'a> {
    elaborator: &'a Elaborator<'a>,
    /// The ports that may have any value while nothing drives them.
    is_free: Vec<bool>,
    known: HashMap<usize, Known>,
    /// The literals of guards, by their instances and addresses, which stay while the design is looked at.
    guards: HashMap<(usize, *const Guard), (Option<Literals>, bool)>,
}

impl<'a> Joint<'a> {
    pub fn new(elaborator: &'a Elaborator<'a>) -> Self {
        let mut is_free = vec![false; elaborator.ports.len()];
        for (_, _, port) in elaborator.free_inputs() {
            is_free[port.index()] = true;
        }
        Self {
            elaborator,
            is_free,
            known: HashMap::new(),
            guards: HashMap::new(),
        }
    }

    /// That a guard may be high or low, as a literal; `None` if it never may.
    pub fn literal(
        &mut self,
        guards: &mut Guards<'a>,
        instance: InstanceId,
        guard: &'a Guard,
    ) -> Option<Literals> {
        let key = (instance.index(), std::ptr::from_ref(guard));
        if !self.guards.contains_key(&key) {
            let (when, is_beyond) = apart(guards, |guards| self.guard(guards, instance, guard));
            let literal = when.map(|when| guards.literal(when, true));
            self.guards.insert(key, (literal, is_beyond));
        }
        let (literal, is_beyond) = &self.guards[&key];
        guards.is_joint_beyond |= is_beyond;
        literal.clone()
    }

    /// When a port may have any value.
    pub fn port(&mut self, guards: &mut Guards<'a>, port: PortId) -> Option<Value> {
        if !self.known.contains_key(&port.index()) {
            // What comes of it round a circle is not followed.
            let none = Known {
                when: None,
                is_beyond: true,
            };
            self.known.insert(port.index(), none);
            let (when, is_beyond) = apart(guards, |guards| self.computed(guards, port));
            let is_long = when.as_ref().is_some_and(|when| size(when) > MAX);
            let known = Known {
                when: when.filter(|_| !is_long),
                is_beyond: is_beyond || is_long,
            };
            self.known.insert(port.index(), known);
        }
        let known = &self.known[&port.index()];
        guards.is_joint_beyond |= known.is_beyond;
        known.when.clone()
    }

    fn computed(&mut self, guards: &mut Guards<'a>, port: PortId) -> Option<Value> {
        match self.elaborator.ports[port.index()].driver {
            Driver::Node(_) => None,
            Driver::Nothing => self.is_free[port.index()].then_some(Value::Constant(1, 1)),
            Driver::Unit(unit, output) => self.through(guards, unit, output),
            Driver::Assigned(instance, target) => self.assigned(guards, port, instance, target),
        }
    }

    /// When an output of a unit may.
    fn through(&mut self, guards: &mut Guards<'a>, unit: UnitId, output: &str) -> Option<Value> {
        let inputs = self.elaborator.combinational(unit, output);
        match &*self.elaborator.units[unit.index()].primitive.name {
            name @ ("std_and" | "std_or") => {
                let [left, right] = ["left", "right"].map(|side| inputs[side]);
                let sides = [left, right].map(|port| self.port(guards, port));
                either(sides, || {
                    [left, right].map(|port| {
                        let (value, is_high) = guards.differs(port, name == "std_and");
                        if is_high { value } else { not(value) }
                    })
                })
            }
            "std_mux" => {
                let condition = guards.port(inputs["cond"]);
                let sides = ["cond", "tru", "fal"];
                let [cond, then, otherwise] = sides.map(|name| self.port(guards, inputs[name]));
                let then = then.map(|then| and(condition.clone(), then));
                let otherwise = otherwise.map(|otherwise| and(not(condition), otherwise));
                any([cond, then, otherwise])
            }
            _ => any(inputs.into_values().map(|port| self.port(guards, port))),
        }
    }

    /// When a port with assignments may.
    fn assigned(
        &mut self,
        guards: &mut Guards<'a>,
        port: PortId,
        instance: InstanceId,
        target: &Target,
    ) -> Option<Value> {
        let mut all = Vec::new();
        for (guard, source) in &target.assignments {
            all.push(self.guard(guards, instance, guard));
            if let Some(source) = self.operand(guards, instance, *source) {
                all.push(Some(and(guards.value(instance, guard), source)));
            }
        }
        let is_always_driven = target
            .assignments
            .iter()
            .any(|(guard, _)| matches!(guard, Guard::True));
        if self.is_free[port.index()] && !is_always_driven {
            let driven = target.assignments.iter();
            let driven = driven.map(|(guard, _)| guards.value(instance, guard));
            all.push(Some(driven.reduce(or).map_or(Value::Constant(1, 1), not)));
        }
        any(all)
    }

    /// When a guard may be high or low.
    fn guard(
        &mut self,
        guards: &mut Guards<'a>,
        instance: InstanceId,
        guard: &Guard,
    ) -> Option<Value> {
        match guard {
            Guard::True => None,
            Guard::Not(inner) => self.guard(guards, instance, inner),
            Guard::Port(operand) => self.operand(guards, instance, *operand),
            Guard::Compare(_, left, right) => {
                let left = self.operand(guards, instance, *left);
                any([left, self.operand(guards, instance, *right)])
            }
            Guard::And(left, right) | Guard::Or(left, right) => {
                let sides = [left, right].map(|of| self.guard(guards, instance, of));
                let is_and = matches!(guard, Guard::And(..));
                either(sides, || {
                    [left, right].map(|of| {
                        let value = guards.value(instance, of);
                        if is_and { value } else { not(value) }
                    })
                })
            }
        }
    }

    fn operand(
        &mut self,
        guards: &mut Guards<'a>,
        instance: InstanceId,
        operand: Operand,
    ) -> Option<Value> {
        let port = self.elaborator.port_of(instance, operand)?;
        self.port(guards, port)
    }
}

/// When what two sides make may have any value; `leaves` tells when each leaves the other one the choice.
fn either(sides: [Option<Value>; 2], leaves: impl FnOnce() -> [Value; 2]) -> Option<Value> {
    if sides.iter().all(Option::is_none) {
        return None;
    }
    let mut leaves = leaves();
    for (leaves, side) in leaves.iter_mut().zip(&sides) {
        if let Some(side) = side {
            *leaves = or(leaves.clone(), side.clone());
        }
    }
    let ([left, right], [of_left, of_right]) = (sides, leaves);
    any([
        left.map(|left| and(left, of_right)),
        right.map(|right| and(right, of_left)),
    ])
}

/// What comes of something, and whether anything was left out of that, which is nothing of what was computed before.
fn apart<'a, T>(guards: &mut Guards<'a>, of: impl FnOnce(&mut Guards<'a>) -> T) -> (T, bool) {
    let before = [guards.is_beyond, guards.is_joint_beyond];
    (guards.is_beyond, guards.is_joint_beyond) = (false, false);
    let made = of(guards);
    let is_beyond = guards.is_beyond || guards.is_joint_beyond;
    [guards.is_beyond, guards.is_joint_beyond] = before;
    (made, is_beyond)
}

fn any(all: impl IntoIterator<Item = Option<Value>>) -> Option<Value> {
    all.into_iter().flatten().reduce(or)
}
