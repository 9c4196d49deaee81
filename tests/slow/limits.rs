//! Designs that are large in one way each: they work, and their results are those that follow from how
//! they are made. How long they take is in `docs/performance.md`.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::support::workshop::{Workshop, tells};

const HEAD: &str =
    "import \"primitives/core.futil\";\nimport \"primitives/memories/comb.futil\";\n";

/// `main` with these cells, wires and control program.
fn main_of(cells: &str, wires: &str, control: &str) -> String {
    format!(
        "{HEAD}component main() -> () {{\n  cells {{ {cells} }}\n  wires {{ {wires} }}\n  control {{ {control} }}\n}}\n"
    )
}

/// A group that takes one cycle, and the register that it sets.
fn group(name: &str) -> String {
    format!("group {name} {{ r.in = 8'd1; r.write_en = 1'd1; {name}[done] = r.done; }}\n")
}

const REGISTER: &str = "@external r = std_reg(8);";

/// Profiles a design, with its folder `out`: the summary.
fn profile(workshop: &Workshop, design: &str, args: &[&str]) -> Value {
    workshop.write("design.futil", design);
    workshop.write("design.futil.data", "{}");
    let run = ["run", "design.futil", "--out", "out", "--json"];
    let summary = workshop.succeeds(&[&run[..], args].concat());
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let overhead = summary["overhead"].as_object().unwrap().values();
    let overhead: u64 = overhead.map(|cycles| cycles.as_u64().unwrap()).sum();
    assert_eq!(
        summary["useful_cycles"].as_u64().unwrap() + overhead,
        summary["cycles"].as_u64().unwrap()
    );
    // What was written can be read.
    for command in [
        &["stats", "out"][..],
        &["flame", "out"],
        &["annotate", "out"],
    ] {
        workshop.succeeds(command);
    }
    summary
}

/// The texts of all numbers below `count`, one after the other.
fn repeated(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// The number of probes in the metadata.
fn probes(workshop: &Workshop) -> usize {
    let metadata = fs::read_to_string(workshop.path("out/metadata.json")).unwrap();
    metadata.matches("\"probe\":").count()
}

#[test]
fn ten_thousand_probes() {
    // Each group has a probe of its own. Stock passes are quadratic in the length of a sequence, so
    // there are many short ones, in many components.
    let (components, groups) = (200, 50);
    let names: Vec<String> = (0..groups).map(|at| format!("g{at}")).collect();
    let wires: String = names.iter().map(|name| group(name)).collect();
    let steps = format!("seq {{ {}; }}", names.join("; "));
    let mut design = HEAD.to_owned();
    for at in 0..components {
        let cells = "r = std_reg(8);";
        let part = main_of(cells, &wires, &steps).replace(HEAD, "");
        design += &part.replace("component main", &format!("component part{at}"));
    }
    let cells: String = repeated(components, |at| format!("p{at} = part{at}(); "));
    let calls: String = repeated(components, |at| format!("invoke p{at}()(); "));
    design += &main_of(&cells, "", &format!("seq {{ {calls} }}")).replace(HEAD, "");
    let workshop = Workshop::new();
    // Optimised, all components would run at once.
    let summary = profile(&workshop, &design, &["--passes", "no-opt"]);
    assert!(
        probes(&workshop) >= components * groups,
        "{}",
        probes(&workshop)
    );
    assert_eq!(summary["useful_cycles"], components * groups);
}

#[test]
fn control_that_nests_two_hundred_deep() {
    let depth = 200;
    let nest = |open: &str| format!("{}g;{}", open.repeat(depth), " }".repeat(depth));
    for (open, args) in [
        ("seq { g; ", &[][..]),
        ("par { ", &[]),
        ("if on.out { ", &[]),
        ("static seq { s; ", &[]),
        ("seq { g; if on.out { ", &["--passes", "no-opt"]),
        // The pass goes twice through each loop.
        ("while on.out { g; ", &["-d", "cell-share"]),
    ] {
        let open_levels = open.matches('{').count();
        let control = nest(open).replacen(" }", &" }".repeat(open_levels), depth);
        // Conditions hold, but for those of loops.
        let control = if open.contains("if on") {
            format!("seq {{ start; {control} }}")
        } else {
            control
        };
        let statics = open.starts_with("static");
        let (wires, control) = if statics {
            let group = "static<1> group s { r.in = 8'd2; r.write_en = 1'd1; }";
            (group.to_owned(), control.replace("g;", "s;"))
        } else {
            let start = "group start { on.in = 1'd1; on.write_en = 1'd1; start[done] = on.done; }";
            let start = if open.contains("if on") { start } else { "" };
            (group("g") + start, control)
        };
        let cells = format!("{REGISTER} on = std_reg(1);");
        let workshop = Workshop::new();
        let design = main_of(&cells, &wires, &control);
        let summary = profile(&workshop, &design, args);
        let useful = match open {
            "seq { g; " | "static seq { s; " => depth + 1,
            "if on.out { " => 2,
            "seq { g; if on.out { " => depth + 2,
            // The register is 0.
            "while on.out { g; " => 0,
            _ => 1,
        };
        assert_eq!(summary["useful_cycles"], useful, "{open}");
    }
}

#[test]
fn what_nests_too_deep_is_told() {
    let workshop = Workshop::new();
    let fails = |control: &str, args: &[&str]| {
        let cells = format!("{REGISTER} on = std_reg(1);");
        workshop.write("design.futil", main_of(&cells, &group("g"), control));
        workshop.fails(&[&["run", "design.futil", "--out", "out"], args].concat())
    };
    let nest = |open: &str, inner: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), "}".repeat(depth))
    };
    let said = fails(&nest("seq {\n", "g;", 100_000), &[]);
    tells(&said, &["design.futil:1005", "too deep", "1000 levels"]);
    let said = fails(&nest("while on.out { ", "g;", 100), &[]);
    tells(
        &said,
        &["2^100", "design.futil", "--disable-pass cell-share"],
    );
    // The parser would try for years.
    let said = fails(&nest("while on.out { ", "?", 100), &[]);
    tells(&said, &["design.futil:7:1", "error"]);
}

