//! Call trees with the combinational primitives that continuous assignments drive.
//!
//! They compute in every cycle in which their cell is active, so a trace leaves them out: as leaves they
//! would hide cycles of pure control, and take most of the width of flame graphs.

use petal_metadata::{ComponentId, Id, Metadata};

use crate::model::{CallTree, Instance, Node};

/// `tree` with these primitives below a [`Node::Continuous`] of each active cell that has any: the one
/// that is there already, or a new one in front of what else is below the cell. The cell that a `ref`
/// cell stands for is left out.
pub fn with_continuous(metadata: &Metadata, instances: &[Instance], tree: &CallTree) -> CallTree {
    let mut nodes: Vec<(usize, Node)> = Vec::with_capacity(tree.len());
    let is_continuous = |node: Node| matches!(node, Node::Continuous { .. });
    let primitives = |component: ComponentId, depth: usize| {
        let cells = metadata.component(component).continuous.iter();
        cells.map(move |&cell| {
            let primitive = Node::Primitive {
                component,
                cell,
                actual: None,
            };
            (depth, primitive)
        })
    };
    for ((depth, node), (id, _)) in tree.preorder().zip(tree.nodes()) {
        nodes.push((depth, node));
        match node {
            Node::Continuous { component } => nodes.extend(primitives(component, depth + 1)),
            Node::Cell { instance, .. } => {
                let component = instances[instance.index()].component;
                let mut below = tree.children(id).into_iter();
                if metadata.component(component).continuous.is_empty()
                    || below.any(|child| is_continuous(tree.node(child)))
                {
                    continue;
                }
                nodes.push((depth + 1, Node::Continuous { component }));
                nodes.extend(primitives(component, depth + 2));
            }
            _ => {}
        }
    }
    CallTree::from_preorder(nodes).expect("what is added is right below what was there")
}
