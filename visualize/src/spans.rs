//! From trees per cycle to spans per node: when each node of the call trees was active without a
//! break.

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

/// A change from one tree to another.
#[derive(Debug)]
pub(crate) struct Switch {
    /// What is active no more. What holds others comes first.
    pub closes: Vec<KeyId>,
    /// What becomes active. What holds others comes first, but cells come last.
    pub opens: Vec<KeyId>,
}

/// A number for each switch that is remembered.
pub(crate) type SwitchId = usize;

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
    /// The latest switches, and their numbers by the trees.
    switches: Vec<Switch>,
    numbers: HashMap<(Option<TreeId>, Option<TreeId>), SwitchId>,
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

    /// A switch that `event` gave last.
    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id]
    }

    /// The first cycle of what is active, or closes in the latest switch.
    pub fn since(&self, id: KeyId) -> Cycle {
        self.since[id]
    }

    /// Takes in the next event. If it is a switch, returns which one, and its cycle.
    pub fn event(&mut self, event: &Event) -> Option<(SwitchId, Cycle)> {
        let (next, at) = match event {
            Event::Instance(instance) => {
                self.instances.push(*instance);
                return None;
            }
            Event::Tree(tree) => {
                let keys = self.keys_of(tree);
                self.trees.push(keys);
                return None;
            }
            Event::Run(Run { tree, start, .. }) => (Some(*tree), *start),
            Event::End { cycles } => (None, Cycle::from_cycles(*cycles)),
            Event::Update(_) | Event::Warning(_) => return None,
        };
        let pair = (self.current, next);
        let number = match self.numbers.get(&pair) {
            Some(&number) => number,
            None => {
                let switch = self.switch_between(self.current, next);
                if self.switches.len() == MAX_SWITCHES {
                    self.switches.clear();
                    self.numbers.clear();
                }
                self.switches.push(switch);
                let number = self.switches.len() - 1;
                self.numbers.insert(pair, number);
                number
            }
        };
        for &id in &self.switches[number].opens {
            self.since[id] = at;
        }
        self.current = next;
        Some((number, at))
    }

    fn switch_between(&self, before: Option<TreeId>, after: Option<TreeId>) -> Switch {
        let keys =
            |tree: Option<TreeId>| tree.map_or(&[][..], |tree| self.trees[tree.index()].as_slice());
        let without = |keys: &[KeyId], others: &[KeyId]| -> Vec<KeyId> {
            let keys = keys.iter().copied();
            keys.filter(|id| others.binary_search(id).is_err())
                .collect()
        };
        let (before, after) = (keys(before), keys(after));
        let mut opens = without(after, before);
        opens.sort_by_key(|&id| self.keys[id].item == Item::Cell);
        Switch {
            closes: without(before, after),
            opens,
        }
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
