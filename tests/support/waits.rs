//! What the arms of each `par` waited, found out cycle for cycle from the call trees alone. Only for a static `par` with
//! an `if` in it do they not tell that: there an arm lasts as long as the schedule says, whatever its branch does.

use std::collections::BTreeMap;

use petal_metadata::{Component, ComponentId, ControlId, ControlKind, Metadata};
use petal_reconstruct::{CallTree, Event, InstanceId, Node};

type Place = (InstanceId, ControlId);

/// A `par` that is active: the cycle in which it began, and of each arm the last cycle in which it was active.
struct Active {
    component: ComponentId,
    since: u64,
    last: BTreeMap<ControlId, u64>,
}

/// For each `par`: the cycles in which an arm had ended and another had not, in all instances together. Those in
/// which nothing waited are left out.
pub fn waits(metadata: &Metadata, events: &[Event]) -> BTreeMap<(ComponentId, ControlId), u64> {
    let mut trees = Vec::new();
    let mut active: BTreeMap<Place, Active> = BTreeMap::new();
    let mut waits = BTreeMap::new();
    let mut over = |(_, par): Place, of: &Active| {
        let latest = of.last.values().max().copied().unwrap_or(of.since);
        let waiting = (of.since..=latest).filter(|at| of.last.values().any(|last| last < at));
        let cycles = waiting.count() as u64;
        if cycles > 0 {
            *waits.entry((of.component, par)).or_default() += cycles;
        }
    };
    for event in events {
        match event {
            Event::Tree(tree) => trees.push(pars(metadata, tree)),
            Event::Run(run) => {
                let now = &trees[petal_metadata::Id::index(run.tree)];
                active.retain(|place, of| {
                    let stays = now.contains_key(place);
                    if !stays {
                        over(*place, of);
                    }
                    stays
                });
                let start = run.start.cycles();
                for (&place, (component, arms)) in now {
                    for at in start..start + run.cycles {
                        let of = metadata.component(*component);
                        let begin = || Active {
                            component: *component,
                            since: at,
                            last: scheduled(of, place.1, at),
                        };
                        let latency = of.node(place.1).latency;
                        let of = active.entry(place).or_insert_with(begin);
                        // A static one may begin again without a break.
                        if latency.is_some_and(|latency| at - of.since == latency) {
                            over(place, of);
                            *of = begin();
                        }
                        for &arm in arms {
                            let last = of.last.entry(arm).or_insert(at);
                            *last = at.max(*last);
                        }
                    }
                }
            }
            Event::End { .. } => active.iter().for_each(|(place, of)| over(*place, of)),
            _ => {}
        }
    }
    waits
}

/// The `par`s that are active in a tree, with their active arms.
fn pars(metadata: &Metadata, tree: &CallTree) -> BTreeMap<Place, (ComponentId, Vec<ControlId>)> {
    let mut pars: BTreeMap<Place, (ComponentId, Vec<ControlId>)> = BTreeMap::new();
    for (id, node) in tree.nodes() {
        let Node::Control { component, control } = node else {
            continue;
        };
        let of = metadata.component(component);
        if !is_par(of, control) {
            continue;
        }
        let above = tree.path(id).into_iter().rev();
        let instance = above.map(|id| tree.node(id)).find_map(|node| match node {
            Node::Cell { instance, .. } => Some(instance),
            _ => None,
        });
        let children = tree.children(id).into_iter().map(|child| tree.node(child));
        let statements = children.filter_map(|child| match child {
            Node::Control { control, .. } => Some(control),
            Node::Group { run, .. } => of.run(run).control,
            _ => None,
        });
        // The arm that holds it.
        let arm = |statement: ControlId| {
            let mut above = std::iter::successors(Some(statement), |&at| of.node(at).parent);
            above.find(|&at| of.node(at).parent == Some(control))
        };
        let place = (instance.expect("a cell is around it"), control);
        let arms = &mut pars.entry(place).or_insert((component, Vec::new())).1;
        arms.extend(statements.filter_map(arm));
    }
    pars
}

/// The last cycle of each arm of a static `par` that holds an `if` and begins in cycle `at`.
fn scheduled(component: &Component, par: ControlId, at: u64) -> BTreeMap<ControlId, u64> {
    let nodes = || (0..component.control.len()).map(petal_metadata::Id::from_index);
    let above = |node: ControlId| {
        std::iter::successors(Some(node), |&at| component.node(at).parent).any(|at| at == par)
    };
    let is_if = |node: ControlId| component.node(node).kind.dynamic() == ControlKind::If;
    if component.node(par).latency.is_none() || !nodes().any(|node| above(node) && is_if(node)) {
        return BTreeMap::new();
    }
    let arms = nodes().filter(|&node| component.node(node).parent == Some(par));
    arms.map(|arm| (arm, at + component.node(arm).latency.unwrap() - 1))
        .collect()
}

fn is_par(component: &Component, control: ControlId) -> bool {
    let kind = component.node(control).kind;
    matches!(kind, ControlKind::Par | ControlKind::StaticPar)
}
