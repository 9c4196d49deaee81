//! To which statement each cycle of a call tree belongs: the innermost one that is active, and in a `par` one of each arm.
//!
//! Owns these rules. A group that runs a component cell hands its cycles on to what the cell runs; one that runs several cells at once keeps
//! them, since no trace tells for which of them it waits. Of the steps of a static `seq` that the compiler runs at once, the one with the
//! longest latency counts. A cell in which nothing of its control program is active has its cycles itself.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{ComponentId, ControlId, ControlKind, Id as _, Metadata, RunRole};
use petal_reconstruct::{CallTree, Instance, InstanceId, Node, NodeId};

use crate::critical::Site;
use crate::ledger::{Inside, insides};
use crate::waits::Timing;

/// A call path: from the main cell down to a site.
pub(crate) type PathId = usize;

/// Where the cycles of a tree belong.
#[derive(Debug)]
pub(crate) enum Plan {
    At(PathId, Work),
    /// To a `seq` itself.
    AtSeq(PathId, Work),
    /// That of this step of a `seq`.
    Seq(PathId, ControlId, Box<Plan>),
    /// That of one of these arms, which tells when the `par` has ended.
    Par(PathId, Vec<(ControlId, Plan)>),
}

/// What a program, or an arm of a `par` whose schedule the compiler did not fix, does in a cycle: most that anything in it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Work {
    /// Only control moves along.
    Control,
    /// Only a condition is computed.
    Condition,
    /// Something computes.
    Computation,
}

impl Work {
    fn of(inside: Inside) -> Self {
        match inside {
            Inside::Nothing => Self::Control,
            Inside::Condition => Self::Condition,
            Inside::Useful => Self::Computation,
        }
    }
}

/// A tree, with what runs at or below each of its nodes.
struct Shown<'t> {
    tree: &'t CallTree,
    insides: Vec<Inside>,
}

impl Deref for Shown<'_> {
    type Target = CallTree;

    fn deref(&self) -> &CallTree {
        self.tree
    }
}

/// The plans of the trees of a run.
#[derive(Debug)]
pub(crate) struct Plans<'a> {
    pub metadata: &'a Metadata,
    instances: Vec<Instance>,
    /// By the numbers of the trees.
    pub trees: Vec<Plan>,
    /// Each with the path that it goes on from.
    pub paths: Vec<(Option<PathId>, Site)>,
    numbers: HashMap<(Option<PathId>, Site), PathId>,
    /// Those of steps that the compiler runs at once.
    pub at_once: BTreeSet<PathId>,
}

impl<'a> Plans<'a> {
    /// Of no tree of this design yet.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            instances: Vec::new(),
            trees: Vec::new(),
            paths: Vec::new(),
            numbers: HashMap::new(),
            at_once: BTreeSet::new(),
        }
    }

    /// Takes in the next instance.
    pub fn instance(&mut self, instance: Instance) {
        self.instances.push(instance);
    }

    /// Takes in the next tree.
    pub fn tree(&mut self, tree: &CallTree) {
        let insides = insides(self.metadata, tree);
        let root = NodeId::from_index(0);
        let work = Work::of(insides[0]);
        let tree = &Shown { tree, insides };
        let plan = self.plan(tree, root, InstanceId::from_index(0), None, work);
        self.trees.push(plan);
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

    pub fn component(&self, instance: InstanceId) -> ComponentId {
        self.instances[instance.index()].component
    }

    /// The site that a node stands for, in the cell `holder`; `None` for what belongs to the one above it.
    pub fn site(&self, node: Node, holder: InstanceId) -> Option<Site> {
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

    pub fn has_control(&self, instance: InstanceId) -> bool {
        let component = self.metadata.component(self.component(instance));
        !component.control.is_empty()
    }

    /// Where the cycles below a node belong; `work` is what the program, or the arm, does in them.
    fn plan(
        &mut self,
        tree: &Shown<'_>,
        id: NodeId,
        holder: InstanceId,
        above: Option<PathId>,
        work: Work,
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
                return self.par(tree, &inside, (component, control), holder, (path, work));
            }
        }
        let next = match inside[..] {
            [only] => Some(only),
            _ => self.longest(tree, &inside, holder),
        };
        match next {
            Some(next) => {
                let step = self.step(tree, node, next, holder);
                let plan = self.plan(tree, next, holder, Some(path), work);
                match step {
                    Some(step) => Plan::Seq(path, step, Box::new(plan)),
                    None => plan,
                }
            }
            None => {
                if inside.len() > 1 {
                    self.at_once.insert(path);
                }
                if self.is_seq(node) {
                    Plan::AtSeq(path, work)
                } else {
                    Plan::At(path, work)
                }
            }
        }
    }

    fn is_seq(&self, node: Node) -> bool {
        let Node::Control { component, control } = node else {
            return false;
        };
        let kind = self.metadata.component(component).node(control).kind;
        kind.dynamic() == ControlKind::Seq
    }

    /// The step of the `seq` `node` that something right below it belongs to; `None` if that is no `seq`.
    fn step(
        &self,
        tree: &Shown<'_>,
        node: Node,
        below: NodeId,
        holder: InstanceId,
    ) -> Option<ControlId> {
        let Node::Control { component, control } = node else {
            return None;
        };
        if !self.is_seq(node) {
            return None;
        }
        let of = self.metadata.component(component);
        let statement = self.site(tree.node(below), holder)?.statement?;
        let mut around = of.ancestry(statement);
        around.find(|&node| of.node(node).parent == Some(control))
    }

    /// Of static steps of a `seq` that the compiler runs at once, the longest, and of equal ones the first.
    fn longest(&self, tree: &Shown<'_>, inside: &[NodeId], holder: InstanceId) -> Option<NodeId> {
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
        tree: &Shown<'_>,
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
        tree: &Shown<'_>,
        inside: &[NodeId],
        (component, par): (ComponentId, ControlId),
        holder: InstanceId,
        (path, work): (PathId, Work),
    ) -> Plan {
        let of = self.metadata.component(component);
        let timing = Timing::of(of, par);
        let mut nodes: BTreeMap<ControlId, Vec<NodeId>> = BTreeMap::new();
        for &node in inside {
            let statement = self.site(tree.node(node), holder);
            let statement = statement.and_then(|site| site.statement);
            let arm = statement.and_then(|statement| {
                let mut around = of.ancestry(statement);
                around.find(|&node| of.node(node).parent == Some(par))
            });
            if let Some(arm) = arm {
                nodes.entry(arm).or_default().push(node);
            }
        }
        let mut arms = nodes.into_iter().map(|(arm, nodes)| {
            let inside = nodes.iter().map(|node| tree.insides[node.index()]).max();
            let own = Work::of(inside.unwrap_or(Inside::Nothing));
            let work = if matches!(timing, Timing::Dynamic) {
                own
            } else {
                work
            };
            (arm, self.plan(tree, nodes[0], holder, Some(path), work))
        });
        match timing {
            Timing::Static(_, _, _, longest) => {
                let longest = arms.find(|(arm, _)| *arm == longest);
                longest.map_or(Plan::At(path, work), |(_, plan)| plan)
            }
            Timing::Dynamic => Plan::Par(path, arms.collect()),
        }
    }
}
