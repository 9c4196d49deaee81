//! The ways by which the value of a port gets somewhere in the same cycle.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use petal_reconstruct::{Id as _, Value, ValueOp};

use super::guards::{Guards, Literals, MAX, parts_of};
use crate::elaborate::{Driver, Elaborator, InstanceId, PortId, UnitId};
use crate::program::{Guard, Operand, Role, Target};

/// How many ways there may be to a port.
const MAX_TERMS: usize = 4096;

/// How many alternatives a guard may have of which the value decides one.
const MAX_PARTS: usize = 512;

/// How many ways to an input and ways for it to be taken there may be together.
const MAX_PAIRS: usize = 1 << 18;

/// How many ways may be looked at for one port, and for all of them together.
const MAX_WORK: usize = 1 << 17;
pub(super) const MAX_WORK_OF_ALL: usize = 1 << 22;

/// The first assignment that takes the value of an undriven port, beside those that are always active.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reader {
    pub instance: InstanceId,
    /// The wires that are high whenever it is active.
    pub marks: Vec<String>,
    /// What it takes, as a number of the component's ports.
    pub takes: usize,
}

/// A way by which the value gets to a port: what has to be high or low for it, and who takes it first.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    literals: Literals,
    reader: Option<Reader>,
}

/// The ways by which the value is stored or decides something, by who reads it.
pub(super) type Found = BTreeMap<Reader, BTreeSet<Literals>>;

/// The ways from one port.
pub(super) struct Ways<'a, 'b> {
    elaborator: &'a Elaborator<'a>,
    pub guards: &'b mut Guards<'a>,
    from: PortId,
    /// The ways for it to be driven, by the first literal of each.
    drivers: BTreeMap<(usize, bool), Vec<Literals>>,
    /// The ports that may depend on it.
    cone: HashSet<usize>,
    known: HashMap<usize, Rc<[Term]>>,
    /// Down to which number of ways that may still be looked at this port may go.
    least: usize,
}

impl<'a, 'b> Ways<'a, 'b> {
    pub fn new(
        elaborator: &'a Elaborator<'a>,
        guards: &'b mut Guards<'a>,
        from: PortId,
        drivers: Vec<Literals>,
        cone: HashSet<usize>,
    ) -> Self {
        let mut by_first: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for driver in drivers {
            if let Some(&first) = driver.first() {
                by_first.entry(first).or_default().push(driver);
            }
        }
        let least = guards.work.get().saturating_sub(MAX_WORK);
        Self {
            elaborator,
            guards,
            from,
            drivers: by_first,
            cone,
            known: HashMap::new(),
            least,
        }
    }

    /// Whether there are too many ways to look at all.
    pub fn are_too_many(&self) -> bool {
        self.guards.work.get() <= self.least
    }

    /// The ports that may depend on it, in their order.
    pub fn ports(&self) -> Vec<PortId> {
        let ports: BTreeSet<usize> = self.cone.iter().copied().collect();
        ports.into_iter().map(PortId::from_index).collect()
    }

    /// Adds the ways by which the value is taken through an input of a unit, whatever the unit makes of it then.
    pub fn stored(&mut self, unit: UnitId, name: &str, found: &mut Found) {
        let cell = &self.elaborator.units[unit.index()];
        let role = |name: &str| {
            let own = cell.ports.iter().find(|own| own.own_name == name);
            own.and_then(|own| own.role)
        };
        let input = |wanted: &str| {
            let mut inputs = cell.inputs.iter();
            inputs.find(|(name, _)| *name == wanted).map(|of| of.1)
        };
        let mut inputs = cell.inputs.iter();
        let start = inputs.find(|(name, _)| role(name) == Some(Role::Go));
        let (Some(port), Some(&(start, starts))) = (input(name), start) else {
            return;
        };
        if matches!(role(name), Some(Role::Clock | Role::Reset)) {
            return;
        }
        // Whether it starts always matters, all else only when it does.
        let mut needs = vec![Literals::new()];
        if name != start {
            let writes = input("write_en").filter(|_| name == "write_data");
            for enable in [Some(starts), writes].into_iter().flatten() {
                let enable = self.guards.high(enable);
                needs = self.guards.both(&needs, &enable);
            }
        }
        self.found((port, cell.holder), &needs, found);
    }

    /// Adds the ways by which the value decides if the run ends.
    pub fn ended(&mut self, main: InstanceId, found: &mut Found) {
        if let Some(done) = self.elaborator.done_of(main) {
            self.found((done, main), &[Literals::new()], found);
        }
    }

    fn found(
        &mut self,
        (port, holder): (PortId, InstanceId),
        needs: &[Literals],
        found: &mut Found,
    ) {
        let to = self.to(port);
        if to.len() * needs.len() > MAX_PAIRS {
            self.guards.is_beyond = true;
            return;
        }
        for term in &*to {
            for need in needs {
                let Some(term) = self.extended(term, need) else {
                    continue;
                };
                let reader = match term.reader {
                    Some(reader) => reader,
                    None => Reader {
                        marks: self.marks(holder, &term.literals),
                        ..self.reader(holder, port)
                    },
                };
                found.entry(reader).or_default().insert(term.literals);
            }
        }
    }

