//! How far a run is, for those who wait for it.

use foldhash::HashMap;

use crate::model::{Node, Run, TreeId};

/// How far a run is.
pub struct Progress<'a> {
    pub(super) trees: &'a HashMap<Vec<(usize, Node)>, TreeId>,
    pub(super) run: Option<Run>,
}

impl Progress<'_> {
    /// The number of cycles so far.
    pub fn cycles(&self) -> u64 {
        let run = self.run.as_ref();
        run.map_or(0, |run| run.start.cycles() + run.cycles)
    }

    /// The innermost groups and statements that are active. It takes a while to find them.
    pub fn active(&self) -> Vec<Node> {
        let is_work = |node: &Node| matches!(node, Node::Control { .. } | Node::Group { .. });
        let tree = self.run.map(|run| run.tree);
        let nodes = self.trees.iter().find(|&(_, id)| Some(*id) == tree);
        let nodes = nodes.map_or(&[][..], |(nodes, _)| nodes);
        let innermost = nodes.iter().enumerate().filter(|&(at, (depth, node))| {
            let mut below = nodes[at + 1..]
                .iter()
                .take_while(|(below, _)| below > depth);
            is_work(node) && !below.any(|(_, node)| is_work(node))
        });
        innermost.map(|(_, &(_, node))| node).collect()
    }
}
