//! Flame graphs: which stacks of frames cycles were spent in, added up over the run.

mod image;

use std::collections::{BTreeMap, HashMap, HashSet};

use petal_metadata::{ComponentId, GroupRunId, Id, Metadata};
use petal_reconstruct::{CallTree, FrameLabels, Instance, InstanceId, Node, actual_path};

use crate::colors::Meaning;
use crate::links::is_link;
use petal_analysis::elements::{Element, ElementKind};
use petal_analysis::front_end::{FrontEndLine, FrontEndLines, LineFrame, ProgramPart};
use petal_analysis::leaves::{Leaf, OverheadLeaf, Weighting, leaves, overhead_label, units};
use petal_analysis::ledger::Class;
use petal_analysis::lines::Entries;
use petal_analysis::sources::Sources;
use petal_analysis::{Analysis, Period};

/// What the frames of a flame graph are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// What is in the Calyx program.
    Calyx,
    /// The lines of the front end's files. Frames of one line, directly inside one another, are one.
    FrontEnd,
    /// What is in the Calyx program, each with its lines in the front end's files.
    Both,
}

/// A flame graph.
#[derive(Debug)]
pub struct Flame {
    weighting: Weighting,
    /// A frame comes after the one that it stands on.
    frames: Vec<Frame>,
    /// How many units of weight make a cycle.
    denominator: u128,
    cycles: u64,
    period: Option<Period>,
    verified: bool,
}

/// A box of a flame graph.
#[derive(Debug)]
struct Frame {
    above: Option<usize>,
    /// What folded stacks call it.
    label: String,
    /// What images call it: with the cell that a `ref` cell stands for, and the statement's first words.
    shown: String,
    /// The first words of its statement, with the keyword.
    source: Option<String>,
    meaning: Meaning,
    /// The front end's line that it stands for.
    line: Option<FrontEndLine>,
    /// As a leaf.
    weight: u128,
    /// Cycles in which it was active.
    active: u64,
    /// The last tree that `active` counts.
    counted: Option<usize>,
    /// How often what it stands for became active, wherever in call trees.
    times: u64,
    /// Whether it only leads to the cell that it calls.
    is_link: bool,
}

impl Flame {
    /// The flame graph of a run.
    pub fn new(analysis: &Analysis<'_>, weighting: Weighting, frames: Frames) -> Self {
        let (metadata, profile) = (analysis.metadata(), analysis.profile());
        let shown = analysis.shown();
        let denominator = units(shown, weighting);
        let mut builder = Builder::new(analysis, frames);
        for (number, ((whole, _), (tree, cycles))) in profile.trees().zip(shown.trees()).enumerate()
        {
            if cycles == 0 {
                continue;
            }
            let class = Class::of(metadata, whole);
            let mut overhead = OverheadLeaf::new(metadata, shown.instances(), tree, class);
            if let Some(leaf) = overhead.as_mut().filter(|_| analysis.is_compiled()) {
                // What the view leaves out stays left out.
                leaf.missing.clear();
            }
            builder.cycles = (number, cycles);
            let ends = builder.tree(tree);
            let weight = u128::from(cycles) * denominator;
            for (leaf, weight) in leaves(tree, overhead.as_ref(), weighting, weight) {
                let end = match (leaf, &overhead) {
                    (Leaf::Overhead, Some(overhead)) => Some(builder.overhead(&ends, overhead)),
                    (Leaf::Node(node), _) => ends[node.index()],
                    (Leaf::Overhead, None) => None,
                };
                if let Some(end) = end {
                    builder.frames[end].weight += weight;
                }
            }
        }
        Self {
            weighting,
            frames: builder.frames,
            denominator,
            cycles: profile.total(),
            period: analysis.period(),
            verified: metadata.verified,
        }
    }

    /// The sum of all weights in units, and how many units make a cycle.
    pub fn total(&self) -> (u128, u128) {
        let weights = self.frames.iter().map(|frame| frame.weight);
        (weights.sum(), self.denominator)
    }

    /// The folded stacks: a line `frame;frame;frame weight` for each, weights in cycles.
    pub fn folded(&self) -> String {
        let mut stacks: Vec<String> = Vec::with_capacity(self.frames.len());
        let mut weights: BTreeMap<&str, u128> = BTreeMap::new();
        for frame in &self.frames {
            let label = in_folded(&frame.label);
            stacks.push(match frame.above {
                Some(above) => format!("{};{label}", stacks[above]),
                None => label,
            });
        }
        for (stack, frame) in stacks.iter().zip(&self.frames) {
            if frame.weight > 0 {
                *weights.entry(stack).or_default() += frame.weight;
            }
        }
        let mut text = String::new();
        for (stack, weight) in weights {
            text.push_str(stack);
            text.push(' ');
            text.push_str(&decimal(weight, self.denominator));
            text.push('\n');
        }
        text
    }
}

