//! Where a run is to stop.
//!
//! All stops of a breakpoint are known before the run goes on, so that the next one is found at once in either direction.

use std::rc::Rc;

use petal_observe::Watch;

use crate::values::Written;
use crate::variables::Variable;

/// What a breakpoint stops at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A line, statement, group or cell begins, or an expression becomes true.
    Begins,
    /// A value changes.
    Changes,
}

/// Cycles in which a run is to stop.
#[derive(Debug)]
pub struct Breakpoint {
    /// What it is called.
    pub number: usize,
    /// What it is for, as it was written.
    pub text: String,
    /// What it stops at.
    pub condition: Condition,
    /// Only where this is not 0.
    pub only_if: Option<String>,
    /// The cycles, ascending.
    pub(crate) stops: Vec<u64>,
    /// Of a value, its changes.
    pub(crate) watched: Option<(Variable, Rc<Watch>)>,
}

impl Breakpoint {
    /// How many cycles of the run it stops in.
    pub fn stops(&self) -> usize {
        self.stops.len()
    }

    /// The first stop after a cycle.
    pub(crate) fn after(&self, cycle: u64) -> Option<u64> {
        let at = self.stops.partition_point(|stop| *stop <= cycle);
        self.stops.get(at).copied()
    }

    /// The last stop before a cycle.
    pub(crate) fn before(&self, cycle: u64) -> Option<u64> {
        let at = self.stops.partition_point(|stop| *stop < cycle);
        at.checked_sub(1).map(|at| self.stops[at])
    }

    pub(crate) fn is_in(&self, cycle: u64) -> bool {
        self.stops.binary_search(&cycle).is_ok()
    }
}

/// A breakpoint that the run has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its number.
    pub number: usize,
    /// What it is for.
    pub text: String,
    /// The changes in this cycle, if it is for a value.
    pub written: Vec<Written>,
}
