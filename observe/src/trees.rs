//! The call trees of a run, and how their parts are written.

use std::collections::HashMap;
use std::sync::Arc;

use petal_metadata::{CellId, Id as _, Metadata, VariableId};
use petal_reconstruct::{
    CallTree, FrameLabels, Instance, InstanceId, LiveVariables, Node, NodeId, Signal, TreeId,
    cells_to,
};
use serde::{Deserialize, Serialize};

use crate::readers::Groups;

/// Where something stands in the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Site {
    /// Its path through the call tree.
    pub path: String,
    /// The group.
    pub group: String,
    /// The innermost statement around the group.
    pub statement: String,
    /// The line of what runs the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The file of that line, if it is not the design's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The call trees of a run.
pub(crate) struct Trees<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    list: Vec<CallTree>,
    active: HashMap<TreeId, Vec<String>>,
    writers: HashMap<(TreeId, Signal), Vec<String>>,
    /// The front end's variables that hold.
    live: HashMap<TreeId, Arc<[VariableId]>>,
    /// Whether what holds variables, by its number, is written as that.
    own_writes: HashMap<(TreeId, usize), bool>,
}

impl<'a> Trees<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            labels: FrameLabels::new(metadata),
            list: Vec::new(),
            active: HashMap::new(),
            writers: HashMap::new(),
            live: HashMap::new(),
            own_writes: HashMap::new(),
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
            let mut writers: Vec<String> = starters(metadata, tree, cell, instances)
                .map(|id| path(labels, tree, id, instances))
                .collect();
            writers.dedup();
            writers
        });
        writers.clone()
    }

    /// Where those stand in a tree that start a register or memory.
    pub fn starters(&self, tree: TreeId, cell: &Signal, instances: &[Instance]) -> Vec<Site> {
        let tree = &self.list[tree.index()];
        let starters = starters(self.metadata, tree, cell, instances);
        starters.map(|id| self.site(tree, id, instances)).collect()
    }

    /// Where groups stand in a tree.
    pub fn running(&self, tree: TreeId, groups: &Groups, instances: &[Instance]) -> Vec<Site> {
        let tree = &self.list[tree.index()];
        let nodes = tree.with_holders().zip(tree.nodes());
        let nodes = nodes.filter(|((_, node, holder), _)| {
            let (Node::Group { run, .. }, Some(holder)) = (node, holder) else {
                return false;
            };
            groups.runs.contains(run)
                && scope(self.metadata, instances, *holder)
                    .eq(groups.scope.iter().map(String::as_str))
        });
        nodes
            .map(|(_, (id, _))| self.site(tree, id, instances))
            .collect()
    }

    /// Where a node stands.
    fn site(&self, tree: &CallTree, id: NodeId, instances: &[Instance]) -> Site {
        let mut site = Site {
            path: path(&self.labels, tree, id, instances),
            ..Site::default()
        };
        for at in tree.path(id).into_iter().rev() {
            let node = tree.node(at);
            let (Node::Group { component, .. } | Node::Control { component, .. }) = node else {
                continue;
            };
            let component = self.metadata.component(component);
            let (span, is_group) = match node {
                Node::Group { group, run, .. } => {
                    let enable = component.run(run).control;
                    let span = enable.and_then(|node| component.node(node).span);
                    (span.or(component.group(group).span), true)
                }
                Node::Control { control, .. } => (component.node(control).span, false),
                _ => (None, false),
            };
            if let Some(span) = span.filter(|_| site.line.is_none()) {
                let file = &self.metadata.files[span.file.index()];
                site.line = Some(span.line);
                site.file = (!file.root).then(|| file.name.clone());
            }
            let label = || self.labels.label(node, instances).to_owned();
            if is_group && site.group.is_empty() {
                site.group = label();
            } else if !is_group {
                site.statement = label();
                break;
            }
        }
        site
    }

    /// The variables of the front end that hold in a tree, ascending.
    pub fn live(&mut self, tree: TreeId, instances: &[Instance]) -> Arc<[VariableId]> {
        let (trees, metadata) = (&self.list, self.metadata);
        let live = self.live.entry(tree).or_insert_with(|| {
            let variables = LiveVariables::of_design(metadata);
            let live = variables.map(|of| of.of(&trees[tree.index()], instances));
            live.unwrap_or_default().into()
        });
        Arc::clone(live)
    }

    /// Whether the register `cell`, which holds variables as the holder `number` of the metadata and does the work of other
    /// registers, too, is written in a tree as that holder, and as no other.
    pub fn is_own_write(
        &mut self,
        tree: TreeId,
        number: usize,
        cell: &Signal,
        instances: &[Instance],
    ) -> bool {
        let (trees, metadata) = (&self.list, self.metadata);
        *self.own_writes.entry((tree, number)).or_insert_with(|| {
            let own = &metadata.front_end.holders[number].cells;
            let tree = &trees[tree.index()];
            let mut writes = drives(metadata, tree, cell, instances)
                .map(|(_, of, id)| {
                    let mut cells = cells_to(of, instances);
                    cells.push(id);
                    cells == *own
                })
                .peekable();
            writes.peek().is_some() && writes.all(|is_own| is_own)
        })
    }
}

