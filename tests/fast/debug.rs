//! `petal debug`: where each command goes, and what is seen there, held against the trace as `petal trace` prints it and against the waveform.

mod dap;
mod refusals;

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::support::dice::Dice;
use crate::support::samples::samples;
use crate::support::workshop::{Workshop, example, said, tells};

/// A design whose loop writes past the end of its memory: the last stride is too wide.
pub const PAST_THE_END: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/seq.futil";
component main() -> () {
  cells {
    @external words = seq_mem_d1(32, 6, 3);
    at = std_reg(3);
    stride = std_reg(3);
    next = std_add(3);
    wider = std_add(3);
  }
  wires {
    group put {
      words.addr0 = at.out;
      words.content_en = 1'd1;
      words.write_en = 1'd1;
      words.write_data = 32'd1;
      put[done] = words.done;
    }
    group widen {
      wider.left = stride.out;
      wider.right = 3'd1;
      stride.in = wider.out;
      stride.write_en = 1'd1;
      widen[done] = stride.done;
    }
    group advance {
      next.left = at.out;
      next.right = stride.out;
      at.in = next.out;
      at.write_en = 1'd1;
      advance[done] = at.done;
    }
  }
  control { repeat 4 { seq { put; widen; advance; } } }
}
"#;

/// A folder with that design and its profile `out`.
pub fn past_the_end() -> Workshop {
    let workshop = Workshop::empty();
    workshop.write("walk.futil", PAST_THE_END);
    workshop.succeeds(&["run", "walk.futil", "-q", "--out", "out"]);
    workshop
}

/// The cycle that an event of the server tells of.
pub fn cycle_of(stopped: &Value) -> u64 {
    let text = stopped["text"].as_str().unwrap();
    let cycle = text.strip_prefix("cycle ").unwrap();
    let end = cycle.find(|c: char| !c.is_ascii_digit()).unwrap();
    cycle[..end].parse().unwrap()
}

/// What the debugger says to commands: its output, what it says of errors, and what it ends with.
fn debugs(workshop: &Workshop, options: &[&str], commands: &str) -> (String, String, Option<i32>) {
    let mut command = workshop.command(&[&["debug", "out"], options].concat());
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let commands = commands.to_owned();
    // It may end before it has read all.
    std::thread::spawn(move || drop(input.write_all(commands.as_bytes())));
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (text, said(&output), output.status.code())
}

/// The same where all goes well: what each command printed.
fn answers(workshop: &Workshop, options: &[&str], commands: &[String]) -> Vec<String> {
    let (text, said, code) = debugs(workshop, options, &(commands.join("\n") + "\n"));
    assert_eq!(code, Some(0), "{said}");
    let mut answers = Vec::new();
    for line in text.lines() {
        if line.starts_with("> ") {
            answers.push(String::new());
        } else {
            let answer: &mut String = answers.last_mut().unwrap();
            answer.push_str(line);
            answer.push('\n');
        }
    }
    assert_eq!(answers.len(), commands.len(), "{text}");
    answers
}

/// The cycle in which a move ended.
fn cycle(answer: &str) -> u64 {
    let line = answer.lines().find_map(|line| line.strip_prefix("cycle "));
    let line = line.unwrap_or_else(|| panic!("no cycle in {answer}"));
    let end = line.find(|c: char| !c.is_ascii_digit()).unwrap();
    line[..end].parse().unwrap()
}

/// The labels of the call tree of each cycle, with their depths, as `petal trace` prints them.
fn traced(workshop: &Workshop) -> Vec<Vec<(u64, String)>> {
    let mut cycles = Vec::new();
    for line in workshop.succeeds(&["trace", "out", "--json"]).lines() {
        let run: Value = serde_json::from_str(line).unwrap();
        let nodes = run["tree"].as_array().unwrap().iter();
        let tree: Vec<(u64, String)> = nodes
            .map(|node| {
                let label = node["label"].as_str().unwrap().to_owned();
                (node["depth"].as_u64().unwrap(), label)
            })
            .collect();
        for _ in run["start"].as_u64().unwrap()..run["end"].as_u64().unwrap() {
            cycles.push(tree.clone());
        }
    }
    cycles
}

