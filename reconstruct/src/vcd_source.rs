//! Probe values from a VCD file, read as a stream.
//!
//! A sample is what holds just before the clock rises: the values after all earlier timestamps,
//! without those of the timestamp at which the clock goes from 0 to 1. In a waveform with one time
//! a cycle, a signal that changes at each of them is in the clock's place. The run begins with the
//! first sample in which `go` is high and `reset` is not.

mod codes;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, BufRead, Chain, Cursor, Read as _};

use memchr::memchr;
use vcd::{Command, IdCode, ParseError, Parser, Scope, ScopeItem, Value, Var};

use crate::model::{Cycle, Warning};
use crate::signals::{Signal, SignalTable};
use crate::source::{Change, ProbeSource, SourceError};
use codes::{Codes, Targets, number};

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
    state: Values,
    phase: Phase,
    pace: Pace,
    cycles: u64,
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

/// A rising edge of the clock, with `reset`, `go` and `done` just before it.
#[derive(Debug, Clone, Copy)]
struct Edge {
    time: u64,
    reset: bool,
    go: bool,
    done: bool,
}

/// The value of a bit, and whether it is x or z.
fn bit(byte: u8) -> Option<(u64, bool)> {
    match byte {
        b'0' => Some((0, false)),
        b'1' => Some((1, false)),
        b'x' | b'X' | b'z' | b'Z' => Some((0, true)),
        _ => None,
    }
}

/// Signals behind the watched ones.
const CLOCK: usize = 0;
const RESET: usize = 1;
const GO: usize = 2;
const DONE: usize = 3;
const OWN: usize = 4;

/// The values of the signals. The first ones are the clock, `reset`, `go` and `done`.
#[derive(Default)]
struct Values {
    /// Whether each change of the clock is an edge.
    ticks: bool,
    /// The timestamp that is being read.
    time: u64,
    /// The clock in the timestamp that is being read, and how many times it changed.
    clock: u64,
    toggles: u32,
    /// What makes the next edge doubtful.
    odd: Option<&'static str>,
    /// Changes of the timestamp that is being read: slot, value, whether it is x or z.
    pending: Vec<(usize, u64, bool)>,
    settled: Vec<u64>,
    unknown: Vec<bool>,
    unknowns: usize,
    /// The slots that were x or z just before the last rising edge.
    unsampled: Vec<usize>,
    /// Slots that may differ from the sample.
    dirty: Vec<usize>,
    is_dirty: Vec<bool>,
    /// Watched values just before the last rising edge, and how they differ from those before it.
    sample: Vec<u64>,
    changes: Vec<Change>,
}

impl Values {
    fn new(watched: usize, ticks: bool) -> Self {
        Self {
            ticks,
            settled: vec![0; OWN + watched],
            unknown: vec![false; OWN + watched],
            is_dirty: vec![false; OWN + watched],
            sample: vec![0; watched],
            ..Self::default()
        }
    }

    fn note(&mut self, targets: &Targets, value: u64, unknown: bool) {
        let value = if unknown { 0 } else { value };
        for &slot in targets {
            if slot == CLOCK {
                if unknown {
                    self.odd = Some("the clock is x or z");
                }
                self.toggles += u32::from(value != self.clock);
                self.clock = value;
            }
            self.pending.push((slot, value, unknown));
        }
    }

    /// Goes on to the timestamp `time`. If the clock rose in the one before, takes the sample from
    /// before that.
    fn advance(&mut self, time: u64) -> Result<Option<Edge>, SourceError> {
        match time.cmp(&self.time) {
            Ordering::Less => Err(SourceError::Backwards {
                before: self.time,
                time,
            }),
            Ordering::Equal => Ok(None),
            Ordering::Greater => {
                let edge = self.settle();
                self.time = time;
                Ok(edge)
            }
        }
    }

