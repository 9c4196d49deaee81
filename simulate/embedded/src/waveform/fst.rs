//! FST, by the `fst-writer` crate. Values are kept until there are many, since the changes of each signal are
//! compressed together.

use std::io::{self, Write as _};

use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType, FstWriteError,
};

use super::format::{Declaration, Format, WriteSeek, digits};

/// How many bytes of changes are kept before they are written: with four times as many a file is 6 % smaller, but to
/// gather the changes of a signal leaves the cache.
const MAX_KEPT: usize = 1 << 22;

/// Readers of the format take no longer names.
const MAX_NAME: usize = 511;

/// An FST file.
pub(super) struct Fst {
    writer: FstBodyWriter<Box<dyn WriteSeek>>,
    /// By the numbers of the values; `None` for a clock without a name.
    signals: Vec<Option<FstSignalId>>,
    digits: Vec<u8>,
}

impl Fst {
    /// Writes the header of a file with so many values beside the clock.
    pub fn new(
        output: Box<dyn WriteSeek>,
        declarations: &[Declaration<'_>],
        values: usize,
    ) -> io::Result<Self> {
        let info = FstInfo {
            start_time: 0,
            // Nanoseconds.
            timescale_exponent: -9,
            version: format!("petal {}", env!("CARGO_PKG_VERSION")),
            // The same run makes the same file.
            date: String::new(),
            file_type: FstFileType::Verilog,
        };
        let mut header = FstHeaderWriter::new(output, &info).map_err(failed)?;
        let mut signals = vec![None; values + 1];
        for declaration in declarations {
            match *declaration {
                Declaration::Scope(name) => {
                    fits(name)?;
                    let module = FstScopeType::Module;
                    header.scope(name, "", module).map_err(failed)?;
                }
                Declaration::Up => header.up_scope().map_err(failed)?,
                Declaration::Name {
                    name,
                    width,
                    number,
                } => {
                    let name = match width {
                        1 => name.to_owned(),
                        _ => format!("{name} [{}:0]", width - 1),
                    };
                    fits(&name)?;
                    let (wire, any) = (FstVarType::Wire, FstVarDirection::Implicit);
                    let bits = FstSignalType::bit_vec(width);
                    let signal = header.var(name, bits, wire, any, signals[number]);
                    signals[number] = Some(signal.map_err(failed)?);
                }
            }
        }
        Ok(Self {
            writer: header.finish().map_err(failed)?,
            signals,
            digits: Vec::new(),
        })
    }
}

impl Fst {
    /// Writes the digits of a value.
    fn change(&mut self, number: usize) -> io::Result<()> {
        let Some(signal) = self.signals[number] else {
            return Ok(());
        };
        let changed = self.writer.signal_change(signal, &self.digits);
        changed.map_err(failed)
    }
}

impl Format for Fst {
    fn time(&mut self, time: u64) -> io::Result<()> {
        // The crate writes between two times only.
        if self.writer.size() > MAX_KEPT {
            self.writer.flush().map_err(failed)?;
        }
        self.writer.time_change(time).map_err(failed)
    }

    fn value(&mut self, number: usize, width: u32, words: &[u64]) -> io::Result<()> {
        self.digits.clear();
        digits(width, words, &mut self.digits);
        self.change(number)
    }

    fn unknown(&mut self, number: usize, width: u32) -> io::Result<()> {
        self.digits.clear();
        self.digits.resize(width as usize, b'x');
        self.change(number)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.writer.finish().map_err(failed)?.flush()
    }
}

/// Whether a file can have this name.
fn fits(name: &str) -> io::Result<()> {
    if name.len() <= MAX_NAME {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "FST has no room for a name of {} characters; write it as VCD",
        name.len()
    )))
}

fn failed(error: FstWriteError) -> io::Error {
    match error {
        FstWriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}
