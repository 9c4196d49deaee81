//! What happens once a cycle, whatever the machine code does: registers and memories become what they become at the clock's
//! edge, and the probes that have changed are found.
//!
//! Both go through tables of the layout without looking at the length of the words each time. [`Checked`] has looked.
#![allow(
    unsafe_code,
    reason = "to check each offset of each cycle again was measured to cost time"
)]

use std::ops::Deref;

use num_bigint::BigUint;
use petal_reconstruct::{Change, Id as _};

use super::layout::{Layout, MemoryWrite, Register, load};
use super::memory::{Memory, Written};
use super::probes::{ProbedWord, Slots, bits};
use crate::graph::MemId;

/// A layout whose offsets are all below its size. It can't be changed any more.
pub(super) struct Checked(Layout);

impl Deref for Checked {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.0
    }
}

/// The words of an instance, as many as its layout has.
struct Words<'a>(&'a mut [u64]);

impl Words<'_> {
    /// # Safety
    /// `at` must be one of [`Layout::offsets`].
    unsafe fn get(&self, at: usize) -> u64 {
        debug_assert!(at < self.0.len());
        // SAFETY: these are below the size of a checked layout, and there are as many words.
        unsafe { *self.0.get_unchecked(at) }
    }

    /// # Safety
    /// As above.
    unsafe fn get_mut(&mut self, at: usize) -> &mut u64 {
        debug_assert!(at < self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(at) }
    }

    /// Sets these bits of a word.
    ///
    /// # Safety
    /// As above.
    unsafe fn raise(&mut self, at: usize, bits: u64) {
        // SAFETY: as the caller warrants.
        unsafe { *self.get_mut(at) |= bits }
    }

    /// The word that was there; it is 0 now.
    ///
    /// # Safety
    /// As above.
    unsafe fn take(&mut self, at: usize) -> u64 {
        // SAFETY: as the caller warrants.
        std::mem::take(unsafe { self.get_mut(at) })
    }
}

impl Checked {
    /// Looks at a layout.
    pub fn new(layout: Layout) -> Self {
        let beyond = layout.offsets().find(|&at| at >= layout.size);
        assert_eq!(beyond, None, "a layout has no offset beyond its size");
        let probes = &layout.probes;
        let of_words = probes.of_words.iter().map(|word| word.slots);
        let slots = probes.of_bits.iter().copied().chain(of_words);
        let told: usize = slots.map(|slots| slots.of(&probes.slots).len()).sum();
        assert!(told <= probes.count(), "a probe has one value");
        Self(layout)
    }

    /// The words that offsets of this layout lead to.
    fn words<'a>(&self, words: &'a mut [u64]) -> Words<'a> {
        assert_eq!(words.len(), self.size);
        Words(words)
    }

    /// The rising edge of the clock. What is written to memories is added to `digest`. What is written beyond the end of one, or of
    /// a dimension of it, is added to `beyond`, with the address.
    #[inline]
    pub fn commit(
        &self,
        words: &mut [u64],
        memories: &mut [Memory],
        digest: &mut u64,
        beyond: &mut Vec<(MemId, BigUint)>,
    ) {
        let mut words = self.words(words);
        let probes = self.probes.changed.start;
        let registers = self.registers.words().iter().zip(&self.rare);
        for (number, (registers, rare)) in registers.enumerate() {
            // SAFETY: `offsets` has one word of `changing` for each of these.
            let changed = unsafe { words.take(self.changing.start + number) };
            if changed == 0 {
                continue;
            }
            // SAFETY: `offsets` has one for each word of `changing`.
            unsafe { words.raise(probes + number, changed) };
            for bit in bits(changed) {
                let Register { offsets, wakes } = &registers[bit];
                let [at, next, first, second] = offsets.map(|at| at as usize);
                // SAFETY: `offsets` has those of all registers.
                unsafe {
                    *words.get_mut(at) = words.get(next);
                    words.raise(first, wakes[0]);
                    words.raise(second, wakes[1]);
                }
            }
            for bit in bits(changed & rare) {
                let [at, next, ..] = registers[bit].offsets.map(|at| at as usize);
                if let Some(more) = self.more(number, bit) {
                    words.0.copy_within(next..next + more.words, at);
                    for &(word, bits) in &more.wakes {
                        words.0[word] |= bits;
                    }
                }
            }
        }
        for (number, at) in self.writing.clone().enumerate() {
            // SAFETY: `offsets` has these words.
            let changed = unsafe { words.take(at) };
            for bit in bits(changed) {
                let MemoryWrite {
                    memory,
                    enable,
                    address,
                    data,
                    within,
                    wakes,
                } = &self.writes[number * 64 + bit];
                if words.0[*enable] == 0 {
                    continue;
                }
                let strays = within.is_some_and(|at| words.0[at] == 0);
                let (data, address) = (&words.0[data.clone()], &words.0[address.clone()]);
                let at = memory.index();
                let written = memories[at].write(at, address, data);
                if strays || matches!(written, Written::Beyond) {
                    beyond.push((*memory, load(address)));
                }
                match written {
                    Written::Changed(change) => {
                        *digest = digest.wrapping_add(change);
                        for &(word, bits) in wakes {
                            words.0[word] |= bits;
                        }
                    }
                    Written::Same | Written::Beyond => {}
                }
            }
        }
    }

    /// Adds to `changes` the probes that differ from when this was called before; at first, all were 0.
    #[inline]
    pub fn changes(&self, words: &mut [u64], changes: &mut Vec<Change>) {
        let mut words = self.words(words);
        let probes = &self.probes;
        changes.reserve(probes.count());
        let room = changes.spare_capacity_mut();
        let mut count = 0;
        let mut tell = |slots: Slots, value| {
            for at in slots.begin..slots.end {
                // SAFETY: a checked layout has no slots beyond those of its probes, and tells no more of them than there are; there is
                // room for each.
                unsafe {
                    let slot = *probes.slots.get_unchecked(at as usize);
                    room.get_unchecked_mut(count).write(Change { slot, value });
                }
                count += 1;
            }
        };
        for (number, slots) in probes.of_bits.words().iter().enumerate() {
            let (at, last) = (probes.bits.start + number, probes.bits_before + number);
            // SAFETY: `offsets` has these words, and as many of before.
            let (now, before) = unsafe { (words.get(at), words.get(last)) };
            if now != before {
                for bit in bits(now ^ before) {
                    tell(slots[bit], now >> bit & 1);
                }
                // SAFETY: as above.
                unsafe { *words.get_mut(last) = now };
            }
        }
        let probed = probes.probed.iter().zip(probes.of_words.words());
        for (number, (probed, values)) in probed.enumerate() {
            // SAFETY: `offsets` has one for each word of `probed`.
            let changed = unsafe { words.take(probes.changed.start + number) };
            for bit in bits(changed & probed) {
                let ProbedWord { at, before, slots } = values[bit];
                // SAFETY: `offsets` has those of all probes.
                let (value, last) = unsafe {
                    let value = words.get(at as usize);
                    (value, words.get_mut(before as usize))
                };
                if *last != value {
                    *last = value;
                    tell(slots, value);
                }
            }
        }
        // SAFETY: these were written.
        unsafe { changes.set_len(changes.len() + count) };
    }
}
