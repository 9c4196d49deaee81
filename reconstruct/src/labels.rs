//! How nodes of call trees are written in every output.

use petal_metadata::{CellId, ComponentId, ControlId, GroupId, Id, Metadata, Origin, labels};

use crate::model::{CallTree, Charge, Instance, InstanceId, Node};

/// The kind of a node, as far as outputs show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrameKind {
    /// A component cell.
    Cell,
    /// A control node.
    Control,
    /// A group, or the continuous assignments.
    Group,
    /// A primitive.
    Primitive,
}

impl FrameKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cell => "cell",
            Self::Control => "control",
            Self::Group => "group",
            Self::Primitive => "primitive",
        }
    }
}

/// The label of every node that a design can have.
#[derive(Debug)]
pub struct FrameLabels {
    components: Vec<ComponentLabels>,
    main: ComponentId,
}

#[derive(Debug)]
struct ComponentLabels {
    name: String,
    control: Vec<String>,
    groups: Vec<String>,
    /// Those of `groups`, without what made them.
    names: Vec<String>,
    cells: Vec<String>,
}

/// The path of an instance in the design: `main.a.b`.
pub fn instance_path(metadata: &Metadata, instances: &[Instance], id: InstanceId) -> String {
    match instances[id.index()].parent {
        None => metadata.component(metadata.main).name.clone(),
        Some((holder, cell)) => cell_path(metadata, instances, holder, cell),
    }
}

/// The path of a cell in the design: `main.a.x`.
pub(crate) fn cell_path(
    metadata: &Metadata,
    instances: &[Instance],
    holder: InstanceId,
    cell: CellId,
) -> String {
    let component = metadata.component(instances[holder.index()].component);
    let path = instance_path(metadata, instances, holder);
    format!("{path}.{}", component.cell(cell).name)
}

/// The path of the cell that a node stands for, if the node is a `ref` cell.
pub fn actual_path(metadata: &Metadata, instances: &[Instance], node: Node) -> Option<String> {
    match node {
        Node::Cell {
            instance,
            formal: Some(_),
            ..
        } => Some(instance_path(metadata, instances, instance)),
        Node::Primitive {
            actual: Some((holder, cell)),
            ..
        } => Some(cell_path(metadata, instances, holder, cell)),
        _ => None,
    }
}

impl FrameLabels {
    /// The labels of a design.
    pub fn new(metadata: &Metadata) -> Self {
        let components = metadata
            .components
            .iter()
            .map(|component| ComponentLabels {
                name: component.name.clone(),
                control: labels::control_labels(metadata, component),
                groups: component
                    .groups
                    .iter()
                    .zip(labels::group_labels(component))
                    .map(|(group, label)| match group.origin {
                        Origin::Compiler => format!("{label} (compiler)"),
                        Origin::Source | Origin::Inlined(_) => label,
                    })
                    .collect(),
                names: labels::group_labels(component),
                cells: (0..component.cells.len())
                    .map(|cell| labels::cell_label(metadata, component, Id::from_index(cell)))
                    .collect(),
            })
            .collect();
        Self {
            components,
            main: metadata.main,
        }
    }

    /// The label of an instance: of its cell, or the component's name for main.
    pub fn instance(&self, id: InstanceId, instances: &[Instance]) -> &str {
        let Some((parent, cell)) = instances[id.index()].parent else {
            return &self.components[self.main.index()].name;
        };
        let holder = instances[parent.index()].component;
        &self.components[holder.index()].cells[cell.index()]
    }

    /// The label of a node of a valid tree.
    pub fn label(&self, node: Node, instances: &[Instance]) -> &str {
        match node {
            Node::Primitive {
                component, cell, ..
            }
            | Node::Cell {
                formal: Some((component, cell)),
                ..
            } => &self.components[component.index()].cells[cell.index()],
            Node::Cell { instance, .. } => self.instance(instance, instances),
            Node::Control { component, control } => self.control(component, control),
            Node::Group {
                component, group, ..
            } => &self.components[component.index()].groups[group.index()],
            Node::Continuous { .. } => "continuous assignments",
        }
    }

    /// The label of a control node.
    pub fn control(&self, component: ComponentId, node: ControlId) -> &str {
        &self.components[component.index()].control[node.index()]
    }

    /// The name of a group, without what made it.
    pub fn group(&self, component: ComponentId, group: GroupId) -> &str {
        &self.components[component.index()].names[group.index()]
    }

    /// What a cell of `component` moves along, and for which statement: `FSM update of while@L12`.
    pub fn charge(&self, component: ComponentId, charge: Charge) -> String {
        match charge.statement {
            Some(statement) => {
                format!(
                    "{} of {}",
                    charge.kind.title(),
                    self.control(component, statement)
                )
            }
            None => charge.kind.title().to_owned(),
        }
    }

    /// The kind of a node.
    pub fn kind(node: Node) -> FrameKind {
        match node {
            Node::Cell { .. } => FrameKind::Cell,
            Node::Control { .. } => FrameKind::Control,
            Node::Group { .. } | Node::Continuous { .. } => FrameKind::Group,
            Node::Primitive { .. } => FrameKind::Primitive,
        }
    }

    /// A tree as text: a line for each node, children indented by two spaces.
    pub fn render(&self, tree: &CallTree, instances: &[Instance]) -> String {
        let mut text = String::new();
        for (depth, node) in tree.preorder() {
            text.push_str(&"  ".repeat(depth));
            text.push_str(self.label(node, instances));
            text.push('\n');
        }
        text
    }
}
