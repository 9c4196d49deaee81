//! The frames of a run and the places in the design that they stand for: all call trees laid on
//! top of each other, with weights.

use std::collections::HashMap;

use petal_metadata::{CellId, ComponentId, ControlId, GroupId, Id, Metadata, Span};
use petal_reconstruct::{
    Activity, CallTree, FrameLabels, Instance, InstanceId, Node, Overhead, actual_path,
};
use serde::Serialize;

use super::place::{SourceLine, front_end_line, source_line, written_line};
use super::tables::{Row, Tables};
use crate::colors::Meaning;
use crate::links::is_link;
use petal_analysis::front_end::{FrontEndLine, FrontEndLines, LineFrame};
use petal_analysis::leaves::overhead_label;
use petal_analysis::leaves::{Leaf, OverheadLeaf, Weighting, leaves, units};
use petal_analysis::ledger::Class;
use petal_analysis::order::Packed;
use petal_analysis::profile::Profile;
use petal_analysis::sources::Sources;
use petal_table::RowId;

/// Bytes that the compressed trees may take.
const MAX_BYTES: usize = 1 << 20;

/// What the parts of call trees are, and where they come from.
#[derive(Debug, Serialize)]
pub(crate) struct Frame {
    kind: &'static str,
    label: String,
    /// The first words of its statement, without the keyword.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    /// What its colour means; that of a primitive depends on what it works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    paint: Option<String>,
    /// The cell that a `ref` cell stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<String>,
    /// The line that the frame stands for, and others that have to do with it.
    places: Vec<SourceLine>,
    /// The rows of tables that tell of it.
    rows: Vec<Row>,
    /// Its lines of the front end, outermost first: indices into those of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<usize>,
    /// Whether it is but a link of a call: what invokes a cell, and the group that the compiler made for that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    link: bool,
}

/// A line of the front end's files with what is on it: a frame of a flame graph of lines.
#[derive(Debug, Serialize)]
pub(crate) struct LineOfFrame {
    /// The line; `None` for what has none, which is the design's or the compiler's.
    place: Option<SourceLine>,
    /// `queue.py:12`, `(no line)` or `(compiler)`.
    label: String,
    /// What is there: `enable write`.
    what: String,
}

/// A kind of overhead, or of a cell's control, and the statement that is the reason.
#[derive(Debug, Serialize)]
pub(crate) struct Reason {
    kind: &'static str,
    /// The statement that is charged.
    statement: Option<String>,
    place: Option<SourceLine>,
}

/// All call trees of a run laid on top of each other. Node 0 is the root; the children of a node have
/// higher numbers than it, by when they first ran.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Nodes {
    /// The node above; the root names itself.
    parents: Vec<usize>,
    /// An index into the frames.
    frames: Vec<usize>,
    /// Cycles in which the node is a leaf, where every leaf of a cycle counts 1.
    leaves: Vec<u64>,
    /// The same where the leaves of a cycle share it, and a cycle of overhead is that of its overhead.
    scaled: Vec<f64>,
    /// Cycles in which it is active.
    active: Vec<u64>,
}

/// What a frame stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FrameKey {
    /// A component cell, and the `ref` cell by which it is called.
    Cell(InstanceId, Option<(ComponentId, CellId)>),
    /// A group: as a control statement runs it, or as another group does.
    Group(ComponentId, GroupId, Option<ControlId>),
    /// A node that stands for itself wherever it is.
    Other(Node),
    /// Overhead of a kind that is charged to a statement.
    Overhead(Overhead, ComponentId, Option<ControlId>),
}

/// Lays trees on top of each other.
pub(crate) struct Frames<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    tables: &'a Tables,
    instances: &'a [Instance],
    ids: HashMap<FrameKey, usize>,
    children: HashMap<(Option<usize>, usize), usize>,
    sources: Sources<'a>,
    reason_ids: HashMap<(ComponentId, petal_reconstruct::Charge), usize>,
    line_ids: HashMap<(FrontEndLine, String), usize>,
    pub lines: Vec<LineOfFrame>,
    pub list: Vec<Frame>,
    pub reasons: Vec<Reason>,
    pub nodes: Nodes,
}

