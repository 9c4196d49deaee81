//! The critical path of a run: to which statement each of its cycles belongs, if every `par` is followed along the arm
//! that ends last.
//!
//! Owns the sums: in a `par` only the arm that ends last in this activation counts, and of arms that end together the first in the
//! source. Where none of it is active, the cycle is the `par`'s. What belongs to what in one cycle, `plans.rs` tells, and when a `par`
//! ends, `sums.rs`.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use petal_metadata::{ControlId, Id as _, Metadata};
use petal_reconstruct::{CallTree, Event, InstanceId, Node, Run};

use serde::{Deserialize, Serialize};

use crate::plans::{PathId, Plans, Work};
use crate::sums::{Par, Sum, Tally};

/// A statement of a component cell, or the cell itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// The component cell.
    pub instance: InstanceId,
    /// The statement; `None` for the cell.
    pub statement: Option<ControlId>,
}

/// Follows a trace along its critical path. Memory grows with the number of different call trees, not with cycles.
#[derive(Debug)]
pub struct CriticalPath<'a> {
    plans: Plans<'a>,
    calls: BTreeSet<(Site, InstanceId)>,
    sum: Sum<Cycles>,
}

/// Cycles by the paths they belong to.
#[derive(Debug, Default)]
struct Cycles(HashMap<PathId, u64>);

impl Cycles {
    fn add(&mut self, path: PathId, cycles: u64) {
        *self.0.entry(path).or_default() += cycles;
    }
}

impl Tally for Cycles {
    type Common = ();

    fn take(&mut self, path: PathId, _: Work, cycles: u64, (): &mut ()) {
        self.add(path, cycles);
    }

    fn take_par(&mut self, par: Par<Self>, (): &mut ()) {
        let arms = par.arms.into_values();
        // The last of equal ones wins: the first in the source.
        let last = arms.rev().max_by_key(|arm| arm.end);
        let mut rest = par.cycles;
        if let Some(arm) = last {
            rest -= arm.cycles;
            for (path, cycles) in arm.sum.tally.0 {
                self.add(path, cycles);
            }
        }
        if rest > 0 {
            self.add(par.path, rest);
        }
    }
}

/// What the cycles of a run are on the critical path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CriticalCycles {
    /// Those that belong to each site: together, the cycles of the run.
    pub own: BTreeMap<Site, u64>,
    /// The same with those of all that it contains and calls.
    pub through: BTreeMap<Site, u64>,
    /// Which sites ran which component cells that have control, and for how many cycles of the critical path.
    pub calls: BTreeMap<(Site, InstanceId), u64>,
}

impl<'a> CriticalPath<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            plans: Plans::new(metadata),
            calls: BTreeSet::new(),
            sum: Sum::default(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.plans.instance(*instance),
            Event::Tree(tree) => {
                self.note_calls(tree);
                self.plans.tree(tree);
            }
            Event::Run(Run {
                tree,
                start,
                cycles,
            }) => {
                let plan = &self.plans.trees[tree.index()];
                let end = start.cycles() + cycles;
                self.sum.add(plan, *cycles, end, &mut ());
            }
            _ => {}
        }
    }

    /// The sums of a trace that is over.
    pub fn finish(mut self) -> CriticalCycles {
        self.sum.end(&mut ());
        let mut all = CriticalCycles {
            calls: self.calls.iter().map(|&call| (call, 0)).collect(),
            ..CriticalCycles::default()
        };
        for (&path, &cycles) in &self.sum.tally.0 {
            *all.own.entry(self.plans.paths[path].1).or_default() += cycles;
            let above = |path: &PathId| self.plans.paths[*path].0;
            let mut called = None;
            for at in std::iter::successors(Some(path), above) {
                let site = self.plans.paths[at].1;
                *all.through.entry(site).or_default() += cycles;
                if let Some(cell) = called.replace(site)
                    && cell.statement.is_none()
                {
                    *all.calls.entry((site, cell.instance)).or_default() += cycles;
                }
            }
        }
        all
    }

    /// Notes which statements run which cells.
    fn note_calls(&mut self, tree: &CallTree) {
        let mut sites: Vec<Option<Site>> = Vec::with_capacity(tree.len());
        for ((id, node), (_, _, holder)) in tree.nodes().zip(tree.with_holders()) {
            let above = tree.parent(id).and_then(|parent| sites[parent.index()]);
            if let Node::Cell { instance, .. } = node
                && let Some(above) = above
                && self.plans.has_control(instance)
            {
                self.calls.insert((above, instance));
            }
            let own = self
                .plans
                .site(node, holder.unwrap_or(InstanceId::from_index(0)));
            sites.push(own.or(above));
        }
    }
}