/// The nodes of a tree that start a register or memory.
fn starters<'a>(
    metadata: &'a Metadata,
    tree: &'a CallTree,
    cell: &'a Signal,
    instances: &'a [Instance],
) -> impl Iterator<Item = NodeId> + 'a {
    let drives = drives(metadata, tree, cell, instances);
    drives.filter_map(|(id, ..)| tree.parent(id))
}

/// The nodes of a tree that drive a register or memory, each with the instance and the cell that it is in the source.
fn drives<'a>(
    metadata: &'a Metadata,
    tree: &'a CallTree,
    cell: &'a Signal,
    instances: &'a [Instance],
) -> impl Iterator<Item = (NodeId, InstanceId, CellId)> + 'a {
    let nodes = tree.with_holders().zip(tree.nodes());
    nodes.filter_map(move |((_, node, holder), (at, _))| {
        let Node::Primitive {
            cell: id, actual, ..
        } = node
        else {
            return None;
        };
        let (holder, id) = match actual {
            Some((holder, id)) => (Some(holder), id),
            None => (holder, id),
        };
        let holder = holder?;
        is_hardware(metadata, instances, (holder, id), cell).then_some((at, holder, id))
    })
}

/// Whether a cell of an instance is this one in the hardware.
fn is_hardware(
    metadata: &Metadata,
    instances: &[Instance],
    (holder, id): (InstanceId, CellId),
    cell: &Signal,
) -> bool {
    instance_of(metadata, instances, holder, id) == Some(cell.name.as_str())
        && scope(metadata, instances, holder).eq(cell.scope.iter().map(String::as_str))
}

/// The Verilog instances down to that of a component cell.
fn scope<'a>(
    metadata: &'a Metadata,
    instances: &[Instance],
    holder: InstanceId,
) -> impl Iterator<Item = &'a str> {
    let mut scope: Vec<&str> = std::iter::successors(Some(holder), |of| {
        instances[of.index()].parent.map(|(holder, _)| holder)
    })
    .filter_map(|of| instances[of.index()].parent)
    .map(|(holder, cell)| instance_of(metadata, instances, holder, cell).unwrap_or_default())
    .collect();
    scope.reverse();
    let above = metadata.scope.iter().map(String::as_str);
    above.chain(scope)
}

/// The Verilog instance of a cell.
fn instance_of<'a>(
    metadata: &'a Metadata,
    instances: &[Instance],
    holder: InstanceId,
    cell: CellId,
) -> Option<&'a str> {
    let component = metadata.component(instances[holder.index()].component);
    component.cell(cell).instance.as_deref()
}

fn path(labels: &FrameLabels, tree: &CallTree, id: NodeId, instances: &[Instance]) -> String {
    let nodes = tree.path(id);
    let names: Vec<&str> = nodes
        .iter()
        .map(|&id| labels.label(tree.node(id), instances))
        .collect();
    names.join(" > ")
}
