//! The command as a user runs it: what it prints, which files it writes, and that the stages one by
//! one give the same as all at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::expect;

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("calyx-examples")
        .join(name);
    path.to_string_lossy().into_owned()
}

fn petal(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_petal"))
        .args(args)
        .current_dir(dir)
        .env(
            "XDG_CACHE_HOME",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        )
        .output()
        .unwrap()
}

fn succeeds(dir: &Path, args: &[&str]) -> String {
    let output = petal(dir, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "petal {args:?} said:\n{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// All files below a folder with their contents.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_run_tells_where_the_cycles_went() {
    let dir = tempfile::tempdir().unwrap();
    let printed = succeeds(dir.path(), &["run", &example("switch-case-par.futil")]);
    expect![[r#"
        switch-case-par

          cycles                9  100.0 %
          useful                3   33.3 %
            only conditions     0    0.0 %
          control overhead      6   66.7 %
            FSM update          4   44.4 %
            par-done update     0    0.0 %
            both                2   22.2 %
            static wait         0    0.0 %
            barrier             0    0.0 %
            start/finish        0    0.0 %
            other               0    0.0 %

          most overhead  overhead  cycles  source
          main.seq@L116         3       9  seq {
          main.if@L119          2       3  if eq_1.out { run_s1; }
          main.par@L118         1       4  par {

          most expensive groups  cycles  times
          main.read                   1      1
          main.run_s1                 1      1
          main.write                  1      1
          sub_one.go_one              1      1

          petal-out/switch-case-par/report.html   open in a browser
          petal-out/switch-case-par/flame.svg     open in a browser
          petal-out/switch-case-par/stats/        tables
          `petal view petal-out/switch-case-par` opens the timeline

          verified by structure: but for its probes, this is the design that the stock compiler builds
    "#]]
    .assert_eq(&printed);
    let files: Vec<String> = files(&dir.path().join("petal-out/switch-case-par"))
        .into_keys()
        .map(|path| path.display().to_string())
        .collect();
    expect![[r#"
        flame-scaled.folded
        flame-scaled.svg
        flame.folded
        flame.svg
        memories.json
        metadata.json
        report.html
        stats/cells.csv
        stats/control.csv
        stats/groups.csv
        summary.json
        timeline.json
        timeline.pftrace
        trace.petal"#]]
    .assert_eq(&files.join("\n"));
}

#[test]
fn folded_stacks_of_the_switch() {
    let dir = tempfile::tempdir().unwrap();
    succeeds(
        dir.path(),
        &[
            "run",
            &example("switch-case-par.futil"),
            "--out",
            "out",
            "-q",
        ],
    );
    let folded = |name: &str| fs::read_to_string(dir.path().join("out").join(name)).unwrap();
    expect![[r#"
        main;seq@L116 3
        main;seq@L116;par@L118 1
        main;seq@L116;par@L118;if@L119 2
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;minus (primitive) 1
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;result (primitive) 1
        main;seq@L116;par@L118;if@L120 1
        main;seq@L116;par@L118;if@L121 1
        main;seq@L116;read;r (primitive) 1
        main;seq@L116;write;ans (primitive) 1
    "#]]
    .assert_eq(&folded("flame.folded"));
    expect![[r#"
        main;seq@L116 3
        main;seq@L116;par@L118 1
        main;seq@L116;par@L118;if@L119 1.333333333
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;minus (primitive) 0.5
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;result (primitive) 0.5
        main;seq@L116;par@L118;if@L120 0.333333333
        main;seq@L116;par@L118;if@L121 0.333333333
        main;seq@L116;read;r (primitive) 1
        main;seq@L116;write;ans (primitive) 1
    "#]]
    .assert_eq(&folded("flame-scaled.folded"));

    succeeds(dir.path(), &["flame", "out", "--control", "compiled"]);
    expect![[r#"
        main;seq@L116 3
        main;seq@L116;par@L118 1
        main;seq@L116;par@L118;if@L119 2
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;minus (primitive) 1
        main;seq@L116;par@L118;if@L119;run_s1;s1 [sub_one];go_one;result (primitive) 1
        main;seq@L116;par@L118;if@L120 1
        main;seq@L116;par@L118;if@L121 1
        main;seq@L116;read;r (primitive) 1
        main;seq@L116;write;ans (primitive) 1
    "#]]
    .assert_eq(&folded("flame.folded"));
}

#[test]
fn call_trees_as_text_and_as_json() {
    let dir = tempfile::tempdir().unwrap();
    succeeds(
        dir.path(),
        &[
            "run",
            &example("switch-case-par.futil"),
            "--out",
            "out",
            "-q",
        ],
    );
    let text = succeeds(dir.path(), &["trace", "out", "--cycles", "0..4"]);
    expect![[r#"
        cycle 0
          main
            seq@L116
              read
                r (primitive)
        cycle 1
          main  <- overhead: fsm-update of seq@L116
            seq@L116
        cycle 2
          main  <- overhead: fsm-update of if@L119
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
    let json = succeeds(dir.path(), &["trace", "out", "--json"]);
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
    let dir = tempfile::tempdir().unwrap();
    succeeds(
        dir.path(),
        &["run", &example("while-comb.futil"), "--out", "out", "-q"],
    );
    let text = succeeds(dir.path(), &["stats", "out", "groups"]);
    expect![[r#"
        component  group   kind     origin  line  enables  times active  total cycles  min  max   avg  fixed   compiled
        main       cond    comb     source    21        1             4             4    1    1  1.00  static
        main       read    dynamic  source    25        1             3             3    1    1  1.00  yes     promoted, merged
        main       update  dynamic  source    31        1             3             3    1    1  1.00  yes     promoted, merged
        main       write   dynamic  source    38        1             3             3    1    1  1.00  yes     promoted, merged
        main       incr    dynamic  source    44        1             3             3    1    1  1.00  yes     promoted, merged
        main       init    dynamic  source    16        1             1             1    1    1  1.00  yes
    "#]].assert_eq(&text);
    let csv = succeeds(dir.path(), &["stats", "out", "cells", "--format", "csv"]);
    assert_eq!(
        csv,
        fs::read_to_string(dir.path().join("out/stats/cells.csv")).unwrap()
    );
    let markdown = succeeds(
        dir.path(),
        &["stats", "out", "control", "--format", "markdown"],
    );
    assert!(
        markdown.starts_with("| component | statement |"),
        "{markdown}"
    );
    let output = petal(dir.path(), &["stats", "out", "cells", "--per-instance"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it has no such rows");
    assert!(
        said.contains("petal stats out control --per-instance"),
        "{said}"
    );
    let json = succeeds(dir.path(), &["stats", "out", "control", "--format", "json"]);
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
    let dir = tempfile::tempdir().unwrap();
    let design = example("while-par.futil");
    let instrument = [
        "instrument",
        &design,
        "--verilog",
        "design.sv",
        "--metadata",
        "metadata.json",
    ];
    succeeds(dir.path(), &instrument);
    for simulator in ["embedded", "verilator"] {
        let vcd = format!("{simulator}.vcd");
        let run = [
            "run",
            &design,
            "--simulator",
            simulator,
            "--out",
            simulator,
            "--vcd",
            &vcd,
            "-q",
        ];
        succeeds(dir.path(), &run);
        let out = format!("pieces/{simulator}");
        let reconstruct = ["reconstruct", "metadata.json", &vcd, "--out", &out, "-q"];
        succeeds(dir.path(), &reconstruct);
    }
    let whole = files(&dir.path().join("embedded"));
    assert!(
        whole[Path::new("metadata.json")] == fs::read(dir.path().join("metadata.json")).unwrap(),
        "the metadata differs"
    );
    for other in ["verilator", "pieces/embedded", "pieces/verilator"] {
        let files = files(&dir.path().join(other));
        for name in [
            "trace.petal",
            "timeline.json",
            "timeline.pftrace",
            "stats/groups.csv",
            "stats/cells.csv",
            "stats/control.csv",
        ] {
            assert!(
                whole[Path::new(name)] == files[Path::new(name)],
                "{name} of {other} differs"
            );
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let design = example("switch-case-if.futil");
    succeeds(dir.path(), &["run", &design, "--out", "one", "-q"]);
    // The threads take turns on one processor.
    let alone = Command::new("taskset")
        .args(["-c", "0", env!("CARGO_BIN_EXE_petal")])
        .args(["run", &design, "--out", "two", "-q"])
        .current_dir(dir.path())
        .status();
    assert!(alone.unwrap().success());
    let (one, two) = (
        files(&dir.path().join("one")),
        files(&dir.path().join("two")),
    );
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>()
    );
    for (name, content) in &one {
        assert!(*content == two[name], "{} differs", name.display());
    }
    succeeds(dir.path(), &["flame", "one"]);
    succeeds(dir.path(), &["timeline", "one"]);
    succeeds(dir.path(), &["report", "one"]);
    let again = files(&dir.path().join("one"));
    for name in [
        "flame.svg",
        "flame.folded",
        "flame-scaled.svg",
        "timeline.json",
        "timeline.pftrace",
        "report.html",
    ] {
        assert!(
            one[Path::new(name)] == again[Path::new(name)],
            "{name} differs"
        );
    }
}

#[test]
fn both_pipelines_and_parts_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let design = example("while-comb.futil");
    for (options, cycles) in [
        (&["--passes", "all"][..], 17),
        (&["--passes", "no-opt"], 34),
        (&["--passes", "validate,pre-opt,compile,post-opt,lower"], 17),
        (&["--disable-pass", "static-promotion"], 34),
    ] {
        let args = [&["run", design.as_str(), "--out", "out", "--json"], options].concat();
        let summary: serde_json::Value =
            serde_json::from_str(&succeeds(dir.path(), &args)).unwrap();
        assert_eq!(summary["cycles"], cycles, "{options:?}");
        assert_eq!(summary["versions"]["petal"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn memories_are_printed_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let design = example("while-comb.futil");
    let printed = succeeds(
        dir.path(),
        &["run", &design, "-q", "--memories", "--out", "out"],
    );
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
    let again: serde_json::Value = serde_json::from_str(&succeeds(dir.path(), &args)).unwrap();
    assert_eq!(again["mem"]["data"], serde_json::json!([130]));
}

#[test]
fn without_a_data_file_memories_start_at_zero_and_petal_says_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(example("while-comb.futil"), dir.path().join("d.futil")).unwrap();
    let output = petal(
        dir.path(),
        &["run", "d.futil", "--memories", "--out", "out"],
    );
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("memories start at zero") && said.contains("d.futil.data"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("15"));
}

#[test]
fn imports_come_from_the_library_and_from_folders() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("mine")).unwrap();
    let part = "import \"core.futil\";\ncomponent part() -> () {\n  cells { r = std_reg(8); }\n  \
                wires { group set { r.in = 8'd1; r.write_en = 1'd1; set[done] = r.done; } }\n  \
                control { seq { set; set; } }\n}\n";
    fs::write(dir.path().join("mine/part.futil"), part).unwrap();
    let design = "import \"part.futil\";\ncomponent main() -> () {\n  cells { p = part(); }\n  \
                  wires {}\n  control { seq { invoke p()(); } }\n}\n";
    fs::write(dir.path().join("d.futil"), design).unwrap();
    let args = [
        "run", "d.futil", "-l", "mine", "--passes", "no-opt", "--out", "out", "-q",
    ];
    succeeds(dir.path(), &args);
    // Statements of an imported file say so.
    let folded = fs::read_to_string(dir.path().join("out/flame.folded")).unwrap();
    assert!(folded.contains("seq@part.futil:L5"), "{folded}");
    assert!(folded.contains("main;seq@L5:13;invoke@L5:19;"), "{folded}");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let help = succeeds(dir.path(), &["--help"]);
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
    assert!(succeeds(dir.path(), &["run", "--help"]).contains("Examples:"));
    assert!(succeeds(dir.path(), &["--version"]).contains(env!("CARGO_PKG_VERSION")));
}