#[test]
fn a_component_that_is_instantiated_a_thousand_times() {
    let count = 1000;
    let leaf = main_of("r = std_reg(8);", &group("g"), "g;").replace("main", "leaf");
    let cells: String = repeated(count, |at| format!("i{at} = leaf(); "));
    let calls: String = repeated(count, |at| format!("invoke i{at}()(); "));
    let main = main_of(&cells, "", &format!("seq {{ {calls} }}")).replace(HEAD, "");
    let workshop = Workshop::new();
    let summary = profile(&workshop, &(leaf + &main), &[]);
    assert_eq!(summary["useful_cycles"], count);
    let cells = fs::read_to_string(workshop.path("out/stats/cells.csv")).unwrap();
    assert_eq!(
        cells.lines().count(),
        count + 2,
        "a head, main, and the instances"
    );
}

#[test]
fn names_of_a_thousand_characters() {
    let long = |what: &str| what.repeat(1000 / what.len());
    let [part, cell, step, register] = ["part", "cell-", "step_", "reg'"].map(long);
    let leaf = main_of(
        &format!("{register} = std_reg(8);"),
        &group(&step).replace("r.", &format!("{register}.")),
        &format!("{step};"),
    );
    let leaf = leaf.replace("component main", &format!("component {part}"));
    let main = main_of(
        &format!("{cell} = {part}();"),
        "",
        &format!("invoke {cell}()();"),
    );
    let workshop = Workshop::new();
    let design = leaf + &main.replace(HEAD, "");
    // Else nobody would notice what the component does.
    let design = design.replacen("() -> ()", "() -> (out: 8)", 1);
    let design = design.replacen("wires {", &format!("wires {{ out = {register}.out;"), 1);
    let summary = profile(&workshop, &design, &[]);
    assert_eq!(summary["useful_cycles"], 1);
    let folded = fs::read_to_string(workshop.path("out/flame.folded")).unwrap();
    for name in [&part, &cell, &step, &register] {
        assert!(folded.contains(name.as_str()), "a name is cut");
    }
    let again = profile(&workshop, &design, &["--simulator", "verilator"]);
    assert_eq!(again["cycles"], summary["cycles"]);
}

