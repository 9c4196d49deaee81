//! Guards as alternatives of literals, and as values that can be observed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::{Id as _, Signal, Value, ValueOp};

use super::ways::MAX_WORK_OF_ALL;
use super::{and, not, or};
use crate::elaborate::{Driver, Elaborator, InstanceId, PortId};
use crate::program::{Comparison, Guard, Operand};

/// How many operations may be observed of one port, and of all of them together.
const MAX_OBSERVED: usize = 1 << 16;
const MAX_OBSERVED_OF_ALL: usize = 1 << 20;

/// How many alternatives something may have.
pub(super) const MAX: usize = 256;

/// How many alternatives are made of two guards that both have some.
const FEW: usize = 16;

/// What is high, or low, at once: atoms by their numbers.
pub(super) type Literals = BTreeSet<(usize, bool)>;

/// Cells by their names, with the ways for each to be driven.
type Marks = Rc<[(String, Vec<Literals>)]>;

/// The atoms of guards.
pub(super) struct Guards<'a> {
    elaborator: &'a Elaborator<'a>,
    /// The name of each port in the outermost instance that has it.
    names: Vec<Option<Signal>>,
    atoms: Vec<Value>,
    /// How many operations and operands each has.
    sizes: Vec<usize>,
    numbers: HashMap<Value, usize>,
    /// Whether something was left out.
    pub is_beyond: bool,
    /// Whether it was left out only where several undriven ports would matter together.
    pub is_joint_beyond: bool,
    /// The cells without outputs of each instance, with the ways for each to be driven.
    marks: HashMap<usize, Marks>,
    /// How many operations may still be observed.
    room: usize,
    /// How many literals may still be looked at.
    pub work: Cell<usize>,
}

impl<'a> Guards<'a> {
    pub fn new(elaborator: &'a Elaborator<'a>) -> Self {
        let mut names = vec![None; elaborator.ports.len()];
        for (at, instance) in elaborator.instances.iter().enumerate() {
            let scope = elaborator.scope_of(InstanceId::from_index(at));
            for (own, port) in instance.component.ports.iter().zip(&instance.ports) {
                names[port.index()].get_or_insert_with(|| Signal {
                    scope: scope.clone(),
                    name: own.name.clone(),
                });
            }
        }
        Self {
            elaborator,
            names,
            atoms: Vec::new(),
            sizes: Vec::new(),
            room: MAX_OBSERVED_OF_ALL,
            numbers: HashMap::new(),
            is_beyond: false,
            is_joint_beyond: false,
            marks: HashMap::new(),
            work: Cell::new(MAX_WORK_OF_ALL),
        }
    }

    /// The ways for a guard to be high, or low. Of a guard that has too many it is one way that it is.
    pub fn alternatives(
        &mut self,
        instance: InstanceId,
        guard: &Guard,
        is_high: bool,
    ) -> Vec<Literals> {
        match guard {
            Guard::True => constant(is_high),
            Guard::Not(inner) => self.alternatives(instance, inner, !is_high),
            Guard::And(left, right) | Guard::Or(left, right) => {
                let is_and = matches!(guard, Guard::And(..));
                let left = self.alternatives(instance, left, is_high);
                let right = self.alternatives(instance, right, is_high);
                if is_and == is_high && left.len() * right.len() <= FEW {
                    self.both(&left, &right)
                } else if is_and != is_high && left.len() + right.len() <= MAX {
                    few([left, right].concat())
                } else {
                    vec![self.whole(instance, guard, is_high)]
                }
            }
            Guard::Port(Operand::Constant(value, _)) => constant((value & 1 != 0) == is_high),
            Guard::Port(operand) => {
                let value = self.operand(instance, *operand);
                vec![self.literal(value, is_high)]
            }
            Guard::Compare(comparison, left, right) => {
                let (value, is_same) = self.compared(instance, *comparison, [*left, *right]);
                vec![self.literal(value, is_high == is_same)]
            }
        }
    }

    /// The cells without outputs of an instance, with the ways for each to be driven.
    pub fn marks(&mut self, instance: InstanceId) -> Marks {
        if let Some(known) = self.marks.get(&instance.index()) {
            return Rc::clone(known);
        }
        let elaborator = self.elaborator;
        let marks = elaborator.marks(instance).map(|(name, driver)| {
            let assigned = match driver {
                Driver::Assigned(instance, target) => Some((instance, target)),
                _ => None,
            };
            let ways = assigned.into_iter().flat_map(|(instance, target)| {
                let guards = target.assignments.iter();
                guards.map(move |(guard, _)| (instance, guard))
            });
            let ways = ways.flat_map(|(instance, guard)| self.alternatives(instance, guard, true));
            (name.to_owned(), ways.collect())
        });
        let marks: Marks = marks.collect();
        self.marks.insert(instance.index(), Rc::clone(&marks));
        marks
    }

    /// That a guard is high, or low, as one literal.
    pub fn whole(&mut self, instance: InstanceId, guard: &Guard, is_high: bool) -> Literals {
        let value = self.value(instance, guard);
        self.literal(value, is_high)
    }

    /// The ways for a port of one bit to be high, as its assignments tell.
    pub fn high(&mut self, port: PortId) -> Vec<Literals> {
        let Driver::Assigned(instance, target) = self.elaborator.ports[port.index()].driver else {
            let value = self.port(port);
            return vec![self.literal(value, true)];
        };
        let mut all = Vec::new();
        for (guard, source) in &target.assignments {
            let active = self.alternatives(instance, guard, true);
            let source = self.alternatives(instance, &Guard::Port(*source), true);
            all.extend(self.both(&active, &source));
        }
        few(all)
    }

