//! The changes of all signals in a stretch of time, as FST has them: a buffer for each signal, with the place in the table of
//! times of each change and its value.

use super::super::format::DIGITS;

/// What a signal changes to in this stretch.
struct Changes {
    width: u32,
    /// As the format has them.
    bytes: Vec<u8>,
    /// The place in the table of times of the last.
    at: u64,
    /// The digit that the last sets; of several known digits, any.
    last: u8,
}

impl Changes {
    /// A change at this place in the table of times, of which the lowest bits of a number tell more.
    #[inline]
    fn number(&mut self, at: u64, bits: u32, more: u64) {
        let delta = at - std::mem::replace(&mut self.at, at);
        varint(delta << bits | more, &mut self.bytes);
    }

    /// The digits after the last change.
    fn digits(&self, digits: &mut [u8]) {
        if digits.len() == 1 || self.last == b'x' {
            return digits.fill(self.last);
        }
        let bytes = digits.len().div_ceil(8);
        let bytes = &self.bytes[self.bytes.len() - bytes..];
        for (digits, byte) in digits.chunks_mut(8).zip(bytes) {
            let all = &DIGITS[usize::from(*byte)];
            digits.copy_from_slice(&all[..digits.len()]);
        }
    }
}

/// A stretch of time that is being written.
pub(super) struct Block {
    signals: Vec<Changes>,
    /// How far each time is from the one before it, the first from 0.
    times: Vec<u8>,
    count: u64,
    start: u64,
    end: u64,
    /// The digits of all signals before the first change.
    frame: Vec<u8>,
    /// How many bytes the changes have.
    size: usize,
}

/// A stretch of time that is whole.
pub(super) struct Whole {
    pub start: u64,
    pub end: u64,
    /// The digits of all signals before it.
    pub frame: Vec<u8>,
    /// The changes of each signal.
    pub changes: Vec<Vec<u8>>,
    pub times: Vec<u8>,
    /// How many times there are.
    pub count: u64,
}

impl Block {
    /// The first stretch, before which no value is known. `widths` are those of the signals.
    pub fn new(widths: impl Iterator<Item = u32>) -> Self {
        let signals = widths.map(|width| Changes {
            width,
            bytes: Vec::new(),
            at: 0,
            last: b'x',
        });
        let signals: Vec<_> = signals.collect();
        let digits = signals.iter().map(|signal| signal.width as usize);
        Self {
            frame: vec![b'x'; digits.sum()],
            signals,
            times: Vec::new(),
            count: 0,
            start: 0,
            end: 0,
            size: 0,
        }
    }

    /// How many bytes are kept.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What comes next happens at this time, which is not before the last.
    pub fn time(&mut self, time: u64) {
        if self.count > 0 && time == self.end {
            return;
        }
        let before = if self.count == 0 { 0 } else { self.end };
        varint(time - before, &mut self.times);
        self.count += 1;
        self.end = time;
    }

    /// A signal changes to these words, the lowest first.
    pub fn value(&mut self, signal: usize, words: &[u64]) {
        let changes = &mut self.signals[signal];
        let before = changes.bytes.len();
        if changes.width == 1 {
            changes.number(self.count - 1, 2, words[0] << 1);
            changes.last = if words[0] == 0 { b'0' } else { b'1' };
        } else {
            changes.number(self.count - 1, 1, 0);
            packed(changes.width, words, &mut changes.bytes);
            changes.last = b'0';
        }
        self.size += changes.bytes.len() - before;
    }

    /// A signal is not known from now on.
    pub fn unknown(&mut self, signal: usize) {
        let changes = &mut self.signals[signal];
        let before = changes.bytes.len();
        if changes.width == 1 {
            changes.number(self.count - 1, 4, 1);
        } else {
            changes.number(self.count - 1, 1, 1);
            let end = changes.bytes.len() + changes.width as usize;
            changes.bytes.resize(end, b'x');
        }
        changes.last = b'x';
        self.size += changes.bytes.len() - before;
    }

    /// Begins the next stretch. Returns what was before.
    pub fn end(&mut self) -> Whole {
        let frame = self.frame.clone();
        let mut all = Vec::with_capacity(self.signals.len());
        let mut digits = &mut self.frame[..];
        for changes in &mut self.signals {
            let own;
            (own, digits) = digits.split_at_mut(changes.width as usize);
            // As many will come again.
            let next = Vec::with_capacity(changes.bytes.len());
            if !changes.bytes.is_empty() {
                changes.digits(own);
            }
            changes.at = 0;
            all.push(std::mem::replace(&mut changes.bytes, next));
        }
        self.size = 0;
        Whole {
            start: std::mem::replace(&mut self.start, self.end),
            end: self.end,
            frame,
            changes: all,
            times: std::mem::take(&mut self.times),
            count: std::mem::take(&mut self.count),
        }
    }
}

/// Appends a number, seven bits in a byte, the lowest first.
#[inline]
pub(super) fn varint(number: u64, bytes: &mut Vec<u8>) {
    let byte = |at: u32| (number >> (7 * at)).to_le_bytes()[0];
    // Most have one byte or two.
    if number < 1 << 7 {
        bytes.push(byte(0));
    } else if number < 1 << 14 {
        bytes.extend_from_slice(&[byte(0) | 0x80, byte(1)]);
    } else {
        long_varint(number, bytes);
    }
}

#[cold]
fn long_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Appends the bits of a value, the highest first; the last byte has zeros after them.
fn packed(width: u32, words: &[u64], bytes: &mut Vec<u8>) {
    let end = bytes.len() + width.div_ceil(8) as usize;
    let free = 63 - (width - 1) % 64;
    // Most values have one word.
    if let [word] = words {
        bytes.extend_from_slice(&(word << free).to_be_bytes());
        return bytes.truncate(end);
    }
    let lower = words.iter().rev().skip(1).copied().chain([0]);
    for (word, lower) in words.iter().rev().zip(lower) {
        // Two shifts, as one by 64 is none.
        let word = word << free | lower >> 1 >> (63 - free);
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    bytes.truncate(end);
}
