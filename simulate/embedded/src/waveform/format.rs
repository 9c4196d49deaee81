//! What the formats of waveforms have in common: what is declared, how values are written, and their digits.

use std::io::{self, Seek, Write};

/// A file of which parts that were written may be written again.
pub trait WriteSeek: Write + Seek + Send {}

impl<W: Write + Seek + Send> WriteSeek for W {}

/// What is declared before the first value.
pub(super) enum Declaration<'a> {
    Scope(&'a str),
    /// A name in the innermost scope for a value, which may have others.
    Name {
        name: &'a str,
        width: u32,
        number: usize,
    },
    /// The innermost scope ends.
    Up,
}

/// How a waveform is written once all names are declared.
pub(super) trait Format: Send {
    /// What comes next happens at this time, in nanoseconds.
    fn time(&mut self, time: u64) -> io::Result<()>;

    /// A value changes to these words, the lowest first.
    fn value(&mut self, number: usize, width: u32, words: &[u64]) -> io::Result<()>;

    /// A value is not known from now on.
    fn unknown(&mut self, number: usize, width: u32) -> io::Result<()>;

    /// Writes what is still to be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Several at once.
pub(super) struct Formats(pub Vec<Box<dyn Format>>);

impl Formats {
    pub fn time(&mut self, time: u64) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|format| format.time(time))
    }

    pub fn value(&mut self, number: usize, width: u32, words: &[u64]) -> io::Result<()> {
        let mut formats = self.0.iter_mut();
        formats.try_for_each(|format| format.value(number, width, words))
    }

    pub fn unknown(&mut self, number: usize, width: u32) -> io::Result<()> {
        let mut formats = self.0.iter_mut();
        formats.try_for_each(|format| format.unknown(number, width))
    }

    pub fn finish(self) -> io::Result<()> {
        self.0.into_iter().try_for_each(Format::finish)
    }
}

/// Appends the binary digits of a value of this many bits, the highest first.
pub(super) fn digits(width: u32, words: &[u64], text: &mut Vec<u8>) {
    let mut left = width;
    for word in words.iter().rev() {
        // All of the word, but for the highest one.
        let bits = (left - 1) % 64 + 1;
        let word = word << (64 - bits);
        let all = word.to_be_bytes();
        let end = text.len() + bits as usize;
        for byte in &all[..bits.div_ceil(8) as usize] {
            text.extend_from_slice(&DIGITS[usize::from(*byte)]);
        }
        text.truncate(end);
        left -= bits;
    }
}

/// The binary digits of each byte.
pub(super) const DIGITS: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            all[byte][bit] = b"01"[byte >> (7 - bit) & 1];
            bit += 1;
        }
        byte += 1;
    }
    all
};
