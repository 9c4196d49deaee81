//! Warnings of cells, with the groups that use them.
//!
//! Whoever simulates a design knows cells and cycles; which groups are active in a cycle is known only here.

use std::fmt::Write as _;

use petal_metadata::{ComponentId, GroupId, Id as _, Metadata, Origin};

use super::Engine;
use crate::labels::{FrameLabels, actual_path, cell_path};
use crate::model::{Event, Instance, Node, Warning};

impl Engine<'_> {
    /// Hands out the warnings of cycles up to the latest one, of which the events begin with this one.
    pub(super) fn warn(&mut self, warnings: &mut Vec<Warning>, mut first: usize) {
        let passed = |warning: &mut Warning| warning.cycle.cycles() < self.emitter.cycle;
        for mut warning in warnings.extract_if(.., passed) {
            let is_latest = warning.cycle.cycles() + 1 == self.emitter.cycle;
            let tree = self.current.map(|run| run.tree).filter(|_| is_latest);
            let tree = self.trees.iter().find(|(_, number)| Some(**number) == tree);
            if let Some((nodes, _)) = tree {
                let instances = self.emitter.all_instances();
                name_users(self.metadata, &instances, nodes, &mut warning);
            }
            let event = Event::Warning(Box::new(warning));
            self.emitter.events.insert(first, event);
            first += 1;
        }
    }

    /// Hands out the warnings of the cycle after the last, in which a design may have stopped. Its call tree is no part of the
    /// run.
    pub(super) fn warn_of_end(&mut self, warnings: &mut Vec<Warning>) {
        if warnings.is_empty() {
            return;
        }
        let told = self.emitter.events.len();
        self.catch_up();
        self.step();
        self.programs.advance(&self.now);
        let nodes = self.built().nodes;
        let instances = self.emitter.all_instances();
        self.emitter.events.truncate(told);
        for mut warning in warnings.drain(..) {
            name_users(self.metadata, &instances, &nodes, &mut warning);
            let event = Event::Warning(Box::new(warning));
            self.emitter.events.push(event);
        }
    }
}

/// Adds the groups that use a cell to a warning of it.
fn name_users(
    metadata: &Metadata,
    instances: &[Instance],
    nodes: &[(usize, Node)],
    warning: &mut Warning,
) {
    let mut above: Vec<(usize, Node)> = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    for &(depth, node) in nodes {
        above.truncate(depth);
        above.push((depth, node));
        let Node::Primitive { cell, .. } = node else {
            continue;
        };
        let holder = above.iter().rev().find_map(|(_, node)| match node {
            Node::Cell { instance, .. } => Some(*instance),
            _ => None,
        });
        let path = actual_path(metadata, instances, node)
            .or_else(|| Some(cell_path(metadata, instances, holder?, cell)));
        if path.as_ref() != Some(&warning.signal) {
            continue;
        }
        let inside = above.iter().rev();
        let inside = inside.take_while(|(_, node)| !matches!(node, Node::Cell { .. }));
        let mut around = inside.filter_map(|(_, node)| match *node {
            Node::Group {
                component, group, ..
            } => Some((component, group)),
            _ => None,
        });
        // A part of a group has a name that nobody has written.
        let is_written = |&(component, group): &(ComponentId, GroupId)| {
            let groups = &metadata.component(component).groups;
            groups[group.index()].origin != Origin::Compiler
        };
        let group = around.clone().find(is_written).or_else(|| around.next());
        if let Some((component, group)) = group {
            let labels = FrameLabels::new(metadata);
            let name = format!("`{}`", labels.group(component, group));
            if !groups.contains(&name) {
                groups.push(name);
            }
        }
    }
    let _ = match &groups[..] {
        [] => Ok(()),
        [group] => write!(warning.text, "; the group {group} uses it"),
        groups => write!(warning.text, "; the groups {} use it", groups.join(", ")),
    };
}
