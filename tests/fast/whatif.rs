//! `petal whatif`: what a run would take with less.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::workshop::{Workshop, example, said, tells};
use crate::support::{Expected, designs, examples, root};

/// The answers by what is asked: counted, saved, how.
type Answers = BTreeMap<String, (Option<i64>, Option<i64>, String)>;

fn answers(workshop: &Workshop, design: &str, more: &[&str]) -> Answers {
    answers_in(&found(workshop, design, more))
}

/// All that the command says.
fn found(workshop: &Workshop, design: &str, more: &[&str]) -> Value {
    let args = ["whatif", design, "-q", "--out", "out", "--format", "json"];
    let told = workshop.succeeds(&[&args[..], more].concat());
    serde_json::from_str(&told).unwrap()
}

fn answers_in(found: &Value) -> Answers {
    let rows = found["answers"].as_array().unwrap().iter();
    rows.map(|row| {
        let number = |key: &str| row[key].as_i64();
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let answer = (number("counted"), number("saves"), text("how"));
        (text("what if"), answer)
    })
    .collect()
}

/// Everything asked of a design, with its passes and the summary of its profile.
struct Everything {
    design: PathBuf,
    passes: String,
    found: Value,
    summary: Value,
}

/// Everything asked of all examples, and of every other design of the corpus.
fn everything() -> &'static [Everything] {
    static ALL: LazyLock<Vec<Everything>> = LazyLock::new(|| {
        let all = examples()
            .into_iter()
            .chain(designs("tests/corpus").into_iter().step_by(2));
        let ask = |design: PathBuf| {
            let workshop = Workshop::empty();
            // What the compiler takes it with.
            let passes = Expected::of(&design).cycles.into_keys().next().unwrap();
            let path = design.to_str().unwrap();
            let more = ["--passes", &passes, "--budget", "1s"];
            let found = found(&workshop, path, &more);
            let summary = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
            Everything {
                design,
                passes,
                found,
                summary,
            }
        };
        all.map(ask).collect()
    });
    &ALL
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
        // The last group has a register of its own.
        ("main.seq@L13 in the order of its data", None, 0),
        ("everything in the order of its data", None, 0),
    ];
    let expected = expected.map(|(what, counted, saved)| {
        let (saved, how) = if what.ends_with("data") {
            (None, "estimated")
        } else {
            (Some(saved), "replayed")
        };
        (what.to_owned(), (counted, saved, how.to_owned()))
    });
    assert_eq!(answers, Answers::from(expected));
}

