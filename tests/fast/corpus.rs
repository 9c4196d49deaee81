//! Every design of `calyx-examples` and `tests/corpus`, under `all` and `no-opt`, in the embedded
//! simulator: it takes the cycles and leaves the memories that are expected, with petal's probes and
//! without, every call tree keeps the rules, and every breakdown adds up. The cells of every group are
//! held against those that it drives in the source.
//!
//! `PETAL_UPDATE=1 cargo test --test fast corpus` writes the cycles of the plain design into the
//! `.expect` files. Memories in there are computed by hand and never written.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::Path;

use petal_analysis::ByKind;
use petal_reconstruct::Overhead;

use crate::support::corpus::{LONG, for_all, profiled_exactly};
use crate::support::{Expected, compile, designs, examples, plain};

#[test]
fn the_corpus_is_profiled_exactly() {
    if std::env::var_os("PETAL_UPDATE").is_some() {
        for design in [examples(), designs("tests/corpus")].concat() {
            update(&design);
        }
    }
    let mut sum = ByKind::default();
    for kinds in for_all(check) {
        for (sum, cycles) in sum.iter_mut().zip(kinds) {
            *sum += cycles;
        }
    }
    let (all, other) = (sum.iter().sum::<u64>(), sum[Overhead::Other as usize]);
    assert!(
        other * 100 <= all,
        "{other} of {all} cycles of overhead are of no known kind"
    );
}

fn check(design: &Path, passes: &str, cycles: u64, expected: &Expected) -> Result<ByKind, String> {
    // The slow tests have the others.
    if cycles < LONG {
        profiled_exactly(design, passes, cycles, expected)
    } else {
        Ok(ByKind::default())
    }
}

/// Writes the cycles of the plain design into its expectation: under the pipelines that it names, or
/// under all that compile the design if it names none.
fn update(design: &Path) {
    let known = Expected::of(design);
    let mut pipelines: Vec<&str> = known.cycles.keys().map(String::as_str).collect();
    if pipelines.is_empty() {
        pipelines = vec!["all", "no-opt"];
    }
    let mut cycles = BTreeMap::new();
    for passes in pipelines {
        let run = || {
            let compiled = compile(design, passes);
            plain(design, &compiled).0
        };
        match catch_unwind(run) {
            Ok(length) => {
                cycles.insert(passes, length);
            }
            Err(panic) => {
                eprintln!(
                    "{}",
                    panic.downcast_ref::<String>().cloned().unwrap_or_default()
                );
            }
        }
    }
    let expected = serde_json::json!({ "cycles": cycles, "memories": known.memories });
    let path = Expected::path(design);
    std::fs::write(&path, format!("{expected:#}\n")).expect("the expectation can be written");
}
