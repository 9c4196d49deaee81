//! A number for each node of the design that is active in a run.

use foldhash::HashMap;
use petal_metadata::{CellId, ControlId, Id, RunId};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Node, TreeId};

/// What can be active in an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// The instance itself.
    Cell,
    /// A control node of its component.
    Control(ControlId),
    /// A group, by the run that activates it.
    Group(RunId),
    /// A primitive; for a `ref` cell also the cell that it stands for, and who holds that.
    Primitive(CellId, Option<(InstanceId, CellId)>),
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

/// Follows a trace and numbers its keys. What holds others in a call tree has a lower number.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    instances: Vec<Instance>,
    ids: HashMap<Key, KeyId>,
    list: Vec<Key>,
    /// Levels above each key where it was first seen.
    depths: Vec<usize>,
    /// The keys of each tree, ascending.
    trees: Vec<Vec<KeyId>>,
    /// The component cells of the newest tree that are called by a `ref` cell, each with that cell and
    /// who holds it.
    called_by_reference: Vec<(KeyId, (InstanceId, CellId))>,
}

impl Keys {
    /// The instances so far.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// All keys so far, by their numbers.
    pub fn all(&self) -> &[Key] {
        &self.list
    }

    /// How many levels of the call tree are above a key, where it was first seen.
    pub fn depth(&self, id: KeyId) -> usize {
        self.depths[id]
    }

    /// The keys of a tree, ascending; of none before and after the run.
    pub fn of(&self, tree: Option<TreeId>) -> &[KeyId] {
        tree.map_or(&[], |tree| &self.trees[tree.index()])
    }

    /// The keys of the newest tree.
    pub fn of_last_tree(&self) -> &[KeyId] {
        self.trees.last().map_or(&[], Vec::as_slice)
    }

    /// The component cells of the newest tree that are called by a `ref` cell, each with that cell and
    /// who holds it.
    pub fn called_by_reference(&self) -> &[(KeyId, (InstanceId, CellId))] {
        &self.called_by_reference
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let keys = self.keys_of(tree);
                self.trees.push(keys);
            }
            Event::Run(_) | Event::Update(_) | Event::Warning(_) | Event::End { .. } => {}
        }
    }

    fn keys_of(&mut self, tree: &CallTree) -> Vec<KeyId> {
        // The innermost cell at each depth above the current node.
        let mut cells: Vec<(usize, InstanceId)> = Vec::new();
        let mut keys = Vec::new();
        self.called_by_reference.clear();
        for (depth, node) in tree.preorder() {
            while cells.last().is_some_and(|&(above, _)| above >= depth) {
                cells.pop();
            }
            let mut formal = None;
            let item = match node {
                Node::Cell {
                    instance,
                    formal: known,
                    ..
                } => {
                    let holder = cells.last().map(|&(_, holder)| holder);
                    formal = holder.zip(known.map(|(_, cell)| cell));
                    cells.push((depth, instance));
                    Item::Cell
                }
                Node::Control { control, .. } => Item::Control(control),
                Node::Group { run, .. } => Item::Group(run),
                Node::Primitive { cell, actual, .. } => Item::Primitive(cell, actual),
                Node::Continuous { .. } => continue,
            };
            let Some(&(_, instance)) = cells.last() else {
                continue;
            };
            let key = Key { instance, item };
            let next = self.list.len();
            let id = *self.ids.entry(key).or_insert(next);
            if id == next {
                self.list.push(key);
                self.depths.push(depth);
            }
            keys.push(id);
            self.called_by_reference
                .extend(formal.map(|formal| (id, formal)));
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// What of `keys` is not among `others`; both ascend.
pub(crate) fn without(keys: &[KeyId], others: &[KeyId]) -> Vec<KeyId> {
    let keys = keys.iter().copied();
    keys.filter(|id| others.binary_search(id).is_err())
        .collect()
}
