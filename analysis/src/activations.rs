//! How often and how long each node of a design was active.

use std::collections::BTreeMap;

use petal_metadata::{ControlId, Id, Metadata};
use petal_reconstruct::{Again, Event, Instance, InstanceId, TreeId};

use crate::elements::{Element, ElementKind, Elements};
use crate::intervals::Intervals;
use crate::iterations::{Iterations, Loops, merged};
use crate::ledger::StatementId;
use crate::waits::{Wait, Waits};

pub use crate::durations::Durations;

/// Counts activations along a trace.
///
/// An activation is an interval of cycles without a break. Two cases are finer: a group or statement that
/// the compiler made static with a latency of `n` cycles is activated anew every `n` cycles, and the
/// parts into which the compiler split a group make one activation together.
#[derive(Debug)]
pub struct Activations<'a> {
    metadata: &'a Metadata,
    intervals: Intervals,
    /// How each element is counted of `intervals`.
    elements: Vec<Counted>,
    /// The activations of split groups, by the group's first part.
    split: BTreeMap<Element, Split>,
    waits: Waits<'a>,
    loops: Loops<'a>,
    /// The tree of the last cycle.
    last: Option<TreeId>,
}

/// How an element is counted, and what was.
#[derive(Debug)]
struct Counted {
    counting: Counting,
    durations: Durations,
    /// Whether its intervals are activations, and that is all: most are.
    is_plain: bool,
}

/// How the intervals of an element are counted.
#[derive(Debug, Clone, Copy)]
pub enum Counting {
    /// Each is an activation.
    Once,
    /// Each is an activation every so many cycles.
    Latency(u64),
    /// It is a part of a split group, whose first part is this.
    Part(Element),
}

impl Counting {
    /// How those of this element are.
    pub fn of(metadata: &Metadata, instances: &[Instance], element: Element) -> Self {
        let component = metadata.component(instances[element.instance.index()].component);
        let latency = match element.kind {
            ElementKind::Group(id) => {
                let run = component.run(id);
                if run.part.is_some() {
                    return Self::Part(Element {
                        kind: ElementKind::Group(component.parts(id).0),
                        ..element
                    });
                }
                run.latency
            }
            ElementKind::Control(node) => component.node(node).latency,
            ElementKind::Cell | ElementKind::Primitive(..) => None,
        };
        match latency {
            Some(latency) if latency > 0 => Self::Latency(latency),
            _ => Self::Once,
        }
    }
}

#[derive(Debug, Default)]
struct Split {
    /// Cycles so far of the unfinished activation.
    unfinished: Option<u64>,
    durations: Durations,
}

impl Split {
    fn finish(&mut self, times: u64) {
        if let Some(cycles) = self.unfinished.take() {
            self.durations.add(cycles, times);
        }
    }
}

