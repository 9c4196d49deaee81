//! Compresses packets on their way to a file.
//!
//! Owns which bytes are copies of earlier ones. Nearly all packets come from a [`Template`], and repeat those that came from
//! it before, but for its numbers: so no compressor need look for what they repeat.

use std::io::{self, Write};

use prost::encoding::bytes;

use super::deflate::{Block, Code, MAX_COPY, WINDOW};
use super::packets::Template;
use super::proto::tag;

/// Bytes that are compressed together.
const CHUNK: usize = 1 << 20;
/// The header of zlib's format (RFC 1950): DEFLATE with its largest window, by the fastest way.
const HEADER: [u8; 2] = [0x78, 0x01];
/// Bytes that have a place in [`Chunk::latest`], of so many places.
const SEARCHED: usize = 4;
const PLACES: u32 = 1 << 13;
/// Bytes of a template of which matches are remembered: those of smaller ones mostly go on beyond it.
const MIN_TEMPLATE: usize = 256;

/// Packets that are compressed in chunks on their way to a file.
#[derive(Debug)]
pub(super) struct Packets<W> {
    /// Those of each stream that are not written yet.
    chunks: [Chunk; 2],
    out: W,
}

/// What is compressed together, since it is alike. The packets of a stream stay in their
/// order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Main,
    Updates,
}

/// What became of a template so far.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Where it was filled last.
    place: Option<Place>,
    /// The matches in it when it was packed last, ascending, and how many bytes they were when all of it was searched.
    matches: Vec<Match>,
    most: usize,
}

/// The number of a chunk, and where in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    chunk: u64,
    at: usize,
}

/// Bytes that are the same as earlier ones: where in the template, how many, and how far back those are.
#[derive(Debug, Clone, Copy)]
struct Match {
    at: usize,
    length: usize,
    distance: usize,
}

/// Packets of a stream, a part of them compressed.
#[derive(Debug)]
struct Chunk {
    number: u64,
    bytes: Vec<u8>,
    block: Block,
    /// The bytes in `block`.
    packed: usize,
    /// The bytes from there up to here are a copy of those at this distance.
    copied: usize,
    distance: usize,
    code: Code,
    /// Where the latest bytes with each hash are that were looked for, plus 1.
    latest: Vec<u32>,
    /// Room for the matches of a template.
    matches: Vec<Match>,
}

impl<W: Write> Packets<W> {
    pub fn new(out: W) -> Self {
        Self {
            chunks: [Chunk::new(), Chunk::new()],
            out,
        }
    }

    /// Where packets of a stream are to be appended that do not come again.
    pub fn chunk(&mut self, stream: Stream) -> &mut Vec<u8> {
        &mut self.chunks[stream as usize].bytes
    }

    /// Appends the packets that a template was made of.
    pub fn add(&mut self, stream: Stream, template: &mut Template) {
        let chunk = &mut self.chunks[stream as usize];
        template.past.place = Some(chunk.end());
        chunk.bytes.extend_from_slice(template.bytes());
    }

    /// Appends the packets of a template with these numbers, if they fit.
    pub fn fill(
        &mut self,
        stream: Stream,
        template: &mut Template,
        numbers: impl Iterator<Item = u64>,
    ) -> bool {
        let chunk = &mut self.chunks[stream as usize];
        let end = chunk.end();
        if !template.fill(numbers, &mut chunk.bytes) {
            return false;
        }
        let before = template.past.place.replace(end);
        let before = before.filter(|before| before.chunk == end.chunk);
        let distance = before.map(|before| end.at - before.at);
        match distance.filter(|&distance| distance <= WINDOW) {
            Some(distance) => chunk.repeat(end.at, distance, template),
            None if template.bytes().len() >= MIN_TEMPLATE => {
                chunk.try_again(end.at, &mut template.past);
            }
            // It is searched with what comes next.
            None => {}
        }
        true
    }

    /// Writes the packets if there are enough.
    pub fn flush_full(&mut self) -> io::Result<()> {
        let [main, updates] = self
            .chunks
            .each_ref()
            .map(|chunk| chunk.bytes.len() >= CHUNK);
        // Tracks are described in the main stream.
        if main || updates {
            self.flush(Stream::Main)?;
        }
        if updates {
            self.flush(Stream::Updates)?;
        }
        Ok(())
    }

