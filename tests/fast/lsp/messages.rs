//! What is no message of the protocol, and what comes at the wrong time.

use serde_json::{Value, json};

use crate::support::editor::Editor;
use crate::support::workshop::{DESIGN, Workshop};

#[test]
fn a_server_begins_and_ends_as_the_protocol_has_it() {
    let workshop = Workshop::empty();
    let mut editor = Editor::silent(&workshop);
    let error = editor.fails("textDocument/hover", json!({}));
    assert_eq!(error["code"], -32002);
    editor.tell("textDocument/didOpen", json!({}));
    // An old editor, which can do nothing.
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    let server = editor.gets("initialize", params.clone());
    assert_eq!(server["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(server["serverInfo"]["name"], "petal");
    assert_eq!(editor.fails("initialize", params)["code"], -32600);
    editor.say(r#"{"jsonrpc": "2.0", "id": "end", "method": "shutdown", "params": null}"#);
    let end = editor.hears(|message| message["id"] == "end");
    assert_eq!(end["result"], Value::Null);
    assert_eq!(editor.fails("shutdown", json!({}))["code"], -32600);
    editor.tell("exit", Value::Null);
    assert!(editor.leaves().success());
    // Who leaves without a word ends it too; `exit` alone is a mistake.
    assert!(Editor::new(&workshop).leaves().success());
    let mut editor = Editor::new(&workshop);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.leaves().code(), Some(1));
}

#[test]
fn what_is_no_message_has_an_error_as_its_answer() {
    let workshop = Workshop::new();
    let mut editor = Editor::new(&workshop);
    for (text, code, id) in [
        ("{", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("{}", -32600, json!(null)),
        (
            r#"{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 77, "method": "shutdown", "params": [1]}"#,
            -32602,
            json!(77),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "x", "method": "textDocument/nothing"}"#,
            -32601,
            json!("x"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "x", "method": "textDocument/nothing", "params": [1]}"#,
            -32601,
            json!("x"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "x", "method": "textDocument/hover", "params": [1]}"#,
            -32602,
            json!("x"),
        ),
    ] {
        editor.say(text);
        let answer = editor.hears(|message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], code, "{text}");
        assert_eq!(answer["id"], id, "{text}");
    }
    // Answers to questions that it has asked, or not.
    editor.say(r#"{"jsonrpc": "2.0", "id": "petal-0", "result": null}"#);
    editor.say(r#"{"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "no"}}"#);
    let of = editor.of("design.futil");
    assert_eq!(editor.gets("textDocument/codeLens", of), json!([]));
}

#[test]
fn what_can_t_be_understood_any_more_ends_it() {
    for text in [
        "hello\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
    ] {
        let workshop = Workshop::empty();
        let mut editor = Editor::new(&workshop);
        editor.write(text.as_bytes());
        assert_eq!(editor.leaves().code(), Some(1));
    }
}

#[test]
fn odd_parameters_change_nothing() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "-q"]);
    let mut editor = Editor::new(&workshop);
    editor.shows("design.futil", DESIGN);
    let uri = editor.uri("design.futil");
    let hints = editor.hints("design.futil");
    let values = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!("x"),
        json!([[]]),
        json!({ "uri": 3 }),
        json!({ "uri": "file:///%zz" }),
        json!({ "uri": uri }),
        json!({ "start": { "line": 9e15, "character": -3 }, "end": 7 }),
        json!({ "start": { "line": 18_446_744_073_709_551_615_u64, "character": 9 }, "end": { "line": 0, "character": 0 } }),
    ];
    let requests = [
        "textDocument/inlayHint",
        "textDocument/hover",
        "textDocument/codeLens",
        "textDocument/codeAction",
        "textDocument/prepareCallHierarchy",
        "callHierarchy/incomingCalls",
        "callHierarchy/outgoingCalls",
        "workspace/executeCommand",
    ];
    let names = [
        "textDocument",
        "range",
        "position",
        "item",
        "context",
        "command",
        "arguments",
    ];
    for name in names {
        for value in &values {
            let mut params = json!({
                "textDocument": { "uri": uri },
                "position": { "line": 1, "character": 1 },
                "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } },
                "item": { "uri": uri, "name": "x", "data": 0 },
                "command": "petal.nextHotspot",
                "arguments": [uri],
            });
            params[name] = value.clone();
            for request in requests {
                let id = editor.ask(request, params.clone());
                let answer = editor.answer(id);
                let code = answer["error"]["code"].as_i64();
                assert!(
                    [None, Some(-32602), Some(-32803)].contains(&code),
                    "{request} {params}: {answer}"
                );
            }
        }
    }
    for value in &values {
        for notice in [
            "textDocument/didOpen",
            "textDocument/didSave",
            "textDocument/didChange",
            "workspace/didChangeConfiguration",
            "workspace/didChangeWatchedFiles",
            "workspace/didChangeWorkspaceFolders",
            "$/cancelRequest",
            "window/workDoneProgress/cancel",
            "$/setTrace",
            "nothing",
        ] {
            for name in [
                "textDocument",
                "contentChanges",
                "settings",
                "event",
                "id",
                "token",
            ] {
                editor.tell(notice, json!({ name: value }));
            }
        }
        let change = json!([{ "range": value, "text": 3 }, 5]);
        editor.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri }, "contentChanges": change }),
        );
    }
    assert_eq!(editor.hints("design.futil"), hints);
    editor.edit("design.futil", [(90, 90), (3, 3)], "\n");
    editor.edit("design.futil", [(0, 0), (999, 999)], "");
    assert_eq!(editor.hints("design.futil"), []);
}
