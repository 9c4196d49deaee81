//! From trees per cycle to spans per node: when each node of the call trees was active without a
//! break.

use std::sync::Arc;

use foldhash::HashMap;
use petal_metadata::{CellId, ControlId, Id, RunId};
use petal_reconstruct::{CallTree, Cycle, Event, Instance, InstanceId, Node, Run, TreeId};

/// What can be active in an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// The instance itself.
    Cell,
    /// A control node of its component.
    Control(ControlId),
    /// A group, by the run that activates it.
    Group(RunId),
    /// A primitive.
    Primitive(CellId),
}

/// Something that can be active in a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The component cell.
    pub instance: InstanceId,
    /// What in it.
    pub item: Item,
}

/// A number for each key of a trace, from 0 on.
pub(crate) type KeyId = usize;

/// A step in the life of a span: a time in which something was active without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The key becomes active. What holds it does so at the latest then, and is told first.
    Open(KeyId),
    /// It was active since this cycle, and is no more.
    Close(KeyId, Cycle),
}

/// How many changes from one tree to another are remembered.
const MAX_SWITCHES: usize = 1 << 16;

/// Follows a trace and finds its spans.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    instances: Vec<Instance>,
    ids: HashMap<Key, KeyId>,
    keys: Vec<Key>,
    /// Levels above each key where it was first seen.
    depths: Vec<usize>,
    /// First cycle of what is active, by key.
    since: Vec<Cycle>,
    /// The keys of each tree, ascending.
    trees: Vec<Vec<KeyId>>,
    current: Option<TreeId>,
    /// What closes and what opens from one tree to another, for the latest ones.
    switches: HashMap<(Option<TreeId>, Option<TreeId>), Arc<Switch>>,
}

#[derive(Debug)]
struct Switch {
    closes: Vec<KeyId>,
    opens: Vec<KeyId>,
}

impl Spans {
    /// The instances so far.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// All keys so far, by their numbers.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// How many levels of the call tree are above a key, where it was first seen.
    pub fn depth(&self, id: KeyId) -> usize {
        self.depths[id]
    }

    /// The keys of the newest tree.
    pub fn last_tree(&self) -> &[KeyId] {
        self.trees.last().map_or(&[], Vec::as_slice)
    }

    /// Takes in the next event. Adds the spans that are over and those that begin to `steps`, and
    /// returns the cycle in which they do.
    pub fn event(&mut self, event: &Event, steps: &mut Vec<Step>) -> Cycle {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let keys = self.keys_of(tree);
                self.trees.push(keys);
            }
            Event::Run(Run { tree, start, .. }) => {
                self.switch(Some(*tree), *start, steps);
                return *start;
            }
            Event::End { cycles } => {
                let end = Cycle::from_cycles(*cycles);
                self.switch(None, end, steps);
                return end;
            }
            Event::Update(_) | Event::Warning(_) => {}
        }
        Cycle::from_cycles(0)
    }

    fn switch(&mut self, next: Option<TreeId>, at: Cycle, steps: &mut Vec<Step>) {
        let pair = (self.current, next);
        let switch = match self.switches.get(&pair) {
            Some(switch) => Arc::clone(switch),
            None => {
                let keys = |tree: Option<TreeId>| {
                    tree.map_or(&[][..], |tree| self.trees[tree.index()].as_slice())
                };
                let (before, after) = (keys(self.current), keys(next));
                let without = |keys: &[KeyId], others: &[KeyId]| {
                    let keys = keys.iter().copied();
                    keys.filter(|id| others.binary_search(id).is_err())
                        .collect()
                };
                let switch = Arc::new(Switch {
                    closes: without(before, after),
                    opens: without(after, before),
                });
                if self.switches.len() == MAX_SWITCHES {
                    self.switches.clear();
                }
                self.switches.insert(pair, Arc::clone(&switch));
                switch
            }
        };
        for &id in &switch.closes {
            steps.push(Step::Close(id, self.since[id]));
        }
        for &id in &switch.opens {
            self.since[id] = at;
            steps.push(Step::Open(id));
        }
        self.current = next;
    }

    fn keys_of(&mut self, tree: &CallTree) -> Vec<KeyId> {
        // The innermost cell at each depth above the current node.
        let mut cells: Vec<(usize, InstanceId)> = Vec::new();
        let mut keys = Vec::new();
        for (depth, node) in tree.preorder() {
            while cells.last().is_some_and(|&(above, _)| above >= depth) {
                cells.pop();
            }
            let item = match node {
                Node::Cell { instance, .. } => {
                    cells.push((depth, instance));
                    Item::Cell
                }
                Node::Control { control, .. } => Item::Control(control),
                Node::Group { run, .. } => Item::Group(run),
                Node::Primitive { cell, .. } => Item::Primitive(cell),
                Node::Continuous { .. } => continue,
            };
            let Some(&(_, instance)) = cells.last() else {
                continue;
            };
            let key = Key { instance, item };
            let next = self.keys.len();
            let id = *self.ids.entry(key).or_insert(next);
            if id == next {
                self.keys.push(key);
                self.depths.push(depth);
                self.since.push(Cycle::from_cycles(0));
            }
            keys.push(id);
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
