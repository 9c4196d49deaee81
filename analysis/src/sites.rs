//! The sites of a design: everything that can be active, each with a number that is the same in every run and on every machine, and
//! what leads from one to another.

mod graph;
mod table;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use petal_metadata::{
    CellKind, Component, ComponentId, ControlId, GroupId, GroupRun, GroupRunId, Id as _, Metadata,
    SiteId, Span,
};
use petal_reconstruct::FrameLabels;
use petal_table::Value;

use crate::elements::ElementKind;

pub use graph::{Edge, EdgeKind};
pub use table::{columns, table};

/// What a table has in its column `site`.
pub(crate) fn cell(site: Option<SiteId>) -> Value {
    site.map_or(Value::Empty, |site| site.to_string().into())
}

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
        let at = place.as_ref().map(|(file, line)| (file.as_str(), *line));
        let id = SiteId::new(kind, at, &path);
        Self {
            id,
            kind,
            path,
            place,
        }
    }
}

/// Which runs of groups stand for what in a component.
#[derive(Debug)]
struct Inside {
    /// What each run is called as a site.
    names: Vec<String>,
    /// The runs of each group, and those of each control node.
    of_groups: HashMap<GroupId, Vec<ElementKind>>,
    of_nodes: HashMap<ControlId, Vec<ElementKind>>,
    /// The path of the component's instance, if there is one.
    only: Option<String>,
}

/// Tells the site of everything in a design.
#[derive(Debug)]
pub struct Sites<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    components: Vec<Inside>,
    /// The number of each site that a control node or a run of a group has in an instance without a path, with those that have it.
    shared: HashMap<(ComponentId, SiteId), Vec<ElementKind>>,
}

impl<'a> Sites<'a> {
    /// Of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        let labels = FrameLabels::new(metadata);
        let mut only = only_instances(metadata);
        let ids = metadata.component_ids();
        let components = ids.map(|id| {
            let component = metadata.component(id);
            let mut inside = Inside {
                names: run_names(component, &|group| labels.group(id, group)),
                of_groups: HashMap::new(),
                of_nodes: HashMap::new(),
                only: only.remove(&id),
            };
            for (run, element) in component.runs.iter().zip(runs(component)) {
                inside.of_groups.entry(run.group).or_default().push(element);
                if let Some(node) = run.control {
                    inside.of_nodes.entry(node).or_default().push(element);
                }
            }
            inside
        });
        let components = components.collect();
        let mut sites = Self {
            metadata,
            labels,
            components,
            shared: HashMap::new(),
        };
        for id in metadata.component_ids() {
            for kind in inside(metadata.component(id)) {
                let site = sites.of(id, "", kind).id;
                sites.shared.entry((id, site)).or_default().push(kind);
            }
        }
        sites
    }

    /// The design.
    pub fn metadata(&self) -> &'a Metadata {
        self.metadata
    }

    /// What everything is called in call trees.
    pub fn labels(&self) -> &FrameLabels {
        &self.labels
    }

    /// The site of something in an instance that has this path.
    pub fn of(&self, id: ComponentId, holder: &str, kind: ElementKind) -> EventSite {
        let metadata = self.metadata;
        let component = metadata.component(id);
        let (kind, name, span) = match kind {
            ElementKind::Cell => {
                return EventSite::new(metadata, "cell", holder.to_owned(), component.span);
            }
            ElementKind::Control(node) => {
                let label = self.labels.control(id, node);
                ("control", label, component.node(node).span)
            }
            ElementKind::Group(run) => {
                let name = self.components[id.index()].names[run.index()].as_str();
                let run = component.run(run);
                let enable = run.control.and_then(|node| component.node(node).span);
                let span = enable.or(component.group(run.group).span);
                ("group", name, span)
            }
            ElementKind::Primitive(cell, _) => {
                let cell = component.cell(cell);
                ("primitive", cell.name.as_str(), cell.span)
            }
        };
        EventSite::new(metadata, kind, format!("{holder}.{name}"), span)
    }

    /// Whether other things of the component look like it, but for what their sites are called.
    pub fn is_alike(&self, id: ComponentId, kind: ElementKind) -> bool {
        let ElementKind::Group(run) = kind else {
            return false;
        };
        let inside = &self.components[id.index()];
        let run_name = &inside.names[run.index()];
        let group = self.metadata.component(id).run(run).group;
        let rest = run_name.strip_prefix(self.labels.group(id, group));
        rest.is_some_and(|rest| rest.starts_with(['@', '#']))
    }

    /// The number of a statement in an instance that has this path: of an enable, that of the group which it runs. `None` if the compiler
    /// made several of it, or one of several.
    pub fn statement(&self, id: ComponentId, holder: &str, statement: ControlId) -> Option<SiteId> {
        let node = self.metadata.component(id).node(statement);
        if !node.kind.is_enable() {
            return self.one(id, holder, &[ElementKind::Control(statement)]);
        }
        let runs = self.components[id.index()].of_nodes.get(&statement)?;
        self.one(id, holder, runs)
    }

    /// The number of a statement of a component, if that has one instance: else it has a number in each.
    pub fn only_statement(&self, id: ComponentId, statement: ControlId) -> Option<SiteId> {
        let holder = self.components[id.index()].only.as_deref()?;
        self.statement(id, holder, statement)
    }

    /// The number of a group of a component, if it runs in one way, and the component has one instance.
    pub fn only_group(&self, id: ComponentId, group: GroupId) -> Option<SiteId> {
        let inside = &self.components[id.index()];
        let runs = inside.of_groups.get(&group)?;
        self.one(id, inside.only.as_deref()?, runs)
    }

    /// The number that these have, and nothing else.
    fn one(&self, id: ComponentId, holder: &str, elements: &[ElementKind]) -> Option<SiteId> {
        let first = *elements.first()?;
        let all = &self.shared[&(id, self.of(id, "", first).id)];
        (all == elements).then(|| self.of(id, holder, first).id)
    }
}

