//! Random control programs against an interpreter of Calyx's control semantics that knows nothing
//! of petal.
//!
//! Under `no-opt` the interpreter tells for every cycle of a program which groups are active and
//! below which statements, and for every overhead cycle its kind and the statement to charge. Under
//! `all`, where the optimiser decides when things run, it tells how often and how long.

mod interpreter;
mod program;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use petal_metadata::{Id, Metadata};
use petal_reconstruct::{Activity, CallTree, FrameLabels, InstanceId, Node};
use petal_visualize::{Analysis, ControlView, StepKind, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use self::program::Program;
use super::{Traced, graph, rng};

/// What is generated: the shape of a control program.
#[derive(Debug, Clone)]
pub enum Shape {
    Group(u64),
    Static(StaticShape),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    If {
        test: Test,
        with: bool,
        then: Box<Shape>,
        otherwise: Option<Box<Shape>>,
    },
    While {
        times: u64,
        with: bool,
        body: Box<Shape>,
    },
    Repeat {
        times: u64,
        body: Box<Shape>,
    },
}

#[derive(Debug, Clone)]
pub enum StaticShape {
    Group(u64),
    Seq(Vec<StaticShape>),
    Par(Vec<StaticShape>),
    If(bool, Box<StaticShape>, Box<StaticShape>),
    Repeat(u64, Box<StaticShape>),
}

/// The condition of an `if`.
#[derive(Debug, Clone, Copy)]
pub enum Test {
    Always(bool),
    /// Whether the innermost loop around it is in an odd iteration, counted from 0.
    Odd,
}

fn static_shape() -> impl Strategy<Value = StaticShape> {
    let group = (1..4u64).prop_map(StaticShape::Group);
    group.prop_recursive(2, 6, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            some().prop_map(StaticShape::Seq),
            some().prop_map(StaticShape::Par),
            (any::<bool>(), inner.clone(), inner.clone()).prop_map(|(test, a, b)| StaticShape::If(
                test,
                a.into(),
                b.into()
            )),
            (2..4u64, inner).prop_map(|(times, body)| StaticShape::Repeat(times, body.into())),
        ]
    })
}

fn shape(repeats: bool) -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        4 => (1..5u64).prop_map(Shape::Group),
        1 => static_shape().prop_map(Shape::Static),
    ];
    leaf.prop_recursive(4, 16, 3, move |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        let test = prop_oneof![any::<bool>().prop_map(Test::Always), Just(Test::Odd)];
        prop_oneof![
            some().prop_map(started),
            prop::collection::vec(some(), 2..4)
                .prop_map(|arms| Shape::Par(arms.into_iter().map(arm).collect())),
            (
                test,
                any::<bool>(),
                inner.clone(),
                prop::option::of(inner.clone())
            )
                .prop_map(|(test, with, then, otherwise)| Shape::If {
                    test,
                    with,
                    then: then.into(),
                    otherwise: otherwise.map(Box::new),
                }),
            (1..4u64, any::<bool>(), inner.clone()).prop_map(|(times, with, body)| Shape::While {
                times,
                with,
                body: body.into(),
            }),
            (2..4u64, inner.clone()).prop_map(move |(times, body)| {
                let body = Box::new(body);
                if repeats {
                    Shape::Repeat { times, body }
                } else {
                    Shape::While {
                        times,
                        with: false,
                        body,
                    }
                }
            }),
        ]
    })
}

/// A sequence that begins with a group: what a state machine begins with is unconditional.
fn started(mut rest: Vec<Shape>) -> Shape {
    rest.insert(0, Shape::Group(1));
    Shape::Seq(rest)
}

/// An arm of a `par`: a group, or something with a state machine of its own.
fn arm(mut parts: Vec<Shape>) -> Shape {
    match &parts[..] {
        [Shape::Group(_)] => parts.remove(0),
        _ => started(parts),
    }
}

