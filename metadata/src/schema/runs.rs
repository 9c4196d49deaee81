//! Every way in which groups come to run, with the calls that they make.

use serde::{Deserialize, Serialize};

use crate::ids::{CellId, ControlId, GroupId, GroupRunId, ThreadId};
use crate::probe::ProbeName;

/// One way in which a group comes to run: by a control node or by another group. Two enables of
/// the same group are two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRun {
    /// The group.
    pub group: GroupId,
    /// The part of the group that runs, when the compiler split the group; `group` is the whole.
    pub part: Option<GroupId>,
    /// The control node that runs it; `None` for a group that other groups call.
    pub control: Option<ControlId>,
    /// What the run does for its control node.
    pub role: RunRole,
    /// The par thread in which it runs.
    pub thread: ThreadId,
    /// Cycles of one run, where the compiler fixed them.
    pub latency: Option<u64>,
    /// High while the group is active. Runs of the same group have the same probe.
    pub probe: ProbeName,
    /// High while the group is started in this way; `None` if the group is active in no other.
    pub enable: Option<ProbeName>,
}

/// What a group run does for its control node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunRole {
    /// It is what an enable or invoke stands for.
    Body,
    /// It is what an enable stands for, but the compiler has removed all that the group does: it only takes time.
    Idle,
    /// It computes the condition of an `if` or `while` (`with` a comb group).
    Condition,
    /// The compiler made it to keep the control program going: loop counters, barriers.
    Control,
    /// Another group calls it.
    Called,
}

impl RunRole {
    /// Whether it is what an enable or invoke stands for, with something left to do or without.
    pub fn is_body(self) -> bool {
        matches!(self, Self::Body | Self::Idle)
    }
}

/// What a group run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The user's own work.
    Work,
    /// The condition of an `if` or `while`.
    Condition,
    /// To keep the control program going.
    Control,
}

/// A call, with its probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The group run that makes the call; `None` for a continuous assignment.
    pub caller: Option<GroupRunId>,
    /// What is called.
    pub callee: Callee,
    /// High while the call is made.
    pub probe: ProbeName,
}

/// How a group, or continuous assignments, use a memory that gives the word at its address in the same cycle: no call tells of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// The group run; `None` for continuous assignments.
    pub run: Option<GroupRunId>,
    /// The memory.
    pub cell: CellId,
    /// Whether it drives the address.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// High while it does; `None` if that is as long as the group is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeName>,
    /// Whether it takes what the memory gives.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes: bool,
}

/// What a call activates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Callee {
    /// A group of the same component (CG), by the run that this starts.
    Group(GroupRunId),
    /// A cell: of a component (CC), or a primitive (CP).
    Cell(CellId),
}