/// Each call makes sure that the replay has the cycles of the run.
#[test]
fn nothing_saves_more_than_there_is() {
    let mut asked = 0;
    for Everything {
        design,
        found,
        summary,
        ..
    } in everything()
    {
        let answers = answers_in(found);
        let design = design.to_str().unwrap();
        let figure = |key: &str| summary[key].as_i64().unwrap();
        let rows = found["answers"].as_array().unwrap().iter();
        for row in rows.filter(|row| row["how"] == "estimated") {
            let [least, most] = ["at least", "at most"].map(|key| row[key].as_i64().unwrap());
            assert!(least <= most && most <= figure("cycles"), "{design}: {row}");
            assert!(
                row["saves"].is_null() && row["of run"].is_null(),
                "{design}: {row}"
            );
            // What a program with such an order saved when it was tried.
            let advice = row["advice"].as_str().unwrap_or_default();
            let tried = advice.split(", ").filter_map(|of| {
                let saved = of.strip_prefix("parallel-steps ")?.replace(',', "");
                saved.parse::<i64>().ok()
            });
            for saved in tried {
                assert!(saved <= most, "{design}: {row}");
            }
            asked += 1;
        }
        let replayed = answers.iter().filter(|(_, (.., how))| how == "replayed");
        let control = answers.iter().filter(|(what, _)| {
            what.starts_with("no control of ") || what.starts_with("no start and finish of ")
        });
        let control: i64 = control.filter_map(|(_, answer)| answer.0).sum();
        for (what, (counted, saved, _)) in replayed {
            let saved = saved.unwrap();
            assert!(0 <= saved && saved <= figure("cycles"), "{design}: {what}");
            assert!(
                counted.is_none_or(|counted| saved <= counted),
                "{design}: {what}"
            );
            asked += 1;
        }
        let counted = |what: &str| answers.get(what).and_then(|answer| answer.0).unwrap_or(0);
        // What stands for a cell or a statement stands for all of it.
        assert_eq!(counted("no control"), control, "{design}");
        // Where nothing runs at once, these are the cycles of the run.
        if !fs::read_to_string(design).unwrap().contains("par") {
            assert_eq!(counted("no control"), figure("overhead_cycles"), "{design}");
            let alone = figure("cycles") - counted("computation alone");
            let others = figure("useful_cycles") - alone;
            assert_eq!(counted("no conditions"), others, "{design}");
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

/// A group in a loop beside one that goes on longer, or not: what a multiplier of another latency makes of the run is what a group makes of
/// it that takes as much longer.
#[test]
fn a_group_of_another_length_is_as_if_it_were_simulated() {
    let workshop = Workshop::empty();
    for beside in ["", "next; next; next;", "next; other;"] {
        for design in [
            "seq { multiply; BESIDE next; }",
            "par { multiply; seq { BESIDE next; } }",
            "par { seq { multiply; multiply; } seq { BESIDE next; } other; }",
            "repeat 3 { par { multiply; seq { BESIDE next; } } }",
            "seq { par { multiply; other; } BESIDE par { multiply; next; } }",
            "while lt.out with check { par { multiply; seq { next; BESIDE } } }",
        ] {
            let control = design.replace("BESIDE", beside);
            workshop.write("beside.futil", BESIDE.replace("CONTROL", &control));
            for longer in [-1, 1, 5] {
                let passes = ["--passes", "no-opt"];
                let latency = format!("main.mul={}", 2 + longer);
                let simulated = answers(
                    &workshop,
                    "beside.futil",
                    &[&passes[..], &["--primitive", &latency]].concat(),
                );
                let cycles = format!("main.multiply={}", 2 + longer);
                let replayed = answers(
                    &workshop,
                    "beside.futil",
                    &[&passes[..], &["--cycles", &cycles]].concat(),
                );
                let saved = |of: &Answers| of.values().next().unwrap().1.unwrap();
                assert_eq!(saved(&simulated), saved(&replayed), "{control}: {longer}");
            }
        }
    }
}

/// What is asked at once is not what each saves by itself.
#[test]
fn several_things_are_asked_at_once() {
    let workshop = Workshop::empty();
    workshop.write("arms.futil", ARMS);
    let asked = |more: &[&str]| {
        let args = [&["--passes", "no-opt"][..], more].concat();
        let answers = answers(&workshop, "arms.futil", &args);
        assert_eq!(answers.len(), 1);
        answers.into_values().next().unwrap().1.unwrap()
    };
    assert_eq!(asked(&["--overhead", "main.seq@L15"]), 0);
    assert_eq!(asked(&["--overhead", "main.seq@L16"]), 2);
    let both = ["--overhead", "main.seq@L15", "--overhead", "main.seq@L16"];
    assert_eq!(asked(&both), 3);
    assert_eq!(asked(&["--overhead", "all"]), 6);
    assert_eq!(asked(&["--cycles", "main.b1=4"]), -3);
    assert_eq!(
        asked(&["--cycles", "main.b1=4", "--balance", "main.par@L14"]),
        2
    );
    let fails = |more: &[&str], told: &[&str]| {
        let output = workshop.petal(&[&["whatif", "arms.futil"][..], more].concat());
        assert_eq!(output.status.code(), Some(2));
        tells(&said(&output), told);
    };
    fails(&["--cycles", "main.b4=2"], &["`main.b4`", "is it `main.b"]);
    fails(&["--cycles", "main.b1=0"], &["from 1 on"]);
    fails(&["--balance", "main.seq@L15"], &["is it `main.par@L14`?"]);
    fails(
        &["--cycles", "main.b1=2", "--primitive", "std_mult_pipe=1"],
        &["one after the other"],
    );
}

/// A memory has one port, so a run has a cycle for each use of it at least.
#[test]
fn no_run_is_shorter_than_its_bounds() {
    for Everything {
        design,
        found,
        summary,
        ..
    } in everything()
    {
        // The summary and the report have what was printed.
        assert_eq!(summary["what_if"], *found);
        let cycles = found["cycles"].as_u64().unwrap();
        let bounds = bounds(found);
        if design.ends_with("matmul.futil") {
            for used in ["main.a (comb_mem_d2)", "main.b (comb_mem_d2)"] {
                assert_eq!(bounds[&format!("{used}, used 64 times")], 64);
            }
        }
        // Runs of a cycle each that follow one another.
        if design.ends_with("pipelined-mac.futil") {
            assert_eq!(bounds["main.a (comb_mem_d1), used 16 times"], 16);
        }
        for (what, least) in bounds {
            assert!(least <= cycles, "{}: {what}", design.display());
        }
        for part in found["parts"].as_array().unwrap() {
            let figure = |key: &str| part[key].as_u64().unwrap();
            let name = &part["loop or cell"];
            for least in ["computation", "data order", "handed on"] {
                let is_less = figure(least) <= figure("cycles");
                assert!(is_less, "{}: {name}: {least}", design.display());
            }
        }
    }
}

/// In an inner loop of four products, the last one waits for three steps of its counter, and a sum for it: 5. In the loop around it, the first
/// product of the last sum waits for three steps of that counter; then come four sums, and one that keeps the result: 9, in 4 times.
#[test]
fn a_loop_hands_values_on_each_time_anew() {
    let workshop = Workshop::empty();
    let found = found(&workshop, &example("matmul.futil"), &["--budget", "1s"]);
    let parts = found["parts"].as_array().unwrap().iter();
    let parts = parts.map(|part| part["handed on"].as_u64().unwrap());
    assert_eq!(parts.collect::<Vec<_>>(), [10, 4 * 9, 16 * 5]);
}

const BESIDE: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 1, 1);
    mul = std_mult_pipe(8);
    i = std_reg(8); add = std_add(8); lt = std_lt(8); o = std_reg(8);
  }
  wires {
    group multiply {
      mul.left = 8'd3; mul.right = 8'd3; mul.go = !mul.done ? 1'd1; multiply[done] = mul.done;
    }
    group next {
      add.left = i.out; add.right = 8'd1; i.in = add.out; i.write_en = 1'd1; next[done] = i.done;
    }
    group other { o.in = 8'd1; o.write_en = 1'd1; other[done] = o.done; }
    comb group check { lt.left = i.out; lt.right = 8'd4; }
  }
  control { seq { CONTROL if lt.out with check { other; } next; } }
}
"#;

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
    let both = [
        "--primitive",
        "main.mult=1",
        "--primitive",
        "std_mult_pipe=2",
    ];
    let matmul = example("matmul.futil");
    let told = workshop.petal(&[&["whatif", &matmul][..], &both].concat());
    assert_eq!(told.status.code(), Some(2));
    tells(&said(&told), &["`main.mult` is one of all `std_mult_pipe`"]);
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
    assert_eq!(answers["no control"].0, overhead);
}