    /// Writes a packet that holds those of a stream.
    fn flush(&mut self, stream: Stream) -> io::Result<()> {
        let chunk = &mut self.chunks[stream as usize];
        if chunk.bytes.is_empty() {
            return Ok(());
        }
        let compressed = chunk.finish();
        let mut field = Vec::with_capacity(compressed.len() + 8);
        bytes::encode(tag::PACKET_COMPRESSED_PACKETS, &compressed, &mut field);
        let mut packet = Vec::with_capacity(field.len() + 8);
        bytes::encode(tag::TRACE_PACKET, &field, &mut packet);
        self.out.write_all(&packet)
    }

    /// Writes the rest.
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush(Stream::Main)?;
        self.flush(Stream::Updates)?;
        self.out.flush()
    }
}

impl Chunk {
    fn new() -> Self {
        Self {
            number: 0,
            bytes: Vec::new(),
            block: Block::new(HEADER.to_vec()),
            packed: 0,
            copied: 0,
            distance: 0,
            code: Code::default(),
            latest: vec![0; PLACES as usize],
            matches: Vec::new(),
        }
    }

    fn end(&self) -> Place {
        Place {
            chunk: self.number,
            at: self.bytes.len(),
        }
    }

    /// Packs what a template has just appended from `start` on: it was filled at this distance, too.
    fn repeat(&mut self, start: usize, distance: usize, template: &Template) {
        if (self.copied, self.distance) != (start, distance) {
            self.search(start, |_| {});
            self.distance = distance;
            self.code = Code::distance(distance);
        }
        for blank in template.blanks() {
            for at in start + blank.start..start + blank.end {
                let byte = self.bytes[at];
                if byte != self.bytes[at - distance] {
                    self.block.copy(&self.bytes[self.packed..at], self.code);
                    self.block.literal(byte);
                    self.packed = at + 1;
                }
            }
        }
        self.copied = self.bytes.len();
    }

    /// Packs what a template has just appended from `start` on, and which it appended too long ago to repeat that. What it repeats is
    /// mostly the same as then.
    fn try_again(&mut self, start: usize, past: &mut Past) {
        self.search(start, |_| {});
        let end = self.bytes.len();
        let mut matches = std::mem::take(&mut self.matches);
        let mut add = |copy: Match| {
            let at = copy.at - start;
            matches.push(Match { at, ..copy });
        };
        for &copy in &past.matches {
            let to = start + copy.at;
            let bytes = &self.bytes[to..to + copy.length];
            let from = to.checked_sub(copy.distance);
            if from.is_some_and(|from| self.bytes[from..from + copy.length] == *bytes) {
                for &byte in &self.bytes[self.packed..to] {
                    self.block.literal(byte);
                }
                self.block.copy(bytes, Code::distance(copy.distance));
                self.packed = to + copy.length;
                self.copied = self.packed;
                add(Match { at: to, ..copy });
            } else {
                self.search(to + copy.length, &mut add);
            }
        }
        let is_first = past.matches.is_empty();
        if is_first {
            self.search(end, &mut add);
        }
        for &byte in &self.bytes[self.packed..] {
            self.block.literal(byte);
        }
        (self.packed, self.copied) = (end, end);
        let copied = matches.iter().map(|copy| copy.length).sum();
        std::mem::swap(&mut past.matches, &mut matches);
        matches.clear();
        self.matches = matches;
        if is_first {
            past.most = copied;
        } else if copied < past.most - past.most / 16 {
            // There are better ones by now.
            past.matches.clear();
        }
    }

    /// Packs all bytes up to `end`: looks for what they repeat, and tells of what it finds.
    fn search(&mut self, end: usize, mut tell: impl FnMut(Match)) {
        let copied = &self.bytes[self.packed..self.copied];
        self.block.copy(copied, self.code);
        let mut at = self.copied;
        while at < end {
            let rest = &self.bytes[at..end.min(at + MAX_COPY)];
            let from = rest.first_chunk().and_then(|first| {
                // Of the numbers that scatter well, one that is known to (2^32 divided by the golden ratio).
                let hash = u32::from_le_bytes(*first).wrapping_mul(0x9e37_79b1);
                let hash = hash >> (u32::BITS - PLACES.ilog2());
                let place = u32::try_from(at + 1).unwrap_or(0);
                let latest = std::mem::replace(&mut self.latest[hash as usize], place);
                let from = (latest as usize).checked_sub(1)?;
                (at - from <= WINDOW).then_some(from)
            });
            let length = from.map_or(0, |from| common(rest, &self.bytes[from..]));
            match from {
                Some(from) if length >= SEARCHED => {
                    let distance = at - from;
                    self.block.copy(&rest[..length], Code::distance(distance));
                    tell(Match {
                        at,
                        length,
                        distance,
                    });
                    at += length;
                }
                _ => {
                    self.block.literal(rest[0]);
                    at += 1;
                }
            }
        }
        self.packed = end;
        self.copied = end;
    }

