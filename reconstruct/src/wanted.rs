//! The signals of a waveform by scope, and which of them are wanted.
//!
//! Knows scopes and names; knows nothing of how a format declares them.

use std::collections::HashMap;

use petal_metadata::Id as _;

use crate::sampler::{CLOCK, DONE, GO, RESET, number_of};
use crate::signals::{Signal, SignalTable, SlotId};
use crate::source::SourceError;

/// The wanted signals of a waveform.
pub(crate) struct Wanted<K> {
    /// What the waveform knows each by, with its number.
    pub signals: Vec<(K, usize)>,
    /// Whether the waveform has one time a cycle: each change of the clock is an edge.
    pub ticks: bool,
}

impl<K: Copy> Wanted<K> {
    /// Looks the signals of `table` up.
    ///
    /// # Errors
    /// When the waveform is of another design, or lacks a signal.
    pub fn of(scopes: &Scopes<K>, table: &SignalTable) -> Result<Self, SourceError> {
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
        let mut signals = Vec::new();
        let tick = scopes
            .find(&table.tick.scope)
            .and_then(|scope| scope.get(table.tick.name.as_str()));
        if let Some(tick) = tick {
            signals.push((tick.signal, CLOCK));
        }
        let clock = tick.is_none().then_some((CLOCK, &table.clock));
        for (number, signal) in
            clock
                .into_iter()
                .chain([(RESET, &table.reset), (GO, &table.go), (DONE, &table.done)])
        {
            let found = main.get(signal.name.as_str());
            let found = found.ok_or_else(|| SourceError::Missing {
                missing: 1,
                wanted: 1,
                first: signal.to_string(),
            })?;
            signals.push((found.signal, number));
        }
        let mut missing = Vec::new();
        for (slot, signal) in table.watched.iter().enumerate() {
            let found = scopes
                .find(&signal.scope)
                .and_then(|s| s.get(signal.name.as_str()));
            match found {
                Some(found) => signals.push((found.signal, number_of(SlotId::from_index(slot)))),
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
        Ok(Self {
            signals,
            ticks: tick.is_some(),
        })
    }
}

/// The signals of a waveform by scope, each with what the waveform knows it by.
pub(crate) struct Scopes<K> {
    /// The scope whose signals come next.
    path: Vec<String>,
    scopes: HashMap<Vec<String>, HashMap<String, Declared<K>>>,
}

/// A signal of a waveform.
struct Declared<K> {
    signal: K,
    /// Bits.
    width: u32,
}

impl<K> Default for Scopes<K> {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            scopes: HashMap::new(),
        }
    }
}

impl<K> Scopes<K> {
    /// A scope begins.
    pub fn enter(&mut self, name: String) {
        self.path.push(name);
        self.scopes.entry(self.path.clone()).or_default();
    }

    /// The latest scope ends.
    pub fn leave(&mut self) {
        self.path.pop();
    }

    /// A signal of the latest scope.
    pub fn declare(&mut self, name: String, signal: K, width: u32) {
        // Made only for signals outside of all scopes.
        let scope = self.scopes.entry(self.path.clone()).or_default();
        scope.insert(name, Declared { signal, width });
    }

    /// All signals, each with its width in bits, without a `TOP` in their paths.
    pub fn signals(&self) -> impl Iterator<Item = (Signal, u32)> + '_ {
        self.scopes.iter().flat_map(|(path, signals)| {
            let is_top = path.first().is_some_and(|name| name == "TOP");
            let scope = &path[usize::from(is_top)..];
            signals.iter().map(move |(name, declared)| {
                let (scope, name) = (scope.to_vec(), name.clone());
                (Signal { scope, name }, declared.width)
            })
        })
    }

    /// The scope at `path`, below `TOP` or not.
    fn find(&self, path: &[String]) -> Option<&HashMap<String, Declared<K>>> {
        let below_top: Vec<String> = std::iter::once("TOP".to_owned())
            .chain(path.iter().cloned())
            .collect();
        self.scopes
            .get(&below_top)
            .or_else(|| self.scopes.get(path))
    }
}
