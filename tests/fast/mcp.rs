//! The server for agents: what its tools declare and give, and what ends a call.

mod messages;
mod place;

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::agent::Agent;
use crate::support::workshop::{DESIGN, Workshop, tells};

#[test]
fn wrong_parameters_are_errors_of_the_tool() {
    let workshop = Workshop::new();
    let mut agent = Agent::new(&workshop);
    for (name, arguments, parts) in [
        ("petal_run", json!({}), &["`design` is missing"][..]),
        (
            "petal_run",
            json!({ "design": 3 }),
            &["`design` is a text, not 3"],
        ),
        (
            "petal_run",
            json!({ "desing": "design.futil" }),
            &["no parameter `desing`", "is it `design`?"],
        ),
        (
            "petal_run",
            json!({ "design": "design.futil", "partial": "yes" }),
            &["`partial` is true or false"],
        ),
        (
            "petal_run",
            json!({ "design": "design.futil", "never": "x" }),
            &["`never` is a list of texts"],
        ),
        (
            "petal_run",
            json!({ "design": "design.futil", "top": 0 }),
            &["`top` is a whole number, not 0"],
        ),
        (
            "petal_run",
            json!({ "design": "design.futil", "cycle-limit": 1.5 }),
            &["whole number"],
        ),
        (
            "petal_run",
            json!({ "design": "design.futil", "passes": "noopt" }),
            &["is it `no-opt`?"],
        ),
        (
            "petal_run",
            json!({ "design": "nothing.futil" }),
            &["cannot read the design nothing.futil"],
        ),
        (
            "petal_run",
            json!({ "design": "-" }),
            &["cannot read the design ./-"],
        ),
        (
            "petal_run",
            json!({ "design": "--help" }),
            &["cannot read the design --help"],
        ),
        (
            "petal_advise",
            json!({ "design": "design.futil", "budget": "soon" }),
            &["such as 60s"],
        ),
        (
            "petal_stats",
            json!({ "dir": "kept", "table": "cell" }),
            &["one of cells, groups"],
        ),
        (
            "petal_stats",
            json!({ "dir": "design.futil", "table": "cells" }),
            &["no profile"],
        ),
        (
            "petal_trace",
            json!({ "dir": "kept", "cycles": "0.." }),
            &["most at a time"],
        ),
        (
            "petal_trace",
            json!({ "dir": "kept", "cycles": "5..2" }),
            &["no cycle in 5..2"],
        ),
        (
            "petal_compare",
            json!({ "base": "design.futil", "new": "kept" }),
            &["petal_run"],
        ),
        (
            "petal_explain",
            json!({ "term": "usefull" }),
            &["is it `useful`?"],
        ),
    ] {
        let said = agent.fails(name, arguments);
        tells(&said, parts);
        assert!(!said.contains("Usage:"), "{said}");
    }
    workshop.write("broken.futil", DESIGN.replace("control {", "controll {"));
    let said = agent.fails("petal_run", json!({ "design": "broken.futil" }));
    tells(&said, &["broken.futil:8", "controll"]);
}

/// What of `value` is not as `schema` says.
fn flaw(schema: &Value, value: &Value) -> Option<String> {
    let kinds = schema.get("type").cloned().unwrap_or_default();
    let kinds = kinds.as_array().cloned().unwrap_or_else(|| vec![kinds]);
    let is = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        kind => panic!("no type: {kind:?} of {schema}"),
    };
    if !kinds.iter().any(is) {
        return Some(format!("{value} is no {kinds:?}"));
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let mut missing = required.filter(|name| value.get(name.as_str().unwrap()).is_none());
    if let Some(name) = missing.next() {
        return Some(format!("{value} has no {name}"));
    }
    let fields = schema["properties"].as_object().into_iter().flatten();
    let mut fields = fields.filter_map(|(name, schema)| flaw(schema, value.get(name)?));
    let items = value.as_array().filter(|_| schema["items"].is_object());
    let mut items = items.into_iter().flatten();
    fields
        .next()
        .or_else(|| items.find_map(|item| flaw(&schema["items"], item)))
}

