//! The order of a run's cycles, in bounded memory: all of it, compressed, where that is small
//! enough, and else only how many cycles of each class there are in equal parts of the run.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use petal_metadata::{Id, Metadata};
use petal_reconstruct::{Event, Overhead, Run};
use serde::Serialize;

use crate::ledger::Class;

/// The classes that a cycle can have: useful, only conditions, and the kinds of overhead.
pub(crate) const CLASSES: usize = 2 + Overhead::ALL.len();

/// Bytes that the compressed order may take.
const MAX_BYTES: usize = 2 << 20;

/// How many parts the run is divided into at most.
const MAX_BINS: usize = 2048;

/// The order in which the trees of a trace were active.
#[derive(Debug)]
pub struct Order<'a> {
    metadata: &'a Metadata,
    /// The class of each tree.
    classes: Vec<usize>,
    runs: Packed,
    /// `runs`, once they are over.
    packed: Option<Vec<u8>>,
    bins: Bins,
}

impl<'a> Order<'a> {
    /// The order of a trace of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            classes: Vec::new(),
            runs: Packed::new(MAX_BYTES),
            packed: None,
            bins: Bins::default(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Tree(tree) => self.classes.push(match Class::of(self.metadata, tree) {
                Class::Useful => 0,
                Class::Condition => 1,
                Class::Overhead(_, charge) => 2 + charge.kind as usize,
            }),
            Event::Run(Run { tree, cycles, .. }) => {
                // The lowest bit tells whether a length follows.
                self.runs
                    .number((tree.index() as u64) << 1 | u64::from(*cycles > 1));
                if *cycles > 1 {
                    self.runs.number(*cycles);
                }
                self.bins.add(self.classes[tree.index()], *cycles);
            }
            Event::End { .. } => self.packed = self.runs.finish(),
            Event::Instance(_) | Event::Update(_) | Event::Warning(_) => {}
        }
    }

    /// The runs: for each, the number of its tree times two, plus one if its cycles are more than
    /// one and follow. `None` if they do not fit.
    pub(crate) fn runs(&self) -> Option<&[u8]> {
        self.packed.as_deref()
    }

    /// The run in equal parts.
    pub(crate) fn bins(&self) -> &Bins {
        &self.bins
    }
}

/// Numbers, packed (raw deflate of LEB128) as long as they do not take too many bytes.
#[derive(Debug)]
pub(crate) struct Packed {
    /// `None` once there were too many.
    encoder: Option<DeflateEncoder<Vec<u8>>>,
    /// Numbers on the way to the encoder, which likes many at once.
    waiting: Vec<u8>,
    max: usize,
}

/// Bytes that are handed to the encoder at once.
const BLOCK: usize = 1 << 14;

impl Packed {
    /// No numbers yet, and at most `max` bytes of them.
    pub fn new(max: usize) -> Self {
        Self {
            encoder: Some(DeflateEncoder::new(Vec::new(), Compression::new(6))),
            waiting: Vec::with_capacity(BLOCK + 10),
            max,
        }
    }

    /// Appends a number.
    pub fn number(&mut self, mut number: u64) {
        if self.encoder.is_none() {
            return;
        }
        while number > 0x7f {
            self.waiting.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.waiting.push(number as u8);
        if self.waiting.len() >= BLOCK && self.flush().is_err() {
            self.encoder = None;
        }
    }

    /// Fails when there are too many bytes.
    fn flush(&mut self) -> io::Result<()> {
        if let Some(encoder) = &mut self.encoder {
            encoder.write_all(&self.waiting)?;
            self.waiting.clear();
            if encoder.get_ref().len() > self.max {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        Ok(())
    }

    /// The bytes; `None` if they were too many.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.flush().ok()?;
        let bytes = self.encoder.take()?.finish().ok()?;
        (bytes.len() <= self.max).then_some(bytes)
    }
}

/// The run in parts of equal length, with the cycles of each class in each part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Bins {
    /// Cycles of a part: a power of two. The last one may be shorter.
    pub width: u64,
    /// The parts.
    pub parts: Vec<[u64; CLASSES]>,
    #[serde(skip)]
    cycles: u64,
}

impl Default for Bins {
    fn default() -> Self {
        Self {
            width: 1,
            parts: Vec::new(),
            cycles: 0,
        }
    }
}

impl Bins {
    /// Appends cycles of a class.
    fn add(&mut self, class: usize, mut cycles: u64) {
        while cycles > 0 {
            let room = match self.cycles % self.width {
                0 => {
                    if self.parts.len() == MAX_BINS {
                        self.halve();
                        continue;
                    }
                    self.parts.push([0; CLASSES]);
                    self.width
                }
                used => self.width - used,
            };
            let taken = room.min(cycles);
            if let Some(last) = self.parts.last_mut() {
                last[class] += taken;
            }
            self.cycles += taken;
            cycles -= taken;
        }
    }

    /// Makes one part of every two.
    fn halve(&mut self) {
        self.parts = self
            .parts
            .chunks(2)
            .map(|pair| std::array::from_fn(|class| pair.iter().map(|part| part[class]).sum()))
            .collect();
        self.width *= 2;
    }
}
