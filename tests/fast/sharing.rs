//! Random programs in which much is shared: a group or comb group that several arms of a `par`,
//! conditions and loops use, static and dynamic, with barriers, behind `invoke`, in components with
//! several cells and with `ref` cells.
//!
//! Owns the promise that probes change nothing: a program with probes takes the cycles of the one
//! without, leaves the same in its memory, or fails alike; and all breakdowns of its profile add up.
//! Whether a call tree is right is `random.rs`'s to tell.
//!
//! `PETAL_SEED=7 PETAL_PROGRAMS=1000 cargo test --test fast sharing` tries other programs, and more. A failure is told as the smallest
//! program that fails so.

mod independence;
mod parts;
mod writer;

use std::cell::Cell;
use std::path::Path;

use num_bigint::BigUint;
use petal_embedded::{Options, Simulation};
use petal_metadata::Metadata;
use petal_passes::{Design, Pipeline};
use petal_program::{Library, Program};
use petal_reconstruct::{Event, ProbeSource as _, Reconstruction};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

use self::parts::Group;
use self::writer::{HEAD, Writer};
use crate::support;
use crate::support::sums::{self, same};

/// How many programs are tried.
const PROGRAMS: u32 = 30;

/// A program that has not finished by then is taken to hang.
const CYCLE_LIMIT: u64 = 2_000;

/// A control program. Numbers choose among what there is to choose from.
#[derive(Debug, Clone)]
enum Shape {
    Enable(usize),
    Static(StaticShape),
    Invoke(Call),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    /// Two arms that do the same, one of them so many groups later.
    Twins(Box<Shape>, usize),
    /// Two arms that meet at the end of each iteration of a loop.
    Meet(usize, Box<(Shape, Shape)>),
    If(usize, Box<Shape>, Option<Box<Shape>>),
    While(usize, Box<Shape>),
    Repeat(u64, Box<Shape>),
}

#[derive(Debug, Clone)]
enum StaticShape {
    Enable(usize),
    Invoke(usize),
    Seq(Vec<StaticShape>),
    Par(Vec<StaticShape>),
    If(Box<(StaticShape, StaticShape)>),
    Repeat(u64, Box<StaticShape>),
}

/// An `invoke`.
#[derive(Debug, Clone)]
struct Call {
    component: usize,
    cell: usize,
    /// Which cells to pass for `ref` cells.
    actual: usize,
    /// Whether to invoke a `ref` cell.
    formal: bool,
    condition: Option<usize>,
}

/// Components, main last, and how to compile them.
#[derive(Debug, Clone)]
struct Random {
    bodies: Vec<Shape>,
    /// Whether the registers of main are stored. The compiler may share those that nobody reads.
    observed: bool,
    passes: Passes,
}

/// How to compile a program.
#[derive(Debug, Clone, Copy)]
enum Passes {
    All,
    /// `all` without some of its optimisations, a bit for each.
    Without(u32),
    NoOpt,
}

fn static_shape() -> impl Strategy<Value = StaticShape> {
    let leaf = prop_oneof![
        4 => (0..3usize).prop_map(StaticShape::Enable),
        1 => (0..2usize).prop_map(StaticShape::Invoke),
    ];
    leaf.prop_recursive(2, 5, 2, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            some().prop_map(StaticShape::Seq),
            some().prop_map(StaticShape::Par),
            (inner.clone(), inner.clone()).prop_map(|both| StaticShape::If(both.into())),
            (1..3u64, inner).prop_map(|(times, body)| StaticShape::Repeat(times, body.into())),
        ]
    })
}

fn call() -> impl Strategy<Value = Call> {
    let usual = prop_oneof![7 => Just(0usize), 1 => 1..3usize];
    let formal = prop::bool::weighted(0.2);
    let condition = prop::option::weighted(0.2, 0..3usize);
    (0..3usize, 0..2usize, usual, formal, condition).prop_map(
        |(component, cell, actual, formal, condition)| Call {
            component,
            cell,
            actual,
            formal,
            condition,
        },
    )
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        6 => (0..Group::ALL.len()).prop_map(Shape::Enable),
        1 => static_shape().prop_map(Shape::Static),
        2 => call().prop_map(Shape::Invoke),
    ];
    leaf.prop_recursive(4, 14, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        let condition = 0..4usize;
        let otherwise = prop::option::of(inner.clone().prop_map(Box::new));
        prop_oneof![
            3 => some().prop_map(Shape::Seq),
            2 => some().prop_map(Shape::Par),
            3 => (inner.clone(), 0..4usize).prop_map(|(arm, later)| Shape::Twins(arm.into(), later)),
            2 => (condition.clone(), inner.clone(), inner.clone())
                .prop_map(|(condition, a, b)| Shape::Meet(condition, (a, b).into())),
            2 => (condition.clone(), inner.clone(), otherwise)
                .prop_map(|(condition, then, otherwise)| Shape::If(condition, then.into(), otherwise)),
            3 => (condition, inner.clone())
                .prop_map(|(condition, body)| Shape::While(condition, body.into())),
            1 => (1..3u64, inner).prop_map(|(times, body)| Shape::Repeat(times, body.into())),
        ]
    })
}

fn random() -> impl Strategy<Value = Random> {
    let bodies = prop::collection::vec(shape(), 1..4);
    let passes = prop_oneof![
        Just(Passes::All),
        any::<u32>().prop_map(Passes::Without),
        Just(Passes::NoOpt),
    ];
    (bodies, any::<bool>(), passes).prop_map(|(bodies, observed, passes)| Random {
        bodies,
        observed,
        passes,
    })
}