    /// The ways for both to be.
    pub fn both(&self, left: &[Literals], right: &[Literals]) -> Vec<Literals> {
        let all = left
            .iter()
            .flat_map(|left| right.iter().map(move |right| left | right));
        few(all.filter(|all| self.may_be(all)).collect())
    }

    /// Whether literals don't contradict one another.
    pub fn may_be(&self, literals: &Literals) -> bool {
        let mut last = None;
        let mut numbers: HashMap<&Value, &Value> = HashMap::new();
        literals.iter().all(|&(atom, is_high)| {
            // Both literals of an atom are beside one another.
            if last.replace(atom) == Some(atom) {
                return false;
            }
            match &self.atoms[atom] {
                Value::Op(ValueOp::Eq, _, sides) if is_high => {
                    let [of, number @ Value::Constant(..)] = &sides[..] else {
                        return true;
                    };
                    *numbers.entry(of).or_insert(number) == number
                }
                _ => true,
            }
        })
    }

    /// A literal by itself.
    pub fn literal(&mut self, value: Value, is_high: bool) -> Literals {
        let next = self.atoms.len();
        let atom = *self.numbers.entry(value.clone()).or_insert(next);
        if atom == next {
            self.sizes.push(size(&value));
            self.atoms.push(value);
        }
        Literals::from([(atom, is_high)])
    }

    /// Whether all of these ways can be observed. What they take is taken.
    pub fn take_room<'w>(&mut self, ways: impl Iterator<Item = &'w Literals>) -> bool {
        let literals = ways.flatten();
        let needed: usize = literals.map(|(atom, _)| self.sizes[*atom] + 1).sum();
        let has_room = needed <= self.room.min(MAX_OBSERVED);
        if has_room {
            self.room -= needed;
        }
        has_room
    }

    /// Whether literals hold, as a value.
    pub fn all_of(&self, literals: &Literals) -> Value {
        let all = literals.iter().map(|&(atom, is_high)| {
            let value = self.atoms[atom].clone();
            if is_high { value } else { not(value) }
        });
        all.reduce(and).unwrap_or(Value::Constant(1, 1))
    }

    /// That a port has another value than all zeros, or all ones: what is high, or low, then.
    pub fn differs(&mut self, port: PortId, from_zeros: bool) -> (Value, bool) {
        let value = self.port(port);
        let width = value.width();
        if width == 1 {
            return (value, from_zeros);
        }
        let number = if from_zeros {
            0
        } else {
            u64::MAX >> (u64::BITS - width)
        };
        let sides = vec![value, Value::Constant(number, width)];
        (Value::Op(ValueOp::Eq, 1, sides), false)
    }

    /// A guard as a value.
    pub fn value(&mut self, instance: InstanceId, guard: &Guard) -> Value {
        match guard {
            Guard::True => Value::Constant(1, 1),
            Guard::Not(inner) => not(self.value(instance, inner)),
            Guard::And(left, right) => and(self.value(instance, left), self.value(instance, right)),
            Guard::Or(left, right) => or(self.value(instance, left), self.value(instance, right)),
            Guard::Port(operand) => self.operand(instance, *operand),
            Guard::Compare(comparison, left, right) => {
                let (value, is_same) = self.compared(instance, *comparison, [*left, *right]);
                if is_same { value } else { not(value) }
            }
        }
    }

    /// A comparison, and whether it is this one or its contrary.
    fn compared(
        &mut self,
        instance: InstanceId,
        comparison: Comparison,
        sides: [Operand; 2],
    ) -> (Value, bool) {
        let [left, right] = sides.map(|side| self.operand(instance, side));
        let width = left.width().max(right.width());
        let wide = |of: Value| match of {
            of if of.width() == width => of,
            Value::Constant(number, _) => Value::Constant(number, width),
            of => Value::Op(ValueOp::Pad, width, vec![of]),
        };
        let (left, right) = (wide(left), wide(right));
        let (op, sides, is_same) = match comparison {
            Comparison::Eq => (ValueOp::Eq, [left, right], true),
            Comparison::Neq => (ValueOp::Eq, [left, right], false),
            Comparison::Lt => (ValueOp::Lt, [left, right], true),
            Comparison::Gt => (ValueOp::Lt, [right, left], true),
            Comparison::Leq => (ValueOp::Lt, [right, left], false),
            Comparison::Geq => (ValueOp::Lt, [left, right], false),
        };
        (Value::Op(op, 1, sides.into()), is_same)
    }

    fn operand(&mut self, instance: InstanceId, operand: Operand) -> Value {
        match operand {
            Operand::Constant(value, width) => Value::Constant(value, width),
            Operand::Port(at) => self.port(self.elaborator.instances[instance.index()].ports[at]),
        }
    }

    /// The value of a port.
    pub fn port(&mut self, port: PortId) -> Value {
        let width = self.elaborator.ports[port.index()].width;
        match &self.names[port.index()] {
            Some(name) if width <= u64::BITS => Value::Signal(name.clone(), width),
            _ => {
                self.is_beyond = true;
                Value::Constant(0, 1)
            }
        }
    }
}

/// How many operations and operands there are in a value.
pub(super) fn size(of: &Value) -> usize {
    match of {
        Value::Op(_, _, operands) => 1 + operands.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn few(mut all: Vec<Literals>) -> Vec<Literals> {
    all.sort();
    all.dedup();
    all
}

fn constant(is_met: bool) -> Vec<Literals> {
    if is_met {
        vec![Literals::new()]
    } else {
        Vec::new()
    }
}

/// The alternatives that a guard is written as.
pub(super) fn parts_of(guard: &Guard) -> Vec<&Guard> {
    match guard {
        Guard::Or(left, right) => [parts_of(left), parts_of(right)].concat(),
        _ => vec![guard],
    }
}