#[test]
fn a_source_of_a_hundred_thousand_lines() {
    let mut design = String::new();
    for line in 0..100_000 {
        let _ = writeln!(design, "// line {line}");
    }
    design += &main_of(REGISTER, &group("g"), "seq { g;\n g; }");
    let workshop = Workshop::new();
    let summary = profile(&workshop, &design, &[]);
    assert_eq!(summary["useful_cycles"], 2);
    let annotated = workshop.succeeds(&["annotate", "out"]);
    let first = design
        .lines()
        .position(|line| line.contains("seq {"))
        .unwrap()
        + 1;
    let costs = annotated
        .lines()
        .find(|line| line.contains("control { seq {"));
    tells(costs.unwrap(), &[&format!("| {first} |")]);
    assert_eq!(annotated.lines().count(), design.lines().count() + 1);
}

#[test]
fn values_of_a_thousand_bits() {
    let wide = main_of(
        "@external mem = comb_mem_d1(1024, 2, 1); r = std_reg(1024); n = std_not(1024);",
        "group load { mem.addr0 = 1'd0; n.in = mem.read_data; r.in = n.out; r.write_en = 1'd1; load[done] = r.done; }
         group store { mem.addr0 = 1'd1; mem.write_data = r.out; mem.write_en = 1'd1; store[done] = mem.done; }",
        "seq { load; store; }",
    );
    let format = r#""format": {"numeric_type": "bitnum", "is_signed": false, "width": 1024}"#;
    // 2^1024 - 1, and one less than half of it.
    let all = num_bigint::BigUint::from(2u8).pow(1024) - 1u8;
    let half: num_bigint::BigUint = &all >> 1;
    let other: num_bigint::BigUint = &all - &half;
    let workshop = Workshop::new();
    workshop.write("design.futil", wide);
    workshop.write(
        "design.futil.data",
        format!(r#"{{"mem": {{"data": [{half}, 0], {format}}}}}"#),
    );
    for simulator in ["embedded", "verilator"] {
        workshop.succeeds(&[
            "run",
            "design.futil",
            "--out",
            "out",
            "-q",
            "--simulator",
            simulator,
        ]);
        let memories = fs::read_to_string(workshop.path("out/memories.json")).unwrap();
        tells(&memories, &[&other.to_string()]);
    }
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--out",
        "kept",
        "-q",
        "--vcd",
        "wave.vcd",
    ]);
    workshop.succeeds(&[
        "reconstruct",
        "kept/metadata.json",
        "wave.vcd",
        "--out",
        "out",
        "-q",
    ]);
    assert!(workshop.events("out") == workshop.events("kept"));
}

/// A memory of `words` words, with as many bits for an index.
fn memory(words: u64, bits: u32, external: &str) -> String {
    main_of(
        &format!("{external} mem = comb_mem_d1(32, {words}, {bits}); {REGISTER}"),
        &format!(
            "group put {{ mem.addr0 = {bits}'d{last}; mem.write_data = 32'd5; mem.write_en = 1'd1; put[done] = mem.done; }}
             group get {{ mem.addr0 = {bits}'d{last}; r.in = 8'd7; r.write_en = mem.read_data == 32'd5 ? 1'd1;
               get[done] = r.done; }}",
            last = words - 1
        ),
        "seq { put; get; }",
    )
}

