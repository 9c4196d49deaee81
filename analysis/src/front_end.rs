//! The lines of a front end's files that the nodes of call trees come from.
//!
//! Owns the rule which line stands for what: a control node's is that of the statement; a group has two, that
//! of the enable that runs it and that of its definition; so has a cell, where it is made and where its
//! component is defined. A primitive works for the line of its group, and so does a part of a group that the compiler
//! split. What has no line gets none of its neighbour's.

use std::fmt;

use petal_metadata::{
    CellId, Component, ComponentId, ControlId, FrontEndFileId, GroupId, Id, Metadata, Origin,
    Position, PositionId, labels,
};
use petal_reconstruct::{Instance, InstanceId, Node};
use serde::{Deserialize, Serialize};

/// A line of a front end's file, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
pub struct LineFrame {
    /// The line.
    pub line: FrontEndLine,
    /// What of the program is there.
    pub part: ProgramPart,
    /// Such as `while`, `group read` or `cell queue`.
    pub what: String,
}

/// What of a component cell a line stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramPart {
    /// The component.
    Component,
    /// The cell itself, where it is made.
    Cell(ComponentId, CellId),
    /// A statement.
    Statement(ControlId),
    /// A group, where it is defined.
    Group(GroupId),
}

/// What the parts of a component are called in Calyx.
pub struct PartNames<'a> {
    metadata: &'a Metadata,
    component: &'a Component,
    places: Vec<String>,
    groups: Vec<String>,
}

impl<'a> PartNames<'a> {
    /// Those of a component.
    pub fn new(metadata: &'a Metadata, component: &'a Component) -> Self {
        Self {
            metadata,
            component,
            places: labels::control_places(metadata, component),
            groups: labels::group_labels(component),
        }
    }

    /// `while@L22`, `read@L23` for an enable, `group read`, `cell queue` or `component main`.
    pub fn name(&self, part: ProgramPart) -> String {
        match part {
            ProgramPart::Component => format!("component {}", self.component.name),
            ProgramPart::Cell(holder, cell) => {
                format!("cell {}", self.metadata.component(holder).cell(cell).name)
            }
            ProgramPart::Statement(statement) => {
                let node = self.component.node(statement);
                let group = node.group.map(|group| &*self.groups[group.index()]);
                let name = group.unwrap_or(node.kind.keyword());
                format!("{name}@{}", self.places[statement.index()])
            }
            ProgramPart::Group(group) => format!("group {}", self.groups[group.index()]),
        }
    }
}

