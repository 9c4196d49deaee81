//! Steps of a `seq` that are said not to depend on one another: run at once, they leave the same in memory.

use std::cell::Cell;
use std::path::Path;

use petal_metadata::{ControlKind, Metadata};
use petal_passes::Pipeline;
use petal_program::{Library, Program};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{Outcome, plain, random};
use crate::support;

/// How many programs are tried.
const PROGRAMS: u32 = 40;

/// The lines of two neighbouring steps that are independent and have no hardware in common: the `par` that would
/// run both, their first line and their last one, counted from 1.
fn pairs(metadata: &Metadata) -> Vec<(&'static str, usize, usize)> {
    let mut pairs = Vec::new();
    for component in &metadata.components {
        for sequence in &component.sequences {
            let before = sequence.all_before();
            let par = match component.node(sequence.node).kind {
                ControlKind::StaticSeq => "static par",
                _ => "par",
            };
            for (at, steps) in sequence.steps.windows(2).enumerate() {
                let contends =
                    |contention: &petal_metadata::Contention| contention.with as usize == at;
                if !before[at + 1].contains(&at) && !steps[1].contends.iter().any(contends) {
                    let span = |at: usize| component.node(steps[at].node).span.unwrap();
                    pairs.push((par, span(0).line as usize, span(1).end_line as usize));
                }
            }
        }
    }
    pairs
}

/// What the text leaves in memory, and which steps could run at once; `None` if it does not come to its end.
fn run(text: &str, library: &Library, file: &Path) -> Option<(Outcome, Metadata)> {
    std::fs::write(file, text).unwrap();
    let program = || Program::read(file, library).unwrap();
    let pipeline = Pipeline::parse("all", &["cell-share".to_owned()]).unwrap();
    let (_, metadata) = petal_passes::instrument(program(), &pipeline).ok()?;
    let outcome = plain(&petal_passes::compile(program(), &pipeline).ok()?).unwrap();
    outcome.finished().then_some((outcome, metadata))
}

#[test]
fn independent_steps_may_run_at_once() {
    let library = Library::new(&[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("random.futil");
    let config = ProptestConfig {
        cases: support::programs(PROGRAMS),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, support::rng());
    let rewritten = Cell::new(0);
    let result = runner.run(&random(), |program| {
        let text = program.text();
        let Some((before, metadata)) = run(&text, &library, &file) else {
            return Ok(());
        };
        for (par, first, last) in pairs(&metadata) {
            let lines = text.lines().zip(1..);
            let edited = lines.map(|(line, at)| {
                let open = if at == first {
                    format!("{par} {{\n")
                } else {
                    String::new()
                };
                let close = if at == last { "\n}" } else { "" };
                format!("{open}{line}{close}\n")
            });
            let edited: String = edited.collect();
            let Some((after, _)) = run(&edited, &library, &file) else {
                continue;
            };
            rewritten.set(rewritten.get() + 1);
            let (Outcome::Ran { memory: was, .. }, Outcome::Ran { memory: is, .. }) =
                (&before, &after)
            else {
                unreachable!("both ran");
            };
            prop_assert_eq!(was, is, "lines {} to {}:\n{}", first, last, text);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let rewritten = rewritten.get();
    assert!(
        rewritten >= 10,
        "only {rewritten} pairs of steps were independent"
    );
}