impl<'a> Activations<'a> {
    /// Counts in a trace of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            intervals: Intervals::default(),
            elements: Vec::new(),
            split: BTreeMap::new(),
            waits: Waits::new(metadata),
            loops: Loops::new(metadata),
            last: None,
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        self.take(event, 1);
    }

    /// Takes in what comes again: what was active at its beginning and its end has the same ages in each time, so all times count what
    /// the first one does.
    pub fn again(&mut self, again: &Again) {
        let Some(start) = again.runs().next().map(|run| run.start.cycles()) else {
            return;
        };
        let unfinished = |split: &Split| split.unfinished.unwrap_or(0);
        let splits: Vec<u64> = self.split.values().map(unfinished).collect();
        self.loops.begin_again();
        for run in again.runs() {
            self.take(&Event::Run(run), again.times());
        }
        let more = again.times() - 1;
        for (split, before) in self.split.values_mut().zip(splits) {
            if let Some(cycles) = &mut split.unfinished {
                *cycles += cycles.saturating_sub(before) * more;
            }
        }
        let later = more * again.cycles();
        self.intervals.later(start, later);
        self.waits.later(start, later);
        self.loops.end_again(start, again);
    }

    /// Takes in an event that comes so often.
    fn take(&mut self, event: &Event, times: u64) {
        if let Event::Run(run) = event {
            self.last = Some(run.tree);
        }
        if let Some((transition, now)) = self.intervals.event(event) {
            for &id in &self.intervals.transition(transition).closes {
                let cycles = now.cycles() - self.intervals.since(id).cycles();
                let counted = &mut self.elements[id];
                if counted.is_plain {
                    counted.durations.add(cycles, times);
                    continue;
                }
                self.waits.end(id, cycles, now.cycles());
                self.loops.end(id, now.cycles(), times);
                let durations = &mut counted.durations;
                match counted.counting {
                    Counting::Once => durations.add(cycles, times),
                    Counting::Latency(latency) => {
                        durations.add(latency, cycles / latency * times);
                        let rest = cycles % latency;
                        durations.add(rest, u64::from(rest > 0) * times);
                    }
                    Counting::Part(first) => {
                        let split = self.split.entry(first).or_default();
                        if self.intervals.elements().all()[id] == first {
                            split.finish(times);
                        }
                        *split.unfinished.get_or_insert(0) += cycles;
                    }
                }
            }
            self.waits.settle(times);
            for &id in &self.intervals.transition(transition).opens {
                if !self.elements[id].is_plain {
                    self.loops.begin(id, now.cycles());
                }
            }
        }
        for at in self.elements.len()..self.intervals.elements().all().len() {
            let element = self.intervals.elements().all()[at];
            let instances = self.intervals.elements().instances();
            let counting = Counting::of(self.metadata, instances, element);
            self.waits.learn(element, instances);
            self.loops.learn(element, instances);
            let has_role = self.waits.has_role(at) || self.loops.has_role(at);
            self.elements.push(Counted {
                is_plain: matches!(counting, Counting::Once) && !has_role,
                counting,
                durations: Durations::default(),
            });
        }
        if matches!(event, Event::End { .. }) {
            self.split.values_mut().for_each(|split| split.finish(1));
        }
    }

    /// Everything that was active.
    pub fn elements(&self) -> &Elements {
        self.intervals.elements()
    }

    /// The durations of everything that was active, in a fixed order. The parts of a split group
    /// are under its first part.
    pub fn durations(&self) -> impl Iterator<Item = (Element, Durations)> {
        let plain = self.intervals.elements().all().iter().zip(&self.elements);
        let all: BTreeMap<Element, Durations> = plain
            .map(|(&element, counted)| (element, counted.durations))
            .chain(
                self.split
                    .iter()
                    .map(|(&element, split)| (element, split.durations)),
            )
            .filter(|(_, durations)| durations.count > 0)
            .collect();
        all.into_iter()
    }

    /// Whether an element was active in the last cycle.
    pub fn is_unfinished(&self, element: Element) -> bool {
        let elements = self.intervals.elements();
        let id = elements.id(element);
        id.is_some_and(|id| elements.of(self.last).binary_search(&id).is_ok())
    }

    /// What the arms of each `par` waited for its slowest one, in all instances of its component together.
    pub fn waits(&self) -> BTreeMap<StatementId, Wait> {
        let mut waits: BTreeMap<StatementId, Wait> = BTreeMap::new();
        let instances = self.intervals.elements().instances();
        for (instance, par, wait) in self.waits.all() {
            let component = instances[instance.index()].component;
            waits.entry((component, par)).or_default().merge(wait);
        }
        waits
    }

    /// What each `par` waited, in each instance.
    pub fn all_waits(&self) -> impl Iterator<Item = (InstanceId, ControlId, &Wait)> {
        self.waits.all()
    }

    /// The iterations of each loop, in all instances of its component together.
    pub fn iterations(&self) -> BTreeMap<StatementId, Iterations> {
        merged(self.loops.all(), self.intervals.elements().instances())
    }

    /// The iterations of each loop, in each instance.
    pub fn all_iterations(&self) -> impl Iterator<Item = (InstanceId, ControlId, Iterations)> {
        self.loops.all()
    }

    /// Takes these counts for those of the events so far, which have named all elements. `None` if there is no such element.
    pub fn restore(
        &mut self,
        durations: &[(Element, Durations)],
        waits: &[(InstanceId, ControlId, Wait)],
        iterations: &[(InstanceId, ControlId, Iterations)],
        last: Option<TreeId>,
    ) -> Option<()> {
        self.last = last;
        for counted in &mut self.elements {
            counted.durations = Durations::default();
        }
        self.split.clear();
        for &(element, durations) in durations {
            let id = self.intervals.elements().id(element)?;
            let counted = &mut self.elements[id];
            match &counted.counting {
                Counting::Once | Counting::Latency(_) => counted.durations = durations,
                Counting::Part(first) => {
                    let split = self.split.entry(*first).or_default();
                    split.durations = durations;
                }
            }
        }
        self.loops.restore(iterations)?;
        self.waits.restore(waits)
    }

    /// The cycle in which the latest interval of an element began; 0 if there is none.
    pub fn since(&self, element: Element) -> u64 {
        let id = self.intervals.elements().id(element);
        id.map_or(0, |id| self.intervals.since(id).cycles())
    }

    /// The component of an element's instance.
    pub fn component_of(&self, element: Element) -> petal_metadata::ComponentId {
        self.intervals.elements().instances()[element.instance.index()].component
    }
}
