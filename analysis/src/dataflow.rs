//! The longest chain of runs of groups, each of which takes what the one before has set: they take at least a cycle each.
//!
//! Owns this chain. Only what is sure makes one group wait for another, so it may well be shorter than any program can be: what is in memories,
//! what a guard decides and what goes through the ports of component cells does not count, nor do conditions, nor groups that the compiler
//! has split. Runs that are not told apart are one.

use foldhash::HashMap;
use petal_metadata::{Flows, Id as _, Metadata};
use petal_reconstruct::{Event, InstanceId};

use crate::elements::{ElementId, ElementKind};
use crate::intervals::Intervals;

/// A register of a component cell.
type Register = usize;

/// What one element does.
#[derive(Debug)]
struct Actor {
    /// Each with what it had behind it when the run began that goes on.
    reads: Vec<(Register, u64)>,
    writes: Vec<(Register, bool)>,
    /// Whether it is a part of a run, of which nothing is known.
    is_part: bool,
}

impl Actor {
    /// How many runs what it sets has behind it, with its own; it may take values at its beginning or at its end.
    fn end(&self, set: &[u64]) -> u64 {
        if self.is_part {
            return 0;
        }
        let reads = self.reads.iter();
        let taken = reads.map(|&(register, before)| before.min(set[register]));
        taken.max().unwrap_or(0) + 1
    }
}

/// Follows a trace. Memory grows with the number of groups and of different changes from one call tree to another.
#[derive(Debug)]
pub struct Dataflow<'a> {
    metadata: &'a Metadata,
    flows: &'a Flows,
    intervals: Intervals,
    numbers: HashMap<(InstanceId, String), Register>,
    /// How many runs each register has behind it.
    set: Vec<u64>,
    actors: Vec<Option<Actor>>,
    longest: u64,
}

impl<'a> Dataflow<'a> {
    /// Of a trace of this design, before its first event.
    #[must_use]
    pub fn new(metadata: &'a Metadata, flows: &'a Flows) -> Self {
        Self {
            metadata,
            flows,
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
            let closes = transition.closes.iter();
            let ends: Vec<(ElementId, u64)> = closes
                .filter_map(|&id| Some((id, self.actors[id].as_ref()?.end(&self.set))))
                .collect();
            for (id, end) in ends {
                self.longest = self.longest.max(end);
                for &(register, is_sure) in writes(&self.actors, id) {
                    let set = &mut self.set[register];
                    *set = if is_sure { end } else { end.min(*set) };
                }
            }
            for &id in &transition.opens {
                if let Some(actor) = &mut self.actors[id] {
                    for (register, found) in &mut actor.reads {
                        *found = self.set[*register];
                    }
                }
            }
            // Somebody may take what it sets before it ends.
            for &id in &transition.opens {
                let end = self.actors[id].as_ref().map(|actor| actor.end(&self.set));
                for &(register, _) in writes(&self.actors, id) {
                    let set = &mut self.set[register];
                    *set = end.unwrap_or(0).min(*set);
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
        Some(Actor {
            reads: flow.reads.iter().map(|cell| (register(cell), 0)).collect(),
            writes: flow
                .writes
                .iter()
                .map(|(cell, is_sure)| (register(cell), *is_sure || is_part))
                .collect(),
            is_part,
        })
    }

    /// How many runs the longest chain has, once the trace has ended.
    #[must_use]
    pub fn finish(self) -> u64 {
        self.longest
    }
}

fn writes(actors: &[Option<Actor>], id: ElementId) -> &[(Register, bool)] {
    let actor = actors[id].as_ref();
    actor.map_or(&[], |actor| &actor.writes)
}
