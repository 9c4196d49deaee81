//! Random programs in the embedded simulator, against an interpreter of Calyx's control.
//!
//! `PETAL_SEED=7 PETAL_PROGRAMS=1000 cargo test --test fast random` tries others, and more.

use std::path::Path;

use petal_metadata::Metadata;

use crate::support::random::{
    every_cycle_is_as_interpreted, statements_run_as_often_as_interpreted,
};
use crate::support::{Traced, embedded, instrument_without, programs};

/// How many programs, unless the variable says otherwise.
const PROGRAMS: usize = 40;

fn profile(design: &Path, passes: &str, left_out: &[String]) -> (Metadata, Traced) {
    let (compiled, metadata) = instrument_without(design, passes, left_out);
    let (_, traced) = embedded(design, &compiled, &metadata);
    (metadata, traced)
}

#[test]
fn every_cycle_of_a_program_is_as_interpreted() {
    every_cycle_is_as_interpreted(programs(PROGRAMS), profile);
}

#[test]
fn statements_of_a_program_run_as_often_as_interpreted() {
    statements_run_as_often_as_interpreted(programs(PROGRAMS), profile);
}
