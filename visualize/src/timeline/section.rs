//! The part of a run that a timeline shows.

use std::ops::Range;

/// The part of a run that a timeline shows.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Only these cycles.
    pub cycles: Option<Range<u64>>,
    /// Only this component cell, by its path from main, and what is below it.
    pub cell: Option<String>,
    /// Only so many levels of the call tree, from that cell on.
    pub depth: Option<usize>,
}

/// Whether the run is before, in or after the cycles that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Before,
    Within,
    After,
}

/// What of the design is shown.
#[derive(Debug)]
pub(super) struct Shown {
    section: Section,
    /// Whether each instance is the section's cell or below it.
    inside: Vec<bool>,
    /// Levels above the section's cell.
    base: Option<usize>,
}

impl Shown {
    pub fn new(section: Section) -> Self {
        Self {
            section,
            inside: Vec::new(),
            base: None,
        }
    }

    /// Takes in the path of the next instance from main: whether it is shown.
    pub fn enter(&mut self, path: &str) -> bool {
        let inside = match &self.section.cell {
            None => true,
            Some(cell) => path
                .strip_prefix(cell.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        };
        self.inside.push(inside);
        inside
    }

    /// Whether the next element is shown: one of this instance, below so many levels of the call tree.
    pub fn element(&mut self, instance: usize, depth: usize) -> bool {
        if !self.inside[instance] {
            return false;
        }
        // The first element in the section is its cell.
        let base = *self.base.get_or_insert(depth);
        self.section
            .depth
            .is_none_or(|limit| depth - base.min(depth) < limit)
    }

    /// Whether the updates of an instance's control registers are shown: where only the section's cell
    /// itself is wanted, they are too much.
    pub fn updates(&self, instance: usize) -> bool {
        self.inside[instance] && self.section.depth != Some(1)
    }
}
