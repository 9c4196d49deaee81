//! Writes the values of a run as a VCD file, with the scopes and names that the design has in
//! Verilog: what a waveform viewer, or `petal reconstruct`, reads.
//!
//! A cycle takes 10 ns. The clock rises in the middle of it, and values change there.

use std::collections::HashMap;
use std::io::{self, Write};

use vcd::{IdCode, ReferenceIndex, TimescaleUnit, Value, VarType, Writer};

use crate::code;
use crate::elaborate::{Design, Scope};
use crate::graph::{Input, Kind, NodeId};
use crate::machine::Machine;

const PERIOD: u64 = 10;

/// A VCD file that is being written.
pub(crate) struct Waveform<W: Write> {
    writer: Writer<W>,
    clock: IdCode,
    /// The watched values: number, width, code, and the words that were written last.
    signals: Vec<(usize, u32, IdCode, Vec<u64>)>,
    cycles: u64,
}

/// Numbers the values of a design.
struct Numbering<'a> {
    design: &'a Design,
    nodes: Vec<NodeId>,
    codes: HashMap<NodeId, IdCode>,
    clock: IdCode,
}

impl<W: Write> Waveform<W> {
    /// Writes the header. Returns the values to watch too.
    pub fn new(output: W, design: &Design) -> io::Result<(Self, Vec<NodeId>)> {
        let mut writer = Writer::new(output);
        let clock = IdCode::FIRST;
        let mut numbering = Numbering {
            design,
            nodes: Vec::new(),
            codes: HashMap::new(),
            clock,
        };
        writer.timescale(1, TimescaleUnit::NS)?;
        writer.add_module("toplevel")?;
        numbering.scope(&mut writer, &design.main)?;
        writer.upscope()?;
        writer.enddefinitions()?;
        let signals = numbering
            .nodes
            .iter()
            .enumerate()
            .map(|(at, &node)| {
                let width = design.graph.node(node).width;
                let code = numbering.codes[&node];
                // No value has bits above its width, so these are no value.
                (at, width, code, vec![u64::MAX; code::words(width) + 1])
            })
            .collect();
        let waveform = Self {
            writer,
            clock,
            signals,
            cycles: 0,
        };
        Ok((waveform, numbering.nodes))
    }

    /// Writes a cycle.
    pub fn cycle(&mut self, machine: &Machine) -> io::Result<()> {
        // Else the time at which the clock rose is written already.
        if self.cycles == 0 {
            self.writer.timestamp(0)?;
        }
        for (number, width, code, last) in &mut self.signals {
            let words = machine.watched(*number, *width);
            if last == words {
                continue;
            }
            words.clone_into(last);
            let bit = |at: u32| {
                let word = words[usize::try_from(at / 64).unwrap_or(usize::MAX)];
                Value::from(word >> (at % 64) & 1 == 1)
            };
            if *width == 1 {
                self.writer.change_scalar(*code, bit(0))?;
            } else {
                self.writer
                    .change_vector(*code, (0..*width).rev().map(bit))?;
            }
        }
        let start = self.cycles * PERIOD;
        if self.cycles > 0 {
            self.writer.timestamp(start)?;
        }
        self.writer.change_scalar(self.clock, Value::V0)?;
        self.writer.timestamp(start + PERIOD / 2)?;
        self.writer.change_scalar(self.clock, Value::V1)?;
        self.cycles += 1;
        Ok(())
    }

    /// Writes what is still to be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Numbering<'_> {
    fn scope<W: Write>(&mut self, writer: &mut Writer<W>, scope: &Scope) -> io::Result<()> {
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
        &mut self,
        writer: &mut Writer<W>,
        name: &str,
        node: NodeId,
    ) -> io::Result<()> {
        let described = self.design.graph.node(node);
        let code = if described.kind == Kind::Input(Input::Clock) {
            self.clock
        } else if let Some(&code) = self.codes.get(&node) {
            code
        } else {
            let last = self
                .nodes
                .last()
                .map_or(self.clock, |last| self.codes[last]);
            let code = last.next();
            self.nodes.push(node);
            self.codes.insert(node, code);
            code
        };
        let width = described.width;
        let range = (width > 1)
            .then(|| ReferenceIndex::Range(i32::try_from(width - 1).unwrap_or(i32::MAX), 0));
        writer.var_def(VarType::Wire, width, code, name, range)
    }
}
