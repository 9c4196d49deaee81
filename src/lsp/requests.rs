//! What a client asks for and tells, and who answers it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::client::Abilities;
use super::commands::COMMANDS;
use super::document::{self, Document, View};
use super::parameters::{lines, position, text};
use super::{Server, Stage, actions, calls, hints, hover};
use crate::json_rpc::{self, Problem};

/// Nobody has said `initialize` yet.
const NOT_INITIALIZED: i64 = -32002;

impl Server {
    /// Answers a request; `None` if its answer comes later.
    pub(super) fn serve(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
    ) -> Result<Option<Value>, Problem> {
        match (self.stage, method) {
            (Stage::Begin, "initialize") => {
                json_rpc::object(params)?;
                return Ok(Some(self.initialize(params)));
            }
            (Stage::Begin, _) => {
                return Err(Problem::new(NOT_INITIALIZED, "begin with `initialize`"));
            }
            (Stage::ShutDown, _) => return Err(Problem::request("the server is shut down")),
            (Stage::Open, "initialize") => {
                return Err(Problem::request("the server is initialized already"));
            }
            (Stage::Open, _) => {}
        }
        let encoding = self.abilities.encoding;
        Ok(Some(match method {
            "shutdown" => {
                json_rpc::object(params)?;
                self.stage = Stage::ShutDown;
                Value::Null
            }
            "textDocument/inlayHint" => match self.document(params)? {
                Some(of) => hints::hints(of, lines(params)?, &self.settings, encoding),
                None => json!([]),
            },
            "textDocument/hover" => {
                let at = position(params, "/position")?;
                let of = self.document(params)?;
                of.map_or(Value::Null, |of| hover::hover(of, at, encoding))
            }
            "textDocument/codeLens" => {
                let of = self.document(params)?;
                of.map_or(json!([]), |of| hints::lenses(of, &self.settings))
            }
            "textDocument/codeAction" => match self.document(params)? {
                Some(of) => actions::actions(of, lines(params)?, params, self.abilities),
                None => json!([]),
            },
            "textDocument/prepareCallHierarchy" => {
                let at = position(params, "/position")?;
                let of = self.document(params)?;
                of.map_or(Value::Null, |of| calls::prepare(of, at.0, encoding))
            }
            "callHierarchy/incomingCalls" => calls::incoming(&self.documents, params, encoding)?,
            "callHierarchy/outgoingCalls" => calls::outgoing(&self.documents, params, encoding)?,
            "workspace/executeCommand" => return self.execute(id, params),
            _ => return Err(Problem::method(method)),
        }))
    }

    /// The document that a request is about, if it is a file that is open.
    fn document(&self, params: &Value) -> Result<Option<&Document>, Problem> {
        Ok(self.documents.get(text(params, "/textDocument/uri")?))
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.abilities = Abilities::new(params);
        self.stage = Stage::Open;
        if let Some(said) = params.get("initializationOptions") {
            self.set(said);
        }
        let folders = params.get("workspaceFolders").and_then(Value::as_array);
        let folders = folders.into_iter().flatten();
        let uris = folders.filter_map(|folder| folder["uri"].as_str());
        self.folders = uris.filter_map(document::path).collect();
        if self.folders.is_empty() {
            let root = params.get("rootUri").and_then(Value::as_str);
            self.folders.extend(root.and_then(document::path));
        }
        self.look();
        json!({
            "serverInfo": { "name": "petal", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "positionEncoding": self.abilities.encoding.name(),
                "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
                "inlayHintProvider": true,
                "hoverProvider": true,
                "codeLensProvider": { "resolveProvider": false },
                "codeActionProvider": { "codeActionKinds": actions::KINDS },
                "callHierarchyProvider": true,
                "executeCommandProvider": { "commands": COMMANDS, "workDoneProgress": true },
                "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
            },
        })
    }

    /// Hears what the client tells. What makes no sense changes nothing.
    pub(super) fn notice(&mut self, method: &str, params: &Value) {
        if self.stage != Stage::Open {
            return;
        }
        let uri = text(params, "/textDocument/uri").unwrap_or_default();
        match method {
            "initialized" => self.watch(),
            "textDocument/didOpen" => {
                let version = params.pointer("/textDocument/version");
                let version = version.cloned().unwrap_or_default();
                let text = text(params, "/textDocument/text").ok();
                if let Some(document) = text.and_then(|text| Document::new(uri, version, text)) {
                    self.documents.insert(uri.to_owned(), document);
                    self.look();
                    self.update();
                }
            }
            "textDocument/didChange" => self.change(uri, params),
            "textDocument/didSave" => {
                if let Some(document) = self.documents.get_mut(uri) {
                    document.text.keep(document.text.digest());
                    self.look();
                }
            }
            "textDocument/didClose" => self.close(uri),
            "workspace/didChangeConfiguration" => {
                if let Some(said) = params.get("settings") {
                    self.set(said);
                    self.refresh();
                    self.diagnose();
                }
            }
            "workspace/didChangeWatchedFiles" => self.look(),
            "workspace/didChangeWorkspaceFolders" => {
                let folders = |name: &str| {
                    let folders = params.pointer(&format!("/event/{name}"));
                    let folders = folders.and_then(Value::as_array).into_iter().flatten();
                    let uris = folders.filter_map(|folder| folder["uri"].as_str());
                    uris.filter_map(document::path).collect::<Vec<_>>()
                };
                let removed = folders("removed");
                self.folders.retain(|folder| !removed.contains(folder));
                self.folders.extend(folders("added"));
                self.look();
            }
            "$/cancelRequest" => self.tasks.cancel(params.get("id")),
            "window/workDoneProgress/cancel" => self.tasks.cancel_progress(params.get("token")),
            _ => {}
        }
    }

    /// Has the client tell when a profile is written; without that, the finder sees it, too.
    fn watch(&self) {
        if self.abilities.watches_files {
            let options = json!({ "watchers": [{ "globPattern": "**/summary.json" }] });
            let watching = json!({
                "id": "petal-profiles",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": options,
            });
            let params = json!({ "registrations": [watching] });
            self.client.ask("client/registerCapability", params);
        }
    }

    /// Forgets a document, and what was told of it.
    fn close(&mut self, uri: &str) {
        self.documents.remove(uri);
        if self.told.remove(uri).is_some() {
            let params = json!({ "uri": uri, "diagnostics": [] });
            self.client
                .notify("textDocument/publishDiagnostics", params);
        }
    }

    /// Takes in edits, and shows the figures of the lines that are left.
    fn change(&mut self, uri: &str, params: &Value) {
        let Some(document) = self.documents.get_mut(uri) else {
            return;
        };
        let changes = params.get("contentChanges").and_then(Value::as_array);
        for change in changes.into_iter().flatten() {
            let Some(new) = change.get("text").and_then(Value::as_str) else {
                continue;
            };
            let from = position(change, "/range/start").ok();
            match from.zip(position(change, "/range/end").ok()) {
                Some((from, to)) => {
                    document.text.edit([from, to], new, self.abilities.encoding);
                }
                None => document.text.set(new),
            }
        }
        document.text.remember();
        if let Some(version) = params.pointer("/textDocument/version") {
            document.version = version.clone();
        }
        if let Some(View {
            figures, digest, ..
        }) = document.view.take()
        {
            document.show(&Arc::clone(&figures), digest);
        }
        self.update();
    }
}
