//! What of the source is active in a cycle, and when its activations begin and end.
//!
//! An activation is an interval of cycles without a break; what the compiler made static with a latency of `n` cycles is
//! activated anew every `n` cycles, as everywhere in petal.

use std::collections::HashMap;

use petal_metadata::{
    CellId, CellKind, Component, ControlId, GroupRun, GroupRunId, Id as _, Metadata,
};
use petal_reconstruct::{
    Activity, CallTree, Cycle, Event, Instance, InstanceId, Node, NodeId, TreeId,
};

/// Something that can be active.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Subject {
    /// The component cell that holds it, as cells from main on; the component cell itself for an instance.
    pub holder: Vec<CellId>,
    pub kind: SubjectKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum SubjectKind {
    /// The component cell.
    Instance,
    /// A statement.
    Control(ControlId),
    /// A group, by all ways in which it comes to run.
    Group(Vec<GroupRunId>),
    /// A primitive.
    Primitive(CellId),
}

impl SubjectKind {
    /// A statement. An enable has no node of its own in a call tree: it is active when its group is, by that run.
    pub fn of_statement(component: &Component, node: ControlId) -> Self {
        if !component.node(node).kind.is_enable() {
            return Self::Control(node);
        }
        let runs = component.runs.iter().enumerate();
        let runs = runs.filter(|(_, run)| run.control == Some(node));
        Self::Group(runs.map(|(at, _)| GroupRunId::from_index(at)).collect())
    }

    /// The statement that it is, or the innermost around all that run it.
    fn statement(&self, component: &Component) -> Option<ControlId> {
        match self {
            Self::Control(node) => Some(*node),
            Self::Group(runs) => {
                let mut by = runs.iter().map(|run| component.run(*run).control);
                let first = by.next()??;
                by.try_fold(first, |around, by| component.common_ancestor(around, by?))
            }
            Self::Instance | Self::Primitive(_) => None,
        }
    }
}

impl SubjectKind {
    /// Whether a node of its instance stands for it.
    fn is(&self, node: Node) -> bool {
        match (self, node) {
            (Self::Instance, Node::Cell { .. }) => true,
            (Self::Control(of), Node::Control { control, .. }) => *of == control,
            (Self::Group(runs), Node::Group { run, .. }) => runs.contains(&run),
            (Self::Primitive(of), Node::Primitive { cell, actual, .. }) => {
                *of == actual.map_or(cell, |(_, cell)| cell)
            }
            _ => false,
        }
    }
}

/// The instance that a node is, or that holds what it stands for.
fn instance_of(node: Node, holder: Option<InstanceId>) -> Option<InstanceId> {
    match node {
        Node::Cell { instance, .. } => Some(instance),
        Node::Primitive {
            actual: Some((holder, _)),
            ..
        } => Some(holder),
        _ => holder,
    }
}

impl Subject {
    /// The innermost of what is active as long as both are: a subject itself, a statement around both, or the cell that holds both.
    pub fn around(metadata: &Metadata, one: &Self, other: &Self) -> Self {
        if one == other {
            return one.clone();
        }
        let shared = one.holder.iter().zip(&other.holder);
        let shared = shared.take_while(|(a, b)| a == b);
        let holder: Vec<CellId> = shared.map(|(cell, _)| *cell).collect();
        let component = one.component(metadata);
        let statement = component
            .filter(|_| one.holder == other.holder)
            .and_then(|component| {
                let (one, other) = (
                    one.kind.statement(component)?,
                    other.kind.statement(component)?,
                );
                component
                    .common_ancestor(one, other)
                    .map(|node| SubjectKind::of_statement(component, node))
            });
        Self {
            holder,
            kind: statement.unwrap_or(SubjectKind::Instance),
        }
    }

    /// The component that holds it, or that it is a cell of.
    fn component<'a>(&self, metadata: &'a Metadata) -> Option<&'a Component> {
        let mut cells = self.holder.iter();
        let component = cells.try_fold(metadata.main, |component, cell| {
            match metadata.component(component).cell(*cell).kind {
                CellKind::Component(inner) => Some(inner),
                CellKind::Primitive(_) => None,
            }
        });
        component.map(|id| metadata.component(id))
    }

    /// Whether the compiler split the group: its parts may have gaps between them, so no cycle tells the end.
    pub fn is_split(&self, metadata: &Metadata) -> bool {
        match (self.component(metadata), &self.kind) {
            (Some(component), SubjectKind::Group(runs)) => {
                runs.iter().any(|run| component.run(*run).part.is_some())
            }
            _ => false,
        }
    }
}

