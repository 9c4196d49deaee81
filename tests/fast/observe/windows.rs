//! Windows: what is kept is what the whole run has there, and nothing else is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};

use super::{results, short_examples};
use crate::support::histories::{of_fst, of_vcd};
use crate::support::workshop::{Workshop, example, tells};

/// A slice of a timeline: its process, thread, category and name, its first cycle and the one after it.
type Slice = (String, String, String, String, u64, u64);

fn slices(workshop: &Workshop, profile: &str) -> Vec<Slice> {
    let text = workshop.read(&format!("{profile}/timeline.json"));
    let timeline: Value = serde_json::from_str(&text).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap().iter();
    // A track is known by its name: its number depends on which others there are.
    let named = events.clone().filter(|event| event["ph"] == "M");
    let names: BTreeMap<String, String> = named
        .filter_map(|event| {
            let name = event["args"]["name"].as_str()?;
            Some((track(event, event["name"].as_str()?), name.to_owned()))
        })
        .collect();
    // What is observed is the same on all timelines, whatever they show.
    let is_of_run = |event: &&Value| event["ph"] == "X" && event["cat"] != "observation";
    let slices = events.filter(is_of_run).map(|event| {
        let number = |key: &str| event[key].as_u64().unwrap();
        let text = |key: &str| event[key].as_str().unwrap().to_owned();
        let start = number("ts");
        let [process, thread] =
            ["process_name", "thread_name"].map(|kind| names[&track(event, kind)].clone());
        (
            process,
            thread,
            text("cat"),
            text("name"),
            start,
            start + number("dur"),
        )
    });
    let mut slices: Vec<Slice> = slices.collect();
    slices.sort();
    slices
}

/// The process of an event, or the thread, of whichever there is a name of this kind.
fn track(event: &Value, kind: &str) -> String {
    match kind {
        "process_name" => format!("{kind} {}", event["pid"]),
        _ => format!("{kind} {} {}", event["pid"], event["tid"]),
    }
}

/// What the slices show, whatever their tracks; of the steps of a register, that there are some.
fn shown(slices: Vec<Slice>) -> Vec<(String, String, u64, u64)> {
    let slices = slices
        .into_iter()
        .map(|(_, _, category, name, start, end)| {
            let name = match name.split_once(": ") {
                Some((register, _)) if category == "control register" => register.to_owned(),
                _ => name,
            };
            (category, name, start, end)
        });
    let mut slices: Vec<_> = slices.collect();
    slices.sort();
    slices
}

/// The cycles that any window keeps.
fn kept(results: &Value) -> Vec<Range<u64>> {
    let windows = results["windows"].as_array().unwrap().iter();
    let parts = windows.flat_map(|window| window["parts"].as_array().unwrap());
    let cycles = parts.flat_map(|part| {
        let start = part[0].as_u64().unwrap();
        start..start + part[1].as_u64().unwrap()
    });
    let cycles: std::collections::BTreeSet<u64> = cycles.collect();
    let mut kept: Vec<Range<u64>> = Vec::new();
    for cycle in cycles {
        match kept.last_mut().filter(|last| last.end == cycle) {
            Some(last) => last.end = cycle + 1,
            None => kept.push(cycle..cycle + 1),
        }
    }
    kept
}

/// The values of all signals when the clock rises, by the time; `x` where one is not known.
fn states(path: &Path) -> BTreeMap<u64, Vec<(vcd::IdCode, String)>> {
    let mut parser = vcd::Parser::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let header = parser.parse_header().unwrap();
    let main = header.find_scope(&["toplevel", "main"]).unwrap();
    let clock = main.find_var("clk").unwrap().code;
    let mut now: BTreeMap<vcd::IdCode, String> = BTreeMap::new();
    let (mut time, mut states) = (0, BTreeMap::new());
    for command in parser {
        match command.unwrap() {
            vcd::Command::Timestamp(next) => time = next,
            vcd::Command::ChangeScalar(code, value) => {
                if code == clock && value == vcd::Value::V1 {
                    let values = now.iter().map(|(code, value)| (*code, value.clone()));
                    states.insert(time, values.filter(|(code, _)| *code != clock).collect());
                } else if code == clock && value == vcd::Value::X {
                    states.insert(time, Vec::new());
                }
                now.insert(code, value.to_string());
            }
            vcd::Command::ChangeVector(code, vector) => {
                now.insert(code, vector.to_string());
            }
            _ => {}
        }
    }
    states
}

