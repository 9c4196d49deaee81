//! From trees per cycle to spans per node: when each node of the call trees was active without a
//! break.

use std::collections::HashMap;

use petal_metadata::{CellId, ControlId, Id, RunId};
use petal_reconstruct::{CallTree, Cycle, Event, Instance, InstanceId, Node, Run};

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

/// A time in which something was active without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// What.
    pub key: Key,
    /// First cycle.
    pub start: Cycle,
    /// Number of cycles.
    pub cycles: u64,
}

/// A step in the life of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The key becomes active in this cycle. What holds it does so at the latest then, and is
    /// told first.
    Open(Key),
    /// The span is over.
    Close(Span),
}

/// Follows a trace and finds its spans.
#[derive(Debug, Default)]
pub struct Spans {
    instances: Vec<Instance>,
    ids: HashMap<Key, u32>,
    keys: Vec<Key>,
    /// First cycle of what is active, by key.
    since: Vec<Option<Cycle>>,
    /// The keys of each tree, ascending.
    trees: Vec<Vec<u32>>,
    current: Vec<u32>,
}

impl Spans {
    /// Takes in the next event; calls `on_span` for each span that is over.
    pub fn event(&mut self, event: &Event, on_span: &mut impl FnMut(Span)) {
        self.steps(event, &mut |step| {
            if let Step::Close(span) = step {
                on_span(span);
            }
        });
    }

    /// The instances so far.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Takes in the next event; calls `on_step` for each span that begins or is over, the latter
    /// first.
    pub(crate) fn steps(&mut self, event: &Event, on_step: &mut impl FnMut(Step)) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let keys = self.keys_of(tree);
                self.trees.push(keys);
            }
            Event::Run(Run { tree, start, .. }) => {
                let next = self.trees[tree.index()].clone();
                self.switch(next, *start, on_step);
            }
            Event::End { cycles } => {
                self.switch(Vec::new(), Cycle::from_cycles(*cycles), on_step);
            }
            Event::Update(_) | Event::Warning(_) => {}
        }
    }

    fn switch(&mut self, next: Vec<u32>, at: Cycle, on_step: &mut impl FnMut(Step)) {
        for &id in &self.current {
            if next.binary_search(&id).is_err()
                && let Some(start) = self.since[id as usize].take()
            {
                let key = self.keys[id as usize];
                on_step(Step::Close(Span {
                    key,
                    start,
                    cycles: at.cycles() - start.cycles(),
                }));
            }
        }
        for &id in &next {
            let since = &mut self.since[id as usize];
            if since.is_none() {
                *since = Some(at);
                on_step(Step::Open(self.keys[id as usize]));
            }
        }
        self.current = next;
    }

    fn keys_of(&mut self, tree: &CallTree) -> Vec<u32> {
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
            let next = u32::try_from(self.keys.len()).expect("fewer than 2^32 nodes");
            let id = *self.ids.entry(key).or_insert(next);
            if id == next {
                self.keys.push(key);
                self.since.push(None);
            }
            keys.push(id);
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
