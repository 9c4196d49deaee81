//! What comes from front ends as they are: designs on standard input, with positions, and their data.

use std::fs;

use expect_test::expect;
use petal_metadata::Metadata;
use petal_program::Library;

use crate::support::root;
use crate::support::workshop::{DATA, DESIGN, Workshop, example, said, succeeds, tells};

/// What a command line of bash says, which must end with this exit code.
fn ends(workshop: &Workshop, code: i32, commands: &str) -> String {
    let output = workshop.bash(commands).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(code), "{commands} said:\n{said}");
    said
}

#[test]
fn a_design_on_standard_input_is_profiled() {
    let workshop = Workshop::new();
    let said = ends(&workshop, 0, "petal run - < design.futil > printed");
    // The data file is beside the other design.
    expect![[r#"
        warning: no data file: all memories start at zero (give one with --data)
    "#]]
    .assert_eq(&said);
    assert!(workshop.read("printed").starts_with("stdin\n"));
    ends(
        &workshop,
        0,
        "cat design.futil | petal run - --name fifo --data design.futil.data -q --json > summary.json",
    );
    assert!(
        workshop
            .read("summary.json")
            .contains("\"design\": \"fifo\"")
    );
    ends(&workshop, 0, "petal run design.futil --out file -q");
    for name in ["memories.json", "flame.folded", "stats/groups.csv"] {
        assert_eq!(
            workshop.read(&format!("petal-out/fifo/{name}")),
            workshop.read(&format!("file/{name}"))
        );
    }
    let annotated = workshop.succeeds(&["annotate", "petal-out/fifo", "--file", "<stdin>"]);
    assert!(annotated.contains("seq { put; put; }"), "{annotated}");
    for name in ["", "a/b", ".."] {
        workshop.ends(2, &["run", "design.futil", "--name", name]);
    }
}

#[test]
fn standard_input_is_instrumented_and_compared() {
    let workshop = Workshop::new();
    ends(
        &workshop,
        0,
        "petal instrument - --verilog out.sv --metadata out.json < design.futil",
    );
    Metadata::read(&workshop.path("out.json")).unwrap();
    let same = |commands: &str| {
        ends(&workshop, 0, commands);
        assert_eq!(workshop.read("changed").trim(), "false", "{commands}");
    };
    let json = "--format json | jq '.cycles.before != .cycles.after' > changed";
    same(&format!(
        "petal compare design.futil - < design.futil {json}"
    ));
    same(&format!(
        "petal compare - design.futil --data design.futil.data < design.futil {json}"
    ));
    // Both sides are the one on standard input.
    same(&format!(
        "petal compare - --passes all --passes all < design.futil {json}"
    ));
    let said = ends(&workshop, 2, "petal compare - - < design.futil");
    tells(&said, &["standard input has one program"]);
}

#[test]
fn errors_on_standard_input_have_their_line() {
    let workshop = Workshop::new();
    workshop.write(
        "bad.futil",
        DESIGN.replace("put; put;", "@pos{1} put; @pos{2} putt;"),
    );
    let said = ends(&workshop, 1, "petal run - < bad.futil");
    tells(
        &said,
        &[
            "<stdin>",
            "8 |  control { seq { @pos{1} put; @pos{2} putt; } }",
        ],
    );
    workshop.write(
        "bad.futil",
        DESIGN.replace("wires {", "wires {\n  fsm f { 0: }"),
    );
    let said = ends(&workshop, 1, "petal run - < bad.futil");
    tells(&said, &["<stdin>:6: `fsm f`"]);
    workshop.write(
        "bad.futil",
        DESIGN.replace("primitives/core.futil", "gone.futil"),
    );
    let said = ends(&workshop, 1, "petal run - < bad.futil");
    tells(&said, &["<stdin>:1: `gone.futil` is not there"]);
    let said = ends(&workshop, 1, "printf '\\377' | petal run -");
    tells(&said, &["<stdin>", "UTF-8"]);
    let said = ends(&workshop, 1, "petal run - < /dev/null");
    tells(&said, &["No entry point"]);
}

#[test]
fn a_library_of_the_same_primitives_needs_no_verilator() {
    let workshop = Workshop::new();
    let library = Library::new(&[]).unwrap();
    let mut copy = workshop.run("cp");
    copy.arg("-rL")
        .arg(library.complete().unwrap().join("primitives"))
        .arg("primitives");
    succeeds(&mut copy);
    std::fs::create_dir(workshop.path("lib")).unwrap();
    std::fs::rename(workshop.path("primitives"), workshop.path("lib/primitives")).unwrap();
    for file in ["core.sv", "memories/comb.sv"] {
        let file = format!("lib/primitives/{file}");
        let text = workshop.read(&file).replace('\n', " \t// and more\n");
        workshop.write(&file, text.replace("left ^ right", "right ^ left"));
    }
    let run = [
        "run",
        "design.futil",
        "--library",
        "lib",
        "--simulator",
        "embedded",
        "-q",
        "--out",
        "out",
    ];
    assert_eq!(workshop.ends(0, &run), "");
    let design = DESIGN.replace("1); }", "1); x = std_xor(8); }");
    workshop.write(
        "design.futil",
        design.replace("= 8'd5", "= x.out; x.left = 8'd5; x.right = 8'd0"),
    );
    tells(&workshop.ends(1, &run), &["std_xor", "core.sv"]);
}

#[test]
fn positions_reach_the_metadata() {
    let workshop = Workshop::empty();
    let design = root().join("tests/corpus/struct-positions.futil");
    succeeds(workshop.command(&["run", "-q", "--out", "out"]).arg(design));
    let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
    let files = metadata.front_end.files.iter();
    let files: Vec<_> = files.map(|file| &*file.path).collect();
    assert_eq!(files, ["lib/step.py", "demo.py", "struct-positions.futil"]);
    let main = metadata.component(metadata.main);
    let node = main.control.iter().find(|node| node.positions.len() == 2);
    let places = node.unwrap().positions.iter().map(|&id| {
        let position = metadata.front_end.position(id);
        (&*metadata.front_end.file(position.file).path, position.line)
    });
    let places: Vec<_> = places.collect();
    assert_eq!(places, [("demo.py", 4), ("struct-positions.futil", 57)]);
}

#[test]
fn data_of_front_ends_are_taken() {
    let workshop = Workshop::new();
    let fixed = |data: &str| {
        format!(
            r#"{{"mem": {{"data": {data}, "format": {{"numeric_type": "fixed_point", "is_signed": true, "int_width": 4, "frac_width": 4}}}}}}"#
        )
    };
    workshop.write("design.futil.data", fixed("[1.3, -0.1]"));
    let said = ends(
        &workshop,
        0,
        "petal run design.futil --memories --out out > printed",
    );
    expect![[r#"
        note: memory `mem`: 2 values were rounded to the format in design.futil.data; the largest error is 2.50e-2 (`--exact` refuses such data)
    "#]].assert_eq(&said);
    // The design writes 5 into the second word.
    tells(
        &workshop.read("printed"),
        &["[1.3125, 0.3125]", "\"int_width\": 4"],
    );
    let said = ends(&workshop, 1, "petal run design.futil --exact --out exact");
    tells(&said, &["1.3 cannot be stored exactly"]);
    workshop.write("design.futil.data", fixed("[1.25, -0.125]"));
    assert_eq!(
        ends(&workshop, 0, "petal run design.futil --exact -q --out out"),
        ""
    );
    // Wider than the memory, as long as the values fit.
    workshop.write(
        "design.futil.data",
        DATA.replace("\"width\": 8", "\"width\": 32"),
    );
    ends(&workshop, 0, "petal run design.futil -q --out out");
    tells(
        &workshop.read("out/memories.json"),
        &["[1, 5]", "\"width\": 32"],
    );
}

#[test]
fn floating_point_memories_come_back_as_they_came() {
    let workshop = Workshop::new();
    let design = DESIGN.replace(
        "comb_mem_d1(8, 2, 1)",
        "comb_mem_d1(32, 2, 1); f = std_float_const(0, 32, 2.5)",
    );
    workshop.write("design.futil", design.replace("8'd5", "f.out"));
    let data = DATA
        .replace("bitnum", "ieee754_float")
        .replace("\"width\": 8", "\"width\": 32");
    workshop.write(
        "design.futil.data",
        data.replace("[1, 2]", "[0.1, \"nan\"]"),
    );
    assert_eq!(
        ends(&workshop, 0, "petal run design.futil -q --exact --out out"),
        ""
    );
    tells(
        &workshop.read("out/memories.json"),
        &["[0.1, 2.5]", "ieee754_float"],
    );
}

/// A statement has its line, and a group also that of its definition, in this order, whichever output tells of it.
#[test]
fn use_and_definition_are_both_named_by_every_output() {
    let workshop = Workshop::empty();
    let design = example("adl/variance.futil");
    workshop.succeeds(&["run", &design, "-q", "--out", "out"]);
    let both = "variance.py:36, variance.py:22";
    let trace = workshop.succeeds(&["trace", "out", "--cycles", "2..3"]);
    tells(&trace, &[&format!("load {{{both}}}")]);
    let graph = workshop.succeeds(&["graph", "out", "--format", "dot"]);
    tells(
        &graph,
        &[
            &format!("load  {both}"),
            "while  variance.py:36, variance.py:21",
        ],
    );
    // Both lines have the group's cycles.
    let lines = workshop.succeeds(&["stats", "out", "lines", "--all", "--format", "json"]);
    let lines: serde_json::Value = serde_json::from_str(&lines).unwrap();
    let lines = lines["lines"].as_array().or(lines.as_array()).unwrap();
    let cycles = |line: u64| {
        let row = lines.iter().find(|row| row["line"] == line).unwrap();
        row["cycles"].as_u64().unwrap()
    };
    assert_eq!(cycles(22), 24);
    assert!(cycles(36) > 24);
    let annotated = workshop.succeeds(&["annotate", "out", "--file", "variance.py"]);
    let costs = |line: &str| {
        annotated
            .lines()
            .any(|text| text.contains(line) && text.contains("24  "))
    };
    assert!(costs("| 22 |"), "{annotated}");
    let hotspots = workshop.read("out/stats/hotspots.csv");
    tells(
        &hotspots,
        &["variance.py:36 cb.while_with(; variance.py:21 more ="],
    );
    let advice = workshop.succeeds(&["advise", &design, "--proved"]);
    tells(&advice, &["from variance.py:36, variance.py:21"]);
}

#[test]
fn lines_of_mlir_are_shown_where_the_export_has_them() {
    let workshop = Workshop::empty();
    // A kernel of four operations in a loop, as CIRCT's front end has it.
    workshop.write(
        "weigh.mlir",
        "func.func @weigh(%A: memref<4xi32>, %B: memref<4xi32>) {
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %A[%i] : memref<4xi32>
    %p = arith.muli %a, %c3 : i32
    %b = memref.load %B[%i] : memref<4xi32>
    memref.store %s, %B[%i] : memref<4xi32>
  }
}
",
    );
    let export = root().join("tests/corpus/circt-weigh.futil");
    let mut design = fs::read_to_string(export).unwrap();
    for (group, id) in [("bb0_0", 0), ("bb0_1", 1), ("bb0_2", 2), ("bb0_3", 3)] {
        let enable = format!("          {group};");
        assert_eq!(design.matches(&enable).count(), 1, "{group}");
        design = design.replace(&enable, &format!("          @pos{{{id}}} {group};"));
    }
    design += "sourceinfo #{\nFILES\n  0: weigh.mlir\nPOSITIONS\n  0: 0 3\n  1: 0 4\n  2: 0 5\n  3: 0 6\n}#\n";
    workshop.write("weigh.futil", design);
    let data = root().join("tests/corpus/circt-weigh.futil.data");
    workshop.write("weigh.futil.data", fs::read(data).unwrap());
    workshop.succeeds(&["run", "weigh.futil", "-q"]);
    let lines = workshop.succeeds(&["stats", "petal-out/weigh", "lines", "--format", "csv"]);
    // Four iterations: reads and writes take a cycle each, a multiplication four.
    tells(
        &lines,
        &[
            "weigh.mlir,3,%a = memref.load %A[%i] : memref<4xi32>,4,4,4.00,4,0,",
            "weigh.mlir,4,\"%p = arith.muli %a, %c3 : i32\",4,16,16.00,16,0,",
            "weigh.mlir,5,%b = memref.load %B[%i] : memref<4xi32>,4,4,4.00,4,0,",
            "weigh.mlir,6,\"memref.store %s, %B[%i] : memref<4xi32>\",4,4,4.00,4,0,",
        ],
    );
}
