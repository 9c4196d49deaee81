//! Random control programs against an interpreter of Calyx's control semantics that knows nothing
//! of petal.
//!
//! Under `no-opt` the interpreter tells for every cycle of a program which groups are active and
//! below which statements, and for every overhead cycle its kind and the statement to charge. Under
//! `all`, where the optimiser decides when things run, it tells how often and how long.

mod interpreter;
mod program;
mod shapes;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use petal_analysis::{Analysis, ControlView};
use petal_metadata::{Id, Metadata};
use petal_reconstruct::{Activity, CallTree, FrameLabels, InstanceId, Node};
use petal_table::Value;
use petal_visualize::StepKind;
use proptest::prelude::*;

use self::program::Program;
use self::shapes::{Grammar, Random, randoms};
use super::{Traced, ends, graph, rng, sums, try_instrument};

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

/// The instance of a program's component, unless the compiler has removed it.
fn instance_of(metadata: &Metadata, traced: &Traced, program: usize) -> Option<InstanceId> {
    let name = format!("p{program}");
    let at = traced
        .instances
        .iter()
        .position(|instance| metadata.component(instance.component).name == name);
    at.map(InstanceId::from_index)
}

const HEAD: &str = "import \"primitives/core.futil\";\nimport \"primitives/sync.futil\";\n";

/// Programs, one component for each, and a main that invokes them one after the other.
fn design(all: &[Random]) -> (String, Vec<Program>) {
    let mut text = HEAD.to_owned();
    let (mut programs, mut calls, mut readers) = (Vec::new(), String::new(), String::new());
    for (number, random) in all.iter().enumerate() {
        let mut program = Program {
            line: text.lines().count() + 5,
            ..Program::default()
        };
        let code = program.write_shape(&random.shape, None, None);
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
        for _ in 0..random.calls {
            program.run(&code, false, &mut steps);
            let _ = write!(calls, " invoke c{number}()();");
        }
        program.steps = steps;
        programs.push(program);
    }
    text.push_str("component main() -> () {\n  cells {");
    for (number, program) in programs.iter().enumerate() {
        let _ = write!(text, " c{number} = p{number}();");
        // What nobody can read, the compiler removes.
        for output in &program.outputs {
            let output = output.trim_end_matches(": 1");
            let _ = write!(text, " @external {output}_{number} = std_reg(1);");
            let _ = write!(readers, " {output}_{number}.in = c{number}.{output};");
        }
    }
    let _ = write!(
        text,
        " }}\n  wires {{{readers} }}\n  control {{ seq {{{calls} }} }}\n}}\n"
    );
    (text, programs)
}

/// The texts of designs, each with two random programs.
pub fn texts(count: usize) -> Vec<String> {
    let randoms = randoms(Grammar::Exact, 2 * count, |_| true);
    randoms.chunks(2).map(|two| design(two).0).collect()
}

/// How a program is profiled under a pipeline without some of its passes.
pub type Profile = fn(&Path, &str, &[String]) -> (Metadata, Traced);

/// Writes a program down for `use_it`.
pub fn with_file<T>(text: &str, use_it: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("random.futil");
    std::fs::write(&file, text).expect("the temporary folder can be written");
    use_it(&file)
}

