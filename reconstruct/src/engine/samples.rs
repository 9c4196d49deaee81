//! Numbers for the values of a cycle, so that what follows from equal values is worked out once.
//!
//! Owns which signals matter and how their values are packed. Does not know what they mean.

use std::collections::BTreeSet;

use foldhash::HashMap;
use petal_metadata::{Id as _, Metadata, RegisterKind};

use crate::signals::{Layout, SlotId};

/// Numbers the values of all signals that determine trees: two cycles with equal values have the
/// same number.
pub(super) struct Samples {
    /// Word, bit of each slot; a register has a word of its own. `None`: it determines nothing.
    positions: Vec<Option<(usize, Option<u32>)>>,
    /// The present values.
    pub words: Vec<u64>,
    /// The number of each combination of values that was met.
    pub numbers: HashMap<Box<[u64]>, u32>,
    /// Whether a word changed since the last number was given.
    pub changed: bool,
}

impl Samples {
    /// The signals of a design that determine trees: all probes, and the control registers but for the
    /// counters of static programs, which are followed by the programs' positions.
    pub fn of(metadata: &Metadata, layout: &Layout) -> Self {
        let registers = layout.instances().flat_map(|(_, physical)| {
            let component = metadata.component(physical.component);
            let registers = component.registers.iter().zip(&physical.registers);
            registers
                .filter(|(register, _)| register.kind != RegisterKind::StaticFsm)
                .map(|(_, &slot)| slot)
        });
        let probes = layout.instances().flat_map(|(_, physical)| {
            let runs = physical.runs.iter();
            runs.chain(physical.starts.iter().flatten())
                .chain(&physical.calls)
                .chain(&physical.compiled)
                .copied()
        });
        Self::new(
            layout.table.watched.len(),
            &probes.collect(),
            &registers.collect::<Vec<SlotId>>(),
        )
    }

    /// `probes` are the slots of signals of one bit, `registers` those of others.
    fn new(slots: usize, probes: &BTreeSet<SlotId>, registers: &[SlotId]) -> Self {
        let mut positions = vec![None; slots];
        for (at, &slot) in probes.iter().enumerate() {
            let bit = u32::try_from(at % 64).expect("it is below 64");
            positions[slot.index()] = Some((at / 64, Some(bit)));
        }
        let first = probes.len().div_ceil(64);
        for (at, &slot) in registers.iter().enumerate() {
            positions[slot.index()] = Some((first + at, None));
        }
        Self {
            positions,
            words: vec![0; first + registers.len()],
            numbers: HashMap::default(),
            changed: true,
        }
    }

    /// Takes in the value of a signal.
    pub fn set(&mut self, slot: SlotId, value: u64) {
        let Some((word, bit)) = self.positions[slot.index()] else {
            return;
        };
        let word = &mut self.words[word];
        match bit {
            Some(bit) => *word = *word & !(1 << bit) | u64::from(value == 1) << bit,
            None => *word = value,
        }
        self.changed = true;
    }

    /// The number of the present values.
    pub fn number(&mut self) -> u32 {
        self.changed = false;
        if let Some(&number) = self.numbers.get(self.words.as_slice()) {
            return number;
        }
        let number = u32::try_from(self.numbers.len()).expect("few are remembered");
        self.numbers.insert(self.words.as_slice().into(), number);
        number
    }
}
