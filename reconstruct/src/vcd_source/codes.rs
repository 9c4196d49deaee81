//! Identifier codes of a VCD file: which ones are wanted, and what for.

use std::collections::HashMap;

use vcd::IdCode;

use crate::sampler::Targets;

/// The wanted identifier codes.
#[derive(Default)]
pub(super) struct Codes {
    /// By the number of a code. Its first characters distinguish it from other texts with that number.
    table: Vec<Code>,
    /// For codes beyond the table.
    others: HashMap<u64, u32>,
    targets: Vec<Targets>,
}

#[derive(Clone, Copy, Default)]
struct Code {
    /// Up to three characters, the first in the lowest byte.
    text: u32,
    /// 1 + the index of its targets, or 0.
    entry: u32,
}

/// Codes have small numbers in all but odd files.
const TABLE: u64 = 1 << 22;

impl Codes {
    pub fn add(&mut self, code: IdCode, signal: usize) {
        let text = code.to_string();
        let (number, _) = number(text.as_bytes()).expect("the crate's codes have such numbers");
        let entry = if number < TABLE {
            let at = usize::try_from(number).expect("the table fits in memory");
            if self.table.len() <= at {
                self.table.resize(at + 1, Code::default());
            }
            let bytes = text.bytes().take(3).enumerate();
            self.table[at].text =
                bytes.fold(0, |text, (at, byte)| text | u32::from(byte) << (8 * at));
            &mut self.table[at].entry
        } else {
            self.others.entry(number).or_default()
        };
        if *entry == 0 {
            self.targets.push(Targets::new());
            *entry = u32::try_from(self.targets.len()).expect("headers have fewer signals");
        }
        self.targets[*entry as usize - 1].push(signal);
    }

    pub fn get(&self, number: u64) -> Option<&Targets> {
        let at = usize::try_from(number).ok();
        let entry = match at.and_then(|at| self.table.get(at)) {
            Some(code) => code.entry,
            None if self.others.is_empty() => 0,
            None => self.others.get(&number).copied().unwrap_or(0),
        };
        (entry > 0).then(|| &self.targets[entry as usize - 1])
    }

    /// The length of a line that has one character before its code, and the code's targets. `None`
    /// if it is none.
    #[inline]
    pub fn line(&self, line: &[u8]) -> Option<(usize, Option<&Targets>)> {
        let (length, targets) = match self.short(line) {
            Some(short) => short,
            None => {
                let (number, length) = number(&line[1..])?;
                if line.get(1 + length) != Some(&b'\n') {
                    return None;
                }
                (length, self.get(number))
            }
        };
        Some((length + 2, targets))
    }

    /// The length and targets of a code of up to three characters that fills the line after its
    /// first character. `None` if it is longer or no code. This is where most of a file goes through.
    #[inline]
    fn short(&self, line: &[u8]) -> Option<(usize, Option<&Targets>)> {
        /// What the characters' offset from their digits adds to a number, by length.
        const OFFSETS: [u32; 4] = [0, 33, 33 + 32 * 94, 33 + 32 * 94 + 32 * 94 * 94];
        let &[_, a, b, c, d, ..] = line else {
            return None;
        };
        let word = u32::from_le_bytes([a, b, c, d]);
        // The lowest byte that is marked is the first line end.
        let ends = word ^ 0x0a0a_0a0a;
        let marks = ends.wrapping_sub(0x0101_0101) & !ends & 0x8080_8080;
        let length = marks.trailing_zeros() / 8;
        if !(1..=3).contains(&length) {
            return None;
        }
        let text = word & ((1 << (8 * length)) - 1);
        // Marks what is no printable character, and there may be others above it.
        let filled = text | 0x2121_2121 << (8 * length);
        let below = filled.wrapping_sub(0x2121_2121);
        let above = filled.wrapping_add(0x0101_0101);
        if (below | filled | above) & 0x8080_8080 != 0 {
            return None;
        }
        let sum = (text & 0xff) + (text >> 8 & 0xff) * 94 + (text >> 16) * (94 * 94);
        let number = sum.wrapping_sub(OFFSETS[length as usize]);
        let code = self.table.get(number as usize);
        let entry = code
            .filter(|code| code.text == text)
            .map_or(0, |code| code.entry);
        let targets = (entry > 0).then(|| &self.targets[entry as usize - 1]);
        Some((length as usize, targets))
    }
}

/// The number of the identifier code that `line` begins with, and its length; `None` if it is none
/// or longer than any that the `vcd` crate accepts.
pub(super) fn number(line: &[u8]) -> Option<(u64, usize)> {
    let end = line.iter().position(|byte| !byte.is_ascii_graphic());
    let length = end.unwrap_or(line.len());
    let digits = line[..length].iter().rev();
    let number = digits
        .map(|byte| u64::from(byte - b' '))
        .try_fold(0u64, |number, digit| {
            number.checked_mul(94)?.checked_add(digit)
        })?;
    // The empty code would be 0.
    Some((number.checked_sub(1)?, length))
}
