//! The bits that a part of a function sets: they are gathered, and written once the part ends.

use cranelift_codegen::ir::{InstBuilder, Value};

use super::{FunctionCompiler, WORD};
use crate::code::layout::Wake;

/// Words of which a part collects bits before it writes them: each takes a register, and the time to find
/// registers grows faster than the number of values.
const MAX_COLLECTED: usize = 8;

impl FunctionCompiler<'_, '_> {
    /// Sets bits once the part ends, if `difference`, which has so many bits, is not 0.
    pub(super) fn wake(&mut self, difference: Value, width: u32, wakes: &[Wake]) {
        if width == 1 {
            for &(word, bits) in wakes {
                let bits = self.copies(difference, self.shifted((word, bits)));
                self.raise(word, bits);
            }
            return;
        }
        // With those of other values that set the same: to make a mask takes a while.
        let all = match self.changed.get(wakes) {
            Some(&others) => self.builder.ins().bor(others, difference),
            None => difference,
        };
        self.changed.insert(wakes.to_vec(), all);
        if self.changed.len() > MAX_COLLECTED {
            self.write_changed();
        }
    }

    /// The one bit of `value` in all places in which `bits` has one.
    fn copies(&mut self, value: Value, bits: u64) -> Value {
        match bits {
            1 => value,
            bits if bits.is_power_of_two() => {
                let by = i64::from(bits.trailing_zeros());
                self.builder.ins().ishl_imm(value, by)
            }
            bits => self.builder.ins().imul_imm(value, bits.cast_signed()),
        }
    }

    pub(super) fn write_changed(&mut self) {
        for (wakes, difference) in std::mem::take(&mut self.changed) {
            let mask = self.builder.ins().bmask(WORD, difference);
            for (word, bits) in wakes {
                let bits = self.shifted((word, bits)).cast_signed();
                let bits = self.builder.ins().band_imm(mask, bits);
                self.raise(word, bits);
            }
        }
    }

    /// Sets the bits of `value` in a word, once the part ends.
    pub(super) fn raise(&mut self, word: usize, value: Value) {
        let value = match self.raised.get(&word) {
            Some(&bits) => self.builder.ins().bor(bits, value),
            None => {
                if self.raised.len() == MAX_COLLECTED {
                    self.write_raised();
                }
                value
            }
        };
        self.raised.insert(word, value);
    }

    pub(super) fn write_raised(&mut self) {
        for (word, value) in std::mem::take(&mut self.raised) {
            if let Some(flags) = self.flags.filter(|flags| flags.word == word) {
                let old = self.builder.use_var(flags.variable);
                let value = self.builder.ins().bor(old, value);
                self.builder.def_var(flags.variable, value);
                continue;
            }
            let old = self.load(word);
            let value = self.builder.ins().bor(old, value);
            self.store(value, word);
        }
    }

    /// The bits of a word as they are now.
    fn shifted(&self, (word, bits): Wake) -> u64 {
        match self.flags {
            Some(flags) if flags.word == word => bits >> flags.first,
            _ => bits,
        }
    }

    /// Makes `value` that bit of a word which `mask` has, once the part ends.
    pub(super) fn set_bit(&mut self, word: usize, mask: u64, value: Value) {
        let bits = match self.bits.get(&word) {
            Some(&(masks, bits)) => (masks | mask, self.builder.ins().bor(bits, value)),
            None => {
                if self.bits.len() == MAX_COLLECTED {
                    self.write_bits();
                }
                (mask, value)
            }
        };
        self.bits.insert(word, bits);
    }

    pub(super) fn write_bits(&mut self) {
        for (word, (mask, value)) in std::mem::take(&mut self.bits) {
            let old = self.load(word);
            let others = self.builder.ins().band_imm(old, !mask.cast_signed());
            let value = self.builder.ins().bor(others, value);
            self.store(value, word);
        }
    }
}
