//! What `petal view` opens of a run: the whole at a glance, and the part that was asked for.

use std::collections::BTreeMap;
use std::fs;

use expect_test::expect;
use petal_reconstruct::Overhead;
use serde_json::Value;

use crate::support::perfetto::counters;
use crate::support::root;
use crate::support::workshop::{Workshop, example, tells};

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A workshop with the profile of a design, called `run`.
fn profiled(design: &str) -> Workshop {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", "-q", "--out", "run", design]);
    workshop
}

/// What is said of the part that is asked for.
fn view(workshop: &Workshop, options: &[&str]) -> String {
    workshop.succeeds(&[&["view", "run", "--out", "part.pftrace"], options].concat())
}

/// The cycles of the part, or those behind `lead`, of what is said.
fn cycles(said: &str, lead: &str) -> (u64, u64) {
    let (_, rest) = said.split_once(lead).unwrap_or_else(|| panic!("{said}"));
    let range = rest.split([':', '(', '\n']).next().unwrap().trim();
    let (start, end) = range.replace(',', "").split_once("..").map_or_else(
        || panic!("{said}"),
        |(start, end)| (start.parse().unwrap(), end.parse().unwrap()),
    );
    (start, end)
}

/// The shares of all windows are the ledger of the run, and what the table of cells has.
fn adds_up(design: &str) {
    let workshop = profiled(design);
    view(&workshop, &["--cycles", "0..1"]);
    let mut rows = counters(&fs::read(workshop.path("part.pftrace")).unwrap());
    let summary = json(&workshop.read("run/summary.json"));
    let mut expected = BTreeMap::from([("useful".to_owned(), number(&summary["useful_cycles"]))]);
    for kind in Overhead::ALL {
        let cycles = number(&summary["overhead"][kind.to_string()]);
        expected.insert(kind.title().to_owned(), cycles);
    }
    let tables = json(&workshop.succeeds(&["stats", "run", "cells", "--format", "json"]));
    for cell in tables.as_array().unwrap() {
        let [path, component] = ["cell", "component"].map(|column| cell[column].as_str().unwrap());
        let name = match path {
            "main" => path.to_owned(),
            _ => format!("{path} [{component}]"),
        };
        expected.insert(format!("{name} busy"), number(&cell["busy"]));
    }
    expected.retain(|_, cycles| *cycles > 0);
    rows.retain(|name, cycles| *cycles > 0 && !name.starts_with("active "));
    // It is of the part.
    rows.remove("overhead");
    assert_eq!(rows, expected, "{design}");
}

#[test]
fn the_windows_add_up_to_the_run() {
    let corpus = [
        "control-sync.futil",
        "control-static-if.futil",
        "struct-ref-callers.futil",
        "struct-continuous-cell.futil",
        "mixed.futil",
    ];
    for name in [
        "switch-case-par.futil",
        "shared-component.futil",
        "packet-scheduler.futil",
    ] {
        adds_up(&example(name));
    }
    for name in corpus {
        adds_up(root().join("tests/corpus").join(name).to_str().unwrap());
    }
}

/// The intervals of each control statement, by its path, as `petal trace` has them.
fn intervals(workshop: &Workshop) -> BTreeMap<String, Vec<(u64, u64)>> {
    let mut all: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for line in workshop.succeeds(&["trace", "run", "--json"]).lines() {
        let run = json(line);
        let [start, end] = ["start", "end"].map(|key| run[key].as_u64().unwrap());
        let mut cells: Vec<(u64, String)> = Vec::new();
        let mut active = Vec::new();
        for node in run["tree"].as_array().unwrap() {
            let depth = node["depth"].as_u64().unwrap();
            let label = node["label"].as_str().unwrap();
            cells.retain(|(above, _)| *above < depth);
            if node["kind"] == "cell" {
                let cell = label.split(" [").next().unwrap();
                cells.push((depth, cell.to_owned()));
            }
            if node["kind"] == "control" {
                let path: Vec<&str> = cells.iter().map(|(_, cell)| cell.as_str()).collect();
                active.push(format!("{}.{label}", path.join(".")));
            }
        }
        active.sort();
        active.dedup();
        for path in active {
            let list = all.entry(path).or_default();
            match list.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => list.push((start, end)),
            }
        }
    }
    all
}