impl Random {
    fn text(&self) -> String {
        // No pass of `no-opt` compiles it.
        let repeats = !matches!(self.passes, Passes::NoOpt);
        let mut text = HEAD.to_owned();
        let mut formals = Vec::new();
        for (at, shape) in self.bodies.iter().enumerate() {
            let is_main = at + 1 == self.bodies.len();
            let mut writer = Writer::new(&formals, is_main, repeats);
            writer.shape(shape);
            let name = if is_main {
                "main".to_owned()
            } else {
                format!("p{at}")
            };
            let (component, own_formals) = writer.finish(&name, self.observed);
            formals.push(own_formals);
            text.push_str(&component);
        }
        text
    }

    /// The list of passes, and those of them to leave out.
    fn passes(&self) -> (&'static str, Vec<String>) {
        match self.passes {
            Passes::All => ("all", Vec::new()),
            Passes::NoOpt => ("no-opt", Vec::new()),
            Passes::Without(chosen) => {
                let left_out = OPTIMISATIONS.iter().enumerate();
                let left_out = left_out.filter(|(at, _)| chosen >> at & 1 == 1);
                ("all", left_out.map(|(_, &pass)| pass.to_owned()).collect())
            }
        }
    }
}

/// Passes of `all` that are not needed to compile anything.
const OPTIMISATIONS: [&str; 12] = [
    "collapse-control",
    "group2seq",
    "dead-assign-removal",
    "group2invoke",
    "infer-share",
    "comb-prop",
    "cell-share",
    "static-inference",
    "static-promotion",
    "dead-cell-removal",
    "simplify-static-guards",
    "add-guard",
];

/// What became of a program.
#[derive(Debug, PartialEq)]
enum Outcome {
    Refused(String),
    Ran {
        cycles: u64,
        /// Why it did not finish.
        stopped: Option<String>,
        memory: Option<std::collections::BTreeMap<u64, BigUint>>,
    },
}

impl Outcome {
    fn finished(&self) -> bool {
        matches!(self, Self::Ran { stopped: None, .. })
    }
}

fn ran(cycles: u64, simulation: &mut Simulation) -> Outcome {
    Outcome::Ran {
        cycles,
        stopped: simulation.stopped().map(ToString::to_string),
        memory: simulation.read_memory("memory"),
    }
}

fn simulation(
    design: &Design,
    signals: &[petal_reconstruct::Signal],
) -> Result<Simulation, String> {
    let options = Options {
        cycle_limit: CYCLE_LIMIT,
        partial: true,
        ..Options::default()
    };
    Simulation::new(design.program(), signals, options).map_err(|error| error.to_string())
}

fn plain(design: &Design) -> Result<Outcome, String> {
    let mut simulation = simulation(design, &[])?;
    let mut cycles = 0;
    while simulation.next_cycle().map_err(|error| error.to_string())? {
        cycles += 1;
    }
    Ok(ran(cycles, &mut simulation))
}

fn profiled(design: &Design, metadata: &Metadata) -> Result<Outcome, String> {
    let reconstruction = Reconstruction::new(metadata);
    let mut simulation = simulation(design, &reconstruction.signals().watched)?;
    let events = support::events(&reconstruction, &mut simulation, &"the program");
    let Some(&Event::End { cycles }) = events.last() else {
        return Err("the trace has no end".to_owned());
    };
    sums::check(metadata, &events, cycles)?;
    Ok(ran(cycles, &mut simulation))
}

/// Compiles and runs a program without probes and with them.
fn check(
    text: &str,
    passes: &str,
    left_out: &[String],
    library: &Library,
    file: &Path,
) -> Result<Outcome, String> {
    std::fs::write(file, text).expect("the temporary folder can be written");
    let pipeline = Pipeline::parse(passes, left_out).expect("the passes are known");
    let read = || Program::read(file, library).map_err(|error| error.to_string());
    let refused = |error: petal_passes::PassesError| Outcome::Refused(error.to_string());
    let without = petal_passes::compile(read()?, &pipeline);
    let with = petal_passes::instrument(read()?, &pipeline);
    if let (Ok(without), Ok((with, _))) = (&without, &with) {
        same("structure", &with.structure, &without.structure)?;
    }
    let without = match without {
        Ok(design) => plain(&design)?,
        Err(error) => refused(error),
    };
    let with = match with {
        Ok((design, metadata)) => profiled(&design, &metadata)?,
        Err(error) => refused(error),
    };
    same("with probes", &with, &without)?;
    Ok(without)
}

#[test]
fn probes_change_nothing_where_much_is_shared() {
    let library = Library::new(&[]).expect("the library can be set up");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("random.futil");
    let config = ProptestConfig {
        cases: support::programs(PROGRAMS),
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, support::rng());
    let (tried, finished) = (Cell::new(0), Cell::new(0));
    let first_failure = Cell::new(None);
    let result = runner.run(&random(), |program| {
        if first_failure.get().is_none() {
            tried.set(tried.get() + 1);
        }
        let text = program.text();
        let (passes, left_out) = program.passes();
        match check(&text, passes, &left_out, &library, &file) {
            Ok(outcome) => {
                finished.set(finished.get() + u32::from(outcome.finished()));
                Ok(())
            }
            Err(problem) => {
                first_failure.set(first_failure.get().or(Some(tried.get())));
                let left_out = left_out.join(",");
                let told = format!("{passes} without \"{left_out}\": {problem}\n{text}");
                Err(TestCaseError::fail(told))
            }
        }
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => {
            let number = first_failure.get().unwrap_or_default();
            panic!("program {number} fails; the smallest that does:\n{reason}");
        }
        Err(error) => panic!("{error}"),
    }
    let (tried, finished) = (tried.get(), finished.get());
    assert!(
        finished * 4 > tried * 3,
        "only {finished} of {tried} programs finished"
    );
}
