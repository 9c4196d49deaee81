//! The server for editors: what it shows of which text, what it does, and what ends it.

mod checks;
mod commands;
mod messages;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::editor::Editor;
use crate::support::workshop::{DESIGN, Workshop, tells};

/// A folder with the matrix product and its profile, and the text.
fn matmul() -> (Workshop, String) {
    let workshop = Workshop::empty();
    workshop.edited("matmul.futil", "matmul.futil", &[]);
    workshop.succeeds(&["run", "matmul.futil", "-q"]);
    let text = workshop.read("matmul.futil");
    (workshop, text)
}

/// The line, from 1, that has this text.
fn line_of(text: &str, part: &str) -> u64 {
    let at = text.lines().position(|line| line.contains(part));
    at.unwrap() as u64 + 1
}

#[test]
fn hints_are_of_the_text_that_was_profiled() {
    let (workshop, text) = matmul();
    let mut editor = Editor::new(&workshop);
    editor.shows("matmul.futil", &text);
    let hints = editor.hints("matmul.futil");
    let inner = line_of(&text, "while k_lt.out");
    let label = "464 cycles \u{b7} 75.8 % \u{b7} +128 overhead".to_owned();
    assert!(hints.contains(&(inner, label.clone())), "{hints:?}");
    // A line before it moves it.
    editor.edit("matmul.futil", [(0, 0), (0, 0)], "// new\n");
    let moved = hints.iter().cloned();
    let moved: Vec<(u64, String)> = moved.map(|(line, label)| (line + 1, label)).collect();
    assert_eq!(editor.hints("matmul.futil"), moved);
    // Where the line is another one, there is none, until it is as it was.
    let at = u32::try_from(inner).unwrap();
    editor.edit("matmul.futil", [(at, 0), (at, 0)], "x");
    let left = editor.hints("matmul.futil");
    assert_eq!(left.len(), hints.len() - 1);
    assert!(left.iter().all(|(line, _)| *line != inner + 1));
    let hover = editor.at("textDocument/hover", "matmul.futil", (inner + 1, 12));
    assert_eq!(hover, Value::Null);
    editor.edit("matmul.futil", [(at, 0), (at, 1)], "");
    assert_eq!(editor.hints("matmul.futil"), moved);
    // Of a text of the same name that nobody has profiled, nothing is known.
    editor.open("other/matmul.futil", &text.replace("while", "while "));
    assert_eq!(editor.hints("other/matmul.futil"), []);
    // Of a copy, what is known of the text.
    editor.shows("copy/matmul.futil", &text);
    assert_eq!(editor.hints("copy/matmul.futil"), hints);
}

#[test]
fn of_two_equal_lines_the_right_one_is_left() {
    let workshop = Workshop::new();
    let design = DESIGN.replace("seq { put; put; }", "seq {\n    put;\n    put;\n  }");
    workshop.write("design.futil", &design);
    workshop.succeeds(&["run", "design.futil", "-q"]);
    let mut editor = Editor::with(&workshop, json!({ "leastPercent": 0 }));
    editor.shows("design.futil", &design);
    let first = u32::try_from(line_of(&design, "    put;")).unwrap() - 1;
    editor.edit("design.futil", [(first, 0), (first + 1, 0)], "");
    let mut params = editor.of("design.futil");
    params["position"] = json!({ "line": first, "character": 5 });
    let hover = editor.gets("textDocument/hover", params);
    let second = format!("put@L{}", first + 2);
    tells(hover["contents"]["value"].as_str().unwrap(), &[&second]);
}

