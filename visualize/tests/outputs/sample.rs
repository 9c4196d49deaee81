//! A small made-up design, with traces of it.

use petal_metadata::{
    Cell, CellId, CellKind, Component, ComponentId, ControlId, ControlKind, ControlNode, FrontEnd,
    Group, GroupId, GroupKind, GroupRun, GroupRunId, Id, Metadata, Origin, ProbeKind, ProbeName,
    ProbePrefix, RunRole, SourceFile, Span, Thread,
};
use petal_reconstruct::{
    Activity, CallTree, Charge, Cycle, Event, Instance, InstanceId, Node, Overhead, Run, TreeId,
};

pub fn id<I: Id>(index: usize) -> I {
    I::from_index(index)
}

fn span(line: u32) -> Span {
    Span {
        file: id(0),
        line,
        column: 1,
        end_line: line,
    }
}

fn group(name: &str, kind: GroupKind, line: u32) -> Group {
    Group {
        name: name.to_owned(),
        kind,
        origin: Origin::Source,
        span: Some(span(line)),
        positions: Vec::new(),
        done: None,
    }
}

fn run(group: usize, control: usize, latency: Option<u64>, number: u32) -> GroupRun {
    GroupRun {
        group: id(group),
        part: None,
        control: Some(id(control)),
        role: RunRole::Body,
        thread: id(0),
        latency,
        probe: ProbeName {
            kind: ProbeKind::GA,
            number,
        },
        enable: None,
    }
}

/// `seq { load; work; }` in main, where `work` calls the cell `c` of a component that runs `tick`.
pub fn metadata(names: [&str; 4]) -> Metadata {
    let [load, work, cell, tick] = names;
    let node = |kind, line, parent: Option<usize>, group: Option<usize>| ControlNode {
        kind,
        span: Some(span(line)),
        positions: Vec::new(),
        checkpoint: None,
        parent: parent.map(id::<ControlId>),
        origin: Origin::Source,
        thread: id(0),
        group: group.map(id::<GroupId>),
        cell: None,
        bindings: vec![],
        latency: None,
        repeats: None,
        merged: false,
    };
    let main = Component {
        lacks_cells: false,
        name: "main".to_owned(),
        span: None,
        positions: Vec::new(),
        latency: None,
        cells: vec![
            Cell {
                name: cell.to_owned(),
                kind: CellKind::Component(id(1)),
                origin: Origin::Source,
                span: None,
                positions: Vec::new(),
                instance: Some(cell.to_owned()),
            },
            Cell {
                name: "r".to_owned(),
                kind: CellKind::Primitive("std_reg".to_owned()),
                origin: Origin::Source,
                span: None,
                positions: Vec::new(),
                instance: Some("r".to_owned()),
            },
        ],
        groups: vec![
            group(load, GroupKind::Dynamic, 3),
            group(work, GroupKind::Dynamic, 4),
        ],
        control: vec![
            node(ControlKind::Seq, 10, None, None),
            node(ControlKind::Enable, 11, Some(0), Some(0)),
            node(ControlKind::Enable, 12, Some(0), Some(1)),
        ],
        runs: vec![run(0, 1, None, 0), run(1, 2, None, 1)],
        calls: vec![],
        lookups: vec![],
        continuous: vec![],
        sequences: vec![],
        threads: vec![Thread { arm: None }],
        compiled: vec![],
        root: None,
        schedule: None,
        registers: vec![],
    };
    let sub = Component {
        name: "sub".to_owned(),
        cells: vec![],
        groups: vec![group(tick, GroupKind::Static, 20)],
        control: vec![node(ControlKind::StaticEnable, 21, None, Some(0))],
        runs: vec![run(0, 0, Some(2), 0)],
        ..main.clone()
    };
    Metadata {
        version: petal_metadata::VERSION,
        petal: "0.0.0".to_owned(),
        calyx: "0.0.0".to_owned(),
        fingerprint: "0".to_owned(),
        verified: true,
        pipeline: vec![],
        files: vec![SourceFile {
            name: "d.futil".to_owned(),
            root: true,
            text: "seq {\n".repeat(30),
        }],
        front_end: FrontEnd::default(),
        prefix: ProbePrefix::avoiding(&[]),
        scope: vec!["toplevel".to_owned(), "main".to_owned()],
        main: id(0),
        components: vec![main, sub],
    }
}

fn main_cell(activity: Activity) -> Node {
    Node::Cell {
        instance: id::<InstanceId>(0),
        formal: None,
        activity,
    }
}

const SEQ: fn() -> Node = || Node::Control {
    component: id(0),
    control: id(0),
};
const LOAD: fn() -> Node = || Node::Group {
    component: id(0),
    group: id(0),
    run: id::<GroupRunId>(0),
};
const WORK: fn() -> Node = || Node::Group {
    component: id(0),
    group: id(1),
    run: id::<GroupRunId>(1),
};
const R: fn() -> Node = || Node::Primitive {
    component: id(0),
    cell: id::<CellId>(1),
    actual: None,
};

/// The trees of the sample: an FSM update, `load`, and `work` with the cell useful or not.
pub fn trees() -> Vec<CallTree> {
    let overhead = |kind| {
        Activity::Overhead(Charge {
            kind,
            statement: Some(id(0)),
        })
    };
    let update = overhead(Overhead::FsmUpdate);
    let cell = |activity| Node::Cell {
        instance: id::<InstanceId>(1),
        formal: None,
        activity,
    };
    let tick = Node::Group {
        component: id::<ComponentId>(1),
        group: id(0),
        run: id::<GroupRunId>(0),
    };
    [
        vec![(0, main_cell(update)), (1, SEQ())],
        vec![
            (0, main_cell(Activity::Useful)),
            (1, SEQ()),
            (2, LOAD()),
            (3, R()),
        ],
        vec![
            (0, main_cell(Activity::Useful)),
            (1, SEQ()),
            (2, LOAD()),
            (2, WORK()),
            (3, cell(Activity::Useful)),
            (4, tick),
        ],
        vec![
            (0, main_cell(Activity::Useful)),
            (1, SEQ()),
            (2, WORK()),
            (3, cell(overhead(Overhead::Other))),
            (3, R()),
        ],
    ]
    .into_iter()
    .map(|nodes| CallTree::from_preorder(nodes).unwrap())
    .collect()
}

/// A trace of (tree, cycles) pairs.
pub fn events(runs: &[(usize, u64)]) -> Vec<Event> {
    let mut events = vec![
        Event::Instance(Instance {
            component: id(0),
            parent: None,
        }),
        Event::Instance(Instance {
            component: id(1),
            parent: Some((id(0), id(0))),
        }),
    ];
    let trees = trees().into_iter().map(Box::new);
    events.extend(trees.map(Event::Tree));
    let mut at = 0;
    for &(tree, cycles) in runs {
        events.push(Event::Run(Run {
            tree: id::<TreeId>(tree),
            start: Cycle::from_cycles(at),
            cycles,
        }));
        at += cycles;
    }
    events.push(Event::End { cycles: at });
    events
}

pub const NAMES: [&str; 4] = ["load", "work", "c", "tick"];
pub const SAMPLE: [(usize, u64); 6] = [(1, 1), (0, 1), (2, 4), (3, 1), (0, 2), (1, 3)];