impl<'a> Frames<'a> {
    /// The frames of the trees in `shown`. The second result are the trees, one after the other:
    /// class, number of nodes, and the nodes in preorder, a cell with its activity, and the node of its
    /// overhead, or 0; classes and activities are 0 for computation (a busy cell), 1 for conditions, and else 2 and an
    /// index into the reasons.
    /// `None` if they do not fit. `profile` has the same trees with all their nodes.
    pub fn new(
        metadata: &'a Metadata,
        tables: &'a Tables,
        profile: &Profile,
        shown: &'a Profile,
    ) -> (Self, Option<Vec<u8>>) {
        let mut frames = Self {
            metadata,
            labels: FrameLabels::new(metadata),
            tables,
            instances: shown.instances(),
            ids: HashMap::new(),
            children: HashMap::new(),
            sources: Sources::new(metadata),
            reason_ids: HashMap::new(),
            line_ids: HashMap::new(),
            lines: Vec::new(),
            list: Vec::new(),
            reasons: Vec::new(),
            nodes: Nodes::default(),
        };
        let units = units(shown, Weighting::Scaled);
        let mut scaled: Vec<u128> = Vec::new();
        let mut packed = Packed::new(MAX_BYTES);
        let is_whole = std::ptr::eq(profile, shown);
        for ((whole, _), (tree, cycles)) in profile.trees().zip(shown.trees()) {
            let class = Class::of(metadata, whole);
            let mut overhead = OverheadLeaf::new(metadata, frames.instances, tree, class);
            if let Some(leaf) = overhead.as_mut().filter(|_| !is_whole) {
                // What the view leaves out stays left out.
                leaf.missing.clear();
            }
            let nodes = frames.lay(tree, class, &mut packed);
            let mut active = nodes.clone();
            let end = overhead.as_ref().map(|leaf| {
                let above = nodes[leaf.above.index()];
                frames.overhead(above, leaf, class, &mut active)
            });
            packed.number(end.unwrap_or(0) as u64);
            let count = frames.nodes.frames.len();
            frames.nodes.leaves.resize(count, 0);
            frames.nodes.active.resize(count, 0);
            scaled.resize(count, 0);
            // Nodes of a tree that are one here are active once.
            active.sort_unstable();
            active.dedup();
            for node in active {
                frames.nodes.active[node] += cycles;
            }
            let at = |leaf| match leaf {
                Leaf::Node(leaf) => Some(nodes[leaf.index()]),
                Leaf::Overhead => end,
            };
            let overhead = overhead.as_ref();
            for (leaf, _) in leaves(tree, overhead, Weighting::Leaves, 1) {
                if let Some(node) = at(leaf) {
                    frames.nodes.leaves[node] += cycles;
                }
            }
            let whole = u128::from(cycles) * units;
            for (leaf, share) in leaves(tree, overhead, Weighting::Scaled, whole) {
                if let Some(node) = at(leaf) {
                    scaled[node] += share;
                }
            }
        }
        frames.nodes.scaled = scaled
            .into_iter()
            .map(|share| ratio(share, units))
            .collect();
        (frames, packed.finish())
    }

    /// Lays a tree on those before, and returns for each of its nodes where it came to lie.
    fn lay(&mut self, tree: &CallTree, class: Class, packed: &mut Packed) -> Vec<usize> {
        packed.number(self.class(class) as u64);
        packed.number(tree.len() as u64);
        let mut nodes = Vec::with_capacity(tree.len());
        for (id, node) in tree.nodes() {
            let frame = self.frame(node);
            let parent = tree.parent(id).map(|parent| nodes[parent.index()]);
            let at = self.node(parent, frame);
            nodes.push(at);
            packed.number(at as u64);
            if let Node::Cell {
                instance, activity, ..
            } = node
            {
                let activity = self.class(match activity {
                    Activity::Useful => Class::Computation,
                    Activity::Condition => Class::Conditions,
                    Activity::Overhead(charge) => Class::Overhead(instance, charge),
                });
                packed.number(activity as u64);
            }
        }
        nodes
    }

