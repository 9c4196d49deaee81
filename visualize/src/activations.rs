//! How often and how long each node of a design was active.

use std::collections::{BTreeMap, HashMap};

use petal_metadata::{Id, Metadata, RunId};
use petal_reconstruct::Event;

use crate::spans::{Item, Key, Span, Spans};

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
    durations: BTreeMap<Key, Durations>,
    /// Cycles so far of the unfinished activation of a split group, by its first part.
    split: HashMap<Key, u64>,
}

impl<'a> Activations<'a> {
    /// Counts in a trace of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            spans: Spans::default(),
            durations: BTreeMap::new(),
            split: HashMap::new(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        let mut over = Vec::new();
        self.spans.event(event, &mut |span| over.push(span));
        for span in over {
            self.add(span);
        }
        if matches!(event, Event::End { .. }) {
            for (key, cycles) in std::mem::take(&mut self.split) {
                self.durations.entry(key).or_default().add(cycles, 1);
            }
        }
    }

    fn add(&mut self, Span { key, cycles, .. }: Span) {
        let component = self
            .metadata
            .component(self.spans.instances()[key.instance.index()].component);
        let id = match key.item {
            Item::Group(id) => id,
            Item::Control(node) => {
                let latency = component.node(node).latency;
                self.count(key, cycles, latency);
                return;
            }
            Item::Cell | Item::Primitive(_) => {
                self.count(key, cycles, None);
                return;
            }
        };
        let run = component.run(id);
        if run.part.is_some() {
            let first = component
                .runs
                .iter()
                .position(|other| {
                    other.part.is_some() && other.control == run.control && other.group == run.group
                })
                .map_or(id, RunId::from_index);
            let whole = Key {
                item: Item::Group(first),
                ..key
            };
            if first == id {
                if let Some(done) = self.split.insert(whole, cycles) {
                    self.durations.entry(whole).or_default().add(done, 1);
                }
            } else {
                *self.split.entry(whole).or_default() += cycles;
            }
            return;
        }
        self.count(key, cycles, run.latency);
    }

    /// Counts an unbroken time of `cycles`, in which something of a fixed latency is activated
    /// again and again.
    fn count(&mut self, key: Key, cycles: u64, latency: Option<u64>) {
        let durations = self.durations.entry(key).or_default();
        match latency {
            Some(latency) if latency > 0 => {
                durations.add(latency, cycles / latency);
                durations.add(cycles % latency, u64::from(!cycles.is_multiple_of(latency)));
            }
            _ => durations.add(cycles, 1),
        }
    }

    /// The durations of everything that was active, in a fixed order. The parts of a split group
    /// are under its first part.
    pub fn durations(&self) -> impl Iterator<Item = (Key, &Durations)> {
        self.durations
            .iter()
            .map(|(&key, durations)| (key, durations))
    }

    /// The component of a key's instance.
    pub fn component_of(&self, key: Key) -> petal_metadata::ComponentId {
        self.spans.instances()[key.instance.index()].component
    }
}