    /// All bytes in zlib's format. The next ones are another chunk.
    fn finish(&mut self) -> Vec<u8> {
        self.search(self.bytes.len(), |_| {});
        let next = Block::new(HEADER.to_vec());
        let mut out = std::mem::replace(&mut self.block, next).finish();
        let sum = zlib_rs::adler32::adler32(1, &self.bytes);
        out.extend_from_slice(&sum.to_be_bytes());
        self.number += 1;
        self.bytes.clear();
        self.packed = 0;
        self.copied = 0;
        self.latest.fill(0);
        out
    }
}

/// How many bytes are the same where two sequences begin.
fn common(some: &[u8], others: &[u8]) -> usize {
    let (words, rest) = some.as_chunks::<8>();
    let (other_words, _) = others.as_chunks::<8>();
    let mut same = 0;
    for (word, other) in words.iter().zip(other_words) {
        let differ = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return same + differ.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    let rest = rest.iter().zip(&others[same..]);
    same + rest.take_while(|(byte, other)| byte == other).count()
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read as _;
    use std::sync::{Arc, Mutex};

    use flate2::bufread::ZlibDecoder;
    use proptest::prelude::*;
    use prost::encoding::{decode_key, decode_varint};

    use super::*;

    /// A file in memory, of limited size.
    #[derive(Debug, Clone)]
    pub struct Shared {
        bytes: Arc<Mutex<Vec<u8>>>,
        room: usize,
    }

    impl Default for Shared {
        fn default() -> Self {
            Self {
                bytes: Arc::default(),
                room: usize::MAX,
            }
        }
    }

    impl Shared {
        pub fn bytes(&self) -> Vec<u8> {
            self.bytes.lock().unwrap().clone()
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut all = self.bytes.lock().unwrap();
            if all.len() + bytes.len() > self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            all.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Hands on so many bytes, then finishes.
    fn write(file: Shared, length: usize) -> io::Result<()> {
        let mut packets = Packets::new(file);
        for byte in (0..251).cycle().take(length) {
            packets.chunk(Stream::Main).push(byte);
            packets.flush_full()?;
        }
        packets.finish()
    }

    proptest! {
        #[test]
        fn packets_come_back(
            pieces in prop::collection::vec((0..6_usize, prop::array::uniform2(0..70_000_u64), any::<u8>()), 1..400)
        ) {
            let file = Shared::default();
            let mut packets = Packets::new(file.clone());
            let mut plain = Vec::new();
            let mut templates: [_; 5] = std::array::from_fn(|_| Template::default());
            for (which, numbers, byte) in pieces {
                let Some(template) = templates.get_mut(which) else {
                    // A piece that comes from none.
                    let piece = vec![byte; 200 * usize::from(byte)];
                    packets.chunk(Stream::Main).extend(&piece);
                    plain.extend(piece);
                    continue;
                };
                if !packets.fill(Stream::Main, template, numbers.into_iter()) {
                    let [first, second] = numbers;
                    *template = Template::of(&[byte; 300][..40 * which]);
                    template.varint(first, 0);
                    template.plain(b"between");
                    template.fixed(tag::EVENT_FLOW_IDS, second + 1);
                    template.plain(&[7; 1000]);
                    packets.add(Stream::Main, template);
                }
                let chunk = packets.chunk(Stream::Main);
                plain.extend_from_slice(&chunk[template.past.place.unwrap().at..]);
                packets.flush_full().unwrap();
            }
            packets.finish().unwrap();
            prop_assert!(unpacked(&file) == plain);
        }
    }

    /// The packets in a file.
    pub fn unpacked(file: &Shared) -> Vec<u8> {
        let mut plain = Vec::new();
        let bytes = file.bytes();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            // The packet, and the field in it.
            for _ in 0..2 {
                decode_key(&mut rest).unwrap();
                decode_varint(&mut rest).unwrap();
            }
            let mut packed = ZlibDecoder::new(rest);
            packed.read_to_end(&mut plain).unwrap();
            let read = usize::try_from(packed.total_in()).unwrap();
            rest = &rest[read..];
        }
        plain
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        for length in [10, 20 * CHUNK] {
            let whole = Shared::default();
            write(whole.clone(), length).unwrap();
            let written = whole.bytes().len();
            for room in [0, written / 2, written - 1] {
                let full = Shared {
                    room,
                    ..Shared::default()
                };
                let error = write(full, length).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            }
        }
    }
}
