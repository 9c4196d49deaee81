//! The server for agents: what it says in both versions of its protocol, to nonsense too, what its tools declare and give, and that nothing leads out of its folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::agent::Agent;
use crate::support::workshop::{DESIGN, Workshop, tells};

/// A client that agrees on the version by a handshake.
fn shake_hands(agent: &mut Agent, version: &str) -> Value {
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let request =
        json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    agent.write(&request.to_string());
    let mut answer = agent.hear();
    agent.write(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    assert_eq!(answer["id"], "hello");
    answer["result"].take()
}

#[test]
fn the_version_is_agreed_on_by_a_handshake() {
    for version in ["2025-11-25", "2024-11-05", "2027-01-01"] {
        let workshop = Workshop::empty();
        let mut agent = Agent::new(&workshop);
        let server = shake_hands(&mut agent, version);
        assert_eq!(server["protocolVersion"], "2025-11-25");
        assert_eq!(server["serverInfo"]["name"], "petal");
        assert!(server["capabilities"]["tools"].is_object());
        assert!(server["instructions"].is_string());
        agent.write(r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#);
        let tools = agent.hear();
        assert_eq!(tools["result"].as_object().unwrap().len(), 1, "{tools}");
        agent.write(r#"{"jsonrpc": "2.0", "id": 2, "method": "ping"}"#);
        assert_eq!(
            agent.hear(),
            json!({ "jsonrpc": "2.0", "id": 2, "result": {} })
        );
        let call = json!({ "name": "petal_explain", "arguments": { "term": "useful" } });
        let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call });
        agent.write(&call.to_string());
        assert_eq!(
            agent.hear()["result"]["structuredContent"]["terms"][0]["name"],
            "useful"
        );
        assert!(agent.leaves().success());
    }
}

#[test]
fn the_version_is_said_by_each_request() {
    let workshop = Workshop::empty();
    let mut agent = Agent::new(&workshop);
    let server = agent.answer("server/discover", json!({}));
    assert_eq!(server["result"]["supportedVersions"], json!(["2026-07-28"]));
    for answer in [server, agent.answer("tools/list", json!({}))] {
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{answer}");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["cacheScope"], "public");
    }
    let result = agent.call("petal_explain", json!({}));
    assert_eq!(result["resultType"], "complete");
    // It has no such method.
    assert_eq!(agent.answer("ping", json!({}))["error"]["code"], -32601);
    for (meta, code) in [
        (
            json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" }),
            -32602,
        ),
        (
            json!({ "io.modelcontextprotocol/protocolVersion": 1, "io.modelcontextprotocol/clientCapabilities": {} }),
            -32602,
        ),
        (
            json!({ "io.modelcontextprotocol/protocolVersion": "2027-01-01", "io.modelcontextprotocol/clientCapabilities": {} }),
            -32022,
        ),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": { "_meta": meta } });
        agent.write(&request.to_string());
        let answer = agent.hear();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        if code == -32022 {
            let data = json!({ "supported": ["2026-07-28"], "requested": "2027-01-01" });
            assert_eq!(answer["error"]["data"], data);
        }
    }
    assert!(agent.leaves().success());
}

#[test]
fn nonsense_is_told_and_the_server_goes_on() {
    let workshop = Workshop::empty();
    let mut agent = Agent::new(&workshop);
    let call = |params: &str| {
        format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}"#)
    };
    // Before anybody said a version.
    agent.write(&call(r#"{"name": "petal_explain"}"#));
    assert_eq!(agent.hear()["error"]["code"], -32600);
    shake_hands(&mut agent, "2025-11-25");
    for (line, code, id) in [
        ("{", -32700, json!(null)),
        ("\u{0}\u{1}", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("3", -32600, json!(null)),
        ("{}", -32600, json!(null)),
        (r#"{"id": 1, "method": "ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, -32600, json!(1)),
        (
            r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": 2}"#,
            -32600,
            json!(1),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}"#,
            -32602,
            json!(1),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "a", "method": "resources/list"}"#,
            -32601,
            json!("a"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "a", "method": "server/discover"}"#,
            -32601,
            json!("a"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize"}"#,
            -32602,
            json!(1),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "2"}}"#,
            -32602,
            json!(1),
        ),
        (&call("{}"), -32602, json!(1)),
        (&call(r#"{"name": 3}"#), -32602, json!(1)),
        (&call(r#"{"name": "petal_nothing"}"#), -32602, json!(1)),
        (
            &call(r#"{"name": "petal_run", "arguments": []}"#),
            -32602,
            json!(1),
        ),
    ] {
        agent.write(line);
        let answer = agent.hear();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert_eq!(answer["id"], id, "{line}: {answer}");
    }
    // Nobody wants to hear of these.
    for line in [
        "",
        r#"{"jsonrpc": "2.0", "method": "notifications/nothing"}"#,
        r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}"#,
        r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 3}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#,
    ] {
        agent.write(line);
    }
    agent.write(r#"{"jsonrpc": "2.0", "id": 2, "method": "ping"}"#);
    assert_eq!(agent.hear()["id"], 2);
    assert!(agent.leaves().success());
}

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
            json!({ "design": "other.futil", "never": ["main.put"], "latency": ["main.put"], "count": ["main.put"], "always": ["1 == 1"] }),
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
fn nothing_leads_out_of_the_folder() {
    let outside = Workshop::everything();
    let before = outside.files(".");
    let outside_path = |name: &str| outside.path(name).to_str().unwrap().to_owned();
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "-q", "--out", "kept"]);
    let link = |from: &str, to: &str| symlink(outside.path(from), workshop.path(to)).unwrap();
    link("", "away");
    link("design.futil", "linked.futil");
    link("other.json", "linked.json");
    link("base.json", "base.json");
    link("not/there", "dangling");
    workshop.copy("kept", "stolen");
    fs::remove_file(workshop.path("stolen/trace.petal")).unwrap();
    link("kept/trace.petal", "stolen/trace.petal");
    for name in ["data", "observe"] {
        workshop.write(&format!("{name}.futil"), DESIGN);
    }
    link("other.json", "data.futil.data");
    link("other.json", "observe.observe.toml");
    workshop.write(
        "import.futil",
        format!("import \"{}\";\n{DESIGN}", outside_path("part.futil")),
    );
    let run = |design: &str| ("petal_run", json!({ "design": design }));
    let out = |out: &str| ("petal_run", json!({ "design": "design.futil", "out": out }));
    let data = |data: &str| {
        (
            "petal_run",
            json!({ "design": "design.futil", "data": data }),
        )
    };
    let shown = |dir: &str| ("petal_hotspots", json!({ "dir": dir }));
    let mut agent = Agent::new(&workshop);
    for (name, arguments) in [
        run("../design.futil"),
        run(&outside_path("design.futil")),
        run("away/design.futil"),
        run("linked.futil"),
        run("nothing/../../design.futil"),
        run("data.futil"),
        run("observe.futil"),
        run("import.futil"),
        out("../out"),
        out(&outside_path("out")),
        out("away/out"),
        out("away/kept"),
        out("dangling"),
        out("dangling/deeper"),
        out("stolen"),
        data("linked.json"),
        data(&outside_path("other.json")),
        shown("away/kept"),
        shown("stolen"),
        shown(&outside_path("kept")),
        (
            "petal_compare",
            json!({ "base": "base.json", "new": "kept" }),
        ),
        (
            "petal_compare",
            json!({ "base": "kept", "new": "away/kept" }),
        ),
        (
            "petal_advise",
            json!({ "design": "design.futil", "data": ["design.futil.data", "linked.json"] }),
        ),
        ("petal_whatif", json!({ "design": "away/design.futil" })),
        (
            "petal_synth",
            json!({ "design": "design.futil", "out": "away/new" }),
        ),
    ] {
        let said = agent.fails(name, arguments.clone());
        assert!(
            said.contains("outside") || said.contains("neither in the folder"),
            "{arguments}: {said}"
        );
    }
    // What is written where nobody says so.
    fs::create_dir(workshop.path("inner")).unwrap();
    symlink(outside.path("kept"), workshop.path("petal-out")).unwrap();
    tells(
        &agent.fails("petal_run", json!({ "design": "design.futil" })),
        &["petal-out/design is outside"],
    );
    assert!(
        outside.files(".") == before,
        "something outside has changed"
    );
    // What leads back is no way out.
    fs::remove_file(workshop.path("petal-out")).unwrap();
    let own = workshop.path("design.futil").to_str().unwrap().to_owned();
    for design in ["inner/../design.futil", &own] {
        agent.gets("petal_run", json!({ "design": design }));
    }
}

#[test]
fn verilog_is_no_way_out() {
    let workshop = Workshop::everything();
    workshop.write(
        "inline.futil",
        format!("{DESIGN}\ncomb primitive own(in: 1) -> (out: 1) {{ assign out = in; }}"),
    );
    let mut agent = Agent::new(&workshop);
    for tool in ["petal_run", "petal_advise", "petal_whatif", "petal_synth"] {
        for design in ["parts.futil", "inline.futil"] {
            let said = agent.fails(tool, json!({ "design": design }));
            tells(&said, &[design, "Verilog of its own"]);
        }
    }
}

#[test]
fn a_call_is_cancelled_while_others_go_on() {
    let workshop = Workshop::endless();
    let mut agent = Agent::new(&workshop);
    let params = json!({ "name": "petal_run", "arguments": { "design": "design.futil" }, "_meta": { "progressToken": "run" } });
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
        json!({ "name": "petal_run", "arguments": { "design": "design.futil" } }),
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