/// The times at which a value becomes known.
fn told(path: &Path) -> BTreeSet<u64> {
    let text = std::fs::read_to_string(path).unwrap();
    let (_, changes) = text.split_once("$enddefinitions $end").unwrap();
    let (mut time, mut known) = (0, BTreeSet::new());
    for line in changes.lines() {
        match line.strip_prefix('#') {
            Some(next) => time = next.parse().unwrap(),
            None if line.is_empty() || line.starts_with('x') || line.starts_with("bx") => {}
            None => drop(known.insert(time)),
        }
    }
    known
}

/// `part.vcd` and `part.fst` have the same values.
fn both_formats_have_the_same(workshop: &Workshop) {
    let mut by_fst = of_fst(&workshop.path("part.fst"));
    // In a VCD file, one `x` stands for all bits.
    for (_, value) in by_fst.values_mut().flatten() {
        if value.starts_with('x') {
            value.truncate(1);
        }
    }
    assert!(by_fst == of_vcd(&workshop.path("part.vcd")));
}

/// The call tree of each cycle; `null` where there is none.
fn trees(workshop: &Workshop, profile: &str) -> Vec<Value> {
    let text = workshop.succeeds(&["trace", profile, "--json"]);
    let mut trees = Vec::new();
    for line in text.lines() {
        let of: Value = serde_json::from_str(line).unwrap();
        assert_eq!(of["start"], trees.len());
        let end = usize::try_from(of["end"].as_u64().unwrap()).unwrap();
        trees.resize(end, of["tree"].clone());
    }
    trees
}

fn the_trace_has_what_is_kept(workshop: &Workshop, kept: &[Range<u64>]) {
    let mut expected = trees(workshop, "whole");
    for (tree, cycle) in expected.iter_mut().zip(0..) {
        if !kept.iter().any(|part| part.contains(&cycle)) {
            *tree = Value::Null;
        }
    }
    assert_eq!(trees(workshop, "out"), expected);
}

/// What is made again of a trace with windows is what is made of the whole one.
fn figures_are_of_the_whole_run(workshop: &Workshop) {
    let same = [
        &["stats", "DIR", "--format", "json"][..],
        &["stats", "DIR", "control", "--per-instance"],
        &["annotate", "DIR"],
        &["graph", "DIR", "--format", "dot"],
        &["graph", "DIR"],
        &["compare", "whole", "DIR", "--all"],
    ];
    for command in same {
        let of = |dir| {
            let args = command.iter();
            let args = args.map(|&arg| if arg == "DIR" { dir } else { arg });
            let args: Vec<&str> = args.collect();
            workshop.succeeds(&args).replace("whole", "out")
        };
        assert_eq!(of("out"), of("whole"), "{command:?}");
    }
    let files = [
        "report.html",
        "flame.svg",
        "flame.folded",
        "flame-leaves.svg",
    ];
    let before = files.map(|file| workshop.read(&format!("out/{file}")));
    workshop.succeeds(&["report", "out"]);
    workshop.succeeds(&["flame", "out"]);
    for (file, before) in files.iter().zip(before) {
        assert!(workshop.read(&format!("out/{file}")) == before, "{file}");
    }
    for command in ["flame", "report"] {
        for profile in ["out", "whole"] {
            workshop.succeeds(&[command, profile, "--control", "compiled"]);
        }
    }
    assert_eq!(
        workshop.read("out/flame.folded"),
        workshop.read("whole/flame.folded")
    );
}