    /// Somebody in this instance who takes the value of one of its ports.
    pub fn reader(&self, instance: InstanceId, port: PortId) -> Reader {
        let own = &self.elaborator.instances[instance.index()].ports;
        Reader {
            instance,
            marks: Vec::new(),
            takes: own.iter().position(|of| *of == port).unwrap_or(0),
        }
    }

    /// The ways to a port.
    fn to(&mut self, port: PortId) -> Rc<[Term]> {
        if port == self.from {
            return Rc::new([Term::default()]);
        }
        if !self.cone.contains(&port.index()) {
            return Rc::default();
        }
        if let Some(known) = self.known.get(&port.index()) {
            return Rc::clone(known);
        }
        // On a circle nothing more comes of it.
        self.known.insert(port.index(), Rc::default());
        let mut terms = match self.elaborator.ports[port.index()].driver {
            Driver::Nothing | Driver::Node(_) => Vec::new(),
            Driver::Unit(unit, output) => self.through(unit, output),
            Driver::Assigned(instance, target) => self.assigned(instance, target),
        };
        terms.sort();
        terms.dedup();
        if terms.len() > MAX_TERMS {
            self.guards.is_beyond = true;
            terms.truncate(MAX_TERMS);
        }
        let terms: Rc<[Term]> = terms.into();
        self.known.insert(port.index(), Rc::clone(&terms));
        terms
    }

    /// The ways through a combinational output of a unit.
    fn through(&mut self, unit: UnitId, output: &str) -> Vec<Term> {
        let cell = &self.elaborator.units[unit.index()];
        let comb = cell.unit.combs.iter().find(|comb| comb.output == output);
        let inputs = cell.inputs.iter().copied();
        let inputs = inputs.filter(|(name, _)| comb.is_some_and(|comb| comb.reads(name)));
        let inputs: BTreeMap<&str, PortId> = inputs.collect();
        match &*cell.primitive.name {
            "std_and" | "std_or" => {
                let sides = ["left", "right"].map(|name| {
                    let port = inputs[name];
                    let decides = self.differs(port, cell.primitive.name == "std_and");
                    (self.to(port), vec![decides])
                });
                self.either(&sides)
            }
            "std_mux" => {
                let condition = self.guards.port(inputs["cond"]);
                let mut terms = self.to(inputs["cond"]).to_vec();
                for (name, is_high) in [("tru", true), ("fal", false)] {
                    let chosen = self.guards.literal(condition.clone(), is_high);
                    let to = self.to(inputs[name]);
                    terms.extend(to.iter().filter_map(|term| self.extended(term, &chosen)));
                }
                terms
            }
            _ => {
                let ports = inputs.into_values();
                ports.flat_map(|port| self.to(port).to_vec()).collect()
            }
        }
    }

    /// The ways through an operation of which one side may decide alone: those to a side while the other one leaves it the choice, or
    /// has the value, too.
    fn either(&self, sides: &[(Rc<[Term]>, Vec<Literals>); 2]) -> Vec<Term> {
        let [(left, left_leaves), (right, right_leaves)] = sides;
        let mut terms = Vec::new();
        for (to, leaves) in [(left, right_leaves), (right, left_leaves)] {
            for term in &**to {
                terms.extend(leaves.iter().filter_map(|of| self.extended(term, of)));
            }
        }
        for one in &**left {
            let others = right.iter();
            terms.extend(others.filter_map(|other| self.extended(one, &other.literals)));
        }
        terms
    }

    /// That a port has another value than all zeros, or all ones.
    fn differs(&mut self, port: PortId, from_zeros: bool) -> Literals {
        let value = self.guards.port(port);
        let width = value.width();
        if width == 1 {
            return self.guards.literal(value, from_zeros);
        }
        let number = if from_zeros {
            0
        } else {
            u64::MAX >> (u64::BITS - width)
        };
        let sides = vec![value, Value::Constant(number, width)];
        self.guards.literal(Value::Op(ValueOp::Eq, 1, sides), false)
    }

    /// The ways through the assignments of a port.
    fn assigned(&mut self, instance: InstanceId, target: &Target) -> Vec<Term> {
        let mut terms = Vec::new();
        for (guard, source) in &target.assignments {
            let mut read = self.guard(instance, guard);
            if let Operand::Port(takes) = *source {
                let to = self.operand(instance, *source);
                if !to.is_empty() {
                    let active = self.guards.alternatives(instance, guard, true);
                    let active = active.iter().flat_map(|active| {
                        let to = to.iter();
                        to.filter_map(|term| Some((self.extended(term, active)?, takes)))
                    });
                    read.extend(active);
                }
            }
            for (term, takes) in read {
                let reader = match term.reader {
                    Some(reader) => Some(reader),
                    None => {
                        let marks = self.marks(instance, &term.literals);
                        (!marks.is_empty()).then_some(Reader {
                            instance,
                            marks,
                            takes,
                        })
                    }
                };
                terms.push(Term {
                    literals: term.literals,
                    reader,
                });
            }
        }
        terms
    }

