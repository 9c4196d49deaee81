//! Values that checkpoints record: against what the design computes, in every output.

use expect_test::expect;
use serde_json::{Value, json};

use super::results;
use crate::support::workshop::{Workshop, example, tells};

/// Adds up the words of a memory, in one order or another.
const ROWS: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external x = comb_mem_d2(16, 3, 2, 2, 1);
    k = std_reg(2); i = std_reg(1); all = std_reg(16); k_lt = std_lt(2); done = std_reg(1);
    plus = std_fp_sadd(16, 8, 8); k_next = std_add(2); i_next = std_add(1);
  }
  wires {
    k_lt.left = k.out; k_lt.right = 2'd3;
    group add { x.addr0 = k.out; x.addr1 = i.out; plus.left = all.out; plus.right = x.read_data; all.in = plus.out; all.write_en = 1'd1; add[done] = all.done; }
    group first { k.in = 2'd0; k.write_en = 1'd1; first[done] = k.done; }
    group next_k { k_next.left = k.out; k_next.right = 2'd1; k.in = k_next.out; k.write_en = 1'd1; next_k[done] = k.done; }
    group next_i { i_next.left = i.out; i_next.right = 1'd1; i.in = i_next.out; i.write_en = 1'd1; next_i[done] = i.done; }
  }
  control { BODY }
}
"#;

const BY_ROWS: &str = "seq { first; while k_lt.out { seq { add; next_i; add; next_i; next_k; } } }";
const BY_COLUMNS: &str = "seq { while k_lt.out { seq { add; next_k; } } first; next_i; while k_lt.out { seq { add; next_k; } } }";

const FORMAT: &str =
    r#""format": {"numeric_type": "fixed_point", "is_signed": true, "width": 16, "int_width": 8}"#;

/// The data: `x[k][i]`.
const X: [[f64; 2]; 3] = [[0.5, -1.25], [2.0, 0.25], [-3.5, 1.0]];

fn workshop() -> Workshop {
    let workshop = Workshop::empty();
    for (name, body) in [("rows", BY_ROWS), ("columns", BY_COLUMNS)] {
        workshop.write(&format!("{name}.futil"), ROWS.replace("BODY", body));
    }
    let data = format!("{{\"x\": {{\"data\": {}, {FORMAT}}}}}", json!(X));
    workshop.write("x.json", data);
    workshop
}

/// What is observed.
const RECORDED: &str =
    "add=main.add; k=main.k.out, i=main.i.out, x=main.x.read_data, sum=sfixed(main.all.out, 8)";

fn run(workshop: &Workshop, name: &str, more: &[&str]) -> String {
    let design = format!("{name}.futil");
    let run = ["run", &design, "--data", "x.json", "--out", name];
    workshop.succeeds(&[&run, more].concat())
}

/// What the loops go through: k, i, the word, and the sum before it.
fn model(is_by_rows: bool) -> Vec<[f64; 4]> {
    let places: Vec<[usize; 2]> = if is_by_rows {
        (0..6).map(|at| [at / 2, at % 2]).collect()
    } else {
        (0..6).map(|at| [at % 3, at / 3]).collect()
    };
    let mut sum = 0.0;
    let rows = places.into_iter().map(|[k, i]| {
        let before = sum;
        sum += X[k][i];
        let index = |of: usize| f64::from(u8::try_from(of).unwrap());
        [index(k), index(i), X[k][i], before]
    });
    rows.collect()
}

/// Holds what a checkpoint records, and a latency from it to itself or to its next stamp, against the value in each cycle of the run.
pub fn are_those(values: &[u64], [checkpoint, latency]: [&Value; 2], what: &str) {
    let numbers = |of: &Value| -> Vec<u64> { serde_json::from_value(of.clone()).unwrap() };
    let recorded = |of: &Value, at: usize| numbers(&of["values"][at]["bits"]);
    let at = |cycles: &[u64]| -> Vec<u64> {
        let cycles = cycles.iter().map(|&cycle| usize::try_from(cycle).unwrap());
        cycles.map(|cycle| values[cycle]).collect()
    };
    let stamps = numbers(&checkpoint["cycles"]);
    assert_eq!(recorded(checkpoint, 0), at(&stamps), "{what}");
    let intervals = latency["intervals"].as_array().unwrap().iter();
    let intervals: Vec<Vec<u64>> = intervals.map(numbers).collect();
    assert_eq!(intervals.len(), stamps.len(), "{what}");
    let starts: Vec<u64> = intervals.iter().map(|of| of[0]).collect();
    let ends: Vec<u64> = intervals.iter().map(|of| of[0] + of[1]).collect();
    assert_eq!(recorded(latency, 0), at(&starts), "{what}");
    assert_eq!(recorded(latency, 1), at(&ends), "{what}");
}

