//! What is accessed in a call tree, by whom, and in which arms of which `par`s.
//!
//! Writes are in the tree: a primitive is active below who sets it. Reads follow from what is active, by what its program reads.

use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use petal_metadata::{
    CellId, ComponentId, ControlId, ControlKind, GroupRunId, Id as _, Metadata, Read, ReadSource,
    Reads, RunRole,
};
use petal_reconstruct::{
    CallTree, FrameLabels, Instance, InstanceId, Node, NodeId, actual_path, instance_path,
};

use super::names::Names;
use super::statements::{arm_of, bodies, crossed_pars, looks_itself, par_around};
use crate::elements::{Element, ElementKind};

/// An arm of a `par`, by numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arm {
    pub par: usize,
    pub arm: usize,
}

/// Who accesses something, and in which arms.
#[derive(Debug, Clone)]
pub(super) struct Stands {
    pub site: usize,
    pub arms: Rc<[Arm]>,
    /// The component cells that it is in, outermost first.
    pub cells: Rc<[InstanceId]>,
    /// Whether it is a continuous assignment of the innermost of them.
    pub is_continuous: bool,
}

/// An access.
#[derive(Debug, Clone)]
pub(super) struct Act {
    pub location: usize,
    pub is_write: bool,
    pub is_sure: bool,
    pub stands: Stands,
}

/// An `@sync`.
#[derive(Debug)]
pub(super) struct Sync {
    pub arm: Arm,
    pub barrier: u64,
}

/// What is accessed in a tree.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// In each of its cycles.
    pub acts: Vec<Act>,
    /// The conditions that are looked at when these statements begin.
    pub conditions: HashMap<Element, Vec<Act>>,
    /// Those that are looked at before these elements end.
    pub closing: HashMap<Element, Vec<Act>>,
    pub syncs: HashMap<Element, Sync>,
    /// Where each group stands, by its path.
    pub groups: HashMap<String, Stands>,
    /// Who takes what may be any value: what, who, and whether a guard decides.
    pub undefined: BTreeSet<(usize, usize, bool)>,
}

/// Makes trees ready.
pub(super) struct Preparer {
    /// The names of all cells that continuous assignments set.
    continuous: HashSet<String>,
    /// Statements that look at a port without a comb group, by what they are in.
    plain: HashMap<(ComponentId, ControlId), Vec<ControlId>>,
    /// The `par`s whose arms meet others than their own.
    crossed: HashSet<(ComponentId, ControlId)>,
    /// Whether somebody asks where groups stand.
    has_words: bool,
}

impl Preparer {
    pub fn new(metadata: &Metadata, reads: &Reads, has_words: bool) -> Self {
        let mut plain: HashMap<_, Vec<ControlId>> = HashMap::new();
        let mut crossed = HashSet::new();
        for (at, component) in metadata.components.iter().enumerate() {
            let id = ComponentId::from_index(at);
            for (at, node) in component.control.iter().enumerate() {
                let control = ControlId::from_index(at);
                if let Some(parent) = node.parent
                    && looks_itself(component, control)
                {
                    plain.entry((id, parent)).or_default().push(control);
                }
            }
            let all = crossed_pars(component, reads).into_iter();
            crossed.extend(all.map(|par| (id, par)));
        }
        let continuous = reads.continuous.iter().map(|(_, cell)| cell.clone());
        Self {
            continuous: continuous.collect(),
            plain,
            crossed,
            has_words,
        }
    }

    /// Whether continuous assignments may set something.
    pub fn may_be_continuous(&self, path: &str) -> bool {
        let name = path.rsplit('.').next().unwrap_or(path);
        self.continuous.contains(name)
    }

    /// Whether it can be followed how the arms of a `par` meet.
    pub fn is_followed(&self, component: ComponentId, par: ControlId) -> bool {
        !self.crossed.contains(&(component, par))
    }

    pub fn prepare(
        &self,
        tree: &CallTree,
        instances: &[Instance],
        (metadata, reads, labels): (&Metadata, &Reads, &FrameLabels),
        names: &mut Names,
    ) -> Prepared {
        let mut builder = Builder {
            preparer: self,
            tree,
            instances,
            metadata,
            reads,
            labels,
            names,
            holders: tree.with_holders().map(|of| of.2).collect(),
            prepared: Prepared::default(),
        };
        for (id, node) in tree.nodes() {
            builder.node(id, node);
        }
        builder.prepared
    }
}

