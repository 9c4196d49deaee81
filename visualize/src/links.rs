//! Which nodes of call trees are but links of a call, so that pictures need no row for them.

use petal_metadata::{ControlKind, Id, Metadata, Origin};
use petal_reconstruct::Node;

/// Whether a node only leads to the cell that it calls: it invokes it, or is the group that the compiler made for that.
pub(crate) fn is_link(metadata: &Metadata, node: Node) -> bool {
    match node {
        Node::Control { component, control } => {
            let statement = metadata.component(component).node(control);
            statement.kind.dynamic() == ControlKind::Invoke
        }
        Node::Group {
            component, group, ..
        } => metadata.component(component).groups[group.index()].origin == Origin::Compiler,
        Node::Cell { .. } | Node::Primitive { .. } | Node::Continuous { .. } => false,
    }
}
