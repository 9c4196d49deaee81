//! Probe values from a VCD file, read as a stream.
//!
//! What a cycle is, `cycles.rs` tells.

mod codes;
mod header;
mod lines;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Chain, Cursor, Read as _};

use memchr::memchr;
use vcd::{Command, IdCode, ParseError, Parser, Value};

use crate::cycles::Cycles;
use crate::model::Warning;
use crate::sampler::{Edge, Sampler};
use crate::signals::{Signal, SignalTable};
use crate::source::{Change, ProbeSource, SourceError};
use crate::wanted::{Scopes, Wanted};
use codes::{Codes, number};
use lines::take;

/// A [`ProbeSource`] over a VCD file.
///
/// The header is read by the `vcd` crate. The body is scanned for the wanted signals alone, as long
/// as it has the plain form that Verilator writes, one value a line; from the first line of another
/// form on, the crate reads it.
pub struct VcdSource<R: BufRead> {
    body: Body<R>,
    cycles: Cycles,
}

/// What comes after the header.
struct Body<R: BufRead> {
    form: Form<R>,
    /// Lines before the next one.
    lines: u64,
    codes: Codes,
}

enum Form<R: BufRead> {
    /// Scanned; the beginning of a line whose end is not read yet.
    Plain(R, Vec<u8>),
    /// Read by the crate.
    Any(Box<Parser<Chain<Cursor<Vec<u8>>, R>>>),
    /// Between the two.
    Empty,
}

/// A VCD file whose header is read.
pub struct VcdHeader<R: BufRead> {
    input: R,
    /// Lines of the header.
    lines: u64,
    scopes: Scopes<IdCode>,
}

impl<R: BufRead> VcdHeader<R> {
    /// Reads the header of `input`.
    ///
    /// # Errors
    /// When it is no VCD file.
    pub fn read(mut input: R) -> Result<Self, SourceError> {
        let mut parser = Parser::new(&mut input);
        let header = parser
            .parse_header()
            .map_err(|error| syntax(parser.line(), error))?;
        let lines = parser.line();
        Ok(Self {
            input,
            lines,
            scopes: header::scopes(&header.items),
        })
    }

    /// The signals of the file, each with its width in bits.
    pub fn signals(&self) -> impl Iterator<Item = (Signal, u32)> + '_ {
        self.scopes.signals()
    }

    /// Finds the signals of `table`.
    ///
    /// # Errors
    /// When it is not a waveform of the design.
    pub fn source(self, table: &SignalTable) -> Result<VcdSource<R>, SourceError> {
        let wanted = Wanted::of(&self.scopes, table)?;
        let mut codes = Codes::default();
        for (code, number) in wanted.signals {
            codes.add(code, number);
        }
        Ok(VcdSource {
            body: Body {
                form: Form::Plain(self.input, Vec::new()),
                lines: self.lines,
                codes,
            },
            cycles: Cycles::new(table, wanted.ticks),
        })
    }
}

impl<R: BufRead> VcdSource<R> {
    /// Reads the header of `input` and finds the signals of `table` in it.
    ///
    /// # Errors
    /// When it is no VCD file, or not one of the design.
    pub fn new(input: R, table: &SignalTable) -> Result<Self, SourceError> {
        VcdHeader::read(input)?.source(table)
    }

    /// Ends the run after so many cycles, also if the design is not done then.
    #[must_use]
    pub fn with_limit(mut self, cycles: u64) -> Self {
        self.cycles.limit = cycles;
        self
    }
}

