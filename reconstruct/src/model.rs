//! The Petal trace: call trees, and which of them was active for how many cycles.
//!
//! Trees are interned: equal cycles share one tree, and consecutive equal cycles are one [`Run`].

use petal_metadata::{CellId, ComponentId, ControlId, GroupId, GroupRunId, Id, RegisterId, ids};
use petgraph::graph::{DiGraph, NodeIndex};
use serde::{Deserialize, Serialize};

/// A clock cycle of the run; cycle 0 is the first in which the main component's `go` is high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cycle(u64);

impl Cycle {
    /// The cycle that comes `cycles` clock periods after cycle 0.
    pub const fn from_cycles(cycles: u64) -> Self {
        Self(cycles)
    }

    /// Clock periods since cycle 0.
    pub const fn cycles(self) -> u64 {
        self.0
    }
}

ids! {
    /// A call tree of a trace.
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub TreeId,
    /// A component cell as the source sees it: a path of cells from main.
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub InstanceId,
    /// A node of one call tree. Nodes are numbered in preorder; the root is node 0.
    pub NodeId,
}

/// A component cell as the source sees it. Cells that share hardware are different instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Its component.
    pub component: ComponentId,
    /// The instance that holds it and its cell there; `None` for main, which is instance 0.
    pub parent: Option<(InstanceId, CellId)>,
}

/// Why a cell only moves control along in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Overhead {
    /// At the end of the cycle an FSM of the cell takes a transition, or a loop counter that the
    /// compiler made is set, and no par-done register changes.
    FsmUpdate,
    /// Only par-done registers of the cell change at the end of the cycle.
    ParDone,
    /// FSMs and par-done registers change.
    FsmAndParDone,
    /// Control that the compiler made static lets the cycle pass: it pads the shorter branch of an
    /// `if`, waits for the longer arm of a `par`, or resets its counter.
    StaticWait,
    /// Groups that the compiler made count the arms that have come to an `@sync` barrier, or wait
    /// for the others.
    Barrier,
    /// The cell has been started, but its control program does not run yet or is already done.
    StartFinish,
    /// None of these; `docs/guide/overhead.md` lists the cases.
    Other,
}

impl Overhead {
    /// All kinds, in the order of outputs.
    pub const ALL: [Self; 7] = [
        Self::FsmUpdate,
        Self::ParDone,
        Self::FsmAndParDone,
        Self::StaticWait,
        Self::Barrier,
        Self::StartFinish,
        Self::Other,
    ];

    /// Its position in [`Overhead::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind as people read it; the `Display` form is that of keys in JSON.
    pub fn title(self) -> &'static str {
        match self {
            Self::FsmUpdate => "FSM update",
            Self::ParDone => "par-done update",
            Self::FsmAndParDone => "FSM and par-done update",
            Self::StaticWait => "static wait",
            Self::Barrier => "barrier",
            Self::StartFinish => "start/finish",
            Self::Other => "other",
        }
    }
}

const _: () = {
    // Whatever has cycles by kind counts all kinds, in this order.
    let mut at = 0;
    while at < Overhead::ALL.len() {
        assert!(Overhead::ALL[at].index() == at);
        at += 1;
    }
    assert!(Overhead::Other.index() + 1 == Overhead::ALL.len());
};

impl std::fmt::Display for Overhead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::FsmUpdate => "fsm-update",
            Self::ParDone => "par-done",
            Self::FsmAndParDone => "fsm-and-par-done",
            Self::StaticWait => "static-wait",
            Self::Barrier => "barrier",
            Self::StartFinish => "start-finish",
            Self::Other => "other",
        })
    }
}

/// An overhead cycle, and the statement that caused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Charge {
    /// What kind of overhead it is.
    pub kind: Overhead,
    /// The statement, of the cell's component: for a transition of an FSM the innermost one that
    /// contains what ran before and what runs next, and for a jump back the loop around both.
    /// `None` only for components without control.
    pub statement: Option<ControlId>,
}