/// What a call tree shows of one component cell, as `Program::expect` writes it: its activity, and
/// the groups in it.
fn seen(
    traced: &Traced,
    labels: &FrameLabels,
    tree: &CallTree,
    instance: InstanceId,
) -> Option<(String, Vec<String>)> {
    let (cell, activity) = tree.nodes().find_map(|(id, node)| match node {
        Node::Cell {
            instance: own,
            activity,
            ..
        } if own == instance => Some((id, activity)),
        _ => None,
    })?;
    let mut frames = Vec::new();
    for (id, node) in tree.nodes() {
        let path = tree.path(id);
        let Some(at) = path.iter().position(|&above| above == cell) else {
            continue;
        };
        if let Node::Group { .. } = node {
            let path: Vec<&str> = path[at + 1..]
                .iter()
                .map(|&above| labels.label(tree.node(above), &[]))
                .collect();
            frames.push(path.join(";"));
        }
    }
    frames.sort();
    let activity = match activity {
        Activity::Useful => "useful".to_owned(),
        Activity::Condition => "condition".to_owned(),
        Activity::Overhead(charge) => {
            let component = traced.instances[instance.index()].component;
            labels.charge(component, charge)
        }
    };
    Some((activity, frames))
}

/// The instance of a program's component.
fn instance_of(metadata: &Metadata, traced: &Traced, program: usize) -> InstanceId {
    let name = format!("p{program}");
    let at = traced
        .instances
        .iter()
        .position(|instance| metadata.component(instance.component).name == name);
    InstanceId::from_index(at.expect("main has a cell of it"))
}

const HEAD: &str = "import \"primitives/core.futil\";\n";

/// Random programs, one component for each, and a main that invokes them one after the other.
fn design(repeats: bool, count: usize) -> (String, Vec<Program>) {
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng());
    let strategy = shape(repeats);
    let mut text = HEAD.to_owned();
    let mut programs = Vec::new();
    for number in 0..count {
        let shape = strategy
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current();
        let shape = started(vec![shape, Shape::Group(1)]);
        let mut program = Program {
            line: text.lines().count() + 5,
            ..Program::default()
        };
        let code = program.write_shape(&shape, None, None);
        let _ = write!(
            text,
            "component p{number}() -> ({}) {{\n  cells {{ yes = std_wire(1); no = std_wire(1); \
             {} }}\n  wires {{ yes.in = 1'd1; no.in = 1'd0; {} }}\n  control {{\n{}  }}\n}}\n",
            program.outputs.join(", "),
            program.cells.replace('\n', " "),
            program.wires.replace('\n', " "),
            program.control
        );
        let mut steps = Vec::new();
        program.run(&code, false, &mut steps);
        program.steps = steps;
        programs.push(program);
    }
    text.push_str("component main() -> () {\n  cells {");
    for number in 0..count {
        let _ = write!(text, " c{number} = p{number}();");
    }
    text.push_str(" }\n  wires { }\n  control { seq {");
    for number in 0..count {
        let _ = write!(text, " invoke c{number}()();");
    }
    text.push_str(" } }\n}\n");
    (text, programs)
}

/// How a program is profiled under a pipeline.
pub type Profile = fn(&Path, &str) -> (Metadata, Traced);

/// Profiles a program.
fn profiled(text: &str, passes: &str, profile: Profile) -> (Metadata, Traced) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("random.futil");
    std::fs::write(&file, text).expect("the temporary folder can be written");
    profile(&file, passes)
}

/// Under `no-opt`, every cycle of `count` random programs is as interpreted.
pub fn every_cycle_is_as_interpreted(count: usize, profile: Profile) {
    let (text, programs) = design(false, count);
    let (metadata, traced) = profiled(&text, "no-opt", profile);
    graph_is_as_interpreted(&metadata, &traced, &programs);
    let labels = FrameLabels::new(&metadata);
    for (number, program) in programs.iter().enumerate() {
        let instance = instance_of(&metadata, &traced, number);
        let expected: Vec<_> = program
            .machine(0, &program.steps)
            .iter()
            .map(|cycle| program.expect(cycle))
            .collect();
        let found: Vec<_> = traced
            .runs
            .iter()
            .filter_map(|run| {
                let tree = &traced.trees[run.tree.index()];
                let line = seen(&traced, &labels, tree, instance)?;
                Some(vec![line; usize::try_from(run.cycles).expect("few cycles")])
            })
            .flatten()
            .collect();
        if expected != found {
            let at = expected
                .iter()
                .zip(&found)
                .position(|(a, b)| a != b)
                .unwrap_or(expected.len().min(found.len()));
            panic!(
                "cycle {at} of p{number}:\n  expected {:?}\n  found    {:?}\n{}",
                expected.get(at),
                found.get(at),
                program.numbered()
            );
        }
    }
}

