//! The parts of the graph: steps, the edges between them, and the statements that the steps belong to.

use petgraph::graph::NodeIndex;

use crate::colors::Meaning;
use petal_analysis::critical::Site;
use petal_metadata::SiteId;

/// What a step of the graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// A component cell: where what it runs begins.
    Cell,
    /// The enable of a group, an `invoke`, or a barrier.
    Leaf,
    /// The beginning of a `seq`.
    Seq,
    /// The decision of an `if`.
    If,
    /// The decision of a `while`, or the counter of a `repeat`.
    Loop,
    /// The beginning of a `par`.
    Fork,
    /// The end of a `par`.
    Join,
}

/// A node of the graph.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it is.
    pub kind: StepKind,
    /// The statement or cell that it belongs to.
    pub site: Site,
    /// Its number in all outputs: of an enable, that of the group which it runs. `None` if that is one of several.
    pub id: Option<SiteId>,
    /// What it is called.
    pub label: String,
    /// The line that it comes from: `L12`, or of a front end's file `queue.py:12` and where its group is defined; empty for cells.
    pub place: String,
    /// The text of that line in the Calyx program.
    pub source: String,
    /// How often it began, where that is certain.
    pub times: Option<u64>,
    /// Cycles in which it was active; 0 for a join, whose fork has them.
    pub cycles: u64,
    /// Cycles of the critical path that belong to it: those of all steps together are the run's.
    pub critical: u64,
    pub(super) meaning: Meaning,
}

/// Why control goes from one step to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The one has ended, and the other begins.
    Next,
    /// The condition holds.
    Then,
    /// It does not.
    Else,
    /// An arm of a `par` begins.
    Arm,
    /// An iteration begins.
    Body,
    /// It has ended.
    Again,
    /// The one runs the cell.
    Calls,
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Why it is there.
    pub way: Way,
    /// How often it was taken, where that is certain.
    pub taken: Option<u64>,
    /// Whether both its ends are on the critical path, and it was taken.
    pub critical: bool,
}

/// A statement or cell in the graph.
#[derive(Debug)]
pub(super) struct Statement {
    pub step: NodeIndex,
    /// Of a `par`: where its arms come together.
    pub join: Option<NodeIndex>,
    /// What is directly in it.
    pub inside: Vec<Site>,
    /// How often it began.
    pub entered: Option<u64>,
    /// Of a loop: how often its body ended.
    pub again: Option<u64>,
}