/// What a cell does in a cycle in which it is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// At least one user group, invoked cell or primitive is active in it.
    Useful,
    /// It only computes the conditions of `if`s and `while`s.
    Condition,
    /// It only moves control along.
    Overhead(Charge),
}

/// A node of a call tree. Handles belong to the named component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// A component cell, or main at the root.
    Cell {
        /// Which one. For a `ref` cell, the one that it stands for.
        instance: InstanceId,
        /// The `ref` cell by which it is called, and its component.
        formal: Option<(ComponentId, CellId)>,
        /// What it does in these cycles.
        activity: Activity,
    },
    /// A control node of the source. Enables have none: their group stands for them.
    Control {
        /// Component of the control program.
        component: ComponentId,
        /// The node.
        control: ControlId,
    },
    /// A group. A part of a group that the compiler split is a child of the whole group.
    Group {
        /// Component of the group.
        component: ComponentId,
        /// The group, or the part of it.
        group: GroupId,
        /// How it came to run.
        run: GroupRunId,
    },
    /// The continuous assignments of a component, where they drive a component cell or a
    /// sequential primitive. Stands where a group would.
    Continuous {
        /// The component.
        component: ComponentId,
    },
    /// A primitive; always a leaf.
    Primitive {
        /// Component that holds the primitive.
        component: ComponentId,
        /// The primitive's cell.
        cell: CellId,
        /// For a `ref` cell, the one that it stands for, and who holds that. `None` also if nobody
        /// handed one over.
        actual: Option<(InstanceId, CellId)>,
    },
}

/// What is active in a cycle: a tree rooted at the main cell (paper, section 4).
#[derive(Debug, Clone, Default)]
pub struct CallTree {
    graph: DiGraph<Node, ()>,
}

impl CallTree {
    /// A tree of its nodes in preorder, each with its depth (the root's is 0).
    ///
    /// `None` if that is no tree: the first depth must be 0, and every other at least 1 and at most
    /// one more than the one before.
    pub fn from_preorder(nodes: impl IntoIterator<Item = (usize, Node)>) -> Option<Self> {
        let mut graph = DiGraph::new();
        let mut path: Vec<NodeIndex> = Vec::new();
        for (depth, node) in nodes {
            if depth > path.len() || (depth == 0 && graph.node_count() > 0) {
                return None;
            }
            let index = graph.add_node(node);
            path.truncate(depth);
            if let Some(&parent) = path.last() {
                graph.add_edge(parent, index, ());
            }
            path.push(index);
        }
        (graph.node_count() > 0).then_some(Self { graph })
    }

    /// The nodes in preorder, each with its depth.
    pub fn preorder(&self) -> impl Iterator<Item = (usize, Node)> + '_ {
        let mut depths: Vec<usize> = Vec::with_capacity(self.len());
        self.nodes().map(move |(id, node)| {
            let depth = self
                .parent(id)
                .map_or(0, |parent| depths[parent.index()] + 1);
            depths.push(depth);
            (depth, node)
        })
    }

    /// The nodes in preorder, each with its depth and the innermost component cell around it.
    pub fn with_holders(&self) -> impl Iterator<Item = (usize, Node, Option<InstanceId>)> + '_ {
        // The innermost cell at each depth above the current node.
        let mut cells: Vec<(usize, InstanceId)> = Vec::new();
        self.preorder().map(move |(depth, node)| {
            while cells.last().is_some_and(|&(above, _)| above >= depth) {
                cells.pop();
            }
            let holder = cells.last().map(|&(_, holder)| holder);
            if let Node::Cell { instance, .. } = node {
                cells.push((depth, instance));
            }
            (depth, node, holder)
        })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether the tree has no nodes; never true for a tree of a trace.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes in preorder.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.graph
            .node_indices()
            .map(|index| (NodeId::from_index(index.index()), self.graph[index]))
    }

    /// The node `id`.
    pub fn node(&self, id: NodeId) -> Node {
        self.graph[NodeIndex::new(id.index())]
    }

    /// The parent of `id`; `None` for the root.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.graph
            .neighbors_directed(NodeIndex::new(id.index()), petgraph::Direction::Incoming)
            .next()
            .map(|index| NodeId::from_index(index.index()))
    }

    /// The children of `id`, in preorder.
    pub fn children(&self, id: NodeId) -> Vec<NodeId> {
        let mut children: Vec<NodeId> = self
            .graph
            .neighbors(NodeIndex::new(id.index()))
            .map(|index| NodeId::from_index(index.index()))
            .collect();
        children.sort_unstable();
        children
    }

    /// The nodes without children, in preorder.
    pub fn leaves(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().map(|(id, _)| id).filter(|id| {
            self.graph
                .neighbors(NodeIndex::new(id.index()))
                .next()
                .is_none()
        })
    }

    /// The nodes from the root to `id`.
    pub fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> =
            std::iter::successors(Some(id), |&node| self.parent(node)).collect();
        path.reverse();
        path
    }
}

