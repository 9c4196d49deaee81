//! The control-flow graph of a run: what had to end before what began, how often, who called whom, and which of it was
//! the critical path.
//!
//! Owns what is in the graph, whose parts are in `step`. `critical` finds the critical path, `flow` counts the edges,
//! `shown` chooses what a picture has room for, `layout` places that and `svg` draws it, `page` lets it be moved and searched; `dot` writes the whole graph for
//! Graphviz.

mod detail;
mod dot;
mod flow;
mod layout;
mod page;
mod shown;
mod step;
mod svg;

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{Component, ControlId, ControlKind, Id as _, Metadata, labels};
use petal_reconstruct::{CallTree, FrameLabels, InstanceId, Node, instance_path};
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef as _;

use self::flow::{Exit, Flow, Inside};
use self::step::Statement;
use crate::colors::Meaning;
use petal_analysis::Analysis;
use petal_analysis::cells::{Sums, sums, track_label};
use petal_analysis::control::Counts;
use petal_analysis::critical::{CriticalCycles, Site};
use petal_analysis::elements::ElementKind;
use petal_analysis::front_end::FrontEndLines;
use petal_analysis::profile::Profile;

pub use self::detail::Detail;
pub use self::step::{Edge, Step, StepKind, Way};

/// The control-flow graph of a run, or of a part of its cells.
#[derive(Debug)]
pub struct ControlGraph {
    graph: DiGraph<Step, Edge>,
    statements: BTreeMap<Site, Statement>,
    /// The cells, those that hold others first, each with how many hold it.
    cells: Vec<(Site, usize)>,
    /// Cycles of the critical path with all inside, by statement.
    through: BTreeMap<Site, u64>,
    design: String,
    cycles: u64,
}

impl ControlGraph {
    /// The graph of a run of `design`, which ended early if it is `partial`: of all cells, or of the one with this path
    /// and those in it; `None` if there is none.
    pub fn new(
        analysis: &Analysis<'_>,
        critical: &CriticalCycles,
        design: &str,
        partial: bool,
        cell: Option<&str>,
    ) -> Option<Self> {
        let (metadata, profile) = (analysis.metadata(), analysis.profile());
        let activations = analysis.activations();
        let instances = profile.instances();
        let chosen = Self::chosen(metadata, profile, cell);
        let mut flow = Flow {
            counts: Counts::by(metadata, activations, |element| element.instance),
            critical,
            unfinished: partial.then(|| active(metadata, profile)),
            graph: DiGraph::new(),
            statements: BTreeMap::new(),
        };
        let sums = sums(profile, activations);
        let frames = FrameLabels::new(metadata);
        let mut cells = Vec::new();
        for &instance in &chosen {
            let label = track_label(metadata, &frames, instances, instance);
            add_cell(&mut flow, analysis, instance, label, sums.get(&instance));
            let above = |&instance: &InstanceId| {
                let parent = instances[instance.index()].parent;
                parent.map(|(holder, _)| holder)
            };
            let depth = std::iter::successors(Some(instance), above).count();
            let site = Site {
                instance,
                statement: None,
            };
            cells.push((site, depth));
        }
        let is_invoke = |site: Site| {
            let component = instances[site.instance.index()].component;
            let node = site
                .statement
                .map(|id| metadata.component(component).node(id));
            node.is_some_and(|node| node.kind.dynamic() == ControlKind::Invoke)
        };
        add_calls(&mut flow, is_invoke);
        if cells.is_empty() && cell.is_some() {
            return None;
        }
        let outermost = cells.iter().map(|&(_, depth)| depth).min().unwrap_or(0);
        for (_, depth) in &mut cells {
            *depth -= outermost;
        }
        Some(Self {
            graph: flow.graph,
            statements: flow.statements,
            cells,
            through: critical.through.clone(),
            design: design.to_owned(),
            cycles: profile.total(),
        })
    }

    /// The cells to show: those with control, and main.
    fn chosen(metadata: &Metadata, profile: &Profile, cell: Option<&str>) -> Vec<InstanceId> {
        let instances = profile.instances();
        let mut chosen: BTreeSet<InstanceId> = BTreeSet::new();
        for (at, instance) in instances.iter().enumerate() {
            let id = InstanceId::from_index(at);
            let below = instance
                .parent
                .is_some_and(|(holder, _)| chosen.contains(&holder));
            if below || cell.is_none_or(|path| instance_path(metadata, instances, id) == path) {
                chosen.insert(id);
            }
        }
        let shown = |id: &InstanceId| {
            let instance = instances[id.index()];
            let component = metadata.component(instance.component);
            !component.control.is_empty() || instance.parent.is_none()
        };
        chosen.into_iter().filter(shown).collect()
    }

    /// The nodes and edges. An edge but [`Way::Calls`] leads to what begins after it has been taken.
    pub fn graph(&self) -> &DiGraph<Step, Edge> {
        &self.graph
    }

    fn step(&self, site: Site) -> &Step {
        &self.graph[self.statements[&site].step]
    }

    fn through(&self, site: Site) -> u64 {
        self.through.get(&site).copied().unwrap_or(0)
    }

    /// The cells that a statement calls.
    fn called(&self, site: Site) -> impl Iterator<Item = (Site, &Edge)> {
        let edges = self.graph.edges(self.statements[&site].step);
        edges
            .filter(|edge| edge.weight().way == Way::Calls)
            .map(|edge| (self.graph[edge.target()].site, edge.weight()))
    }
}

