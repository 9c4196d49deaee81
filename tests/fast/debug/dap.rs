//! The debugger for editors: what a client hears that knows the protocol alone.

use serde_json::{Value, json};

use super::{PAST_THE_END, cycle_of, past_the_end};
use crate::support::debugger::Debugger;
use crate::support::workshop::{Workshop, example};

/// The line, from 1, that has this text.
fn line_of(text: &str, part: &str) -> u64 {
    let at = text.lines().position(|line| line.contains(part));
    at.unwrap() as u64 + 1
}

/// The names of a thread's frames, the outermost first.
fn stack(debugger: &mut Debugger, thread: &Value) -> Vec<String> {
    let stack = debugger.asks("stackTrace", json!({ "threadId": thread }));
    let frames = stack["stackFrames"].as_array().unwrap().iter().rev();
    frames
        .map(|frame| frame["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_client_finds_the_write_past_the_end_backwards() {
    let workshop = past_the_end();
    let mut debugger = Debugger::new(&workshop);
    debugger.opens(json!({ "program": "out", "design": "walk.futil" }));
    // Forward to where the address is too large.
    let past = "main.words.write_en && main.words.addr0 >= 6";
    let set = debugger.asks(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": past }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    let stopped = debugger.moves("continue");
    assert_eq!(stopped["reason"], "function breakpoint");
    let wrong = cycle_of(&stopped);
    let threads = debugger.asks("threads", json!({}));
    let thread = threads["threads"][0]["id"].clone();
    let frames = stack(&mut debugger, &thread);
    assert_eq!(frames.last().unwrap(), "put", "{frames:?}");
    // Back to who made the address, by a breakpoint on the data of its register.
    let frame = debugger.asks("stackTrace", json!({ "threadId": thread }));
    let frame = &frame["stackFrames"][0]["id"];
    let scopes = debugger.asks("scopes", json!({ "frameId": frame }));
    let reference = &scopes["scopes"][0]["variablesReference"];
    let variables = debugger.asks("variables", json!({ "variablesReference": reference }));
    let variable = |name: &str| {
        let mut all = variables["variables"].as_array().unwrap().iter();
        all.find(|of| of["name"] == name).unwrap().clone()
    };
    assert_eq!(variable("at")["value"], "6");
    assert_eq!(variable("stride")["value"], "3");
    let words = variable("words");
    let words = &words["variablesReference"];
    let words = debugger.asks("variables", json!({ "variablesReference": words }));
    let words = words["variables"].as_array().unwrap().iter();
    let words: Vec<&str> = words.map(|of| of["value"].as_str().unwrap()).collect();
    assert_eq!(words, ["1", "1", "0", "1", "0", "0"]);
    let data = json!({ "variablesReference": reference, "name": "at" });
    let info = debugger.asks("dataBreakpointInfo", data);
    let data = json!({ "breakpoints": [{ "dataId": info["dataId"] }] });
    let set = debugger.asks("setDataBreakpoints", data);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    let stopped = debugger.moves("reverseContinue");
    assert_eq!(stopped["reason"], "data breakpoint");
    let text = stopped["text"].as_str().unwrap();
    assert!(text.contains("3 -> 6, by main > "), "{text}");
    assert!(cycle_of(&stopped) < wrong);
    // The console has the prompt's commands, which move, too.
    let last = json!({ "expression": "last stride", "context": "repl" });
    let told = debugger.asks("evaluate", last);
    let told = told["result"].as_str().unwrap();
    assert!(told.contains("2 -> 3"), "{told}");
    let line = line_of(PAST_THE_END, "stride.in = wider.out");
    assert!(told.contains(&format!("L{line}  ")), "{told}");
    assert_eq!(debugger.event("stopped")["reason"], "goto");
    let hover = json!({ "expression": "stride", "context": "hover" });
    assert_eq!(debugger.asks("evaluate", hover)["result"], "2");
    assert!(debugger.leaves().success());
}

#[test]
fn lines_stop_where_they_begin_and_buttons_go_both_ways() {
    let workshop = past_the_end();
    let mut debugger = Debugger::new(&workshop);
    debugger.opens(json!({ "program": "out" }));
    let line = line_of(PAST_THE_END, "group advance");
    let path = workshop.path("walk.futil");
    let source =
        json!({ "source": { "path": path }, "breakpoints": [{ "line": line }, { "line": 1 }] });
    let set = debugger.asks("setBreakpoints", source.clone());
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    assert_eq!(set["breakpoints"][1]["verified"], false, "{set}");
    let stopped = debugger.moves("continue");
    assert_eq!(stopped["reason"], "breakpoint");
    let first = cycle_of(&stopped);
    let frame = debugger.asks("stackTrace", json!({ "threadId": 1 }));
    let frame = &frame["stackFrames"][0];
    assert_eq!(frame["name"], "advance");
    assert_eq!(frame["source"]["path"], path.to_str().unwrap());
    let second = cycle_of(&debugger.moves("continue"));
    assert!(second > first);
    assert_eq!(cycle_of(&debugger.moves("reverseContinue")), first);
    assert_eq!(cycle_of(&debugger.moves("stepIn")), first + 1);
    assert_eq!(cycle_of(&debugger.moves("stepBack")), first);
    let next = cycle_of(&debugger.moves("next"));
    assert!(next > first);
    // Another list of breakpoints takes the place of the first, and an edited file has none.
    workshop.write("walk.futil", format!("// new\n{PAST_THE_END}"));
    let set = debugger.asks("setBreakpoints", source);
    assert_eq!(set["breakpoints"][0]["verified"], false, "{set}");
    let stopped = debugger.moves("continue");
    assert_eq!(stopped["reason"], "pause");
    assert!(
        stopped["text"]
            .as_str()
            .unwrap()
            .contains("where the run ends")
    );
    let stopped = debugger.moves("reverseContinue");
    assert!(
        stopped["text"]
            .as_str()
            .unwrap()
            .contains("where the run begins")
    );
    assert!(debugger.leaves().success());
}

#[test]
fn arms_of_a_par_are_threads() {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", &example("while-par.futil"), "-q", "--out", "out"]);
    let mut debugger = Debugger::new(&workshop);
    debugger.opens(json!({ "program": "out" }));
    let mut names: Vec<Vec<String>> = Vec::new();
    for _ in 0..12 {
        let threads = debugger.asks("threads", json!({}));
        let threads = threads["threads"].as_array().unwrap();
        for thread in threads {
            let stack = stack(&mut debugger, &thread["id"]);
            assert_eq!(stack[0], "main");
        }
        names.push(
            threads
                .iter()
                .map(|of| of["name"].as_str().unwrap().to_owned())
                .collect(),
        );
        debugger.moves("next");
    }
    let is_arm = |name: &String| name.contains(" arm ");
    let both = names
        .iter()
        .find(|names| names.len() == 2 && names.iter().all(is_arm));
    let both = both.unwrap_or_else(|| panic!("{names:?}"));
    assert!(
        both[0].ends_with(" arm 1") && both[1].ends_with(" arm 2"),
        "{both:?}"
    );
    // A source without a path comes from the profile.
    let frame = debugger.asks("stackTrace", json!({ "threadId": 1 }));
    let source = frame["stackFrames"][0]["source"]["sourceReference"].clone();
    let text = debugger.asks("source", json!({ "sourceReference": source }));
    assert!(text["content"].as_str().unwrap().contains("component main"));
    assert!(debugger.leaves().success());
}

#[test]
fn frames_lead_to_the_front_end_if_that_is_asked_for() {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", &example("adl/variance.futil"), "-q", "--out", "out"]);
    let python = std::fs::read_to_string(example("adl/variance.py")).unwrap();
    let line = line_of(&python, "while_with");
    for front_end in [true, false] {
        let mut debugger = Debugger::new(&workshop);
        let design = example("adl/variance.futil");
        debugger.opens(json!({ "program": "out", "design": design, "frontEnd": front_end }));
        let source = json!({ "path": example("adl/variance.py") });
        let lines = json!([{ "line": line }]);
        let set = json!({ "source": source, "breakpoints": lines });
        let set = debugger.asks("setBreakpoints", set);
        assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
        let nothing = json!({ "breakpoints": [{ "name": "variance.py:30" }] });
        let told = debugger.asks("setFunctionBreakpoints", nothing);
        let told = told["breakpoints"][0]["message"].as_str().unwrap();
        assert!(told.contains("did: variance.py:25 and "), "{told}");
        assert_eq!(debugger.moves("continue")["reason"], "breakpoint");
        let stack = debugger.asks("stackTrace", json!({ "threadId": 1 }));
        let frames = stack["stackFrames"].as_array().unwrap();
        let at = |frame: &Value| {
            let path = frame["source"]["path"].as_str().unwrap_or_default();
            (path.to_owned(), frame["line"].as_u64().unwrap())
        };
        let is_there = |frame: &Value| at(frame) == (example("adl/variance.py"), line);
        assert_eq!(frames.iter().any(is_there), front_end, "{stack}");
        let placed = |frame: &&Value| frame["line"] != 0;
        let wanted = if front_end { ".py" } else { ".futil" };
        let mut placed = frames.iter().filter(placed);
        assert!(placed.all(|frame| at(frame).0.ends_with(wanted)), "{stack}");
        assert!(debugger.leaves().success());
    }
}

#[test]
fn of_two_files_of_one_name_each_is_itself() {
    let workshop = Workshop::empty();
    std::fs::create_dir(workshop.path("sub")).unwrap();
    let body = "component w() -> () {
  cells { r = std_reg(8); }
  wires { group g { r.in = 8'd1; r.write_en = 1'd1; g[done] = r.done; } }
  control { seq { g; g; } }
}
";
    let inner = format!("import \"primitives/core.futil\";\n// a\n// b\n// c\n{body}");
    workshop.write("sub/x.futil", &inner);
    let outer = "import \"sub/x.futil\";
component main() -> () { cells { a = w(); } wires {} control { invoke a()(); } }
";
    workshop.write("x.futil", outer);
    workshop.succeeds(&["run", "x.futil", "-q", "--out", "out", "--passes", "no-opt"]);
    let mut debugger = Debugger::new(&workshop);
    debugger.opens(json!({ "program": "out", "design": "x.futil" }));
    let path = workshop.path("sub/x.futil");
    let line = line_of(&inner, "control");
    let lines = json!([{ "line": line }]);
    let wanted = json!({ "source": { "path": path }, "breakpoints": lines });
    let frame = |debugger: &mut Debugger| {
        let stack = debugger.asks("stackTrace", json!({ "threadId": 1 }));
        let frames = stack["stackFrames"].as_array().unwrap();
        let mut own = frames.iter();
        own.find(|frame| frame["name"] == "g").unwrap().clone()
    };
    // Before the editor names the file, it comes from the profile.
    let by_name = json!({ "breakpoints": [{ "name": format!("x.futil:{line}") }] });
    let set = debugger.asks("setFunctionBreakpoints", by_name);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    debugger.moves("continue");
    let reference = frame(&mut debugger)["source"]["sourceReference"].clone();
    let text = debugger.asks("source", json!({ "sourceReference": reference }));
    assert_eq!(text["content"], inner);
    let set = debugger.asks("setBreakpoints", wanted.clone());
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    let there = frame(&mut debugger);
    assert_eq!(there["source"]["path"], path.to_str().unwrap());
    assert_eq!(there["line"], line);
    // What is edited meanwhile is not what ran.
    workshop.write("sub/x.futil", format!("// new\n{inner}"));
    assert!(frame(&mut debugger)["source"]["path"].is_null());
    let set = debugger.asks("setBreakpoints", wanted);
    assert_eq!(set["breakpoints"][0]["verified"], false, "{set}");
    assert!(debugger.leaves().success());
}

#[test]
fn what_makes_no_sense_is_told() {
    let workshop = past_the_end();
    let mut debugger = Debugger::new(&workshop);
    debugger.asks("initialize", json!({}));
    assert!(
        debugger
            .fails("threads", json!({}))
            .contains("`launch` comes first")
    );
    assert!(
        debugger
            .fails("launch", json!({}))
            .contains("`program` is missing")
    );
    assert!(
        debugger
            .fails("launch", json!({ "program": "nowhere" }))
            .contains("nowhere")
    );
    debugger.asks("launch", json!({ "program": "out" }));
    debugger.event("initialized");
    assert!(
        debugger
            .fails("fly", json!({}))
            .contains("there is no request `fly`")
    );
    let set = debugger.asks(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": "main.nothing" }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], false, "{set}");
    let info = debugger.asks("dataBreakpointInfo", json!({ "name": "nothing" }));
    assert_eq!(info["dataId"], Value::Null);
    assert!(debugger.leaves().success());
}