impl PartialEq for CallTree {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.preorder().eq(other.preorder())
    }
}

impl Eq for CallTree {}

/// Consecutive cycles with the same call tree. Runs and [gaps](Gap) follow each other from cycle 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The tree.
    pub tree: TreeId,
    /// First cycle.
    pub start: Cycle,
    /// Number of cycles, at least 1.
    pub cycles: u64,
}

/// Consecutive cycles of which only figures were kept: what was active in them is not in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// First cycle.
    pub start: Cycle,
    /// Number of cycles, at least 1.
    pub cycles: u64,
}

/// A change of a control register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterUpdate {
    /// The cycle at whose end the register takes its new value.
    pub cycle: Cycle,
    /// The cell that holds the register.
    pub instance: InstanceId,
    /// The register.
    pub register: RegisterId,
    /// Value in `cycle`.
    pub old: u64,
    /// Value in the next cycle.
    pub new: u64,
}

/// Something that was odd in the run, or in its waveform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where it was first seen.
    pub cycle: Cycle,
    /// The signal or cell, as a path of scopes with dots.
    pub signal: String,
    /// What is odd, and what petal made of it.
    pub text: String,
}

/// One entry of a Petal trace. Those that are frequent are kept small. An instance or tree comes before its first use, and [`Event::End`]
/// comes last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The next instance; the n-th such event defines instance n.
    Instance(Instance),
    /// The next tree; the n-th such event defines tree n.
    Tree(Box<CallTree>),
    /// The next cycles.
    Run(Run),
    /// The next cycles, which were not kept.
    Gap(Gap),
    /// A change of a control register.
    Update(RegisterUpdate),
    /// Something odd.
    Warning(Box<Warning>),
    /// What was counted in the whole run, for a trace with gaps: a text that only its writer understands.
    Figures(Box<str>),
    /// The run is over.
    End {
        /// Length of the run in cycles.
        cycles: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(control: usize) -> Node {
        Node::Control {
            component: ComponentId::from_index(0),
            control: ControlId::from_index(control),
        }
    }

    #[test]
    fn a_tree_is_its_preorder() {
        let nodes: Vec<(usize, Node)> = [0, 1, 2, 1, 2, 3]
            .into_iter()
            .enumerate()
            .map(|(at, d)| (d, control(at)))
            .collect();
        let tree = CallTree::from_preorder(nodes.clone()).unwrap();
        assert_eq!(tree.preorder().collect::<Vec<_>>(), nodes);
        let root = NodeId::from_index(0);
        assert_eq!(tree.children(root), [1, 3].map(NodeId::from_index));
        assert_eq!(
            tree.leaves().collect::<Vec<_>>(),
            [2, 5].map(NodeId::from_index)
        );
        assert_eq!(
            tree.path(NodeId::from_index(5)),
            [0, 3, 4, 5].map(NodeId::from_index)
        );
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for depths in [&[1][..], &[0, 2], &[0, 0], &[0, 1, 3], &[]] {
            let nodes = depths.iter().map(|&depth| (depth, control(0)));
            assert_eq!(CallTree::from_preorder(nodes), None, "{depths:?}");
        }
    }
}
