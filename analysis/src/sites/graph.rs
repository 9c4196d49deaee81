//! What leads from one site of a design to another.

use std::collections::{HashMap, HashSet};

use petal_metadata::{
    Callee, CellId, CellKind, ComponentId, ControlId, ControlKind, GroupRunId, Id as _, RunRole,
};

use super::{EventSite, SiteId, Sites};
use crate::elements::ElementKind;

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

impl Sites<'_> {
    /// All sites of the design, what holds others first, and all edges.
    pub fn graph(&self) -> (Vec<EventSite>, Vec<Edge>) {
        let metadata = self.metadata;
        let mut graph = Graph {
            sites: self,
            list: Vec::new(),
            edges: Vec::new(),
        };
        let main = metadata.component(metadata.main);
        graph.add(metadata.main, &main.name);
        let mut seen = HashSet::new();
        graph.list.retain(|site| seen.insert(site.id));
        graph.edges.sort_unstable();
        graph.edges.dedup();
        (graph.list, graph.edges)
    }
}

struct Graph<'a> {
    sites: &'a Sites<'a>,
    list: Vec<EventSite>,
    edges: Vec<Edge>,
}

impl Graph<'_> {
    /// Adds an instance with all that it holds; returns its number.
    fn add(&mut self, id: ComponentId, holder: &str) -> SiteId {
        let component = self.sites.metadata.component(id);
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
        let site = self.sites.of(id, holder, kind);
        let id = site.id;
        self.list.push(site);
        id
    }

    fn join(&mut self, kind: EdgeKind, from: &[SiteId], to: &[SiteId]) {
        for &from in from {
            let edges = to.iter().map(|&to| Edge { kind, from, to });
            self.edges.extend(edges);
        }
    }
}
