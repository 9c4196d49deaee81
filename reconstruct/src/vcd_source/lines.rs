//! The plain form of a VCD body that Verilator writes, one value or time a line, scanned for the wanted
//! signals alone.
//!
//! Whatever has another form is left where it is, for the `vcd` crate to read.

use super::codes::Codes;
use crate::sampler::{Edge, Sampler};
use crate::source::SourceError;

/// Lines that were taken in.
#[derive(Default)]
pub(super) struct Taken {
    pub bytes: usize,
    pub lines: u64,
    /// The edge with which the last one ended a timestamp.
    pub edge: Option<Edge>,
}

/// Takes in the lines at the beginning of `text`, up to the first one that ends a timestamp with an
/// edge, or before the first one that is not whole or not of the plain form.
pub(super) fn take(
    text: &[u8],
    sampler: &mut Sampler,
    codes: &Codes,
) -> Result<Taken, SourceError> {
    let mut taken = Taken::default();
    while let Some(first) = text.get(taken.bytes) {
        let rest = &text[taken.bytes..];
        if *first != b'#' {
            let Some(length) = value(rest, sampler, codes) else {
                break;
            };
            taken.bytes += length;
            taken.lines += 1;
            continue;
        }
        let Some((length, time)) = timestamp(rest) else {
            break;
        };
        taken.edge = sampler.advance(time)?;
        taken.bytes += length;
        taken.lines += 1;
        if taken.edge.is_some() {
            break;
        }
    }
    Ok(taken)
}

/// The length and time of a line with a timestamp.
fn timestamp(text: &[u8]) -> Option<(usize, u64)> {
    let mut time = 0;
    // More digits may be more than 64 bits.
    for (at, &byte) in text.iter().enumerate().take(21).skip(1) {
        match byte {
            b'\n' if at > 1 => return Some((at + 1, time)),
            b'0'..=b'9' if at < 20 => time = time * 10 + u64::from(byte - b'0'),
            _ => return None,
        }
    }
    None
}

/// How many bytes are 0 or 1 before the first one that is not.
fn bits(text: &[u8]) -> usize {
    /// The bit in which 0 and 1 differ, in each of eight bytes.
    const DIGIT: u64 = 0x0101_0101_0101_0101;
    const ZEROS: u64 = DIGIT * b'0' as u64;
    let (words, rest) = text.as_chunks();
    for (at, &word) in words.iter().enumerate() {
        let others = u64::from_le_bytes(word) & !DIGIT ^ ZEROS;
        if others != 0 {
            return 8 * at + others.trailing_zeros() as usize / 8;
        }
    }
    let rest = rest.iter().take_while(|byte| matches!(byte, b'0' | b'1'));
    8 * words.len() + rest.count()
}

/// Takes in the line at the beginning of `text`, if it is empty or has a value: its length.
#[inline]
fn value(text: &[u8], sampler: &mut Sampler, codes: &Codes) -> Option<usize> {
    match text[0] {
        b'\n' => Some(1),
        b'b' => {
            let mut width = bits(&text[1..]);
            if text.get(1 + width) != Some(&b' ') {
                let others = text[1 + width..].iter();
                width += others.take_while(|&&byte| bit(byte).is_some()).count();
            }
            let (bits, rest) = text[1..].split_at(width);
            if bits.is_empty() || rest.first() != Some(&b' ') {
                return None;
            }
            let (length, targets) = codes.line(rest)?;
            if let Some(targets) = targets {
                let mut value = 0u64;
                let mut unknown = false;
                for &byte in bits {
                    let (bit, odd) = bit(byte)?;
                    value = (value << 1) | bit;
                    unknown |= odd;
                }
                sampler.note(targets, value, unknown);
            }
            Some(1 + width + length)
        }
        byte => {
            let (value, unknown) = bit(byte)?;
            let (length, targets) = codes.line(text)?;
            if let Some(targets) = targets {
                sampler.note(targets, value, unknown);
            }
            Some(length)
        }
    }
}

/// The value of a bit, and whether it is x or z.
fn bit(byte: u8) -> Option<(u64, bool)> {
    match byte {
        b'0' => Some((0, false)),
        b'1' => Some((1, false)),
        b'x' | b'X' | b'z' | b'Z' => Some((0, true)),
        _ => None,
    }
}