    /// Ends a timestamp.
    fn settle(&mut self) -> Option<Edge> {
        if self.pending.is_empty() {
            return None;
        }
        if std::mem::take(&mut self.toggles) > 1 {
            self.odd = Some("the clock changes more than once at one time");
        }
        for (slot, odd) in [(RESET, "`reset` is x or z"), (DONE, "`done` is x or z")] {
            if self.unknown[slot] {
                self.odd = Some(odd);
            }
        }
        let rises = self.clock != self.settled[CLOCK] && (self.ticks || self.clock == 1);
        let edge = rises.then(|| Edge {
            time: self.time,
            reset: self.settled[RESET] == 1,
            go: self.settled[GO] == 1,
            done: self.settled[DONE] == 1,
        });
        if rises {
            self.unsampled.clear();
            if self.unknowns > 0 {
                let slots = OWN..self.unknown.len();
                self.unsampled
                    .extend(slots.filter(|&slot| self.unknown[slot]));
            }
            self.changes.clear();
            for slot in self.dirty.drain(..) {
                self.is_dirty[slot] = false;
                let value = self.settled[slot];
                let slot = slot - OWN;
                if self.sample[slot] != value {
                    self.sample[slot] = value;
                    self.changes.push(Change { slot, value });
                }
            }
        }
        for (slot, value, unknown) in self.pending.drain(..) {
            self.settled[slot] = value;
            if self.unknown[slot] != unknown {
                self.unknown[slot] = unknown;
                self.unknowns = if unknown {
                    self.unknowns + 1
                } else {
                    self.unknowns - 1
                };
            }
            if slot >= OWN && !self.is_dirty[slot] {
                self.is_dirty[slot] = true;
                self.dirty.push(slot);
            }
        }
        edge
    }
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
        let mut scopes = Scopes::default();
        scopes.add(&header.items, &mut Vec::new());
        let main = scopes
            .find(&table.clock.scope)
            .ok_or_else(|| SourceError::Foreign {
                scope: table.clock.scope.join("."),
            })?;
        let mut marker = table.marker.scope.clone();
        marker.push(table.marker.name.clone());
        let in_signal = format!("{}_in", table.marker.name);
        let marked = scopes.find(&marker).is_some()
            || scopes
                .find(&table.marker.scope)
                .is_some_and(|s| s.contains_key(in_signal.as_str()));
        if !marked {
            return Err(SourceError::OtherDesign {
                marker: table.marker.to_string(),
            });
        }
        let mut codes = Codes::default();
        let tick = scopes
            .find(&table.tick.scope)
            .and_then(|scope| scope.get(table.tick.name.as_str()));
        if let Some(&tick) = tick {
            codes.add(tick, CLOCK);
        }
        let clock = tick.is_none().then_some((CLOCK, &table.clock));
        for (slot, signal) in
            clock
                .into_iter()
                .chain([(RESET, &table.reset), (GO, &table.go), (DONE, &table.done)])
        {
            let code = main.get(signal.name.as_str());
            let code = code.ok_or_else(|| SourceError::Missing {
                missing: 1,
                wanted: 1,
                first: signal.to_string(),
            })?;
            codes.add(*code, slot);
        }
        let mut missing = Vec::new();
        for (slot, signal) in table.watched.iter().enumerate() {
            let found = scopes
                .find(&signal.scope)
                .and_then(|s| s.get(signal.name.as_str()));
            match found {
                Some(&code) => codes.add(code, OWN + slot),
                None => missing.push(signal),
            }
        }
        if let Some(first) = missing.first() {
            return Err(SourceError::Missing {
                missing: missing.len(),
                wanted: table.watched.len(),
                first: first.to_string(),
            });
        }
        let count = table.watched.len();
        Ok(Self {
            body: Body::Plain(input, Vec::new()),
            lines,
            watched: table.watched.clone(),
            codes,
            state: Values::new(count, tick.is_some()),
            phase: Phase::BeforeRun,
            pace: Pace::default(),
            cycles: 0,
            go: table.go.to_string(),
            paused: false,
            warned: vec![false; count],
            warnings: Vec::new(),
        })
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
                    note(&mut self.state, &self.codes, code, &[value]);
                }
                Some(Command::ChangeVector(code, vector)) => {
                    let bits: Vec<Value> = vector.iter().collect();
                    note(&mut self.state, &self.codes, code, &bits);
                }
                Some(Command::Timestamp(time)) => {
                    if let Some(edge) = self.state.advance(time)? {
                        return Ok(Some(edge));
                    }
                }
                None => return Ok(self.state.settle()),
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
                let taken = take(held, &mut self.state, &self.codes)?;
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
            let taken = take(buffer, &mut self.state, &self.codes)?;
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
        for &slot in &self.state.unsampled {
            let slot = slot - OWN;
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

fn note(state: &mut Values, codes: &Codes, code: IdCode, bits: &[Value]) {
    let number = number(code.to_string().as_bytes());
    if let Some(targets) = number.and_then(|(number, _)| codes.get(number)) {
        let mut value = 0u64;
        let mut unknown = false;
        for bit in bits {
            value = (value << 1) | u64::from(*bit == Value::V1);
            unknown |= !matches!(bit, Value::V0 | Value::V1);
        }
        state.note(targets, value, unknown);
    }
}

/// Lines that were taken in.
#[derive(Default)]
struct Taken {
    bytes: usize,
    lines: u64,
    /// The edge with which the last one ended a timestamp.
    edge: Option<Edge>,
}

/// Takes in the lines at the beginning of `text`, up to the first one that ends a timestamp with an
/// edge, or before the first one that is not whole or not of the plain form.
fn take(text: &[u8], state: &mut Values, codes: &Codes) -> Result<Taken, SourceError> {
    let mut taken = Taken::default();
    while let Some(first) = text.get(taken.bytes) {
        let rest = &text[taken.bytes..];
        if *first != b'#' {
            let Some(length) = value(rest, state, codes) else {
                break;
            };
            taken.bytes += length;
            taken.lines += 1;
            continue;
        }
        let Some((length, time)) = timestamp(rest) else {
            break;
        };
        taken.edge = state.advance(time)?;
        taken.bytes += length;
        taken.lines += 1;
        if taken.edge.is_some() {
            break;
        }
    }
    Ok(taken)
}

/// The length and time of a line with a timestamp.
fn timestamp(text: &[u8]) -> Option<(usize, u64)> {
    let mut time = 0;
    // More digits may be more than 64 bits.
    for (at, &byte) in text.iter().enumerate().take(21).skip(1) {
        match byte {
            b'\n' if at > 1 => return Some((at + 1, time)),
            b'0'..=b'9' if at < 20 => time = time * 10 + u64::from(byte - b'0'),
            _ => return None,
        }
    }
    None
}

/// How many bytes are 0 or 1 before the first one that is not.
fn bits(text: &[u8]) -> usize {
    /// What tells 0 from 1.
    const DIGIT: u64 = 0x0101_0101_0101_0101;
    const ZEROS: u64 = DIGIT * b'0' as u64;
    let (words, rest) = text.as_chunks();
    for (at, &word) in words.iter().enumerate() {
        let others = u64::from_le_bytes(word) & !DIGIT ^ ZEROS;
        if others != 0 {
            return 8 * at + others.trailing_zeros() as usize / 8;
        }
    }
    let rest = rest.iter().take_while(|byte| matches!(byte, b'0' | b'1'));
    8 * words.len() + rest.count()
}

/// Takes in the line at the beginning of `text`, if it is empty or has a value: its length.
#[inline]
fn value(text: &[u8], state: &mut Values, codes: &Codes) -> Option<usize> {
    match text[0] {
        b'\n' => Some(1),
        b'b' => {
            let mut width = bits(&text[1..]);
            if text.get(1 + width) != Some(&b' ') {
                let others = text[1 + width..].iter();
                width += others.take_while(|&&byte| bit(byte).is_some()).count();
            }
            let (bits, rest) = text[1..].split_at(width);
            if bits.is_empty() || rest.first() != Some(&b' ') {
                return None;
            }
            let (length, targets) = codes.line(rest)?;
            if let Some(targets) = targets {
                let mut value = 0u64;
                let mut unknown = false;
                for &byte in bits {
                    let (bit, odd) = bit(byte)?;
                    value = (value << 1) | bit;
                    unknown |= odd;
                }
                state.note(targets, value, unknown);
            }
            Some(1 + width + length)
        }
        byte => {
            let (value, unknown) = bit(byte)?;
            let (length, targets) = codes.line(text)?;
            if let Some(targets) = targets {
                state.note(targets, value, unknown);
            }
            Some(length)
        }
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
            let odd = self.state.odd.take();
            if self.phase == Phase::BeforeRun {
                if reset || !go {
                    self.pace.edge = Some(time);
                    continue;
                }
                self.phase = Phase::Running;
                // Before the run there is no cycle to differ from.
                let sample = self.state.sample.iter().enumerate();
                self.state.changes = sample
                    .filter(|&(_, &value)| value != 0)
                    .map(|(slot, &value)| Change { slot, value })
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
            if done {
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
        &self.state.changes
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

/// The variables of a header by scope.
#[derive(Default)]
struct Scopes {
    scopes: HashMap<Vec<String>, HashMap<String, IdCode>>,
}

impl Scopes {
    fn add(&mut self, items: &[ScopeItem], path: &mut Vec<String>) {
        for item in items {
            match item {
                ScopeItem::Scope(Scope {
                    identifier, items, ..
                }) => {
                    path.push(identifier.clone());
                    self.scopes.entry(path.clone()).or_default();
                    self.add(items, path);
                    path.pop();
                }
                ScopeItem::Var(Var {
                    reference, code, ..
                }) => {
                    self.scopes
                        .entry(path.clone())
                        .or_default()
                        .insert(reference.clone(), *code);
                }
                _ => {}
            }
        }
    }

    /// The scope at `path`, below `TOP` or not.
    fn find(&self, path: &[String]) -> Option<&HashMap<String, IdCode>> {
        let below_top: Vec<String> = std::iter::once("TOP".to_owned())
            .chain(path.iter().cloned())
            .collect();
        self.scopes
            .get(&below_top)
            .or_else(|| self.scopes.get(path))
    }
}
