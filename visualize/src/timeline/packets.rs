//! Packets as bytes that are written again and again, each time with other numbers.

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};

use super::proto::{self, tag};

/// Packets of a sequence, or an event in one of them, with blanks for numbers.
#[derive(Debug, Default)]
pub struct Template {
    bytes: Vec<u8>,
    /// Where numbers are, in their order.
    blanks: Vec<Blank>,
}

/// The bytes of a number, which any other number may take that needs as many.
#[derive(Debug, Clone, Copy)]
struct Blank {
    at: usize,
    size: usize,
    encoding: Encoding,
    least: u64,
    greatest: u64,
}

/// How a number is written.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Varint,
    Fixed,
}

impl Template {
    /// What stays as it is.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            blanks: Vec::new(),
        }
    }

    /// The bytes, with the numbers that they were made of.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends bytes that stay as they are.
    pub(super) fn plain(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a number, at least `least`, as a varint.
    pub(super) fn varint(&mut self, number: u64, least: u64) {
        let size = encoded_len_varint(number);
        let bits = 7 * size;
        let shortest = if size == 1 { 0 } else { 1 << (bits - 7) };
        let greatest = u64::MAX >> 64_usize.saturating_sub(bits);
        self.blank(size, Encoding::Varint, least.max(shortest), greatest);
        encode_varint(number, &mut self.bytes);
    }

    /// Appends a field of a number other than 0 that has always the same size.
    pub(super) fn fixed(&mut self, tag: u32, number: u64) {
        encode_key(tag, WireType::SixtyFourBit, &mut self.bytes);
        self.blank(size_of::<u64>(), Encoding::Fixed, 1, u64::MAX);
        self.plain(&number.to_le_bytes());
    }

    /// Takes a number that is not written, as long as it is this one.
    pub(super) fn absent(&mut self, number: u64) {
        self.blank(0, Encoding::Varint, number, number);
    }

    fn blank(&mut self, size: usize, encoding: Encoding, least: u64, greatest: u64) {
        self.blanks.push(Blank {
            at: self.bytes.len(),
            size,
            encoding,
            least,
            greatest,
        });
    }

    /// Appends a packet with this event; `passed` is how long after the packet before, a number like
    /// others, or `None` if there is one before that is of the same time.
    pub(super) fn packet(&mut self, sequence: u32, passed: Option<u64>, event: &Self) {
        let ids = proto::TracePacket {
            trusted_packet_sequence_id: Some(sequence),
            sequence_flags: Some(proto::SEQ_NEEDS_INCREMENTAL_STATE),
            ..proto::TracePacket::default()
        };
        let mut fields = ids.encode_to_vec();
        encode_key(
            tag::PACKET_TRACK_EVENT,
            WireType::LengthDelimited,
            &mut fields,
        );
        encode_varint(event.bytes.len() as u64, &mut fields);
        let mut time = Vec::new();
        encode_key(tag::PACKET_TIMESTAMP, WireType::Varint, &mut time);
        let length =
            time.len() + encoded_len_varint(passed.unwrap_or(0)) + fields.len() + event.bytes.len();
        encode_key(
            tag::TRACE_PACKET,
            WireType::LengthDelimited,
            &mut self.bytes,
        );
        encode_varint(length as u64, &mut self.bytes);
        self.plain(&time);
        match passed {
            Some(passed) => self.varint(passed, 0),
            None => encode_varint(0, &mut self.bytes),
        }
        self.plain(&fields);
        let start = self.bytes.len();
        self.plain(&event.bytes);
        self.blanks.extend(event.blanks.iter().map(|blank| Blank {
            at: start + blank.at,
            ..*blank
        }));
    }

    /// Appends the packets to `out` with these numbers, if they fit. Nothing fits in an empty template.
    pub(super) fn fill(&self, numbers: impl Iterator<Item = u64>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let packets = &mut out[start..];
        for (blank, number) in self.blanks.iter().zip(numbers) {
            if number < blank.least || number > blank.greatest {
                out.truncate(start);
                return false;
            }
            let bytes = &mut packets[blank.at..blank.at + blank.size];
            match blank.encoding {
                Encoding::Varint => fill_varint(number, bytes),
                Encoding::Fixed => bytes.copy_from_slice(&number.to_le_bytes()),
            }
        }
        !self.bytes.is_empty()
    }
}

fn fill_varint(number: u64, bytes: &mut [u8]) {
    let part = |at: usize| (number >> (7 * at)).to_le_bytes()[0];
    match bytes {
        [] => {}
        // Most are as short.
        [only] => *only = part(0),
        [first, last] => {
            *first = 0x80 | part(0);
            *last = part(1);
        }
        [parts @ .., last] => {
            for (at, byte) in parts.iter_mut().enumerate() {
                *byte = 0x80 | part(at);
            }
            *last = part(parts.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets with these numbers: the time, one as a varint unless it is 1, one of a fixed size unless
    /// it is 0.
    fn packets(numbers: [u64; 3]) -> Template {
        let [passed, varint, fixed] = numbers;
        let mut event = Template::of(b"begin");
        match varint {
            1 => event.absent(1),
            _ => event.varint(varint, 2),
        }
        match fixed {
            0 => event.absent(0),
            _ => event.fixed(tag::EVENT_FLOW_IDS, fixed),
        }
        let mut template = Template::default();
        template.packet(1, Some(passed), &event);
        template.packet(1, None, &Template::of(b"end"));
        template
    }

    fn sizes(template: &Template) -> Vec<usize> {
        template.blanks.iter().map(|blank| blank.size).collect()
    }

    #[test]
    fn filled_packets_are_those_made_anew() {
        let some = [
            1,
            2,
            127,
            128,
            16_383,
            16_384,
            1 << 56,
            (1 << 63) - 1,
            1 << 63,
            u64::MAX,
        ];
        let all = || {
            let pairs = some.iter().flat_map(|&a| some.iter().map(move |&b| (a, b)));
            pairs.flat_map(|(a, b)| [[0, b, 0], [a, b, 7], [b, a, u64::MAX]])
        };
        for known in all().map(packets) {
            for numbers in all() {
                let mut out = b"before".to_vec();
                let fits = known.fill(numbers.into_iter(), &mut out);
                let anew = packets(numbers);
                assert_eq!(fits, sizes(&known) == sizes(&anew));
                let expected = if fits { anew.bytes() } else { &[] };
                assert_eq!(out, [b"before", expected].concat());
            }
        }
        let nothing = Template::default().fill([1].into_iter(), &mut Vec::new());
        assert!(!nothing);
    }
}