#[test]
fn a_window_keeps_what_the_whole_run_has_there() {
    let workshop = Workshop::empty();
    let mut compared = 0;
    for design in short_examples() {
        workshop.succeeds(&["run", &design, "-q", "--out", "whole", "--vcd", "whole.vcd"]);
        let summary: Value = serde_json::from_str(&workshop.read("whole/summary.json")).unwrap();
        let cycles = summary["cycles"].as_u64().unwrap();
        // One from an event to another, one before an event, one after an event.
        let program = workshop.succeeds(&[
            "stats",
            "whole",
            "groups",
            "--format",
            "json",
            "--filter",
            "component=main",
        ]);
        let groups: Value = serde_json::from_str(&program).unwrap();
        let groups: Vec<&str> = groups
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|group| group["group"].as_str())
            .filter(|name| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()))
            .collect();
        let [first, .., last] = groups[..] else {
            continue;
        };
        let windows = [
            format!("between=main.{first}..main.{last}"),
            format!("before=3..main.{last}"),
            format!("after=main.{first}..2"),
        ];
        for window in &windows {
            let run = ["run", &design, "-q", "--out", "out", "--vcd", "part.vcd"];
            let more = ["--fst", "part.fst", "--window", window];
            workshop.succeeds(&[&run[..], &more].concat());
            let results = results(&workshop, "out");
            let kept = kept(&results);
            // Where no cycle is kept, an FST file says that nothing is known, and a VCD file nothing.
            if !kept.is_empty() {
                both_formats_have_the_same(&workshop);
            }
            let mut expected: Vec<Slice> = Vec::new();
            for (process, thread, category, name, start, end) in slices(&workshop, "whole") {
                for part in &kept {
                    let (from, to) = (start.max(part.start), end.min(part.end));
                    if from < to {
                        let [process, thread, category, name] =
                            [&process, &thread, &category, &name].map(String::clone);
                        expected.push((process, thread, category, name, from, to));
                    }
                }
            }
            expected.sort();
            assert_eq!(slices(&workshop, "out"), expected, "{design} {window}");
            compared += expected.len();
            the_trace_has_what_is_kept(&workshop, &kept);
            if window.starts_with("between") {
                figures_are_of_the_whole_run(&workshop);
            }
            // Drawn again, it is the same but for what is beyond the windows.
            workshop.succeeds(&["timeline", "out"]);
            let drawn = shown(slices(&workshop, "out"));
            assert_eq!(drawn, shown(expected), "{design} {window}");
            // Three cycles of reset come before the run, and the clock rises in the middle of a cycle of 10 ns.
            let whole = states(&workshop.path("whole.vcd"));
            let time = |cycle: u64| (cycle + 3) * 10 + 5;
            let written = states(&workshop.path("part.vcd"));
            let known: Vec<(&u64, _)> = written.iter().filter(|(_, of)| !of.is_empty()).collect();
            let expected: Vec<u64> = kept.iter().cloned().flatten().map(time).collect();
            let times: Vec<u64> = known.iter().map(|(time, _)| **time).collect();
            assert_eq!(times, expected, "{design} {window}");
            for (time, values) in known {
                assert_eq!(*values, whole[time], "{design} {window} {time}");
            }
            // After each part, nothing is known.
            for part in kept.iter().filter(|part| part.end < cycles) {
                let end = time(part.end) - 5;
                assert!(written[&end].is_empty(), "{design} {window} {end}");
            }
            for time in told(&workshop.path("part.vcd")) {
                let cycle = (time / 10).checked_sub(3);
                let is_kept =
                    cycle.is_some_and(|cycle| kept.iter().any(|part| part.contains(&cycle)));
                assert!(is_kept, "{design} {window} {time}");
            }
        }
    }
    assert!(compared > 500);
}

