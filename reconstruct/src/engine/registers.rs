//! The control registers of a design, and which of them are updated.

use std::rc::Rc;

use petal_metadata::{Id as _, RegisterId};

use crate::signals::{Layout, PhysicalId, SlotId};
use crate::source::Change;

/// A control register of a hardware instance.
#[derive(Clone, Copy)]
struct Register {
    physical: PhysicalId,
    id: RegisterId,
    slot: SlotId,
}

/// A control register that is updated at the end of a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Updated {
    pub physical: PhysicalId,
    pub register: RegisterId,
    pub old: u64,
    pub new: u64,
}

pub(super) struct Registers {
    all: Vec<Register>,
    /// The position in `all` of the register behind each slot.
    of_slot: Vec<Option<usize>>,
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
        Self { all, of_slot }
    }

    /// Those that these changes update, in order. `now` and `next` are the values before and after them.
    pub fn updated(&self, changed: &[Change], now: &[u64], next: &[u64]) -> Rc<[Updated]> {
        let slots = changed.iter().map(|change| change.slot.index());
        let mut updated: Vec<usize> = slots.filter_map(|slot| self.of_slot[slot]).collect();
        updated.sort_unstable();
        let updated = updated.into_iter().map(|at| {
            let Register { physical, id, slot } = self.all[at];
            Updated {
                physical,
                register: id,
                old: now[slot.index()],
                new: next[slot.index()],
            }
        });
        updated.collect()
    }
}
