//! The order of a run's cycles, in bounded memory: all of it, compressed, where that is small
//! enough, and else only how many cycles of each class there are in equal parts of the run.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use petal_metadata::{Id, Metadata};
use petal_reconstruct::{Again, Event, Overhead, Run};
use serde::Serialize;

use crate::ledger::Class;
use crate::windows::Windows;

/// The classes that a cycle can have: computation, conditions, and the kinds of overhead.
pub const CLASSES: usize = 2 + Overhead::ALL.len();

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
    bins: Windows,
}

impl<'a> Order<'a> {
    /// The order of a trace of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            classes: Vec::new(),
            runs: Packed::new(MAX_BYTES),
            packed: None,
            bins: Windows::new(MAX_BINS),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Tree(tree) => self.classes.push(match Class::of(self.metadata, tree) {
                Class::Computation => 0,
                Class::Conditions => 1,
                Class::Overhead(_, charge) => 2 + charge.kind.index(),
            }),
            Event::Run(run) => {
                self.pack(run);
                self.bins.add(&[self.classes[run.tree.index()]], run.cycles);
            }
            Event::End { .. } => self.packed = self.runs.finish(),
            _ => {}
        }
    }

    /// Takes in what comes again.
    pub fn again(&mut self, again: &Again) {
        let runs: Vec<Run> = again.runs().collect();
        for _ in 0..again.times() {
            if self.runs.is_over() {
                break;
            }
            for run in &runs {
                self.pack(run);
            }
        }
        let classes = &self.classes;
        let of = |run: &Run| std::slice::from_ref(&classes[run.tree.index()]);
        let counted: Vec<_> = runs.iter().map(|run| (of(run), run.cycles)).collect();
        self.bins.add_again(&counted, again.times());
    }

    fn pack(&mut self, Run { tree, cycles, .. }: &Run) {
        // The lowest bit tells whether a length follows.
        self.runs
            .number((tree.index() as u64) << 1 | u64::from(*cycles > 1));
        if *cycles > 1 {
            self.runs.number(*cycles);
        }
    }

    /// The runs: for each, the number of its tree times two, plus one if its cycles are more than
    /// one and follow. `None` if they do not fit.
    pub fn runs(&self) -> Option<&[u8]> {
        self.packed.as_deref()
    }

    /// The classes of the cycles in equal parts of the run.
    pub fn windows(&self) -> &Windows {
        &self.bins
    }

    /// Takes these for the runs, if they fit, and the parts.
    pub fn restore(&mut self, packed: Option<Vec<u8>>, bins: Windows) {
        self.packed = packed;
        self.bins = bins;
    }

    /// The run in equal parts.
    pub fn bins(&self) -> Bins {
        let mut parts = vec![[0; CLASSES]; self.bins.count()];
        for class in 0..CLASSES {
            for (part, cycles) in parts.iter_mut().zip(self.bins.of(class)) {
                part[class] = cycles;
            }
        }
        Bins {
            width: self.bins.width(),
            parts,
        }
    }
}

/// Numbers, packed (raw deflate of LEB128) as long as they do not take too many bytes.
#[derive(Debug)]
pub struct Packed {
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

    /// Whether there were too many.
    fn is_over(&self) -> bool {
        self.encoder.is_none()
    }

    /// Appends a number.
    pub fn number(&mut self, number: u64) {
        if self.encoder.is_none() {
            return;
        }
        prost::encoding::encode_varint(number, &mut self.waiting);
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
pub struct Bins {
    /// Cycles of a part: a power of two. The last one may be shorter.
    width: u64,
    /// The parts.
    parts: Vec<[u64; CLASSES]>,
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::DeflateDecoder;
    use proptest::prelude::*;

    use super::*;

    /// What the page does with packed numbers.
    fn unpack(bytes: &[u8]) -> Vec<u64> {
        let mut plain = Vec::new();
        DeflateDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        let mut numbers = Vec::new();
        let mut shift = 0;
        let mut number = 0;
        for byte in plain {
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                numbers.push(number);
                (number, shift) = (0, 0);
            }
        }
        numbers
    }

    proptest! {
        #[test]
        fn packed_numbers_come_back(numbers in prop::collection::vec(0..u64::MAX, 0..5000)) {
            let mut packed = Packed::new(usize::MAX);
            for &number in &numbers {
                packed.number(number);
            }
            prop_assert_eq!(unpack(&packed.finish().unwrap()), numbers);
        }
    }

    #[test]
    fn too_many_numbers_are_none() {
        let mut packed = Packed::new(1000);
        let mut number = 1_u64;
        for _ in 0..100_000 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            packed.number(number);
        }
        assert_eq!(packed.finish(), None);
    }
}
