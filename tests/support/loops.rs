//! The iterations of loops, counted again by a plain walk over all cycles of a run.

use std::collections::{BTreeMap, BTreeSet};

use petal_analysis::{Analysis, ControlView};
use petal_metadata::{Component, ControlId, GroupRun, Id, Metadata};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Node};
use petal_table::{RowId, Value};

/// A loop, and the cycles of each of its iterations, and how many there were each time that it was active.
#[derive(Debug, Default)]
struct Walk {
    lengths: Vec<u64>,
    counts: Vec<u64>,
    /// The iteration that goes on, the body that does, and the iterations since the loop became active.
    iteration: Option<u64>,
    body: Option<u64>,
    count: Option<u64>,
}

impl Walk {
    fn cycle(&mut self, is_loop: bool, is_body: bool, latency: Option<u64>) {
        if !is_loop {
            self.lengths.extend(self.iteration.take());
            self.counts.extend(self.count.take());
            self.body = None;
            return;
        }
        let count = self.count.get_or_insert(0);
        let begins = is_body
            && match (self.body, latency) {
                (None, _) => true,
                (Some(cycles), Some(latency)) => cycles % latency == 0,
                (Some(_), None) => false,
            };
        if begins {
            *count += 1;
            self.lengths.extend(self.iteration.replace(0));
        }
        self.body = is_body.then(|| self.body.unwrap_or(0) + 1);
        self.iteration = self.iteration.map(|cycles| cycles + 1);
    }
}

/// What is active in a tree: control nodes, and those whose groups are.
fn active(metadata: &Metadata, tree: &CallTree) -> BTreeSet<(InstanceId, ControlId)> {
    let mut all = BTreeSet::new();
    let mut cells: Vec<(usize, InstanceId)> = Vec::new();
    for ((depth, node), _) in tree.preorder().zip(tree.nodes()) {
        while cells.pop_if(|(above, _)| *above >= depth).is_some() {}
        let holder = cells.last().map(|(_, instance)| *instance);
        match node {
            Node::Cell { instance, .. } => cells.push((depth, instance)),
            Node::Control { control, .. } => all.extend(holder.map(|of| (of, control))),
            Node::Group { component, run, .. } => {
                let component = metadata.component(component);
                let own = component.run(run);
                if let Some(node) = own
                    .control
                    .filter(|_| own.role.is_body() && is_first(component, own))
                    && component.node(node).kind.is_enable()
                {
                    all.extend(holder.map(|of| (of, node)));
                }
            }
            Node::Continuous { .. } | Node::Primitive { .. } => {}
        }
    }
    all
}

/// Whether a run is no later part of a split group.
fn is_first(component: &Component, run: &GroupRun) -> bool {
    let mut parts = component
        .runs
        .iter()
        .filter(|of| of.part.is_some() && of.control == run.control && of.group == run.group);
    run.part.is_none() || parts.next() == Some(run)
}

/// Whether the table of loops tells what a plain walk does; gives how many loops are told of, and how many are not.
pub fn check(metadata: &Metadata, events: &[Event]) -> Result<(usize, usize), String> {
    let mut analysis = Analysis::new(metadata, ControlView::Source);
    let mut instances: Vec<Instance> = Vec::new();
    let mut trees = Vec::new();
    let mut walks: BTreeMap<(InstanceId, ControlId), Walk> = BTreeMap::new();
    for event in events {
        analysis.event(event);
        match event {
            Event::Instance(instance) => instances.push(*instance),
            Event::Tree(tree) => trees.push(active(metadata, tree)),
            Event::Run(run) => {
                let active = &trees[run.tree.index()];
                for (at, instance) in instances.iter().enumerate() {
                    let of = InstanceId::from_index(at);
                    let component = metadata.component(instance.component);
                    for (node, body) in loops(component) {
                        let latency = body.and_then(|body| latency(component, body));
                        let walk = walks.entry((of, node)).or_default();
                        let is_body = body.is_some_and(|body| active.contains(&(of, body)));
                        for _ in 0..run.cycles {
                            walk.cycle(active.contains(&(of, node)), is_body, latency);
                        }
                    }
                }
            }
            Event::End { .. } => {
                for walk in walks.values_mut() {
                    walk.cycle(false, false, None);
                }
            }
            _ => {}
        }
    }
    let table = analysis.loops();
    let column = |name: &str| table.column(name).ok_or(format!("no column {name}"));
    let names = [
        "fewest iterations",
        "most iterations",
        "shortest iteration",
        "longest iteration",
    ];
    let mut columns = Vec::new();
    for name in names {
        columns.push(column(name)?);
    }
    let (entered, average) = (column("times entered")?, column("average iteration")?);
    let (mut known, mut open) = (0, 0);
    for (at, id) in table.ids().iter().enumerate() {
        let Some(RowId::Statement(component, node)) = id else {
            return Err("a row of no statement".to_owned());
        };
        if *columns[0][at] == Value::Unknown {
            open += 1;
            continue;
        }
        known += 1;
        let of_component = |of: &&(InstanceId, ControlId)| {
            of.1 == *node && instances[of.0.index()].component == *component
        };
        let of = || {
            walks
                .iter()
                .filter(|(of, _)| of_component(of))
                .map(|(_, walk)| walk)
        };
        let lengths: Vec<u64> = of().flat_map(|walk| walk.lengths.clone()).collect();
        let mut counts: Vec<u64> = of().flat_map(|walk| walk.counts.clone()).collect();
        // Times in which it took no cycle.
        let &Value::Count(times) = entered[at] else {
            return Err("iterations of a loop that nobody counts".to_owned());
        };
        let seen = counts.len() as u64;
        counts.extend((seen..times).map(|_| 0));
        let expected = [
            counts.iter().min(),
            counts.iter().max(),
            lengths.iter().min(),
            lengths.iter().max(),
        ];
        let expected =
            expected.map(|value| value.map_or(Value::Empty, |&value| Value::Count(value)));
        let found: Vec<&Value> = columns.iter().map(|column| column[at]).collect();
        let mean = Value::average(lengths.iter().sum(), lengths.len() as u64);
        if found != expected.iter().collect::<Vec<_>>() || *average[at] != mean || seen > times {
            let name = metadata.component(*component).name.clone();
            return Err(format!(
                "loop {node:?} of {name}: {names:?} are {found:?}, a walk has {expected:?}; on average {:?}, {mean:?}",
                average[at]
            ));
        }
    }
    Ok((known, open))
}

fn loops(component: &Component) -> impl Iterator<Item = (ControlId, Option<ControlId>)> {
    let nodes = (0..component.control.len()).map(ControlId::from_index);
    let loops = nodes.filter(|&node| component.node(node).kind.is_loop());
    loops.map(|node| {
        let mut nodes = (0..component.control.len()).map(ControlId::from_index);
        (
            node,
            nodes.find(|&body| component.node(body).parent == Some(node)),
        )
    })
}

fn latency(component: &Component, body: ControlId) -> Option<u64> {
    let node = component.node(body);
    let mut runs = component.runs.iter();
    let latency = if node.kind.is_enable() {
        let run = runs.find(|run| run.control == Some(body) && run.role.is_body());
        run.filter(|run| run.part.is_none())
            .and_then(|run| run.latency)
    } else {
        node.latency
    };
    latency.filter(|&latency| latency > 0)
}
