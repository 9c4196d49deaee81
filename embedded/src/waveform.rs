//! Writes the values of a run as a VCD file, with the scopes and names that the design has in
//! Verilog: what a waveform viewer, or `petal reconstruct`, reads.
//!
//! A cycle takes 10 ns. The clock rises in the middle of it, and values change there. The `vcd` crate
//! writes the header; its formatting is too slow for the values, which are written here.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use vcd::{IdCode, ReferenceIndex, TimescaleUnit, VarType, Writer};

use crate::code;
use crate::elaborate::{Design, Scope};
use crate::graph::{Input, Kind, NodeId};
use crate::machine::Machine;

const PERIOD: u64 = 10;

/// A VCD file that is being written.
pub(crate) struct Waveform<W: Write> {
    output: W,
    clock: String,
    signals: Vec<Signal>,
    /// The words of all watched values that were written last.
    last: Vec<u64>,
    cycles: u64,
    /// The lines of a cycle.
    lines: Vec<u8>,
}

/// A watched value.
struct Signal {
    width: u32,
    code: String,
    /// Its words among those of all.
    words: Range<usize>,
}

/// How many values are looked at together, whether any of them has changed.
const BLOCK: usize = 16;

/// Declares the values of a design.
struct Declarations<'a> {
    design: &'a Design,
    codes: HashMap<NodeId, IdCode>,
    clock: IdCode,
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

impl<W: Write> Waveform<W> {
    /// Writes the header. `watched` are the [`values`] of the design.
    pub fn new(mut output: W, design: &Design, watched: &[NodeId]) -> io::Result<Self> {
        let mut writer = Writer::new(&mut output);
        let clock = IdCode::FIRST;
        let mut codes: HashMap<NodeId, IdCode> = HashMap::new();
        let mut words = 0;
        let mut signals = Vec::new();
        let mut code = clock;
        for &node in watched {
            code = code.next();
            codes.insert(node, code);
            let width = design.graph.node(node).width;
            let first = words;
            words += code::words(width);
            signals.push(Signal {
                width,
                code: code.to_string(),
                words: first..words,
            });
        }
        let declarations = Declarations {
            design,
            codes,
            clock,
        };
        writer.timescale(1, TimescaleUnit::NS)?;
        writer.add_module("toplevel")?;
        declarations.scope(&mut writer, &design.main)?;
        writer.upscope()?;
        writer.enddefinitions()?;
        Ok(Self {
            signals,
            last: Vec::new(),
            output,
            clock: clock.to_string(),
            cycles: 0,
            lines: Vec::new(),
        })
    }

    /// Writes a cycle.
    pub fn cycle(&mut self, machine: &Machine) -> io::Result<()> {
        let lines = &mut self.lines;
        lines.clear();
        let (now, last) = (machine.watched(), &mut self.last);
        // Else the time at which the clock rose is written already.
        if self.cycles == 0 {
            lines.extend_from_slice(b"#0\n");
            // All are new.
            *last = now.iter().map(|word| !word).collect();
        }
        for block in self.signals.chunks(BLOCK) {
            let words = block[0].words.start..block[block.len() - 1].words.end;
            if now[words.clone()] == last[words] {
                continue;
            }
            for signal in block {
                let (now, last) = (&now[signal.words.clone()], &mut last[signal.words.clone()]);
                if now != last {
                    last.copy_from_slice(now);
                    signal.write(now, lines);
                }
            }
        }
        let start = self.cycles * PERIOD;
        if self.cycles > 0 {
            writeln!(lines, "#{start}")?;
        }
        let (clock, rise) = (&self.clock, start + PERIOD / 2);
        write!(lines, "0{clock}\n#{rise}\n1{clock}\n")?;
        self.cycles += 1;
        self.output.write_all(lines)
    }

    /// Writes what is still to be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl Signal {
    /// Appends the line with its value, which has these words.
    fn write(&self, words: &[u64], lines: &mut Vec<u8>) {
        if self.width > 1 {
            lines.push(b'b');
        }
        let mut left = self.width;
        for word in words.iter().rev() {
            // All of the word, but for the highest one.
            let bits = (left - 1) % 64 + 1;
            let digits = (0..bits)
                .rev()
                .map(|bit| b"01"[usize::from(word >> bit & 1 == 1)]);
            lines.extend(digits);
            left -= bits;
        }
        if self.width > 1 {
            lines.push(b' ');
        }
        lines.extend_from_slice(self.code.as_bytes());
        lines.push(b'\n');
    }
}

impl Declarations<'_> {
    fn scope<W: Write>(&self, writer: &mut Writer<W>, scope: &Scope) -> io::Result<()> {
        writer.add_module(&scope.name)?;
        for (name, node) in &scope.signals {
            self.declare(writer, name, *node)?;
        }
        for child in &scope.children {
            self.scope(writer, child)?;
        }
        writer.upscope()
    }

    fn declare<W: Write>(
        &self,
        writer: &mut Writer<W>,
        name: &str,
        node: NodeId,
    ) -> io::Result<()> {
        // The only value that is not watched.
        let code = self.codes.get(&node).copied().unwrap_or(self.clock);
        let width = self.design.graph.node(node).width;
        let range = (width > 1)
            .then(|| ReferenceIndex::Range(i32::try_from(width - 1).unwrap_or(i32::MAX), 0));
        writer.var_def(VarType::Wire, width, code, name, range)
    }
}