#[test]
fn five_steps_back_lead_from_a_write_past_the_end_to_its_cause() {
    let workshop = past_the_end();
    let past = "break main.words.write_en && main.words.addr0 >= 6";
    let commands = [
        past,
        "continue",
        "print at",
        "last at",
        "last stride",
        "list",
    ];
    let answers = answers(&workshop, &[], &commands.map(str::to_owned));
    tells(&answers[1], &["breakpoint 1", "> put"]);
    assert_eq!(answers[2], "6\n");
    tells(
        &answers[3],
        &[
            "at 3 -> 6, by main > ",
            " > advance",
            "L30  at.in = next.out;",
        ],
    );
    tells(
        &answers[4],
        &[
            "stride 2 -> 3, by main > ",
            " > widen",
            "L23  stride.in = wider.out;",
        ],
    );
    let listed = "=> 35    control { repeat 4 { seq { put; widen; advance; } } }";
    tells(&answers[5], &[listed]);
}

#[test]
fn every_position_has_the_call_tree_of_its_cycle() {
    for (design, passes) in [
        ("while-par", "no-opt"),
        ("while-par", "all"),
        ("nested-components", "all"),
        ("static", "all"),
        ("structural-enable", "all"),
        ("invoke-ref", "all"),
    ] {
        let workshop = Workshop::empty();
        workshop.succeeds(&[
            "run",
            &example(&format!("{design}.futil")),
            "-q",
            "--out",
            "out",
            "--passes",
            passes,
        ]);
        let cycles = traced(&workshop);
        let last = cycles.len() as u64 - 1;
        let (mut dice, mut at) = (Dice::new(7), 0_u64);
        let (mut commands, mut expected) = (Vec::new(), Vec::new());
        let is_same = |a: u64, b: u64| cycles[at_index(a)] == cycles[at_index(b)];
        for _ in 0..60 {
            let command = match dice.below(6) {
                0 => {
                    at = dice.next() % (last + 1);
                    format!("goto {at}")
                }
                1 => {
                    let by = dice.next() % 5;
                    at = (at + by).min(last);
                    format!("step {by}")
                }
                2 => {
                    let by = dice.next() % 5;
                    at = at.saturating_sub(by);
                    format!("back {by}")
                }
                3 => {
                    let here = at;
                    while at < last && is_same(at, here) {
                        at += 1;
                    }
                    "next".to_owned()
                }
                4 => {
                    let begins = at > 0 && !is_same(at, at - 1);
                    at = at.saturating_sub(u64::from(begins));
                    let here = at;
                    while at > 0 && is_same(at - 1, here) {
                        at -= 1;
                    }
                    "prev".to_owned()
                }
                _ => "step 0".to_owned(),
            };
            commands.extend([command, "where".to_owned()]);
            expected.push(at);
        }
        let answers = answers(&workshop, &[], &commands);
        for ((pair, commands), at) in answers.chunks(2).zip(commands.chunks(2)).zip(expected) {
            let [moved, shown] = pair else { unreachable!() };
            assert_eq!(cycle(moved), at, "{design}: {commands:?}");
            holds(&cycles, at, shown, (design, passes));
        }
    }
}

fn at_index(cycle: u64) -> usize {
    usize::try_from(cycle).unwrap()
}

/// Fails unless a call tree as it is shown is that of a cycle, and tells since when each part is active.
fn holds(cycles: &[Vec<(u64, String)>], at: u64, shown: &str, (design, passes): (&str, &str)) {
    let tree = &cycles[at_index(at)];
    let mut lines = shown.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with(&format!("cycle {at} of 0..{}: ", cycles.len()))
    );
    // The paths through the tree, by which its parts are known again.
    let paths = |tree: &[(u64, String)]| {
        let mut path: Vec<String> = Vec::new();
        let mut paths = Vec::new();
        for (depth, label) in tree {
            path.truncate(at_index(*depth));
            path.push(label.clone());
            paths.push(path.clone());
        }
        paths
    };
    let all: Vec<_> = lines.collect();
    assert_eq!(all.len(), tree.len(), "{design}, cycle {at}: {shown}");
    for ((line, (depth, label)), path) in all.iter().zip(tree).zip(paths(tree)) {
        let text = line.trim_start_matches(|c: char| c == ' ' || c == '#' || c.is_ascii_digit());
        assert!(
            text.starts_with(label.as_str()),
            "{design}, cycle {at}: {line} is no {label}"
        );
        let indent = line.len() - text.len();
        assert_eq!(indent as u64, 6 + 2 * depth, "{design}, cycle {at}: {line}");
        let Some((_, since)) = line.rsplit_once("  since ") else {
            continue;
        };
        let since: u64 = since.parse().unwrap();
        assert!(since <= at);
        // It is there all the time. With `no-opt`, nothing begins anew without a break.
        // A primitive stays active where one group after the other uses it.
        let is_primitive = label.ends_with(" (primitive)");
        let is_there = |cycle: u64| {
            let tree = &cycles[at_index(cycle)];
            let has_label = || tree.iter().any(|(_, other)| other == label);
            paths(tree).contains(&path) || (is_primitive && has_label())
        };
        if design != "structural-enable" {
            assert!((since..=at).all(is_there), "{design}, cycle {at}: {line}");
        }
        if passes == "no-opt" {
            assert!(
                since == 0 || !is_there(since - 1),
                "{design}, cycle {at}: {line}"
            );
        }
    }
}

