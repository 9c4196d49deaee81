//! What is active at once: the arms of `par`s as threads, each with the call tree above it as its stack.

use petal_analysis::elements::Element;
use petal_metadata::{ControlKind, Id as _, RunRole, ThreadId};
use petal_reconstruct::{CallTree, InstanceId, Node, NodeId, instance_path};

use crate::recording::Recording;
use crate::subjects::{Lines, Subjects};

/// A node of a call tree as a frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its number in the call tree, from the root on.
    pub number: usize,
    /// What it is called.
    pub label: String,
    /// The component cell that holds it, or that it is.
    pub instance: InstanceId,
    /// Since which cycle it is active; `None` for what has no activations of its own.
    pub since: Option<u64>,
    pub(crate) element: Option<Element>,
    pub(crate) lines: Vec<Lines>,
}

/// Something that goes on beside others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The arms of `par`s that it is in, from outside in, each with the component cell; and which it is of those that share them.
    pub key: (Vec<(InstanceId, ThreadId)>, usize),
    /// What it is called: `main`, or `main.par@L53 arm 2`.
    pub name: String,
    /// Its frames, the innermost first.
    pub frames: Vec<Frame>,
}

/// All frames of the call tree of a cycle, in preorder, each with its depth; none if it was not kept.
pub(crate) fn frames(
    recording: &Recording,
    subjects: &Subjects,
    cycle: u64,
) -> Vec<(usize, Frame)> {
    let Some(tree) = recording.tree(cycle) else {
        return Vec::new();
    };
    let frames = tree.with_holders().enumerate();
    frames
        .map(|(number, (depth, node, holder))| {
            let element = Element::of(node, holder);
            let id = element.and_then(|of| recording.elements().id(of));
            let of_node = match node {
                Node::Cell { instance, .. } => Some(instance),
                _ => holder,
            };
            let frame = Frame {
                number,
                label: recording
                    .labels()
                    .label(node, recording.instances())
                    .to_owned(),
                // Main is around everything.
                instance: of_node.unwrap_or(InstanceId::from_index(0)),
                since: element.and_then(|of| recording.since(of, cycle)),
                element,
                lines: id.map_or_else(Vec::new, |id| subjects.lines(id).to_vec()),
            };
            (depth, frame)
        })
        .collect()
}

/// Whether a node may be the innermost of a stack: no primitive.
fn is_frame(tree: &CallTree, id: NodeId) -> bool {
    !matches!(tree.node(id), Node::Primitive { .. })
}

/// The threads of a cycle, in the order of the call tree.
pub(crate) fn threads(recording: &Recording, subjects: &Subjects, cycle: u64) -> Vec<Thread> {
    let Some(tree) = recording.tree(cycle) else {
        return Vec::new();
    };
    let frames = frames(recording, subjects, cycle);
    let innermost = tree.nodes().map(|(id, _)| id).filter(|&id| {
        is_frame(tree, id) && !tree.children(id).iter().any(|&child| is_frame(tree, child))
    });
    let mut threads: Vec<Thread> = Vec::new();
    for id in innermost {
        let path = tree.path(id);
        let (arms, name) = arms(recording, tree, &path);
        let alike = threads.iter().filter(|of| of.key.0 == arms).count();
        let stack = path.iter().rev();
        threads.push(Thread {
            name: match alike {
                0 => name,
                more => format!("{name} #{}", more + 1),
            },
            key: (arms, alike),
            frames: stack.map(|id| frames[id.index()].1.clone()).collect(),
        });
    }
    threads
}

/// The arms of `par`s along a path, and what the innermost is called.
fn arms(
    recording: &Recording,
    tree: &CallTree,
    path: &[NodeId],
) -> (Vec<(InstanceId, ThreadId)>, String) {
    let metadata = recording.metadata();
    let mut arms = Vec::new();
    let mut name = metadata.component(metadata.main).name.clone();
    let mut instance = InstanceId::from_index(0);
    for pair in path.windows(2) {
        if let Node::Cell { instance: this, .. } = tree.node(pair[0]) {
            instance = this;
        }
        let Node::Control { component, control } = tree.node(pair[0]) else {
            continue;
        };
        let of = metadata.component(component);
        let is_par = matches!(
            of.node(control).kind,
            ControlKind::Par | ControlKind::StaticPar
        );
        let thread = match tree.node(pair[1]) {
            Node::Control { control, .. } => Some(of.node(control).thread),
            Node::Group { run, .. } if of.run(run).role != RunRole::Condition => {
                Some(of.run(run).thread)
            }
            _ => None,
        };
        if let Some(thread) = thread.filter(|_| is_par) {
            arms.push((instance, thread));
            let arm = of.threads[thread.index()].arm.map_or(0, |(_, arm)| arm);
            let cell = instance_path(metadata, recording.instances(), instance);
            let par = recording.labels().control(component, control);
            name = format!("{cell}.{par} arm {}", arm + 1);
        }
    }
    (arms, name)
}
