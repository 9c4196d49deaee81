//! The ways by which the value of a port gets somewhere in the same cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::Id as _;

use super::guards::{Guards, Literals, MAX, parts_of};
use super::joint::Joint;
use crate::elaborate::{Driver, Elaborator, InstanceId, PortId, UnitId};
use crate::program::{Guard, Operand, Role, Target};

/// How many ways there may be to a port.
const MAX_TERMS: usize = 4096;

/// How many alternatives a guard may have of which the value decides one.
const MAX_PARTS: usize = 512;

/// How many ways to an input and ways for it to be taken there may be together.
const MAX_PAIRS: usize = 1 << 18;

/// How many ways others are held against, to see whether they need more.
const SHORT: usize = 16;

/// How many literals of ways may be looked at for one port, and for all of them together.
const MAX_WORK: usize = 1 << 18;
pub(super) const MAX_WORK_OF_ALL: usize = 1 << 21;

/// The first assignment that takes the value of an undriven port, beside those that are always active.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reader {
    pub instance: InstanceId,
    /// The wires that are high whenever it is active.
    pub marks: Rc<[String]>,
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

/// The ways of these readers without those that need more than another one. As long as none reads, who does may depend on what a way needs.
fn shortest(mut terms: Vec<Term>) -> Vec<Term> {
    terms.sort();
    terms.dedup();
    let mut kept: Vec<Term> = Vec::new();
    let mut by_reader: BTreeMap<Reader, Vec<Literals>> = BTreeMap::new();
    for Term { literals, reader } in terms {
        match reader {
            Some(reader) => by_reader.entry(reader).or_default().push(literals),
            None => kept.push(Term { literals, reader }),
        }
    }
    for (reader, all) in by_reader {
        kept.extend(least(all).into_iter().map(|literals| Term {
            literals,
            reader: Some(reader.clone()),
        }));
    }
    kept
}

/// These literals without those that have some of the others and more: one of both holds if the shorter one does. Only a few of the shortest
/// are looked for, which is nearly all that there is to find.
pub(super) fn least(mut all: Vec<Literals>) -> Vec<Literals> {
    all.sort_by_key(Literals::len);
    let mut kept: Vec<Literals> = Vec::new();
    for of in all {
        let mut short = kept.iter().take(SHORT);
        if !short.any(|short| short.is_subset(&of)) {
            kept.push(of);
        }
    }
    kept
}

/// The ports that are computed of each, and the order in which ways are followed: what depends on a port comes after it, but on a circle.
pub(super) struct Users<'a> {
    of: Vec<Vec<PortId>>,
    ranks: Vec<usize>,
    is_on_circle: Vec<bool>,
    /// The units with each port among their inputs, and its name there.
    inputs: Vec<Vec<(UnitId, &'a str)>>,
}

impl<'a> Users<'a> {
    pub fn new(elaborator: &'a Elaborator<'a>) -> Self {
        let mut of = vec![Vec::new(); elaborator.ports.len()];
        for port in (0..elaborator.ports.len()).map(PortId::from_index) {
            for dependency in elaborator.dependencies(port) {
                of[dependency.index()].push(port);
            }
        }
        let mut ranks = vec![0; of.len()];
        let mut is_on_circle = vec![false; of.len()];
        for (rank, (ports, looped)) in elaborator.in_order().into_iter().enumerate() {
            for port in ports {
                ranks[port.index()] = rank + 1;
                is_on_circle[port.index()] = looped;
            }
        }
        let mut inputs = vec![Vec::new(); of.len()];
        for (at, unit) in elaborator.units.iter().enumerate() {
            for &(name, port) in &unit.inputs {
                inputs[port.index()].push((UnitId::from_index(at), name));
            }
        }
        Self {
            of,
            ranks,
            is_on_circle,
            inputs,
        }
    }

    /// Those of a port, by their ranks: on a circle first what nothing else is computed of, since what is found there need not be followed on.
    fn of(&self, port: PortId) -> impl Iterator<Item = (usize, usize)> {
        let users = self.of[port.index()].iter().map(|user| user.index());
        users.map(move |user| {
            let is_first = self.is_on_circle[port.index()] && self.of[user].is_empty();
            (if is_first { 0 } else { self.ranks[user] }, user)
        })
    }
}

