//! What the pass `papercut` objects to is a warning with its lines, in all commands, and an error with `--strict`.

use serde_json::Value;

use crate::support::root;
use crate::support::workshop::{Workshop, said, tells};

const DESIGN: &str = "circt-weigh.futil";

/// What is told of the two groups that read a memory as CIRCT writes it.
const WARNINGS: [&str; 2] = [
    "circt-weigh.futil:40: `arg_mem_0.write_en` is driven and `arg_mem_0.write_data` is not",
    "circt-weigh.futil:55: `arg_mem_1.write_en` is driven and `arg_mem_1.write_data` is not",
];

fn workshop() -> Workshop {
    let workshop = Workshop::empty();
    for ending in ["", ".data"] {
        let file = format!("{DESIGN}{ending}");
        let from = root().join("tests/corpus").join(&file);
        workshop.write(&file, std::fs::read_to_string(from).unwrap());
    }
    workshop
}

#[test]
fn what_circt_exports_runs_with_warnings() {
    let workshop = workshop();
    let output = workshop.petal(&["run", DESIGN, "--out", "out"]);
    assert!(output.status.success());
    tells(&said(&output), &WARNINGS);
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let warnings = summary["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for (warning, expected) in warnings.iter().zip(WARNINGS) {
        assert!(warning.as_str().unwrap().contains(expected), "{warning}");
    }
    let without = workshop.petal(&["run", DESIGN, "--out", "out", "-d", "papercut"]);
    assert!(!said(&without).contains("papercut"));
    // `no-opt` lacks a pass that the design needs, which it gets with others left out, too.
    let checked = workshop.succeeds(&["check", DESIGN, "-d", "papercut"]);
    tells(&checked, &["nothing found"]);
    let told = workshop.ends(1, &["check", DESIGN, "-d", "compile-repeat"]);
    tells(&told, &["`repeat` needs the pass compile-repeat"]);
}

#[test]
fn strict_refuses_it_everywhere() {
    let workshop = workshop();
    for arguments in [
        &["run", DESIGN, "--strict"][..],
        &["compare", DESIGN, DESIGN, "--strict"],
        &["advise", DESIGN, "--strict"],
        &[
            "instrument",
            DESIGN,
            "--strict",
            "--verilog",
            "d.sv",
            "--metadata",
            "d.json",
        ],
        &["counters", DESIGN, "--strict"],
    ] {
        let told = workshop.ends(1, arguments);
        tells(&told, &WARNINGS);
        tells(
            &told,
            &["leave the check out with `--disable-pass papercut`"],
        );
    }
    workshop.write(
        "sweep.toml",
        format!("strict = true\n[[design]]\nfiles = \"{DESIGN}\"\n"),
    );
    let told = workshop.ends(1, &["sweep", "sweep.toml"]);
    tells(&told, &["one run failed"]);
    workshop.write("sweep.toml", format!("[[design]]\nfiles = \"{DESIGN}\"\n"));
    workshop.succeeds(&["sweep", "sweep.toml"]);
}

#[test]
fn the_other_commands_warn() {
    let workshop = workshop();
    let told = workshop.ends(
        0,
        &["compare", DESIGN, "--passes", "all", "--passes", "no-opt"],
    );
    tells(&told, &WARNINGS);
    let told = workshop.ends(0, &["advise", DESIGN, "--budget", "1s"]);
    tells(&told, &WARNINGS);
}
