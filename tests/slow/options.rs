//! With any option of the compiler's passes (`-x`), the profile is that of the design as it is built
//! with it.

use std::path::Path;

use petal_passes::{Pipeline, compile};
use petal_program::{Library, Program, STACK};
use serde_json::Value;

use crate::support;
use crate::support::workshop::Workshop;

/// All of the stock pipelines, but those that petal refuses.
const OPTIONS: [&str; 12] = [
    "cell-share:print-share-freqs=<out>",
    "cell-share:bounds=1,1,1",
    "cell-share:print-par-timing=<out>",
    "cell-share:calyx-2020",
    "comb-prop:no-eliminate",
    "infer-share:print-dmap=<out>",
    "infer-share:print-static-analysis=<out>",
    "static-promotion:threshold=3",
    "static-promotion:cycle-limit=2",
    "static-promotion:if-diff-limit=0",
    "static-promotion:compaction=false",
    "tdcc:dump-fsm",
];

const DESIGNS: [&str; 6] = [
    "calyx-examples/dot-product.futil",
    "calyx-examples/nested-components.futil",
    "calyx-examples/shared-component.futil",
    "calyx-examples/switch-case-par.futil",
    "calyx-examples/while-par.futil",
    "tests/corpus/mixed.futil",
];

/// The cycles of a design as the stock compiler builds it with an option.
fn plain(design: &Path, option: &str) -> u64 {
    let library = Library::new(&[]).unwrap();
    let program = Program::read(design, &library).unwrap();
    let pipeline = Pipeline::parse("all", &[]).unwrap();
    let pipeline = pipeline.with_options(&[option.to_owned()]).unwrap();
    let design_built = compile(program, &pipeline).unwrap();
    support::plain(design, &design_built).0
}

fn all_designs() {
    let workshop = Workshop::new();
    for design in DESIGNS {
        let path = support::root().join(design);
        for option in OPTIONS {
            let args = [
                "run",
                path.to_str().unwrap(),
                "--out",
                "out",
                "--json",
                "-x",
                option,
            ];
            let summary: Value = serde_json::from_str(&workshop.succeeds(&args)).unwrap();
            let cycles = summary["cycles"].as_u64().unwrap();
            assert_eq!(cycles, plain(&path, option), "{design} {option}");
            let overhead = summary["overhead"].as_object().unwrap().values();
            let overhead: u64 = overhead.map(|cycles| cycles.as_u64().unwrap()).sum();
            let useful = summary["useful_cycles"].as_u64().unwrap();
            assert_eq!(useful + overhead, cycles, "{design} {option}");
        }
    }
}

#[test]
fn profiles_are_those_of_the_design_as_it_is_built() {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(all_designs).unwrap().join().unwrap();
}
