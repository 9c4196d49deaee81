//! Where the probes are among the words of a machine, and which of them have changed.
//!
//! Several probes may have one value: it is computed and looked at once. Knows nothing of how values are computed.

use std::collections::HashMap;
use std::ops::Range;

use petal_reconstruct::{Id as _, SlotId};

use super::layout::{ByBit, offset, push_bit};
use crate::graph::{Graph, Kind, NodeId, RegId};

/// The probes that have one value: where they stand in a list of all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slots {
    pub begin: u32,
    pub end: u32,
}

impl Slots {
    /// These of all.
    pub fn of(self, all: &[SlotId]) -> &[SlotId] {
        &all[self.begin as usize..self.end as usize]
    }
}

/// The values that have probes, by where they are.
pub(super) struct Probed {
    /// Those that are registers.
    pub regs: HashMap<RegId, Slots>,
    /// Others of one bit.
    pub bits: Vec<(NodeId, Slots)>,
    /// Others of more bits.
    pub words: Vec<(NodeId, Slots)>,
    /// All probes.
    pub slots: Vec<SlotId>,
}

impl Probed {
    /// The values of probes, which are numbered as they come here.
    pub fn of(graph: &Graph, probes: &[NodeId]) -> Self {
        let mut slots: HashMap<NodeId, Vec<SlotId>> = HashMap::new();
        for (slot, &node) in probes.iter().enumerate() {
            let slots = slots.entry(node).or_default();
            slots.push(SlotId::from_index(slot));
        }
        let mut probed = Self {
            regs: HashMap::new(),
            bits: Vec::new(),
            words: Vec::new(),
            slots: Vec::with_capacity(probes.len()),
        };
        for &node in probes {
            let Some(slots) = slots.remove(&node) else {
                continue;
            };
            let begin = offset(probed.slots.len());
            probed.slots.extend(slots);
            let end = offset(probed.slots.len());
            let slots = Slots { begin, end };
            match graph.node(node).kind {
                Kind::Reg(reg) => {
                    probed.regs.insert(reg, slots);
                }
                _ if graph.width(node) == 1 => probed.bits.push((node, slots)),
                _ => probed.words.push((node, slots)),
            }
        }
        probed
    }
}

/// Where the probes are.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// Words of bits that are computed, the probes of each bit, and the first of as many words as they were before.
    pub bits: Range<usize>,
    pub of_bits: ByBit<Slots>,
    pub bits_before: usize,
    /// For each other value a bit that tells whether it may be another one than when it was looked at. First come all registers, in
    /// the order in which the machine updates them; then, from a new word on, what is computed.
    pub changed: Range<usize>,
    /// Which of these bits belong to values with probes.
    pub probed: Vec<u64>,
    /// The values of these bits.
    pub of_words: ByBit<ProbedWord>,
    pub slots: Vec<SlotId>,
}

/// A word with probes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProbedWord {
    /// Where the value is, and where the one is that was there before.
    pub at: u32,
    pub before: u32,
    pub slots: Slots,
}

impl Probes {
    /// Adds the probes of the next bit in `changed`.
    pub fn add(&mut self, word: ProbedWord) {
        let has_probes = word.slots.begin < word.slots.end;
        push_bit(&mut self.probed, self.of_words.len(), has_probes);
        self.of_words.push(word);
    }

    /// What was told of each probe last, as `words` have it.
    pub fn told(&self, words: impl Fn(usize) -> u64) -> impl Iterator<Item = (SlotId, u64)> {
        self.before().flat_map(move |(slots, at, low, ones)| {
            let value = words(at) >> low & ones;
            let slots = slots.of(&self.slots).iter();
            slots.map(move |&slot| (slot, value))
        })
    }

    /// Sets what was told last.
    pub fn tell(&self, told: &[u64], words: &mut [u64]) {
        for (slots, at, low, ones) in self.before() {
            if let Some(slot) = slots.of(&self.slots).first() {
                words[at] = words[at] & !(ones << low) | told[slot.index()] << low;
            }
        }
    }

    /// Where it stands what was told last of the probes of each value: the word, the lowest bit in it, and as many ones as there are bits.
    fn before(&self) -> impl Iterator<Item = (Slots, usize, usize, u64)> {
        let bits = self.of_bits.iter().enumerate();
        let bits = bits.map(|(at, slots)| (*slots, self.bits_before + at / 64, at % 64, 1));
        let words = self.of_words.iter();
        bits.chain(words.map(|word| (word.slots, word.before as usize, 0, u64::MAX)))
    }

    /// How many probes there are.
    pub fn count(&self) -> usize {
        self.slots.len()
    }
}

/// The bits that are set in a word.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}
