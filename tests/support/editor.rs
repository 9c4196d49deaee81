//! An editor with `petal lsp`, which a test plays.

use std::process::ExitStatus;

use serde_json::{Value, json};

use super::framed::Framed;
use super::workshop::Workshop;

/// An editor with a server of its own.
pub struct Editor {
    server: Framed,
    /// What the server said that nobody waited for.
    aside: Vec<Value>,
    asked: u64,
    folder: String,
}

impl Editor {
    /// Starts the server in the folder of the workshop, and says nothing.
    pub fn silent(workshop: &Workshop) -> Self {
        let folder = workshop.dir.path().canonicalize().unwrap();
        Self {
            server: Framed::new(workshop, &["lsp"]),
            aside: Vec::new(),
            asked: 0,
            folder: format!("file://{}", folder.display()),
        }
    }

    /// Starts it, for an editor that can do much.
    pub fn new(workshop: &Workshop) -> Self {
        Self::with(workshop, json!({}))
    }

    /// The same with settings.
    pub fn with(workshop: &Workshop, settings: Value) -> Self {
        let mut editor = Self::silent(workshop);
        let mut params = json!({
            "processId": null,
            "rootUri": editor.folder,
            "workspaceFolders": [{ "uri": editor.folder, "name": "here" }],
            "capabilities": {
                "general": { "positionEncodings": ["utf-8", "utf-16"] },
                "window": { "workDoneProgress": true, "showDocument": { "support": true } },
                "workspace": {
                    "inlayHint": { "refreshSupport": true },
                    "codeLens": { "refreshSupport": true },
                    "workspaceEdit": { "documentChanges": true },
                    "didChangeWatchedFiles": { "dynamicRegistration": true },
                },
            },
        });
        params["initializationOptions"] = settings;
        let server = editor.gets("initialize", params);
        assert_eq!(server["capabilities"]["positionEncoding"], "utf-8");
        editor.tell("initialized", json!({}));
        editor
    }

    /// Writes what may be no message.
    pub fn write(&mut self, bytes: &[u8]) {
        self.server.write(bytes);
    }

    /// Writes the text of a message.
    pub fn say(&mut self, message: &str) {
        self.server.say(message);
    }

    /// Tells the server something.
    pub fn tell(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        message["params"] = params;
        self.say(&message.to_string());
    }

    /// Asks something, and gives what the answer is known by.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method });
        message["params"] = params;
        self.say(&message.to_string());
        self.asked
    }

    /// The next message for which this holds.
    pub fn hears(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&is_it) {
            return self.aside.remove(at);
        }
        loop {
            let message = self.server.hear();
            assert_eq!(message["jsonrpc"], "2.0");
            if is_it(&message) {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// The parameters of the next message with this method.
    pub fn told(&mut self, method: &str) -> Value {
        self.hears(|message| message["method"] == method)["params"].take()
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        self.hears(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Asks something, and gives the result.
    pub fn gets(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Asks something, which fails, and gives the error.
    pub fn fails(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("error").is_some(), "{method}: {answer}");
        answer["error"].take()
    }

    /// The URI of a file.
    pub fn uri(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// The same as parameters.
    pub fn of(&self, name: &str) -> Value {
        json!({ "textDocument": { "uri": self.uri(name) } })
    }

    /// Opens a document.
    pub fn open(&mut self, name: &str, text: &str) {
        let document =
            json!({ "uri": self.uri(name), "languageId": "calyx", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Opens a document, and waits until the figures of a profile are shown.
    pub fn shows(&mut self, name: &str, text: &str) {
        self.open(name, text);
        self.told("workspace/inlayHint/refresh");
    }

    /// Puts a text in the place of another: lines and characters, from 0.
    pub fn edit(&mut self, name: &str, [from, to]: [(u32, u32); 2], text: &str) {
        let [start, end] = [from, to].map(|(line, at)| json!({ "line": line, "character": at }));
        let change = json!({ "range": { "start": start, "end": end }, "text": text });
        let document = json!({ "uri": self.uri(name), "version": 2 });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.tell("textDocument/didChange", params);
    }

    /// The hints of a document: line, counted from 1, and label.
    pub fn hints(&mut self, name: &str) -> Vec<(u64, String)> {
        let mut params = self.of(name);
        params["range"] = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 100_000, "character": 0 } });
        let hints = self.gets("textDocument/inlayHint", params);
        let hint = |hint: &Value| {
            let line = hint["position"]["line"].as_u64().unwrap() + 1;
            (line, hint["label"].as_str().unwrap().to_owned())
        };
        hints.as_array().unwrap().iter().map(hint).collect()
    }

    /// Asks something at a place: a line from 1, and a character from 0.
    pub fn at(&mut self, method: &str, name: &str, (line, character): (u64, u64)) -> Value {
        let mut params = self.of(name);
        params["position"] = json!({ "line": line - 1, "character": character });
        self.gets(method, params)
    }

    /// The code actions on a line, from 1.
    pub fn actions(&mut self, name: &str, line: u64) -> Vec<Value> {
        let place = json!({ "line": line - 1, "character": 0 });
        let mut params = self.of(name);
        params["range"] = json!({ "start": place, "end": place });
        params["context"] = json!({ "diagnostics": [] });
        let mut actions = self.gets("textDocument/codeAction", params);
        std::mem::take(actions.as_array_mut().unwrap())
    }

    /// The parameters of a command on a line of a document, from 1.
    pub fn command(&self, command: &str, name: &str, line: u64) -> Value {
        json!({ "command": command, "arguments": [self.uri(name), line - 1] })
    }

    /// Says no more, and waits until the server has ended.
    pub fn leaves(mut self) -> ExitStatus {
        self.server.leave()
    }
}
