//! How many cycles each memory, multiplier and divider of a run needs for itself: no program that uses it as often, one after the other, is
//! faster; one that uses the same word at once uses it once.
//!
//! Owns the counting of uses. A group uses a cell once each time that it runs, if it drives it in its first cycle. There may be more uses: runs
//! of several cycles that follow one another without a break are not told apart, and a memory that a group reads through a `ref` cell is not known.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use petal_metadata::{CellId, CellKind, GroupId, GroupRunId, Id as _, Metadata};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Run, TreeId, instance_path};

use crate::elements::{Element, ElementKind};
use crate::parts::{Part, parts_of};

/// A cell, and what it needs for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its path in the design: `main.in_a`.
    pub path: String,
    /// The primitive that it is.
    pub primitive: String,
    /// How often groups used it, which is also the fewest cycles that it takes for that.
    pub uses: u64,
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

/// A group of a component cell. One that several statements run at once is one user.
type User = (InstanceId, GroupId);

/// What a group does in a cycle.
#[derive(Debug, Default)]
struct Use {
    /// What it drives.
    driven: BTreeSet<Hardware>,
    /// The parts of the run that it is in.
    inside: BTreeSet<Part>,
    /// Whether each cycle is a run of its own.
    is_of_one_cycle: bool,
}

/// Counts along a trace. Memory grows with the number of different changes from one call tree to another.
#[derive(Debug)]
pub struct Resources<'a> {
    metadata: &'a Metadata,
    reads: &'a Reads,
    instances: Vec<Instance>,
    /// The groups that run in each tree, and what each of them does, by the numbers of the trees.
    uses: Vec<BTreeMap<User, Use>>,
    /// How often each tree came after another, and for how many cycles in all.
    changes: HashMap<(Option<TreeId>, TreeId), (u64, u64)>,
    current: Option<TreeId>,
}

/// Whether a program can't simply have more of a primitive: a memory has one port, and multipliers and dividers are large. Each can begin one
/// thing in a cycle at most.
fn is_limited(primitive: &str) -> bool {
    let ends = |end: &str| primitive.ends_with(end);
    primitive.contains("_mem_d") || ends("mult_pipe") || ends("div_pipe") || ends("sqrt")
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
            Event::Run(Run { tree, cycles, .. }) => {
                let change = (self.current.replace(*tree), *tree);
                let (times, total) = self.changes.entry(change).or_default();
                *times += 1;
                *total += cycles;
            }
            Event::Gap(_) => self.current = None,
            _ => {}
        }
    }

    /// What groups use in a cycle with this tree.
    fn uses_of(&self, tree: &CallTree) -> BTreeMap<User, Use> {
        let holders: Vec<Option<InstanceId>> = tree.with_holders().map(|of| of.2).collect();
        let mut uses: BTreeMap<User, Use> = BTreeMap::new();
        for (part, groups) in parts_of(tree, &self.instances, self.metadata) {
            for (instance, run) in groups {
                let user = self.user(instance, run);
                let of = uses.entry(user).or_default();
                of.driven.extend(self.read_by(user));
                of.is_of_one_cycle = self.latency(instance, run) == Some(1);
                of.inside.insert(part);
            }
        }
        for (id, node) in tree.nodes() {
            let Some(element) = Element::of(node, holders[id.index()]) else {
                continue;
            };
            let (cell, actual) = match element.kind {
                ElementKind::Primitive(cell, actual) => (cell, actual),
                ElementKind::Cell | ElementKind::Control(_) | ElementKind::Group(_) => continue,
            };
            let user = tree.parent(id);
            let user = user.and_then(|of| Element::of(tree.node(of), holders[of.index()]));
            let Some(Element {
                instance: user_of,
                kind: ElementKind::Group(run),
            }) = user
            else {
                continue;
            };
            let (instance, cell) = actual.unwrap_or((element.instance, cell));
            let user = self.user(user_of, run);
            let of = uses.entry(user).or_default();
            of.driven.extend(self.hardware(instance, cell));
        }
        uses
    }

    fn user(&self, holder: InstanceId, run: GroupRunId) -> User {
        let component = self.instances[holder.index()].component;
        (holder, self.metadata.component(component).run(run).group)
    }

    fn latency(&self, holder: InstanceId, run: GroupRunId) -> Option<u64> {
        let component = self.instances[holder.index()].component;
        self.metadata.component(component).run(run).latency
    }

    /// The memories that a group reads, for all that is known.
    fn read_by(&self, (holder, group): User) -> impl Iterator<Item = Hardware> {
        let component = self.instances[holder.index()].component;
        let component = self.metadata.component(component);
        let group = &component.group(group).name;
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
        if !is_limited(name) {
            return None;
        }
        Some(Hardware {
            holder,
            name: cell.instance.clone()?,
            primitive: name.clone(),
        })
    }

    /// What each needs for itself, most first, once the trace has ended; and in each part of the run that which needs most there.
    pub fn finish(self) -> (Vec<Resource>, BTreeMap<Part, Resource>) {
        let none = BTreeMap::new();
        let mut uses: BTreeMap<&Hardware, u64> = BTreeMap::new();
        let mut by_part: BTreeMap<Part, BTreeMap<&Hardware, u64>> = BTreeMap::new();
        for (&(before, tree), &(times, cycles)) in &self.changes {
            let before = before.map_or(&none, |before| &self.uses[before.index()]);
            let mut used: BTreeMap<&Hardware, u64> = BTreeMap::new();
            let mut in_parts: BTreeMap<(Part, &Hardware), u64> = BTreeMap::new();
            for (user, of) in &self.uses[tree.index()] {
                let uses = match before.contains_key(user) {
                    _ if of.is_of_one_cycle => cycles,
                    false => times,
                    true => continue,
                };
                for driven in &of.driven {
                    // Several at once may be one.
                    let most = used.entry(driven).or_default();
                    *most = uses.max(*most);
                    for &part in &of.inside {
                        let most = in_parts.entry((part, driven)).or_default();
                        *most = uses.max(*most);
                    }
                }
            }
            for (hardware, count) in used {
                *uses.entry(hardware).or_default() += count;
            }
            for ((part, hardware), count) in in_parts {
                *by_part
                    .entry(part)
                    .or_default()
                    .entry(hardware)
                    .or_default() += count;
            }
        }
        let by_part = by_part.into_iter().filter_map(|(part, uses)| {
            let most = self.sorted(uses).into_iter().next()?;
            Some((part, most))
        });
        (self.sorted(uses), by_part.collect())
    }

    /// Most first.
    fn sorted(&self, uses: BTreeMap<&Hardware, u64>) -> Vec<Resource> {
        let resources = uses.into_iter().map(|(hardware, uses)| {
            let holder = instance_path(self.metadata, &self.instances, hardware.holder);
            Resource {
                path: format!("{holder}.{}", hardware.name),
                primitive: hardware.primitive.clone(),
                uses,
            }
        });
        let mut resources: Vec<Resource> = resources.collect();
        resources.sort_by(|a, b| (Reverse(a.uses), &a.path).cmp(&(Reverse(b.uses), &b.path)));
        resources
    }
}