/// Tells which lines nodes come from.
#[derive(Debug)]
pub struct FrontEndLines<'a> {
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
        let list = self.list(lines);
        list.map_or(String::new(), |list| format!(" {{{list}}}"))
    }

    /// Lines as a list, `queue.py:12, queue.py:3`; `None` if there are none.
    pub fn list(&self, lines: impl Iterator<Item = FrontEndLine>) -> Option<String> {
        let labels = self.labels(lines);
        (!labels.is_empty()).then(|| labels.join(", "))
    }

    /// Those that are lines of a file, each as `queue.py:12`.
    pub fn labels(&self, lines: impl Iterator<Item = FrontEndLine>) -> Vec<String> {
        let lines = lines.filter(|line| matches!(line, FrontEndLine::At(..)));
        let mut labels: Vec<String> = lines.map(|line| self.label(line).to_string()).collect();
        labels.dedup();
        labels
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
                    part: ProgramPart::Statement(control),
                    what: node.kind.keyword().to_owned(),
                }]
            }
            Node::Group {
                component,
                group,
                run,
            } => {
                let component = self.metadata.component(component);
                let whole = component.run(run).group;
                if group != whole {
                    return vec![];
                }
                let definition = &component.groups[group.index()];
                let frame = |line, part, what: &str| LineFrame {
                    line,
                    part,
                    what: format!("{what} {}", definition.name),
                };
                let by = component.run(run).control;
                let enable = by.and_then(|id| {
                    let line = self.line(&component.node(id).positions)?;
                    Some(frame(line, ProgramPart::Statement(id), "enable"))
                });
                let of_group = |line| frame(line, ProgramPart::Group(group), "group");
                let defined = self.line(&definition.positions).map(of_group);
                let frames: Vec<LineFrame> = enable.into_iter().chain(defined).collect();
                if !frames.is_empty() {
                    return frames;
                }
                vec![of_group(match definition.origin {
                    Origin::Compiler => FrontEndLine::Compiler,
                    Origin::Source | Origin::Inlined(_) => FrontEndLine::Untold,
                })]
            }
            Node::Primitive { .. } | Node::Continuous { .. } => vec![],
        }
    }

    /// The line where a primitive's cell is made; of a `ref` cell, where that is made which it stands for.
    pub fn of_primitive(&self, node: Node, instances: &[Instance]) -> Option<FrontEndLine> {
        let Node::Primitive {
            component,
            cell,
            actual,
        } = node
        else {
            return None;
        };
        let (component, cell) = match actual {
            Some((holder, cell)) => (instances[holder.index()].component, cell),
            None => (component, cell),
        };
        self.line(&self.metadata.component(component).cell(cell).positions)
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
        let made = cell.and_then(|(holder, id)| {
            let cell = self.metadata.component(holder).cell(id);
            Some(LineFrame {
                line: self.line(&cell.positions)?,
                part: ProgramPart::Cell(holder, id),
                what: format!("cell {}", cell.name),
            })
        });
        let component = self.metadata.component(component);
        let of_component = |line| LineFrame {
            line,
            part: ProgramPart::Component,
            what: format!("component {}", component.name),
        };
        let defined = self.line(&component.positions).map(of_component);
        let frames: Vec<LineFrame> = made.into_iter().chain(defined).collect();
        if frames.is_empty() {
            return vec![of_component(FrontEndLine::Untold)];
        }
        frames
    }

    /// The line of what has these positions.
    pub fn line(&self, positions: &[PositionId]) -> Option<FrontEndLine> {
        self.metadata.front_end.front(positions).map(Into::into)
    }

    /// The lines of a statement: its own, where it is used, then those where the groups are defined that it runs itself, each once.
    pub fn of_statement(&self, component: &Component, statement: ControlId) -> Vec<FrontEndLine> {
        let used = self.line(&component.node(statement).positions);
        let runs = component.runs.iter();
        let runs = runs.filter(|run| run.control == Some(statement));
        let defined = runs.filter_map(|run| self.line(&component.group(run.group).positions));
        let mut lines: Vec<FrontEndLine> = Vec::new();
        for line in used.into_iter().chain(defined) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The line of what a cell's cycle is charged for: a statement of its component, or the component itself.
    pub fn of_charge(
        &self,
        instance: InstanceId,
        statement: Option<ControlId>,
        instances: &[Instance],
    ) -> (FrontEndLine, ProgramPart) {
        let component = self
            .metadata
            .component(instances[instance.index()].component);
        let (positions, part) = match statement {
            Some(id) => (&component.node(id).positions, ProgramPart::Statement(id)),
            None => (&component.positions, ProgramPart::Component),
        };
        (self.line(positions).unwrap_or(FrontEndLine::Untold), part)
    }

    /// A line with its text, if that is known: `queue.py:12 while_(…)`.
    pub fn with_text(&self, file: FrontEndFileId, line: u32) -> String {
        let label = self.label(FrontEndLine::At(file, line));
        let text = self.metadata.front_end.file(file).line(line);
        let text = format!("{label} {}", text.unwrap_or_default());
        text.trim_end().to_owned()
    }

    /// The beginning of a line's text, if it is there.
    pub fn text(&self, line: FrontEndLine) -> Option<String> {
        const LONGEST: usize = 40;
        let FrontEndLine::At(file, line) = line else {
            return None;
        };
        let text = self.metadata.front_end.file(file).line(line)?;
        let text: String = text.chars().take(LONGEST).collect();
        (!text.is_empty()).then_some(text)
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
pub struct Label<'a> {
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
