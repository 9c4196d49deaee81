//! How often loops go round each time that they are entered, and how long their iterations take.
//!
//! An iteration begins with its body, and lasts until the next one begins, or the loop ends: the check that decides whether to go on
//! belongs to it. What comes before the first one, such as the first check, belongs to none. Calyx begins no iteration before the one before has
//! ended, so the length of an iteration is also the interval between the starts of two.
//!
//! Owns only the counting; [`Activations`](crate::activations::Activations) tells what begins and ends.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Component, ControlId, GroupRun, Id, Metadata};
use petal_reconstruct::{Again, Instance, InstanceId};
use serde::{Deserialize, Serialize};

use crate::durations::Durations;
use crate::elements::{Element, ElementId, ElementKind};
use crate::ledger::StatementId;

/// The iterations of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Iterations {
    /// How many there were each time that the loop was active: its `count` is of these times, the rest of iterations.
    pub each: Durations,
    /// How long they took.
    pub cycles: Durations,
    /// The same, by how long they took.
    pub lengths: BTreeMap<u64, Alike>,
}

/// Iterations of a loop that take equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Alike {
    /// How many there are.
    pub count: u64,
    /// The cycle in which the first of them begins.
    pub first: u64,
    /// That in which one begins that has about as many before it as after it.
    #[serde(default)]
    pub middle: u64,
    /// That in which the last of them begins.
    pub last: u64,
}

impl Alike {
    /// So many of this length, one after the other.
    fn new(cycles: u64, count: u64, first: u64) -> Self {
        let begins = |number: u64| first + cycles * number;
        Self {
            count,
            first,
            middle: begins(count / 2),
            last: begins(count.saturating_sub(1)),
        }
    }
}

impl Iterations {
    /// Adds those of another instance.
    fn merge(&mut self, other: &Self) {
        self.each.merge(&other.each);
        self.cycles.merge(&other.cycles);
        for (&cycles, alike) in &other.lengths {
            self.add_alike(cycles, *alike);
        }
    }

    /// Adds some of this length.
    fn add(&mut self, cycles: u64, alike: Alike) {
        self.cycles.add(cycles, alike.count);
        self.add_alike(cycles, alike);
    }

    /// Adds those of a part of the run that comes so often, every so many cycles.
    fn add_again(&mut self, all: &[(u64, Alike)], times: u64, every: u64) {
        let mut by_length: BTreeMap<u64, Vec<Alike>> = BTreeMap::new();
        for &(cycles, alike) in all {
            by_length.entry(cycles).or_default().push(alike);
        }
        for (cycles, all) in by_length {
            let each: u64 = all.iter().map(|new| new.count).sum();
            self.cycles.add(cycles, each * times);
            let alike = self.lengths.entry(cycles).or_insert(Alike {
                first: u64::MAX,
                ..Alike::default()
            });
            // As if they were added one after the other: the last one by which there were twice as many.
            let twice = 1 << (alike.count + each * times).ilog2();
            if alike.count < twice {
                let before = twice - alike.count - 1;
                let mut rest = before % each;
                let middle = all.iter().find(|new| {
                    let is_it = rest < new.count;
                    rest = rest.saturating_sub(new.count);
                    is_it
                });
                let middle = middle.map_or(0, |new| new.middle);
                alike.middle = middle + before / each * every;
            }
            alike.count += each * times;
            for new in all {
                alike.first = alike.first.min(new.first);
                alike.last = alike.last.max(new.last + (times - 1) * every);
            }
        }
    }

    fn add_alike(&mut self, cycles: u64, new: Alike) {
        let alike = self
            .lengths
            .entry(cycles)
            .or_insert(Alike { count: 0, ..new });
        let before = alike.count.checked_ilog2();
        alike.count += new.count;
        // Anew whenever there are twice as many, so that nobody has to remember them all.
        if alike.count.checked_ilog2() > before {
            alike.middle = new.middle;
        }
        alike.first = alike.first.min(new.first);
        alike.last = alike.last.max(new.last);
    }
}

