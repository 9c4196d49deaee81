//! The critical path of a run: to which statement each of its cycles belongs, if every `par` is followed along the arm
//! that ends last.
//!
//! Owns the rules. From the main cell down, a cycle belongs to the innermost statement that is active: in a `par` only
//! the arm that ends last in this activation counts, and of arms that end together the first in the source. Where
//! none of it is active, the cycle is the `par`'s. A group that runs a component cell hands its cycles on to what the cell
//! runs; one that runs several cells at once keeps them, since no trace tells for which of them it waits. Of the steps of
//! a static `seq` that the compiler runs at once, the one with the longest latency counts. A cell in which nothing of its
//! control program is active has its cycles itself.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{ComponentId, ControlId, ControlKind, Id as _, Metadata, RunRole};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Node, NodeId, Run};

use serde::{Deserialize, Serialize};

use crate::waits::Timing;

/// A statement of a component cell, or the cell itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// The component cell.
    pub instance: InstanceId,
    /// The statement; `None` for the cell.
    pub statement: Option<ControlId>,
}

/// A call path: from the main cell down to a site.
type PathId = usize;

/// Follows a trace along its critical path. Memory grows with the number of different call trees, not with cycles.
#[derive(Debug)]
pub struct CriticalPath<'a> {
    metadata: &'a Metadata,
    instances: Vec<Instance>,
    /// By the numbers of the trees.
    plans: Vec<Plan>,
    /// Each with the path that it goes on from.
    paths: Vec<(Option<PathId>, Site)>,
    numbers: HashMap<(Option<PathId>, Site), PathId>,
    calls: BTreeSet<(Site, InstanceId)>,
    sum: Sum,
}

/// Where the cycles of a tree belong.
#[derive(Debug)]
enum Plan {
    At(PathId),
    /// That of one of these arms, which tells when the `par` has ended.
    Par(PathId, Vec<(ControlId, Plan)>),
}

/// Cycles by the paths they belong to.
#[derive(Debug, Default)]
struct Sum {
    cycles: HashMap<PathId, u64>,
    open: Option<Box<OpenPar>>,
}

/// A `par` that has not ended.
#[derive(Debug)]
struct OpenPar {
    path: PathId,
    cycles: u64,
    arms: BTreeMap<ControlId, Arm>,
}

#[derive(Debug, Default)]
struct Arm {
    /// In which it was active.
    cycles: u64,
    /// The cycle after the last of them.
    end: u64,
    sum: Sum,
}

impl Sum {
    fn add(&mut self, plan: &Plan, cycles: u64, end: u64) {
        match plan {
            Plan::At(path) => {
                self.close();
                *self.cycles.entry(*path).or_default() += cycles;
            }
            Plan::Par(path, arms) => {
                if self.open.as_ref().is_some_and(|open| open.path != *path) {
                    self.close();
                }
                let open = self.open.get_or_insert_with(|| {
                    Box::new(OpenPar {
                        path: *path,
                        cycles: 0,
                        arms: BTreeMap::new(),
                    })
                });
                open.cycles += cycles;
                for (arm, plan) in arms {
                    let arm = open.arms.entry(*arm).or_default();
                    arm.cycles += cycles;
                    arm.end = end;
                    arm.sum.add(plan, cycles, end);
                }
            }
        }
    }

