//! The ledger: every cycle of the run is on exactly one line. It is computation, or conditions alone, or
//! overhead of one kind that one statement caused.

use std::collections::BTreeMap;

use petal_metadata::{ComponentId, ControlId, ControlKind, Id, Metadata, Purpose};
use petal_reconstruct::{Activity, CallTree, Charge, InstanceId, Node, NodeId, Overhead};

use crate::profile::Profile;

/// Cycles by kind of overhead, in the order of [`Overhead::ALL`].
pub type ByKind = [u64; Overhead::ALL.len()];

/// A statement of the source: component and control node.
pub type StatementId = (ComponentId, ControlId);

/// What the run's cycles did for one statement, in one instance of its component or in all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statement {
    /// Cycles in which it was active, summed over the instances.
    pub cycles: u64,
    /// What `cycles` would be if the arms of every `par` at or below it ran one after the other: each
    /// cycle counts once for each par thread that is active there, and at least once.
    pub flattened: u64,
    /// Those of them in which something useful ran inside of it, conditions included.
    pub useful: u64,
    /// The part of `useful` in which nothing but conditions was computed inside of it.
    pub conditions: u64,
    /// Cycles of the run in which nothing but conditions was computed, its own first of them: these are charged to it.
    pub own_conditions: u64,
    /// Cycles of the run that are overhead and charged to it.
    pub overhead: ByKind,
    /// Cycles in which it moved only control along, but which the run did not lose by that:
    /// something useful ran beside it, or another statement is charged for them.
    pub hidden: u64,
}

impl Statement {
    fn add(&mut self, other: &Self) {
        self.cycles += other.cycles;
        self.flattened += other.flattened;
        self.useful += other.useful;
        self.conditions += other.conditions;
        self.own_conditions += other.own_conditions;
        for (sum, cycles) in self.overhead.iter_mut().zip(other.overhead) {
            *sum += cycles;
        }
        self.hidden += other.hidden;
    }

    /// Cycles of the run that are overhead and charged to it.
    pub fn charged(&self) -> u64 {
        self.overhead.iter().sum()
    }

    /// Cycles of the run that are charged to it: all are no computation.
    pub fn cost(&self) -> u64 {
        self.own_conditions + self.charged()
    }
}

/// What each cycle of a run went to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// Cycles in which at least one user group or primitive was active, anywhere, that does not
    /// only wait for a cell that it runs.
    pub computation: u64,
    /// Cycles in which nothing else was active but groups that compute conditions.
    pub conditions: u64,
    /// All other cycles, by kind.
    pub overhead: ByKind,
    /// The statements that were active or charged.
    pub statements: BTreeMap<StatementId, Statement>,
    /// The same for each instance: those of one component add up to its part of `statements`.
    pub instances: BTreeMap<(InstanceId, ControlId), Statement>,
    /// The part of `overhead` in components without control, which no statement can be charged for.
    pub unplaced: u64,
    /// The part of `conditions` of which the metadata tell no statement; none of a design that petal compiled.
    pub unplaced_conditions: u64,
}

impl Ledger {
    /// The ledger of a run. `computation`, `conditions` and `overhead` add up to its cycles, and the
    /// charges of all statements and `unplaced` to `overhead`.
    pub fn new(metadata: &Metadata, profile: &Profile) -> Self {
        let mut ledger = Self::default();
        for (tree, cycles) in profile.trees() {
            if cycles > 0 {
                ledger.add(metadata, tree, cycles);
            }
        }
        for (&(instance, statement), this) in &ledger.instances {
            let component = profile.instances()[instance.index()].component;
            let all = ledger.statements.entry((component, statement));
            all.or_default().add(this);
        }
        ledger
    }

    /// Cycles in which something worked: computation and conditions.
    pub fn useful(&self) -> u64 {
        self.computation + self.conditions
    }

    /// Cycles that are not useful.
    pub fn total_overhead(&self) -> u64 {
        self.overhead.iter().sum()
    }