#[test]
fn an_activation_is_where_the_trace_has_it() {
    let mut checked = 0;
    for name in [
        "distances.futil",
        "nested-components.futil",
        "while-comb.futil",
    ] {
        let workshop = profiled(&example(name));
        for (path, intervals) in intervals(&workshop) {
            for at in [0, intervals.len() / 2, intervals.len() - 1] {
                let around = format!("{path}#{}", at + 1);
                let said = view(&workshop, &["--around", &around]);
                // Where the compiler fixed the latency, an interval may hold several.
                if said.contains(&format!(" of {} of {path}", intervals.len())) {
                    let (start, end) = intervals[at];
                    assert_eq!(cycles(&said, &format!("{path}, cycles ")), (start, end));
                    let (from, to) = cycles(&said, "all of cycles ");
                    assert!(from <= start && end <= to, "{said}");
                    checked += 1;
                }
                let next = said.contains(&format!("--around '{path}#{}'", at + 2));
                assert!(next || said.contains("no part after it"), "{said}");
            }
        }
    }
    assert!(checked > 30, "only {checked}");
    // The compiler split this group: its parts are one activation.
    let workshop = profiled(&example("distances.futil"));
    let said = view(&workshop, &["--around", "main.x_square#2"]);
    tells(
        &said,
        &["activation 2 of 4 of main.x_square, cycles 15..19 "],
    );
}

#[test]
fn a_short_run_is_opened_whole() {
    let workshop = profiled(&example("switch-case-par.futil"));
    view(&workshop, &[]);
    let whole = fs::read(workshop.path("run/timeline.pftrace")).unwrap();
    assert_eq!(fs::read(workshop.path("part.pftrace")).unwrap(), whole);
}

#[test]
fn of_a_long_run_what_stands_for_it_is_opened() {
    let workshop = profiled(&example("packet-scheduler.futil"));
    let said = view(&workshop, &[]);
    let drawn = fs::read(workshop.path("part.pftrace")).unwrap();
    assert!(drawn.len() < 500_000, "{}", drawn.len());
    // As the run does.
    assert!(fs::read(workshop.path("run/timeline.pftrace")).unwrap() == drawn);
    let part = |what: &str| {
        let line = said.lines().find(|line| line.contains(what));
        let line = line.unwrap_or_else(|| panic!("no {what}: {said}"));
        let range = line.trim().split("  ").next().unwrap();
        cycles(&format!("{range}\n"), "")
    };
    assert_eq!(part("the beginning").0, 0);
    // An iteration begins with the first group of the body.
    let begins = |cycle: u64| {
        let first = [cycle - 1, cycle].map(|cycle| {
            let range = format!("{cycle}..{}", cycle + 1);
            let tree = workshop.succeeds(&["trace", "run", "--cycles", &range]);
            tree.lines().any(|line| line.trim() == "fetch")
        });
        assert_eq!(first, [false, true], "cycle {cycle}");
    };
    let loops = json(&workshop.succeeds(&["stats", "run", "loops", "--format", "json"]));
    let mut loops = loops.as_array().unwrap().iter();
    let outer = loops.find(|row| row["statement"] == "while@L256").unwrap();
    let (start, end) = part("the longest iteration of main.while@L256");
    assert_eq!(end - start, outer["longest iteration"].as_u64().unwrap());
    begins(start);
    begins(end);
    begins(part("main.while@L256, from an iteration of the median length on").0);
    // All that is in the parts is there, and nothing else.
    let all = said.lines().filter(|line| line.starts_with("  "));
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let of_cycles = |counters: BTreeMap<String, i64>| {
        let is_share = |name: &str| {
            name.ends_with(" busy") || Overhead::ALL.iter().any(|kind| kind.title() == name)
        };
        counters
            .into_iter()
            .filter(move |(name, _)| name != "useful" && !is_share(name))
    };
    for line in all {
        let range = line.trim().split("  ").next().unwrap().replace(',', "");
        view(&workshop, &["--cycles", &range]);
        let alone = fs::read(workshop.path("part.pftrace")).unwrap();
        for (name, sum) in of_cycles(counters(&alone)) {
            *sums.entry(name).or_default() += sum;
        }
    }
    assert!(
        sums.len() > 2 && sums.values().all(|&sum| sum > 0),
        "{sums:?}"
    );
    assert_eq!(
        of_cycles(counters(&drawn)).collect::<BTreeMap<_, _>>(),
        sums
    );
    // All of it on request, and then again what a run writes.
    let said = workshop.succeeds(&["timeline", "run", "--whole"]);
    assert!(
        said.contains(" slices\n") && !said.contains("at a glance"),
        "{said}"
    );
    let whole = fs::read(workshop.path("run/timeline.pftrace")).unwrap();
    assert!(whole.len() > 20_000_000, "{}", whole.len());
    workshop.succeeds(&["timeline", "run"]);
    assert!(fs::read(workshop.path("run/timeline.pftrace")).unwrap() == drawn);
    // What does not fit is cut.
    let said = view(&workshop, &["--around", "main.while@L256"]);
    tells(
        &said,
        &[
            "from its beginning on as far as fits",
            "activation 1 of 1 of",
        ],
    );
    let (from, to) = cycles(&said, "all of cycles ");
    assert!(from == 0 && to < 50_000, "{said}");
}

