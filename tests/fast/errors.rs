//! What the command says when its input is bad: the file, the place and the way out; an exit code
//! that is not 0; and nothing in the output folder that looks like a profile.

use std::fs;

use petal_metadata::{Metadata, VERSION};

use crate::support::simulators::{RECONSTRUCT, design_with_verilog, designs_that_stop, simulated};
use crate::support::workshop::{DATA, DESIGN, Workshop, tells};

const RUN: [&str; 4] = ["run", "design.futil", "--out", "out"];

#[test]
fn a_file_that_is_not_there() {
    let said = Workshop::new().fails(&["run", "nothing.futil", "--out", "out"]);
    tells(
        &said,
        &["cannot read the design nothing.futil", "No such file"],
    );
}

#[test]
fn a_folder_instead_of_a_file() {
    let workshop = Workshop::new();
    fs::create_dir(workshop.path("folder.futil")).unwrap();
    tells(
        &workshop.fails(&["run", "folder.futil", "--out", "out"]),
        &["folder.futil", "it is a directory"],
    );
    workshop.succeeds(&RUN);
    tells(
        &workshop.ends(1, &["run", "out"]),
        &["out is the profile of a run", "petal stats out hotspots"],
    );
    tells(
        &workshop.ends(1, &["stats", "design.futil"]),
        &["design.futil is a file, and no profile"],
    );
}

#[test]
fn a_wrong_pass_gets_the_right_one() {
    let workshop = Workshop::new();
    tells(
        &workshop.ends(2, &[&RUN[..], &["--passes", "noopt"]].concat()),
        &["no pass or alias `noopt`; is it `no-opt`?"],
    );
}

#[test]
fn a_syntax_error() {
    let workshop = Workshop::new();
    workshop.write("design.futil", DESIGN.replace("control {", "controll {"));
    tells(&workshop.fails(&RUN), &["design.futil:8", "controll"]);
}

#[test]
fn misspelt_words_of_calyx() {
    let workshop = Workshop::new();
    for (word, wrong, place) in [
        ("group put", "gruop put", "design.futil:6:5"),
        ("control {", "contrl {", "design.futil:8:3"),
        ("wires {", "wire {", "design.futil:5:3"),
    ] {
        workshop.write("design.futil", DESIGN.replace(word, wrong));
        let meant = word.split(' ').next().unwrap();
        let said = workshop.fails(&RUN);
        tells(&said, &[place, &format!("is it `{meant}`?")]);
    }
}

#[test]
fn a_design_without_main() {
    let workshop = Workshop::new();
    let design = DESIGN.replace("component main", "component mian");
    workshop.write("design.futil", &design);
    let said = workshop.fails(&RUN);
    tells(
        &said,
        &["design.futil:3:11: No entry point", "`mian`", "`main`"],
    );
    // What it advises works.
    let marked = design.replace("component mian", "component mian<\"toplevel\"=1>");
    workshop.write("design.futil", marked);
    workshop.succeeds(&RUN);
}

#[test]
fn a_design_that_calyx_refuses() {
    let workshop = Workshop::new();
    workshop.write(
        "design.futil",
        DESIGN.replace("seq { put; put; }", "seq { put; pit; }"),
    );
    tells(&workshop.fails(&RUN), &["design.futil", "pit"]);
}