/// Lays the trees of a run on top of each other.
struct Builder<'a> {
    metadata: &'a Metadata,
    instances: &'a [Instance],
    kind: Frames,
    labels: FrameLabels,
    lines: FrontEndLines<'a>,
    sources: Sources<'a>,
    entries: &'a Entries,
    /// How often each element became active.
    times: HashMap<Element, u64>,
    frames: Vec<Frame>,
    ids: HashMap<(Option<usize>, String), usize>,
    /// The same by the nodes and their cells, unless frames are lines: trees have the same ones again and again.
    laid: foldhash::HashMap<(Option<usize>, Node, InstanceId), usize>,
    /// The elements whose times a frame has.
    timed: HashSet<(usize, Element)>,
    /// The number of the tree that is being laid, and its cycles.
    cycles: (usize, u64),
}

impl<'a> Builder<'a> {
    fn new(analysis: &'a Analysis<'_>, kind: Frames) -> Self {
        let metadata = analysis.metadata();
        let times = analysis.activations().durations();
        Self {
            metadata,
            instances: analysis.profile().instances(),
            kind,
            labels: FrameLabels::new(metadata),
            lines: FrontEndLines::new(metadata),
            sources: Sources::new(metadata),
            entries: analysis.entries(),
            times: times
                .map(|(element, durations)| (element, durations.count))
                .collect(),
            frames: Vec::new(),
            ids: HashMap::new(),
            laid: foldhash::HashMap::default(),
            timed: HashSet::new(),
            cycles: (0, 0),
        }
    }

    /// Lays a tree, and returns the innermost frame of each of its nodes.
    fn tree(&mut self, tree: &CallTree) -> Vec<Option<usize>> {
        let mut ends: Vec<Option<usize>> = Vec::with_capacity(tree.len());
        // Of each node: the cell that it is in, and what it works for.
        let mut within: Vec<(InstanceId, Meaning)> = Vec::with_capacity(tree.len());
        for (id, node) in tree.nodes() {
            let parent = tree.parent(id).map(Id::index);
            let (cell, works_for) = match (node, parent) {
                (Node::Cell { instance, .. }, _) => (instance, Meaning::Cell),
                (_, Some(parent)) => within[parent],
                // The root of a tree is a cell.
                (_, None) => (InstanceId::from_index(0), Meaning::Cell),
            };
            let meaning = Meaning::of(self.metadata, node, works_for);
            within.push((cell, meaning));
            let above = parent.and_then(|parent| ends[parent]);
            ends.push(self.node(above, node, cell, meaning));
        }
        ends
    }

    /// The innermost frame of a node above `above`.
    fn node(
        &mut self,
        above: Option<usize>,
        node: Node,
        cell: InstanceId,
        meaning: Meaning,
    ) -> Option<usize> {
        let of_lines = match self.kind {
            Frames::Calyx => vec![],
            Frames::FrontEnd | Frames::Both => self.lines.frames(node, self.instances),
        };
        if self.kind == Frames::FrontEnd {
            return of_lines.into_iter().fold(above, |above, frame| {
                Some(self.line(above, &frame, meaning))
            });
        }
        if let Some(&at) = self.laid.get(&(above, node, cell)) {
            self.count(at);
            return Some(at);
        }
        let mut label = self.labels.label(node, self.instances).to_owned();
        let mut shown = label.clone();
        if let Some(actual) = actual_path(self.metadata, self.instances, node) {
            shown = format!("{shown} = {actual}");
        }
        let mut source = None;
        if let Node::Control { component, control } = node {
            let statement = self.metadata.component(component).node(control);
            let keyword = statement.kind.dynamic().keyword();
            let words = statement
                .span
                .and_then(|span| self.sources.words(span, keyword));
            if let Some(words) = words {
                shown = format!("{shown} {words}");
                source = Some(format!("{keyword} {words}"));
            }
        }
        let places = self.lines.places(&of_lines);
        label.push_str(&places);
        shown.push_str(&places);
        let at = self.frame(above, label, shown, meaning);
        self.laid.insert((above, node, cell), at);
        self.frames[at].source = source;
        self.frames[at].is_link = is_link(self.metadata, node);
        if let Some(element) = element(node, cell)
            && self.timed.insert((at, element))
        {
            let times = self.times.get(&element).copied().unwrap_or(0);
            self.frames[at].times += times;
        }
        Some(at)
    }

