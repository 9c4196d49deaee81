//! Writes the values of a run as waveforms, with the scopes and names that the design has in
//! Verilog: what a waveform viewer, or `petal reconstruct`, reads.
//!
//! A cycle takes 10 ns. The clock rises in the middle of it, and values change there. Owns which values are written
//! when; `vcd.rs` and `fst.rs` own how.

mod format;
mod fst;
mod vcd;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use self::format::{Declaration, Format, Formats};
use self::fst::Fst;
use self::vcd::Vcd;
use crate::code;
use crate::elaborate::{Design, Scope};
use crate::graph::{Input, Kind, NodeId};
use crate::machine::Machine;

pub use self::format::WriteSeek;

const PERIOD: u64 = 10;

/// The number of the clock in a waveform. Those of the values follow.
const CLOCK: usize = 0;

/// Where to write a waveform, and in which format.
pub enum WaveformFile {
    /// As VCD (IEEE 1364), which everything reads.
    Vcd(Box<dyn Write + Send>),
    /// As FST, the compressed format of `GTKWave`.
    Fst(Box<dyn WriteSeek>),
}

/// The waveforms that are being written.
pub(crate) struct Waveform {
    formats: Formats,
    values: Vec<Value>,
    /// The words of all values that were written last.
    last: Vec<u64>,
    cycles: u64,
    /// The cycles after the reset that are written, if not all are, and the first that has not passed.
    kept: Option<Vec<Range<u64>>>,
    at: usize,
    /// Whether the cycle before was written.
    is_open: bool,
}

/// A watched value.
struct Value {
    width: u32,
    /// Its words among those of all.
    words: Range<usize>,
}

/// The values of a design that a file has, in the order of their names.
pub(crate) fn values(design: &Design) -> Vec<NodeId> {
    fn add(scope: &Scope, nodes: &mut Vec<NodeId>) {
        nodes.extend(scope.signals.iter().map(|(_, node)| node));
        for child in &scope.children {
            add(child, nodes);
        }
    }
    let mut nodes = Vec::new();
    add(&design.main, &mut nodes);
    let mut seen = HashSet::new();
    let is_clock = |node: NodeId| design.graph.node(node).kind == Kind::Input(Input::Clock);
    nodes.retain(|&node| !is_clock(node) && seen.insert(node));
    nodes
}

/// All names of a design.
fn declarations<'a>(design: &'a Design, watched: &[NodeId]) -> Vec<Declaration<'a>> {
    fn add<'a>(
        scope: &'a Scope,
        name: &mut impl FnMut(&'a str, NodeId) -> Declaration<'a>,
        all: &mut Vec<Declaration<'a>>,
    ) {
        all.push(Declaration::Scope(&scope.name));
        let signals = scope.signals.iter();
        all.extend(signals.map(|(signal, node)| name(signal, *node)));
        for child in &scope.children {
            add(child, name, all);
        }
        all.push(Declaration::Up);
    }
    let numbers: HashMap<NodeId, usize> = watched.iter().copied().zip(CLOCK + 1..).collect();
    let mut name = |name, node| Declaration::Name {
        name,
        width: design.graph.node(node).width,
        // The only value that is not watched.
        number: numbers.get(&node).copied().unwrap_or(CLOCK),
    };
    let mut all = vec![Declaration::Scope("toplevel")];
    add(&design.main, &mut name, &mut all);
    all.push(Declaration::Up);
    all
}

impl Waveform {
    /// Writes the header. `watched` are the [`values`] of the design; `kept` the cycles that are written.
    pub fn new(
        files: Vec<WaveformFile>,
        design: &Design,
        watched: &[NodeId],
        kept: Option<Vec<Range<u64>>>,
    ) -> io::Result<Self> {
        let declarations = declarations(design, watched);
        let mut words = 0;
        let values = watched.iter().map(|&node| {
            let width = design.graph.node(node).width;
            let first = words;
            words += code::words(width);
            Value {
                width,
                words: first..words,
            }
        });
        let formats = files
            .into_iter()
            .map(|file| -> io::Result<Box<dyn Format>> {
                Ok(match file {
                    WaveformFile::Vcd(file) => {
                        Box::new(Vcd::new(file, &declarations, watched.len())?)
                    }
                    WaveformFile::Fst(file) => {
                        Box::new(Fst::new(file, &declarations, watched.len())?)
                    }
                })
            });
        Ok(Self {
            values: values.collect(),
            formats: Formats(formats.collect::<io::Result<_>>()?),
            last: Vec::new(),
            cycles: 0,
            kept,
            at: 0,
            is_open: false,
        })
    }

    /// Writes a cycle, if it is one of those that are written.
    pub fn cycle(&mut self, machine: &Machine) -> io::Result<()> {
        let (is_kept, start) = (self.is_kept(), self.cycles * PERIOD);
        self.cycles += 1;
        if !is_kept {
            return self.close(start);
        }
        let (now, changed) = (machine.watched(), machine.changed().iter().copied());
        if std::mem::replace(&mut self.is_open, true) {
            // At the time at which the clock rose.
            self.values(now, changed)?;
            self.formats.time(start)?;
        } else {
            // All are new.
            self.formats.time(start)?;
            self.last = now.iter().map(|word| !word).collect();
            self.values(now, changed.map(|_| u64::MAX))?;
        }
        let formats = &mut self.formats;
        formats.value(CLOCK, 1, &[0])?;
        formats.time(start + PERIOD / 2)?;
        formats.value(CLOCK, 1, &[1])
    }

    /// Writes those of these values that are not as they were, among those that may not be.
    fn values(&mut self, now: &[u64], changed: impl Iterator<Item = u64>) -> io::Result<()> {
        let (formats, last) = (&mut self.formats, &mut self.last);
        for (first, changed) in (0..).step_by(64).zip(changed) {
            for bit in code::bits(changed) {
                let Some(value) = self.values.get(first + bit) else {
                    break;
                };
                let number = CLOCK + 1 + first + bit;
                let now = &now[value.words.clone()];
                let is_new = match (now, &mut last[value.words.clone()]) {
                    // Most values have one word.
                    ([now], [last]) => std::mem::replace(last, *now) != *now,
                    (now, last) => {
                        let is_new = now != last;
                        last.copy_from_slice(now);
                        is_new
                    }
                };
                if is_new {
                    formats.value(number, value.width, now)?;
                }
            }
        }
        Ok(())
    }

    /// Whether this cycle is written.
    fn is_kept(&mut self) -> bool {
        let Some(kept) = &self.kept else {
            return true;
        };
        while kept
            .get(self.at)
            .is_some_and(|part| part.end <= self.cycles)
        {
            self.at += 1;
        }
        let next = kept.get(self.at);
        next.is_some_and(|part| part.contains(&self.cycles))
    }

    /// From this time on nothing is known, if anything was.
    fn close(&mut self, time: u64) -> io::Result<()> {
        let was_open = std::mem::replace(&mut self.is_open, false);
        if !was_open && time > 0 {
            return Ok(());
        }
        self.formats.time(time)?;
        self.formats.unknown(CLOCK, 1)?;
        let mut values = self.values.iter().zip(CLOCK + 1..);
        values.try_for_each(|(value, number)| self.formats.unknown(number, value.width))
    }

    /// Writes what is still to be written.
    pub fn finish(mut self) -> io::Result<()> {
        if self.kept.is_some() && self.is_open {
            self.close(self.cycles * PERIOD)?;
        }
        self.formats.finish()
    }
}
