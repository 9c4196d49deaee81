//! Where the values of a machine are.
//!
//! `plan.rs` decides that. Knows nothing of Cranelift or of addresses.

use std::ops::Range;

use num_bigint::BigUint;

use super::probes::Probes;
use crate::graph::MemId;

/// Words with a meaning of their own; most are 0 or not 0.
pub(crate) mod word {
    /// What nobody reads: the place of what has none.
    pub(in crate::code) const NOTHING: usize = 0;
    /// A check fails in the settled cycle.
    pub const FAILED: usize = 1;
    /// A check fails on the clock's edge.
    pub const FAILED_AT_EDGE: usize = 2;
    /// A wire on a loop differs from the last evaluation.
    pub const UNSETTLED: usize = 3;
    /// The design has run.
    pub const DONE: usize = 4;
    pub const COUNT: usize = 5;
}

/// The digest of memories is the sum of what was added to their words, each times its weight: it depends on their
/// contents alone. A memory with this number, its word with this address:
/// `(address + first_weight(memory)) * WEIGHT | 1`.
pub(crate) const WEIGHT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Before the first weight of a memory are those of the memories before it.
pub(crate) fn first_weight(memory: usize) -> u64 {
    (memory as u64) << 48
}

/// Words that a value takes.
pub(crate) fn words(width: u32) -> usize {
    usize::try_from(width.div_ceil(64)).unwrap_or(usize::MAX)
}

/// Reads a value from its words, the lowest first.
pub(crate) fn load(words: &[u64]) -> BigUint {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

/// The bits that the highest word of a value may have.
pub(super) fn top(width: u32) -> u64 {
    u64::MAX
        >> (words(width) as u64 * 64)
            .saturating_sub(u64::from(width))
            .min(63)
}

/// Writes the lowest `width` bits of a value to its words.
pub(crate) fn store(value: &BigUint, width: u32, words: &mut [u64]) {
    let mut digits = value.iter_u64_digits();
    for word in &mut *words {
        *word = digits.next().unwrap_or(0);
    }
    if let Some(last) = words.last_mut() {
        *last &= top(width);
    }
}

/// An offset in a table that is to be small.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("designs need less than 2 GiB of state")
}

/// Adds the bit with this number to words: one comes after the other, or begins a new word.
pub(super) fn push_bit(words: &mut Vec<u64>, number: usize, is_set: bool) {
    if number.is_multiple_of(64) {
        words.push(0);
    }
    words[number / 64] |= u64::from(is_set) << (number % 64);
}

/// Where a value is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordSpan {
    /// Its first word.
    pub at: usize,
    /// Its bits.
    pub width: u32,
}

impl WordSpan {
    /// Its words.
    pub fn words(self) -> Range<usize> {
        self.at..self.at + words(self.width)
    }
}

/// Bits to set in a word when a value changes: the parts to compute, or what is to be done at the edge.
pub(super) type Wake = (usize, u64);

/// What belongs to the bits of some words, 64 to a word.
#[derive(Debug, Default)]
pub(crate) struct ByBit<T> {
    words: Vec<[T; 64]>,
    count: usize,
}

impl<T: Copy + Default> ByBit<T> {
    pub fn push(&mut self, item: T) {
        let (word, bit) = (self.count / 64, self.count % 64);
        if bit == 0 {
            self.words.push([T::default(); 64]);
        }
        self.words[word][bit] = item;
        self.count += 1;
    }

    /// What comes next belongs to a new word.
    pub fn end_word(&mut self) {
        self.count = 64 * self.words.len();
    }

    /// How many bits there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// What belongs to each word. Where a bit has nothing, that is the default.
    pub fn words(&self) -> &[[T; 64]] {
        &self.words
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.words.as_flattened()[..self.count].iter()
    }
}

/// A register that takes its next value at the edge, if that is another one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Register {
    /// The first word of the register; that of the next value; two words to set bits in, for those who use it.
    pub offsets: [u32; 4],
    /// The bits to set: nearly always those are all. There may be none.
    pub wakes: [u64; 2],
}

/// What is to be done for registers of several words or with users in many places.
#[derive(Debug)]
pub(super) struct More {
    /// How many words it has.
    pub words: usize,
    /// Other bits to set.
    pub wakes: Vec<Wake>,
}

/// A word that is written to a memory at the edge, if what it is made of has changed.
#[derive(Debug)]
pub(super) struct MemoryWrite {
    pub memory: MemId,
    pub enable: usize,
    pub address: Range<usize>,
    pub data: Range<usize>,
    pub within: Option<usize>,
    pub wakes: Vec<Wake>,
}

/// Where the values of a machine are.
#[derive(Debug)]
pub(crate) struct Layout {
    /// For each function a word that tells which of its parts have to be computed.
    pub(super) flags: Range<usize>,
    /// For each register a bit that tells whether it takes its next value at the edge, and the registers in the
    /// order of the bits.
    pub(super) changing: Range<usize>,
    pub(super) registers: ByBit<Register>,
    /// Those that have more to be done, as bits of as many words; what that is; and where it is for each of them.
    pub(super) rare: Vec<u64>,
    pub(super) more: Vec<More>,
    pub(super) of_rare: ByBit<u32>,
    /// The same for what is written to memories.
    pub(super) writing: Range<usize>,
    pub(super) writes: Vec<MemoryWrite>,
    /// Each register, and the words of all of them.
    pub regs: Vec<WordSpan>,
    pub state: Range<usize>,
    pub probes: Probes,
    /// The words that hold the watched values, and for each value a bit that tells whether it was computed anew, and
    /// is another one.
    pub watched: Range<usize>,
    pub changed: Range<usize>,
    /// Each wire on a loop, and the words of all of them.
    pub wires: Vec<WordSpan>,
    pub all_wires: Range<usize>,
    /// The addresses of the memories.
    pub(super) memories: Range<usize>,
    /// All words.
    pub size: usize,
}

impl Layout {
    /// What more is to be done for a register, by its word and bit.
    pub(super) fn more(&self, word: usize, bit: usize) -> Option<&More> {
        let is_rare = self.rare[word] >> bit & 1 == 1;
        is_rare.then(|| &self.more[self.of_rare.words()[word][bit] as usize])
    }

    /// Every word that is looked at in each cycle without the machine code.
    pub(super) fn offsets(&self) -> impl Iterator<Item = usize> {
        let Probes {
            bits,
            bits_before,
            changed,
            probed,
            of_words,
            ..
        } = &self.probes;
        let before = *bits_before..*bits_before + bits.len();
        // Of the registers, and of those with probes.
        let first = changed.start;
        let told = first..first + probed.len().max(self.changing.len());
        let nothing = word::NOTHING..word::COUNT;
        let ranges = [
            &self.changing,
            &self.writing,
            bits,
            &before,
            &told,
            &nothing,
        ]
        .map(Clone::clone);
        let registers = self.registers.iter();
        let registers = registers.flat_map(|register| register.offsets.map(|at| at as usize));
        let probed = of_words.iter();
        let probed = probed.flat_map(|word| [word.at, word.before].map(|at| at as usize));
        ranges.into_iter().flatten().chain(registers).chain(probed)
    }
}
