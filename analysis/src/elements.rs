//! A number for each element of the design that is active in a run.

use foldhash::HashMap;
use petal_metadata::{CellId, ControlId, GroupRunId, Id};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Node, TreeId};
use serde::{Deserialize, Serialize};

/// What an element of a component cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ElementKind {
    /// The component cell itself.
    Cell,
    /// A control node of its component.
    Control(ControlId),
    /// A group, by the run that activates it.
    Group(GroupRunId),
    /// A primitive; for a `ref` cell also the cell that it stands for, and who holds that.
    Primitive(CellId, Option<(InstanceId, CellId)>),
}

/// Something of a design that can be active: what a node of a call tree stands for, wherever in the tree
/// it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Element {
    /// The component cell.
    pub instance: InstanceId,
    /// What in it.
    pub kind: ElementKind,
}

impl Element {
    /// What a node stands for that is held by this cell; `None` for continuous assignments.
    pub fn of(node: Node, holder: Option<InstanceId>) -> Option<Self> {
        let (instance, kind) = match node {
            Node::Cell { instance, .. } => (instance, ElementKind::Cell),
            Node::Control { control, .. } => (holder?, ElementKind::Control(control)),
            Node::Group { run, .. } => (holder?, ElementKind::Group(run)),
            Node::Primitive { cell, actual, .. } => (holder?, ElementKind::Primitive(cell, actual)),
            Node::Continuous { .. } => return None,
        };
        Some(Self { instance, kind })
    }
}

/// A number for each element in a trace, from 0 on.
pub type ElementId = usize;

/// Follows a trace and numbers its elements. What holds others in a call tree has a lower number.
#[derive(Debug, Default)]
pub struct Elements {
    instances: Vec<Instance>,
    ids: HashMap<Element, ElementId>,
    list: Vec<Element>,
    /// Levels above each element where it was first seen.
    depths: Vec<usize>,
    /// The elements of each tree, ascending.
    trees: Vec<Vec<ElementId>>,
    /// The component cells of the newest tree that are called by a `ref` cell, each with that cell and
    /// who holds it.
    called_by_reference: Vec<(ElementId, (InstanceId, CellId))>,
    /// The nodes of the newest tree that are elements.
    nodes: Vec<(ElementId, Node)>,
}

impl Elements {
    /// The instances so far.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// All elements so far, by their numbers.
    pub fn all(&self) -> &[Element] {
        &self.list
    }

    /// The number of an element, if it was active.
    pub fn id(&self, element: Element) -> Option<ElementId> {
        self.ids.get(&element).copied()
    }

    /// How many levels of the call tree are above an element, where it was first seen.
    pub fn depth(&self, id: ElementId) -> usize {
        self.depths[id]
    }

    /// The elements of a tree, ascending; of none before and after the run.
    pub fn of(&self, tree: Option<TreeId>) -> &[ElementId] {
        tree.map_or(&[], |tree| &self.trees[tree.index()])
    }

    /// The elements of the newest tree.
    pub fn of_last_tree(&self) -> &[ElementId] {
        self.trees.last().map_or(&[], Vec::as_slice)
    }

    /// The component cells of the newest tree that are called by a `ref` cell, each with that cell and
    /// who holds it.
    pub fn called_by_reference(&self) -> &[(ElementId, (InstanceId, CellId))] {
        &self.called_by_reference
    }

    /// The nodes of the newest tree that are elements, in preorder.
    pub fn nodes_of_last_tree(&self) -> &[(ElementId, Node)] {
        &self.nodes
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let elements = self.elements_of(tree);
                self.trees.push(elements);
            }
            _ => {}
        }
    }

    fn elements_of(&mut self, tree: &CallTree) -> Vec<ElementId> {
        let mut elements = Vec::new();
        self.called_by_reference.clear();
        self.nodes.clear();
        for (depth, node, holder) in tree.with_holders() {
            let Some(element) = Element::of(node, holder) else {
                continue;
            };
            let formal = match node {
                Node::Cell { formal, .. } => holder.zip(formal.map(|(_, cell)| cell)),
                _ => None,
            };
            let next = self.list.len();
            let id = *self.ids.entry(element).or_insert(next);
            if id == next {
                self.list.push(element);
                self.depths.push(depth);
            }
            elements.push(id);
            self.nodes.push((id, node));
            self.called_by_reference
                .extend(formal.map(|formal| (id, formal)));
        }
        elements.sort_unstable();
        elements.dedup();
        elements
    }
}

/// What of `elements` is not among `others`; both ascend.
pub fn without(elements: &[ElementId], others: &[ElementId]) -> Vec<ElementId> {
    let elements = elements.iter().copied();
    elements
        .filter(|id| others.binary_search(id).is_err())
        .collect()
}
