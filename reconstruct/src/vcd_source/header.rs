//! The header of a VCD file: its scopes, and the identifier codes of the signals in them.

use std::collections::HashMap;

use vcd::{IdCode, Scope, ScopeItem, Var};

use super::codes::Codes;
use super::sampler::{CLOCK, DONE, GO, RESET, number_of};
use crate::signals::{SignalTable, SlotId};
use crate::source::SourceError;

use petal_metadata::Id as _;

/// The wanted signals of a header.
pub(super) struct Wanted {
    pub codes: Codes,
    /// Whether the waveform has one time a cycle: each change of the clock is an edge.
    pub ticks: bool,
}

impl Wanted {
    /// Looks the signals of `table` up.
    ///
    /// # Errors
    /// When the waveform is of another design, or lacks a signal.
    pub fn of(items: &[ScopeItem], table: &SignalTable) -> Result<Self, SourceError> {
        let mut scopes = Scopes::default();
        scopes.add(items, &mut Vec::new());
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
        for (number, signal) in
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
            codes.add(*code, number);
        }
        let mut missing = Vec::new();
        for (slot, signal) in table.watched.iter().enumerate() {
            let code = scopes
                .find(&signal.scope)
                .and_then(|s| s.get(signal.name.as_str()));
            match code {
                Some(&code) => codes.add(code, number_of(SlotId::from_index(slot))),
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
            codes,
            ticks: tick.is_some(),
        })
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