#[test]
fn a_run_tells_how_memories_are_used() {
    let workshop = Workshop::new();
    let mut agent = Agent::new(&workshop);
    let asked = json!({ "design": "design.futil", "access": ["main.mem"] });
    let (text, content) = agent.gets("petal_run", asked);
    tells(
        &text,
        &["memory main.mem: 0 reads of 0 words, 2 writes of 1 words"],
    );
    let of = &content["accesses"][0];
    let figures = [
        "reads",
        "words_read",
        "writes",
        "words_written",
        "overwritten",
    ];
    assert_eq!(
        figures.map(|figure| of[figure].as_u64()),
        [0, 0, 2, 1, 1].map(Some)
    );
    assert!(of.get("accesses").is_none(), "{of}");
}

#[test]
fn tools_give_what_they_declare() {
    let workshop = Workshop::new();
    workshop.write("other.futil", DESIGN.replace("put; put;", "put; put; put;"));
    let mut agent = Agent::new(&workshop);
    let tools = agent.answer("tools/list", json!({}))["result"]["tools"].take();
    let design = json!({ "design": "design.futil" });
    let dir = json!({ "dir": "petal-out/design" });
    let mut called = Vec::new();
    for (name, arguments) in [
        ("petal_run", design.clone()),
        (
            "petal_run",
            json!({ "design": "other.futil", "never": ["main.put"], "latency": ["main.put"], "count": ["main.put"], "always": ["1 == 1"], "access": ["main.mem"] }),
        ),
        (
            "petal_run",
            json!({ "design": "other.futil", "out": "early", "cycle-limit": 2, "partial": true }),
        ),
        ("petal_hotspots", dir.clone()),
        ("petal_annotate", dir.clone()),
        ("petal_trace", dir),
        (
            "petal_stats",
            json!({ "dir": "petal-out/design", "table": "control", "sort": "cycles", "reverse": true, "columns": ["statement", "cycles"], "filter": ["cycles>0"] }),
        ),
        (
            "petal_compare",
            json!({ "base": "petal-out/design", "new": "petal-out/other" }),
        ),
        (
            "petal_advise",
            json!({ "design": "design.futil", "budget": "5s", "data": ["design.futil.data"] }),
        ),
        (
            "petal_check",
            json!({ "design": "design.futil", "never": ["main.mem.write_en"] }),
        ),
        (
            "petal_whatif",
            json!({ "design": "design.futil", "overhead": ["all"] }),
        ),
        ("petal_explain", json!({})),
        ("petal_explain", json!({ "term": "useful" })),
    ] {
        let (text, content) = agent.gets(name, arguments);
        let tool = tools
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == name)
            .unwrap();
        assert_eq!(flaw(&tool["outputSchema"], &content), None, "{name}");
        assert!(!text.is_empty());
        called.push(name);
    }
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        // It needs programs that others have to install.
        assert!(
            called.contains(&name) || name == "petal_synth",
            "{name} is not called"
        );
        for (of, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let about = schema["description"].as_str().unwrap();
            assert!(!about.is_empty(), "{name} does not tell what {of} is");
        }
    }
}

#[test]
fn a_run_tells_of_rules_and_of_an_early_end() {
    let workshop = Workshop::endless();
    let mut agent = Agent::new(&workshop);
    let arguments = json!({ "design": "design.futil", "cycle-limit": 100 });
    let said = agent.fails("petal_run", arguments);
    tells(
        &said,
        &[
            "100 cycles",
            "petal-out/design holds the profile up to there",
        ],
    );
    let arguments = json!({ "design": "design.futil", "cycle-limit": 100, "partial": true, "never": ["bad=main.put"], "top": 3 });
    let (text, content) = agent.gets("petal_run", arguments);
    tells(
        &text,
        &["it ended early", "rule bad: broken", "`top` gives more"],
    );
    assert!(content["stopped"].is_string());
    assert!(!content["ending"]["active"].as_array().unwrap().is_empty());
    assert_eq!(
        content["rules"][0]["violations"].as_array().unwrap().len(),
        3
    );
    let cut = content["cut"].as_array().unwrap();
    assert!(
        cut.iter()
            .any(|cut| cut["list"] == "violations of bad" && cut["shown"] == 3),
        "{cut:?}"
    );
}

