//! Latencies of whatever begins and ends: calls of a cell, iterations, statements by their places, groups that are shared or split, and
//! requests with their answers, against tables, call trees and a waveform.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::{results, short_examples};
use crate::support::samples::samples;
use crate::support::workshop::{Workshop, example, tells};

/// A client that asks for eight things, and a server that answers in another order: one answer is to nobody, and one is missing.
const SERVER: &str = include_str!("designs/server.futil");

/// A static component that is called five times, some of them without a break.
const CALLS: &str = include_str!("designs/calls.futil");

/// A group that two arms of a `par` run at once, and then once more.
const SHARED: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
component main() -> () {
  cells { a = std_reg(4); m = std_mult_pipe(4); b = std_reg(4); }
  wires {
    group slow { m.left = 4'd3; m.right = 4'd5; m.go = !m.done ? 1'd1; a.in = m.out; a.write_en = m.done; slow[done] = a.done; }
    group quick { b.in = 4'd3; b.write_en = 1'd1; quick[done] = b.done; }
  }
  control {
    seq {
      par { slow; seq { quick; slow; } }
      slow;
    }
  }
}
"#;

/// The latencies of a run, by name.
fn latencies(
    workshop: &Workshop,
    design: &str,
    passes: &str,
    all: &[&str],
) -> BTreeMap<String, Value> {
    let mut args = vec!["run", design, "-q", "--out", "out", "--passes", passes];
    for latency in all {
        args.extend(["--latency", latency]);
    }
    workshop.succeeds(&args);
    let results = results(workshop, "out");
    let all = results["latencies"].as_array().unwrap().iter();
    all.map(|of| (of["name"].as_str().unwrap().to_owned(), of.clone()))
        .collect()
}

#[test]
fn answers_find_the_requests_of_their_tags() {
    let workshop = Workshop::empty();
    workshop.write("server.futil", SERVER);
    let run = ["run", "server.futil", "--out", "out", "--passes", "no-opt"];
    let asked = [
        "--vcd",
        "wave.vcd",
        "--latency",
        "ports=main.asks.id.write_en..main.answers.who.write_en; tag=main.asks.id.in, tag-to=main.answers.who.in",
        "--latency",
        "groups=main.asks.ask..main.answers.answer; tag=main.asks.id.in, tag-to=main.answers.who.in",
    ];
    let printed = workshop.succeeds(&[&run[..], &asked].concat());
    // As the waveform has it: each answer belongs to the first request with its number that has none.
    let (signals, cycles) = samples(&workshop.path("wave.vcd"), |name| {
        ["id_in", "id_write_en", "who_in", "who_write_en"].contains(&name)
    });
    let of = |cell: &str, name: &str| {
        let key = (vec!["main".to_owned(), cell.to_owned()], name.to_owned());
        &signals[&key].1
    };
    let mut open: BTreeMap<u64, VecDeque<u64>> = BTreeMap::new();
    let (mut intervals, mut to_nobody, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for cycle in 0..cycles {
        let now = cycle as u64;
        if of("asks", "id_write_en")[cycle] == 1 {
            open.entry(of("asks", "id_in")[cycle])
                .or_default()
                .push_back(now);
        }
        if of("answers", "who_write_en")[cycle] == 1 {
            let tag = of("answers", "who_in")[cycle];
            match open.get_mut(&tag).and_then(VecDeque::pop_front) {
                Some(start) => {
                    order.push(start);
                    intervals.push((start, now - start));
                }
                None => to_nobody.push(now),
            }
        }
    }
    let waiting: Vec<u64> = open.into_values().flatten().collect();
    assert!(
        !order.is_sorted(),
        "the answers come in the order of the requests"
    );
    assert_eq!((intervals.len(), to_nobody.len(), waiting.len()), (7, 1, 1));
    let results = results(&workshop, "out");
    for latency in results["latencies"].as_array().unwrap() {
        assert_eq!(latency["intervals"], json!(intervals));
        assert_eq!(
            (&latency["unmatched"], &latency["unfinished"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(latency["unmatched_at"], json!(to_nobody));
        assert_eq!(latency["unfinished_since"], json!(waiting));
    }
    let table = workshop.read("out/observations/unmatched.csv");
    let row = |cycle: u64, lacks: &str| format!("\nports,{cycle},{lacks},");
    tells(
        &table,
        &[
            &row(waiting[0], "an end"),
            &row(to_nobody[0], "a beginning"),
        ],
    );
    tells(&printed, &["latencies without an end or a beginning"]);
    // A file says the same.
    workshop.write(
        "tags.toml",
        "[[latency]]\nname = \"ports\"\nfrom = \"main.asks.id.write_en\"\nto = \"main.answers.who.write_en\"\n\
         tag = \"main.asks.id.in\"\ntag-to = \"main.answers.who.in\"\n",
    );
    workshop.succeeds(&[&run[..], &["--observe", "tags.toml"]].concat());
    let of_file = self::results(&workshop, "out");
    assert_eq!(of_file["latencies"][0], results["latencies"][0]);
}

#[test]
fn each_call_of_a_cell_is_one() {
    let workshop = Workshop::empty();
    workshop.write("calls.futil", CALLS);
    let asked = ["main.t", "again=begin(main.t)..end(main.t)"];
    let all = latencies(&workshop, "calls.futil", "no-opt", &asked);
    // Three and then two, each of two cycles.
    assert_eq!(all["main.t"]["histogram"], json!({"2": 5}));
    // Events of the cell itself do not tell calls without a break apart.
    assert_eq!(all["again"]["total"], all["main.t"]["total"]);
    assert_eq!(all["again"]["count"], json!(2));
    let all = latencies(&workshop, &example("invoke-ref.futil"), "all", &["main.s"]);
    assert_eq!(all["main.s"]["count"], json!(5));
}

#[test]
fn a_group_of_two_arms_is_active_twice() {
    let workshop = Workshop::empty();
    workshop.write("shared.futil", SHARED);
    for passes in ["all", "no-opt"] {
        let asked = [
            "main.slow",
            "main.slow@L11:13",
            "main.slow@L11:32",
            "main.slow@L12",
        ];
        let all = latencies(&workshop, "shared.futil", passes, &asked);
        let number = |name: &str, key: &str| all[name][key].as_u64().unwrap();
        let groups = workshop.succeeds(&["stats", "out", "groups", "--format", "json"]);
        let groups: Value = serde_json::from_str(&groups).unwrap();
        let groups = groups["groups"]
            .as_array()
            .unwrap_or_else(|| groups.as_array().unwrap());
        let slow = groups
            .iter()
            .find(|group| group["group"] == "slow")
            .unwrap();
        assert_eq!(slow["times active"], json!(3), "{passes}");
        for (key, column) in [("count", "times active"), ("total", "total cycles")] {
            let of_places: u64 = asked[1..].iter().map(|name| number(name, key)).sum();
            assert_eq!(
                json!(number("main.slow", key)),
                slow[column],
                "{passes}: {key}"
            );
            assert_eq!(of_places, number("main.slow", key), "{passes}: {key}");
        }
        assert_eq!(
            number("main.slow", "unfinished") + number("main.slow", "unmatched"),
            0
        );
    }
}

#[test]
fn statements_and_iterations_are_those_of_the_tables() {
    let workshop = Workshop::empty();
    let (mut statements, mut loops) = (0, 0);
    for design in short_examples() {
        for passes in ["all", "no-opt"] {
            workshop.succeeds(&["run", &design, "-q", "--out", "first", "--passes", passes]);
            let table = |view: &str, name: &str| -> Vec<Value> {
                let only = "component=main";
                let args = [
                    "stats", "first", view, "--format", "json", "--all", "--filter", only,
                ];
                let read: Value = serde_json::from_str(&workshop.succeeds(&args)).unwrap();
                let rows = read[name]
                    .as_array()
                    .unwrap_or_else(|| read.as_array().unwrap());
                rows.clone()
            };
            let control = table("control", "control");
            let control = control.iter().filter(|row| {
                let label = row["statement"].as_str().unwrap();
                label.contains('@') && row["times entered"].as_u64() > Some(0)
            });
            let control: Vec<&Value> = control.collect();
            let rows = table("loops", "loops");
            let rows = rows.iter().filter(|row| row["shortest iteration"].is_u64());
            let rows: Vec<&Value> = rows.collect();
            let label = |row: &Value| format!("main.{}", row["statement"].as_str().unwrap());
            let mut asked: Vec<String> = control.iter().map(|row| label(row)).collect();
            asked.extend(rows.iter().map(|row| format!("iteration({})", label(row))));
            let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
            let all = latencies(&workshop, &design, passes, &asked);
            for row in control {
                let latency = &all[&label(row)];
                assert_eq!(
                    latency["count"], row["times entered"],
                    "{design}, {passes}: {row}"
                );
                assert_eq!(latency["total"], row["cycles"], "{design}, {passes}: {row}");
                statements += 1;
            }
            for row in rows {
                let latency = &all[&format!("iteration({})", label(row))];
                let columns = [
                    ("count", "iterations"),
                    ("min", "shortest iteration"),
                    ("max", "longest iteration"),
                ];
                for (key, column) in columns {
                    assert_eq!(latency[key], row[column], "{design}, {passes}: {row}");
                }
                loops += 1;
            }
        }
    }
    assert!(
        statements > 100 && loops > 15,
        "only {statements} and {loops}"
    );
}

#[test]
fn what_has_no_iterations_is_refused() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    for (latency, parts) in [
        (
            "iteration(main.multiply)",
            ["`iteration` takes a loop", "main.while@L12"],
        ),
        (
            "iteration(main.k.out)",
            ["takes a cell, a group or a statement", ""],
        ),
        (
            "main.multiply@L80",
            ["no cell, port, group or statement `multiply@L80`", "is it"],
        ),
        ("main.clear..main.store; tug=3", ["; tug=3", "expected"]),
    ] {
        let said = workshop.fails(&["run", &design, "-q", "--out", "out", "--latency", latency]);
        tells(&said, &parts);
    }
}