#[test]
fn what_takes_too_much_memory_is_told() {
    let workshop = Workshop::new();
    let fails = |design: &str, args: &[&str]| {
        workshop.write("design.futil", design);
        workshop.fails(&[&["run", "design.futil", "--out", "out"], args].concat())
    };
    for simulator in ["embedded", "verilator"] {
        for external in ["@external", ""] {
            let design = memory(1 << 40, 40, external);
            let said = fails(&design, &["--simulator", simulator]);
            tells(
                &said,
                &[
                    "design.futil:4: ",
                    "`mem`",
                    "1099511627776 words",
                    "8 TiB",
                    "--max-memory",
                ],
            );
        }
    }
    let design = memory(1 << 20, 20, "");
    let said = fails(&design, &["--max-memory", "8M"]);
    tells(
        &said,
        &["1048576 words of 32 bits", "and 8 MiB are allowed"],
    );
    workshop.write("design.futil.data", "{}");
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--out",
        "fits",
        "-q",
        "--max-memory",
        "9M",
    ]);
    // Its number of words has 65 bits.
    let cells = "mem = comb_mem_d4(32, 65536, 65536, 65536, 65536, 16, 16, 16, 16);";
    let said = fails(
        &main_of(&format!("{REGISTER} {cells}"), &group("g"), "g;"),
        &[],
    );
    tells(
        &said,
        &["design.futil:4: ", "18446744073709551616 words", "128 EiB"],
    );
    // Each of many may be small.
    let part = main_of(
        "mem = seq_mem_d1(64, 1024, 10); r = std_reg(8);",
        &group("g"),
        "g;",
    );
    let part = part.replace("component main", "component part");
    let cells = repeated(100, |at| format!("p{at} = part(); "));
    let calls = repeated(100, |at| format!("invoke p{at}()(); "));
    let main = main_of(&cells, "", &format!("seq {{ {calls} }}")).replace(HEAD, "");
    let design = (part + &main).replace("comb.futil", "seq.futil");
    let said = fails(&design, &["--max-memory", "1M"]);
    tells(&said, &["`part`", "100 "]);
}

/// Components with two cells each of the one before.
fn doubled(levels: usize) -> String {
    let mut design = main_of("r = std_reg(8);", &group("g"), "g;").replace("main", "c0");
    for level in 1..=levels {
        let cells = format!("a = c{0}(); b = c{0}();", level - 1);
        let part = main_of(&cells, "", "seq { invoke a()(); invoke b()(); }").replace(HEAD, "");
        design += &part.replace("component main", &format!("component c{level}"));
    }
    design.replace(&format!("component c{levels}("), "component main(")
}

#[test]
fn too_many_instances_are_told() {
    let workshop = Workshop::new();
    for levels in [30, 100] {
        workshop.write("design.futil", doubled(levels));
        for simulator in ["embedded", "verilator"] {
            let run = [
                "run",
                "design.futil",
                "--out",
                "out",
                "--simulator",
                simulator,
            ];
            let said = workshop.fails(&run);
            tells(
                &said,
                &[
                    "design.futil:10: ",
                    "instances of component `c0`",
                    "--max-memory",
                ],
            );
        }
    }
    let said = workshop.fails(&[
        "compare",
        "design.futil",
        "--passes",
        "all",
        "--passes",
        "no-opt",
    ]);
    tells(&said, &["instances of component `c0`"]);
}

#[test]
fn what_is_observed_takes_no_more_memory_than_it_may() {
    let workshop = Workshop::empty();
    workshop.write(
        "design.futil",
        r#"import "primitives/core.futil";
        import "primitives/binary_operators.futil";
        component main() -> () {
          cells { i = std_reg(32); add = std_add(32); lt = std_lt(32); }
          wires {
            lt.left = i.out; lt.right = 32'd200000;
            group up {
              add.left = i.out; add.right = 32'd1; i.in = add.out; i.write_en = 1'd1; up[done] = i.done;
            }
          }
          control { while lt.out { up; } }
        }"#,
    );
    let run = [
        "run",
        "design.futil",
        "-q",
        "--watch",
        "main.i",
        "--max-memory",
    ];
    let said = workshop.fails(&[&run[..], &["1M"]].concat());
    assert!(
        said.contains("what is observed takes more memory than it may"),
        "{said}"
    );
    assert!(!workshop.path("petal-out").exists(), "nothing is left");
    let verilator = ["--simulator", "verilator"];
    let said = workshop.fails(&[&run[..], &["1M"], &verilator].concat());
    assert!(
        said.contains("what is observed takes more memory than it may"),
        "{said}"
    );
    workshop.succeeds(&[&run[..], &["100M"]].concat());
}