#[test]
fn lists_are_cut_and_files_are_linked_to() {
    let workshop = Workshop::new();
    let mut agent = Agent::new(&workshop);
    let run = agent.call(
        "petal_run",
        json!({ "design": "design.futil", "out": "a b" }),
    );
    let links: Vec<&Value> = run["content"].as_array().unwrap()[1..].iter().collect();
    assert_eq!(links.len(), 3);
    let uri = links[0]["uri"].as_str().unwrap();
    let path = uri.strip_prefix("file://").unwrap().replace("%20", " ");
    assert_eq!(
        fs::canonicalize(workshop.path("a b/report.html"))
            .unwrap()
            .to_str()
            .unwrap(),
        path
    );
    assert_eq!(links[0]["mimeType"], "text/html");
    let (text, all) = agent.gets("petal_trace", json!({ "dir": "a b" }));
    assert_eq!(all["cut"], json!([]));
    assert!(!text.contains("cut"), "{text}");
    let of = all["rows"].as_array().unwrap().len();
    let (text, first) = agent.gets("petal_trace", json!({ "dir": "a b", "top": 1 }));
    assert_eq!(first["rows"], json!([all["rows"][0]]));
    assert_eq!(
        first["cut"],
        json!([{ "list": "rows", "shown": 1, "of": of }])
    );
    tells(&text, &[&format!("cut: 1 of {of} rows (`top` gives more)")]);
}

#[test]
fn a_call_is_cancelled_while_others_go_on() {
    let workshop = Workshop::endless();
    let mut agent = Agent::new(&workshop);
    let params = json!({ "name": "petal_run", "arguments": { "design": "design.futil", "cycle-limit": u64::pow(10, 18) }, "_meta": { "progressToken": "run" } });
    let id = agent.ask("tools/call", params);
    for seconds in 1..=2 {
        let progress = agent.hear();
        assert_eq!(progress["method"], "notifications/progress");
        assert_eq!(progress["params"]["progressToken"], "run");
        assert_eq!(progress["params"]["progress"], seconds);
    }
    let other = agent.ask(
        "tools/call",
        json!({ "name": "petal_explain", "arguments": { "term": "useful" } }),
    );
    let answer = (0..3)
        .map(|_| agent.hear())
        .find(|heard| heard["id"] == other);
    assert!(answer.is_some());
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    agent.write(&cancel.to_string());
    // It needs a moment for what it leaves.
    while !agent.hears_nothing(Duration::from_secs(2)) {}
    let (_, content) = agent.gets("petal_explain", json!({ "term": "useful" }));
    assert_eq!(content["terms"][0]["name"], "useful");
    assert!(workshop.files("petal-out").is_empty());
    assert!(agent.leaves().success());
}

#[test]
fn the_end_of_the_input_ends_it() {
    let workshop = Workshop::endless();
    let mut agent = Agent::new(&workshop);
    agent.ask(
        "tools/call",
        json!({ "name": "petal_run", "arguments": { "design": "design.futil", "cycle-limit": u64::pow(10, 18) } }),
    );
    assert!(agent.hears_nothing(Duration::from_secs(1)));
    assert!(agent.leaves().success());
    assert!(workshop.files("petal-out").is_empty());
}

#[test]
fn it_is_a_process_of_its_own() {
    let refused = petal::call(["mcp"], "").unwrap_err();
    tells(&refused.to_string(), &["standard streams of a process"]);
}