#[test]
fn values_are_those_of_the_cycle_in_all_outputs() {
    let workshop = workshop();
    for (name, is_by_rows) in [("rows", true), ("columns", false)] {
        for passes in ["all", "no-opt"] {
            let events = [
                "--checkpoint",
                RECORDED,
                "--events",
                "events",
                "--passes",
                passes,
            ];
            run(&workshop, name, &events);
            let expected = model(is_by_rows);
            // The table.
            let text = workshop.read(&format!("{name}/observations/checkpoints.csv"));
            let mut lines = text.trim_start_matches('\u{feff}').lines();
            let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
            assert_eq!(heading[8..], ["value_k", "value_i", "value_x", "value_sum"]);
            let numbers = lines.map(|line| -> Vec<f64> {
                line.split(',')
                    .skip(8)
                    .map(|of| of.parse().unwrap())
                    .collect()
            });
            assert!(numbers.eq(expected.iter().copied()), "{text}");
            // The timeline.
            let timeline: Value =
                serde_json::from_str(&workshop.read(&format!("{name}/timeline.json"))).unwrap();
            let events = timeline["traceEvents"].as_array().unwrap().iter();
            let stamps: Vec<&Value> = events
                .filter(|of| of["ph"] == "i" && of["name"] == "add")
                .collect();
            let numbers =
                |of: &Value| ["k", "i", "x", "sum"].map(|name| of[name].as_f64().unwrap());
            assert!(
                stamps
                    .iter()
                    .map(|of| numbers(&of["args"]))
                    .eq(expected.iter().copied())
            );
            // What is told while the run goes on.
            let told = workshop.read("events");
            let told = told
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap());
            let told: Vec<Value> = told.filter(|line| line.get("values").is_some()).collect();
            assert!(
                told.iter()
                    .map(|of| numbers(&of["values"]))
                    .eq(expected.iter().copied())
            );
            let cycles = |all: &[Value]| -> Vec<Value> {
                all.iter().map(|of| of["cycle"].clone()).collect()
            };
            assert_eq!(
                json!(cycles(&told)),
                results(&workshop, name)["checkpoints"][0]["cycles"]
            );
        }
    }
}

