//! Options of the compiler's passes (`-x`): the profile is that of the design as it is built with
//! them, and what they print does not get among petal's output.

use std::fs;

use serde_json::Value;

use crate::support::workshop::{Workshop, tells};

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