    /// The node with this frame below `parent`.
    fn node(&mut self, parent: Option<usize>, frame: usize) -> usize {
        let next = self.nodes.frames.len();
        let at = *self.children.entry((parent, frame)).or_insert(next);
        if at == next {
            self.nodes.frames.push(frame);
            self.nodes.parents.push(parent.unwrap_or(at));
        }
        at
    }

    /// The node of the overhead of a cycle. All nodes from `above` down to it are appended to `active`.
    fn overhead(
        &mut self,
        above: usize,
        leaf: &OverheadLeaf,
        class: Class,
        active: &mut Vec<usize>,
    ) -> usize {
        let mut parent = above;
        for &node in &leaf.missing {
            let frame = self.frame(node);
            parent = self.node(Some(parent), frame);
            active.push(parent);
        }
        let frame = self.overhead_frame(leaf, class);
        let at = self.node(Some(parent), frame);
        active.push(at);
        at
    }

    fn overhead_frame(&mut self, leaf: &OverheadLeaf, class: Class) -> usize {
        let component = self.instances[leaf.instance.index()].component;
        let statement = match class {
            Class::Overhead(_, charge) => charge.statement,
            _ => None,
        };
        let next = self.list.len();
        let key = FrameKey::Overhead(leaf.kind, component, statement);
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            let (places, rows) = match statement {
                Some(control) => self.origin(Node::Control { component, control }),
                None => (vec![self.metadata.component(component).span], vec![]),
            };
            let places = match statement {
                Some(control) => {
                    let node = Node::Control { component, control };
                    let lines = FrontEndLines::new(self.metadata).frames(node, self.instances);
                    Self::places(self.metadata, &lines, places)
                }
                None => places.into_iter().filter_map(source_line).collect(),
            };
            self.list.push(Frame {
                kind: "overhead",
                label: overhead_label(leaf.kind),
                words: None,
                paint: Some(Meaning::Overhead(leaf.kind).key()),
                actual: None,
                places,
                rows,
                lines: Vec::new(),
                link: false,
            });
        }
        id
    }

    fn class(&mut self, class: Class) -> usize {
        let (instance, charge) = match class {
            Class::Computation => return 0,
            Class::Conditions => return 1,
            Class::Overhead(instance, charge) => (instance, charge),
        };
        let component = self.instances[instance.index()].component;
        let next = self.reasons.len();
        let id = *self.reason_ids.entry((component, charge)).or_insert(next);
        if id == next {
            let statement = charge.statement;
            self.reasons.push(Reason {
                kind: charge.kind.title(),
                statement: statement.map(|id| self.labels.control(component, id).to_owned()),
                place: statement.and_then(|id| {
                    let node = self.metadata.component(component).node(id);
                    front_end_line(self.metadata, &node.positions).or(source_line(node.span))
                }),
            });
        }
        2 + id
    }

    fn frame(&mut self, node: Node) -> usize {
        let key = match node {
            Node::Cell {
                instance, formal, ..
            } => FrameKey::Cell(instance, formal),
            Node::Group {
                component,
                group,
                run,
            } => FrameKey::Group(
                component,
                group,
                self.metadata.component(component).run(run).control,
            ),
            other => FrameKey::Other(other),
        };
        let next = self.list.len();
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            let (spans, rows) = self.origin(node);
            let lines = FrontEndLines::new(self.metadata).frames(node, self.instances);
            let mut places = Self::places(self.metadata, &lines, spans);
            let made = FrontEndLines::new(self.metadata).of_primitive(node, self.instances);
            if let Some(made) = made.and_then(|line| written_line(self.metadata, line)) {
                places.insert(0, made);
            }
            let lines = if self.metadata.front_end.files.is_empty() {
                Vec::new()
            } else {
                lines.into_iter().map(|line| self.line(line)).collect()
            };
            self.list.push(Frame {
                kind: FrameLabels::kind(node).name(),
                label: self.labels.label(node, self.instances).to_owned(),
                words: self.words(node),
                paint: match node {
                    Node::Primitive { .. } => None,
                    _ => Some(Meaning::of(self.metadata, node, Meaning::Cell).key()),
                },
                actual: actual_path(self.metadata, self.instances, node),
                places,
                rows,
                lines,
                link: is_link(self.metadata, node),
            });
        }
        id
    }

    /// The number of a line with what is on it.
    fn line(&mut self, LineFrame { line, what, .. }: LineFrame) -> usize {
        let next = self.lines.len();
        let id = *self.line_ids.entry((line, what.clone())).or_insert(next);
        if id == next {
            let label = FrontEndLines::new(self.metadata).label(line).to_string();
            self.lines.push(LineOfFrame {
                place: written_line(self.metadata, line),
                label,
                what,
            });
        }
        id
    }

    /// The first words of a statement.
    fn words(&self, node: Node) -> Option<String> {
        let Node::Control { component, control } = node else {
            return None;
        };
        let statement = self.metadata.component(component).node(control);
        let keyword = statement.kind.dynamic().keyword();
        self.sources.words(statement.span?, keyword)
    }

    /// The lines of a node: those of the front end, and those of `spans`.
    fn places(
        metadata: &Metadata,
        lines: &[LineFrame],
        spans: Vec<Option<Span>>,
    ) -> Vec<SourceLine> {
        let mut places: Vec<SourceLine> = Vec::new();
        let front_end = lines.iter().rev();
        let front_end = front_end.filter_map(|frame| written_line(metadata, frame.line));
        for line in front_end.chain(spans.into_iter().filter_map(source_line)) {
            if !places.contains(&line) {
                places.push(line);
            }
        }
        places
    }

    /// Where a node comes from, the most particular first, and the rows of tables about it.
    fn origin(&self, node: Node) -> (Vec<Option<Span>>, Vec<Row>) {
        let metadata = self.metadata;
        let span = |holder: ComponentId, cell| metadata.component(holder).cell(cell).span;
        match node {
            Node::Cell {
                instance, formal, ..
            } => {
                let Instance { component, parent } = self.instances[instance.index()];
                let formal = formal.and_then(|(holder, cell)| span(holder, cell));
                let cell = parent.and_then(|(holder, cell)| {
                    span(self.instances[holder.index()].component, cell)
                });
                (
                    vec![formal, cell, metadata.component(component).span],
                    self.tables.rows(RowId::Cell(instance)).to_vec(),
                )
            }
            Node::Control { component, control } => (
                vec![metadata.component(component).node(control).span],
                self.tables
                    .rows(RowId::Statement(component, control))
                    .to_vec(),
            ),
            Node::Group {
                component,
                group,
                run,
            } => {
                let holder = metadata.component(component);
                let run = holder.run(run);
                let control = run.control.map(|control| holder.node(control).span);
                let enable = run.control.filter(|&id| holder.node(id).kind.is_enable());
                let of_group = self.tables.rows(RowId::Group(component, run.group));
                let rows = enable.map_or(&[][..], |control| {
                    self.tables.rows(RowId::Statement(component, control))
                });
                let whole = holder.group(run.group).span;
                (
                    vec![control.flatten(), holder.group(group).span, whole],
                    [rows, of_group].concat(),
                )
            }
            Node::Continuous { component } => {
                (vec![metadata.component(component).span], Vec::new())
            }
            Node::Primitive {
                component,
                cell,
                actual,
            } => {
                let actual = actual.and_then(|(holder, cell)| {
                    span(self.instances[holder.index()].component, cell)
                });
                (vec![span(component, cell), actual], Vec::new())
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn ratio(part: u128, whole: u128) -> f64 {
    part as f64 / whole as f64
}