/// The runs of groups in a component.
fn runs(component: &Component) -> impl Iterator<Item = ElementKind> {
    let all = 0..component.runs.len();
    all.map(|at| ElementKind::Group(GroupRunId::from_index(at)))
}

/// The control nodes of a component that are sites, and all runs of groups.
fn inside(component: &Component) -> impl Iterator<Item = ElementKind> {
    let nodes = component.control.iter().enumerate();
    let nodes = nodes.filter(|(_, node)| !node.kind.is_enable());
    let nodes = nodes.map(|(at, _)| ElementKind::Control(ControlId::from_index(at)));
    nodes.chain(runs(component))
}

/// What holds a component cell, and its name there.
type Use<'a> = (ComponentId, &'a str);

/// The path of each component that has one instance.
fn only_instances(metadata: &Metadata) -> HashMap<ComponentId, String> {
    let mut uses: HashMap<ComponentId, Vec<Use<'_>>> = HashMap::new();
    let (mut seen, mut next) = (HashSet::from([metadata.main]), vec![metadata.main]);
    while let Some(holder) = next.pop() {
        for cell in &metadata.component(holder).cells {
            if let (CellKind::Component(id), Some(_)) = (&cell.kind, &cell.instance) {
                uses.entry(*id).or_default().push((holder, &cell.name));
                if seen.insert(*id) {
                    next.push(*id);
                }
            }
        }
    }
    let main = metadata.component(metadata.main).name.clone();
    let mut paths = HashMap::from([(metadata.main, main)]);
    let mut next = vec![metadata.main];
    while let Some(holder) = next.pop() {
        for (id, uses) in &uses {
            if let [(of, cell)] = uses[..]
                && of == holder
            {
                paths.insert(*id, format!("{}.{cell}", paths[&holder]));
                next.push(*id);
            }
        }
    }
    paths
}

/// What the runs of groups are called as sites: with the column of the enable where that is needed to tell one from others, and with
/// the part that runs.
fn run_names<'a>(component: &Component, label: &impl Fn(GroupId) -> &'a str) -> Vec<String> {
    let span = |node: Option<ControlId>| node.and_then(|node| component.node(node).span);
    let place = |run: &GroupRun| span(run.control).map(|span| (span.file, span.line));
    // The condition of a loop is computed in several ways for one statement.
    let mut ways: HashMap<_, HashSet<Option<ControlId>>> = HashMap::new();
    for run in &component.runs {
        let on_line = ways.entry((run.group, run.part, place(run))).or_default();
        on_line.insert(run.control);
    }
    let all = component.runs.iter().enumerate();
    let names = all.map(|(at, run)| {
        let mut name = label(run.group).to_owned();
        if ways[&(run.group, run.part, place(run))].len() > 1 {
            name = match span(run.control) {
                Some(span) => format!("{name}@L{}:{}", span.line, span.column),
                None => format!("{name}#{at}"),
            };
        }
        match run.part {
            Some(part) => format!("{name} ({})", component.group(part).name),
            None => name,
        }
    });
    names.collect()
}
