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
    /// Of each slot.
    positions: Vec<Position>,
    /// The present values.
    pub words: Vec<u64>,
    /// The number of each combination of values that was met.
    pub numbers: HashMap<Box<[u64]>, u32>,
    /// Whether a word changed since the last number was given.
    pub changed: bool,
}

/// Where the value of a signal is.
#[derive(Debug, Clone, Copy)]
enum Position {
    /// Nowhere: it determines nothing.
    None,
    /// A bit of a word.
    Bit(u32, u8),
    /// A register has a word of its own.
    Word(u32),
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
                .chain(physical.branches.values())
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
        let mut positions = vec![Position::None; slots];
        let word = |at| u32::try_from(at).expect("signals are numbered with 32 bits");
        for (at, &slot) in probes.iter().enumerate() {
            let bit = u8::try_from(at % 64).expect("it is below 64");
            positions[slot.index()] = Position::Bit(word(at / 64), bit);
        }
        let first = probes.len().div_ceil(64);
        for (at, &slot) in registers.iter().enumerate() {
            positions[slot.index()] = Position::Word(word(first + at));
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
        match self.positions[slot.index()] {
            Position::None => return,
            Position::Bit(word, bit) => {
                let word = &mut self.words[word as usize];
                *word = *word & !(1 << bit) | u64::from(value == 1) << bit;
            }
            Position::Word(word) => self.words[word as usize] = value,
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
