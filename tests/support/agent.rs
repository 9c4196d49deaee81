//! A client of `petal mcp`, which a test plays.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::workshop::Workshop;

/// How long a test waits for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client with a server of its own.
pub struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    heard: Receiver<Value>,
    asked: u64,
}

impl Agent {
    /// Starts the server in the folder of the workshop.
    pub fn new(workshop: &Workshop) -> Self {
        let mut command = workshop.command(&["mcp"]);
        let command = command.stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (say, heard) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                // Nothing else is printed.
                let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
                assert_eq!(message["jsonrpc"], "2.0");
                let _ = say.send(message);
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            heard,
            asked: 0,
        }
    }

    /// Writes a line.
    pub fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    /// The next message.
    pub fn hear(&self) -> Value {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }

    /// Whether there is none for some time.
    pub fn hears_nothing(&self, time: Duration) -> bool {
        self.heard.recv_timeout(time).is_err()
    }

    /// Asks something in the version of the protocol that each request says, and gives what the answer is known by.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method });
        request["params"] = params;
        let meta = &mut request["params"]["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        self.write(&request.to_string());
        self.asked
    }

    /// Asks, and gives the whole answer.
    pub fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool, and gives its result.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": name });
        params["arguments"] = arguments;
        let mut answer = self.answer("tools/call", params);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// Calls a tool, which works, and gives its text and its structured content.
    pub fn gets(&mut self, name: &str, arguments: Value) -> (String, Value) {
        let mut result = self.call(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["structuredContent"].take())
    }

    /// Calls a tool, which fails, and gives what it says.
    pub fn fails(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result.get("structuredContent"), None);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Says no more, and waits until the server has ended.
    pub fn leaves(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
