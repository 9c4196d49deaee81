//! `petal whatif`: what a run would take with less.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::workshop::{Workshop, example, said, tells};
use crate::support::{Expected, designs, examples, root};

/// The answers by what is asked: counted, saved, how.
type Answers = BTreeMap<String, (Option<i64>, Option<i64>, String)>;

fn answers(workshop: &Workshop, design: &str, more: &[&str]) -> Answers {
    let args = ["whatif", design, "-q", "--out", "out", "--format", "json"];
    let told = workshop.succeeds(&[&args[..], more].concat());
    let rows: Value = serde_json::from_str(&told).unwrap();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| {
        let number = |key: &str| row[key].as_i64();
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let answer = (number("counted"), number("saves"), text("how"));
        (text("what if"), answer)
    })
    .collect()
}

/// Two arms, of which one goes on for two cycles more; what is expected can be counted in the call trees.
const ARMS: &str = r#"import "primitives/core.futil";
component main() -> () {
  cells { a = std_reg(8); b = std_reg(8); c = std_reg(8); }
  wires {
    group a1 { a.in = 8'd1; a.write_en = 1'd1; a1[done] = a.done; }
    group a2 { a.in = 8'd2; a.write_en = 1'd1; a2[done] = a.done; }
    group b1 { b.in = 8'd1; b.write_en = 1'd1; b1[done] = b.done; }
    group b2 { b.in = 8'd2; b.write_en = 1'd1; b2[done] = b.done; }
    group b3 { b.in = 8'd3; b.write_en = 1'd1; b3[done] = b.done; }
    group c1 { c.in = 8'd1; c.write_en = 1'd1; c1[done] = c.done; }
  }
  control {
    seq {
      par {
        seq { a1; a2; }
        seq { b1; b2; b3; }
      }
      c1;
    }
  }
}
"#;

#[test]
fn a_par_takes_as_long_as_its_longest_arm_then_takes() {
    let workshop = Workshop::empty();
    workshop.write("arms.futil", ARMS);
    let answers = answers(&workshop, "arms.futil", &["--passes", "no-opt"]);
    let expected = [
        ("computation alone", Some(8), 6),
        ("no control", Some(8), 6),
        ("no control of main.seq@L13", Some(2), 2),
        ("no control of main.par@L14", Some(1), 1),
        // The other arm takes four cycles.
        ("no control of main.seq@L16", Some(3), 2),
        // It is not the longest one.
        ("no control of main.seq@L15", Some(2), 0),
        ("main.par@L14 balanced", None, 2),
    ];
    let expected = expected.map(|(what, counted, saved)| {
        let answer = (counted, Some(saved), "replayed".to_owned());
        (what.to_owned(), answer)
    });
    assert_eq!(answers, Answers::from(expected));
}

/// Each call makes sure that the replay has the cycles of the run.
#[test]
fn nothing_saves_more_than_there_is() {
    let mut asked = 0;
    for design in examples().into_iter().chain(designs("tests/corpus")) {
        let workshop = Workshop::empty();
        // One that the compiler takes it with.
        let passes = Expected::of(&design).cycles.into_keys().next().unwrap();
        let design = design.to_str().unwrap();
        let answers = answers(&workshop, design, &["--passes", &passes]);
        let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
        let figure = |key: &str| summary[key].as_i64().unwrap();
        let replayed = answers
            .iter()
            .filter(|(_, (_, _, how))| ["replayed", "at most"].contains(&how.as_str()));
        let mut control = 0;
        for (what, (counted, saved, _)) in replayed {
            let saved = saved.unwrap();
            assert!(0 <= saved && saved <= figure("cycles"), "{design}: {what}");
            assert!(
                counted.is_none_or(|counted| saved <= counted),
                "{design}: {what}"
            );
            if what.starts_with("no control of ") || what.starts_with("no start and finish of ") {
                control += counted.unwrap();
            }
            asked += 1;
        }
        let counted = |what: &str| answers.get(what).and_then(|answer| answer.0).unwrap_or(0);
        // What stands for a cell or a statement stands for all of it.
        assert_eq!(counted("no control"), control, "{design}");
        // Where nothing runs at once, these are the cycles of the run.
        if !fs::read_to_string(design).unwrap().contains("par") {
            let saved = |what: &str| answers.get(what).and_then(|answer| answer.1).unwrap_or(0);
            assert_eq!(saved("no control"), figure("overhead_cycles"), "{design}");
            let others = figure("useful_cycles") - (figure("cycles") - saved("computation alone"));
            assert_eq!(saved("no conditions"), others, "{design}");
        }
    }
    assert!(asked > 300, "only {asked}");
}

