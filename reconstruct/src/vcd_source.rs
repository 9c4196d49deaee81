//! Probe values from a VCD file, read as a stream.
//!
//! A sample is what holds just before the clock rises: the values after all earlier timestamps,
//! without those of the timestamp at which the clock goes from 0 to 1. In a waveform with one time
//! a cycle, a signal that changes at each of them is in the clock's place.

use std::collections::HashMap;
use std::io::{self, BufRead, Chain, Cursor, Read as _};

use memchr::memchr;
use vcd::{Command, IdCode, Parser, Scope, ScopeItem, Value, Var};

use crate::model::{Cycle, Warning};
use crate::signals::{Signal, SignalTable};
use crate::source::{Change, ProbeSource, SourceError};

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
    cycles: u64,
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

/// `go` and `done` just before a rising edge of the clock.
type Edge = (bool, bool);

/// What the signals of an identifier code are: numbers from [`Values::slots`].
type Targets = Vec<usize>;

/// The wanted identifier codes.
struct Codes {
    /// By the number of a code. Its first characters tell it from what is no code.
    table: Vec<Code>,
    /// For codes beyond the table.
    others: HashMap<u64, u32>,
    targets: Vec<Targets>,
}

#[derive(Clone, Copy, Default)]
struct Code {
    /// Up to three characters, the first in the lowest byte.
    text: u32,
    /// 1 + the index of its targets, or 0.
    place: u32,
}

/// Codes have small numbers in all but odd files.
const TABLE: u64 = 1 << 22;

impl Codes {
    fn add(&mut self, code: IdCode, slot: usize) {
        let text = code.to_string();
        let Some((number, _)) = number(text.as_bytes()) else {
            return;
        };
        let place = if number < TABLE {
            let at = usize::try_from(number).expect("the table fits in memory");
            if self.table.len() <= at {
                self.table.resize(at + 1, Code::default());
            }
            let bytes = text.bytes().take(3).enumerate();
            self.table[at].text =
                bytes.fold(0, |text, (at, byte)| text | u32::from(byte) << (8 * at));
            &mut self.table[at].place
        } else {
            self.others.entry(number).or_default()
        };
        if *place == 0 {
            self.targets.push(Targets::new());
            *place = u32::try_from(self.targets.len()).expect("headers have fewer signals");
        }
        self.targets[*place as usize - 1].push(slot);
    }

    fn get(&self, number: u64) -> Option<&Targets> {
        let at = usize::try_from(number).ok();
        let place = match at.and_then(|at| self.table.get(at)) {
            Some(code) => code.place,
            None if self.others.is_empty() => 0,
            None => self.others.get(&number).copied().unwrap_or(0),
        };
        (place > 0).then(|| &self.targets[place as usize - 1])
    }

    /// The length and targets of a code of up to three characters that fills the line after its
    /// first character. `None` if it is longer. This is where most of a file goes through.
    #[inline]
    fn short(&self, line: &[u8]) -> Option<(usize, Option<&Targets>)> {
        /// What the characters' offset from their digits adds to a number, by length.
        const OFFSETS: [u32; 4] = [0, 33, 33 + 32 * 94, 33 + 32 * 94 + 32 * 94 * 94];
        let &[_, a, b, c, d, ..] = line else {
            return None;
        };
        let word = u32::from_le_bytes([a, b, c, d]);
        // The lowest byte that is marked is the first line end.
        let ends = word ^ 0x0a0a_0a0a;
        let marks = ends.wrapping_sub(0x0101_0101) & !ends & 0x8080_8080;
        let length = marks.trailing_zeros() / 8;
        if !(1..=3).contains(&length) {
            return None;
        }
        let text = word & ((1 << (8 * length)) - 1);
        let sum = (text & 0xff) + (text >> 8 & 0xff) * 94 + (text >> 16) * (94 * 94);
        let number = sum.wrapping_sub(OFFSETS[length as usize]);
        let code = self.table.get(number as usize);
        let place = code
            .filter(|code| code.text == text)
            .map_or(0, |code| code.place);
        let targets = (place > 0).then(|| &self.targets[place as usize - 1]);
        Some((length as usize, targets))
    }
}

