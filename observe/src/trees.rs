//! The call trees of a run, and how their parts are written.

use std::collections::HashMap;

use petal_metadata::{CellId, Id as _, Metadata};
use petal_reconstruct::{
    CallTree, FrameLabels, Instance, InstanceId, Node, NodeId, Signal, TreeId,
};

/// The call trees of a run.
pub(crate) struct Trees<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    list: Vec<CallTree>,
    active: HashMap<TreeId, Vec<String>>,
    writers: HashMap<(TreeId, Signal), Vec<String>>,
}

impl<'a> Trees<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            labels: FrameLabels::new(metadata),
            list: Vec::new(),
            active: HashMap::new(),
            writers: HashMap::new(),
        }
    }

    pub fn add(&mut self, tree: &CallTree) {
        self.list.push(tree.clone());
    }

    /// The innermost of what is active in a tree, without primitives.
    pub fn active(&mut self, tree: TreeId, instances: &[Instance]) -> Vec<String> {
        let (trees, labels) = (&self.list, &self.labels);
        let active = self.active.entry(tree).or_insert_with(|| {
            let tree = &trees[tree.index()];
            let is_frame = |id: &NodeId| !matches!(tree.node(*id), Node::Primitive { .. });
            let innermost = tree
                .nodes()
                .map(|(id, _)| id)
                .filter(|id| is_frame(id) && !tree.children(*id).iter().any(is_frame));
            innermost
                .map(|id| path(labels, tree, id, instances))
                .collect()
        });
        active.clone()
    }

    /// The groups that write a register or memory in a tree, by whichever of the cells that it is in the source.
    pub fn writers(&mut self, tree: TreeId, cell: &Signal, instances: &[Instance]) -> Vec<String> {
        let (trees, labels) = (&self.list, &self.labels);
        let metadata = self.metadata;
        let key = (tree, cell.clone());
        let writers = self.writers.entry(key).or_insert_with(|| {
            let tree = &trees[tree.index()];
            let mut writers: Vec<String> = tree
                .with_holders()
                .zip(tree.nodes())
                .filter(|((_, node, holder), _)| match node {
                    Node::Primitive {
                        cell: id, actual, ..
                    } => {
                        let (holder, id) = match actual {
                            Some((holder, id)) => (Some(*holder), *id),
                            None => (*holder, *id),
                        };
                        holder.is_some_and(|of| is_hardware(metadata, instances, (of, id), cell))
                    }
                    _ => false,
                })
                .filter_map(|(_, (id, _))| tree.parent(id))
                .map(|id| path(labels, tree, id, instances))
                .collect();
            writers.dedup();
            writers
        });
        writers.clone()
    }
}

/// Whether a cell of an instance is this one in the hardware.
fn is_hardware(
    metadata: &Metadata,
    instances: &[Instance],
    (holder, id): (InstanceId, CellId),
    cell: &Signal,
) -> bool {
    let instance_of = |holder: InstanceId, cell: CellId| {
        let component = metadata.component(instances[holder.index()].component);
        component.cell(cell).instance.as_deref()
    };
    let mut scope: Vec<&str> = std::iter::successors(Some(holder), |of| {
        instances[of.index()].parent.map(|(holder, _)| holder)
    })
    .filter_map(|of| instances[of.index()].parent)
    .map(|(holder, cell)| instance_of(holder, cell).unwrap_or_default())
    .collect();
    scope.reverse();
    let above = metadata.scope.iter().map(String::as_str);
    instance_of(holder, id) == Some(cell.name.as_str())
        && above.chain(scope).eq(cell.scope.iter().map(String::as_str))
}

fn path(labels: &FrameLabels, tree: &CallTree, id: NodeId, instances: &[Instance]) -> String {
    let nodes = tree.path(id);
    let names: Vec<&str> = nodes
        .iter()
        .map(|&id| labels.label(tree.node(id), instances))
        .collect();
    names.join(" > ")
}
