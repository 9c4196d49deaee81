//! Bytes as DEFLATE has them (RFC 1951): literals and copies of earlier bytes, in the fixed codes (3.2.6).
//!
//! Owns how they are written. Does not know which bytes are worth a copy.

/// How far back a copy may reach.
pub(super) const WINDOW: usize = 1 << 15;
/// The lengths of copies.
const MIN_COPY: usize = 3;
pub(super) const MAX_COPY: usize = 258;

/// Bits that stand for something, the first one lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Code {
    bits: u32,
    size: u32,
}

impl Code {
    /// A Huffman code, which begins with its highest bit.
    const fn huffman(code: u32, size: u32) -> Self {
        Self {
            bits: code.reverse_bits() >> (u32::BITS - size),
            size,
        }
    }

    /// The code with the lowest bits of a number behind it.
    const fn followed_by(self, number: u32, size: u32) -> Self {
        Self {
            bits: self.bits | (number & ((1 << size) - 1)) << self.size,
            size: self.size + size,
        }
    }

    /// A literal, the end of a block (256), or the class of a length.
    const fn symbol(symbol: u32) -> Self {
        match symbol {
            0..144 => Self::huffman(0x30 + symbol, 8),
            144..256 => Self::huffman(0x190 + symbol - 144, 9),
            256..280 => Self::huffman(symbol - 256, 7),
            _ => Self::huffman(0xc0 + symbol - 280, 8),
        }
    }

    /// The length of a copy.
    const fn length(length: u32) -> Self {
        let above = length - 3;
        match length {
            3..11 => Self::symbol(257 + above),
            258 => Self::symbol(285),
            _ => {
                let extra = above.ilog2() - 2;
                let class = 261 + 4 * extra + (above >> extra & 3);
                Self::symbol(class).followed_by(above, extra)
            }
        }
    }

    /// How far back a copy begins, from 1 on and at most [`WINDOW`].
    pub fn distance(distance: usize) -> Self {
        let above = u32::try_from(distance - 1).expect("it is in the window");
        if above < 4 {
            return Self::huffman(above, 5);
        }
        let extra = above.ilog2() - 1;
        let class = 2 + 2 * extra + (above >> extra & 1);
        Self::huffman(class, 5).followed_by(above, extra)
    }
}

static LITERALS: [Code; 256] = {
    let mut codes = [Code { bits: 0, size: 0 }; 256];
    let mut byte: u32 = 0;
    while byte < 256 {
        codes[byte as usize] = Code::symbol(byte);
        byte += 1;
    }
    codes
};

static LENGTHS: [Code; MAX_COPY + 1] = {
    let mut codes = [Code { bits: 0, size: 0 }; MAX_COPY + 1];
    let mut length: u32 = 3;
    while length as usize <= MAX_COPY {
        codes[length as usize] = Code::length(length);
        length += 1;
    }
    codes
};

/// A block on its way.
#[derive(Debug)]
pub(super) struct Block {
    out: Vec<u8>,
    /// What is no whole byte yet, and how many bits that are.
    bits: u64,
    count: u32,
}

impl Block {
    /// The only block of a stream, which is appended to `out`.
    pub fn new(out: Vec<u8>) -> Self {
        let mut block = Self {
            out,
            bits: 0,
            count: 0,
        };
        // The last one, with fixed codes.
        block.put(Code {
            bits: 0b011,
            size: 3,
        });
        block
    }

    fn put(&mut self, code: Code) {
        self.bits |= u64::from(code.bits) << self.count;
        self.count += code.size;
        if self.count >= u32::BITS {
            let [a, b, c, d, ..] = self.bits.to_le_bytes();
            self.out.extend_from_slice(&[a, b, c, d]);
            self.bits >>= u32::BITS;
            self.count -= u32::BITS;
        }
    }

    /// Appends a byte.
    pub fn literal(&mut self, byte: u8) {
        self.put(LITERALS[usize::from(byte)]);
    }

    /// Appends `bytes`, which are the same as those before them at this distance.
    pub fn copy(&mut self, mut bytes: &[u8], distance: Code) {
        while bytes.len() >= MIN_COPY {
            let (now, rest) = bytes.split_at(bytes.len().min(MAX_COPY));
            self.put(LENGTHS[now.len()]);
            self.put(distance);
            bytes = rest;
        }
        for &byte in bytes {
            self.literal(byte);
        }
    }

    /// Ends the block: all bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.put(Code::symbol(256));
        let rest = self.bits.to_le_bytes();
        let rest = &rest[..self.count.div_ceil(8) as usize];
        self.out.extend_from_slice(rest);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::DeflateDecoder;

    use super::*;

    #[test]
    fn all_bytes_lengths_and_distances_come_back() {
        let mut plain: Vec<u8> = (0..=255).collect();
        let mut block = Block::new(Vec::new());
        for &byte in &plain {
            block.literal(byte);
        }
        let lengths = (0..2 * MAX_COPY + 5).map(|length| (length, 256));
        let bits = (0..16).map(|bits| 1 << bits);
        let distances = bits.flat_map(|at: usize| [at - at / 2, at - 1, at, at + 1]);
        let distances = distances.filter(|at| (1..=WINDOW).contains(at));
        // The window is full by the end of the lengths.
        for (length, distance) in lengths.chain(distances.map(|at| (7, at))) {
            let start = plain.len();
            for at in start..start + length {
                plain.push(plain[at - distance]);
            }
            let code = Code::distance(distance);
            block.copy(&plain[start..], code);
        }
        let mut unpacked = Vec::new();
        let packed = block.finish();
        DeflateDecoder::new(&packed[..])
            .read_to_end(&mut unpacked)
            .unwrap();
        assert!(plain.len() > WINDOW && unpacked == plain);
    }
}
