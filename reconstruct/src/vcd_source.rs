//! Probe values from a VCD file, read as a stream.
//!
//! A sample is what holds just before the clock rises: the values after all earlier timestamps,
//! without those of the timestamp at which the clock goes from 0 to 1.

use std::collections::HashMap;
use std::io::{self, BufRead};

use vcd::{Command, IdCode, Parser, Scope, ScopeItem, Value, Var};

use crate::model::{Cycle, Warning};
use crate::signals::{Signal, SignalTable};
use crate::source::{ProbeSource, SourceError};

/// What a value change means to the reader.
#[derive(Debug, Default, Clone)]
struct Targets {
    slots: Vec<usize>,
    clock: bool,
    go: bool,
    done: bool,
}

/// A [`ProbeSource`] over a VCD file.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are signals, not options"
)]
pub struct VcdSource<R: BufRead> {
    parser: Parser<R>,
    targets: HashMap<IdCode, Targets>,
    watched: Vec<Signal>,
    /// Settled values, and whether an x or z stands behind a zero.
    settled: Vec<u64>,
    unknown: Vec<bool>,
    /// The same just before the last rising edge.
    sample: Vec<u64>,
    sample_unknown: Vec<bool>,
    clock: bool,
    go: bool,
    done: bool,
    /// Changes of the timestamp that is being read.
    pending: Vec<(IdCode, u64, bool)>,
    settled_changed: bool,
    sample_changed: bool,
    cycles: u64,
    state: State,
    warned: Vec<bool>,
    warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    BeforeRun,
    Running,
    Over,
}

impl<R: BufRead> VcdSource<R> {
    /// Reads the header of `input` and finds the signals of `table` in it.
    ///
    /// # Errors
    /// When it is no VCD file, or not one of the design.
    pub fn new(input: R, table: &SignalTable) -> Result<Self, SourceError> {
        let mut parser = Parser::new(input);
        let header = parser
            .parse_header()
            .map_err(|error| syntax(&parser, error))?;
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
        let mut targets: HashMap<IdCode, Targets> = HashMap::new();
        let control = |name: &Signal| {
            main.get(name.name.as_str())
                .copied()
                .ok_or_else(|| SourceError::Missing {
                    missing: 1,
                    wanted: 1,
                    first: name.to_string(),
                })
        };
        targets.entry(control(&table.clock)?).or_default().clock = true;
        targets.entry(control(&table.go)?).or_default().go = true;
        targets.entry(control(&table.done)?).or_default().done = true;
        let mut missing = Vec::new();
        for (slot, signal) in table.watched.iter().enumerate() {
            let found = scopes
                .find(&signal.scope)
                .and_then(|s| s.get(signal.name.as_str()));
            match found {
                Some(&code) => targets.entry(code).or_default().slots.push(slot),
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
            parser,
            targets,
            watched: table.watched.clone(),
            settled: vec![0; count],
            unknown: vec![false; count],
            sample: vec![0; count],
            sample_unknown: vec![false; count],
            clock: false,
            go: false,
            done: false,
            pending: Vec::new(),
            settled_changed: true,
            sample_changed: true,
            cycles: 0,
            state: State::BeforeRun,
            warned: vec![false; count],
            warnings: Vec::new(),
        })
    }

    /// Reads up to the next rising edge of the clock, leaving in `sample` what held before it.
    /// Returns the `go` and `done` of the sample, or `None` at the end of the file.
    fn next_edge(&mut self) -> Result<Option<(bool, bool)>, SourceError> {
        loop {
            let command = match self.parser.next() {
                None => None,
                Some(Ok(command)) => Some(command),
                Some(Err(error)) => return Err(syntax(&self.parser, error)),
            };
            match command {
                Some(Command::ChangeScalar(code, value)) => self.note(code, &[value]),
                Some(Command::ChangeVector(code, vector)) => {
                    if self.targets.contains_key(&code) {
                        let bits: Vec<Value> = vector.iter().collect();
                        self.note(code, &bits);
                    }
                }
                Some(Command::Timestamp(_)) | None => {
                    let edge = self.settle();
                    if edge.is_some() || command.is_none() {
                        return Ok(edge);
                    }
                }
                Some(_) => {}
            }
        }
    }

    fn note(&mut self, code: IdCode, bits: &[Value]) {
        if !self.targets.contains_key(&code) {
            return;
        }
        let mut number = 0u64;
        let mut unknown = false;
        for bit in bits {
            number = (number << 1) | u64::from(*bit == Value::V1);
            unknown |= !matches!(bit, Value::V0 | Value::V1);
        }
        self.pending
            .push((code, if unknown { 0 } else { number }, unknown));
    }

    /// Ends a timestamp. If the clock rose in it, takes the sample from before.
    fn settle(&mut self) -> Option<(bool, bool)> {
        let clock = self
            .pending
            .iter()
            .rev()
            .find(|(code, ..)| self.targets[code].clock)
            .map_or(self.clock, |&(_, value, _)| value == 1);
        let rises = clock && !self.clock;
        let edge = rises.then_some((self.go, self.done));
        if rises {
            self.sample_changed = self.settled_changed;
            if self.settled_changed {
                self.sample.copy_from_slice(&self.settled);
                self.sample_unknown.copy_from_slice(&self.unknown);
            }
            self.settled_changed = false;
        }
        self.clock = clock;
        for (code, value, unknown) in self.pending.drain(..) {
            let targets = &self.targets[&code];
            if targets.go {
                self.go = value == 1;
            }
            if targets.done {
                self.done = value == 1;
            }
            for &slot in &targets.slots {
                self.settled_changed |=
                    self.settled[slot] != value || self.unknown[slot] != unknown;
                self.settled[slot] = value;
                self.unknown[slot] = unknown;
            }
        }
        edge
    }

    fn warn_of_unknowns(&mut self) {
        for slot in 0..self.sample_unknown.len() {
            if self.sample_unknown[slot] && !self.warned[slot] {
                self.warned[slot] = true;
                self.warnings.push(Warning {
                    cycle: Cycle::from_cycles(self.cycles),
                    signal: self.watched[slot].to_string(),
                    text: "is x or z; taken as 0".to_owned(),
                });
            }
        }
    }
}

impl<R: BufRead> ProbeSource for VcdSource<R> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        loop {
            if self.state == State::Over {
                return Ok(false);
            }
            let Some((go, done)) = self.next_edge()? else {
                return Err(SourceError::Unfinished {
                    cycles: self.cycles,
                });
            };
            if self.state == State::BeforeRun && !go {
                continue;
            }
            if self.state == State::BeforeRun {
                self.state = State::Running;
                self.sample_changed = true;
            }
            if self.sample_changed {
                self.warn_of_unknowns();
            }
            if done {
                self.state = State::Over;
                return Ok(false);
            }
            self.cycles += 1;
            return Ok(true);
        }
    }

    fn values(&self) -> &[u64] {
        &self.sample
    }

    fn changed(&self) -> bool {
        self.sample_changed
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}

fn syntax<R: BufRead>(parser: &Parser<R>, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => SourceError::Syntax {
            line: parser.line(),
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
