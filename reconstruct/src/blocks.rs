//! Bytes in blocks with checksums, so that no changed, missing or added bit goes unnoticed.
//!
//! A block is its length in bytes (32 bits, little endian), the bytes, and a checksum (CRC-32,
//! 32 bits, little endian) of everything up to there: head, earlier blocks, this length and these
//! bytes. Owns nothing of what the bytes mean.

use std::io::{self, BufRead, Read as _, Write};

use crc32fast::Hasher;

/// How many bytes a block has at most.
const MAX_LENGTH: usize = 1 << 16;

/// Writes blocks.
#[derive(Debug)]
pub(crate) struct BlockWriter<W> {
    out: W,
    sum: Hasher,
}

impl<W: Write> BlockWriter<W> {
    /// Starts a file with a head, which is written as it is.
    pub fn new(mut out: W, head: &str) -> io::Result<Self> {
        out.write_all(head.as_bytes())?;
        let mut sum = Hasher::new();
        sum.update(head.as_bytes());
        Ok(Self { out, sum })
    }

    /// Appends bytes, as one block or several.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for block in bytes.chunks(MAX_LENGTH) {
            let length = u32::try_from(block.len()).expect("blocks are short");
            for part in [&length.to_le_bytes(), block] {
                self.sum.update(part);
                self.out.write_all(part)?;
            }
            let sum = self.sum.clone().finalize();
            self.out.write_all(&sum.to_le_bytes())?;
        }
        Ok(())
    }

    /// Hands everything on to the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Why there is no next byte.
#[derive(Debug)]
pub(crate) enum BlockError {
    Io(io::Error),
    /// The file ends.
    End,
    /// The file ends within a block.
    Cut,
    /// A block is not what was written.
    Changed,
}

/// Reads blocks. No byte is handed out before its checksum is verified.
#[derive(Debug)]
pub(crate) struct BlockReader<R> {
    input: R,
    sum: Hasher,
    block: Vec<u8>,
    /// How many bytes of the block were handed out.
    read: usize,
}

impl<R: BufRead> BlockReader<R> {
    /// Goes on reading behind the head.
    pub fn new(input: R, head: &str) -> Self {
        let mut sum = Hasher::new();
        sum.update(head.as_bytes());
        Self {
            input,
            sum,
            block: Vec::new(),
            read: 0,
        }
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, BlockError> {
        loop {
            if let Some(&byte) = self.block.get(self.read) {
                self.read += 1;
                return Ok(byte);
            }
            self.next_block()?;
        }
    }

    /// What is left of the block.
    pub fn rest(&self) -> &[u8] {
        &self.block[self.read..]
    }

    /// Goes on behind so many bytes of [`rest`](Self::rest).
    pub fn skip(&mut self, bytes: usize) {
        self.read = self.block.len().min(self.read + bytes);
    }

    fn next_block(&mut self) -> Result<(), BlockError> {
        self.read = 0;
        self.block.clear();
        match self.take(4)? {
            0 => return Err(BlockError::End),
            4 => {}
            _ => return Err(BlockError::Cut),
        }
        self.sum.update(&self.block);
        let length = word(&self.block);
        self.block.clear();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_LENGTH {
            return Err(BlockError::Changed);
        }
        if self.take(length + 4)? != length + 4 {
            return Err(BlockError::Cut);
        }
        let sum = word(&self.block[length..]);
        self.block.truncate(length);
        self.sum.update(&self.block);
        if self.sum.clone().finalize() == sum {
            Ok(())
        } else {
            self.block.clear();
            Err(BlockError::Changed)
        }
    }

    /// Reads `count` bytes, or as many as there are.
    fn take(&mut self, count: usize) -> Result<usize, BlockError> {
        let mut input = self.input.by_ref().take(count as u64);
        input.read_to_end(&mut self.block).map_err(BlockError::Io)
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("it has four bytes"))
}
