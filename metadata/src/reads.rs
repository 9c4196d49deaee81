//! What keeps values in a program, and who takes them: what two arms of a `par` may race for.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::ControlId;

/// A value that a group or statement takes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Read {
    /// The names of the cells from the component down to the one that gives it.
    pub path: Vec<String>,
    /// What gives it.
    pub source: ReadSource,
    /// Whether a guard or a multiplexer decides if it is taken.
    pub is_guarded: bool,
}

/// What gives a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadSource {
    /// A register, or another primitive that keeps what it gives. Memories are none: which word is read is not in the program.
    State,
    /// The primitive `undef`, whose value may be any.
    Undefined,
}

/// Who takes values in a program, by the names of its components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// What each group takes.
    pub groups: BTreeMap<(String, String), BTreeSet<Read>>,
    /// What each condition and each `invoke` takes.
    pub statements: BTreeMap<(String, ControlId), BTreeSet<Read>>,
    /// The port that each condition without a comb group looks at, such as `lt.out`.
    pub ports: BTreeMap<(String, ControlId), String>,
    /// The cells that keep what they give, but for memories.
    pub state: BTreeSet<(String, String)>,
    /// The cells that continuous assignments set.
    pub continuous: BTreeSet<(String, String)>,
    /// The barrier of each `@sync`.
    pub barriers: BTreeMap<(String, ControlId), u64>,
}