/// Adds a component cell with all that it runs.
fn add_cell(
    flow: &mut Flow<'_>,
    analysis: &Analysis<'_>,
    instance: InstanceId,
    label: String,
    sums: Option<&Sums>,
) {
    let metadata = analysis.metadata();
    let id = analysis.profile().instances()[instance.index()].component;
    let component = metadata.component(id);
    let (sites, path) = (
        analysis.sites(),
        instance_path(metadata, analysis.profile().instances(), instance),
    );
    let inside = Inside::new(instance, component, flow);
    let names = Names::new(metadata, component);
    let critical = flow.critical;
    let own = |site: Site| critical.own.get(&site).copied().unwrap_or(0);
    let site = Site {
        instance,
        statement: None,
    };
    let started = sums.map(|sums| sums.times);
    let times = inside.began.first().copied().flatten().or(started);
    let step = flow.graph.add_node(Step {
        kind: StepKind::Cell,
        site,
        id: Some(sites.of(id, &path, ElementKind::Cell).id),
        label,
        place: String::new(),
        source: String::new(),
        times,
        cycles: sums.map_or(0, Sums::cycles),
        critical: own(site),
        meaning: Meaning::Cell,
    });
    let root = ControlId::from_index(0);
    let has_control = !component.control.is_empty();
    let within = has_control.then_some(Site {
        statement: Some(root),
        ..site
    });
    let statement = Statement {
        step,
        join: None,
        inside: within.into_iter().collect(),
        entered: times,
        again: None,
    };
    flow.statements.insert(site, statement);
    let make = |statement: ControlId| {
        let site = Site {
            statement: Some(statement),
            ..site
        };
        let active = analysis.ledger().instances.get(&(instance, statement));
        Step {
            cycles: active.map_or(0, |active| active.cycles),
            critical: own(site),
            id: sites.statement(id, &path, statement),
            ..names.step(site, statement)
        }
    };
    if has_control {
        let way = Way::Next;
        let taken = times;
        let from = [Exit { step, way, taken }];
        flow.walk(&inside, root, &from, times, &make);
    }
}

/// The statements that are active in the last cycle.
fn active(metadata: &Metadata, profile: &Profile) -> BTreeSet<Site> {
    let tree = profile.last_tree();
    let nodes = tree.into_iter().flat_map(CallTree::with_holders);
    nodes
        .filter_map(|(_, node, holder)| {
            let statement = match node {
                Node::Control { control, .. } => Some(control),
                Node::Group { component, run, .. } => {
                    let component = metadata.component(component);
                    let control = component.run(run).control;
                    control.filter(|&control| component.node(control).kind.is_enable())
                }
                Node::Cell { .. } | Node::Continuous { .. } | Node::Primitive { .. } => None,
            };
            Some(Site {
                instance: holder?,
                statement: Some(statement?),
            })
        })
        .collect()
}

/// Adds an edge for each statement that runs a cell.
fn add_calls(flow: &mut Flow<'_>, is_invoke: impl Fn(Site) -> bool) {
    let calls = flow.critical.calls.iter();
    let calls: Vec<(Site, Site, u64)> = calls
        .map(|(&(caller, instance), &cycles)| {
            let called = Site {
                instance,
                statement: None,
            };
            (caller, called, cycles)
        })
        .collect();
    for &(caller, called, cycles) in &calls {
        let step = |site: Site| Some(flow.statements.get(&site)?.step);
        let (Some(from), Some(to)) = (step(caller), step(called)) else {
            continue;
        };
        let callers = calls.iter().filter(|(_, other, _)| *other == called);
        // A group may run a cell several times; an invoke does it once.
        let taken = match callers.count() {
            1 => flow.graph[to].times,
            _ if is_invoke(caller) => flow.graph[from].times,
            _ => None,
        };
        let edge = Edge {
            way: Way::Calls,
            taken,
            critical: cycles > 0,
        };
        flow.graph.add_edge(from, to, edge);
    }
}

/// What the parts of a component are called.
struct Names<'a> {
    metadata: &'a Metadata,
    component: &'a Component,
    groups: Vec<String>,
    places: Vec<String>,
}

impl<'a> Names<'a> {
    fn new(metadata: &'a Metadata, component: &'a Component) -> Self {
        Self {
            metadata,
            component,
            groups: labels::group_labels(component),
            places: labels::control_places(metadata, component),
        }
    }

    /// A step without its numbers.
    fn step(&self, site: Site, statement: ControlId) -> Step {
        let node = self.component.node(statement);
        let kind = match node.kind.dynamic() {
            ControlKind::Seq => StepKind::Seq,
            ControlKind::Par => StepKind::Fork,
            ControlKind::If => StepKind::If,
            ControlKind::While | ControlKind::Repeat => StepKind::Loop,
            _ => StepKind::Leaf,
        };
        let keyword = node.kind.keyword();
        let (label, meaning) = match (node.group, node.cell) {
            (Some(group), _) if node.kind.is_enable() => {
                (self.groups[group.index()].clone(), Meaning::Computation)
            }
            (_, Some(cell)) => {
                let cell = &self.component.cell(cell).name;
                (format!("{keyword} {cell}"), Meaning::Cell)
            }
            _ => (keyword.to_owned(), Meaning::Control),
        };
        let lines = FrontEndLines::new(self.metadata);
        let line = lines.of_statement(self.component, statement);
        let line = lines.list(line.into_iter());
        let source = node.span.map_or("", |span| {
            self.metadata.files[span.file.index()].line(span.line)
        });
        Step {
            kind,
            site,
            id: None,
            label,
            place: line.unwrap_or_else(|| self.places[statement.index()].clone()),
            source: source.to_owned(),
            times: None,
            cycles: 0,
            critical: 0,
            meaning,
        }
    }
}
