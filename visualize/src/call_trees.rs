//! The call trees of a run, one after the other, as text and as JSON.

use std::fmt::Write as _;
use std::ops::Range;

use petal_metadata::{Id, Metadata, RunRole, VariableId};
use petal_reconstruct::{
    Activity, CallTree, Cycle, Event, FrameLabels, Gap, Instance, InstanceId, LiveVariables, Node,
    Run, actual_path, cells_to, with_continuous,
};
use serde_json::{Value as Json, json};

use petal_analysis::front_end::FrontEndLines;
use petal_analysis::ledger::Class;
use petal_table::Screen;
use petal_table::style::{BOLD, COMPUTATION, CONDITIONS, DIM, style_of};

/// How call trees are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeFormat {
    /// Indented lines, as a screen shows them.
    Text(Screen),
    /// A JSON object on a line of its own for each tree.
    JsonLines,
}

/// Which nodes of call trees are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeNodes {
    /// Those of the trace.
    Traced,
    /// Also the combinational primitives that continuous assignments drive in every cycle.
    WithContinuous,
}

/// Which cycles they are.
fn title(cycles: &Range<u64>) -> String {
    match cycles.end - cycles.start {
        1 => format!("cycle {}", cycles.start),
        _ => format!("cycles {}..{}", cycles.start, cycles.end),
    }
}

/// Writes the call trees of some cycles while the trace is read.
pub struct CallTrees<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    instances: Vec<Instance>,
    trees: Vec<CallTree>,
    /// For each tree the cell that is charged, if its cycles are overhead.
    charged: Vec<Option<InstanceId>>,
    cycles: Range<u64>,
    format: TreeFormat,
    nodes: TreeNodes,
}

impl<'a> CallTrees<'a> {
    /// The call trees of these cycles.
    pub fn new(
        metadata: &'a Metadata,
        cycles: Range<u64>,
        format: TreeFormat,
        nodes: TreeNodes,
    ) -> Self {
        Self {
            metadata,
            labels: FrameLabels::new(metadata),
            instances: Vec::new(),
            trees: Vec::new(),
            charged: Vec::new(),
            cycles,
            format,
            nodes,
        }
    }

