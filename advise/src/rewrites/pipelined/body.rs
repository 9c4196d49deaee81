//! The text of a static group of steps that run in some of its cycles.

use std::fmt::Write as _;

use calyx_ir as ir;

use super::guards::within;
use crate::proof::Assignment;

/// The group, while it is written.
pub(super) struct Body<'a> {
    text: String,
    indent: &'a str,
    /// How many cycles it takes.
    cycles: u64,
}

impl<'a> Body<'a> {
    pub fn new(name: &str, cycles: u64, indent: &'a str) -> Self {
        Self {
            text: format!("static<{cycles}> group {name} {{\n"),
            indent,
            cycles,
        }
    }

    /// What is assigned in these cycles.
    pub fn line(&mut self, mut to: Assignment, slots: (u64, u64)) {
        if slots != (0, self.cycles) {
            *to.guard = within(&to.guard, slots);
        }
        self.plain(&ir::Printer::assignment_to_str(&to));
    }

    pub fn plain(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}  {line}", self.indent);
    }

    pub fn end(self) -> String {
        self.text + self.indent + "}"
    }
}
