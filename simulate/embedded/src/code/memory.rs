//! The memories of a machine.
//!
//! Owns that no word of a memory has more bits than the memory is wide: machine code leaves out what such a word can't be.
#![allow(
    unsafe_code,
    reason = "the system gives zeros page by page only to those who ask for raw memory"
)]

use std::alloc;
use std::ops::Range;

use num_bigint::BigUint;

use super::layout::{WEIGHT, first_weight, load, store, top, words};
use crate::error::Error;
use crate::graph::Mem;

/// A memory: words of `width` bits, each in as many machine words as it needs.
#[derive(Debug)]
pub(crate) struct Memory {
    contents: Box<[u64]>,
    width: u32,
}

impl Memory {
    /// Nothing but zeros. The system gives the room page by page, as words are written: what is never written takes none.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room.
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "the layout is that of such words"
    )]
    pub fn new(memory: &Mem) -> Result<Self, Error> {
        // Neither factor is 0: nothing may be allocated without a size.
        let size = usize::try_from(memory.size.max(1)).ok();
        let contents = size
            .and_then(|size| size.checked_mul(words(memory.width).max(1)))
            .and_then(|size| Some((size, alloc::Layout::array::<u64>(size).ok()?)))
            .and_then(|(size, layout)| {
                // SAFETY: the layout has a size, as neither factor is 0.
                let first = unsafe { alloc::alloc_zeroed(layout) }.cast::<u64>();
                // SAFETY: the allocator of boxes gave it, with this layout, full of zeros.
                (!first.is_null()).then(|| unsafe {
                    Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, size))
                })
            });
        let contents = contents.ok_or(Error::Memory {
            size: memory.size,
            width: memory.width,
        })?;
        Ok(Self {
            contents,
            width: memory.width,
        })
    }

    /// The machine words of all words, the lowest of each first.
    pub fn contents(&self) -> &[u64] {
        &self.contents
    }

    /// Where the contents are. They stay there.
    pub(super) fn address(&mut self) -> u64 {
        self.contents.as_mut_ptr() as usize as u64
    }

    /// The word at this index, if there is one.
    pub fn word(&self, index: &BigUint) -> Option<BigUint> {
        let index = usize::try_from(index).ok()?;
        let mut words = self.contents.chunks_exact(words(self.width));
        words.nth(index).map(load)
    }

    /// The words that are not 0, by their indices.
    pub fn nonzero(&self) -> impl Iterator<Item = (u64, BigUint)> {
        /// Words that are looked at together: most of a large memory is 0.
        const BLOCK: usize = 512;
        let size = words(self.width);
        let zeros = vec![0; BLOCK * size];
        let blocks = self.contents.chunks(zeros.len()).zip((0..).step_by(BLOCK));
        let used = blocks.filter(move |(block, _)| **block != zeros[..block.len()]);
        let words = used.flat_map(move |(block, first)| (first..).zip(block.chunks_exact(size)));
        let words = words.filter(|(_, words)| words.iter().any(|word| *word != 0));
        words.map(|(index, words)| (index, load(words)))
    }

    /// Sets the word at this index to the lowest bits of `value`, if there is such a word.
    pub fn set(&mut self, index: u64, value: &BigUint) {
        if let Some(word) = self.place(index) {
            store(value, self.width, &mut self.contents[word]);
        }
    }

    /// Where the word at this index is, if there is one.
    fn place(&self, index: u64) -> Option<Range<usize>> {
        let size = words(self.width);
        let first = usize::try_from(index).ok()?.checked_mul(size)?;
        let word = first..first.checked_add(size)?;
        (word.end <= self.contents.len()).then_some(word)
    }

    /// Writes the lowest bits of `data` to the word with this address, in the memory with this number.
    pub(super) fn write(&mut self, number: usize, address: &[u64], data: &[u64]) -> Written {
        let index = match address.split_first() {
            Some((&low, high)) if high.iter().all(|&word| word == 0) => low,
            _ => return Written::Beyond,
        };
        let Some(word) = self.place(index) else {
            return Written::Beyond;
        };
        let first = first_weight(number) + word.start as u64;
        let target = &mut self.contents[word];
        if target == data {
            return Written::Same;
        }
        let weighed = (first..)
            .zip(target.iter().zip(data))
            .map(|(at, (old, new))| {
                let weight = at.wrapping_mul(WEIGHT) | 1;
                new.wrapping_sub(*old).wrapping_mul(weight)
            });
        let change = weighed.fold(0, u64::wrapping_add);
        target.copy_from_slice(data);
        if let Some(last) = target.last_mut() {
            *last &= top(self.width);
        }
        Written::Changed(change)
    }
}

/// What a write did.
pub(super) enum Written {
    /// The word was that before.
    Same,
    /// It adds this to the digest of all memories.
    Changed(u64),
    /// There is no such word.
    Beyond,
}