impl<R: BufRead> Body<R> {
    /// Reads up to the next rising edge of the clock, leaving in the sample what held before it.
    /// `None` at the end of the file.
    fn next_edge(&mut self, sampler: &mut Sampler) -> Result<Option<Edge>, SourceError> {
        if let Form::Plain(..) = self.form {
            match self.scan(sampler)? {
                Scanned::Edge(edge) => return Ok(Some(edge)),
                Scanned::Other => self.fall_back(),
            }
        }
        let Form::Any(parser) = &mut self.form else {
            return Ok(None);
        };
        loop {
            let lines = self.lines;
            let command = match parser.next() {
                None => None,
                Some(Ok(command)) => Some(command),
                Some(Err(error)) => return Err(syntax(lines + parser.line(), error)),
            };
            match command {
                Some(Command::ChangeScalar(code, value)) => {
                    note(sampler, &self.codes, code, &[value]);
                }
                Some(Command::ChangeVector(code, vector)) => {
                    let bits: Vec<Value> = vector.iter().collect();
                    note(sampler, &self.codes, code, &bits);
                }
                Some(Command::Timestamp(time)) => {
                    if let Some(edge) = sampler.advance(time)? {
                        return Ok(Some(edge));
                    }
                }
                None => return Ok(sampler.settle()),
                Some(_) => {}
            }
        }
    }

    /// Lets the crate read from the line on at which the scan stopped.
    fn fall_back(&mut self) {
        self.form = match std::mem::replace(&mut self.form, Form::Empty) {
            Form::Plain(reader, line) => {
                Form::Any(Box::new(Parser::new(Cursor::new(line).chain(reader))))
            }
            other => other,
        };
    }

    /// Scans lines up to the next rising edge, or to a line that is not of the plain form.
    fn scan(&mut self, sampler: &mut Sampler) -> Result<Scanned, SourceError> {
        let Form::Plain(reader, held) = &mut self.form else {
            return Ok(Scanned::Other);
        };
        loop {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(Scanned::Other);
            }
            if !held.is_empty() {
                let end = memchr(b'\n', buffer).map_or(buffer.len(), |end| end + 1);
                held.extend_from_slice(&buffer[..end]);
                reader.consume(end);
                if held.last() != Some(&b'\n') {
                    continue;
                }
                let taken = take(held, sampler, &self.codes)?;
                if taken.lines == 0 {
                    return Ok(Scanned::Other);
                }
                self.lines += taken.lines;
                held.clear();
                match taken.edge {
                    Some(edge) => return Ok(Scanned::Edge(edge)),
                    None => continue,
                }
            }
            let taken = take(buffer, sampler, &self.codes)?;
            self.lines += taken.lines;
            let rest = &buffer[taken.bytes..];
            if let Some(edge) = taken.edge {
                reader.consume(taken.bytes);
                return Ok(Scanned::Edge(edge));
            }
            if memchr(b'\n', rest).is_some() {
                reader.consume(taken.bytes);
                return Ok(Scanned::Other);
            }
            // Cut off by the end of the buffer.
            held.extend_from_slice(rest);
            let length = buffer.len();
            reader.consume(length);
        }
    }
}

enum Scanned {
    Edge(Edge),
    /// The next line is of another form, or there is none.
    Other,
}

/// Takes in a value that the crate has read.
fn note(sampler: &mut Sampler, codes: &Codes, code: IdCode, bits: &[Value]) {
    let number = number(code.to_string().as_bytes());
    if let Some(targets) = number.and_then(|(number, _)| codes.get(number)) {
        let mut value = 0u64;
        let mut unknown = false;
        for bit in bits {
            value = (value << 1) | u64::from(*bit == Value::V1);
            unknown |= !matches!(bit, Value::V0 | Value::V1);
        }
        sampler.note(targets, value, unknown);
    }
}

impl<R: BufRead> ProbeSource for VcdSource<R> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        let Self { body, cycles } = self;
        cycles.next(|sampler| body.next_edge(sampler))
    }

    fn changes(&self) -> &[Change] {
        self.cycles.changes()
    }

    fn is_done(&self) -> bool {
        self.cycles.is_done()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.cycles.take_warnings()
    }
}

fn syntax(line: u64, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            // The crate's own message counts lines from where it began to read.
            let inner = error.get_ref().and_then(|error| error.downcast_ref());
            let problem = inner.map(|error: &ParseError| error.kind().to_string());
            SourceError::Syntax {
                line,
                problem: problem.unwrap_or_else(|| error.to_string()),
            }
        }
        _ => SourceError::Io(error),
    }
}
