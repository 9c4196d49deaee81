//! The sites of a design: everything that can be active, each with a number that is the same in every run and on every machine, and
//! what leads from one to another.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use petal_metadata::{
    Callee, CellId, CellKind, Component, ComponentId, ControlId, ControlKind, GroupRunId, Id as _,
    Metadata, RunRole, Span,
};
use petal_reconstruct::FrameLabels;
use siphasher::sip::SipHasher24;

use petal_analysis::elements::ElementKind;

/// The number of a [`EventSite`]: SipHash-2-4, with the key 0, of its kind, file, line and path, each with a zero byte after it, and the
/// line in decimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub u64);

/// Something of a design that can be active, or that is observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSite {
    /// Its number.
    pub id: SiteId,
    /// `cell`, `control`, `group` or `primitive`; of what is observed `checkpoint`, `watch`, `access`, `never`, `always` or `count`.
    pub kind: &'static str,
    /// Its path from the main component on; of what is observed its name.
    pub path: String,
    /// The name of the file that it stands in, without folders, and the line; of a group the line of its enable.
    pub place: Option<(String, u32)>,
}

impl EventSite {
    fn new(metadata: &Metadata, kind: &'static str, path: String, span: Option<Span>) -> Self {
        let place = span.map(|span| {
            let name = &metadata.files[span.file.index()].name;
            let file = Path::new(name).file_name();
            let file = file.map_or(name.clone(), |file| file.to_string_lossy().into_owned());
            (file, span.line)
        });
        Self::at(kind, path, place)
    }

    /// One that is observed, with the name of the observation.
    pub fn observed(kind: &'static str, name: &str) -> Self {
        Self::at(kind, name.to_owned(), None)
    }

    fn at(kind: &'static str, path: String, place: Option<(String, u32)>) -> Self {
        let (file, line) = match &place {
            Some((file, line)) => (file.as_str(), line.to_string()),
            None => ("", String::new()),
        };
        let mut bytes = Vec::new();
        for part in [kind, file, &line, &path] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
        let id = SiteId(SipHasher24::new().hash(&bytes));
        Self {
            id,
            kind,
            path,
            place,
        }
    }
}

/// What leads from one site to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The first makes the second run.
    Calls,
    /// The first must end before the second may begin, by the control program.
    Then,
}

impl EdgeKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Then => "then",
        }
    }
}

/// An edge between two sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// What it means.
    pub kind: EdgeKind,
    /// Where it begins.
    pub from: SiteId,
    /// Where it ends.
    pub to: SiteId,
}

/// The site of something in an instance that has this path.
pub(crate) fn site_of(
    metadata: &Metadata,
    labels: &FrameLabels,
    id: ComponentId,
    holder: &str,
    kind: ElementKind,
) -> EventSite {
    let component = metadata.component(id);
    match kind {
        ElementKind::Cell => EventSite::new(metadata, "cell", holder.to_owned(), component.span),
        ElementKind::Control(node) => {
            let path = format!("{holder}.{}", labels.control(id, node));
            EventSite::new(metadata, "control", path, component.node(node).span)
        }
        ElementKind::Group(run) => {
            let group = component.run(run).group;
            let name = group_name(component, labels.group(id, group), run);
            let run = component.run(run);
            let enable = run.control.and_then(|node| component.node(node).span);
            let span = enable.or(component.group(run.group).span);
            EventSite::new(metadata, "group", format!("{holder}.{name}"), span)
        }
        ElementKind::Primitive(cell, _) => {
            let cell = component.cell(cell);
            let path = format!("{holder}.{}", cell.name);
            EventSite::new(metadata, "primitive", path, cell.span)
        }
    }
}

/// What a group is called as a site: with the column of its enable where that is needed to tell it from others, and with the part
/// that runs.
fn group_name(component: &Component, label: &str, id: GroupRunId) -> String {
    let run = component.run(id);
    let mut name = label.to_owned();
    let span = |node: Option<ControlId>| node.and_then(|node| component.node(node).span);
    // The condition of a loop is computed in several ways for one statement.
    let mut others = component.runs.iter().filter(|other| {
        other.group == run.group && other.part == run.part && other.control != run.control
    });
    let is_shared = others.any(|other| match (span(run.control), span(other.control)) {
        (Some(a), Some(b)) => a.file == b.file && a.line == b.line,
        (a, b) => a.is_none() && b.is_none(),
    });
    if is_shared {
        name = match span(run.control) {
            Some(span) => format!("{name}@L{}:{}", span.line, span.column),
            None => format!("{name}#{}", id.index()),
        };
    }
    match run.part {
        Some(part) => format!("{name} ({})", component.group(part).name),
        None => name,
    }
}