    /// Ends the `par` that is open.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let arms = open.arms.into_values();
        // The last of equal ones wins: the first in the source.
        let last = arms.rev().max_by_key(|arm| arm.end);
        let mut rest = open.cycles;
        if let Some(mut arm) = last {
            arm.sum.close();
            rest -= arm.cycles;
            for (path, cycles) in arm.sum.cycles {
                *self.cycles.entry(path).or_default() += cycles;
            }
        }
        if rest > 0 {
            *self.cycles.entry(open.path).or_default() += rest;
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
            metadata,
            instances: Vec::new(),
            plans: Vec::new(),
            paths: Vec::new(),
            numbers: HashMap::new(),
            calls: BTreeSet::new(),
            sum: Sum::default(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                self.note_calls(tree);
                let main = InstanceId::from_index(0);
                let plan = self.plan(tree, NodeId::from_index(0), main, None);
                self.plans.push(plan);
            }
            Event::Run(Run {
                tree,
                start,
                cycles,
            }) => {
                let plan = &self.plans[tree.index()];
                self.sum.add(plan, *cycles, start.cycles() + cycles);
            }
            _ => {}
        }
    }

    /// The sums of a trace that is over.
    pub fn finish(mut self) -> CriticalCycles {
        self.sum.close();
        let mut all = CriticalCycles {
            calls: self.calls.iter().map(|&call| (call, 0)).collect(),
            ..CriticalCycles::default()
        };
        for (&path, &cycles) in &self.sum.cycles {
            *all.own.entry(self.paths[path].1).or_default() += cycles;
            let above = |path: &PathId| self.paths[*path].0;
            let mut called = None;
            for at in std::iter::successors(Some(path), above) {
                let site = self.paths[at].1;
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

    fn path(&mut self, above: Option<PathId>, site: Site) -> PathId {
        if above.is_some_and(|above| self.paths[above].1 == site) {
            return above.expect("it is");
        }
        let next = self.paths.len();
        let path = *self.numbers.entry((above, site)).or_insert(next);
        if path == next {
            self.paths.push((above, site));
        }
        path
    }

    fn component(&self, instance: InstanceId) -> ComponentId {
        self.instances[instance.index()].component
    }

    /// The site that a node stands for, in the cell `holder`; `None` for what belongs to the one above it.
    fn site(&self, node: Node, holder: InstanceId) -> Option<Site> {
        let statement = match node {
            Node::Cell { instance, .. } => {
                return Some(Site {
                    instance,
                    statement: None,
                });
            }
            Node::Control { control, .. } => Some(control),
            Node::Group { component, run, .. } => {
                self.metadata.component(component).run(run).control
            }
            Node::Continuous { .. } | Node::Primitive { .. } => None,
        };
        statement.map(|statement| Site {
            instance: holder,
            statement: Some(statement),
        })
    }

    /// Notes which statements run which cells.
    fn note_calls(&mut self, tree: &CallTree) {
        let mut sites: Vec<Option<Site>> = Vec::with_capacity(tree.len());
        for ((id, node), (_, _, holder)) in tree.nodes().zip(tree.with_holders()) {
            let above = tree.parent(id).and_then(|parent| sites[parent.index()]);
            if let Node::Cell { instance, .. } = node
                && let Some(above) = above
                && self.has_control(instance)
            {
                self.calls.insert((above, instance));
            }
            let own = self.site(node, holder.unwrap_or(InstanceId::from_index(0)));
            sites.push(own.or(above));
        }
    }

    fn has_control(&self, instance: InstanceId) -> bool {
        let component = self.metadata.component(self.component(instance));
        !component.control.is_empty()
    }

    /// Where the cycles below a node belong.
    fn plan(
        &mut self,
        tree: &CallTree,
        id: NodeId,
        holder: InstanceId,
        above: Option<PathId>,
    ) -> Plan {
        let node = tree.node(id);
        let site = self.site(node, holder);
        let path = match (site, above) {
            (Some(site), _) => self.path(above, site),
            (None, Some(above)) => above,
            // Not of a trace: its roots are the main cell.
            (None, None) => self.path(
                None,
                Site {
                    instance: holder,
                    statement: None,
                },
            ),
        };
        let holder = match node {
            Node::Cell { instance, .. } => instance,
            _ => holder,
        };
        let inside = self.inside(tree, id, holder, site);
        if let Node::Control { component, control } = node {
            let of = self.metadata.component(component);
            if of.node(control).kind.dynamic() == ControlKind::Par {
                return self.par(tree, &inside, (component, control), holder, path);
            }
        }
        let next = match inside[..] {
            [only] => Some(only),
            _ => self.longest(tree, &inside, holder),
        };
        match next {
            Some(next) => self.plan(tree, next, holder, Some(path)),
            None => Plan::At(path),
        }
    }

    /// Of static steps of a `seq` that the compiler runs at once, the longest, and of equal ones the first.
    fn longest(&self, tree: &CallTree, inside: &[NodeId], holder: InstanceId) -> Option<NodeId> {
        let of = self.metadata.component(self.component(holder));
        let latencies = inside.iter().map(|&node| {
            let statement = self.site(tree.node(node), holder)?.statement?;
            Some((of.node(statement).latency?, Reverse(statement), node))
        });
        let latencies: Option<Vec<_>> = latencies.collect();
        let (_, _, longest) = latencies?.into_iter().max()?;
        Some(longest)
    }

    /// The nodes right below one that cycles may belong to.
    fn inside(
        &self,
        tree: &CallTree,
        id: NodeId,
        holder: InstanceId,
        site: Option<Site>,
    ) -> Vec<NodeId> {
        let mut inside = tree.children(id);
        let all = inside.clone();
        inside.retain(|&child| match tree.node(child) {
            Node::Control { .. } => true,
            Node::Group { component, run, .. } => {
                let role = self.metadata.component(component).run(run).role;
                // What computes the condition of a statement or counts for it is a part of it.
                let serves = matches!(role, RunRole::Condition | RunRole::Control);
                !serves || self.site(tree.node(child), holder) != site
            }
            Node::Cell { instance, .. } => self.has_control(instance),
            Node::Continuous { .. } | Node::Primitive { .. } => false,
        });
        if inside.is_empty() {
            let is_continuous =
                |child: &NodeId| matches!(tree.node(*child), Node::Continuous { .. });
            inside.extend(all.into_iter().filter(is_continuous));
        }
        inside
    }

    /// Where the cycles of a `par` belong, of which this is active.
    fn par(
        &mut self,
        tree: &CallTree,
        inside: &[NodeId],
        (component, par): (ComponentId, ControlId),
        holder: InstanceId,
        path: PathId,
    ) -> Plan {
        let of = self.metadata.component(component);
        let mut arms: BTreeMap<ControlId, Plan> = BTreeMap::new();
        for &node in inside {
            let statement = self.site(tree.node(node), holder);
            let statement = statement.and_then(|site| site.statement);
            let arm = statement.and_then(|statement| {
                let mut around = of.ancestry(statement);
                around.find(|&node| of.node(node).parent == Some(par))
            });
            if let Some(arm) = arm {
                let plan = self.plan(tree, node, holder, Some(path));
                arms.entry(arm).or_insert(plan);
            }
        }
        match Timing::of(of, par) {
            Timing::Static(_, _, _, longest) => arms.remove(&longest).unwrap_or(Plan::At(path)),
            Timing::Dynamic => Plan::Par(path, arms.into_iter().collect()),
        }
    }
}
