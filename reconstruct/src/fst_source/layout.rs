//! The blocks of an FST file: whether they are all there, before any is decoded.
//!
//! The `fst-reader` crate believes what lengths a file tells; a damaged one would have it ask for any amount of memory.
//! The format: *Implementation of an efficient method for digital waveform compression* by Tony Bybell (manual of
//! `GTKWave`, appendix F), and its `fstapi.c`.

use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom};

use super::damaged;
use crate::source::SourceError;

/// The types of blocks. A writer that is not done yet has [`SKIPPED`] where a header will be.
const HEADER: u8 = 0;
const VALUES: [u8; 3] = [1, 5, 8];
const BLACKOUT: u8 = 2;
const GEOMETRY: u8 = 3;
const HIERARCHY: [u8; 3] = [4, 6, 7];
const ZIPPED: u8 = 254;
const SKIPPED: u8 = 255;

/// The length of a header, as it tells it.
const HEADER_LENGTH: u64 = 329;

/// No decompressor makes more of a byte.
const MAX_RATIO: u64 = 1100;

/// Whether a file that begins with these bytes is an FST file.
pub fn is_fst(start: &[u8]) -> bool {
    match start.split_first() {
        Some((&HEADER, length)) => length.starts_with(&HEADER_LENGTH.to_be_bytes()),
        // A gzip stream follows the two lengths.
        Some((&ZIPPED, rest)) => rest.get(16..18) == Some(&[0x1f, 0x8b]),
        _ => false,
    }
}

/// Looks whether all blocks are there, with lengths that can be.
///
/// # Errors
/// When they are not.
pub(super) fn check(input: &mut (impl BufRead + Seek)) -> Result<(), SourceError> {
    let cut = || SourceError::Truncated;
    let length = input.seek(SeekFrom::End(0))?;
    let mut at = 0;
    let (mut has_names, mut has_geometry) = (false, false);
    // The blocks of values that there are, and that the header tells of.
    let (mut parts, mut all_parts) = (0, 0);
    while at < length {
        input.seek(SeekFrom::Start(at))?;
        let [kind] = bytes(input)?;
        let size = number(input)?;
        let end = at.checked_add(1).and_then(|start| start.checked_add(size));
        let end = end
            .filter(|end| *end <= length && size >= 8)
            .ok_or_else(cut)?;
        let most = size.saturating_mul(MAX_RATIO);
        let fits = match kind {
            HEADER if size == HEADER_LENGTH => {
                // First and last time, a sample number, the writer's memory, and three other counts.
                input.seek(SeekFrom::Current(7 * 8))?;
                all_parts = number(input)?;
                true
            }
            HEADER => false,
            BLACKOUT => true,
            GEOMETRY => {
                has_geometry = true;
                let (whole, signals) = (number(input)?, number(input)?);
                whole <= most && signals <= whole
            }
            ZIPPED => {
                // The blocks are in it.
                (has_names, has_geometry) = (true, true);
                number(input)? <= most
            }
            _ if HIERARCHY.contains(&kind) => {
                has_names = true;
                number(input)? <= most
            }
            _ if VALUES.contains(&kind) => {
                parts += 1;
                size >= 64 && values_fit(input, end, most)?
            }
            SKIPPED => return Err(cut()),
            _ => return Err(damaged(format!("it has a block of type {kind}"))),
        };
        if !fits {
            return Err(damaged(format!(
                "the block at byte {at} has impossible lengths"
            )));
        }
        at = end;
    }
    // The names come last where a writer was interrupted.
    if has_names && has_geometry && parts >= all_parts {
        Ok(())
    } else {
        Err(cut())
    }
}

/// Whether the lengths in a block of values can be, which ends at `end`: those of the values at its beginning, of the
/// signals' changes and of the times.
fn values_fit(input: &mut (impl BufRead + Seek), end: u64, most: u64) -> Result<bool, SourceError> {
    // Its first and last time, and the memory that its writer took.
    input.seek(SeekFrom::Current(24))?;
    let (whole, compressed, signals) = (varint(input)?, varint(input)?, varint(input)?);
    let (Ok(compressed), true) = (i64::try_from(compressed), whole <= most && signals <= most)
    else {
        return Ok(false);
    };
    input.seek(SeekFrom::Current(compressed))?;
    let changing = varint(input)?;
    input.seek(SeekFrom::Start(end - 24))?;
    let (whole, compressed, times) = (number(input)?, number(input)?, number(input)?);
    Ok(changing <= most && whole <= most && compressed <= most && times <= whole)
}

/// A number of eight bytes.
fn number(input: &mut impl Read) -> Result<u64, SourceError> {
    bytes(input).map(u64::from_be_bytes)
}

/// A number of seven bits a byte, the lowest first.
fn varint(input: &mut impl Read) -> Result<u64, SourceError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = bytes(input)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Ok(number)
}

fn bytes<const N: usize>(input: &mut impl Read) -> Result<[u8; N], SourceError> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(SourceError::Truncated),
        Err(error) => Err(error.into()),
    }
}
