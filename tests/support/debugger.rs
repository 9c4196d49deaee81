//! A client of `petal debug --dap`, which a test plays: it knows the Debug Adapter Protocol, and nothing of petal.

use std::process::ExitStatus;

use serde_json::{Value, json};

use super::framed::Framed;
use super::workshop::Workshop;

/// A client with a server of its own.
pub struct Debugger {
    server: Framed,
    asked: u64,
    last_seq: u64,
}

impl Debugger {
    /// Starts the server in the folder of the workshop, and says nothing.
    pub fn new(workshop: &Workshop) -> Self {
        Self {
            server: Framed::new(workshop, &["debug", "--dap"]),
            asked: 0,
            last_seq: 0,
        }
    }

    /// Asks something, and gives the whole response.
    pub fn responds(&mut self, command: &str, arguments: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "seq": self.asked, "type": "request", "command": command });
        message["arguments"] = arguments;
        self.server.say(&message.to_string());
        let response = self.hears();
        assert_eq!(response["type"], "response", "{response}");
        assert_eq!(response["request_seq"], self.asked, "{response}");
        assert_eq!(response["command"], command, "{response}");
        response
    }

    /// The same if it works, and gives its body.
    pub fn asks(&mut self, command: &str, arguments: Value) -> Value {
        let mut response = self.responds(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].take()
    }

    /// The same if it fails, and gives the message.
    pub fn fails(&mut self, command: &str, arguments: Value) -> String {
        let response = self.responds(command, arguments);
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().unwrap().to_owned()
    }

    /// The next message.
    fn hears(&mut self) -> Value {
        let message = self.server.hear();
        let seq = message["seq"].as_u64().unwrap();
        assert!(seq > self.last_seq, "{message}");
        self.last_seq = seq;
        message
    }

    /// The body of the next event, which has this name.
    pub fn event(&mut self, name: &str) -> Value {
        let mut message = self.hears();
        assert_eq!(message["type"], "event", "{message}");
        assert_eq!(message["event"], name, "{message}");
        message["body"].take()
    }

    /// Moves, and gives the event that tells where it stopped.
    pub fn moves(&mut self, command: &str) -> Value {
        self.asks(command, json!({ "threadId": 1 }));
        let stopped = self.event("stopped");
        assert_eq!(stopped["allThreadsStopped"], true);
        stopped
    }

    /// Opens a profile, and stops at its first cycle.
    pub fn opens(&mut self, arguments: Value) {
        let able = self.asks(
            "initialize",
            json!({ "adapterID": "petal", "linesStartAt1": true }),
        );
        for ability in ["supportsStepBack", "supportsDataBreakpoints"] {
            assert_eq!(able[ability], true);
        }
        self.asks("launch", arguments);
        self.event("initialized");
        self.asks("configurationDone", json!({}));
        assert_eq!(self.event("stopped")["reason"], "entry");
    }

    /// Ends the session.
    pub fn leaves(mut self) -> ExitStatus {
        self.asks("disconnect", json!({}));
        self.event("terminated");
        self.server.leave()
    }
}
