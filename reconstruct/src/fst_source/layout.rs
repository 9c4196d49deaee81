//! The blocks of an FST file: whether they are all there, before any is decoded.
//!
//! The `fst-reader` crate believes what lengths a file tells; a damaged one would have it ask for any amount of memory. So every length
//! that it makes room for is held against the bytes that are there.
//! The format: *Implementation of an efficient method for digital waveform compression* by Tony Bybell (manual of
//! `GTKWave`, appendix F), and its `fstapi.c`.

use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};

use flate2::bufread::{GzDecoder, ZlibDecoder};

use crate::source::SourceError;

/// The types of blocks. A writer that is not done yet has [`SKIPPED`] where a header will be.
const HEADER: u8 = 0;
const VALUES: [u8; 3] = [1, 5, 8];
/// Those whose chain of signals is written in the newest of three ways.
const NEWEST_VALUES: u8 = 8;
const BLACKOUT: u8 = 2;
const GEOMETRY: u8 = 3;
const HIERARCHY: [u8; 3] = [4, 6, 7];
/// That of names which are compressed twice.
const TWICE: u8 = 7;
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
    let mut has_names = false;
    let mut geometry = None;
    // The blocks of values that there are, and that the header tells of; the most signals of one.
    let (mut parts, mut all_parts, mut changing) = (0, 0, 0);
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
            // Each takes two bytes at least.
            BLACKOUT => varint(input)? <= size / 2,
            GEOMETRY => {
                geometry = signals(input, size, length.saturating_mul(MAX_RATIO))?;
                geometry.is_some()
            }
            ZIPPED if at == 0 => return check_unzipped(input, most),
            _ if HIERARCHY.contains(&kind) => {
                has_names = true;
                number(input)? <= most && (kind != TWICE || varint(input)? <= most)
            }
            _ if VALUES.contains(&kind) => {
                parts += 1;
                let signals = match size {
                    64.. => values(input, kind, end, most)?,
                    _ => None,
                };
                changing = changing.max(signals.unwrap_or(0));
                signals.is_some()
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
    match geometry {
        // The names come last where a writer was interrupted.
        Some(signals) if has_names && parts >= all_parts => {
            if changing > signals {
                return Err(damaged(format!(
                    "{changing} of its {signals} signals change"
                )));
            }
            Ok(())
        }
        _ => Err(cut()),
    }
}

/// The same for the blocks in a compressed one.
fn check_unzipped(input: &mut impl BufRead, most: u64) -> Result<(), SourceError> {
    let whole = number(input)?;
    let mut blocks = Vec::new();
    let read = GzDecoder::new(input)
        .take(whole.min(most))
        .read_to_end(&mut blocks);
    if read.is_err() || blocks.len() as u64 != whole || blocks.first() == Some(&ZIPPED) {
        return Err(damaged("its one compressed block is damaged"));
    }
    check(&mut Cursor::new(blocks))
}

/// The number of signals in a block of their widths, of which none is beyond `most`.
fn signals(input: &mut impl BufRead, size: u64, most: u64) -> Result<Option<u64>, SourceError> {
    let (whole, signals) = (number(input)?, number(input)?);
    let Some(compressed) = size.checked_sub(24).filter(|_| signals <= whole) else {
        return Ok(None);
    };
    let widths = input.take(compressed);
    let mut widths: Box<dyn BufRead + '_> = if compressed == whole {
        Box::new(widths)
    } else {
        Box::new(BufReader::new(ZlibDecoder::new(widths)))
    };
    for _ in 0..signals {
        // Of one that has a length with each value, and of one of 32 bits, nothing is made room for.
        match varint(&mut widths) {
            Ok(width) if width <= most || width >= u64::from(u32::MAX) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(signals))
}

