//! The lines of a front end's files that the nodes of call trees come from.
//!
//! Owns the rule which line stands for what: a control node's is that of the statement; a group has two, that
//! of the enable that runs it and that of its definition; so has a cell, where it is made and where its
//! component is defined. A primitive works for the line of its group. What has no line gets none of its
//! neighbour's.

use std::fmt;

use petal_metadata::{
    CellId, ComponentId, ControlId, FrontEndFileId, Id, Metadata, Origin, Position, PositionId,
};
use petal_reconstruct::{CallTree, Instance, InstanceId, Node, NodeId};

/// A line of a front end's file, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrontEndLine {
    /// A line, counted from 1.
    At(FrontEndFileId, u32),
    /// The design tells of no line for what is in its source.
    Untold,
    /// The compiler made it.
    Compiler,
}

impl From<Position> for FrontEndLine {
    fn from(position: Position) -> Self {
        Self::At(position.file, position.line)
    }
}

/// A line with what is on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineFrame {
    pub line: FrontEndLine,
    /// Such as `while`, `group read` or `cell queue`.
    pub what: String,
}

/// Tells which lines nodes come from.
#[derive(Debug)]
pub(crate) struct FrontEndLines<'a> {
    metadata: &'a Metadata,
}

impl<'a> FrontEndLines<'a> {
    /// Of a design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self { metadata }
    }

    /// What to write behind the Calyx name of a node with these frames: ` {queue.py:12}`.
    pub fn places(&self, frames: &[LineFrame]) -> String {
        let lines = frames.iter().map(|frame| frame.line);
        let lines = lines.filter(|line| matches!(line, FrontEndLine::At(..)));
        let mut labels: Vec<String> = lines.map(|line| self.label(line).to_string()).collect();
        labels.dedup();
        if labels.is_empty() {
            return String::new();
        }
        format!(" {{{}}}", labels.join(", "))
    }

    /// The frames of a node, outermost first: none for what works for the line above it.
    pub fn frames(&self, node: Node, instances: &[Instance]) -> Vec<LineFrame> {
        match node {
            Node::Cell {
                instance, formal, ..
            } => self.of_cell(instance, formal, instances),
            Node::Control { component, control } => {
                let node = self.metadata.component(component).node(control);
                let line = self.line(&node.positions);
                vec![LineFrame {
                    line: line.unwrap_or(FrontEndLine::Untold),
                    what: node.kind.keyword().to_owned(),
                }]
            }
            Node::Group {
                component,
                group,
                run,
            } => {
                let component = self.metadata.component(component);
                let definition = &component.groups[group.index()];
                let by = component.run(run).control.map(|id| component.node(id));
                let enable = by.and_then(|node| self.line(&node.positions));
                let frame = |what: &str| {
                    let what = format!("{what} {}", definition.name);
                    move |line| LineFrame { line, what }
                };
                let frames = [
                    enable.map(frame("enable")),
                    self.line(&definition.positions).map(frame("group")),
                ];
                let frames: Vec<LineFrame> = frames.into_iter().flatten().collect();
                if !frames.is_empty() {
                    return frames;
                }
                vec![frame("group")(match definition.origin {
                    Origin::Compiler => FrontEndLine::Compiler,
                    Origin::Source | Origin::Inlined(_) => FrontEndLine::Untold,
                })]
            }
            Node::Primitive { .. } | Node::Continuous { .. } => vec![],
        }
    }

    fn of_cell(
        &self,
        instance: InstanceId,
        formal: Option<(ComponentId, CellId)>,
        instances: &[Instance],
    ) -> Vec<LineFrame> {
        let Instance { component, parent } = instances[instance.index()];
        let cell = formal.or_else(|| {
            let (holder, cell) = parent?;
            Some((instances[holder.index()].component, cell))
        });
        let made = cell.and_then(|(holder, cell)| {
            let cell = self.metadata.component(holder).cell(cell);
            Some(LineFrame {
                line: self.line(&cell.positions)?,
                what: format!("cell {}", cell.name),
            })
        });
        let component = self.metadata.component(component);
        let definition = self.line(&component.positions).map(|line| LineFrame {
            line,
            what: format!("component {}", component.name),
        });
        let frames: Vec<LineFrame> = made.into_iter().chain(definition).collect();
        if frames.is_empty() {
            return vec![LineFrame {
                line: FrontEndLine::Untold,
                what: format!("component {}", component.name),
            }];
        }
        frames
    }

    /// The line of what has these positions.
    pub fn line(&self, positions: &[PositionId]) -> Option<FrontEndLine> {
        self.metadata.front_end.front(positions).map(Into::into)
    }

    /// The line of what a cell's cycle is charged for: a statement of its component, or the component itself.
    pub fn of_charge(
        &self,
        instance: InstanceId,
        statement: Option<ControlId>,
        instances: &[Instance],
    ) -> FrontEndLine {
        let component = self
            .metadata
            .component(instances[instance.index()].component);
        let positions = match statement {
            Some(statement) => &component.node(statement).positions,
            None => &component.positions,
        };
        self.line(positions).unwrap_or(FrontEndLine::Untold)
    }

    /// The innermost line of each node of a tree, by the node's index.
    pub fn innermost(&self, tree: &CallTree, instances: &[Instance]) -> Vec<FrontEndLine> {
        let mut innermost: Vec<FrontEndLine> = Vec::with_capacity(tree.len());
        for (id, node) in tree.nodes() {
            let own = self.frames(node, instances).pop().map(|frame| frame.line);
            let above = || {
                tree.parent(id)
                    .map(|parent: NodeId| innermost[parent.index()])
            };
            innermost.push(own.or_else(above).unwrap_or(FrontEndLine::Untold));
        }
        innermost
    }

    /// `queue.py:12` and the like.
    pub fn label(&self, line: FrontEndLine) -> Label<'a> {
        Label {
            metadata: self.metadata,
            line,
        }
    }
}

/// A line as outputs write it: `queue.py:12`, with the whole path where two files have one name, `(no line)` or
/// `(compiler)`.
pub(crate) struct Label<'a> {
    metadata: &'a Metadata,
    line: FrontEndLine,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            FrontEndLine::At(file, line) => {
                let name = front_end_file(self.metadata, file);
                write!(f, "{name}:{line}")
            }
            FrontEndLine::Untold => f.write_str("(no line)"),
            FrontEndLine::Compiler => f.write_str("(compiler)"),
        }
    }
}

/// The name of a front end's file: its whole path where another one has the same name.
pub fn front_end_file(metadata: &Metadata, id: FrontEndFileId) -> &str {
    let file = metadata.front_end.file(id);
    let namesakes = metadata.front_end.files.iter();
    match namesakes
        .filter(|other| other.name() == file.name())
        .count()
    {
        1 => file.name(),
        _ => &file.path,
    }
}
