//! The record of the probes: what each looks at, by its name in the program at that point.
//!
//! Knows neither how a probe is made nor what its values mean.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use petal_metadata::{ProbeName, ProbePrefix, Schedule};
use petal_program::tree::NodeKey;

use crate::sharing::Driver;

/// What instrumentation put into a program.
#[derive(Debug)]
pub(crate) struct Probes {
    pub prefix: ProbePrefix,
    pub components: HashMap<ir::Id, ComponentProbes>,
}

/// The probes of one component.
#[derive(Debug, Default)]
pub(crate) struct ComponentProbes {
    pub runs: Vec<RunProbe>,
    pub calls: Vec<CallProbe>,
    /// How memories that give a word in the same cycle are used.
    pub lookups: Vec<LookupProbe>,
    /// What has no `go` and is driven by continuous assignments, each once.
    pub continuous: Vec<CalleeName>,
    /// Probes so far; the next one gets this number.
    pub count: u32,
    /// Cells of the component, to recognise those that compilation adds.
    pub cells: HashSet<ir::Id>,
    /// The schedules of static programs, by number.
    pub static_programs: Vec<Schedule<NodeKey>>,
    /// Source statements that became static as a whole, with their latencies.
    pub latencies: HashMap<NodeKey, u64>,
    /// Source statements that became static as a whole, but whose runs nothing tells apart.
    pub merged: HashSet<NodeKey>,
    /// The probes of branches of `static if`s, until [`crate::triggers`] has added them.
    pub branches: Vec<BranchProbe>,
    /// How many `static if`s hold the value of their condition in a register.
    pub latched: usize,
    /// What each static program starts by a `go`, until [`crate::triggers`] has probed it.
    pub triggers: Vec<Vec<Trigger>>,
    /// Groups of the component, to recognise those that `static-inline` adds.
    pub groups: HashSet<ir::Id>,
}

/// A probe that is high while a branch of a `static if` runs.
#[derive(Debug)]
pub(crate) struct BranchProbe {
    pub probe: ProbeName,
    pub condition: Condition,
    /// The value of the condition for which the branch is taken.
    pub branch: bool,
}

/// Where the condition of a `static if` can be read while it runs.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// It takes one cycle: at its port.
    Port(ir::RRC<ir::Port>),
    /// At the wire that `static-inline` makes, as the n-th in the component.
    Latched(usize),
}

/// A GA probe. The runs of one group have the same.
#[derive(Debug)]
pub(crate) struct RunProbe {
    pub group: ir::Id,
    pub driver: Driver,
    pub latency: Option<u64>,
    /// Whether the compiler has removed all that the group does.
    pub is_idle: bool,
    pub probe: ProbeName,
    /// The probe of what starts the group for this run, where the group has several.
    pub enable: Option<ProbeName>,
}

/// A CG, CC or CP probe.
#[derive(Debug, Clone)]
pub(crate) struct CallProbe {
    /// Index into the runs; `None` for a continuous assignment.
    pub caller: Option<usize>,
    pub callee: CalleeName,
    pub probe: ProbeName,
}

/// How a group uses a memory that gives the word at its address in the same cycle.
#[derive(Debug)]
pub(crate) struct LookupProbe {
    /// `None` for continuous assignments.
    pub group: Option<ir::Id>,
    pub memory: CalleeName,
    /// Whether it drives the address.
    pub asks: bool,
    /// High while it does, if that is not as long as the group is active.
    pub probe: Option<ProbeName>,
    /// Whether it takes what the memory gives.
    pub takes: bool,
}

/// What is called, by its name in the program at this point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CalleeName {
    Group(ir::Id),
    Cell(ir::Id),
    /// The n-th `ref` cell of the component.
    Reference(usize),
}

/// An assignment to the `go` of a group that a static program makes: the run that it starts, or
/// `None` where the group has no other.
pub(crate) type Trigger = Option<usize>;