#[test]
fn an_answer_says_what_each_kind_of_advice_saves() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let found = found(&workshop, &design, &[]);
    let advice = |what: &str| {
        let mut rows = found["answers"].as_array().unwrap().iter();
        let row = rows.find(|row| row["what if"] == what).unwrap();
        row["advice"].as_str().unwrap_or_default().to_owned()
    };
    let expected = [
        ("no condition of main.while@L87", "continuous-condition 160"),
        ("no control of main.while@L87", ""),
        ("no control of main.seq@L88", "fixed-latency 176"),
        ("main.multiply a cycle shorter", ""),
        ("std_mult_pipe=1", ""),
    ];
    for (what, kinds) in expected {
        assert_eq!(advice(what), kinds, "{what}");
    }
}

#[test]
fn a_sweep_of_a_latency_tells_when_nothing_more_is_gained() {
    let workshop = Workshop::empty();
    let design = example("distances.futil");
    let sweep = |cycles: &str| {
        let args = [
            "whatif",
            &design,
            "-q",
            "--out",
            "out",
            "--primitive",
            cycles,
        ];
        workshop.succeeds(&args)
    };
    let knee = "nothing is gained by less than main.x_mult=4";
    assert!(sweep("main.x_mult=1..8").ends_with(&format!("  {knee}\n")));
    assert!(!sweep("main.x_mult=4..8").contains("nothing is gained"));
}

/// The comb group of the inner loop by hand as continuous assignments.
#[test]
fn a_condition_that_takes_no_cycle_is_simulated() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let text = fs::read_to_string(&design).unwrap();
    let group = "comb group more_terms { k_lt.left = k.out; k_lt.right = 3'd4; }";
    assert!(text.contains(group));
    let text = text.replace(group, "k_lt.left = k.out; k_lt.right = 3'd4;");
    workshop.write("edited.futil", text.replace(" with more_terms", ""));
    let data = format!("{design}.data");
    workshop.succeeds(&[
        "run",
        "edited.futil",
        "--data",
        &data,
        "-q",
        "--out",
        "by-hand",
    ]);
    let cycles = |of: &str| {
        let summary: Value = serde_json::from_str(&workshop.read(of)).unwrap();
        summary["cycles"].as_i64().unwrap()
    };
    let answers = answers(&workshop, &design, &[]);
    let saved = cycles("out/summary.json") - cycles("by-hand/summary.json");
    let expected = (Some(80), Some(saved), "simulated".to_owned());
    assert_eq!(answers["no condition of main.while@L87"], expected);
}