    /// The frame of a line above `above`: the same, where that is of the same line.
    fn line(&mut self, above: Option<usize>, frame: &LineFrame, meaning: Meaning) -> usize {
        if let Some(above) = above.filter(|&above| self.frames[above].line == Some(frame.line)) {
            return above;
        }
        let label = format!("{} {}", self.lines.label(frame.line), frame.what);
        let shown = match self.lines.text(frame.line) {
            Some(text) => format!("{label}: {text}"),
            None => label.clone(),
        };
        let at = self.frame(above, label, shown, meaning);
        self.frames[at].line = Some(frame.line);
        self.frames[at].times = self.entries.times(frame.line);
        at
    }

    /// The frame of the line of an enable above `above`, without the line of its group.
    fn line_of_enable(
        &mut self,
        above: Option<usize>,
        component: ComponentId,
        run: GroupRunId,
    ) -> usize {
        let component = self.metadata.component(component);
        let run = component.run(run);
        let enable = run.control.map(|enable| component.node(enable));
        let line = enable.and_then(|enable| self.lines.line(&enable.positions));
        let frame = LineFrame {
            line: line.unwrap_or(FrontEndLine::Untold),
            part: run
                .control
                .map_or(ProgramPart::Component, ProgramPart::Statement),
            what: format!("enable {}", component.group(run.group).name),
        };
        self.line(above, &frame, Meaning::Computation)
    }

    /// The frame of a cycle's overhead.
    fn overhead(&mut self, ends: &[Option<usize>], overhead: &OverheadLeaf) -> usize {
        let mut above = ends[overhead.above.index()];
        for &node in &overhead.missing {
            let cell = overhead.instance;
            above = match (self.kind, node) {
                (Frames::FrontEnd, Node::Group { component, run, .. }) => {
                    Some(self.line_of_enable(above, component, run))
                }
                _ => self.node(
                    above,
                    node,
                    cell,
                    Meaning::of(self.metadata, node, Meaning::Cell),
                ),
            };
        }
        let label = overhead_label(overhead.kind);
        let meaning = Meaning::Overhead(overhead.kind);
        self.frame(above, label.clone(), label, meaning)
    }

    /// The frame with this name above `above`, which is active in the cycles of the tree that is being laid.
    fn frame(
        &mut self,
        above: Option<usize>,
        label: String,
        shown: String,
        meaning: Meaning,
    ) -> usize {
        let next = self.frames.len();
        let at = *self.ids.entry((above, shown.clone())).or_insert(next);
        if at == next {
            self.frames.push(Frame {
                above,
                label,
                shown,
                source: None,
                meaning,
                line: None,
                weight: 0,
                active: 0,
                counted: None,
                times: 0,
                is_link: false,
            });
        }
        self.count(at);
        at
    }

    /// A frame is active in the cycles of the tree that is being laid.
    fn count(&mut self, at: usize) {
        let (tree, cycles) = self.cycles;
        let frame = &mut self.frames[at];
        if frame.counted.replace(tree) != Some(tree) {
            frame.active += cycles;
        }
    }
}

/// The element that a node in this cell stands for.
fn element(node: Node, instance: InstanceId) -> Option<Element> {
    let kind = match node {
        Node::Cell { .. } => ElementKind::Cell,
        Node::Control { control, .. } => ElementKind::Control(control),
        Node::Group { run, .. } => ElementKind::Group(run),
        Node::Primitive { cell, actual, .. } => ElementKind::Primitive(cell, actual),
        Node::Continuous { .. } => return None,
    };
    Some(Element { instance, kind })
}

/// A label as a frame of a folded stack: without the characters that separate frames and lines.
fn in_folded(label: &str) -> String {
    label.replace([';', '\n', '\r'], "_")
}

/// `weight / denominator` with as many decimals as needed, at most nine.
fn decimal(weight: u128, denominator: u128) -> String {
    const NANO: u128 = 1_000_000_000;
    let whole = weight / denominator;
    let rest = (weight % denominator * NANO + denominator / 2) / denominator;
    if rest == 0 {
        return whole.to_string();
    }
    if rest == NANO {
        return (whole + 1).to_string();
    }
    format!("{whole}.{rest:09}")
        .trim_end_matches('0')
        .to_owned()
}
