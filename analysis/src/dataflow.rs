//! How long a run takes at least if its groups wait for nothing but the values that they take: the longest chain of runs of groups, each of which
//! takes what the one before has set.
//!
//! Owns this chain. Only what is sure makes one group wait for another, so it may well be shorter than any program can be: what is in memories,
//! what a guard decides and what goes through the ports of component cells does not count, nor do conditions. A run of a group counts as long as
//! the shortest one, and as one cycle where runs are not told apart.

use std::collections::BTreeMap;

use foldhash::HashMap;
use petal_metadata::{Flows, Id as _, Metadata};
use petal_reconstruct::{Event, InstanceId};

use crate::activations::Activations;
use crate::control::Counts;
use crate::elements::{Element, ElementId, ElementKind};
use crate::intervals::Intervals;

/// A register of a component cell.
type Register = usize;

/// What one element does.
#[derive(Debug)]
struct Actor {
    reads: Vec<Register>,
    writes: Vec<(Register, bool)>,
    /// How long each run takes; `None` if it is a part of a run, of which nothing is known.
    cycles: Option<u64>,
    /// When the values were there that the run takes which goes on.
    ready: u64,
}

/// Follows a trace. Memory grows with the number of groups and of different changes from one call tree to another.
#[derive(Debug)]
pub struct Dataflow<'a> {
    metadata: &'a Metadata,
    flows: &'a Flows,
    cycles: BTreeMap<Element, u64>,
    intervals: Intervals,
    numbers: HashMap<(InstanceId, String), Register>,
    /// When each register has been set.
    set: Vec<u64>,
    actors: Vec<Option<Actor>>,
    longest: u64,
}

impl<'a> Dataflow<'a> {
    /// Of a trace of this design, before its first event; `activations` are those of the same run.
    #[must_use]
    pub fn new(metadata: &'a Metadata, flows: &'a Flows, activations: &Activations<'_>) -> Self {
        let counts = Counts::by(metadata, activations, |element| element.instance);
        let instances = activations.elements().instances();
        let component = |element: Element| instances[element.instance.index()].component;
        let durations = activations.durations().filter_map(|(element, durations)| {
            let ElementKind::Group(run) = element.kind else {
                return None;
            };
            let run = metadata.component(component(element)).run(run);
            let of = run.control?;
            let is_each_seen = run.latency.is_some()
                || counts.times(element.instance, of) == Some(durations.count);
            Some((element, if is_each_seen { durations.min } else { 1 }))
        });
        Self {
            metadata,
            flows,
            cycles: durations.collect(),
            intervals: Intervals::default(),
            numbers: HashMap::default(),
            set: Vec::new(),
            actors: Vec::new(),
            longest: 0,
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        if let Some((transition, _)) = self.intervals.event(event) {
            let transition = self.intervals.transition(transition);
            for &id in &transition.closes {
                let Some(actor) = &self.actors[id] else {
                    continue;
                };
                let end = actor.cycles.map_or(0, |cycles| actor.ready + cycles);
                self.longest = self.longest.max(end);
                for &(register, is_sure) in &actor.writes {
                    let set = &mut self.set[register];
                    *set = if is_sure { end } else { end.min(*set) };
                }
            }
            for &id in &transition.opens {
                if let Some(actor) = &mut self.actors[id] {
                    let ready = actor.reads.iter().map(|&register| self.set[register]);
                    actor.ready = ready.max().unwrap_or(0);
                }
            }
        }
        for id in self.actors.len()..self.intervals.elements().all().len() {
            let actor = self.actor(id);
            self.actors.push(actor);
        }
    }

    /// What an element does, if it is a group of the source.
    fn actor(&mut self, id: ElementId) -> Option<Actor> {
        let elements = self.intervals.elements();
        let element = elements.all()[id];
        let ElementKind::Group(run) = element.kind else {
            return None;
        };
        let component = elements.instances()[element.instance.index()].component;
        let component = self.metadata.component(component);
        let run = component.run(run);
        let group = &component.group(run.group).name;
        let flow = self.flows.get(&(component.name.clone(), group.clone()))?;
        let mut register = |cell: &String| {
            let next = self.set.len();
            let key = (element.instance, cell.clone());
            let number = *self.numbers.entry(key).or_insert(next);
            if number == next {
                self.set.push(0);
            }
            number
        };
        let is_part = run.part.is_some();
        let known = self.cycles.get(&element).copied().unwrap_or(1);
        Some(Actor {
            reads: flow.reads.iter().map(&mut register).collect(),
            writes: flow
                .writes
                .iter()
                .map(|(cell, is_sure)| (register(cell), *is_sure || is_part))
                .collect(),
            cycles: (!is_part).then_some(known),
            ready: 0,
        })
    }

    /// The cycles of the longest chain, once the trace has ended.
    #[must_use]
    pub fn finish(self) -> u64 {
        self.longest
    }
}