#[test]
fn windows_begin_and_end_with_their_events() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.write(
        "windows.toml",
        r#"
[[window]]
name = "row"
from = "main.first_column"
to = "main.next_row"

[[window]]
name = "first two"
from = "4"
to = "main.c.write_en"
most = 2

[[window]]
name = "later"
from = "main.next_row"
to = "main.first_column"

[[window]]
name = "never"
from = "main.i.out > 6"
to = "10"

[[checkpoint]]
when = "main.first_column"
[[checkpoint]]
when = "main.next_row"
[[checkpoint]]
when = "main.c.write_en"
"#,
    );
    let text = workshop.succeeds(&["run", &design, "--out", "out", "--observe", "windows.toml"]);
    let results = results(&workshop, "out");
    let at = |at: usize| -> Vec<u64> {
        let cycles = results["checkpoints"][at]["cycles"].as_array().unwrap();
        cycles.iter().map(|cycle| cycle.as_u64().unwrap()).collect()
    };
    let (starts, ends, writes) = (at(0), at(1), at(2));
    let cycles = results["cycles"].as_u64().unwrap();
    let rows: Vec<_> = starts
        .iter()
        .zip(&ends)
        .map(|(start, end)| (start, end + 1 - start))
        .collect();
    let windows = &results["windows"];
    assert_eq!(windows[0]["parts"], json!(rows));
    assert_eq!(windows[0]["state"], "stop");
    let two: Vec<_> = writes[..2].iter().map(|cycle| (cycle - 4, 5)).collect();
    assert_eq!(windows[1]["parts"], json!(two));
    // The last one has begun when the run is over.
    let mut later: Vec<_> = ends
        .iter()
        .zip(&starts[1..])
        .map(|(start, end)| (*start, end + 1 - start))
        .collect();
    let last = ends[ends.len() - 1];
    later.push((last, cycles - last));
    assert_eq!(windows[2]["parts"], json!(later));
    assert_eq!(windows[2]["state"], "sample");
    assert_eq!(windows[3]["parts"], json!([]));
    assert_eq!(windows[3]["state"], "reset");
    tells(&text, &["windows: ", "first two"]);
    // They have names for other commands.
    let (start, length) = rows[1];
    let cycles = format!("{start}..{}", start + length);
    let by_cycles = workshop.succeeds(&["trace", "out", "--cycles", &cycles]);
    let by_name = workshop.succeeds(&["trace", "out", "--window", "row#2"]);
    assert_eq!(by_cycles, by_name);
    let other = workshop.ends(2, &["trace", "out", "--window", "column"]);
    tells(&other, &["no window `column`", "`row`", "`first two`"]);
    let fifth = workshop.ends(2, &["trace", "out", "--window", "row#5"]);
    tells(&fifth, &["no window `row#5`", "4 times"]);
    // The waveform gives the same.
    workshop.succeeds(&["run", &design, "-q", "--out", "whole", "--vcd", "wave.vcd"]);
    let again = [
        "reconstruct",
        "whole/metadata.json",
        "wave.vcd",
        "-q",
        "--out",
        "again",
    ];
    workshop.succeeds(&[&again[..], &["--observe", "windows.toml"]].concat());
    assert_eq!(super::results(&workshop, "again")["windows"], *windows);
    assert_eq!(slices(&workshop, "again"), slices(&workshop, "out"));
    let refused = workshop.ends(
        1,
        &["run", &design, "-q", "--out", "new", "--window", "3..4"],
    );
    tells(&refused, &["a window needs an event"]);
}

/// The numbers of the activations on a timeline, by whether the slice begins before a cycle.
fn numbers(workshop: &Workshop, before: u64) -> (Vec<Value>, Vec<Value>) {
    let text = workshop.read("out/timeline.json");
    let timeline: Value = serde_json::from_str(&text).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap().iter();
    let groups = events.filter(|event| event["ph"] == "X" && event["cat"] == "group");
    let (early, late): (Vec<&Value>, Vec<&Value>) =
        groups.partition(|event| event["ts"].as_u64().unwrap() < before);
    let number = |of: Vec<&Value>| {
        of.iter()
            .map(|of| of["args"]["activation"].clone())
            .collect()
    };
    (number(early), number(late))
}

#[test]
fn what_a_trace_with_windows_cannot_tell_is_left_out() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let windows = [
        "--window",
        "start=main.first_row..3",
        "--window",
        "main.next_row",
    ];
    workshop.succeeds(&[&["run", &design, "-q", "--out", "out"][..], &windows].concat());
    let kept = kept(&results(&workshop, "out"));
    let gap = kept[0].end;
    let (early, late) = numbers(&workshop, gap);
    // While the run goes on, all activations are counted.
    assert!(late.iter().all(Value::is_u64) && late.len() > 3);
    let last = late.last().and_then(Value::as_u64).unwrap();
    assert!(last > 2, "{last}");
    workshop.succeeds(&["timeline", "out"]);
    let (same, unknown) = numbers(&workshop, gap);
    assert_eq!((same, unknown.len()), (early, late.len()));
    assert!(unknown.iter().all(Value::is_null), "{unknown:?}");
    let text = workshop.succeeds(&["trace", "out"]);
    tells(
        &text,
        &[&format!("cycles {gap}..{}: not kept", kept[1].start)],
    );
    // Nothing can be counted, so what is asked for by its number can't be had.
    let refused = workshop.ends(
        2,
        &[
            "view",
            "out",
            "--around",
            "main.while@L1#2",
            "--out",
            "part",
        ],
    );
    tells(&refused, &["keeps windows", "--window NAME#N"]);
    let window = ["--window", "main.next_row#2", "--out", "part"];
    let text = workshop.succeeds(&[&["view", "out"][..], &window].concat());
    tells(&text, &["what is kept of cycles"]);
}