/// All sites of a design, what holds others first, and all edges.
pub(super) fn graph(metadata: &Metadata) -> (Vec<EventSite>, Vec<Edge>) {
    let mut graph = Graph {
        metadata,
        labels: FrameLabels::new(metadata),
        sites: Vec::new(),
        edges: Vec::new(),
    };
    let main = metadata.component(metadata.main);
    graph.add(metadata.main, &main.name);
    let mut seen = HashSet::new();
    graph.sites.retain(|site| seen.insert(site.id));
    graph.edges.sort_unstable();
    graph.edges.dedup();
    (graph.sites, graph.edges)
}

struct Graph<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    sites: Vec<EventSite>,
    edges: Vec<Edge>,
}

impl Graph<'_> {
    /// Adds an instance with all that it holds; returns its number.
    fn add(&mut self, id: ComponentId, holder: &str) -> SiteId {
        let metadata = self.metadata;
        let component = metadata.component(id);
        let cell = self.site(id, holder, ElementKind::Cell);
        let nodes = component.control.iter().enumerate();
        let nodes: Vec<Option<SiteId>> = nodes
            .map(|(at, node)| {
                let kind = ElementKind::Control(ControlId::from_index(at));
                (!node.kind.is_enable()).then(|| self.site(id, holder, kind))
            })
            .collect();
        let runs = 0..component.runs.len();
        let runs: Vec<SiteId> = runs
            .map(|at| self.site(id, holder, ElementKind::Group(GroupRunId::from_index(at))))
            .collect();
        let mut inner = HashMap::new();
        for (at, of) in component.cells.iter().enumerate() {
            let path = || format!("{holder}.{}", of.name);
            let site = match (&of.kind, &of.instance) {
                (CellKind::Component(id), Some(_)) => self.add(*id, &path()),
                (CellKind::Component(_), None) => continue,
                (CellKind::Primitive(_), _) => self.site(
                    id,
                    holder,
                    ElementKind::Primitive(CellId::from_index(at), None),
                ),
            };
            inner.insert(CellId::from_index(at), site);
        }
        // The runs of each control node, with their roles.
        let mut of_node: Vec<Vec<(RunRole, SiteId)>> = vec![Vec::new(); nodes.len()];
        for (run, &site) in component.runs.iter().zip(&runs) {
            if let Some(node) = run.control {
                of_node[node.index()].push((run.role, site));
            }
        }
        // What stands for a statement: an enable has no node of its own.
        let stand: Vec<Vec<SiteId>> = nodes
            .iter()
            .zip(&of_node)
            .map(|(site, runs)| match site {
                Some(site) => vec![*site],
                None => runs.iter().map(|&(_, site)| site).collect(),
            })
            .collect();
        let mut children: Vec<Vec<&[SiteId]>> = vec![Vec::new(); nodes.len()];
        for (at, node) in component.control.iter().enumerate() {
            let caller = node.parent.and_then(|parent| nodes[parent.index()]);
            self.join(EdgeKind::Calls, &[caller.unwrap_or(cell)], &stand[at]);
            if let Some(parent) = node.parent {
                children[parent.index()].push(&stand[at]);
            }
        }
        for (at, node) in component.control.iter().enumerate() {
            let Some(site) = nodes[at] else {
                continue;
            };
            let runs = of_node[at].iter();
            let all: Vec<SiteId> = runs.clone().map(|&(_, site)| site).collect();
            self.join(EdgeKind::Calls, &[site], &all);
            let conditions = runs.filter(|(role, _)| *role == RunRole::Condition);
            let conditions: Vec<SiteId> = conditions.map(|&(_, site)| site).collect();
            self.order(node.kind, &conditions, &children[at]);
        }
        for call in &component.calls {
            let caller = call.caller.map_or(cell, |run| runs[run.index()]);
            let callee = match call.callee {
                Callee::Group(run) => Some(runs[run.index()]),
                Callee::Cell(cell) => inner.get(&cell).copied(),
            };
            self.join(EdgeKind::Calls, &[caller], callee.as_slice());
        }
        cell
    }

    /// Adds what must end before what may begin among the children of a control node.
    fn order(&mut self, kind: ControlKind, conditions: &[SiteId], children: &[&[SiteId]]) {
        for child in children {
            self.join(EdgeKind::Then, conditions, child);
            if kind.is_loop() {
                self.join(EdgeKind::Then, child, child);
            }
        }
        if matches!(kind, ControlKind::Seq | ControlKind::StaticSeq) {
            for pair in children.windows(2) {
                self.join(EdgeKind::Then, pair[0], pair[1]);
            }
        }
    }

    fn site(&mut self, id: ComponentId, holder: &str, kind: ElementKind) -> SiteId {
        let site = site_of(self.metadata, &self.labels, id, holder, kind);
        let id = site.id;
        self.sites.push(site);
        id
    }

    fn join(&mut self, kind: EdgeKind, from: &[SiteId], to: &[SiteId]) {
        for &from in from {
            let edges = to.iter().map(|&to| Edge { kind, from, to });
            self.edges.extend(edges);
        }
    }
}
