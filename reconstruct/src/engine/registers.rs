//! The control registers of a design, and which of them are updated.

use petal_metadata::{Id as _, RegisterId};

use crate::signals::{Layout, PhysicalId, SlotId};
use crate::source::Change;

/// A control register of a hardware instance.
#[derive(Clone, Copy)]
pub(super) struct Register {
    pub physical: PhysicalId,
    pub id: RegisterId,
    pub slot: SlotId,
}

pub(super) struct Registers {
    all: Vec<Register>,
    /// The position in `all` of the register behind each slot.
    of_slot: Vec<Option<usize>>,
    /// Positions of the registers that are updated at the end of the cycle.
    updated: Vec<usize>,
}

impl Registers {
    pub fn of(layout: &Layout) -> Self {
        let all: Vec<Register> = layout
            .instances()
            .flat_map(|(physical, instance)| {
                let slots = instance.registers.iter().enumerate();
                slots.map(move |(at, &slot)| Register {
                    physical,
                    id: RegisterId::from_index(at),
                    slot,
                })
            })
            .collect();
        let mut of_slot = vec![None; layout.table.watched.len()];
        for (at, register) in all.iter().enumerate() {
            of_slot[register.slot.index()] = Some(at);
        }
        Self {
            all,
            of_slot,
            updated: Vec::new(),
        }
    }

    /// Finds those that these changes update, in order.
    pub fn update(&mut self, changed: &[Change]) {
        self.updated.clear();
        self.updated.extend(
            changed
                .iter()
                .filter_map(|change| self.of_slot[change.slot.index()]),
        );
        self.updated.sort_unstable();
    }

    /// How many are updated.
    pub fn count_updated(&self) -> usize {
        self.updated.len()
    }

    /// One of those that are updated.
    pub fn updated(&self, at: usize) -> Register {
        self.all[self.updated[at]]
    }
}
