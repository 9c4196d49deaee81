//! Probe values from a VCD file, read as a stream.
//!
//! A sample is what holds just before the clock rises: the values after all earlier timestamps,
//! without those of the timestamp at which the clock goes from 0 to 1. In a waveform with one time
//! a cycle, a signal that changes at each of them is in the clock's place. The run begins with the
//! first sample in which `go` is high and `reset` is not.

mod codes;
mod header;
mod lines;
mod sampler;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Chain, Cursor, Read as _};

use memchr::memchr;
use petal_metadata::Id as _;
use vcd::{Command, IdCode, ParseError, Parser, Value};

use crate::model::{Cycle, Warning};
use crate::signals::{Signal, SignalTable, SlotId};
use crate::source::{Change, ProbeSource, SourceError};
use codes::{Codes, number};
use header::Wanted;
use lines::take;
use sampler::{Edge, Sampler};

/// A [`ProbeSource`] over a VCD file.
///
/// The header is read by the `vcd` crate. The body is scanned for the wanted signals alone, as long
/// as it has the plain form that Verilator writes, one value a line; from the first line of another
/// form on, the crate reads it.
pub struct VcdSource<R: BufRead> {
    body: Body<R>,
    /// Lines before the body's next one.
    lines: u64,
    watched: Vec<Signal>,
    codes: Codes,
    sampler: Sampler,
    phase: Phase,
    pace: Pace,
    cycles: u64,
    /// The cycles after which the run ends, although the design is not done.
    limit: u64,
    is_done: bool,
    /// The name of `go`, and whether it was low in the run.
    go: String,
    paused: bool,
    warned: Vec<bool>,
    warnings: Vec<Warning>,
}

enum Body<R: BufRead> {
    /// Scanned; the beginning of a line whose end is not read yet.
    Plain(R, Vec<u8>),
    /// Read by the crate.
    Any(Box<Parser<Chain<Cursor<Vec<u8>>, R>>>),
    /// Between the two.
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    BeforeRun,
    Running,
    Over,
}

impl<R: BufRead> VcdSource<R> {
    /// Reads the header of `input` and finds the signals of `table` in it.
    ///
    /// # Errors
    /// When it is no VCD file, or not one of the design.
    pub fn new(mut input: R, table: &SignalTable) -> Result<Self, SourceError> {
        let mut parser = Parser::new(&mut input);
        let header = parser
            .parse_header()
            .map_err(|error| syntax(parser.line(), error))?;
        let lines = parser.line();
        let wanted = Wanted::of(&header.items, table)?;
        let count = table.watched.len();
        Ok(Self {
            body: Body::Plain(input, Vec::new()),
            lines,
            watched: table.watched.clone(),
            codes: wanted.codes,
            sampler: Sampler::new(count, wanted.ticks),
            phase: Phase::BeforeRun,
            pace: Pace::default(),
            cycles: 0,
            limit: u64::MAX,
            is_done: false,
            go: table.go.to_string(),
            paused: false,
            warned: vec![false; count],
            warnings: Vec::new(),
        })
    }

