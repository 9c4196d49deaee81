//! The designs of `calyx-examples` and `tests/corpus`, and what all tests of them share.

use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use petal_analysis::ByKind;

use super::source::Source;
use super::sums::{self, same};
use super::{Expected, compile, designs, embedded, examples, instrument, plain};

/// The design that the embedded simulator refuses.
pub const OWN_VERILOG: &str = "struct-verilog.futil";

/// From this many cycles on, a run is not looked at in every way.
pub const LONG: u64 = 100_000;

/// Checks every design under every pipeline that compiles it, on two threads: `check` gets the design,
/// the pipeline and what is expected of both. Tells all failures together; returns what the checks
/// return.
pub fn for_all<T: Send>(
    check: impl Fn(&Path, &str, u64, &Expected) -> Result<T, String> + Sync + std::panic::RefUnwindSafe,
) -> Vec<T> {
    let all = [examples(), designs("tests/corpus")];
    assert!(all[0].len() >= 14, "only {} examples", all[0].len());
    assert!(all[1].len() >= 60, "only {} designs", all[1].len());
    let all = all.concat();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let failures = Mutex::new(String::new());
    let work = || {
        while let Some(design) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let expected = Expected::of(design);
            let mut problems = String::new();
            if expected.cycles.is_empty() {
                problems += " the expectation names no pipeline";
            }
            for (passes, &cycles) in &expected.cycles {
                let checked = catch_unwind(|| check(design, passes, cycles, &expected));
                let checked = checked.unwrap_or_else(|panic| {
                    Err(panic.downcast_ref::<String>().cloned().unwrap_or_default())
                });
                match checked {
                    Ok(result) => results.lock().expect("no check holds it").push(result),
                    Err(problem) => {
                        let _ = write!(problems, "\n  under {passes}: {problem}");
                    }
                }
            }
            if !problems.is_empty() {
                let name = design.file_name().unwrap_or_default().to_string_lossy();
                let mut failures = failures.lock().expect("no check holds it");
                let _ = writeln!(failures, "{name}:{problems}");
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failures = failures.into_inner().expect("no check holds it");
    assert!(failures.is_empty(), "\n{failures}");
    results.into_inner().expect("no check holds it")
}

/// Whether the profile of a design in the embedded simulator is as it should be; the overhead of the run by kind.
pub fn profiled_exactly(
    design: &Path,
    passes: &str,
    cycles: u64,
    expected: &Expected,
) -> Result<ByKind, String> {
    let compiled = compile(design, passes);
    let (instrumented, metadata) = instrument(design, passes);
    same("structure", &instrumented.structure, &compiled.structure)?;
    // The slow tests run it in Verilator.
    if design.ends_with(OWN_VERILOG) {
        return Ok(ByKind::default());
    }
    let (length, without_probes) = plain(design, &compiled);
    same("plain cycles", &length, &cycles)?;
    for (name, memory) in &expected.memories {
        let left = without_probes.get(name);
        same(&format!("memory {name}"), &left, &Some(memory))?;
    }
    let (memories, traced) = embedded(design, &instrumented, &metadata);
    same("instrumented memories", &memories, &without_probes)?;
    let warnings: Vec<_> = traced
        .warnings
        .iter()
        .map(|warning| (&warning.signal, &warning.text))
        .collect();
    same("warnings", &warnings, &Vec::new())?;
    let source = Source::of(design);
    for tree in &traced.trees {
        source.check(&metadata, tree, passes == "no-opt")?;
    }
    if cycles < LONG {
        sums::check_pictures(&metadata, &traced.events, cycles)?;
    }
    sums::check(&metadata, &traced.events, cycles)
}