/// The number of signals in a block of values, if its lengths can be, which ends at `end`: those of the values at its beginning, of
/// the signals' changes and of the times.
fn values(
    input: &mut (impl BufRead + Seek),
    kind: u8,
    end: u64,
    most: u64,
) -> Result<Option<u64>, SourceError> {
    // Its first and last time, and the memory that its writer took.
    input.seek(SeekFrom::Current(24))?;
    let (whole, compressed, signals) = (varint(input)?, varint(input)?, varint(input)?);
    let (Ok(compressed), true) = (i64::try_from(compressed), whole <= most && signals <= most)
    else {
        return Ok(None);
    };
    input.seek(SeekFrom::Current(compressed))?;
    let changing = varint(input)?;
    let first = input.stream_position()?;
    input.seek(SeekFrom::Start(end - 24))?;
    let (whole, compressed, times) = (number(input)?, number(input)?, number(input)?);
    if whole > most || times > whole {
        return Ok(None);
    }
    // The chain tells where the changes of each signal are. Its length follows it.
    let Some(chain_end) = (end - 24 - 8).checked_sub(compressed) else {
        return Ok(None);
    };
    input.seek(SeekFrom::Start(chain_end))?;
    let length = number(input)?;
    let chain = chain_end.checked_sub(length);
    let Some(chain) = chain.filter(|chain| *chain >= first) else {
        return Ok(None);
    };
    input.seek(SeekFrom::Start(chain))?;
    let mut links = Vec::new();
    input.take(length).read_to_end(&mut links)?;
    let Some(mut offsets) = offsets(&links, kind, changing, chain - first)? else {
        return Ok(None);
    };
    offsets.push(chain - first);
    let mut at = 0;
    input.seek(SeekFrom::Start(first))?;
    for pair in offsets.windows(2) {
        let &[offset, next] = pair else {
            continue;
        };
        let skipped = i64::try_from(offset - at).unwrap_or(i64::MAX);
        input.seek_relative(skipped)?;
        let mut read = 0;
        let whole = varint_of(input, &mut read)?;
        at = offset + read;
        if whole > (next - offset).saturating_mul(MAX_RATIO) {
            return Ok(None);
        }
    }
    Ok(Some(changing))
}

/// Where the changes of signals are, ascending, as the chain tells; `None` if there are more than `signals`, or some are beyond `end`.
fn offsets(
    mut chain: &[u8],
    kind: u8,
    signals: u64,
    end: u64,
) -> Result<Option<Vec<u64>>, SourceError> {
    let mut offsets: Vec<u64> = Vec::new();
    let mut count = 0_u64;
    while let [first, ..] = chain {
        let is_change = first & 1 == 1;
        let (more, step) = match kind {
            NEWEST_VALUES if is_change => (1, signed(&mut chain)? >> 1),
            NEWEST_VALUES => (varint(&mut chain)? >> 1, 0),
            _ => match varint(&mut chain)? {
                // The number of the signal whose changes these are follows.
                0 => {
                    varint(&mut chain)?;
                    (1, 0)
                }
                link if is_change => (1, (link >> 1).cast_signed()),
                link => (link >> 1, 0),
            },
        };
        count = count.saturating_add(more);
        if let Ok(step) = u64::try_from(step)
            && step > 0
        {
            let offset = offsets.last().copied().unwrap_or(0).saturating_add(step);
            if offset >= end {
                return Ok(None);
            }
            offsets.push(offset);
        }
    }
    Ok((count <= signals).then_some(offsets))
}

/// A number of eight bytes.
fn number(input: &mut impl Read) -> Result<u64, SourceError> {
    bytes(input).map(u64::from_be_bytes)
}

/// A number of seven bits a byte, the lowest first.
fn varint(input: &mut impl Read) -> Result<u64, SourceError> {
    varint_of(input, &mut 0)
}

/// The same; `read` bytes more were read then.
fn varint_of(input: &mut impl Read, read: &mut u64) -> Result<u64, SourceError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = bytes(input)?;
        *read += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Ok(number)
}

/// The same with a sign: it is the highest bit.
fn signed(input: &mut impl Read) -> Result<i64, SourceError> {
    let mut read = 0;
    let number = varint_of(input, &mut read)?.cast_signed();
    let above = 64_u64.saturating_sub(7 * read);
    Ok(number << above >> above)
}

fn bytes<const N: usize>(input: &mut impl Read) -> Result<[u8; N], SourceError> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(SourceError::Truncated),
        Err(error) => Err(error.into()),
    }
}

/// The error of a file that was damaged.
pub(super) fn damaged(error: impl std::fmt::Display) -> SourceError {
    SourceError::Damaged {
        problem: error.to_string(),
    }
}
