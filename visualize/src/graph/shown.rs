//! What a picture of the graph has room for: the statements with most cycles on the critical path, each with all around
//! it; of a large graph the critical path alone, unless more is asked for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use petgraph::graph::NodeIndex;

use super::detail::Detail;
use super::{ControlGraph, StepKind, Way};
use petal_analysis::critical::Site;

/// How many statements and cells a picture shows.
const MAX_SHOWN: usize = 300;

/// How many arms of one `par`, which stand side by side.
const MAX_ARMS: usize = 12;

/// Of a graph with more statements and cells, the critical path stands alone.
const LARGE: usize = 60;

/// The statements and cells that are shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// All of them.
    pub sites: BTreeSet<Site>,
    /// Those that are shown with what is in them.
    pub open: BTreeSet<Site>,
}

impl Shown {
    pub fn of(graph: &ControlGraph, detail: Detail) -> Self {
        let mut shown = Self::default();
        let is_alone = Self::is_alone(graph, detail);
        let mut waiting = BinaryHeap::new();
        let rank = |site: Site| {
            let cycles = graph.step(site).cycles;
            (graph.through(site), cycles, Reverse(site))
        };
        let called: BTreeSet<Site> = graph
            .graph
            .edge_indices()
            .filter(|&edge| graph.graph[edge].way == Way::Calls)
            .filter_map(|edge| graph.graph.edge_endpoints(edge))
            .map(|(_, to)| graph.graph[to].site)
            .collect();
        let uncalled = graph.cells.iter().map(|&(site, _)| site);
        for site in uncalled.filter(|site| !called.contains(site)) {
            shown.sites.insert(site);
            waiting.push(rank(site));
        }
        while let Some((_, _, Reverse(site))) = waiting.pop() {
            let mut inside = graph.statements[&site].inside.clone();
            if graph.step(site).kind == StepKind::Fork {
                inside.sort_by_key(|&arm| Reverse(rank(arm)));
                inside.truncate(MAX_ARMS);
            }
            let called = graph.called(site).map(|(called, _)| called);
            let below: BTreeSet<Site> = inside
                .into_iter()
                .chain(called)
                .filter(|&site| !is_alone || graph.through(site) > 0)
                .filter(|site| !shown.sites.contains(site))
                .collect();
            if shown.sites.len() + below.len() <= MAX_SHOWN {
                shown.open.insert(site);
                waiting.extend(below.iter().map(|&site| rank(site)));
                shown.sites.extend(below);
            }
        }
        shown
    }

    /// Whether a picture shows the critical path alone.
    pub fn is_alone(graph: &ControlGraph, detail: Detail) -> bool {
        detail == Detail::Fitting && graph.statements.len() > LARGE
    }

    /// The steps that call each cell, of those that are shown.
    pub fn callers(&self, graph: &ControlGraph) -> BTreeMap<Site, Vec<NodeIndex>> {
        let mut callers: BTreeMap<Site, Vec<NodeIndex>> = BTreeMap::new();
        for &site in &self.sites {
            for (called, _) in graph.called(site) {
                if self.sites.contains(&called) {
                    let step = graph.statements[&site].step;
                    callers.entry(called).or_default().push(step);
                }
            }
        }
        callers
    }
}