/// What is asked of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Aspect {
    /// High as long as it is active.
    Active,
    /// High in the first cycle of each activation.
    Begin,
    /// High in the first cycle after each activation.
    End,
    /// High as long as a cell is active, but only moves its control along.
    Overhead,
}

/// One way in which a subject is active.
struct Witness {
    subject: usize,
    /// After how many cycles it begins again if it stays active.
    latency: Option<u64>,
    /// Whether an activation begins with it: not with the second part of a split group.
    begins: bool,
}

/// The state of a subject in a cycle: for each [`Aspect`], whether it is high.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Aspects([bool; 4]);

impl Aspects {
    pub fn is(self, aspect: Aspect) -> bool {
        self.0[aspect as usize]
    }

    fn set(&mut self, aspect: Aspect, is_high: bool) {
        self.0[aspect as usize] |= is_high;
    }
}

/// Follows subjects through a run.
pub(crate) struct Activities<'a> {
    metadata: &'a Metadata,
    subjects: Vec<Subject>,
    instances: Vec<Instance>,
    /// The subjects that each instance holds or is.
    of_instance: Vec<Vec<usize>>,
    witnesses: Vec<Witness>,
    numbers: HashMap<(usize, Option<GroupRunId>), usize>,
    /// The witnesses of each tree, ascending.
    trees: Vec<Vec<usize>>,
    /// The subjects of each tree that only move their control along.
    overhead: Vec<Vec<usize>>,
    /// Those that are active, each with the cycle in which it began; and those of the cycle before.
    now: Vec<(usize, u64)>,
    before: Vec<(usize, u64)>,
    states: Vec<Aspects>,
}

impl<'a> Activities<'a> {
    pub fn new(metadata: &'a Metadata, subjects: Vec<Subject>) -> Self {
        Self {
            states: vec![Aspects::default(); subjects.len()],
            metadata,
            subjects,
            instances: Vec::new(),
            of_instance: Vec::new(),
            witnesses: Vec::new(),
            numbers: HashMap::new(),
            trees: Vec::new(),
            overhead: Vec::new(),
            now: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Takes in an instance or a tree.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => {
                self.instances.push(*instance);
                let path = self.path(InstanceId::from_index(self.instances.len() - 1));
                let held = self.subjects.iter().enumerate();
                let held = held.filter(|(_, subject)| subject.holder == path);
                self.of_instance.push(held.map(|(at, _)| at).collect());
            }
            Event::Tree(tree) => {
                let witnesses = self.witnesses_of(tree);
                self.trees.push(witnesses);
                let overhead = self.overhead_of(tree);
                self.overhead.push(overhead);
            }
            _ => {}
        }
    }

    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    fn path(&self, instance: InstanceId) -> Vec<CellId> {
        match self.instances[instance.index()].parent {
            None => Vec::new(),
            Some((holder, cell)) => {
                let mut path = self.path(holder);
                path.push(cell);
                path
            }
        }
    }

    fn witnesses_of(&mut self, tree: &CallTree) -> Vec<usize> {
        let mut witnesses = Vec::new();
        for (_, node, holder) in tree.with_holders() {
            let Some(instance) = instance_of(node, holder) else {
                continue;
            };
            let run = match node {
                Node::Group { run, .. } => Some(run),
                _ => None,
            };
            for at in 0..self.of_instance[instance.index()].len() {
                let subject = self.of_instance[instance.index()][at];
                if self.subjects[subject].kind.is(node) {
                    witnesses.push(self.witness(subject, instance, run));
                }
            }
        }
        witnesses.sort_unstable();
        witnesses.dedup();
        witnesses
    }

