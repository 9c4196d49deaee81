//! Call trees with control as the compiler made it: one frame per compilation group.

use std::collections::HashSet;

use petal_metadata::{CompiledKind, ComponentId, ControlId, Metadata};

use crate::again::Item;
use crate::model::{CallTree, Event, Node};

/// Leaves out the control nodes that did not become a compilation group.
#[derive(Debug)]
pub struct CompiledView {
    kept: HashSet<(ComponentId, ControlId)>,
}

impl CompiledView {
    /// The view of a design.
    pub fn new(metadata: &Metadata) -> Self {
        let kept = metadata
            .component_ids()
            .flat_map(|id| {
                let groups = &metadata.component(id).compiled;
                groups.iter().map(move |group| (id, group))
            })
            .filter(|(_, group)| !matches!(group.kind, CompiledKind::Leaf))
            .filter_map(|(id, group)| Some((id, group.node?)))
            .collect();
        Self { kept }
    }

    /// The event as this view shows it.
    pub fn event(&self, event: Event) -> Event {
        match event {
            Event::Tree(tree) => Event::Tree(Box::new(self.tree(&tree))),
            other => other,
        }
    }

    /// The event as this view shows it, or what comes again, which has no trees.
    #[must_use]
    pub fn item(&self, item: Item) -> Item {
        match item {
            Item::Event(event) => Item::Event(self.event(event)),
            Item::Again(_) => item,
        }
    }

    fn tree(&self, tree: &CallTree) -> CallTree {
        // Depths, in the original tree, of the ancestors that are kept.
        let mut above: Vec<usize> = Vec::new();
        let nodes: Vec<(usize, Node)> = tree
            .preorder()
            .filter_map(|(depth, node)| {
                while above.pop_if(|ancestor| *ancestor >= depth).is_some() {}
                if let Node::Control { component, control } = node
                    && !self.kept.contains(&(component, control))
                {
                    return None;
                }
                above.push(depth);
                Some((above.len() - 1, node))
            })
            .collect();
        CallTree::from_preorder(nodes).expect("the root is a cell, which is kept")
    }
}
