//! What is found of races.

use std::collections::BTreeSet;
use std::rc::Rc;

/// A read or write of a word of a memory.
#[derive(Debug, Clone)]
pub struct WordAccess {
    /// When.
    pub cycle: u64,
    /// The path of the memory.
    pub memory: Rc<str>,
    /// The word in row-major order.
    pub word: u64,
    /// Whether it is a write.
    pub is_write: bool,
    /// Who made it, as paths through the call tree.
    pub by: Vec<Rc<str>>,
}

/// Where something stands that accesses a register or memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Accessor {
    /// Its path through the call tree.
    pub path: String,
    /// The group; none if a statement looks at a port itself.
    pub group: Option<String>,
    /// The innermost statement around it, if there is one.
    pub statement: Option<String>,
    /// The line of what runs the group, or of the statement.
    pub line: Option<u32>,
    /// The file of that line, if it is not the design's.
    pub file: Option<String>,
}

/// One of the accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RacingAccess {
    /// Whether it is a write.
    pub is_write: bool,
    /// Who makes it.
    pub by: Accessor,
    /// When.
    pub cycle: u64,
}

/// Why a race is not sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// A guard or multiplexer decides if the value is taken.
    Guard,
    /// Nothing tells one run of the `par` from the next, or how its arms met at barriers.
    Order,
}

/// Two accesses that nothing puts into an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Race {
    /// The path of the register or memory.
    pub what: String,
    /// The word of the memory.
    pub word: Option<u64>,
    /// The `par` whose arms they are of; none for continuous assignments.
    pub par: Option<String>,
    /// Both, the earlier one first. If they were once in the same cycle, those.
    pub accesses: [RacingAccess; 2],
    /// Whether they were in the same cycle.
    pub is_same_cycle: bool,
    /// In how many runs of the `par`, each word counted.
    pub times: u64,
    /// Why it may be none.
    pub doubt: Option<Doubt>,
}

/// A group that takes a value which may be any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndefinedRead {
    /// The path of the `undef`.
    pub what: String,
    /// Who takes it.
    pub by: Accessor,
    /// When first.
    pub cycle: u64,
    /// Whether a guard or multiplexer decides if it is taken.
    pub is_guarded: bool,
}

/// What was found in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The races, in the order of time.
    pub races: Vec<Race>,
    /// Who takes what `undef` gives, in the order of time.
    pub undefined: Vec<UndefinedRead>,
    /// The `par`s of which it is not known how their arms met at barriers: races between them may be missing.
    pub unknown: BTreeSet<String>,
    /// Cycles that the trace does not have.
    pub gaps: u64,
}
