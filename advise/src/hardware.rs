//! The hardware of a design: how much of what, and how it changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The hardware of a lowered design, in all of its instances, but for the multiplexers that assignments become.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Registers.
    pub registers: u64,
    /// Their bits, each with its `done`.
    pub register_bits: u64,
    /// States of state machines.
    pub states: u64,
    /// Other cells: how many there are of each primitive and width, such as `std_add(32)`.
    pub cells: BTreeMap<String, u64>,
}

/// How hardware changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HardwareChange {
    /// Registers more.
    pub registers: i64,
    /// Bits of registers more.
    pub register_bits: i64,
    /// States of state machines more.
    pub states: i64,
    /// Other cells more, by primitive and width; those that are as many as before are left out.
    pub cells: BTreeMap<String, i64>,
}

fn difference(before: u64, after: u64) -> i64 {
    i64::try_from(after).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(i64::MAX)
}

impl HardwareChange {
    pub(crate) fn between(before: &Hardware, after: &Hardware) -> Self {
        let names = before.cells.keys().chain(after.cells.keys());
        let count = |of: &Hardware, name: &String| of.cells.get(name).copied().unwrap_or(0);
        let cells = names.map(|name| {
            let change = difference(count(before, name), count(after, name));
            (name.clone(), change)
        });
        Self {
            registers: difference(before.registers, after.registers),
            register_bits: difference(before.register_bits, after.register_bits),
            states: difference(before.states, after.states),
            cells: cells.filter(|(_, change)| *change != 0).collect(),
        }
    }

    /// In words: `2 registers (9 bits) and 1 state less, std_add(8) +1`.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |count: i64, what: &str| {
            if count != 0 {
                let plural = if count.abs() == 1 { "" } else { "s" };
                parts.push(format!("{count:+} {what}{plural}"));
            }
        };
        part(self.registers, "register");
        part(self.register_bits, "register bit");
        part(self.states, "state");
        parts.extend(
            self.cells
                .iter()
                .map(|(name, count)| format!("{count:+} {name}")),
        );
        if parts.is_empty() {
            return "the same hardware".to_owned();
        }
        parts.join(", ")
    }
}