    /// Ends the run after so many cycles, also if the design is not done then.
    #[must_use]
    pub fn with_limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// Reads up to the next rising edge of the clock, leaving in the sample what held before it.
    /// `None` at the end of the file.
    fn next_edge(&mut self) -> Result<Option<Edge>, SourceError> {
        if let Body::Plain(..) = self.body {
            match self.scan()? {
                Scanned::Edge(edge) => return Ok(Some(edge)),
                Scanned::Other => self.fall_back(),
            }
        }
        let Body::Any(parser) = &mut self.body else {
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
                    note(&mut self.sampler, &self.codes, code, &[value]);
                }
                Some(Command::ChangeVector(code, vector)) => {
                    let bits: Vec<Value> = vector.iter().collect();
                    note(&mut self.sampler, &self.codes, code, &bits);
                }
                Some(Command::Timestamp(time)) => {
                    if let Some(edge) = self.sampler.advance(time)? {
                        return Ok(Some(edge));
                    }
                }
                None => return Ok(self.sampler.settle()),
                Some(_) => {}
            }
        }
    }

    /// Lets the crate read from the line on at which the scan stopped.
    fn fall_back(&mut self) {
        self.body = match std::mem::replace(&mut self.body, Body::Empty) {
            Body::Plain(reader, line) => {
                Body::Any(Box::new(Parser::new(Cursor::new(line).chain(reader))))
            }
            other => other,
        };
    }

    /// Scans lines up to the next rising edge, or to a line that is not of the plain form.
    fn scan(&mut self) -> Result<Scanned, SourceError> {
        let Body::Plain(reader, held) = &mut self.body else {
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
                let taken = take(held, &mut self.sampler, &self.codes)?;
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
            let taken = take(buffer, &mut self.sampler, &self.codes)?;
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

    fn warn_of_unknowns(&mut self) {
        for &slot in &self.sampler.unsampled {
            let slot = slot.index();
            if !std::mem::replace(&mut self.warned[slot], true) {
                self.warnings.push(Warning {
                    cycle: Cycle::from_cycles(self.cycles),
                    signal: self.watched[slot].to_string(),
                    text: "is x or z; taken as 0".to_owned(),
                });
            }
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

/// Whether a clock ticks evenly: a waveform in which an edge is missing or too many would give a
/// profile with a cycle too few or too many.
#[derive(Debug, Default)]
struct Pace {
    /// The last edge.
    edge: Option<u64>,
    /// The time between the first two edges.
    period: Option<u64>,
}

impl Pace {
    /// What is odd about an edge at `time`. Some jitter is not: periods may be no multiples of the
    /// waveform's unit of time.
    fn step(&mut self, time: u64) -> Option<String> {
        let gap = time - self.edge.replace(time)?;
        let period = *self.period.get_or_insert(gap);
        let even = gap.saturating_mul(2) > period && gap < period.saturating_mul(2);
        (!even).then(|| format!("the cycle takes {gap} units of time, but the first one {period}"))
    }
}

impl<R: BufRead> ProbeSource for VcdSource<R> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        loop {
            if self.phase == Phase::Over {
                return Ok(false);
            }
            let Some(edge) = self.next_edge()? else {
                return Err(SourceError::Unfinished {
                    cycles: self.cycles,
                });
            };
            let Edge {
                time,
                reset,
                go,
                done,
            } = edge;
            let odd = self.sampler.odd.take();
            if self.phase == Phase::BeforeRun {
                if reset || !go {
                    self.pace.edge = Some(time);
                    continue;
                }
                self.phase = Phase::Running;
                // Before the run there is no cycle to differ from.
                let sample = self.sampler.sample.iter().enumerate();
                self.sampler.changes = sample
                    .filter(|&(_, &value)| value != 0)
                    .map(|(slot, &value)| Change {
                        slot: SlotId::from_index(slot),
                        value,
                    })
                    .collect();
            }
            let is_reset = reset && !done;
            let odd = odd
                .or(is_reset.then_some("the design is reset in the middle of its run"))
                .map(str::to_owned)
                .or_else(|| self.pace.step(time));
            if let Some(problem) = odd {
                return Err(SourceError::Odd {
                    cycle: self.cycles,
                    time,
                    problem,
                });
            }
            self.warn_of_unknowns();
            if done || self.cycles >= self.limit {
                self.is_done = done;
                self.phase = Phase::Over;
                return Ok(false);
            }
            if !go && !std::mem::replace(&mut self.paused, true) {
                self.warnings.push(Warning {
                    cycle: Cycle::from_cycles(self.cycles),
                    signal: self.go.clone(),
                    text: "is low before the design is done; it may wait".to_owned(),
                });
            }
            self.cycles += 1;
            return Ok(true);
        }
    }

    fn changes(&self) -> &[Change] {
        &self.sampler.changes
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
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