/// The loops of a run so far.
#[derive(Debug)]
pub struct Loops<'a> {
    metadata: &'a Metadata,
    /// By the numbers of the elements.
    roles: Vec<Role>,
    ids: HashMap<(InstanceId, ControlId), usize>,
    all: Vec<Loop>,
}

/// What an element is to loops: one itself, the body of one, both or neither.
#[derive(Debug, Clone, Copy, Default)]
struct Role {
    is_loop: Option<usize>,
    body_of: Option<usize>,
}

/// What a loop does in one time of what comes again.
#[derive(Debug, Default)]
struct Time {
    /// The iterations that are over, and how long each took.
    iterations: Vec<(u64, Alike)>,
    /// The iterations before it.
    count: u64,
    /// Whether one begins.
    begins: bool,
}

/// A loop of an instance.
#[derive(Debug)]
struct Loop {
    instance: InstanceId,
    node: ControlId,
    /// Of its body, if the compiler fixed it: then iterations may follow one another without a break.
    latency: Option<u64>,
    is_active: bool,
    /// When its body became active.
    body: Option<u64>,
    /// When the iteration began that runs.
    began: Option<u64>,
    /// The iterations since the loop became active.
    count: u64,
    iterations: Iterations,
    /// In what comes again.
    again: Option<Time>,
}

impl Loop {
    fn begin(&mut self) {
        if !self.is_active {
            self.is_active = true;
            self.count = 0;
            self.began = None;
        }
    }

    fn begin_body(&mut self, now: u64) {
        self.begin();
        self.body = Some(now);
        self.begin_iteration(now, 1);
    }

    /// Begins so many iterations, the last one now.
    fn begin_iteration(&mut self, now: u64, count: u64) {
        if let Some(began) = self.began.replace(now) {
            self.add((now - began) / count, count, began);
        }
        self.count += count;
        if let Some(time) = &mut self.again {
            time.begins = true;
        }
    }

    fn add(&mut self, cycles: u64, count: u64, first: u64) {
        let alike = Alike::new(cycles, count, first);
        match &mut self.again {
            Some(time) => time.iterations.push((cycles, alike)),
            None => self.iterations.add(cycles, alike),
        }
    }

    fn end_body(&mut self, now: u64) {
        let Some(since) = self.body.take() else {
            return;
        };
        if let Some(latency) = self.latency {
            let more = (now - since).div_ceil(latency).saturating_sub(1);
            if more > 0 {
                self.begin_iteration(since + more * latency, more);
            }
        }
    }

    fn end(&mut self, now: u64, times: u64) {
        self.end_body(now);
        if let Some(began) = self.began.take() {
            self.add(now - began, 1, began);
        }
        if std::mem::take(&mut self.is_active) {
            self.iterations.each.add(self.count, times);
        }
    }

    /// Has taken in one time of what comes `again`, which begins in this cycle; what began in it did so in the last time.
    fn end_again(&mut self, start: u64, again: &Again) {
        let Some(time) = self.again.take() else {
            return;
        };
        let (times, every) = (again.times(), again.cycles());
        let later = (times - 1) * every;
        self.iterations.add_again(&time.iterations, times, every);
        self.count += self.count.saturating_sub(time.count) * (times - 1);
        if let Some(body) = self.body.as_mut().filter(|body| **body >= start) {
            *body += later;
        }
        if let Some(began) = self.began.as_mut().filter(|_| time.begins) {
            *began += later;
        }
    }
}

