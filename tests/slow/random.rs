//! Random programs in Verilator, against an interpreter of Calyx's control and the embedded simulator.

use std::path::Path;

use petal_metadata::Metadata;
use petal_verilator::{Optimisation, Trace};

use crate::support::random::{
    every_cycle_is_as_interpreted, statements_run_as_often_as_interpreted,
};
use crate::support::{Traced, embedded, instrument_without, programs, reconstruct, simulate};

/// How many programs, unless the variable `PETAL_PROGRAMS` says otherwise.
const PROGRAMS: usize = 24;

fn profile(design: &Path, passes: &str, left_out: &[String]) -> (Metadata, Traced) {
    let (compiled, metadata) = instrument_without(design, passes, left_out);
    let simulated = simulate(design, &compiled, Trace::Vcd, Optimisation::Debug);
    let traced = reconstruct(&metadata, simulated.vcd.as_deref().expect("it was traced"));
    let (_, other) = embedded(design, &compiled, &metadata);
    assert!(
        other.events == traced.events,
        "the embedded simulator makes another trace than Verilator"
    );
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
