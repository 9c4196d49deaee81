//! The events of a run on their way out.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::Id as _;

use crate::contradictions::Contradiction;
use crate::model::{Cycle, Event, Instance, InstanceId, Warning};
use crate::signals::{Layout, PhysicalId, SlotId};

/// The events of a run on their way out: each instance once, and each signal that is odd once.
pub(super) struct Emitter<'a> {
    layout: &'a Layout,
    /// The cycle that comes next.
    pub cycle: u64,
    instances: HashMap<Instance, InstanceId>,
    warned: BTreeSet<(PhysicalId, SlotId)>,
    pub events: Vec<Event>,
}

impl<'a> Emitter<'a> {
    pub fn new(layout: &'a Layout) -> Self {
        Self {
            layout,
            cycle: 0,
            instances: HashMap::new(),
            warned: BTreeSet::new(),
            events: Vec::new(),
        }
    }

    /// The handle of an instance. A new one is an event.
    pub fn instance(&mut self, instance: Instance) -> InstanceId {
        let next = InstanceId::from_index(self.instances.len());
        *self.instances.entry(instance).or_insert_with(|| {
            self.events.push(Event::Instance(instance));
            next
        })
    }

    /// All instances, by number.
    pub fn all_instances(&self) -> Vec<Instance> {
        let mut all: Vec<(InstanceId, Instance)> = self
            .instances
            .iter()
            .map(|(instance, id)| (*id, *instance))
            .collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, instance)| instance).collect()
    }

    /// Warns of a signal of a hardware instance, once.
    pub fn warn(&mut self, physical: PhysicalId, slot: SlotId, text: &str) {
        if self.warned.insert((physical, slot)) {
            self.events.push(Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(self.cycle),
                signal: self.layout.table.watched[slot.index()].to_string(),
                text: text.to_owned(),
            })));
        }
    }

    pub fn contradiction(&mut self, contradiction: Contradiction) {
        let Contradiction {
            physical,
            slot,
            text,
        } = contradiction;
        self.warn(physical, slot, text);
    }
}