/// The number of the identifier code that `line` begins with, and its length; `None` if it is none
/// or longer than any in use.
fn number(line: &[u8]) -> Option<(u64, usize)> {
    const MOST: usize = 8;
    let mut number = 0;
    let mut scale = 1;
    for (at, &byte) in line.iter().enumerate().take(MOST + 1) {
        if !byte.is_ascii_graphic() {
            return (at > 0).then(|| (number - 1, at));
        }
        number += u64::from(byte - b' ') * scale;
        scale *= 94;
    }
    (!line.is_empty() && line.len() <= MOST).then(|| (number - 1, line.len()))
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
const GO: usize = 1;
const DONE: usize = 2;
const OWN: usize = 3;

/// The values of the signals. The first ones are the clock, `go` and `done`.
#[derive(Default)]
struct Values {
    /// Whether each change of the clock is an edge.
    ticks: bool,
    /// Changes of the timestamp that is being read: slot, value, whether it is x or z.
    pending: Vec<(usize, u64, bool)>,
    settled: Vec<u64>,
    unknown: Vec<bool>,
    unknowns: usize,
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
        self.pending
            .extend(targets.iter().map(|&slot| (slot, value, unknown)));
    }

    /// Ends a timestamp. If the clock rose in it, takes the sample from before.
    fn settle(&mut self) -> Option<Edge> {
        if self.pending.is_empty() {
            return None;
        }
        let clock = self.pending.iter().rev().find(|(slot, ..)| *slot == CLOCK);
        let before = self.settled[CLOCK];
        let rises =
            clock.is_some_and(|&(_, value, _)| value != before && (self.ticks || value == 1));
        let edge = rises.then(|| (self.settled[GO] == 1, self.settled[DONE] == 1));
        if rises {
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
        let mut codes = Codes {
            table: Vec::new(),
            others: HashMap::new(),
            targets: Vec::new(),
        };
        let tick = scopes
            .find(&table.tick.scope)
            .and_then(|scope| scope.get(table.tick.name.as_str()));
        if let Some(&tick) = tick {
            codes.add(tick, CLOCK);
        }
        let clock = tick.is_none().then_some((CLOCK, &table.clock));
        for (slot, signal) in clock
            .into_iter()
            .chain([(GO, &table.go), (DONE, &table.done)])
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
            cycles: 0,
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
                Some(Command::Timestamp(_)) | None => {
                    let edge = self.state.settle();
                    if edge.is_some() || command.is_none() {
                        return Ok(edge);
                    }
                }
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
            let mut at = 0;
            if !held.is_empty() {
                let end = memchr(b'\n', buffer).map_or(buffer.len(), |end| end + 1);
                held.extend_from_slice(&buffer[..end]);
                at = end;
                if held.last() == Some(&b'\n') {
                    match plain(held, &mut self.state, &self.codes) {
                        Some((_, edge)) => {
                            self.lines += 1;
                            held.clear();
                            if let Some(edge) = edge {
                                reader.consume(at);
                                return Ok(Scanned::Edge(edge));
                            }
                        }
                        None => {
                            reader.consume(at);
                            return Ok(Scanned::Other);
                        }
                    }
                }
            }
            while at < buffer.len() {
                let Some((length, edge)) = plain(&buffer[at..], &mut self.state, &self.codes)
                else {
                    // Cut off by the end of the buffer, or of another form.
                    let cut = memchr(b'\n', &buffer[at..]).is_none();
                    if cut {
                        held.extend_from_slice(&buffer[at..]);
                        at = buffer.len();
                        break;
                    }
                    reader.consume(at);
                    return Ok(Scanned::Other);
                };
                at += length;
                self.lines += 1;
                if let Some(edge) = edge {
                    reader.consume(at);
                    return Ok(Scanned::Edge(edge));
                }
            }
            reader.consume(at);
        }
    }

    fn warn_of_unknowns(&mut self) {
        for (slot, warned) in self.warned.iter_mut().enumerate() {
            if self.state.unknown[OWN + slot] && !*warned {
                *warned = true;
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

/// Takes in the line at the beginning of `text`: its length, and the edge if it ends a timestamp
/// with one. `None`, and nothing taken in, if it is not whole or not of the plain form.
#[inline]
fn plain(text: &[u8], state: &mut Values, codes: &Codes) -> Option<(usize, Option<Edge>)> {
    match text[0] {
        b'\n' => Some((1, None)),
        b'#' => {
            let end = memchr(b'\n', text)?;
            let digits = &text[1..end];
            // More digits may be more than 64 bits.
            let fine = (1..=19).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
            fine.then(|| (end + 1, state.settle()))
        }
        b'b' => {
            let end = memchr(b'\n', text)?;
            let space = text[..end].iter().rposition(|&byte| byte == b' ')?;
            let (number, length) = number(&text[space + 1..end])?;
            if length != end - space - 1 || space == 1 {
                return None;
            }
            // The bits of others are not looked at.
            let Some(targets) = codes.get(number) else {
                return Some((end + 1, None));
            };
            let mut value = 0u64;
            let mut unknown = false;
            for &byte in &text[1..space] {
                let (bit, odd) = bit(byte)?;
                value = (value << 1) | bit;
                unknown |= odd;
            }
            state.note(targets, value, unknown);
            Some((end + 1, None))
        }
        byte => {
            let (value, unknown) = bit(byte)?;
            if let Some((length, targets)) = codes.short(text) {
                if let Some(targets) = targets {
                    state.note(targets, value, unknown);
                }
                return Some((length + 2, None));
            }
            let (number, length) = number(&text[1..])?;
            if text.get(1 + length) != Some(&b'\n') {
                return None;
            }
            if let Some(targets) = codes.get(number) {
                state.note(targets, value, unknown);
            }
            Some((length + 2, None))
        }
    }
}

impl<R: BufRead> ProbeSource for VcdSource<R> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        loop {
            if self.phase == Phase::Over {
                return Ok(false);
            }
            let Some((go, done)) = self.next_edge()? else {
                return Err(SourceError::Unfinished {
                    cycles: self.cycles,
                });
            };
            if self.phase == Phase::BeforeRun {
                if !go {
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
            if self.state.unknowns > 0 {
                self.warn_of_unknowns();
            }
            if done {
                self.phase = Phase::Over;
                return Ok(false);
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
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => SourceError::Syntax {
            line,
            problem: error.to_string(),
        },
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