#[test]
fn an_inlined_component_that_hands_over_cells() {
    let design = r#"import "primitives/core.futil";
component leaf() -> () {
  cells { ref r = std_reg(8); a = std_reg(8); }
  wires {
    group note { a.in = 8'd1; a.write_en = 1'd1; note[done] = a.done; }
    group put { r.in = a.out; r.write_en = 1'd1; put[done] = r.done; }
  }
  control { seq { note; put; } }
}
component middle() -> () {
  cells { l = leaf(); own = std_reg(8); }
  wires {}
  control { invoke l[r = own]()(); }
}
component main() -> () {
  cells { @inline m = middle(); }
  wires {}
  control { invoke m()(); }
}
"#;
    let workshop = Workshop::new();
    workshop.write("design.futil", design);
    let said = workshop.fails(&RUN);
    tells(
        &said,
        &["design.futil", "16 |", "`m`", "--disable-pass inline"],
    );
    // It has no memories.
    fs::remove_file(workshop.path("design.futil.data")).unwrap();
    workshop.succeeds(&[&RUN[..], &["--disable-pass", "inline"]].concat());
}

#[test]
fn a_construct_that_the_pipeline_cannot_compile() {
    let workshop = Workshop::new();
    workshop.write(
        "design.futil",
        DESIGN.replace("seq { put; put; }", "repeat 3 { put; }"),
    );
    let passes = "validate,compile-invoke,compile,lower";
    let said = workshop.fails(&["run", "design.futil", "--passes", passes, "--out", "out"]);
    tells(
        &said,
        &[
            "`repeat` needs the pass compile-repeat",
            "design.futil\n8 |",
            "--passes",
        ],
    );
}

#[test]
fn an_import_that_is_missing() {
    let workshop = Workshop::new();
    workshop.write("design.futil", DESIGN.replace("core.futil", "care.futil"));
    tells(
        &workshop.fails(&RUN),
        &["design.futil:1:", "primitives/care.futil", "--library"],
    );
}

#[test]
fn passes_that_do_not_exist() {
    let workshop = Workshop::new();
    let said = workshop.ends(
        2,
        &["run", "design.futil", "--passes", "al", "--out", "out"],
    );
    tells(&said, &["no pass or alias `al`"]);
    let said = workshop.ends(2, &["run", "design.futil", "-d", "tdcc", "--out", "out"]);
    tells(&said, &["lacks `tdcc`"]);
}

#[test]
fn data_that_does_not_fit() {
    let workshop = Workshop::new();
    for (data, parts) in [
        ("{\"mem\": ".to_owned(), &["design.futil.data:1", "EOF"][..]),
        (DATA.replace("[1, 2]", "[1, 2, 3]"), &["mem"]),
        (DATA.replace("[1, 2]", "[[1], [2]]"), &["mem"]),
        (DATA.replace("[1, 2]", "[1, 256]"), &["mem", "256"]),
        (DATA.replace("[1, 2]", "[1, \"x\"]"), &["mem", "x"]),
        (DATA.replace("\"mem\"", "\"men\""), &["mem", "men"]),
        (DATA.replace("\"width\": 8", "\"width\": 7"), &["mem", "7"]),
        (
            DATA.replace("\"width\": 8", "\"width\": 9")
                .replace("[1, 2]", "[1, 256]"),
            &["mem", "256"],
        ),
        ("{}".to_owned(), &["mem"]),
    ] {
        workshop.write("design.futil.data", &data);
        let said = workshop.fails(&RUN);
        tells(&said, &["design.futil.data"]);
        tells(&said, parts);
    }
    let said = workshop.fails(&["run", "design.futil", "--data", "none.json", "--out", "out"]);
    tells(&said, &["none.json", "No such file"]);
}

#[test]
fn no_verilator() {
    let workshop = Workshop::new();
    let said = workshop.fails(&[
        "run",
        "design.futil",
        "--verilator",
        "/no/verilator",
        "--out",
        "out",
    ]);
    tells(&said, &["/no/verilator", "apt-get install verilator g++"]);
}

#[test]
fn verilog_of_the_design_without_verilator() {
    let workshop = Workshop::new();
    workshop.write("design.futil", design_with_verilog());
    let said = workshop.fails(&[&RUN[..], &["--simulator", "embedded"]].concat());
    tells(&said, &["`own`", "main.o", "--simulator verilator"]);
    let said = workshop.fails(&[&RUN[..], &["--partial"]].concat());
    tells(&said, &["`own`"]);
    let said = workshop.fails(&[&RUN[..], &["--verilator", "/no/verilator"]].concat());
    tells(&said, &["/no/verilator"]);
}

#[test]
fn a_simulation_that_never_ends() {
    let workshop = Workshop::endless();
    let limited = [&RUN[..], &["--cycle-limit", "100"]].concat();
    tells(&workshop.ends(1, &limited), &["after 100 cycles", "limit"]);
    let summary = workshop.succeeds(&[&limited[..], &["--partial", "--json"]].concat());
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["cycles"], 100);
    tells(&summary["stopped"].to_string(), &["after 100 cycles"]);
}