    fn add(&mut self, metadata: &Metadata, tree: &CallTree, cycles: u64) {
        let costs = TreeCosts::of(metadata, tree);
        let charged = match costs.class() {
            Class::Computation => {
                self.computation += cycles;
                None
            }
            Class::Conditions => {
                self.conditions += cycles;
                match costs.condition {
                    Some((instance, statement)) => {
                        self.statement(instance, statement).own_conditions += cycles;
                    }
                    None => self.unplaced_conditions += cycles,
                }
                None
            }
            Class::Overhead(instance, charge) => Some((instance, charge)),
        };
        if let Some((instance, charge)) = charged {
            let kind = charge.kind.index();
            self.overhead[kind] += cycles;
            match charge.statement {
                Some(statement) => self.statement(instance, statement).overhead[kind] += cycles,
                None => self.unplaced += cycles,
            }
        }
        let idle = costs.overhead.iter().copied().enumerate();
        for (at, (instance, charge)) in idle {
            if charged.is_some() && at == 0 {
                continue;
            }
            if let Some(statement) = charge.statement {
                self.statement(instance, statement).hidden += cycles;
            }
        }
        for (instance, statement) in costs.idle {
            self.statement(instance, statement).hidden += cycles;
        }
        for ((instance, statement), (inside, threads)) in costs.active {
            let entry = self.statement(instance, statement);
            entry.cycles += cycles;
            entry.flattened += cycles * threads;
            entry.useful += if inside == Inside::Nothing { 0 } else { cycles };
            entry.conditions += if inside == Inside::Condition {
                cycles
            } else {
                0
            };
        }
    }

    fn statement(&mut self, instance: InstanceId, statement: ControlId) -> &mut Statement {
        self.instances.entry((instance, statement)).or_default()
    }
}

/// The line of the ledger that a cycle is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Something worked that is no condition.
    Computation,
    /// Only conditions were computed.
    Conditions,
    /// Overhead, which this cell made.
    Overhead(InstanceId, Charge),
}

impl Class {
    /// The class of the cycles with this tree.
    pub fn of(metadata: &Metadata, tree: &CallTree) -> Self {
        let overhead = tree.nodes().find_map(|(_, node)| match node {
            Node::Cell {
                instance,
                activity: Activity::Overhead(charge),
                ..
            } => Some((instance, charge)),
            _ => None,
        });
        Self::new(insides(metadata, tree).first(), overhead)
    }

    /// The class of cycles with this inside of the main cell; `overhead` is the first cell that only moves control along.
    fn new(inside: Option<&Inside>, overhead: Option<(InstanceId, Charge)>) -> Self {
        match (inside.copied().unwrap_or(Inside::Nothing), overhead) {
            (Inside::Condition, _) => Self::Conditions,
            (Inside::Nothing, Some((instance, charge))) => Self::Overhead(instance, charge),
            (Inside::Nothing | Inside::Useful, _) => Self::Computation,
        }
    }
}

/// What one tree shows.
#[derive(Debug, Default)]
pub struct TreeCosts {
    /// What runs at or below each node, by index; the root is 0.
    inside: Vec<Inside>,
    /// The first statement whose condition is computed, in preorder.
    condition: Option<(InstanceId, ControlId)>,
    /// The cells that only move control along, in preorder, with their charges.
    overhead: Vec<(InstanceId, Charge)>,
    /// Statements that move only control along beside those that are charged.
    idle: Vec<(InstanceId, ControlId)>,
    /// Active statements, with what runs inside, and in how many par threads.
    active: BTreeMap<(InstanceId, ControlId), (Inside, u64)>,
}

/// What runs at or below a node, in ascending order of worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inside {
    /// No group.
    Nothing,
    /// Groups that compute conditions alone.
    Condition,
    /// A group that computes.
    Useful,
}

impl TreeCosts {
    /// What runs at or below the node with this index.
    pub fn inside(&self, node: usize) -> Inside {
        self.inside[node]
    }

    /// The line of the ledger that cycles with this tree are on.
    pub fn class(&self) -> Class {
        Class::new(self.inside.first(), self.overhead.first().copied())
    }

    fn activate(&mut self, statement: (InstanceId, ControlId), inside: Inside, threads: u64) {
        let (most, widest) = self.active.entry(statement).or_insert((inside, threads));
        (*most, *widest) = (inside.max(*most), threads.max(*widest));
    }