#[test]
fn what_is_not_there_is_told() {
    let workshop = profiled(&example("while-comb.futil"));
    let fails = |options: &[&str]| {
        workshop.ends(
            2,
            &[&["view", "run", "--out", "part.pftrace"], options].concat(),
        )
    };
    let said = [
        fails(&["--around", "main.whle@L26"]),
        fails(&["--around", "main.while@L55#9"]),
        fails(&["--cycles", "100..200"]),
        fails(&["--around", "main#0"]),
    ];
    expect![[r#"
        error: no statement, group or cell `main.whle@L26` ran; there is `main.while@L55`; `petal stats run control` lists statements, `groups` and `cells` the others
        error: `main.while@L55` ran once in this run
        error: the run has the cycles 0..17: there is none from 100 on
        error: invalid value 'main#0' for '--around <PATH#N>': `0` is no number of an activation; write one from 1 on, such as main.while@L12#1000

        For more information, try '--help'.
    "#]].assert_eq(&said.concat());
    assert!(!workshop.path("part.pftrace").exists());
    let said = workshop.ends(2, &["view", "run", "--out", "run/summary.json"]);
    tells(&said, &["would take the place of"]);
    let said = workshop.ends(2, &["view", "run", "--report", "--cycles", "0..4"]);
    tells(&said, &["cannot be used with"]);
}

/// A slice: name, first cycle, length; and first cycle and length of the whole, where it is cut.
type Slice = (String, u64, u64, Option<(u64, u64)>);

/// The slices of the timeline in JSON.
fn slices(workshop: &Workshop) -> Vec<Slice> {
    let timeline = json(&workshop.read("run/timeline.json"));
    let events = timeline["traceEvents"].as_array().unwrap().iter();
    let slices = events.filter(|event| event["ph"] == "X");
    slices
        .map(|event| {
            let [start, length] = ["ts", "dur"].map(|key| event[key].as_u64().unwrap());
            let whole = ["cut: starts in cycle", "cut: cycles in all"];
            let [from, all] = whole.map(|key| event["args"][key].as_u64());
            let name = event["name"].as_str().unwrap().to_owned();
            (name, start, length, from.zip(all))
        })
        .collect()
}

#[test]
fn a_slice_that_is_cut_tells_the_whole() {
    let workshop = profiled(&example("distances.futil"));
    let whole = slices(&workshop);
    assert!(whole.iter().all(|(.., cut)| cut.is_none()));
    let end = whole.iter().map(|(_, start, length, _)| start + length);
    let end = end.max().unwrap();
    let mut both = 0;
    for (first, last) in [(0, end / 2), (end / 3, end / 2), (end / 3, end), (0, end)] {
        let cycles = format!("{first}..{last}");
        workshop.succeeds(&["timeline", "run", "--cycles", &cycles]);
        for (name, start, length, cut) in slices(&workshop) {
            let end = start + length;
            let (from, all) = cut.unwrap_or((start, length));
            assert!(whole.contains(&(name.clone(), from, all, None)), "{name}");
            // The part is what is inside of the section.
            let inside = (from.max(first), (from + all).min(last));
            assert_eq!((start, end), inside, "{name} in {cycles}");
            assert_eq!(cut.is_some(), (from, from + all) != inside, "{name}");
            both += u64::from(from < start && from + all > end);
        }
    }
    assert!(both >= 2, "only {both} are cut at both ends");
}

#[test]
fn what_may_be_several_is_told_apart() {
    let workshop = Workshop::empty();
    let design = r#"import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(8); lt = std_lt(8); @external i = std_reg(8); }
  wires {
    lt.left = i.out;
    lt.right = 8'd1;
    group put { r.in = 8'd5; r.write_en = 1'd1; put[done] = r.done; }
    group stop { i.in = 8'd1; i.write_en = 1'd1; stop[done] = i.done; }
  }
  control {
    while lt.out { seq {
      put;
      stop;
      put;
    } }
  }
}
"#;
    fs::write(workshop.path("design.futil"), design).unwrap();
    workshop.succeeds(&[
        "run",
        "-q",
        "--passes",
        "no-opt",
        "--out",
        "run",
        "design.futil",
    ]);
    let options = ["view", "run", "--out", "part.pftrace", "--around"];
    let said = workshop.ends(2, &[&options[..], &["main.put"]].concat());
    tells(
        &said,
        &["`main.put` may be any of several; write `main.put@L12`, or `main.put@L14`"],
    );
    let said = view(&workshop, &["--around", "main.put@L14"]);
    tells(&said, &["activation 1 of 1 of main.put@L14, cycles "]);
    tells(
        &view(&workshop, &["--around", "main.stop"]),
        &["activation 1 of 1 of main.stop, cycles "],
    );
}