/// Under `no-opt`, every cycle of `count` random programs is as interpreted.
pub fn every_cycle_is_as_interpreted(count: usize, profile: Profile) {
    let (text, programs) = design(&randoms(Grammar::Exact, count, |_| true));
    let (metadata, traced) = with_file(&text, |file| profile(file, "no-opt", &[]));
    graph_is_as_interpreted(&metadata, &traced, &programs);
    let labels = FrameLabels::new(&metadata);
    for (number, program) in programs.iter().enumerate() {
        let instance = instance_of(&metadata, &traced, number).expect("main has a cell of it");
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

/// Passes of `all` that are not needed to compile anything.
const OPTIMISATIONS: [&str; 8] = [
    "collapse-control",
    "group2seq",
    "dead-assign-removal",
    "comb-prop",
    "static-inference",
    "static-promotion",
    "dead-cell-removal",
    "simplify-static-guards",
];

/// Under whatever pipeline, all statements of `count` random programs run as often as interpreted, all runs of a statement
/// that has no `if` in it take the same time, and all overhead is in every table.
pub fn statements_run_as_often_as_interpreted(count: usize, profile: Profile) {
    let mut chosen = rng();
    let mut without = |most: u32| {
        let chosen = chosen.next_u32() & most;
        let left_out = (0..).zip(OPTIMISATIONS);
        let left_out = left_out.filter(move |(at, _)| chosen >> at & 1 == 1);
        let left_out = left_out.map(|(_, pass)| pass.to_owned());
        // It fails on loops and branches that are empty.
        ("all", left_out.chain(["infer-share".to_owned()]).collect())
    };
    let pipelines: [(&str, Vec<String>); 4] = [
        without(0),
        ("compile-repeat,no-opt", vec![]),
        without(u32::MAX),
        without(u32::MAX),
    ];
    // Calyx can't compile some that have something empty, and some of its barriers never open.
    let is_fine = |random: &Random| {
        let (text, _) = design(std::slice::from_ref(random));
        with_file(&text, |file| {
            let mut pipelines = pipelines.iter();
            pipelines.all(|(passes, left_out)| {
                let compiled = try_instrument(file, passes, left_out);
                compiled.is_ok_and(|(design, _)| !random.shape.meets() || ends(file, &design))
            })
        })
    };
    let (text, programs) = design(&randoms(Grammar::Whole, count, is_fine));
    for (passes, left_out) in &pipelines {
        let at = format!("{passes} without {left_out:?}");
        let (metadata, traced) = with_file(&text, |file| profile(file, passes, left_out));
        graph_is_as_interpreted(&metadata, &traced, &programs);
        let mut analysis = Analysis::new(&metadata, ControlView::Source);
        for event in &traced.events {
            analysis.event(event);
        }
        statements_are_as_interpreted(&analysis, &programs, &at);
        loops_are_as_interpreted(&analysis, &programs, &at);
        if left_out.len() < 2 {
            groups_are_as_interpreted(&metadata, &traced, &programs);
        }
        sums::check(&metadata, &traced.events, analysis.cycles())
            .unwrap_or_else(|problem| panic!("{at}: {problem}\n{text}"));
        assert_eq!(
            analysis.ledger().unplaced,
            0,
            "{at}: overhead of no statement"
        );
    }
}

/// The groups that a run shows are those of the interpreter.
fn groups_are_as_interpreted(metadata: &Metadata, traced: &Traced, programs: &[Program]) {
    let labels = FrameLabels::new(metadata);
    for (number, program) in programs.iter().enumerate() {
        let known: BTreeSet<String> = program
            .machine(0, &program.steps)
            .iter()
            .flat_map(|cycle| program.expect(cycle).1)
            .collect();
        let Some(instance) = instance_of(metadata, traced, number) else {
            continue;
        };
        let found: BTreeSet<String> = traced
            .trees
            .iter()
            .filter_map(|tree| seen(traced, &labels, tree, instance))
            .flat_map(|(_, frames)| frames)
            .filter(|frame| !frame.ends_with(" (compiler)"))
            .collect();
        assert_eq!(found, known, "groups of p{number}\n{}", program.numbered());
    }
}

/// The table of statements tells what the interpreter does, and hardly anything is missing.
fn statements_are_as_interpreted(analysis: &Analysis<'_>, programs: &[Program], at: &str) {
    let table = analysis.statements();
    let column = |name: &str| table.column(name).expect("the table has the column");
    let (components, statements) = (column("component"), column("statement"));
    let (entered, cycles) = (column("times entered"), column("cycles"));
    let (iterations, average) = (column("iterations"), column("avg"));
    let (least, most) = (column("min"), column("max"));
    let (mut known, mut open) = (0, 0);
    for (number, program) in programs.iter().enumerate() {
        let component = Value::Text(format!("p{number}"));
        for row in (0..table.rows().len()).filter(|&row| *components[row] == component) {
            let Value::Text(name) = statements[row] else {
                panic!("a statement has a name");
            };
            let told = || format!("{name} of p{number}, {at}\n{}", program.numbered());
            let group = program.runs.get(name);
            let statement = program.statements.iter().find(|it| it.label == *name);
            let (times, total) = match (group, statement) {
                (Some((latency, total)), _) => (total / latency, Some(*total)),
                (_, Some(statement)) => (statement.times, None),
                // A barrier.
                _ => continue,
            };
            if *entered[row] == Value::Unknown {
                open += 1;
                continue;
            }
            known += 1;
            assert_eq!(*entered[row], Value::Count(times), "times of {}", told());
            let &Value::Count(cycles) = cycles[row] else {
                panic!("cycles are a number");
            };
            assert!(
                total.is_none_or(|total| total == cycles),
                "cycles of {}",
                told()
            );
            let mean = Value::average(cycles, times);
            assert_eq!(*average[row], mean, "average of {}", told());
            if statement.is_none_or(|statement| statement.is_fixed) {
                assert_eq!(
                    least[row],
                    most[row],
                    "shortest and longest run of {}",
                    told()
                );
            }
            if let (Some(statement), Value::Count(_)) = (statement, iterations[row]) {
                let expected = Value::Count(statement.iterations);
                assert_eq!(*iterations[row], expected, "iterations of {}", told());
            }
        }
    }
    assert!(open * 20 <= known, "{open} open, {known} known, {at}");
}

/// Every loop goes round as often as interpreted each time, and iterations are told of nearly all.
fn loops_are_as_interpreted(analysis: &Analysis<'_>, programs: &[Program], at: &str) {
    let table = analysis.loops();
    let column = |name: &str| table.column(name).expect("the table has the column");
    let (components, statements) = (column("component"), column("statement"));
    let (fewest, most) = (column("fewest iterations"), column("most iterations"));
    let (cycles, average) = (column("cycles"), column("average iteration"));
    let (mut known, mut open) = (0, 0);
    for (number, program) in programs.iter().enumerate() {
        let component = Value::Text(format!("p{number}"));
        for row in (0..table.rows().len()).filter(|&row| *components[row] == component) {
            let statement = program.statements.iter();
            let mut statement =
                statement.filter(|it| *statements[row] == Value::Text(it.label.clone()));
            let statement = statement.next().expect("the interpreter has all loops");
            let told = || {
                format!(
                    "{} of p{number}, {at}\n{}",
                    statement.label,
                    program.numbered()
                )
            };
            if *fewest[row] == Value::Unknown {
                open += 1;
                continue;
            }
            known += 1;
            let each = statement.iterations.checked_div(statement.times);
            let each = each.map_or(Value::Empty, Value::Count);
            assert_eq!(
                (fewest[row], most[row]),
                (&each, &each),
                "iterations of {}",
                told()
            );
            if let (Value::Decimal(average), Value::Count(cycles)) = (average[row], cycles[row]) {
                #[expect(clippy::cast_precision_loss, reason = "few cycles")]
                let all = average * statement.iterations as f64;
                #[expect(clippy::cast_precision_loss, reason = "few cycles")]
                let most = *cycles as f64 + 0.005 * statement.iterations as f64;
                assert!(all <= most, "cycles of the iterations of {}", told());
            }
        }
    }
    assert!(open * 4 <= known, "{open} loops open, {known} known, {at}");
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
        let Some(instance) = instance_of(metadata, traced, number) else {
            continue;
        };
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