    /// The nodes of a tree that stand for a subject.
    pub fn nodes_of<'t>(
        &'t self,
        subject: &'t Subject,
        tree: &'t CallTree,
    ) -> impl Iterator<Item = NodeId> + 't {
        let nodes = tree.with_holders().zip(tree.nodes());
        nodes
            .filter(|&((_, node, holder), _)| {
                let instance = instance_of(node, holder);
                subject.kind.is(node) && instance.is_some_and(|of| self.path(of) == subject.holder)
            })
            .map(|(_, (id, _))| id)
    }

    /// The cells that only move their control along, wherever they stand in the tree.
    fn overhead_of(&self, tree: &CallTree) -> Vec<usize> {
        let mut overhead = Vec::new();
        for (_, node) in tree.nodes() {
            let Node::Cell {
                instance,
                activity: Activity::Overhead(_),
                ..
            } = node
            else {
                continue;
            };
            let subjects = self.of_instance[instance.index()].iter().copied();
            overhead.extend(
                subjects.filter(|&subject| self.subjects[subject].kind == SubjectKind::Instance),
            );
        }
        overhead
    }

    fn witness(&mut self, subject: usize, instance: InstanceId, run: Option<GroupRunId>) -> usize {
        let next = self.witnesses.len();
        let number = *self.numbers.entry((subject, run)).or_insert(next);
        if number < next {
            return number;
        }
        let component = self.instances[instance.index()].component;
        let component = self.metadata.component(component);
        let (latency, begins) = match (&self.subjects[subject].kind, run) {
            (SubjectKind::Control(node), _) => (component.node(*node).latency, true),
            (SubjectKind::Group(_), Some(id)) => {
                let run = component.run(id);
                let same_whole = |other: &GroupRun| {
                    other.part.is_some() && other.control == run.control && other.group == run.group
                };
                let first = component.runs.iter().position(same_whole);
                let is_first = run.part.is_none() || first == Some(id.index());
                (run.latency.filter(|_| run.part.is_none()), is_first)
            }
            _ => (None, true),
        };
        self.witnesses.push(Witness {
            subject,
            latency: latency.filter(|latency| *latency > 0),
            begins,
        });
        number
    }

    /// Goes on to a cycle with a tree; with none, to the one after the run. Returns the next cycle in which something happens if the tree
    /// stays the same.
    pub fn go_on(&mut self, cycle: Cycle, tree: Option<TreeId>) -> Option<u64> {
        let cycle = cycle.cycles();
        let active = tree.map_or(&[][..], |tree| &self.trees[tree.index()]);
        let mut next: Option<u64> = None;
        if self.subjects.is_empty() {
            return None;
        }
        let mut due = |at: u64| next = Some(next.map_or(at, |next| next.min(at)));
        for state in &mut self.states {
            *state = Aspects::default();
        }
        for &subject in tree.map_or(&[][..], |tree| &self.overhead[tree.index()]) {
            self.states[subject].set(Aspect::Overhead, true);
        }
        std::mem::swap(&mut self.now, &mut self.before);
        self.now.clear();
        for &(witness, since) in &self.before {
            let Witness {
                subject, latency, ..
            } = self.witnesses[witness];
            let again = latency.is_some_and(|latency| (cycle - since).is_multiple_of(latency));
            let ends = active.binary_search(&witness).is_err() || again;
            self.states[subject].set(Aspect::End, ends);
        }
        for &witness in active {
            let Witness {
                subject,
                latency,
                begins,
            } = self.witnesses[witness];
            let since = self.before.iter().find(|(of, _)| *of == witness);
            let since = since.map_or(cycle, |(_, since)| *since);
            let begins_now = begins
                && (since == cycle
                    || latency.is_some_and(|latency| (cycle - since).is_multiple_of(latency)));
            let state = &mut self.states[subject];
            state.set(Aspect::Active, true);
            state.set(Aspect::Begin, begins_now);
            if let Some(latency) = latency {
                due(cycle + latency - (cycle - since) % latency);
            }
            self.now.push((witness, since));
        }
        let is_edge = |state: &Aspects| state.is(Aspect::Begin) || state.is(Aspect::End);
        if self.states.iter().any(is_edge) {
            due(cycle + 1);
        }
        next
    }

    pub fn states(&self) -> &[Aspects] {
        &self.states
    }
}
