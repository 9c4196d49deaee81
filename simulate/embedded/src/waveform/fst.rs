//! FST: header and names by the `fst-writer` crate, the changes by `block.rs` and `file.rs`, as the crate takes digits, one
//! character each, and keeps them in lists that fit no cache. Changes are kept until there are many, since those of each
//! signal are compressed together, on another processor.

mod block;
mod file;

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use fst_writer::{
    FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalType, FstVarDirection,
    FstVarType, FstWriteError,
};

use self::block::{Block, Whole};
use self::file::Numbers;
use super::format::{Declaration, Format, WriteSeek};

/// How many bytes of changes are kept before they are written.
const MAX_KEPT: usize = 1 << 23;

/// Readers of the format take no longer names.
const MAX_NAME: usize = 511;

/// An FST file.
pub(super) struct Fst {
    block: Block,
    /// The signals by the numbers of the values; `None` for a clock without a name.
    signals: Vec<Option<usize>>,
    /// `None` once it has failed.
    writer: Option<Writer>,
}

/// Who compresses blocks and writes them.
struct Writer {
    blocks: SyncSender<Whole>,
    thread: JoinHandle<io::Result<(Box<dyn WriteSeek>, Numbers)>>,
}

impl Writer {
    /// Takes a file whose header and names are written.
    fn new(mut output: Box<dyn WriteSeek>, mut numbers: Numbers) -> io::Result<Self> {
        let (blocks, all) = sync_channel::<Whole>(1);
        let thread = thread::Builder::new().spawn(move || {
            for block in all {
                file::write(&block, &mut *output)?;
                numbers.blocks += 1;
                numbers.end = block.end;
            }
            Ok((output, numbers))
        })?;
        Ok(Self { blocks, thread })
    }

    /// Waits until all is written.
    fn finish(self) -> io::Result<()> {
        drop(self.blocks);
        let written = self.thread.join();
        let (mut output, numbers) =
            written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        numbers.finish(&mut *output)
    }
}

impl Fst {
    /// Writes the header of a file with so many values beside the clock.
    pub fn new(
        mut output: Box<dyn WriteSeek>,
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
        let mut header = FstHeaderWriter::new(&mut output, &info).map_err(failed)?;
        let mut ids = vec![None; values + 1];
        let mut signals = vec![None; values + 1];
        let mut widths = Vec::new();
        let mut numbers = Numbers::default();
        for declaration in declarations {
            match *declaration {
                Declaration::Scope(name) => {
                    fits(name)?;
                    let module = FstScopeType::Module;
                    header.scope(name, "", module).map_err(failed)?;
                    numbers.scopes += 1;
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
                    let id = header.var(name, bits, wire, any, ids[number]);
                    ids[number] = Some(id.map_err(failed)?);
                    numbers.names += 1;
                    // The crate counts signals in the same order.
                    signals[number].get_or_insert_with(|| {
                        widths.push(width);
                        widths.len() - 1
                    });
                }
            }
        }
        numbers.signals = widths.len() as u64;
        drop(header.finish().map_err(failed)?);
        Ok(Self {
            block: Block::new(widths.into_iter()),
            signals,
            writer: Some(Writer::new(output, numbers)?),
        })
    }

    /// Hands on what is kept.
    fn write(&mut self) -> io::Result<()> {
        let block = self.block.end();
        let refused = |writer: &mut Writer| writer.blocks.send(block).is_err();
        match self.writer.take_if(refused) {
            // It has ended, and says why.
            Some(writer) => writer.finish(),
            None => Ok(()),
        }
    }
}

impl Format for Fst {
    fn time(&mut self, time: u64) -> io::Result<()> {
        if self.block.size() > MAX_KEPT {
            self.write()?;
        }
        self.block.time(time);
        Ok(())
    }

    fn value(&mut self, number: usize, _: u32, words: &[u64]) -> io::Result<()> {
        if let Some(signal) = self.signals[number] {
            self.block.value(signal, words);
        }
        Ok(())
    }

    fn unknown(&mut self, number: usize, _: u32) -> io::Result<()> {
        if let Some(signal) = self.signals[number] {
            self.block.unknown(signal);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.write()?;
        self.writer.map_or(Ok(()), Writer::finish)
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