#[test]
fn activations_begin_where_the_trace_has_them() {
    let workshop = Workshop::empty();
    workshop.succeeds(&[
        "run",
        &example("while-par.futil"),
        "-q",
        "--out",
        "out",
        "--passes",
        "no-opt",
    ]);
    let cycles = traced(&workshop);
    let labels: std::collections::BTreeSet<&str> = cycles
        .iter()
        .flatten()
        .map(|(_, label)| label.as_str())
        .filter(|label| !label.contains([' ', '[']) && *label != "main")
        .collect();
    assert!(labels.len() > 5, "{labels:?}");
    for label in labels {
        let is_there = |at: usize| cycles[at].iter().any(|(_, of)| of == label);
        let begins = (0..cycles.len()).filter(|&at| is_there(at) && (at == 0 || !is_there(at - 1)));
        let mut begins: Vec<u64> = begins.map(|at| at as u64).collect();
        begins.retain(|at| *at > 0);
        let mut commands = vec![format!("break main.{label}")];
        commands.extend(begins.iter().map(|_| "continue".to_owned()));
        commands.extend(begins.iter().skip(1).map(|_| "reverse-continue".to_owned()));
        let answers = answers(&workshop, &[], &commands);
        let stops: Vec<u64> = answers[1..].iter().map(|answer| cycle(answer)).collect();
        let back = begins.iter().rev().skip(1);
        let expected: Vec<u64> = begins.iter().chain(back).copied().collect();
        assert_eq!(stops, expected, "{label}");
    }
}

#[test]
fn values_are_those_of_the_waveform_and_the_last_change_is_the_last() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.succeeds(&["run", &design, "-q", "--out", "out", "--vcd", "wave.vcd"]);
    let (samples, cycles) = samples(&workshop.path("wave.vcd"), |name| name.ends_with("_out"));
    let is_register = |name: &&String| {
        let text = workshop.read("out/metadata.json");
        let metadata: Value = serde_json::from_str(&text).unwrap();
        let cells = metadata["components"][0]["cells"]
            .as_array()
            .unwrap()
            .clone();
        let cell = name.strip_suffix("_out").unwrap();
        cells.iter().any(|of| {
            of["name"] == cell && of["kind"]["primitive"] == "std_reg" && of["origin"] == "source"
        })
    };
    let of_main = samples.iter().filter(|((scope, _), _)| scope == &["main"]);
    let registers: Vec<(&String, &Vec<u64>)> = of_main
        .map(|((_, name), (_, values))| (name, values))
        .filter(|(name, _)| is_register(name))
        .collect();
    assert!(registers.len() >= 3, "{registers:?}");
    let mut dice = Dice::new(11);
    let (mut commands, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..80 {
        let (name, values) = registers[dice.below(registers.len())];
        let at = dice.below(cycles);
        let cell = name.strip_suffix("_out").unwrap();
        commands.extend([format!("goto {at}"), format!("print {cell}")]);
        expected.extend([None, Some(values[at])]);
        // The latest cycle before this one after which the value is another one.
        let last = (0..at)
            .rev()
            .find(|&of| of + 1 < cycles && values[of + 1] != values[of]);
        if let Some(last) = last {
            commands.push(format!("last main.{cell}"));
            expected.push(Some(last as u64));
        }
    }
    let answers = answers(&workshop, &["--design", &design], &commands);
    for ((answer, command), expected) in answers.iter().zip(&commands).zip(expected) {
        let Some(expected) = expected else { continue };
        if command.starts_with("print") {
            let value: u64 = answer.split_whitespace().next().unwrap().parse().unwrap();
            assert_eq!(value, expected, "{command}: {answer}");
        } else {
            assert_eq!(cycle(answer), expected, "{command}: {answer}");
            tells(answer, &[" -> ", ", by main > "]);
        }
    }
}