/// The ways from one port.
pub(super) struct Ways<'a, 'b> {
    elaborator: &'a Elaborator<'a>,
    pub guards: &'b mut Guards<'a>,
    joint: &'b mut Joint<'a>,
    from: PortId,
    /// The ways for it to be driven, by the first literal of each.
    drivers: HashMap<(usize, bool), Vec<Literals>>,
    /// Those to each port that the value gets to.
    known: HashMap<usize, Rc<[Term]>>,
    users: &'b Users<'a>,
    /// Those by which it is stored or decides something.
    pub found: Found,
    /// Down to which number of literals that may still be looked at this port may go.
    least: usize,
}

impl<'a, 'b> Ways<'a, 'b> {
    pub fn new(
        elaborator: &'a Elaborator<'a>,
        (guards, joint): (&'b mut Guards<'a>, &'b mut Joint<'a>),
        from: PortId,
        drivers: Vec<Literals>,
        users: &'b Users<'a>,
    ) -> Self {
        let mut by_first: HashMap<_, Vec<_>> = HashMap::new();
        for driver in drivers {
            if let Some(&first) = driver.first() {
                by_first.entry(first).or_default().push(driver);
            }
        }
        let least = guards.work.get().saturating_sub(MAX_WORK);
        Self {
            elaborator,
            guards,
            joint,
            from,
            drivers: by_first,
            known: HashMap::from_iter([(from.index(), [Term::default()].into())]),
            users,
            found: Found::new(),
            least,
        }
    }

    /// Follows the value from port to port, round circles too, until no other way comes of it.
    pub fn follow(&mut self) {
        let mut waiting: BTreeSet<(usize, usize)> = self.users.of(self.from).collect();
        self.taken(self.from);
        while let Some((_, port)) = waiting.pop_first() {
            self.spend(1);
            let known = self.known.get(&port).map_or(0, |known| known.len());
            if port == self.from.index() || known >= MAX_TERMS || self.are_too_many() {
                continue;
            }
            let port = PortId::from_index(port);
            let terms = self.next(port);
            if terms[..] != self.to(port)[..] {
                self.known.insert(port.index(), terms);
                waiting.extend(self.users.of(port));
                self.taken(port);
            }
        }
    }

    /// Adds the ways by which units take the value from a port.
    fn taken(&mut self, port: PortId) {
        for &(unit, name) in &self.users.inputs[port.index()] {
            self.stored(unit, name);
        }
    }

    /// Counts what it takes to look at ways.
    fn spend(&self, literals: usize) {
        let left = self.guards.work.get().saturating_sub(literals + 1);
        self.guards.work.set(left);
    }

    /// Whether there are too many ways to look at all.
    pub fn are_too_many(&self) -> bool {
        self.guards.work.get() <= self.least
    }

    /// Adds the ways by which the value is taken through an input of a unit, whatever the unit makes of it then.
    fn stored(&mut self, unit: UnitId, name: &str) {
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
        self.find((port, cell.holder), &needs);
    }

    /// Adds the ways by which the value decides if the run ends.
    pub fn ended(&mut self, main: InstanceId) {
        if let Some(done) = self.elaborator.done_of(main) {
            self.find((done, main), &[Literals::new()]);
        }
    }