#[test]
fn a_latency_has_the_values_of_both_its_ends() {
    let workshop = workshop();
    let next = "next=main.next_k; k=main.k.out";
    let more = [
        "--checkpoint",
        RECORDED,
        "--checkpoint",
        next,
        "--latency",
        "turn=add..next",
    ];
    let said = run(
        &workshop,
        "columns",
        &[&more[..], &["--latency", "main.next_k"]].concat(),
    );
    expect![[r#"
        intervals, with the values at their ends
          latency      start  cycles  from_k  from_i  from_x  from_sum  to_k
          turn             0       1       0       0     0.5         0     0
          turn             2       1       1       0       2       0.5     1
          turn             4       1       2       0    -3.5       2.5     2
          turn             9       1       0       1   -1.25        -1     0
          turn            11       1       1       1    0.25     -2.25     1
          turn            13       1       2       1       1        -2     2
          main.next_k      1       1       0
          main.next_k      3       1       1
          main.next_k      5       1       2
          main.next_k     10       1       0
          … and 2 more
    "#]]
    .assert_eq(&said[said.find("intervals").unwrap()..]);
    let text = workshop.read("columns/observations/intervals.csv");
    assert_eq!(text.lines().count(), 1 + 12);
    // Without values there is no such table.
    run(&workshop, "columns", &["--latency", "main.next_k"]);
    assert!(!workshop.path("columns/observations/intervals.csv").exists());
}

#[test]
fn a_value_may_name_a_checkpoint() {
    let workshop = workshop();
    let more = [
        "--checkpoint",
        "row[main.k.out]=main.add; i=main.i.out",
        "--events",
        "events",
    ];
    run(&workshop, "rows", &more);
    let results = results(&workshop, "rows");
    let checkpoints = results["checkpoints"].as_array().unwrap();
    let names: Vec<&Value> = checkpoints.iter().map(|of| &of["name"]).collect();
    assert_eq!(names, ["row[0]", "row[1]", "row[2]"]);
    for of in checkpoints {
        assert_eq!(of["values"][0]["bits"], json!([0, 1]));
        let cycles: Vec<u64> = serde_json::from_value(of["cycles"].clone()).unwrap();
        assert_eq!(of["median_distance"], json!(cycles[1] - cycles[0]));
    }
    let told = workshop.read("events");
    for name in names {
        assert_eq!(
            told.matches(&format!("\"name\":{name},")).count(),
            2,
            "{told}"
        );
    }
    // In the order of numbers, and of more than a thousand the first ones.
    workshop.write(
        "long.futil",
        r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
component main() -> () {
  cells { i = std_reg(12); plus = std_add(12); }
  wires { group add { plus.left = i.out; plus.right = 12'd3; i.in = plus.out; i.write_en = 1'd1; add[done] = i.done; } }
  control { repeat 1100 { add; } }
}
"#,
    );
    workshop.succeeds(&[
        "run",
        "long.futil",
        "-q",
        "--out",
        "long",
        "--checkpoint",
        "step[main.i.out]=main.add",
    ]);
    let results = super::results(&workshop, "long");
    let checkpoints = results["checkpoints"].as_array().unwrap();
    let stamps = |of: &Value| of["cycles"].as_array().unwrap().len();
    assert_eq!(checkpoints.len(), 1001);
    assert_eq!(checkpoints.iter().map(stamps).sum::<usize>(), 1100);
    let rest = checkpoints
        .iter()
        .find(|of| of["name"] == "step[?]")
        .unwrap();
    assert_eq!(stamps(rest), 100);
}

#[test]
fn after_the_last_cycle_nobody_knows_a_value() {
    let workshop = workshop();
    let end = "end[main.k.out]=end(main); k=main.k.out";
    let said = run(
        &workshop,
        "rows",
        &["--checkpoint", end, "--latency", "end=main.add..end"],
    );
    let results = results(&workshop, "rows");
    let stamp = &results["checkpoints"][0];
    assert_eq!(stamp["name"], "end[?]");
    assert_eq!(stamp["cycles"], json!([results["cycles"]]));
    assert_eq!(stamp["values"][0]["bits"], json!([]));
    assert_eq!(results["latencies"][0]["values"][0]["bits"], json!([]));
    tells(&said, &["value_k"]);
}

#[test]
fn a_comparison_tells_whether_values_came_in_the_same_order() {
    let workshop = workshop();
    for name in ["rows", "columns"] {
        run(
            &workshop,
            name,
            &["--checkpoint", "add=main.add; k=main.k.out, i=main.i.out"],
        );
    }
    let said = workshop.succeeds(&["compare", "rows", "columns"]);
    expect![[r#"
        checkpoint unchanged (`--all` shows them)

        order of stamps: not the same from stamp 1 on (`-` only before, `+` only after)
            add k=0 i=0
          + add k=1 i=0
          + add k=2 i=0
            add k=0 i=1
          - add k=1 i=0
            add k=1 i=1
          - add k=2 i=0
            add k=2 i=1
    "#]]
    .assert_eq(&said[said.find("checkpoint").unwrap()..]);
    // A baseline has them, too.
    workshop.succeeds(&["baseline", "rows", "--out", "rows.json"]);
    assert_eq!(
        workshop.succeeds(&["compare", "rows.json", "columns"]),
        said
    );
    // Where one run has no values, names are compared, as in baselines of an older petal.
    run(
        &workshop,
        "columns",
        &["--checkpoint", "add=main.add; i=main.i.out"],
    );
    let said = workshop.succeeds(&["compare", "rows.json", "columns"]);
    assert!(
        said.contains("    add i=0\n") && !said.contains("k="),
        "{said}"
    );
    run(&workshop, "columns", &["--checkpoint", "add=main.add"]);
    tells(
        &workshop.succeeds(&["compare", "rows.json", "columns"]),
        &["order of stamps: the same, 6 stamps"],
    );
}

#[test]
fn numbers_are_shown_as_the_value_says() {
    let workshop = Workshop::empty();
    let design = example("neural-layer.futil");
    let values = "row=main.p0.multiply; in=main.p0.mult.left, word=main.bias[2], raw=signed(main.bias[2]), up=fixed(main.bias[2], 31), \
                  float=float(main.bias[2]), sum=main.sum.out + 1";
    workshop.succeeds(&["run", &design, "-q", "--out", "out", "--checkpoint", values]);
    let text = workshop.read("out/observations/checkpoints.csv");
    let rows = text.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').skip(8).collect();
        cells.join(" ")
    });
    expect![[r#"
        value_in value_word value_raw value_up value_float value_sum
        0.5 -1 -65536 1.999969482421875 nan(0xffff0000) 1
        -0.5 -1 -65536 1.999969482421875 nan(0xffff0000) 237569
        1.5 -1 -65536 1.999969482421875 nan(0xffff0000) 4294713345
    "#]]
    .assert_eq(&(rows.collect::<Vec<_>>().join("\n") + "\n"));
    // JSON has the bits, and what they are.
    let results = results(&workshop, "out");
    let format =
        json!({"numeric_type": "fixed_point", "is_signed": true, "width": 32, "int_width": 16});
    assert_eq!(results["checkpoints"][0]["values"][0]["format"], format);
}

#[test]
fn wrong_values_are_refused_with_their_place() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let fails = |more: &[&str], said: &[&str]| {
        let run = ["run", &design, "-q", "--out", "out"];
        tells(&workshop.ends(1, &[&run, more].concat()), said);
    };
    for (values, said) in [
        ("k=main.q.out", "no cell, port, group or statement `q`"),
        (
            "k=main.k.out, k=main.i.out",
            "two values of this checkpoint are called `k`\n  main.i.out",
        ),
        (
            "a b=main.k.out, a-b=main.i.out",
            "two values of this checkpoint are called `a-b`",
        ),
        ("", "a value is missing, such as `k=main.k.out`"),
        ("k=main.k.out, ", "a value is missing"),
        (
            "k=main.k.out; i=main.i.out",
            "expected `[` or an operator or the end",
        ),
        ("k=main.a", "this is a memory, which is no value"),
        (
            "k=fixed(main.k.out, 4)",
            "this has to be a number from 0 to 3",
        ),
        ("k=fixed(main.k.out)", "`fixed` takes 2 arguments"),
        (
            "k=float(main.k.out)",
            "this has 3 bits, and floating-point numbers have 32 or 64",
        ),
        (
            "k=signed(main.k.out) + 1",
            "`signed` tells how a value is shown",
        ),
    ] {
        fails(
            &["--checkpoint", &format!("main.store; {values}")],
            &["`--checkpoint`: ", said],
        );
    }
    let other = "x=main.clear; a-b=main.k.out";
    for (value, said) in [
        (
            "a-b=signed(main.k.out)",
            "another checkpoint shows its `a-b` as another kind of number",
        ),
        (
            "a b=main.k.out",
            "`a b` and `a-b` of another checkpoint have one column",
        ),
    ] {
        fails(
            &[
                "--checkpoint",
                other,
                "--checkpoint",
                &format!("main.store; {value}"),
            ],
            &[said],
        );
    }
    fails(
        &["--checkpoint", "s[main.q]=main.store"],
        &["`--checkpoint`: ", "`q`"],
    );
    for (values, said) in [
        ("values = { }", "observe.toml: TOML parse error at line 3"),
        (
            "values = { k = \"main.k.out\", k = \"main.i.out\" }",
            "duplicate key",
        ),
        (
            "values = { k = \"main.k.out\",\n i = \"main.q.out\" }",
            "observe.toml:4: ",
        ),
        ("by = \"main.q.out\"", "observe.toml:3: "),
    ] {
        workshop.write(
            "observe.toml",
            format!("[[checkpoint]]\nwhen = \"main.store\"\n{values}\n"),
        );
        fails(&["--observe", "observe.toml"], &[said]);
    }
}