    /// What `tree` shows.
    pub fn of(metadata: &Metadata, tree: &CallTree) -> Self {
        let mut costs = Self {
            inside: insides(metadata, tree),
            ..Self::default()
        };
        let threads = threads(metadata, tree);
        let mut instance = Vec::new();
        for ((depth, node), (id, _)) in tree.preorder().zip(tree.nodes()) {
            while instance.pop_if(|(above, _, _)| *above >= depth).is_some() {}
            let inside = costs.inside(id.index());
            match node {
                Node::Cell {
                    instance: this,
                    activity,
                    ..
                } => {
                    let charge = match activity {
                        Activity::Overhead(charge) => {
                            costs.overhead.push((this, charge));
                            charge.statement
                        }
                        _ => None,
                    };
                    instance.push((depth, this, charge));
                }
                Node::Control { control, .. } => {
                    let Some(&(_, this, charged)) = instance.last() else {
                        continue;
                    };
                    costs.activate((this, control), inside, threads[id.index()]);
                    if tree.children(id).is_empty() && charged != Some(control) {
                        costs.idle.push((this, control));
                    }
                }
                Node::Group { component, run, .. } => {
                    let component = metadata.component(component);
                    let (Some(statement), Some(&(_, this, _))) =
                        (component.run(run).control, instance.last())
                    else {
                        continue;
                    };
                    if component.node(statement).kind.is_enable() {
                        costs.activate((this, statement), inside, threads[id.index()]);
                    }
                    if inside == Inside::Condition && component.purpose(run) == Purpose::Condition {
                        costs.condition.get_or_insert((this, statement));
                    }
                }
                Node::Continuous { .. } | Node::Primitive { .. } => {}
            }
        }
        costs
    }
}

/// What runs at or below each node of a tree, by index.
pub(crate) fn insides(metadata: &Metadata, tree: &CallTree) -> Vec<Inside> {
    let parents: Vec<Option<usize>> = tree
        .nodes()
        .map(|(id, _)| tree.parent(id).map(Id::index))
        .collect();
    let mut is_leaf = vec![true; tree.len()];
    // What the innermost group at or above each node is for.
    let mut purposes: Vec<Option<Purpose>> = Vec::with_capacity(tree.len());
    for ((_, node), &parent) in tree.nodes().zip(&parents) {
        if let Some(parent) = parent {
            is_leaf[parent] = false;
        }
        purposes.push(match node {
            Node::Group { component, run, .. } => Some(metadata.component(component).purpose(run)),
            Node::Continuous { .. } => Some(Purpose::Work),
            _ => parent.and_then(|parent| purposes[parent]),
        });
    }
    let leaf = |(id, node): (NodeId, Node)| match (node, purposes[id.index()]) {
        _ if !is_leaf[id.index()] => Inside::Nothing,
        (Node::Control { .. }, _) | (_, Some(Purpose::Control)) => Inside::Nothing,
        (Node::Cell { activity, .. }, _) if activity != Activity::Useful => Inside::Nothing,
        (_, Some(Purpose::Condition)) => Inside::Condition,
        _ => Inside::Useful,
    };
    let mut insides: Vec<Inside> = tree.nodes().map(leaf).collect();
    // Preorder: what is below a node has a higher index.
    for at in (1..insides.len()).rev() {
        if let Some(parent) = parents[at] {
            insides[parent] = insides[parent].max(insides[at]);
        }
    }
    insides
}

/// How many par threads are active at or below each node of a tree, by index: an active arm of a `par`
/// is one, however many groups and primitives it runs, and has those of each `par` inside of it, also
/// of one in a cell that it invokes.
fn threads(metadata: &Metadata, tree: &CallTree) -> Vec<u64> {
    let mut threads = vec![0; tree.len()];
    // Preorder: what is below a node has a higher index.
    for at in (0..tree.len()).rev() {
        threads[at] = threads[at].max(1);
        let Some(parent) = tree.parent(NodeId::from_index(at)) else {
            continue;
        };
        let is_par = match tree.node(parent) {
            Node::Control { component, control } => matches!(
                metadata.component(component).node(control).kind,
                ControlKind::Par | ControlKind::StaticPar
            ),
            _ => false,
        };
        let above = parent.index();
        threads[above] = if is_par {
            threads[above] + threads[at]
        } else {
            threads[above].max(threads[at])
        };
    }
    threads
}
