//! Both versions of the protocol, and what is no message of it.

use serde_json::{Value, json};

use crate::support::agent::Agent;
use crate::support::workshop::Workshop;

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
            r#"{"jsonrpc": "2.0", "id": "a", "method": "resources/list", "params": []}"#,
            -32601,
            json!("a"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": "x"}"#,
            -32602,
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