#[test]
fn designs_that_stop_themselves() {
    let workshop = Workshop::new();
    for (design, data, part) in designs_that_stop() {
        workshop.write("design.futil", design);
        workshop.write("design.futil.data", data);
        tells(&workshop.fails(&RUN), &["stopped itself", part]);
    }
}

#[test]
fn a_circle_that_does_not_settle() {
    let workshop = Workshop::new();
    let design = r#"import "primitives/core.futil";
comb component inverter(x: 1) -> (y: 1) {
  cells { n = std_not(1); }
  wires { n.in = x; y = n.out; }
}
component main() -> () {
  cells { i = inverter(); w = std_wire(1); @external r = std_reg(1); }
  wires {
    group g { i.x = w.out; w.in = i.y; r.in = w.out; r.write_en = 1'd1; g[done] = r.done; }
  }
  control { g; }
}
"#;
    workshop.write("design.futil", design);
    workshop.write("design.futil.data", "{}");
    let said = workshop.fails(&RUN);
    tells(&said, &["circle", "main.i_x", "main.i.n_out"]);
    // Each port is told once.
    assert_eq!(said.matches("main.i.n_out").count(), 1, "{said}");
}

#[test]
fn an_output_folder_that_cannot_be_written() {
    let workshop = Workshop::new();
    workshop.write("file", "");
    let said = workshop.fails(&["run", "design.futil", "--out", "file/out"]);
    tells(&said, &["output folder", "file/out"]);
}

#[test]
fn waveforms_that_are_no_good() {
    let (workshop, vcd, _) = simulated("embedded");
    workshop.write("wave.vcd", &vcd[..vcd.len() * 3 / 4]);
    let said = workshop.fails(&RECONSTRUCT);
    tells(&said, &["wave.vcd", "simulate"]);

    workshop.write("wave.vcd", "");
    tells(&workshop.fails(&RECONSTRUCT), &["wave.vcd", "line 1"]);

    workshop.write("wave.vcd", "GIF89a\0\0\0");
    tells(&workshop.fails(&RECONSTRUCT), &["wave.vcd", "line 1"]);

    let foreign = "$timescale 1ns $end $scope module cpu $end $var wire 1 ! clk $end $upscope $end \
                   $enddefinitions $end\n#0\n0!\n#1\n1!\n";
    workshop.write("wave.vcd", foreign);
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "toplevel.main", "instrumented"],
    );

    tells(
        &workshop.fails(&[
            "reconstruct",
            "kept/metadata.json",
            "none.vcd",
            "--out",
            "out",
        ]),
        &["none.vcd", "No such file"],
    );
}

#[test]
fn metadata_of_something_else() {
    let (workshop, vcd, _) = simulated("embedded");
    workshop.write("wave.vcd", vcd);
    workshop.write("design.futil", DESIGN.replace("8'd5", "8'd6"));
    workshop.succeeds(&[
        "instrument",
        "design.futil",
        "--verilog",
        "o.sv",
        "--metadata",
        "other.json",
    ]);
    let said = workshop.fails(&["reconstruct", "other.json", "wave.vcd", "--out", "out"]);
    tells(&said, &["different builds", "again"]);

    let metadata = fs::read_to_string(workshop.path("kept/metadata.json")).unwrap();
    workshop.write(
        "other.json",
        metadata.replace(&format!("\"version\": {VERSION}"), "\"version\": 99"),
    );
    let said = workshop.fails(&["reconstruct", "other.json", "wave.vcd", "--out", "out"]);
    tells(
        &said,
        &["other.json", "version 99", &format!("version {VERSION}")],
    );

    workshop.write("other.json", &metadata[..metadata.len() / 2]);
    let said = workshop.fails(&["reconstruct", "other.json", "wave.vcd", "--out", "out"]);
    tells(&said, &["other.json", "line"]);

    workshop.write(
        "other.json",
        metadata.replace("\"cell\": 0", "\"cell\": 77"),
    );
    let said = workshop.fails(&["reconstruct", "other.json", "wave.vcd", "--out", "out"]);
    tells(&said, &["other.json", "77"]);
}