/// Under `all`, the groups and loops of `count` random programs run as often as interpreted.
pub fn groups_and_loops_run_as_often_as_interpreted(count: usize, profile: Profile) {
    let (text, programs) = design(true, count);
    let (metadata, traced) = profiled(&text, "all", profile);
    graph_is_as_interpreted(&metadata, &traced, &programs);
    let mut analysis = Analysis::new(&metadata, ControlView::Source);
    for event in &traced.events {
        analysis.event(event);
    }
    let labels = FrameLabels::new(&metadata);
    for (number, program) in programs.iter().enumerate() {
        let known: BTreeSet<String> = program
            .machine(0, &program.steps)
            .iter()
            .flat_map(|cycle| program.expect(cycle).1)
            .collect();
        let instance = instance_of(&metadata, &traced, number);
        let found: BTreeSet<String> = traced
            .trees
            .iter()
            .filter_map(|tree| seen(&traced, &labels, tree, instance))
            .flat_map(|(_, frames)| frames)
            .filter(|frame| !frame.ends_with(" (compiler)"))
            .collect();
        assert_eq!(found, known, "groups of p{number}\n{}", program.numbered());
    }
    let table = analysis.statements();
    let column = |name: &str| table.column(name).expect("the table has the column");
    let (components, statements) = (column("component"), column("statement"));
    let (entered, cycles) = (column("times entered"), column("cycles"));
    let iterations = column("iterations");
    for (number, program) in programs.iter().enumerate() {
        let component = Value::Text(format!("p{number}"));
        for row in (0..table.rows().len()).filter(|&row| *components[row] == component) {
            let Value::Text(name) = statements[row] else {
                panic!("a statement has a name");
            };
            if let Some(&(latency, total)) = program.runs.get(name) {
                let expected = (Value::Count(total / latency), Value::Count(total));
                let found = (entered[row].clone(), cycles[row].clone());
                assert_eq!(
                    found,
                    expected,
                    "{name} of p{number}: times, cycles\n{}",
                    program.numbered()
                );
            }
            let known = program.statements.iter().find(|known| known.label == *name);
            if let (Some(known), Value::Count(_)) = (known, iterations[row]) {
                assert_eq!(
                    *iterations[row],
                    Value::Count(known.iterations),
                    "iterations of {name} of p{number}\n{}",
                    program.numbered()
                );
            }
        }
    }
}

/// The numbers of the control-flow graph are those of the interpreter, and hardly any is missing.
fn graph_is_as_interpreted(metadata: &Metadata, traced: &Traced, programs: &[Program]) {
    let mut analysis = Analysis::new(metadata, ControlView::Source);
    for event in &traced.events {
        analysis.event(event);
    }
    let graph = graph::of(metadata, &traced.events, &analysis);
    let (mut certain, mut open) = (0, 0);
    for (number, program) in programs.iter().enumerate() {
        let instance = instance_of(metadata, traced, number);
        for step in graph.graph().node_weights() {
            let name = format!("{}@{}", step.label, step.place);
            let expected = match step.kind {
                StepKind::Leaf => {
                    let runs = program.runs.get(&step.label);
                    runs.map(|(latency, total)| total / latency)
                }
                StepKind::If | StepKind::Loop | StepKind::Fork => {
                    let known = program.statements.iter().find(|it| it.label == name);
                    let known = known.filter(|it| !it.label.starts_with("static "));
                    known.map(|it| it.times)
                }
                StepKind::Cell | StepKind::Seq | StepKind::Join => None,
            };
            if step.site.instance != instance || expected.is_none() {
                continue;
            }
            match step.times {
                None => open += 1,
                Some(_) => certain += 1,
            }
            let found = step.times.or(expected);
            let text = program.numbered();
            assert_eq!(found, expected, "times of {name} of p{number}\n{text}");
        }
    }
    assert!(open * 20 <= certain, "{open} open, {certain} certain");
}
