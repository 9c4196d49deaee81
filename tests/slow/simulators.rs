//! The two simulators give the same profiles, and stop at the same places.

use std::path::Path;

use crate::support::simulators::{
    a_cut_waveform_is_told, design_with_verilog, designs_that_stop, names_are_only_names,
};
use crate::support::workshop::{DESIGN, OF_THE_TRACE, Workshop, example, tells};

const RUN: [&str; 4] = ["run", "design.futil", "--out", "out"];

#[test]
fn both_simulators_give_the_same() {
    let workshop = Workshop::empty();
    let design = example("while-par.futil");
    for simulator in ["embedded", "verilator"] {
        let run = ["run", &design, "--simulator", simulator, "--out", simulator];
        workshop.succeeds(&[&run[..], &["--vcd", "wave.vcd", "-q"]].concat());
    }
    // From Verilator's waveform.
    let reconstruct = ["reconstruct", "embedded/metadata.json", "wave.vcd"];
    workshop.succeeds(&[&reconstruct[..], &["--out", "pieces", "-q"]].concat());
    let embedded = workshop.files("embedded");
    for other in ["verilator", "pieces"] {
        let files = workshop.files(other);
        for name in OF_THE_TRACE {
            assert!(
                embedded[Path::new(name)] == files[Path::new(name)],
                "{name} of {other} differs"
            );
        }
    }
}

#[test]
fn both_simulators_stop_at_the_same_place() {
    let workshop = Workshop::new();
    for (design, data, part) in designs_that_stop() {
        workshop.write("design.futil", design);
        workshop.write("design.futil.data", data);
        let places = ["embedded", "verilator"].map(|simulator| {
            let said = workshop.fails(&[&RUN[..], &["--simulator", simulator]].concat());
            tells(&said, &["stopped itself", part]);
            let error = said.lines().find(|line| line.starts_with("error"));
            error.unwrap_or_else(|| panic!("{said}")).to_owned()
        });
        assert_eq!(places[0], places[1]);
    }
    let workshop = Workshop::endless();
    let limited = [&RUN[..], &["--cycle-limit", "100"]].concat();
    let profiles = ["embedded", "verilator"].map(|simulator| {
        let said = workshop.ends(1, &[&limited[..], &["--simulator", simulator]].concat());
        tells(&said, &["after 100 cycles", "active in cycle 99"]);
        (
            said,
            OF_THE_TRACE.map(|name| workshop.files("out")[Path::new(name)].clone()),
            workshop.read("out/memories.json"),
        )
    });
    assert!(profiles[0] == profiles[1], "{profiles:?}");
}

#[test]
fn a_cut_waveform_of_verilator_is_told() {
    a_cut_waveform_is_told("verilator");
}

#[test]
fn names_of_files_are_only_names() {
    names_are_only_names("verilator");
}

#[test]
fn verilog_of_the_design_runs_in_verilator() {
    let workshop = Workshop::new();
    workshop.write("design.futil", design_with_verilog());
    let summary = workshop.succeeds(&["run", "design.futil", "--out", "fine", "--json"]);
    assert!(summary.contains("\"verilator\""), "{summary}");
}

#[test]
fn verilog_that_verilator_refuses() {
    let workshop = Workshop::new();
    let broken = "primitive broken(in: 8) -> (out: 8) { assign out = in +; }\n";
    let design = DESIGN
        .replace("component main", &format!("{broken}component main"))
        .replace(
            "mem = comb_mem_d1(8, 2, 1);",
            "mem = comb_mem_d1(8, 2, 1); b = broken();",
        )
        .replace(
            "mem.write_data = 8'd5;",
            "b.in = 8'd5; mem.write_data = b.out;",
        );
    workshop.write("design.futil", design);
    let said = workshop.fails(&RUN);
    tells(&said, &["syntax error", "verilator.log"]);
    assert!(
        workshop.path("out/verilator.log").is_file(),
        "the log is kept"
    );
}
