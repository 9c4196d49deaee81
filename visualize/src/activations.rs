//! How often and how long each node of a design was active.

use std::collections::BTreeMap;

use petal_metadata::{GroupRun, Id, Metadata, RunId};
use petal_reconstruct::{Event, Instance};

use crate::keys::{Item, Key};
use crate::spans::Spans;

/// How long the activations of something took, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Durations {
    /// Number of activations.
    pub count: u64,
    /// Cycles of all activations together.
    pub total: u64,
    /// Cycles of the shortest activation.
    pub min: u64,
    /// Cycles of the longest activation.
    pub max: u64,
}

impl Durations {
    /// Adds `count` activations of `cycles` each.
    pub fn add(&mut self, cycles: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            cycles
        } else {
            self.min.min(cycles)
        };
        self.max = self.max.max(cycles);
        self.count += count;
        self.total += cycles * count;
    }

    /// Adds the activations of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.total += other.total;
    }
}

/// Counts activations along a trace.
///
/// An activation is a span of cycles without a break. Two cases are finer: a group or statement that
/// the compiler made static with a latency of `n` cycles is activated anew every `n` cycles, and the
/// parts into which the compiler split a group make one activation together.
#[derive(Debug)]
pub struct Activations<'a> {
    metadata: &'a Metadata,
    spans: Spans,
    /// What is known of each key of `spans`.
    keys: Vec<(Counting, Durations)>,
    /// The activations of split groups, by the group's first part.
    split: BTreeMap<Key, Split>,
}

/// How the spans of a key are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counting {
    /// Each is an activation.
    Once,
    /// Each is an activation every so many cycles.
    Latency(u64),
    /// It is a part of a split group, whose first part is this.
    Part(Key),
}

impl Counting {
    pub fn of(metadata: &Metadata, instances: &[Instance], key: Key) -> Self {
        let component = metadata.component(instances[key.instance.index()].component);
        let latency = match key.item {
            Item::Group(id) => {
                let run = component.run(id);
                if run.part.is_some() {
                    let same_whole = |other: &GroupRun| {
                        other.part.is_some()
                            && other.control == run.control
                            && other.group == run.group
                    };
                    let first = component.runs.iter().position(same_whole);
                    return Self::Part(Key {
                        item: Item::Group(first.map_or(id, RunId::from_index)),
                        ..key
                    });
                }
                run.latency
            }
            Item::Control(node) => component.node(node).latency,
            Item::Cell | Item::Primitive(..) => None,
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
    fn finish(&mut self) {
        if let Some(cycles) = self.unfinished.take() {
            self.durations.add(cycles, 1);
        }
    }
}

impl<'a> Activations<'a> {
    /// Counts in a trace of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            spans: Spans::default(),
            keys: Vec::new(),
            split: BTreeMap::new(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        if let Some((switch, now)) = self.spans.event(event) {
            for &id in &self.spans.switch(switch).closes {
                let cycles = now.cycles() - self.spans.since(id).cycles();
                let (counting, durations) = &mut self.keys[id];
                match *counting {
                    Counting::Once => durations.add(cycles, 1),
                    Counting::Latency(latency) => {
                        durations.add(latency, cycles / latency);
                        let rest = cycles % latency;
                        durations.add(rest, u64::from(rest > 0));
                    }
                    Counting::Part(first) => {
                        let split = self.split.entry(first).or_default();
                        if self.spans.keys().all()[id] == first {
                            split.finish();
                        }
                        *split.unfinished.get_or_insert(0) += cycles;
                    }
                }
            }
        }
        for at in self.keys.len()..self.spans.keys().all().len() {
            let key = self.spans.keys().all()[at];
            let counting = Counting::of(self.metadata, self.spans.keys().instances(), key);
            self.keys.push((counting, Durations::default()));
        }
        if matches!(event, Event::End { .. }) {
            self.split.values_mut().for_each(Split::finish);
        }
    }

    /// The durations of everything that was active, in a fixed order. The parts of a split group
    /// are under its first part.
    pub fn durations(&self) -> impl Iterator<Item = (Key, Durations)> {
        let plain = self.spans.keys().all().iter().zip(&self.keys);
        let all: BTreeMap<Key, Durations> = plain
            .map(|(&key, &(_, durations))| (key, durations))
            .chain(
                self.split
                    .iter()
                    .map(|(&key, split)| (key, split.durations)),
            )
            .filter(|(_, durations)| durations.count > 0)
            .collect();
        all.into_iter()
    }

    /// The component of a key's instance.
    pub fn component_of(&self, key: Key) -> petal_metadata::ComponentId {
        self.spans.keys().instances()[key.instance.index()].component
    }
}