/// Two groups that read one memory, and one that takes what they read.
const ONE_PORT: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 2, 1);
    a = std_reg(8); b = std_reg(8); c = std_reg(8); add = std_add(8);
  }
  wires {
    group first { m.addr0 = 1'd0; a.in = m.read_data; a.write_en = 1'd1; first[done] = a.done; }
    group second { m.addr0 = 1'd1; b.in = m.read_data; b.write_en = 1'd1; second[done] = b.done; }
    group both {
      add.left = a.out; add.right = b.out;
      c.in = add.out; c.write_en = 1'd1; both[done] = c.done;
    }
  }
  control { seq { first; second; both; } }
}
"#;

#[test]
fn more_ports_let_a_memory_be_read_twice_at_once() {
    let workshop = Workshop::empty();
    workshop.write("port.futil", ONE_PORT);
    let found = found(&workshop, "port.futil", &["--passes", "no-opt"]);
    let rows = found["answers"].as_array().unwrap();
    let row = |what: &str| rows.iter().find(|row| row["what if"] == what);
    let ports = row("more ports of main.m, too").unwrap();
    // All control might go with the cycle that two reads at once save.
    let most = 1 + row("no control").unwrap()["counted"].as_i64().unwrap();
    assert_eq!(ports["at least"], 0);
    assert_eq!(ports["at most"], most);
    assert_eq!(row("everything in the order of its data"), None);
}

/// What a run is if only a part of it takes time, by what that is.
fn bounds(found: &Value) -> BTreeMap<String, u64> {
    let bounds = found["bounds"].as_array().unwrap().iter();
    let bounds = bounds.map(|bound| {
        let what = bound["if only this took time"].as_str().unwrap();
        (what.to_owned(), bound["cycles"].as_u64().unwrap())
    });
    bounds.collect()
}

const HANDED: &str = "values handed from group to group";

/// What groups take for sure makes them wait, and nothing else does.
#[test]
fn values_are_handed_from_group_to_group() {
    let workshop = Workshop::empty();
    let chain = |edit: &dyn Fn(&str) -> String| {
        workshop.write("chain.futil", edit(ONE_PORT));
        bounds(&found(&workshop, "chain.futil", &["--passes", "no-opt"]))[HANDED]
    };
    // One of the two, and what takes both.
    assert_eq!(chain(&str::to_owned), 2);
    // The second one takes what the first has set.
    let then = "b.in = m.read_data";
    assert_eq!(chain(&|text| text.replace(then, "b.in = a.out")), 3);
    // It may, or may not.
    let maybe = "b.in = m.read_data == 8'd1 ? a.out";
    assert_eq!(chain(&|text| text.replace(then, maybe)), 2);
    // Nobody knows whether the first one sets it.
    let guarded = |text: &str| {
        text.replace(then, "b.in = a.out").replace(
            "a.write_en = 1'd1; first[done] = a.done",
            "a.write_en = b.out == 8'd0 ? 1'd1; first[done] = c.out == 8'd0 ? 1'd1",
        )
    };
    assert_eq!(chain(&guarded), 2);
    // It may not take what it is offered.
    let offered = |text: &str| {
        text.replace(
            "b.in = m.read_data; b.write_en = 1'd1; second[done] = b.done",
            "b.in = a.out; b.write_en = c.out == 8'd1 ? 1'd1; second[done] = c.out == 8'd0 ? 1'd1",
        )
    };
    assert_eq!(chain(&offered), 2);
    // It begins with what it has set before.
    let counts = |text: &str| {
        text.replace("second; both; }", "second; repeat 7 { both; } }")
            .replace("add.left = a.out", "add.left = c.out")
    };
    assert_eq!(chain(&counts), 8);
}

/// No advice saves more than is left, but for what does less: a `repeat` counts by itself.
#[test]
fn no_advice_is_better_than_a_bound() {
    let mut held = 0;
    for Everything {
        design,
        passes,
        found,
        ..
    } in everything()
    {
        let path = design.to_str().unwrap();
        if !path.contains("examples") || path.contains("packet-scheduler") {
            continue;
        }
        let args = ["advise", path, "-q", "--passes", passes, "--format", "json"];
        let told = Workshop::empty().succeeds(&[&args[..], &["--candidates", "60"]].concat());
        let advice: Value = serde_json::from_str(&told).unwrap();
        let kinds = advice["advice"].as_array().unwrap().iter();
        if kinds.clone().any(|of| of["kind"] == "fixed-iterations") {
            continue;
        }
        let with_all = advice["with_all"].as_u64().unwrap();
        for (what, least) in bounds(found) {
            if what == HANDED || what.contains(", used ") {
                assert!(least <= with_all, "{path}: {what}: {least}, {with_all}");
                held += 1;
            }
        }
    }
    assert!(held > 30, "only {held}");
}

