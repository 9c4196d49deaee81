//! The command as a user runs it: what it prints, which files it writes, and that the stages one by
//! one give the same as all at once.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::support::workshop::{OF_THE_TRACE, PETAL, Workshop, example, tells};

#[test]
fn a_run_tells_where_the_cycles_went() {
    let workshop = Workshop::empty();
    // By a name of its own: how wide the commands are depends on it.
    let design = "switch-case-par.futil";
    workshop.edited(design, design, &[]);
    let printed = workshop.succeeds(&["run", design]);
    expect![[r#"
        switch-case-par

          cycles                     9  100.0 %
          useful                     3   33.3 %
            computation              3   33.3 %  █████████████
          overhead                   6   66.7 %
            FSM update               4   44.4 %  █████████████████▎
            FSM and par-done update  2   22.2 %  ████████▋

          what costs     cycles   of run
          main.seq@L116       3   33.3 %  ██████████  seq {
            moves from step to step: 3 cycles each time
          main.if@L119        2   22.2 %  ██████▋     if eq_1.out { run_s1; }
            enters and leaves its branch: 2 cycles each time
          main.par@L118       1   11.1 %  ███▎        par {
            sets and clears the done registers of arms: 1 cycle each time

          longest waits in par  waits   of run
          main.par@L118             2   22.2 %  ██████████  par {
            its arms wait for if@L119: 2 cycles each time

          most expensive groups  cycles  times
          main.read                   1      1
          main.run_s1                 1      1
          main.write                  1      1
          sub_one.go_one              1      1

          petal-out/switch-case-par/report.html shows all of it in a browser
          verified by structure: but for its probes, this is the design that the stock
          compiler builds

          next
          petal advise switch-case-par.futil                 tries what could save
          petal annotate petal-out/switch-case-par --top 10  what else costs
          petal view petal-out/switch-case-par               the timeline
    "#]]
    .assert_eq(&printed);
}

#[test]
fn folded_stacks_of_the_switch() {
    let workshop = Workshop::empty();
    workshop.succeeds(&[
        "run",
        &example("switch-case-par.futil"),
        "--out",
        "out",
        "-q",
    ]);
    let folded = |name: &str| workshop.read(&format!("out/{name}"));
    expect![[r#"
        main;seq@L116;(overhead: FSM and par-done update) 1
        main;seq@L116;(overhead: FSM update) 2
        main;seq@L116;par@L118;(overhead: FSM and par-done update) 1
        main;seq@L116;par@L118;if@L119;(overhead: FSM update) 2
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;minus (primitive) 0.5
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;result (primitive) 0.5
        main;seq@L116;read;r (primitive) 1
        main;seq@L116;write;ans (primitive) 1
    "#]]
    .assert_eq(&folded("flame.folded"));
    expect![[r#"
        main;seq@L116;(overhead: FSM and par-done update) 1
        main;seq@L116;(overhead: FSM update) 2
        main;seq@L116;par@L118;(overhead: FSM and par-done update) 1
        main;seq@L116;par@L118;if@L119;(overhead: FSM update) 2
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;minus (primitive) 1
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;result (primitive) 1
        main;seq@L116;par@L118;if@L120 1
        main;seq@L116;par@L118;if@L121 1
        main;seq@L116;read;r (primitive) 1
        main;seq@L116;write;ans (primitive) 1
    "#]]
    .assert_eq(&folded("flame-leaves.folded"));

    workshop.succeeds(&["flame", "out", "--control", "compiled"]);
    expect![[r#"
        main;seq@L116;(overhead: FSM and par-done update) 1
        main;seq@L116;(overhead: FSM update) 2
        main;seq@L116;par@L118;(overhead: FSM and par-done update) 1
        main;seq@L116;par@L118;if@L119;(overhead: FSM update) 2
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;minus (primitive) 0.5
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;result (primitive) 0.5
        main;seq@L116;read;r (primitive) 1
        main;seq@L116;write;ans (primitive) 1
    "#]]
    .assert_eq(&folded("flame.folded"));
}

#[test]
fn call_trees_as_text_and_as_json() {
    let workshop = Workshop::empty();
    workshop.succeeds(&[
        "run",
        &example("switch-case-par.futil"),
        "--out",
        "out",
        "-q",
    ]);
    let text = workshop.succeeds(&["trace", "out", "--cycles", "0..4"]);
    expect![[r#"
        cycle 0
          main
            seq@L116
              read
                r (primitive)
        cycle 1
          main  <- overhead: FSM update of seq@L116
            seq@L116
        cycle 2
          main  <- overhead: FSM update of if@L119
            seq@L116
              par@L118
                if@L119
                if@L120
                if@L121
        cycle 3
          main
            seq@L116
              par@L118
                if@L119
                  run_s1
                    s1 [sub_one]
                      go_one
                        result (primitive)
                        minus (primitive)
    "#]]
    .assert_eq(&text);
    let json = workshop.succeeds(&["trace", "out", "--json"]);
    let mut cycles = 0;
    for line in json.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["start"], cycles);
        cycles = object["end"].as_u64().unwrap();
        assert_eq!(object["tree"][0]["label"], "main");
    }
    assert_eq!(cycles, 9);
}

#[test]
fn tables_in_all_formats() {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", &example("while-comb.futil"), "--out", "out", "-q"]);
    let text = workshop.succeeds(&["stats", "out", "groups"]);
    expect![[r#"
        component  group   times active  total cycles  fixed   compiled
        main       cond               4             4  static
        main       read               3             3  yes     promoted, merged
        main       update             3             3  yes     promoted, merged
        main       write              3             3  yes     promoted, merged
        main       incr               3             3  yes     promoted, merged
        main       init               1             1  yes
        6 of 13 columns; `--all` shows all
    "#]]
    .assert_eq(&text);
    let csv = workshop.succeeds(&["stats", "out", "cells", "--format", "csv"]);
    assert_eq!(csv, workshop.read("out/stats/cells.csv"));
    let markdown = workshop.succeeds(&["stats", "out", "control", "--format", "markdown"]);
    assert!(
        markdown.starts_with("| component | statement |"),
        "{markdown}"
    );
    let output = workshop.petal(&["stats", "out", "cells", "--per-instance"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it has no such rows");
    assert!(
        said.contains("petal stats out control --per-instance"),
        "{said}"
    );
    let json = workshop.succeeds(&["stats", "out", "control", "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        rows.as_array()
            .unwrap()
            .iter()
            .any(|row| row["statement"] == "while@L55"),
        "{rows}"
    );
}

#[test]
fn the_stages_one_by_one_give_the_same() {
    let workshop = Workshop::empty();
    let design = example("while-par.futil");
    let instrument = [
        "instrument",
        &design,
        "--verilog",
        "design.sv",
        "--metadata",
        "metadata.json",
    ];
    workshop.succeeds(&instrument);
    let run = ["run", &design, "--out", "whole", "--vcd", "wave.vcd", "-q"];
    workshop.succeeds(&run);
    let reconstruct = [
        "reconstruct",
        "metadata.json",
        "wave.vcd",
        "--out",
        "pieces",
        "-q",
    ];
    workshop.succeeds(&reconstruct);
    let (whole, pieces) = (workshop.files("whole"), workshop.files("pieces"));
    assert!(
        whole[Path::new("metadata.json")] == fs::read(workshop.path("metadata.json")).unwrap(),
        "the metadata differs"
    );
    assert!(workshop.events("whole") == workshop.events("pieces"));
    for name in OF_THE_TRACE.map(Path::new) {
        assert!(whole[name] == pieces[name], "{} differs", name.display());
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let workshop = Workshop::empty();
    let design = example("switch-case-if.futil");
    workshop.succeeds(&["run", &design, "--out", "one", "-q"]);
    // The threads take turns on one processor.
    let alone = Command::new("taskset")
        .args(["-c", "0", PETAL])
        .args(["run", &design, "--out", "two", "-q"])
        .current_dir(workshop.dir.path())
        .status();
    assert!(alone.unwrap().success());
    let (one, two) = (workshop.files("one"), workshop.files("two"));
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>()
    );
    for (name, content) in &one {
        assert!(*content == two[name], "{} differs", name.display());
    }
    workshop.succeeds(&["flame", "one"]);
    workshop.succeeds(&["timeline", "one"]);
    workshop.succeeds(&["report", "one"]);
    let again = workshop.files("one");
    for (name, content) in &one {
        assert!(*content == again[name], "{} differs", name.display());
    }
}

#[test]
fn both_pipelines_and_parts_of_them() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    for (options, cycles) in [
        (&["--passes", "all"][..], 17),
        (&["--passes", "no-opt"], 34),
        (&["--passes", "validate,pre-opt,compile,post-opt,lower"], 17),
        (&["--disable-pass", "static-promotion"], 34),
    ] {
        let args = [&["run", design.as_str(), "--out", "out", "--json"], options].concat();
        let summary: serde_json::Value = serde_json::from_str(&workshop.succeeds(&args)).unwrap();
        assert_eq!(summary["cycles"], cycles, "{options:?}");
        assert_eq!(summary["versions"]["petal"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn memories_are_printed_on_request() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let printed = workshop.succeeds(&["run", &design, "-q", "--memories", "--out", "out"]);
    let memories: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(memories["mem"]["data"], serde_json::json!([115]));
    // The memories are a data file again.
    let args = [
        "run",
        &design,
        "-q",
        "--memories",
        "--out",
        "again",
        "--data",
        "out/memories.json",
    ];
    let again: serde_json::Value = serde_json::from_str(&workshop.succeeds(&args)).unwrap();
    assert_eq!(again["mem"]["data"], serde_json::json!([130]));
}

#[test]
fn without_a_data_file_memories_start_at_zero_and_petal_says_so() {
    let workshop = Workshop::empty();
    fs::copy(example("while-comb.futil"), workshop.path("d.futil")).unwrap();
    let output = workshop.petal(&["run", "d.futil", "--memories", "--out", "out"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    expect![[r"
        warning: no data file: all memories start at zero (give one with --data, or as d.futil.data)
    "]]
    .assert_eq(&said);
    // Also where it is written again.
    for (command, file) in [("flame", "summary.json"), ("report", "report.html")] {
        tells(
            &workshop.read(&format!("out/{file}")),
            &["all memories start at zero"],
        );
        workshop.succeeds(&[command, "out"]);
        tells(
            &workshop.read(&format!("out/{file}")),
            &["all memories start at zero"],
        );
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("15"));
}

#[test]
fn imports_come_from_the_library_and_from_folders() {
    let workshop = Workshop::empty();
    fs::create_dir(workshop.path("mine")).unwrap();
    let part = "import \"core.futil\";\ncomponent part() -> () {\n  cells { r = std_reg(8); }\n  \
                wires { group set { r.in = 8'd1; r.write_en = 1'd1; set[done] = r.done; } }\n  \
                control { seq { set; set; } }\n}\n";
    fs::write(workshop.path("mine/part.futil"), part).unwrap();
    let design = "import \"part.futil\";\ncomponent main() -> () {\n  cells { p = part(); }\n  \
                  wires {}\n  control { seq { invoke p()(); } }\n}\n";
    fs::write(workshop.path("d.futil"), design).unwrap();
    let args = [
        "run", "d.futil", "-l", "mine", "--passes", "no-opt", "--out", "out", "-q",
    ];
    workshop.succeeds(&args);
    // Statements of an imported file say so.
    let folded = workshop.read("out/flame.folded");
    assert!(folded.contains("seq@part.futil:L5"), "{folded}");
    assert!(folded.contains("main;seq@L5:13;invoke@L5:19;"), "{folded}");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let workshop = Workshop::empty();
    let help = workshop.succeeds(&["--help"]);
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
    assert!(workshop.succeeds(&["run", "--help"]).contains("Examples:"));
    assert!(
        workshop
            .succeeds(&["--version"])
            .contains(env!("CARGO_PKG_VERSION"))
    );
}
