//! Every design of `calyx-examples` and `tests/corpus`, under `all` and `no-opt`, in Verilator: it takes
//! the cycles and leaves the memories that are expected, and the embedded simulator makes the same
//! trace. The examples run without probes, too, and so does each design whose Verilog without probes is
//! not the same text but for them. Under `no-opt` the groups of every call tree are held against the `go` signals, and so
//! are the `ref` cells and what they stand for. What must hold of the traces themselves, the fast
//! tests check.

mod verilog;
mod waves;

use std::path::Path;

use petal_reconstruct::Event;
use petal_verilator::{Optimisation, Trace};

use crate::support::corpus::{LONG, OWN_VERILOG, for_all, profiled_exactly};
use crate::support::sums::{self, same};
use crate::support::{Expected, compile, embedded, instrument, reconstruct, root, simulate};

#[test]
fn verilator_gives_the_same() {
    for_all(check);
}

fn check(design: &Path, passes: &str, cycles: u64, expected: &Expected) -> Result<(), String> {
    if cycles >= LONG {
        profiled_exactly(design, passes, cycles, expected)?;
    }
    let plain = compile(design, passes);
    let (instrumented, metadata) = instrument(design, passes);
    let [without, with] = [&plain, &instrumented].map(|design| {
        let verilog = design.verilog().unwrap_or_else(|error| panic!("{error}"));
        verilog::without_probes(&verilog)
    });
    // Test builds are quick to make, not to run.
    let optimisation = if cycles < LONG {
        Optimisation::Debug
    } else {
        Optimisation::Fast
    };
    let simulated = simulate(design, &instrumented, Trace::Vcd, optimisation);
    same("cycles", &simulated.cycles, &cycles)?;
    for (name, memory) in &expected.memories {
        let left = simulated.memories.get(name);
        same(&format!("memory {name}"), &left, &Some(memory))?;
    }
    let groups_are_seen = passes == "no-opt" && cycles < LONG;
    let trace = if groups_are_seen {
        Trace::Vcd
    } else {
        Trace::Off
    };
    // The same Verilog does the same.
    let runs_plain = with != without || design.starts_with(root().join("calyx-examples"));
    let plain = runs_plain.then(|| simulate(design, &plain, trace, optimisation));
    if let Some(plain) = &plain {
        same("cycles without probes", &plain.cycles, &cycles)?;
        let what = "memories without probes";
        same(what, &plain.memories, &simulated.memories)?;
    }
    let vcd = simulated.vcd.as_deref().ok_or("no waveform")?;
    let traced = reconstruct(&metadata, vcd);
    if design.ends_with(OWN_VERILOG) {
        same("warnings", &traced.warnings.len(), &0)?;
        sums::check(&metadata, &traced.events, cycles)?;
    } else {
        let (memories, other) = embedded(design, &instrumented, &metadata);
        same(
            "memories of the embedded simulator",
            &memories,
            &simulated.memories,
        )?;
        check_events(&other.events, &traced.events)?;
    }
    if groups_are_seen {
        let plain = plain.as_ref().and_then(|plain| plain.vcd.as_deref());
        let vcd = plain.unwrap_or(vcd);
        waves::check_groups(&metadata, &traced, vcd)?;
        waves::check_references(&metadata, &traced, vcd)?;
    }
    Ok(())
}

/// The embedded simulator makes the same trace as Verilator.
fn check_events(embedded: &[Event], verilator: &[Event]) -> Result<(), String> {
    let differs = embedded.iter().zip(verilator).position(|(a, b)| a != b);
    match differs {
        Some(at) => Err(format!(
            "event {at} of the embedded simulator: {:?}, expected {:?}",
            embedded[at], verilator[at]
        )),
        None => same(
            "events of the embedded simulator",
            &embedded.len(),
            &verilator.len(),
        ),
    }
}
