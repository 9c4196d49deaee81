//! VCD. The `vcd` crate writes the header; its formatting is too slow for the values, which are written here.

use std::io::{self, Write};

use vcd::{IdCode, ReferenceIndex, TimescaleUnit, VarType, Writer};

use super::format::{Declaration, Format, digits};

/// How many bytes are kept before they are written.
const MAX_KEPT: usize = 1 << 16;

/// A VCD file.
pub(super) struct Vcd {
    output: Box<dyn Write + Send>,
    /// The identifier codes, each with the end of its line, by the numbers of the values.
    codes: Vec<String>,
    /// What is not written yet.
    lines: Vec<u8>,
}

impl Vcd {
    /// Writes the header of a file with so many values beside the clock.
    pub fn new(
        mut output: Box<dyn Write + Send>,
        declarations: &[Declaration<'_>],
        values: usize,
    ) -> io::Result<Self> {
        let next = |code: &IdCode| Some(code.next());
        let codes = std::iter::successors(Some(IdCode::FIRST), next);
        let codes: Vec<IdCode> = codes.take(values + 1).collect();
        let mut writer = Writer::new(&mut output);
        writer.timescale(1, TimescaleUnit::NS)?;
        for declaration in declarations {
            match *declaration {
                Declaration::Scope(name) => writer.add_module(name)?,
                Declaration::Up => writer.upscope()?,
                Declaration::Name {
                    name,
                    width,
                    number,
                } => {
                    let highest = || i32::try_from(width - 1).unwrap_or(i32::MAX);
                    let range = (width > 1).then(|| ReferenceIndex::Range(highest(), 0));
                    writer.var_def(VarType::Wire, width, codes[number], name, range)?;
                }
            }
        }
        writer.enddefinitions()?;
        Ok(Self {
            output,
            codes: codes.iter().map(|code| format!("{code}\n")).collect(),
            lines: Vec::new(),
        })
    }
}

impl Format for Vcd {
    fn time(&mut self, time: u64) -> io::Result<()> {
        if self.lines.len() >= MAX_KEPT {
            self.output.write_all(&self.lines)?;
            self.lines.clear();
        }
        self.lines.push(b'#');
        let mut text = itoa::Buffer::new();
        self.lines.extend_from_slice(text.format(time).as_bytes());
        self.lines.push(b'\n');
        Ok(())
    }

    fn value(&mut self, number: usize, width: u32, words: &[u64]) -> io::Result<()> {
        if width == 1 {
            self.lines.push(if words[0] == 0 { b'0' } else { b'1' });
        } else {
            self.lines.push(b'b');
            digits(width, words, &mut self.lines);
            self.lines.push(b' ');
        }
        self.lines.extend_from_slice(self.codes[number].as_bytes());
        Ok(())
    }

    fn unknown(&mut self, number: usize, width: u32) -> io::Result<()> {
        self.lines
            .extend_from_slice(if width == 1 { b"x" } else { b"bx " });
        self.lines.extend_from_slice(self.codes[number].as_bytes());
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.output.write_all(&self.lines)?;
        self.output.flush()
    }
}