    /// The ways by which the value decides a guard, each with the port by which the guard reads it.
    fn guard(&mut self, instance: InstanceId, guard: &Guard) -> Vec<(Term, usize)> {
        match guard {
            Guard::True => Vec::new(),
            Guard::Not(inner) => self.guard(instance, inner),
            Guard::Port(operand) => self.read_by(instance, *operand),
            Guard::Compare(_, left, right) => {
                let left = self.read_by(instance, *left);
                [left, self.read_by(instance, *right)].concat()
            }
            Guard::And(left, right) => {
                let to_left = self.guard(instance, left);
                let to_right = self.guard(instance, right);
                let mut all = Vec::new();
                for (to, other) in [(&to_left, right), (&to_right, left)] {
                    if to.is_empty() {
                        continue;
                    }
                    for other in self.guards.alternatives(instance, other, true) {
                        let terms = to.iter();
                        all.extend(terms.filter_map(|(term, takes)| {
                            Some((self.extended(term, &other)?, *takes))
                        }));
                    }
                }
                for (one, takes) in &to_left {
                    let others = to_right.iter();
                    all.extend(others.filter_map(|(other, _)| {
                        Some((self.extended(one, &other.literals)?, *takes))
                    }));
                }
                all
            }
            Guard::Or(..) => self.alternative(instance, guard),
        }
    }

    /// The ways by which the value decides one of several alternatives while no other one is high.
    fn alternative(&mut self, instance: InstanceId, guard: &Guard) -> Vec<(Term, usize)> {
        let parts = parts_of(guard);
        let to: Vec<_> = parts.iter().map(|of| self.guard(instance, of)).collect();
        if to.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        if parts.len() > MAX_PARTS {
            self.guards.is_beyond = true;
            return Vec::new();
        }
        let high = parts
            .iter()
            .map(|of| self.guards.alternatives(instance, of, true));
        let high: Vec<Vec<Literals>> = high.collect();
        let mut all = Vec::new();
        for (at, (term, takes)) in to
            .iter()
            .enumerate()
            .flat_map(|(at, to)| to.iter().map(move |of| (at, of)))
        {
            let mut terms = vec![term.clone()];
            for (other, part) in parts.iter().enumerate() {
                // Most alternatives of compiled control exclude one another.
                let may_be = |term: &Term| {
                    let mut ways = high[other].iter();
                    ways.any(|way| self.guards.may_be(&(&term.literals | way)))
                };
                if other == at || !terms.iter().any(may_be) {
                    continue;
                }
                // It is low, or has the value, too.
                let mut leaves = vec![self.guards.whole(instance, part, false)];
                leaves.extend(to[other].iter().map(|(term, _)| term.literals.clone()));
                let more = terms.iter().flat_map(|term| {
                    let leaves = leaves.iter();
                    leaves.filter_map(|leaves| self.extended(term, leaves))
                });
                terms = more.collect();
                if terms.len() > MAX {
                    self.guards.is_beyond = true;
                    terms.truncate(MAX);
                }
            }
            all.extend(terms.into_iter().map(|term| (term, *takes)));
        }
        all
    }

    fn operand(&mut self, instance: InstanceId, operand: Operand) -> Rc<[Term]> {
        let port = self.elaborator.port_of(instance, operand);
        port.map(|port| self.to(port)).unwrap_or_default()
    }

    fn read_by(&mut self, instance: InstanceId, operand: Operand) -> Vec<(Term, usize)> {
        let Operand::Port(takes) = operand else {
            return Vec::new();
        };
        let to = self.operand(instance, operand);
        to.iter().map(|term| (term.clone(), takes)).collect()
    }

    /// The cells without outputs that are driven whenever these literals hold.
    fn marks(&mut self, instance: InstanceId, active: &Literals) -> Vec<String> {
        let mut marks = Vec::new();
        for (name, driver) in self.elaborator.marks(instance) {
            let Driver::Assigned(instance, target) = driver else {
                continue;
            };
            let is_driven = target.assignments.iter().any(|(guard, _)| {
                let ways = self.guards.alternatives(instance, guard, true);
                let mut ways = ways.iter();
                ways.any(|way| !way.is_empty() && way.is_subset(active))
            });
            if is_driven {
                marks.push(name.to_owned());
            }
        }
        marks
    }

    /// The same way with more that has to hold; `None` if that can't be while nothing drives the port.
    fn extended(&self, term: &Term, more: &Literals) -> Option<Term> {
        if self.are_too_many() {
            return None;
        }
        self.guards.work.set(self.guards.work.get() - 1);
        let literals = &term.literals | more;
        let drivers = literals.iter().filter_map(|of| self.drivers.get(of));
        let mut drivers = drivers.flatten();
        let is_driven = drivers.any(|driver| driver.is_subset(&literals));
        (!is_driven && self.guards.may_be(&literals)).then(|| Term {
            literals,
            reader: term.reader.clone(),
        })
    }
}