#[test]
fn metadata_that_were_changed() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "--out", "kept", "-q"]);
    let path = workshop.path("kept/metadata.json");
    let text = fs::read_to_string(&path).unwrap();
    let metadata = Metadata::from_json(&text, &path).unwrap();
    for (at, before) in text.char_indices() {
        let after = match before {
            '0'..='8' => char::from_u32(before as u32 + 1).unwrap(),
            '9' => '0',
            'a'..='z' => before.to_ascii_uppercase(),
            'A'..='Z' => before.to_ascii_lowercase(),
            _ => continue,
        };
        let (head, tail) = text.split_at(at);
        let changed = format!("{head}{after}{}", &tail[1..]);
        // The name of an entry that there is not may change.
        let read = Metadata::from_json(&changed, &path);
        let told = read.as_ref().is_ok_and(|read| *read != metadata);
        assert!(!told, "byte {at}: {before} became {after}");
    }

    // Other consistent metadata.
    workshop.write("kept/metadata.json", text.replace("\"put\"", "\"get\""));
    for command in ["stats", "flame", "trace", "annotate", "baseline"] {
        let said = workshop.fails(&[command, "kept"]);
        tells(&said, &["metadata.json was changed", "petal run"]);
    }
}

#[test]
fn profiles_that_are_no_good() {
    let (workshop, ..) = simulated("embedded");
    let said = workshop.fails(&["trace", "nowhere"]);
    tells(&said, &["nowhere", "petal run"]);

    let trace = fs::read(workshop.path("kept/trace.petal")).unwrap();
    workshop.write("kept/trace.petal", &trace[..trace.len() - 3]);
    tells(
        &workshop.fails(&["stats", "kept"]),
        &["cut off", "petal run"],
    );

    // `codec.rs` tries every bit of a small one.
    for at in (0..trace.len()).step_by(trace.len() / 20) {
        let mut changed = trace.clone();
        changed[at] ^= 1 << (at % 8);
        workshop.write("kept/trace.petal", changed);
        tells(&workshop.fails(&["trace", "kept"]), &["petal run"]);
    }

    workshop.write("kept/trace.petal", "petal-trace 2\nabc\n");
    tells(
        &workshop.fails(&["trace", "kept"]),
        &["version 2", "petal run"],
    );

    workshop.write("kept/trace.petal", "nonsense\n");
    tells(
        &workshop.fails(&["flame", "kept"]),
        &["trace.petal", "petal run"],
    );
}

#[test]
fn command_lines_that_make_no_sense() {
    let workshop = Workshop::new();
    for args in [
        &["run"][..],
        &["walk"],
        &["trace", "x", "--cycles", "5"],
        &["run", "x", "--what"],
    ] {
        let output = workshop.petal(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_failed_run_leaves_the_profile_from_before() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "--out", "kept", "-q"]);
    let before = fs::read(workshop.path("kept/summary.json")).unwrap();
    workshop.write("design.futil", &designs_that_stop()[0].0);
    let output = workshop.petal(&["run", "design.futil", "--out", "kept"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        fs::read(workshop.path("kept/summary.json")).unwrap(),
        before
    );
    let hidden = fs::read_dir(workshop.path("kept"))
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with('.')
        })
        .count();
    assert_eq!(hidden, 0, "nothing half-written is left");
}

#[test]
fn a_folder_without_a_profile_is_not_viewed() {
    let said = Workshop::new().fails(&["view", "."]);
    tells(&said, &["holds no whole profile"]);
}