const WORDS: &str = r#"import "primitives/core.futil";
import "primitives/memories/KIND.futil";
component main() -> () {
  cells {
    @external m = KIND_mem_d1(8, 2, 1);
    r = std_reg(8); add = std_add(8);
  }
  wires {
    group load {
      m.addr0 = 1'd0; r.in = m.read_data; READ load[done] = r.done;
    }
    group store {
      m.addr0 = 1'dTO; add.left = r.out; add.right = 8'd1;
      m.write_data = add.out; m.write_en = 1'd1; WRITE store[done] = m.done;
    }
  }
  control { repeat 4 { seq { load; store; } } }
}
"#;

/// A word that is read and written again and again hands values on; one that is only read does not.
#[test]
fn words_of_memories_hand_values_on() {
    let workshop = Workshop::empty();
    let once = ("comb", "r.write_en = 1'd1;", "");
    let in_turn = (
        "seq",
        "m.content_en = 1'd1; r.write_en = m.done;",
        "m.content_en = 1'd1;",
    );
    for (kind, read, write) in [once, in_turn] {
        for (to, chain) in [("0", 8), ("1", 2)] {
            let text = WORDS.replace("KIND", kind).replace("READ", read);
            let text = text.replace("WRITE", write).replace("TO", to);
            workshop.write("words.futil", text);
            let more = ["--passes", "no-opt", "--budget", "1s"];
            let found = found(&workshop, "words.futil", &more);
            assert_eq!(bounds(&found)[HANDED], chain, "{kind}: {to}");
        }
    }
}

/// What a loop takes is what all of its statements take.
#[test]
fn loops_and_cells_have_bounds_of_their_own() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let found = found(&workshop, &design, &[]);
    let parts = found["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 3);
    let statements = workshop.succeeds(&["stats", "out", "control", "--format", "json"]);
    let statements: Value = serde_json::from_str(&statements).unwrap();
    for part in parts {
        let name = part["loop or cell"].as_str().unwrap();
        let mut rows = statements.as_array().unwrap().iter();
        let is_it = |row: &&Value| {
            let [component, statement] = ["component", "statement"].map(|key| row[key].as_str());
            format!("{}.{}", component.unwrap(), statement.unwrap()) == name
        };
        assert_eq!(
            part["cycles"],
            rows.find(is_it).unwrap()["cycles"],
            "{name}"
        );
        assert_eq!(part["uses"], 64, "{name}");
        assert_eq!(part["uses most"], "main.a", "{name}");
    }
    // 64 times two cycles of a product and one of a sum.
    assert_eq!(parts[2]["computation"], 192);
}

/// A run with other latencies is a profile like others.
#[test]
fn a_run_with_another_latency_is_profiled() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let ask = |more: &[&str]| {
        let args = ["whatif", &design, "-q", "--out", "out", "--profile", "slow"];
        workshop.petal(&[&args[..], more].concat())
    };
    let told = ask(&["--primitive", "main.mult=10"]);
    assert!(told.status.success(), "{}", said(&told));
    let summary: Value = serde_json::from_str(&workshop.read("slow/summary.json")).unwrap();
    assert_eq!(summary["cycles"], 612 + 512);
    assert_eq!(summary["verified"], "structure");
    let compared = workshop.succeeds(&["compare", "out", "slow"]);
    tells(
        &compared,
        &["matmul, main.mult=10", "main.multiply      128 → 640"],
    );
    let told = ask(&["--primitive", "main.mult=1..3"]);
    assert_eq!(told.status.code(), Some(2));
    tells(&said(&told), &["ask for one latency of each"]);
    assert_eq!(ask(&[]).status.code(), Some(2));
}

#[test]
fn the_summary_keeps_curves() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let ask = |more: &[&str]| answers(&workshop, &design, more);
    ask(&[]);
    ask(&["--primitive", "std_mult_pipe=1..3"]);
    ask(&["--primitive", "main.mult=2..3"]);
    ask(&["--primitive", "std_mult_pipe=2..3"]);
    ask(&[]);
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let what_if = &summary["what_if"];
    assert!(what_if["answers"].as_array().unwrap().len() > 10);
    let points = serde_json::json!([{"cycles": 2, "saves": 0}, {"cycles": 3, "saves": -64}]);
    let curve = |name: &str| serde_json::json!({"name": name, "points": points});
    let expected = serde_json::json!([curve("main.mult"), curve("std_mult_pipe")]);
    assert_eq!(what_if["curves"], expected);
}