#[test]
fn another_latency_is_simulated() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let all = answers(&workshop, &design, &[]);
    let simulated = |counted, saved| (counted, Some(saved), "simulated".to_owned());
    // The library's is done after two cycles, though it declares three.
    assert_eq!(all["std_mult_pipe=2"], simulated(Some(64), 0));
    assert_eq!(all["std_mult_pipe=1"], simulated(Some(128), 64));
    let slow = answers(&workshop, &design, &["--primitive", "std_mult_pipe=10"]);
    let expected = ("std_mult_pipe=10".to_owned(), simulated(None, -512));
    assert_eq!(slow, Answers::from([expected]));
    let curve = answers(&workshop, &design, &["--primitive", "std_mult_pipe=1..4"]);
    let curve: Vec<i64> = curve
        .into_values()
        .map(|answer| answer.1.unwrap())
        .collect();
    assert_eq!(curve, [64, 0, -64, -128]);
    let text = workshop.succeeds(&["whatif", &design, "--primitive", "std_mult_pipe=10"]);
    tells(
        &text,
        &["the run takes 612 cycles", "-512  -83.66  simulated"],
    );
}

const MULTIPLIED: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 1, 1);
    mul = std_mult_pipe(8);
  }
  wires {
    group multiply {
      mul.left = m.read_data; mul.right = 8'd3; mul.go = !mul.done ? 1'd1;
      m.addr0 = 1'd0; multiply[done] = mul.done;
    }
    group keep { m.addr0 = 1'd0; m.write_data = mul.out; m.write_en = 1'd1; keep[done] = m.done; }
  }
  control { seq { multiply; keep; } }
}
"#;

const DATA: &str =
    r#"{"m": {"data": [5], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}}}"#;

#[test]
fn what_is_no_question_is_told() {
    let workshop = Workshop::new();
    let fails = |primitive: &str| {
        let output = workshop.petal(&["whatif", "design.futil", "--primitive", primitive]);
        assert_eq!(output.status.code(), Some(2));
        said(&output)
    };
    tells(&fails("std_mul_pipe=2"), &["is it `std_mult_pipe`?"]);
    for wrong in ["std_mult_pipe", "std_mult_pipe=0", "std_mult_pipe=4..2"] {
        tells(&fails(wrong), &["from 1 on"]);
    }
    tells(&fails("std_mult_pipe=1..1000"), &["more than 256 runs"]);
    tells(&fails("std_mult_pipe=1"), &["no cell of `std_mult_pipe`"]);
    // Results that nobody sees are the same whatever they are.
    let text = MULTIPLIED.replace("@external ", "");
    workshop.write("blind.futil", text);
    let blind = answers(
        &workshop,
        "blind.futil",
        &["--primitive", "std_mult_pipe=1"],
    );
    assert_eq!(
        blind["std_mult_pipe=1"].2,
        "simulated: no results to compare"
    );
    // A library of one's own may be another one.
    workshop.write("multiplied.futil", MULTIPLIED);
    workshop.write("multiplied.futil.data", DATA);
    let all = answers(&workshop, "multiplied.futil", &[]);
    assert_eq!(all["std_mult_pipe=1"].2, "simulated");
    fs::create_dir(workshop.path("own")).unwrap();
    workshop.write("own/binary_operators.futil", "");
    let told = workshop.petal(&["whatif", "multiplied.futil", "-l", "own"]);
    let said = said(&told);
    tells(
        &said,
        &["not asked of primitives", "own/binary_operators.futil"],
    );
    assert!(told.status.success(), "{said}");
}

/// Steps that the compiler runs at once are one: what computes in one is no control of another.
#[test]
fn what_computes_beside_control_is_computation() {
    let workshop = Workshop::empty();
    let design = root().join("tests/corpus/control-promotable.futil");
    let answers = answers(&workshop, design.to_str().unwrap(), &[]);
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let overhead = summary["overhead_cycles"].as_i64();
    assert_eq!(answers["no control"].1, overhead);
}
