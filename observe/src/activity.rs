//! What of the source is active in a cycle, and when its activations begin and end.
//!
//! An activation is an interval of cycles without a break; what the compiler made static with a latency of `n` cycles is
//! activated anew every `n` cycles, as everywhere in petal.

use std::collections::HashMap;

use petal_metadata::{CellId, CellKind, Component, ControlId, GroupRunId, Id as _, Metadata};
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
    /// The component cell, each call of it for itself.
    Calls,
    /// A statement.
    Control(ControlId),
    /// An iteration of a loop: from where its body begins to where the next one does, or the loop ends.
    Iteration(ControlId),
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
            Self::Control(node) | Self::Iteration(node) => Some(*node),
            Self::Group(runs) => {
                let mut by = runs.iter().map(|run| component.run(*run).control);
                let first = by.next()??;
                by.try_fold(first, |around, by| component.common_ancestor(around, by?))
            }
            Self::Instance | Self::Calls | Self::Primitive(_) => None,
        }
    }
}

impl SubjectKind {
    /// Whether a node of its instance stands for it, or for the loop of its iterations.
    fn is(&self, node: Node) -> bool {
        match (self, node) {
            (Self::Instance | Self::Calls, Node::Cell { .. }) => true,
            (Self::Control(of) | Self::Iteration(of), Node::Control { control, .. }) => {
                *of == control
            }
            (Self::Group(runs), Node::Group { run, .. }) => runs.contains(&run),
            (Self::Primitive(of), Node::Primitive { cell, actual, .. }) => {
                *of == actual.map_or(cell, |(_, cell)| cell)
            }
            _ => false,
        }
    }
}

/// The site that a node is.
fn site_of(node: Node) -> Site {
    match node {
        Node::Group { run, .. } => Site::Run(run),
        Node::Control { control, .. } => Site::Control(control),
        _ => Site::Any,
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
    pub fn component<'a>(&self, metadata: &'a Metadata) -> Option<&'a Component> {
        let mut cells = self.holder.iter();
        let component = cells.try_fold(metadata.main, |component, cell| {
            match metadata.component(component).cell(*cell).kind {
                CellKind::Component(inner) => Some(inner),
                CellKind::Primitive(_) => None,
            }
        });
        component.map(|id| metadata.component(id))
    }

    /// The iterations of a loop; none where the compiled design does not tell them.
    pub fn iterations(&self, metadata: &Metadata) -> Option<Self> {
        let SubjectKind::Control(node) = self.kind else {
            return None;
        };
        let component = self.component(metadata)?;
        let iterations = Self {
            holder: self.holder.clone(),
            kind: SubjectKind::Iteration(node),
        };
        let is_seen = |body: &Self| body.kind != SubjectKind::Group(Vec::new());
        let (_, body) = iterations.of_iterations(metadata)?;
        let is_loop = component.node(node).kind.is_loop();
        (is_loop && is_seen(&body)).then_some(iterations)
    }

    /// Of iterations, the loop and its body, which tell when one begins and ends.
    fn of_iterations(&self, metadata: &Metadata) -> Option<(Self, Self)> {
        let SubjectKind::Iteration(node) = self.kind else {
            return None;
        };
        let component = self.component(metadata)?;
        let body = component.body(node)?;
        let of = |kind| Self {
            holder: self.holder.clone(),
            kind,
        };
        let body = of(SubjectKind::of_statement(component, body));
        Some((of(SubjectKind::Control(node)), body))
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
    /// What tells it from other ways: of the parts of a split group the first one.
    site: Site,
    /// After how many cycles it begins again if it stays active.
    latency: Option<u64>,
    /// Whether an activation begins with it: not with the second part of a split group.
    begins: bool,
    /// Whether an activation ends with it: only with the last part of a split group.
    ends: bool,
}

/// Where in the program something is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Site {
    /// Wherever it is.
    Any,
    /// As this run of a group, or called by it.
    Run(GroupRunId),
    /// Called by this statement.
    Control(ControlId),
}

/// A beginning or an end of an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub subject: usize,
    /// What an end has in common with its beginning, and with no other one that is under way.
    pub site: u64,
    pub begins: bool,
}

impl Edge {
    fn new(subject: usize, site: Site, begins: bool) -> Self {
        let site = match site {
            Site::Any => 0,
            Site::Run(run) => 1 + 2 * run.index() as u64,
            Site::Control(control) => 2 + 2 * control.index() as u64,
        };
        Self {
            subject,
            site,
            begins,
        }
    }
}

/// The iterations of a loop.
struct Iterations {
    subject: usize,
    /// The subjects that are the loop and its body.
    is_loop: usize,
    body: usize,
    is_open: bool,
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
    numbers: HashMap<(usize, Site), usize>,
    iterations: Vec<Iterations>,
    /// The witnesses of each tree, ascending.
    trees: Vec<Vec<usize>>,
    /// The subjects of each tree that only move their control along.
    overhead: Vec<Vec<usize>>,
    /// Those that are active, each with the cycle in which it began; and those of the cycle before.
    now: Vec<(usize, u64)>,
    before: Vec<(usize, u64)>,
    states: Vec<Aspects>,
    edges: Vec<Edge>,
}