/// What is found in a tree so far.
pub(super) struct Builder<'a> {
    pub preparer: &'a Preparer,
    pub tree: &'a CallTree,
    pub instances: &'a [Instance],
    pub metadata: &'a Metadata,
    pub reads: &'a Reads,
    pub labels: &'a FrameLabels,
    pub names: &'a mut Names,
    pub holders: Vec<Option<InstanceId>>,
    pub prepared: Prepared,
}

impl Builder<'_> {
    fn node(&mut self, id: NodeId, node: Node) {
        match node {
            Node::Control { component, control } => self.statement(id, component, control),
            Node::Group { component, run, .. } => self.group(id, component, run),
            Node::Continuous { .. } => {
                let stands = self.stands(id);
                self.remember(id, stands);
            }
            Node::Primitive {
                component,
                cell,
                actual,
            } => {
                self.write(id, node, (component, cell), actual);
            }
            Node::Cell { .. } => {}
        }
    }

    /// Remembers where a group stands.
    fn remember(&mut self, id: NodeId, stands: Stands) {
        if self.preparer.has_words {
            self.prepared.groups.insert(self.path(id), stands);
        }
    }

    /// What a group reads.
    fn group(&mut self, id: NodeId, component: ComponentId, run: GroupRunId) {
        let stands = self.stands(id);
        self.remember(id, stands.clone());
        let of = self.metadata.component(component);
        let run = of.run(run);
        let key = (of.name.clone(), of.group(run.group).name.clone());
        let statement = |control| self.reads.statements.get(&(of.name.clone(), control));
        let is_invoke = |control: &ControlId| {
            let kind = of.node(*control).kind;
            matches!(kind, ControlKind::Invoke | ControlKind::StaticInvoke)
        };
        let (own, with) = match run.role {
            RunRole::Control => return,
            RunRole::Condition => (self.reads.groups.get(&key), run.control.and_then(statement)),
            RunRole::Body | RunRole::Idle | RunRole::Called => {
                match run.control.filter(is_invoke) {
                    Some(invoke) => (None, statement(invoke)),
                    None => (self.reads.groups.get(&key), None),
                }
            }
        };
        for read in own.into_iter().chain(with).flatten() {
            let location = self.read(id, read);
            let act = act(location, read, &stands);
            if read.source == ReadSource::State {
                self.prepared.acts.push(act);
            } else {
                let key = (location, stands.site, read.is_guarded);
                self.prepared.undefined.insert(key);
            }
        }
    }

    /// What a statement looks at itself, and what it is for its arms.
    fn statement(&mut self, id: NodeId, component: ComponentId, control: ControlId) {
        let of = self.metadata.component(component);
        let Some(instance) = self.holders[id.index()] else {
            return;
        };
        let element = Element {
            instance,
            kind: ElementKind::Control(control),
        };
        let kind = of.node(control).kind;
        if kind == ControlKind::Par {
            self.names.pars.number((instance, control));
        }
        if let Some(&barrier) = self.reads.barriers.get(&(of.name.clone(), control))
            && let Some(par) = par_around(of, control)
            && let Some(arm) = arm_of(of, control, par)
        {
            let par = self.names.pars.number((instance, par));
            let arm = Arm { par, arm };
            self.prepared.syncs.insert(element, Sync { arm, barrier });
        }
        if looks_itself(of, control) {
            let stands = self.stands(id);
            let acts = self.condition(id, component, control, &stands);
            if kind == ControlKind::While {
                for body in bodies(of, control) {
                    let element = Element {
                        instance,
                        kind: body,
                    };
                    self.prepared.closing.insert(element, acts.clone());
                }
            }
            self.prepared.conditions.insert(element, acts);
        }
        // Whether or not a branch was taken: control came by.
        let plain = self.preparer.plain.get(&(component, control));
        let has_barriers = self.reads.barriers.keys().any(|(name, _)| *name == of.name);
        let is_list = matches!(kind, ControlKind::Par) || kind.dynamic() == ControlKind::Seq;
        for &inner in plain
            .into_iter()
            .flatten()
            .filter(|_| is_list && !has_barriers)
        {
            let mut stands = self.stands(id);
            stands.site = self.site_of_statement(id, component, inner);
            if kind == ControlKind::Par {
                let par = self.names.pars.number((instance, control));
                let arm = inner.index();
                let arms = stands.arms.iter().copied().chain([Arm { par, arm }]);
                stands.arms = arms.collect();
            }
            let acts = self.condition(id, component, inner, &stands);
            self.prepared
                .closing
                .entry(element)
                .or_default()
                .extend(acts);
        }
    }

    /// What a condition reads, seen from a node in its component.
    fn condition(
        &mut self,
        id: NodeId,
        component: ComponentId,
        control: ControlId,
        stands: &Stands,
    ) -> Vec<Act> {
        let name = self.metadata.component(component).name.clone();
        let reads = self.reads.statements.get(&(name, control));
        let reads = reads.into_iter().flatten();
        let reads = reads.filter(|read| read.source == ReadSource::State);
        reads
            .map(|read| act(self.read(id, read), read, stands))
            .collect()
    }

    /// A primitive that is set.
    fn write(
        &mut self,
        id: NodeId,
        node: Node,
        (component, cell): (ComponentId, CellId),
        actual: Option<(InstanceId, CellId)>,
    ) {
        let name = |component: ComponentId, cell| {
            let component = self.metadata.component(component);
            (component.name.clone(), component.cell(cell).name.clone())
        };
        let key = match actual {
            Some((holder, cell)) => name(self.instances[holder.index()].component, cell),
            None => name(component, cell),
        };
        let (Some(holder), true) = (self.holders[id.index()], self.reads.state.contains(&key))
        else {
            return;
        };
        let Some(by) = self.tree.parent(id) else {
            return;
        };
        let path = actual_path(self.metadata, self.instances, node).unwrap_or_else(|| {
            let holder = instance_path(self.metadata, self.instances, holder);
            format!("{holder}.{}", key.1)
        });
        let act = Act {
            location: self.names.location((&path, None)),
            is_write: true,
            is_sure: true,
            stands: self.stands(by),
        };
        self.prepared.acts.push(act);
    }

    /// Where a value is that something in the component of a node reads.
    fn read(&mut self, id: NodeId, read: &Read) -> usize {
        let mut path = String::new();
        if let Some((first, inner)) = read.path.split_first() {
            path = self.cell(id, first);
            for name in inner {
                path.push('.');
                path.push_str(name);
            }
        }
        self.names.location((&path, None))
    }

    /// The path of a cell of the component of a node; of a `ref` cell, that of what it stands for.
    fn cell(&self, id: NodeId, name: &str) -> String {
        let path = self.tree.path(id);
        let mut path = path.into_iter().rev();
        let holder = path.find_map(|id| match self.tree.node(id) {
            Node::Cell { instance, .. } => Some((id, instance)),
            _ => None,
        });
        let Some((node, instance)) = holder else {
            return name.to_owned();
        };
        let component = self
            .metadata
            .component(self.instances[instance.index()].component);
        let mut cells = component.cells.iter();
        let handed = cells
            .position(|of| of.name == name && of.is_reference())
            .and_then(|at| {
                let above = self.tree.parent(node)?;
                let Node::Group { component, run, .. } = self.tree.node(above) else {
                    return None;
                };
                let caller = self.metadata.component(component);
                let invoke = caller.node(caller.run(run).control?);
                let formal = CellId::from_index(at);
                let binding = invoke.bindings.iter().find(|of| of.formal == formal)?;
                Some(self.cell(above, &caller.cell(binding.actual).name))
            });
        handed.unwrap_or_else(|| {
            let holder = instance_path(self.metadata, self.instances, instance);
            format!("{holder}.{name}")
        })
    }
}

fn act(location: usize, read: &Read, stands: &Stands) -> Act {
    Act {
        location,
        is_write: false,
        is_sure: !read.is_guarded,
        stands: stands.clone(),
    }
}
