//! Options of the compiler's passes (`-x`): the profile is that of the design as it is built with
//! them, and what they print does not get among petal's output.

use std::fs;
use std::path::Path;

use petal_passes::{Library, Pipeline, Program, STACK, compile};
use serde_json::Value;

use crate::support;
use crate::support::workshop::{Workshop, tells};

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

#[test]
fn options_of_the_command() {
    let workshop = Workshop::new();
    let run = ["run", "design.futil", "--out", "out", "--json", "-x"];
    let with = |options: &[&'static str]| [&run[..], options].concat();
    // It is among the passes of the profile.
    workshop.succeeds(&with(&[
        "static-promotion:threshold=9",
        "--extra-opt",
        "tdcc:dump-fsm",
    ]));
    let metadata = fs::read_to_string(workshop.path("out/metadata.json")).unwrap();
    tells(
        &metadata,
        &["\"static-promotion:threshold=9\"", "\"tdcc:dump-fsm\""],
    );
    // What passes print goes to standard error.
    let output = workshop.petal(&with(&["tdcc:dump-fsm", "--passes", "no-opt"]));
    serde_json::from_slice::<Value>(&output.stdout).unwrap();
    tells(&String::from_utf8_lossy(&output.stderr), &["main:tdcc"]);
    // A file.
    workshop.succeeds(&with(&["cell-share:print-share-freqs=shares.json"]));
    assert!(workshop.path("shares.json").is_file());
    fs::remove_dir_all(workshop.path("out")).unwrap();
    let said = workshop.fails(&with(&["cell-share:print-share-freqs=shares.json"]));
    tells(&said, &["shares.json is there already"]);
    let refused = workshop.petal(&with(&["cell-share:print-share-freqs=design.futil"]));
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    tells(&said, &["`-x design.futil`", "the design design.futil"]);
    let said = workshop.fails(&with(&["static-promotion:treshold=9"]));
    tells(&said, &["`threshold`"]);
    let said = workshop.fails(&with(&[
        "static-promotion:threshold=9",
        "--passes",
        "no-opt",
    ]));
    tells(&said, &["static-promotion", "does not run"]);
    let said = workshop.fails(&with(&["tdcc:early-transitions"]));
    tells(&said, &["tdcc:early-transitions", "petal cannot tell"]);
    let instrument = [
        "instrument",
        "design.futil",
        "--verilog",
        "v.sv",
        "--metadata",
        "m.json",
        "-x",
    ];
    workshop.succeeds(&[&instrument[..], &["static-promotion:threshold=9"]].concat());
    tells(
        &fs::read_to_string(workshop.path("m.json")).unwrap(),
        &["\"static-promotion:threshold=9\""],
    );
}

#[test]
fn options_of_a_comparison() {
    let workshop = Workshop::new();
    let two = [
        "compare",
        "design.futil",
        "--passes",
        "no-opt",
        "--passes",
        "all",
        "-x",
    ];
    let one = |options: &[&'static str]| [&two[..], options].concat();
    // Only one of the two has the pass.
    workshop.succeeds(&one(&["static-promotion:threshold=9"]));
    let said = workshop.fails(&one(&["par-to-seq:x"]));
    tells(&said, &["par-to-seq"]);
    let output = workshop.petal(&["compare", "out", "out", "-x", "tdcc:dump-fsm"]);
    assert_eq!(output.status.code(), Some(2));
}