    /// Takes in the next event. If the cycles have another tree now, returns it, with the cycles for which
    /// it stays active.
    pub fn event(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                self.charged.push(match Class::of(self.metadata, tree) {
                    Class::Overhead(instance, _) => Some(instance),
                    Class::Computation | Class::Conditions => None,
                });
                self.trees.push(match self.nodes {
                    TreeNodes::Traced => CallTree::clone(tree),
                    TreeNodes::WithContinuous => {
                        with_continuous(self.metadata, &self.instances, tree)
                    }
                });
            }
            Event::Run(run) => return self.run(run),
            Event::Gap(gap) => return self.gap(gap),
            Event::Update(_) | Event::Warning(_) | Event::Figures(_) | Event::End { .. } => {}
        }
        None
    }

    /// Those of so many cycles that are wanted, if there are any.
    fn wanted(&self, start: Cycle, cycles: u64) -> Option<Range<u64>> {
        let first = start.cycles();
        let cycles = first.max(self.cycles.start)..(first + cycles).min(self.cycles.end);
        (!cycles.is_empty()).then_some(cycles)
    }

    fn gap(&self, gap: &Gap) -> Option<String> {
        let cycles = self.wanted(gap.start, gap.cycles)?;
        Some(match self.format {
            TreeFormat::Text(_) => format!("{}: not kept\n", title(&cycles)),
            TreeFormat::JsonLines => {
                let nothing = Json::Null;
                let cycles = json!({ "start": cycles.start, "end": cycles.end, "tree": nothing });
                format!("{cycles}\n")
            }
        })
    }

    fn run(&self, run: &Run) -> Option<String> {
        let cycles = self.wanted(run.start, run.cycles)?;
        let tree = &self.trees[run.tree.index()];
        let charged = self.charged[run.tree.index()];
        Some(match self.format {
            TreeFormat::Text(screen) => self.text(&cycles, tree, charged, screen),
            TreeFormat::JsonLines => self.json(&cycles, tree, charged),
        })
    }

    fn text(
        &self,
        cycles: &Range<u64>,
        tree: &CallTree,
        mut charged: Option<InstanceId>,
        screen: Screen,
    ) -> String {
        let mut text = format!("{}\n", screen.styled(BOLD, title(cycles)));
        let live = self.live(tree);
        for (depth, node, holder) in tree.with_holders() {
            let indent = "  ".repeat(depth + 1);
            let label = self.labels.label(node, &self.instances);
            let label = match node {
                Node::Cell { .. } => screen.styled(BOLD, label),
                Node::Group { component, run, .. } => {
                    let run = self.metadata.component(component).run(run);
                    let style = match run.role {
                        RunRole::Condition => CONDITIONS,
                        _ => COMPUTATION,
                    };
                    screen.styled(style, label)
                }
                Node::Control { .. } | Node::Continuous { .. } | Node::Primitive { .. } => {
                    screen.styled(DIM, label)
                }
            };
            let mut line = format!("{indent}{label}");
            if let Some(actual) = actual_path(self.metadata, &self.instances, node) {
                let _ = write!(line, " = {actual}");
            }
            let variables = self.variables(&live, node, holder);
            if !variables.is_empty() {
                let _ = write!(line, " holds {}", variables.join(", "));
            }
            let places = self.places(node);
            if !places.is_empty() {
                let places = format!(" {{{}}}", places.join(", "));
                line.push_str(&screen.styled(DIM, places));
            }
            if let Node::Cell {
                instance,
                activity: Activity::Overhead(charge),
                ..
            } = node
            {
                let component = self.instances[instance.index()].component;
                let what = control_or_overhead(instance, &mut charged);
                let style = style_of(charge.kind);
                let charge = self.labels.charge(component, charge);
                let charge = format!("<- {what}: {charge}");
                let _ = write!(line, "  {}", screen.styled(style, charge));
            }
            text.push_str(&screen.folded(&line, indent.len() + 4));
            text.push('\n');
        }
        text
    }

    /// The front end's variables that hold.
    fn live(&self, tree: &CallTree) -> Vec<VariableId> {
        let live = LiveVariables::of_design(self.metadata);
        let live = live.map(|live| live.of(tree, &self.instances));
        live.unwrap_or_default()
    }

    /// The lines of the front end's files that a node comes from: `queue.py:12`.
    fn places(&self, node: Node) -> Vec<String> {
        let lines = FrontEndLines::new(self.metadata);
        match lines.of_primitive(node, &self.instances) {
            Some(made) => lines.labels([made].into_iter()),
            None => {
                let frames = lines.frames(node, &self.instances);
                lines.labels(frames.iter().map(|frame| frame.line))
            }
        }
    }

    /// The names of those of the variables `live` that a primitive of the component cell `holder` holds.
    fn variables(&self, live: &[VariableId], node: Node, holder: Option<InstanceId>) -> Vec<&str> {
        let ((
            Node::Primitive {
                actual: Some((holder, cell)),
                ..
            },
            _,
        )
        | (Node::Primitive { cell, .. }, Some(holder))) = (node, holder)
        else {
            return Vec::new();
        };
        let mut path = cells_to(holder, &self.instances);
        path.push(cell);
        let front_end = &self.metadata.front_end;
        let live = live.iter().map(|&id| front_end.variable(id));
        let held = live.filter(|variable| {
            let mut holders = variable.parts.iter().map(|part| part.holder.index());
            holders.any(|at| front_end.holders[at].cells == path)
        });
        held.map(|variable| &*variable.name).collect()
    }

    fn json(
        &self,
        cycles: &Range<u64>,
        tree: &CallTree,
        mut charged: Option<InstanceId>,
    ) -> String {
        let live = self.live(tree);
        let nodes = tree.with_holders().map(|(depth, node, holder)| {
            let mut object = self.node(depth, node, &mut charged);
            let places = self.places(node);
            if !places.is_empty() {
                object["lines"] = json!(places);
            }
            let variables = self.variables(&live, node, holder);
            if !variables.is_empty() {
                object["holds"] = json!(variables);
            }
            object
        });
        let nodes: Vec<Json> = nodes.collect();
        format!(
            "{}\n",
            json!({ "start": cycles.start, "end": cycles.end, "tree": nodes })
        )
    }

    fn node(&self, depth: usize, node: Node, charged: &mut Option<InstanceId>) -> Json {
        let mut object = json!({
            "depth": depth,
            "kind": FrameLabels::kind(node).name(),
            "label": self.labels.label(node, &self.instances),
        });
        if let Some(actual) = actual_path(self.metadata, &self.instances, node) {
            object["actual"] = json!(actual);
        }
        if let Node::Cell {
            instance,
            activity: Activity::Overhead(charge),
            ..
        } = node
        {
            let component = self.instances[instance.index()].component;
            let statement = charge.statement;
            object[control_or_overhead(instance, charged)] = json!(charge.kind.to_string());
            object["statement"] = json!(statement.map(|id| self.labels.control(component, id)));
        }
        object
    }
}

/// What it is to the run that the cell only moves control along: overhead, if the cycle is charged to it. The
/// first node of the charged cell tells it, as no other is charged.
fn control_or_overhead(instance: InstanceId, charged: &mut Option<InstanceId>) -> &'static str {
    if charged.take_if(|charged| *charged == instance).is_some() {
        "overhead"
    } else {
        "control"
    }
}
