//! The fuzz targets, on their corpus and on mutations of it: the same ones each time, as many as fit
//! into the time of the test. `cargo fuzz` goes on from there (see CONTRIBUTING.md).

#[path = "../../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::time::{Duration, Instant};

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::support::root;

/// How long the mutations of a target may take.
const TIME: Duration = Duration::from_secs(20);

/// All inputs of a target's corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{target} has no corpus");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

struct Random(TestRng);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u64() % (end as u64).max(1)).unwrap()
    }

    /// One input with a part of another one in it, or without a part of its own, or with other bytes.
    fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(3) {
            let at = self.below(input.len());
            let length = 1 + self.below(40);
            let end = input.len().min(at + length);
            match self.below(4) {
                0 => drop(input.drain(at..end)),
                1 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len());
                    let part = other[from..].iter().copied().take(length);
                    input.splice(at..at, part);
                }
                2 => input[at..end].fill(b"0119 x!#\n{}"[self.below(11)]),
                _ => {
                    if let Some(byte) = input.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
        input
    }
}

/// Runs a target on its corpus and on so many mutations, or as many as fit into the time, but at least on `least`.
fn run(name: &str, mutations: usize, least: usize, target: fn(&[u8])) {
    let corpus = corpus(name);
    for input in &corpus {
        target(input);
    }
    let mut random = Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let started = Instant::now();
    for done in 1..=mutations {
        target(&random.mutate(&corpus));
        if started.elapsed() > TIME {
            assert!(done >= least, "{name}: only {done} mutations in {TIME:?}");
            break;
        }
    }
}

#[test]
fn waveforms() {
    run("vcd", 5000, 500, targets::vcd);
}

#[test]
fn metadata() {
    // The schema moves on; the corpus has to follow.
    let inputs = corpus("metadata").into_iter();
    let fine = inputs.filter(|input| targets::sealed(input).is_some());
    assert_eq!(fine.count(), 5, "all but one are accepted");
    run("metadata", 1000, 50, targets::metadata);
}

#[test]
fn data() {
    run("data", 5000, 500, targets::data);
}

#[test]
fn traces() {
    let whole = corpus("trace").into_iter();
    let mut whole = whole.filter(|input| input.starts_with(b"petal-trace"));
    let whole = whole.next().expect("one input is a whole file");
    let read = targets::read_trace(&whole, "0123456789abcdef");
    assert!(
        read.is_ok(),
        "the format moves on; the corpus has to follow"
    );
    run("trace", 2000, 100, targets::trace);
}

#[test]
fn designs() {
    run("frontend", 100, 5, targets::frontend);
}

#[test]
fn compressed_waveforms() {
    run("fst", 3000, 300, targets::fst);
}

#[test]
fn files_of_observations() {
    run("observations", 3000, 300, targets::observations);
}

#[test]
fn expressions() {
    run("expression", 2000, 200, targets::expression);
}

#[test]
fn files_of_sweeps() {
    run("sweep", 5000, 500, targets::sweep);
}

#[test]
fn baselines() {
    run("baseline", 3000, 300, targets::baseline);
}
