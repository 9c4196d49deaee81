//! How many cycles each memory, multiplier and divider of a run needs for itself: no program that uses it as often is faster, in whatever
//! order.
//!
//! Owns the counting of uses. A use begins where a group begins to drive the cell; one that follows without a break in the same group is not
//! told from the one before, and a memory that a group reads through a `ref` cell is not known: so there may be more of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use petal_metadata::{CellId, CellKind, GroupRunId, Id as _, Metadata};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Run, TreeId, instance_path};

use crate::activations::Activations;
use crate::elements::{Element, ElementKind};

/// A cell, and what it needs for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its path in the design: `main.in_a`.
    pub path: String,
    /// The primitive that it is.
    pub primitive: String,
    /// How often groups used it.
    pub uses: u64,
    /// The fewest cycles that it can do that in.
    pub least: u64,
}

/// The memories that each group accesses whenever it runs, which are in no call tree where they are only read: by the names of component and
/// group, each with its primitive.
pub type Reads = BTreeMap<(String, String), BTreeMap<String, String>>;

/// A piece of hardware.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Hardware {
    holder: InstanceId,
    /// Its Verilog instance.
    name: String,
    primitive: String,
}

/// Counts along a trace. Memory grows with the number of different changes from one call tree to another.
#[derive(Debug)]
pub struct Resources<'a> {
    metadata: &'a Metadata,
    reads: &'a Reads,
    instances: Vec<Instance>,
    /// What each tree uses, and what of it does, by the numbers of the trees.
    uses: Vec<BTreeSet<(Element, Hardware)>>,
    changes: HashMap<(Option<TreeId>, TreeId), u64>,
    current: Option<TreeId>,
}

/// What limits a primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// It can begin something in each cycle: a memory's port, or a multiplier.
    Port,
    /// It does one thing after the other: a divider.
    Unit,
}

impl Limit {
    /// That of a primitive; `None` of those that a program can have more of, such as adders and registers.
    fn of(primitive: &str) -> Option<Self> {
        let ends = |end: &str| primitive.ends_with(end);
        if primitive.contains("_mem_d") || ends("_mult_pipe") || ends("_smult_pipe") {
            Some(Self::Port)
        } else if ends("div_pipe") || ends("sqrt") {
            Some(Self::Unit)
        } else {
            None
        }
    }
}

impl<'a> Resources<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata, reads: &'a Reads) -> Self {
        Self {
            metadata,
            reads,
            instances: Vec::new(),
            uses: Vec::new(),
            changes: HashMap::default(),
            current: None,
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let uses = self.uses_of(tree);
                self.uses.push(uses);
            }
            Event::Run(Run { tree, .. }) => {
                let change = (self.current.replace(*tree), *tree);
                *self.changes.entry(change).or_default() += 1;
            }
            Event::Gap(_) => self.current = None,
            _ => {}
        }
    }

    /// What groups use in a cycle with this tree.
    fn uses_of(&self, tree: &CallTree) -> BTreeSet<(Element, Hardware)> {
        let holders: Vec<Option<InstanceId>> = tree.with_holders().map(|of| of.2).collect();
        let mut uses = BTreeSet::new();
        for (id, node) in tree.nodes() {
            let Some(element) = Element::of(node, holders[id.index()]) else {
                continue;
            };
            let (cell, actual) = match element.kind {
                ElementKind::Primitive(cell, actual) => (cell, actual),
                ElementKind::Group(run) => {
                    let read = self.read_by(element.instance, run);
                    uses.extend(read.map(|hardware| (element, hardware)));
                    continue;
                }
                ElementKind::Cell | ElementKind::Control(_) => continue,
            };
            let user = tree.parent(id);
            let user = user.and_then(|of| Element::of(tree.node(of), holders[of.index()]));
            let is_group = |user: &Element| matches!(user.kind, ElementKind::Group(_));
            let Some(user) = user.filter(is_group) else {
                continue;
            };
            let (instance, cell) = actual.unwrap_or((element.instance, cell));
            if let Some(hardware) = self.hardware(instance, cell) {
                uses.insert((user, hardware));
            }
        }
        uses
    }

    /// The memories that a group reads, for all that is known.
    fn read_by(&self, holder: InstanceId, run: GroupRunId) -> impl Iterator<Item = Hardware> {
        let component = self.instances[holder.index()].component;
        let component = self.metadata.component(component);
        let group = &component.group(component.run(run).group).name;
        let cells = self.reads.get(&(component.name.clone(), group.clone()));
        let cells = cells.into_iter().flatten();
        cells.map(move |(name, primitive)| {
            // One that is only read may be no cell there; then the compiler has left it as it is.
            let mut cells = component.cells.iter();
            let cell = cells.find(|cell| cell.name == *name);
            let instance = cell.and_then(|cell| cell.instance.as_ref());
            Hardware {
                holder,
                name: instance.unwrap_or(name).clone(),
                primitive: primitive.clone(),
            }
        })
    }

    /// The hardware of a cell, if it is limited.
    fn hardware(&self, holder: InstanceId, cell: CellId) -> Option<Hardware> {
        let component = self.instances[holder.index()].component;
        let cell = self.metadata.component(component).cell(cell);
        let CellKind::Primitive(name) = &cell.kind else {
            return None;
        };
        Limit::of(name)?;
        Some(Hardware {
            holder,
            name: cell.instance.clone()?,
            primitive: name.clone(),
        })
    }

    /// What each needs for itself, most first, once the trace has ended; `activations` are those of the same run.
    pub fn finish(self, activations: &Activations<'_>) -> Vec<Resource> {
        let none = BTreeSet::new();
        let mut uses: BTreeMap<&Hardware, u64> = BTreeMap::new();
        for (&(before, tree), &times) in &self.changes {
            let before = before.map_or(&none, |before| &self.uses[before.index()]);
            for (_, hardware) in self.uses[tree.index()].difference(before) {
                *uses.entry(hardware).or_default() += times;
            }
        }
        let mut shortest: BTreeMap<Hardware, u64> = BTreeMap::new();
        for (element, durations) in activations.durations() {
            if let ElementKind::Primitive(cell, actual) = element.kind {
                let (holder, cell) = actual.unwrap_or((element.instance, cell));
                if let Some(hardware) = self.hardware(holder, cell) {
                    let least = shortest.entry(hardware).or_insert(u64::MAX);
                    *least = durations.min.min(*least);
                }
            }
        }
        let resources = uses.into_iter().filter_map(|(hardware, uses)| {
            let each = match Limit::of(&hardware.primitive)? {
                Limit::Port => 1,
                Limit::Unit => shortest.get(hardware).copied().unwrap_or(1),
            };
            let holder = instance_path(self.metadata, &self.instances, hardware.holder);
            Some(Resource {
                path: format!("{holder}.{}", hardware.name),
                primitive: hardware.primitive.clone(),
                uses,
                least: uses * each,
            })
        });
        let mut resources: Vec<Resource> = resources.collect();
        resources.sort_by(|a, b| (Reverse(a.least), &a.path).cmp(&(Reverse(b.least), &b.path)));
        resources
    }
}