#[test]
fn a_profile_that_anybody_writes_is_shown() {
    let workshop = Workshop::new();
    let mut editor = Editor::new(&workshop);
    editor.open("design.futil", DESIGN);
    assert_eq!(editor.hints("design.futil"), []);
    workshop.succeeds(&["run", "design.futil", "-q"]);
    editor.told("workspace/inlayHint/refresh");
    let before = editor.hints("design.futil");
    assert!(!before.is_empty());
    // Another run of another text: those of this one stay, since it is here still.
    let other = DESIGN.replace("put; put;", "put; put; put;");
    workshop.write("design.futil", &other);
    workshop.succeeds(&["run", "design.futil", "-q", "--out", "elsewhere/deep/other"]);
    assert_eq!(editor.hints("design.futil"), before);
    // The editor reads it anew.
    let change = json!([{ "text": other }]);
    let document = json!({ "uri": editor.uri("design.futil"), "version": 7 });
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": change }),
    );
    editor.told("workspace/inlayHint/refresh");
    let after = editor.hints("design.futil");
    assert_ne!(after, before);
    // Nobody has profiled it any more.
    std::fs::remove_dir_all(workshop.path("elsewhere")).unwrap();
    std::fs::remove_dir_all(workshop.path("petal-out")).unwrap();
    editor.told("workspace/inlayHint/refresh");
    assert_eq!(editor.hints("design.futil"), []);
}

#[test]
fn settings_tell_what_is_shown() {
    let (workshop, text) = matmul();
    let settings = json!({ "hintParts": ["costs", "share"], "leastPercent": 50, "hotspots": false, "lenses": false });
    let mut editor = Editor::with(&workshop, settings);
    editor.shows("matmul.futil", &text);
    let hints = editor.hints("matmul.futil");
    let inner = line_of(&text, "while k_lt.out");
    let label = "costs 208 \u{b7} 75.8 %".to_owned();
    assert!(hints.contains(&(inner, label)), "{hints:?}");
    assert!(hints.iter().all(|(_, label)| !label.contains("cycles")));
    let of = editor.of("matmul.futil");
    assert_eq!(editor.gets("textDocument/codeLens", of.clone()), json!([]));
    let settings =
        json!({ "settings": { "petal": { "hints": false, "lenses": true, "hint": 1 } } });
    editor.tell("workspace/didChangeConfiguration", settings);
    let said = editor.told("window/showMessage");
    tells(said["message"].as_str().unwrap(), &["`hint`"]);
    assert_eq!(editor.hints("matmul.futil"), []);
    let lenses = editor.gets("textDocument/codeLens", of);
    let lines = lenses.as_array().unwrap().iter();
    let lines: Vec<u64> = lines
        .map(|lens| lens["range"]["start"]["line"].as_u64().unwrap() + 1)
        .collect();
    let [main, outer] = ["component main", "while i_lt.out"].map(|part| line_of(&text, part));
    assert_eq!(lines, [main, outer]);
    assert_eq!(lenses[0]["command"]["command"], "petal.openReport");
}

