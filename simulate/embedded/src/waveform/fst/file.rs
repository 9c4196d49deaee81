//! The parts of an FST file: its header and its blocks of changes, each with its length before it.

use std::io::{self, SeekFrom, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::super::format::WriteSeek;
use super::block::{Whole, varint};

/// A block of changes, in which signals that change alike may share what they have.
const CHANGES: u8 = 8;

/// Changes are compressed as LZ4.
const LZ4: u8 = b'4';

/// Fewer bytes than this are not compressed.
const MIN_COMPRESSED: usize = 32;

/// Where the header has the time at which the file ends, and the numbers of scopes, names, signals and blocks.
const END: u64 = 17;
const NUMBERS: u64 = 41;

/// What the header says of a file once it is whole.
#[derive(Default)]
pub(super) struct Numbers {
    pub end: u64,
    pub scopes: u64,
    pub names: u64,
    pub signals: u64,
    pub blocks: u64,
}

impl Numbers {
    /// Writes them to the header, and what is still to be written to the file.
    pub fn finish(&self, output: &mut dyn WriteSeek) -> io::Result<()> {
        output.seek(SeekFrom::Start(END))?;
        output.write_all(&self.end.to_be_bytes())?;
        output.seek(SeekFrom::Start(NUMBERS))?;
        for number in [self.scopes, self.names, self.signals, self.blocks] {
            output.write_all(&number.to_be_bytes())?;
        }
        output.flush()
    }
}

/// Writes a block.
pub(super) fn write(block: &Whole, output: &mut dyn WriteSeek) -> io::Result<()> {
    let mut bytes = Vec::new();
    let signals = block.changes.len() as u64;
    let needed: usize = block.changes.iter().map(Vec::len).sum();
    for number in [block.start, block.end, needed as u64] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    // The frame is not compressed: its length is its length.
    for number in [block.frame.len() as u64, block.frame.len() as u64, signals] {
        varint(number, &mut bytes);
    }
    bytes.extend_from_slice(&block.frame);
    varint(signals, &mut bytes);
    let first = bytes.len();
    bytes.push(LZ4);
    let mut places = Places {
        last: first,
        ..Places::default()
    };
    for changes in &block.changes {
        places.next((!changes.is_empty()).then_some(bytes.len()));
        compressed(changes, &mut bytes);
    }
    let places = places.finish();
    bytes.extend_from_slice(&places);
    bytes.extend_from_slice(&(places.len() as u64).to_be_bytes());
    let mut times = ZlibEncoder::new(Vec::new(), Compression::fast());
    times.write_all(&block.times)?;
    let times = times.finish()?;
    // Equal lengths would say that they are not compressed.
    let times = if times.len() < block.times.len() {
        &times
    } else {
        &block.times
    };
    bytes.extend_from_slice(times);
    for number in [block.times.len() as u64, times.len() as u64, block.count] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    output.write_all(&[CHANGES])?;
    // The length counts itself.
    output.write_all(&(bytes.len() as u64 + 8).to_be_bytes())?;
    output.write_all(&bytes)
}

/// Appends the changes of a signal: their length, or 0 if they are not compressed, and themselves.
fn compressed(changes: &[u8], bytes: &mut Vec<u8>) {
    let smaller = (changes.len() >= MIN_COMPRESSED).then(|| lz4_flex::compress(changes));
    match smaller.filter(|smaller| smaller.len() < changes.len()) {
        Some(smaller) => {
            varint(changes.len() as u64, bytes);
            bytes.extend_from_slice(&smaller);
        }
        None if changes.is_empty() => {}
        None => {
            bytes.push(0);
            bytes.extend_from_slice(changes);
        }
    }
}

/// Where the changes of each signal are.
#[derive(Default)]
struct Places {
    bytes: Vec<u8>,
    /// The place before this one.
    last: usize,
    /// How many signals since then have no changes.
    without: u64,
}

impl Places {
    /// The changes of the next signal, if it has any.
    fn next(&mut self, place: Option<usize>) {
        let Some(place) = place else {
            self.without += 1;
            return;
        };
        self.skip();
        let distance = (place - std::mem::replace(&mut self.last, place)) as u64;
        signed(distance << 1 | 1, &mut self.bytes);
    }

    /// Tells of the signals without changes.
    fn skip(&mut self) {
        let without = std::mem::take(&mut self.without);
        if without > 0 {
            varint(without << 1, &mut self.bytes);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.skip();
        self.bytes
    }
}

/// Appends a number that may not look negative: its highest bit but one is 0.
fn signed(number: u64, bytes: &mut Vec<u8>) {
    varint(number, bytes);
    if let Some(last) = bytes.last_mut().filter(|last| **last & 0x40 != 0) {
        *last |= 0x80;
        bytes.push(0);
    }
}