    fn find(&mut self, (port, holder): (PortId, InstanceId), needs: &[Literals]) {
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
                self.found.entry(reader).or_default().insert(term.literals);
            }
        }
    }

    /// Somebody in this instance who takes the value of one of its ports.
    pub fn reader(&self, instance: InstanceId, port: PortId) -> Reader {
        let own = &self.elaborator.instances[instance.index()].ports;
        Reader {
            instance,
            marks: Rc::default(),
            takes: own.iter().position(|of| *of == port).unwrap_or(0),
        }
    }

    /// The ways to a port, as far as they are known.
    fn to(&self, port: PortId) -> Rc<[Term]> {
        self.known.get(&port.index()).cloned().unwrap_or_default()
    }

    /// The ways to a port by those to the ports that it is computed of.
    fn next(&mut self, port: PortId) -> Rc<[Term]> {
        let terms = match self.elaborator.ports[port.index()].driver {
            Driver::Nothing | Driver::Node(_) => Vec::new(),
            Driver::Unit(unit, output) => self.through(unit, output),
            Driver::Assigned(instance, target) => self.assigned(instance, target),
        };
        let mut terms = shortest(terms);
        terms.retain(|term| !self.is_found(term));
        if terms.len() > MAX_TERMS {
            self.guards.is_beyond = true;
            terms.truncate(MAX_TERMS);
        }
        terms.into()
    }

    /// Whether no more comes of a way than what is found, wherever it leads.
    fn is_found(&self, term: &Term) -> bool {
        let found = term.reader.as_ref().and_then(|of| self.found.get(of));
        let mut found = found.into_iter().flatten().take(SHORT);
        found.any(|found| found.is_subset(&term.literals))
    }

    /// The ways through a combinational output of a unit.
    fn through(&mut self, unit: UnitId, output: &str) -> Vec<Term> {
        let inputs = self.elaborator.combinational(unit, output);
        match &*self.elaborator.units[unit.index()].primitive.name {
            name @ ("std_and" | "std_or") => {
                let sides = ["left", "right"].map(|side| {
                    let port = inputs[side];
                    let (value, is_high) = self.guards.differs(port, name == "std_and");
                    let mut leaves = vec![self.guards.literal(value, is_high)];
                    let joint = self.joint.port(self.guards, port);
                    leaves.extend(joint.map(|joint| self.guards.literal(joint, true)));
                    (self.to(port), leaves)
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

    /// The ways through the assignments of a port.
    fn assigned(&mut self, instance: InstanceId, target: &'a Target) -> Vec<Term> {
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
    fn guard(&mut self, instance: InstanceId, guard: &'a Guard) -> Vec<(Term, usize)> {
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
                    let mut leaves = self.guards.alternatives(instance, other, true);
                    leaves.extend(self.joint.literal(self.guards, instance, other));
                    for other in leaves {
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
                all.sort();
                all.dedup();
                self.few(&mut all);
                all
            }
            Guard::Or(..) => self.alternative(instance, guard),
        }
    }

    /// The ways by which the value decides one of several alternatives while no other one is high.
    fn alternative(&mut self, instance: InstanceId, guard: &'a Guard) -> Vec<(Term, usize)> {
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
        let mut leaves: Vec<Option<Vec<Literals>>> = vec![None; parts.len()];
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
                    ways.any(|way| {
                        self.spend(term.literals.len() + way.len());
                        self.guards.may_be(&(&term.literals | way))
                    })
                };
                if other == at || !terms.iter().any(may_be) {
                    continue;
                }
                // It is low, or has the value, too.
                if leaves[other].is_none() {
                    let mut all = vec![self.guards.whole(instance, part, false)];
                    all.extend(self.joint.literal(self.guards, instance, part));
                    all.extend(to[other].iter().map(|(term, _)| term.literals.clone()));
                    leaves[other] = Some(all);
                }
                let more = terms.iter().flat_map(|term| {
                    let leaves = leaves[other].iter().flatten();
                    leaves.filter_map(|leaves| self.extended(term, leaves))
                });
                terms = more.collect();
                self.few(&mut terms);
            }
            all.extend(terms.into_iter().map(|term| (term, *takes)));
        }
        all
    }

    /// Leaves out what there is too much of.
    fn few<T>(&mut self, all: &mut Vec<T>) {
        if all.len() > MAX {
            self.guards.is_beyond = true;
            all.truncate(MAX);
        }
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
    fn marks(&mut self, instance: InstanceId, active: &Literals) -> Rc<[String]> {
        let marks = self.guards.marks(instance);
        let marks = marks.iter().filter(|(_, ways)| {
            let mut ways = ways.iter();
            ways.any(|way| !way.is_empty() && way.is_subset(active))
        });
        marks.map(|(name, _)| name.clone()).collect()
    }

    /// The same way with more that has to hold; `None` if that can't be while nothing drives the port.
    fn extended(&self, term: &Term, more: &Literals) -> Option<Term> {
        if self.are_too_many() {
            return None;
        }
        self.spend(term.literals.len() + more.len());
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