#[test]
fn a_place_tells_what_it_cost() {
    let (workshop, text) = matmul();
    let mut editor = Editor::new(&workshop);
    editor.shows("matmul.futil", &text);
    let mut about = |part: &str, character| {
        let at = (line_of(&text, part), character);
        let hover = editor.at("textDocument/hover", "matmul.futil", at);
        hover["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let inner = about("while k_lt.out", 14);
    tells(
        &inner,
        &[
            "main.while@L87",
            "464 cycles, 75.8 % of the run",
            "entered 16 times: min 29, average 29, max 29 cycles",
            "64 iterations (each time min 4, average 4, max 4)",
            "costs 208 cycles (33.99 %): enters its body and goes round: 2 cycles each iteration",
            "`petal advise` tries this kind",
        ],
    );
    let group = about("group multiply", 12);
    tells(&group, &["main.multiply", "active 64 times", "dynamic"]);
    tells(
        &about("component main", 2),
        &["612 cycles, 100.0 %", "in 1 instance"],
    );
    // What a line names that begins elsewhere.
    tells(&about("multiply[done]", 8), &["main.multiply"]);
    // Cells: where they are declared, and where they are used. A port is none.
    let trace = workshop.succeeds(&["trace", "petal-out/matmul", "--json"]);
    let trees = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let using = trees.filter(|run| run["tree"].to_string().contains("\"mult (primitive)\""));
    let cycles = using.map(|run| run["end"].as_u64().unwrap() - run["start"].as_u64().unwrap());
    let used = format!("groups use it in {} cycles, ", cycles.sum::<u64>());
    let mult = about("mult = std_mult_pipe", 5);
    tells(
        &mult,
        &[
            "main.mult** (cell)",
            "a primitive, `std_mult_pipe`",
            &used,
            "64 times",
        ],
    );
    assert_eq!(about("mult.left", 8), mult);
    assert_eq!(about("mult.left", 13), "");
    assert_eq!(about("import ", 2), "");
}

#[test]
fn who_runs_a_group_and_for_how_long() {
    let workshop = Workshop::new();
    let design = DESIGN.replace(
        "seq { put; put; }",
        "seq {\n    put;\n    if mem.done { put; }\n    put;\n  }",
    );
    workshop.write("design.futil", &design);
    workshop.succeeds(&["run", "design.futil", "-q"]);
    let mut editor = Editor::new(&workshop);
    editor.shows("design.futil", &design);
    let group = (line_of(&design, "group put"), 10);
    let items = editor.at("textDocument/prepareCallHierarchy", "design.futil", group);
    assert_eq!(items[0]["name"], "main.put");
    let item = json!({ "item": items[0] });
    let calls = editor.gets("callHierarchy/incomingCalls", item);
    let calls = calls.as_array().unwrap();
    let first = line_of(&design, "    put;");
    let from = calls
        .iter()
        .find(|call| call["from"]["name"] == format!("main.put@L{first}"));
    let detail = from.unwrap()["from"]["detail"].as_str().unwrap();
    tells(detail, &["1 cycle, ", "1 time"]);
    let item = json!({ "item": from.unwrap()["from"] });
    let callees = editor.gets("callHierarchy/outgoingCalls", item);
    assert_eq!(callees[0]["to"]["name"], "main.put");
    assert_eq!(callees[0]["to"]["detail"].as_str(), Some(detail));
    // It is of another document, or of none.
    let odd = json!({ "item": { "uri": "file:///nothing", "name": "x", "data": 99_999 } });
    assert_eq!(editor.gets("callHierarchy/incomingCalls", odd), Value::Null);
    let odd = json!({ "item": { "uri": editor.uri("design.futil"), "name": "x", "data": 99_999 } });
    assert_eq!(editor.gets("callHierarchy/incomingCalls", odd), Value::Null);
}

#[test]
fn a_stuck_design_and_a_broken_rule_are_told() {
    let workshop = Workshop::endless();
    let run = [
        "run",
        "design.futil",
        "-q",
        "--cycle-limit",
        "50",
        "--partial",
        "--never",
        "bad=main.put",
    ];
    workshop.succeeds(&run);
    let text = workshop.read("design.futil");
    let mut editor = Editor::with(&workshop, json!({ "hotspots": false }));
    editor.shows("design.futil", &text);
    let published = editor.told("textDocument/publishDiagnostics");
    let diagnostics = published["diagnostics"].as_array().unwrap();
    let severities: Vec<&Value> = diagnostics.iter().map(|of| &of["severity"]).collect();
    assert_eq!(severities, [1, 2], "{diagnostics:?}");
    tells(diagnostics[0]["message"].as_str().unwrap(), &["50"]);
    tells(
        diagnostics[1]["message"].as_str().unwrap(),
        &["`bad`", "first in cycle"],
    );
    let main = line_of(&text, "component main") - 1;
    assert_eq!(diagnostics[0]["range"]["start"]["line"], main);
    let close = editor.of("design.futil");
    editor.tell("textDocument/didClose", close);
    let published = editor.told("textDocument/publishDiagnostics");
    assert_eq!(published["diagnostics"], json!([]));
}

#[test]
fn where_a_stuck_design_waits_is_told() {
    let workshop = Workshop::new();
    let text = DESIGN.replace("cells {", "cells { never = std_reg(1);");
    let text = text.replace("put[done] = mem.done", "put[done] = never.out");
    workshop.write("design.futil", &text);
    workshop.succeeds(&["run", "design.futil", "-q", "--partial"]);
    let mut editor = Editor::with(&workshop, json!({ "hotspots": false }));
    editor.shows("design.futil", &text);
    let published = editor.told("textDocument/publishDiagnostics");
    let stuck = &published["diagnostics"][0];
    tells(
        stuck["message"].as_str().unwrap(),
        &["waits for its `done`, `never.out`"],
    );
    let place = &stuck["relatedInformation"][0];
    assert_eq!(place["message"], "main.put waits");
    let line = line_of(&text, "group put") - 1;
    assert_eq!(place["location"]["range"]["start"]["line"], line);
}

#[test]
fn lines_of_a_front_end_have_hints() {
    let workshop = Workshop::empty();
    let corpus = crate::support::root().join("tests/corpus");
    for ending in ["", ".data"] {
        let from = corpus.join(format!("struct-positions.futil{ending}"));
        workshop.copy(from.to_str().unwrap(), &format!("design.futil{ending}"));
    }
    let mut text = String::new();
    for line in 1..=14 {
        let _ = writeln!(text, "statement_{line}()");
    }
    workshop.write("demo.py", &text);
    workshop.succeeds(&["run", "design.futil", "-q"]);
    let mut editor = Editor::new(&workshop);
    editor.shows("demo.py", &text);
    let hints = editor.hints("demo.py");
    let label = "11 cycles \u{b7} 68.8 % \u{b7} +1 overhead".to_owned();
    assert!(hints.contains(&(6, label)), "{hints:?}");
    let hover = editor.at("textDocument/hover", "demo.py", (6, 3));
    tells(
        hover["contents"]["value"].as_str().unwrap(),
        &["main.while@", "11 cycles"],
    );
    // It is not made of this file by petal.
    let run = editor.command("petal.run", "demo.py", 1);
    let error = editor.fails("workspace/executeCommand", run);
    tells(error["message"].as_str().unwrap(), &["no Calyx file"]);
    // Another text, or one that the run could not read.
    editor.open("other/demo.py", "statement_1()\n");
    assert_eq!(editor.hints("other/demo.py"), []);
}

/// A design with many statements, and how many lines it has.
fn large(groups: usize) -> String {
    let mut wires = String::new();
    let mut control = String::new();
    for at in 0..groups {
        let _ = writeln!(
            wires,
            "    group put_{at} {{\n      mem.addr0 = 1'd1; mem.write_data = 8'd5;\n      mem.write_en = 1'd1;\n      put_{at}[done] = mem.done;\n    }}"
        );
        let _ = writeln!(control, "    put_{at};");
    }
    let begin = DESIGN.find("    group put").unwrap();
    let end = DESIGN[begin..].find('\n').unwrap() + begin + 1;
    let text = format!("{}{wires}{}", &DESIGN[..begin], &DESIGN[end..]);
    text.replace("seq { put; put; }", &format!("seq {{\n{control}  }}"))
}

#[test]
fn a_large_design_answers_at_once() {
    let workshop = Workshop::new();
    let text = large(500);
    assert!(text.lines().count() >= 3000);
    workshop.write("design.futil", &text);
    workshop.succeeds(&["run", "design.futil", "-q"]);
    let mut editor = Editor::with(&workshop, json!({ "leastPercent": 0 }));
    editor.shows("design.futil", &text);
    let mut times: Vec<Duration> = (0..20)
        .map(|at| {
            editor.edit("design.futil", [(at, 0), (at, 0)], "\n");
            let begin = Instant::now();
            assert!(editor.hints("design.futil").len() >= 1000);
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    eprintln!(
        "hints of {} lines: median {:?}, slowest {:?}",
        text.lines().count(),
        times[10],
        times[19]
    );
    // A release build takes 20 ms at most; this one is not optimised, and others run beside it.
    assert!(times[10] < Duration::from_millis(500), "{times:?}");
}