impl<'a> Loops<'a> {
    /// Counts in a run of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            roles: Vec::new(),
            ids: HashMap::new(),
            all: Vec::new(),
        }
    }

    /// Takes in the next element.
    pub fn learn(&mut self, element: Element, instances: &[Instance]) {
        let component = instances[element.instance.index()].component;
        let component = self.metadata.component(component);
        let mut role = Role::default();
        let statement = match element.kind {
            ElementKind::Control(node) => Some(node),
            // Of a group that the compiler split, the first part.
            ElementKind::Group(id) => {
                let run = component.run(id);
                let mut runs = component.runs.iter();
                let same = |of: &GroupRun| of.control == run.control && of.group == run.group;
                let is_first = run.part.is_none()
                    || runs.position(|of| of.part.is_some() && same(of)) == Some(id.index());
                run.control.filter(|_| run.role.is_body() && is_first)
            }
            ElementKind::Cell | ElementKind::Primitive(..) => None,
        };
        if let Some(node) = statement {
            let of = component.node(node);
            if of.kind.is_loop() {
                role.is_loop = Some(self.number(element.instance, node, component));
            }
            let is_own = of.kind.is_enable() == matches!(element.kind, ElementKind::Group(_));
            let parent = of
                .parent
                .filter(|&parent| component.node(parent).kind.is_loop());
            role.body_of = parent
                .filter(|_| is_own)
                .map(|parent| self.number(element.instance, parent, component));
        }
        self.roles.push(role);
    }

    fn number(&mut self, instance: InstanceId, node: ControlId, component: &Component) -> usize {
        let next = self.all.len();
        let number = *self.ids.entry((instance, node)).or_insert(next);
        if number == next {
            let latency = component
                .body(node)
                .and_then(|body| latency(component, body));
            self.all.push(Loop {
                instance,
                node,
                latency: latency.filter(|&latency| latency > 0),
                is_active: false,
                body: None,
                began: None,
                count: 0,
                iterations: Iterations::default(),
                again: None,
            });
        }
        number
    }

    /// Whether an element is a loop or the body of one.
    pub fn has_role(&self, id: ElementId) -> bool {
        let Role { is_loop, body_of } = self.roles[id];
        is_loop.is_some() || body_of.is_some()
    }

    /// An element becomes active.
    #[inline]
    pub fn begin(&mut self, id: ElementId, now: u64) {
        let Role { is_loop, body_of } = self.roles[id];
        if let Some(of) = body_of {
            self.all[of].begin_body(now);
        }
        if let Some(of) = is_loop {
            self.all[of].begin();
        }
    }

    /// Takes what begins and ends from now on for one time of what comes again.
    pub fn begin_again(&mut self) {
        for of in &mut self.all {
            of.again = Some(Time {
                count: of.count,
                ..Time::default()
            });
        }
    }

    /// That is over. It began in this cycle.
    pub fn end_again(&mut self, start: u64, again: &Again) {
        for of in &mut self.all {
            of.end_again(start, again);
        }
    }

    /// An element is active no more from now on, so often.
    #[inline]
    pub fn end(&mut self, id: ElementId, now: u64, times: u64) {
        let Role { is_loop, body_of } = self.roles[id];
        if let Some(of) = is_loop {
            self.all[of].end(now, times);
        }
        if let Some(of) = body_of {
            self.all[of].end_body(now);
        }
    }

    /// What was counted of each loop.
    pub fn all(&self) -> impl Iterator<Item = (InstanceId, ControlId, Iterations)> {
        let all = self.all.iter();
        all.map(|of| (of.instance, of.node, of.iterations.clone()))
    }

    /// Takes these counts for those of the events so far, which have named all elements. `None` if there is no such loop.
    pub fn restore(&mut self, all: &[(InstanceId, ControlId, Iterations)]) -> Option<()> {
        for of in &mut self.all {
            of.iterations = Iterations::default();
        }
        for (instance, node, iterations) in all {
            let number = *self.ids.get(&(*instance, *node))?;
            self.all[number].iterations = iterations.clone();
        }
        Some(())
    }
}

/// The latency of a statement, if the compiler fixed it.
fn latency(component: &Component, statement: ControlId) -> Option<u64> {
    let node = component.node(statement);
    if !node.kind.is_enable() {
        return node.latency;
    }
    let mut runs = component.runs.iter();
    let run = runs.find(|run| run.control == Some(statement) && run.role.is_body())?;
    run.latency.filter(|_| run.part.is_none())
}

/// What was counted of each loop, in all instances of its component together.
pub(crate) fn merged(
    all: impl Iterator<Item = (InstanceId, ControlId, Iterations)>,
    instances: &[Instance],
) -> BTreeMap<StatementId, Iterations> {
    let mut merged: BTreeMap<StatementId, Iterations> = BTreeMap::new();
    for (instance, node, iterations) in all {
        let component = instances[instance.index()].component;
        merged
            .entry((component, node))
            .or_default()
            .merge(&iterations);
    }
    merged
}
