//! `petal graph` draws what a run did. That its numbers are right, the designs of the corpus and random programs tell.

use expect_test::expect;

use crate::support::workshop::{Workshop, example, tells};

/// A profile of an example, as `out`.
fn profiled(name: &str) -> Workshop {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", "-q", &example(name), "--out", "out"]);
    workshop
}

/// The lines of a graph in DOT, without how they look: nodes with their critical cycles, then edges.
fn lines(dot: &str) -> String {
    let mut text = String::new();
    for line in dot.lines().filter(|line| line.contains(" [label=")) {
        let (id, rest) = line.split_once(" [label=\"").unwrap();
        let (label, rest) = rest.split_once("\", ").unwrap_or((rest, ""));
        let name = label.split("\\n").next().unwrap();
        let critical = rest.split(", ").find(|part| part.starts_with("critical="));
        let critical = critical.unwrap_or_default().trim_end_matches("];");
        let line = format!("{} {name} {critical}", id.trim());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn a_par_is_followed_along_its_slowest_arm() {
    let workshop = profiled("switch-case-par.futil");
    let dot = workshop.succeeds(&["graph", "out", "--format", "dot"]);
    expect![[r#"
        n0 main critical=0
        n1 seq  L116 critical=3
        n2 read  L117 critical=1
        n3 par  L118 critical=1
        n4
        n5 if  L119 critical=2
        n6 run_s1  L119 critical=0
        n7 if  L120 critical=0
        n8 run_s2  L120 critical=0
        n9 if  L121 critical=0
        n10 run_s3  L121 critical=0
        n11 write  L123 critical=1
        n12 main.s1 [sub_one] critical=0
        n13 go_one  L22 critical=1
        n0 -> n1 1
        n1 -> n2 1
        n2 -> n3 1
        n3 -> n5 1
        n5 -> n6 then 1
        n6 -> n4 1
        n5 -> n4 else 0
        n3 -> n7 1
        n7 -> n8 then 0
        n8 -> n4 0
        n7 -> n4 else 1
        n3 -> n9 1
        n9 -> n10 then 0
        n10 -> n4 0
        n9 -> n4 else 1
        n4 -> n11 1
        n12 -> n13 1
        n6 -> n12 calls 1
    "#]]
    .assert_eq(&lines(&dot));
    // What is in a cell, without what is around it.
    let dot = workshop.succeeds(&["graph", "out", "--format", "dot", "--cell", "main.s1"]);
    expect![[r#"
        n0 main.s1 [sub_one] critical=0
        n1 go_one  L22 critical=1
        n0 -> n1 1
    "#]]
    .assert_eq(&lines(&dot));
}

#[test]
fn a_run_that_ended_early_has_taken_what_it_has_begun() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let run = ["run", "-q", &design, "--out", "out", "--partial"];
    let whole = |limit: &str| {
        workshop.succeeds(&[&run[..], &["--cycle-limit", limit]].concat());
        let dot = workshop.succeeds(&["graph", "out", "--format", "dot"]);
        let critical = dot.split("critical=").skip(1);
        let critical = critical.map(|rest| rest.split([',', ']']).next().unwrap());
        let critical: u64 = critical.map(|number| number.parse::<u64>().unwrap()).sum();
        assert_eq!(critical.to_string(), limit);
        lines(&dot)
    };
    for limit in 1..17 {
        whole(&limit.to_string());
    }
    expect![[r#"
        n0 main critical=0
        n1 seq  L53 critical=1
        n2 init  L54 critical=1
        n3 while  L55 critical=3
        n4 par  L56 critical=0
        n5
        n6 seq  L57 critical=0
        n7 read  L57 critical=2
        n8 update  L57 critical=2
        n9 write  L57 critical=1
        n10 incr  L58 critical=0
        n0 -> n1 1
        n1 -> n2 1
        n2 -> n3 1
        n3 -> n4 2
        n4 -> n6 2
        n6 -> n7 2
        n7 -> n8 2
        n8 -> n9 1
        n9 -> n5 1
        n4 -> n10 2
        n10 -> n5 2
        n5 -> n3 again 1
    "#]]
    .assert_eq(&whole("10"));
}

#[test]
fn the_format_is_that_of_the_file() {
    let workshop = profiled("while-comb.futil");
    let image = workshop.succeeds(&["graph", "out"]);
    for (name, begin) in [
        ("g.svg", "<svg "),
        ("g.html", "<!doctype html>"),
        ("g.dot", "digraph \"while-comb\" {"),
    ] {
        assert_eq!(workshop.succeeds(&["graph", "out", "--out", name]), "");
        assert!(workshop.read(name).starts_with(begin), "{name}");
    }
    assert_eq!(workshop.read("g.svg"), image);
    let said = workshop.ends(2, &["graph", "out", "--out", "g.png"]);
    tells(&said, &["`--out g.png`", "`.svg`", "`.dot`", "`--format`"]);
    assert!(!workshop.path("g.png").exists());
    workshop.succeeds(&["graph", "out", "--out", "g.png", "--format", "svg"]);
    assert_eq!(workshop.read("g.png"), image);
}

#[test]
fn a_cell_that_ran_nothing_is_told() {
    let workshop = profiled("switch-case-par.futil");
    for cell in ["main.s2", "s1", ""] {
        let said = workshop.ends(1, &["graph", "out", "--cell", cell]);
        tells(&said, &[&format!("`{cell}`"), "petal stats out cells"]);
    }
}

/// A `par` of many arms, each of two groups.
fn wide(arms: usize) -> String {
    use std::fmt::Write as _;
    let (mut cells, mut wires, mut control) = (String::new(), String::new(), String::new());
    for arm in 0..arms {
        let _ = writeln!(cells, "r{arm} = std_reg(8);");
        for step in ["a", "b"] {
            let _ = writeln!(
                wires,
                "group {step}{arm} {{ r{arm}.in = 8'd{arm}; r{arm}.write_en = 1'd1; {step}{arm}[done] = r{arm}.done; }}",
                arm = arm % 256
            );
        }
        let _ = writeln!(control, "seq {{ a{arm}; b{arm}; }}");
    }
    format!(
        "import \"primitives/core.futil\";\ncomponent main() -> () {{\ncells {{\n{cells}}}\nwires {{\n{wires}}}\n\
         control {{ seq {{ a0; par {{\n{control}}} }} }}\n}}\n"
    )
}

#[test]
fn what_an_image_has_no_room_for_is_told() {
    let workshop = Workshop::empty();
    workshop.write("wide.futil", wide(150));
    let run = [
        "run",
        "-q",
        "wide.futil",
        "--out",
        "out",
        "--passes",
        "no-opt",
    ];
    workshop.succeeds(&run);
    // Of a large graph the critical path alone, unless more is asked for.
    let image = workshop.succeeds(&["graph", "out"]);
    let none = "447 of 454 statements and cells are not shown, with 0 cycles of the critical path";
    tells(&image, &[none, "`--all`"]);
    let image = workshop.succeeds(&["graph", "out", "--all"]);
    tells(
        &image,
        &[
            "414 of 454",
            "statements and cells are not shown, with",
            "`--cell`",
        ],
    );
    let dot = workshop.succeeds(&["graph", "out", "--format", "dot"]);
    assert!(dot.contains("label=\"b149  L"));
}