impl<'a> Activities<'a> {
    /// Follows these subjects, and the loops and bodies of those that are iterations.
    pub fn new(metadata: &'a Metadata, mut subjects: Vec<Subject>) -> Self {
        let mut iterations = Vec::new();
        for subject in 0..subjects.len() {
            if let Some((is_loop, body)) = subjects[subject].of_iterations(metadata) {
                iterations.push(Iterations {
                    subject,
                    is_loop: subjects.len(),
                    body: subjects.len() + 1,
                    is_open: false,
                });
                subjects.extend([is_loop, body]);
            }
        }
        Self {
            states: vec![Aspects::default(); subjects.len()],
            metadata,
            subjects,
            instances: Vec::new(),
            of_instance: Vec::new(),
            witnesses: Vec::new(),
            numbers: HashMap::new(),
            iterations,
            edges: Vec::new(),
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
        for ((_, node, holder), (id, _)) in tree.with_holders().zip(tree.nodes()) {
            let Some(instance) = instance_of(node, holder) else {
                continue;
            };
            for at in 0..self.of_instance[instance.index()].len() {
                let subject = self.of_instance[instance.index()][at];
                let kind = &self.subjects[subject].kind;
                if matches!(kind, SubjectKind::Iteration(_)) || !kind.is(node) {
                    continue;
                }
                let caller = || tree.parent(id).map(|parent| tree.node(parent));
                let (site, of) = match (kind, node) {
                    (SubjectKind::Calls, _) => (caller().map_or(Site::Any, site_of), holder),
                    (SubjectKind::Group(_), node) => (site_of(node), Some(instance)),
                    _ => (Site::Any, Some(instance)),
                };
                witnesses.push(self.witness(subject, of, site));
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

    /// The number of a witness at a site in an instance.
    fn witness(&mut self, subject: usize, of: Option<InstanceId>, site: Site) -> usize {
        let next = self.witnesses.len();
        let number = *self.numbers.entry((subject, site)).or_insert(next);
        if number < next {
            return number;
        }
        let component = of.map(|of| self.instances[of.index()].component);
        let component = component.map(|id| self.metadata.component(id));
        let mut witness = Witness {
            subject,
            site,
            latency: None,
            begins: true,
            ends: true,
        };
        match (&self.subjects[subject].kind, site, component) {
            (&SubjectKind::Control(node), _, Some(of))
            | (SubjectKind::Calls, Site::Control(node), Some(of)) => {
                witness.latency = of.node(node).latency;
            }
            (_, Site::Run(id), Some(of)) => {
                let run = of.run(id);
                if run.part.is_none() {
                    witness.latency = run.latency;
                } else if self.subjects[subject].kind != SubjectKind::Calls {
                    let (first, last) = of.parts(id);
                    witness.site = Site::Run(first);
                    witness.begins = first == id;
                    witness.ends = last == id;
                }
            }
            _ => {}
        }
        witness.latency = witness.latency.filter(|latency| *latency > 0);
        self.witnesses.push(witness);
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
        self.edges.clear();
        for &subject in tree.map_or(&[][..], |tree| &self.overhead[tree.index()]) {
            self.states[subject].set(Aspect::Overhead, true);
        }
        std::mem::swap(&mut self.now, &mut self.before);
        self.now.clear();
        for &(witness, since) in &self.before {
            let Witness {
                subject,
                latency,
                ends,
                site,
                ..
            } = self.witnesses[witness];
            let again = latency.is_some_and(|latency| (cycle - since).is_multiple_of(latency));
            if ends && (active.binary_search(&witness).is_err() || again) {
                self.states[subject].set(Aspect::End, true);
                self.edges.push(Edge::new(subject, site, false));
            }
        }
        for &witness in active {
            let Witness {
                subject,
                latency,
                begins,
                site,
                ..
            } = self.witnesses[witness];
            let since = self.before.iter().find(|(of, _)| *of == witness);
            let since = since.map_or(cycle, |(_, since)| *since);
            let begins_now = begins
                && (since == cycle
                    || latency.is_some_and(|latency| (cycle - since).is_multiple_of(latency)));
            let state = &mut self.states[subject];
            state.set(Aspect::Active, true);
            state.set(Aspect::Begin, begins_now);
            if begins_now {
                self.edges.push(Edge::new(subject, site, true));
            }
            if let Some(latency) = latency {
                due(cycle + latency - (cycle - since) % latency);
            }
            self.now.push((witness, since));
        }
        self.go_round();
        let is_edge = |state: &Aspects| state.is(Aspect::Begin) || state.is(Aspect::End);
        if self.states.iter().any(is_edge) {
            due(cycle + 1);
        }
        next
    }

    /// Begins and ends the iterations of loops.
    fn go_round(&mut self) {
        for of in &mut self.iterations {
            let (is_loop, body) = (self.states[of.is_loop], self.states[of.body]);
            let begins = body.is(Aspect::Begin);
            let ends = of.is_open && (begins || is_loop.is(Aspect::End));
            of.is_open = begins || (of.is_open && !ends);
            let state = &mut self.states[of.subject];
            state.set(Aspect::Active, of.is_open);
            state.set(Aspect::Begin, begins);
            state.set(Aspect::End, ends);
            let edges = [(false, ends), (true, begins)].into_iter();
            let edges = edges.filter(|(_, happens)| *happens);
            let edge = |(begins, _)| Edge::new(of.subject, Site::Any, begins);
            self.edges.extend(edges.map(edge));
        }
    }

    pub fn states(&self) -> &[Aspects] {
        &self.states
    }

    /// The beginnings and ends of activations in this cycle, each site for itself.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}
