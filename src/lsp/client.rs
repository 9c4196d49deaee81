//! The client: what it can do, and what it is told.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::text::Encoding;
use crate::frames;
use crate::json_rpc;

/// What a client can do.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a capability of the protocol"
)]
pub struct Abilities {
    /// In what it counts characters.
    pub encoding: Encoding,
    /// Whether it asks for hints, and for lenses, again if it is told to.
    pub refreshes_hints: bool,
    /// See there.
    pub refreshes_lenses: bool,
    /// Whether it shows progress that nobody asked it for.
    pub shows_progress: bool,
    /// Whether it opens documents and pages.
    pub shows_documents: bool,
    /// Whether edits may tell which version of a document they are of.
    pub knows_versions: bool,
    /// Whether it watches files.
    pub watches_files: bool,
}

impl Abilities {
    /// Those that `initialize` tells of.
    pub fn new(params: &Value) -> Self {
        let has = |path: &str| {
            let ability = params.pointer(&format!("/capabilities/{path}"));
            ability.and_then(Value::as_bool).unwrap_or(false)
        };
        let encodings = params.pointer("/capabilities/general/positionEncodings");
        let encodings = encodings.and_then(Value::as_array);
        let is_utf8 = encodings.is_some_and(|all| all.iter().any(|name| name == "utf-8"));
        Self {
            encoding: if is_utf8 {
                Encoding::Utf8
            } else {
                Encoding::Utf16
            },
            refreshes_hints: has("workspace/inlayHint/refreshSupport"),
            refreshes_lenses: has("workspace/codeLens/refreshSupport"),
            shows_progress: has("window/workDoneProgress"),
            shows_documents: has("window/showDocument/support"),
            knows_versions: has("workspace/workspaceEdit/documentChanges"),
            watches_files: has("workspace/didChangeWatchedFiles/dynamicRegistration"),
        }
    }
}

/// How much a message matters, in the protocol's numbers.
#[derive(Debug, Clone, Copy)]
pub enum Level {
    /// Something may be wrong.
    Warning = 2,
    /// Nothing is.
    Info = 3,
}

/// Where the client hears.
#[derive(Debug)]
pub struct Client {
    output: Mutex<File>,
    asked: AtomicU64,
}

impl Client {
    /// It hears what is written to this file.
    pub fn new(output: File) -> Self {
        Self {
            output: Mutex::new(output),
            asked: AtomicU64::new(0),
        }
    }

    /// Writes a message. A client that is gone ends the input, too.
    pub fn say(&self, message: &Value) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = frames::write(&mut *output, &message.to_string());
    }

    /// Answers a request.
    pub fn answer(&self, id: &Value, result: Value) {
        self.say(&json_rpc::answer(id, result));
    }

    /// Tells it something.
    pub fn notify(&self, method: &str, params: Value) {
        self.say(&json_rpc::notification(method, params));
    }

    /// Asks it to do something; whether it does is not heard.
    pub fn ask(&self, method: &str, params: Value) {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut message =
            json!({ "jsonrpc": "2.0", "id": format!("petal-{number}"), "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.say(&message);
    }

    /// Shows the user a message.
    pub fn show(&self, level: Level, message: &str) {
        let params = json!({ "type": level as u8, "message": message });
        self.notify("window/showMessage", params);
    }

    /// Tells how a task comes along.
    pub fn progress(&self, token: &Value, value: Value) {
        let mut params = json!({ "token": token });
        params["value"] = value;
        self.notify("$/progress", params);
    }
}
