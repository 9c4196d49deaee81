//! The leaves of a cycle's call tree, and how much each counts: what gives frames of flame graphs their widths.
//!
//! Owns where overhead hangs. A cycle of the run that is overhead has a leaf that call trees lack: the overhead,
//! below the statement that it is charged to.

use petal_metadata::{ComponentId, ControlId, GroupRun, GroupRunId, Id as _, Metadata};
use petal_reconstruct::{CallTree, Instance, InstanceId, Node, NodeId, Overhead};

use crate::ledger::Class;
use crate::profile::Profile;

/// How much a leaf of a cycle's call tree counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// The leaves of a cycle share it, and a cycle of overhead belongs to its leaf of overhead alone: all leaves
    /// together make the run's cycles, and all leaves of overhead the run's overhead.
    Scaled,
    /// Every active leaf of a cycle counts 1: parallel work adds up.
    Leaves,
}

/// Beyond this, shares of a cycle are rounded. Reached only when cycles differ wildly in how many
/// leaves they have.
const MAX_DENOMINATOR: u128 = 1 << 60;

/// Where the overhead of a cycle hangs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverheadLeaf {
    /// Its kind.
    pub kind: Overhead,
    /// The cell that is charged.
    pub instance: InstanceId,
    /// The charged statement, or the innermost one around it that the tree has.
    pub above: NodeId,
    /// The statements from there to the charged one, outermost first. The group of an enable stands for it.
    pub missing: Vec<Node>,
}

impl OverheadLeaf {
    /// Of the cycles with this tree; `None` if they are no overhead.
    pub fn new(
        metadata: &Metadata,
        instances: &[Instance],
        tree: &CallTree,
        class: Class,
    ) -> Option<Self> {
        let Class::Overhead(instance, charge) = class else {
            return None;
        };
        let component = instances[instance.index()].component;
        // The nodes of the charged cell, without what it calls.
        let mut inside: Vec<bool> = Vec::with_capacity(tree.len());
        let mut cell = None;
        let mut statements = Vec::new();
        for (id, node) in tree.nodes() {
            let parent = tree.parent(id);
            let of_cell = match node {
                Node::Cell { instance: this, .. } => this == instance,
                _ => parent.is_some_and(|parent| inside[parent.index()]),
            };
            inside.push(of_cell);
            if !of_cell {
                continue;
            }
            match node {
                Node::Cell { .. } => cell = cell.or(Some(id)),
                Node::Control { control, .. } => statements.push((control, id)),
                Node::Group { .. } | Node::Continuous { .. } | Node::Primitive { .. } => {}
            }
        }
        let mut leaf = Self {
            kind: charge.kind,
            instance,
            above: cell?,
            missing: Vec::new(),
        };
        let mut wanted = charge.statement;
        while let Some(statement) = wanted {
            if let Some(&(_, at)) = statements
                .iter()
                .find(|&&(control, _)| control == statement)
            {
                leaf.above = at;
                break;
            }
            leaf.missing.push(node(metadata, component, statement));
            wanted = metadata.component(component).node(statement).parent;
        }
        leaf.missing.reverse();
        Some(leaf)
    }
}

/// The node of call trees that stands for a statement.
fn node(metadata: &Metadata, id: ComponentId, control: ControlId) -> Node {
    let component = metadata.component(id);
    let by_it = |run: &&GroupRun| run.control == Some(control) && run.role.is_body();
    let run = component.runs.iter().position(|run| by_it(&run));
    match run.filter(|_| component.node(control).kind.is_enable()) {
        Some(run) => Node::Group {
            component: id,
            group: component.runs[run].group,
            run: GroupRunId::from_index(run),
        },
        None => Node::Control {
            component: id,
            control,
        },
    }
}

/// A leaf of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// One of its call tree.
    Node(NodeId),
    /// Its overhead.
    Overhead,
}

/// The leaves of cycles with this tree that weigh `whole` each, or together, and what each of them counts.
pub fn leaves(
    tree: &CallTree,
    overhead: Option<&OverheadLeaf>,
    weighting: Weighting,
    whole: u128,
) -> Vec<(Leaf, u128)> {
    let of_tree = tree.leaves();
    match (weighting, overhead) {
        (Weighting::Scaled, Some(_)) => vec![(Leaf::Overhead, whole)],
        (Weighting::Scaled, None) => shares(tree, whole)
            .map(|(leaf, share)| (Leaf::Node(leaf), share))
            .collect(),
        (Weighting::Leaves, None) => of_tree.map(|leaf| (Leaf::Node(leaf), whole)).collect(),
        (Weighting::Leaves, Some(overhead)) => of_tree
            .filter(|&leaf| leaf != overhead.above)
            .map(Leaf::Node)
            .chain([Leaf::Overhead])
            .map(|leaf| (leaf, whole))
            .collect(),
    }
}

/// The leaves of a tree with equal shares of `whole`.
pub fn shares(tree: &CallTree, whole: u128) -> impl Iterator<Item = (NodeId, u128)> {
    let count = tree.leaves().count() as u128;
    // Exact when `count` divides; otherwise the rounding adds up to the whole.
    let share = move |nth: u128| whole * (nth + 1) / count - whole * nth / count;
    tree.leaves().zip((0..count).map(share))
}

/// How many units make a cycle, so that the weights of all leaves are whole numbers of them.
pub fn units(profile: &Profile, weighting: Weighting) -> u128 {
    match weighting {
        Weighting::Leaves => 1,
        Weighting::Scaled => profile
            .trees()
            .map(|(tree, _)| tree.leaves().count() as u128)
            .fold(1, |common, leaves| match lcm(common, leaves) {
                larger if larger <= MAX_DENOMINATOR => larger,
                _ => common,
            }),
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u128, b: u128) -> u128 {
    a / gcd(a, b) * b
}

/// The frame of overhead of a kind: `(overhead: FSM update)`.
pub fn overhead_label(kind: Overhead) -> String {
    format!("(overhead: {})", kind.title())
}
