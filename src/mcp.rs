//! `petal mcp`: petal's tools for agents, by the Model Context Protocol over standard input and output.
//!
//! Owns the lines that come and go, and which calls are under way. What a tool does, the command does.

mod parameters;
mod place;
mod protocol;
mod rows;
mod tools;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use petal_profile::{Error, interrupt};
use serde_json::{Map, Value, json};

use self::place::Place;
use self::protocol::{BY_HANDSHAKE, BY_REQUEST, Version};
use self::tools::{Tool, failed};
use crate::json_rpc::{self, Message, Problem, Request};
use crate::streams::{self, Interrupt};

/// How long to wait between looks whether somebody asked the process to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long a call goes on before its client hears that it does, each time.
const BETWEEN: Duration = Duration::from_secs(1);

const INSTRUCTIONS: &str = "\
petal tells where the clock cycles of a Calyx design (.futil) go, by statement, and what to change. Begin with \
petal_run; petal_hotspots and petal_annotate tell what costs, petal_whatif what it would save, petal_advise which \
edits save cycles, as patches for you to apply; then petal_run again, and petal_compare with `last`. All paths are \
below the folder that the server was started in. petal_explain tells what a word means.";

/// `petal mcp`
pub fn mcp() -> Result<(), Error> {
    if streams::is_called() {
        return Err(Error::usage(
            "`petal mcp` speaks over the standard streams of a process: start one",
        ));
    }
    let server = Server {
        place: Place::here()?,
        tools: tools::all(),
        output: Mutex::new(streams::own_output()?),
        running: Mutex::default(),
        is_agreed: AtomicBool::new(false),
    };
    let (lines, heard) = mpsc::channel();
    // It waits for lines until the process ends.
    thread::spawn(move || {
        let lines_heard = io::stdin().lock().split(b'\n').map_while(Result::ok);
        for line in lines_heard {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    thread::scope(|scope| {
        while !interrupt::is_requested() {
            match heard.recv_timeout(PATIENCE) {
                Ok(line) => server.hear(&line, scope),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        server.stop_all();
    });
    interrupt::check()
}

struct Server {
    place: Place,
    tools: Vec<Tool>,
    output: Mutex<File>,
    /// The calls that are under way, by what their answers are known by.
    running: Mutex<HashMap<String, Interrupt>>,
    /// Whether a client has said `initialize`.
    is_agreed: AtomicBool,
}

impl Server {
    /// Does what a line asks for; a call goes on meanwhile.
    fn hear<'a>(&'a self, line: &[u8], scope: &'a Scope<'a, '_>) {
        match json_rpc::message(line) {
            Err(answer) => self.say(&answer),
            Ok(None) => {}
            Ok(Some(Message::Notification { method, params })) => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                    && let Some(interrupt) = self.running().remove(&id.to_string())
                {
                    interrupt.request();
                }
            }
            Ok(Some(Message::Request(request))) => {
                if let Err(problem) = self.serve(&request, scope) {
                    self.say(&problem.answer(&request.id));
                }
            }
        }
    }

    fn serve<'a>(&'a self, request: &Request, scope: &'a Scope<'a, '_>) -> Result<(), Problem> {
        let Request { id, method, params } = request;
        let params = json_rpc::object(params);
        if method == "initialize" {
            return self.initialize(id, params?);
        }
        let version = match &params {
            Ok(params) => Version::of(params)?,
            Err(_) => Version::ByHandshake,
        };
        let is_handshake = version == Version::ByHandshake;
        match &**method {
            "ping" if is_handshake => {
                params?;
                self.say(&version.answer(id, json!({})));
                return Ok(());
            }
            "server/discover" if !is_handshake => {
                let server = json!({
                    "supportedVersions": [BY_REQUEST],
                    "capabilities": { "tools": {} },
                    "instructions": INSTRUCTIONS,
                });
                self.say(&version.lasting_answer(id, server));
                return Ok(());
            }
            "tools/list" | "tools/call" => {}
            _ => return Err(Problem::method(method)),
        }
        let params = params?;
        if is_handshake && !self.is_agreed.load(Ordering::Relaxed) {
            return Err(Problem::request(format!(
                "begin with `initialize` ({BY_HANDSHAKE}), or say the version of the protocol in the `_meta` of each request ({BY_REQUEST})"
            )));
        }
        if method == "tools/list" {
            if params.contains_key("cursor") {
                return Err(Problem::params("all tools are on one page"));
            }
            let tools: Vec<Value> = self.tools.iter().map(Tool::declaration).collect();
            self.say(&version.lasting_answer(id, json!({ "tools": tools })));
            return Ok(());
        }
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Problem::params("`name` is no text"))?;
        let tool = self.tools.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| Problem::params(format!("there is no tool `{name}`")))?;
        let values = match params.get("arguments") {
            None => Map::new(),
            Some(Value::Object(values)) => values.clone(),
            Some(_) => return Err(Problem::params("`arguments` is no object")),
        };
        let interrupt = Interrupt::default();
        let id = id.clone();
        if self.running().contains_key(&id.to_string()) {
            return Err(Problem::request("a call with this `id` is under way"));
        }
        self.running().insert(id.to_string(), interrupt.clone());
        let token = protocol::progress_token(params);
        scope.spawn(move || {
            let call = || tool.call(&values, &self.place, &interrupt);
            let result = self.while_telling(token.as_ref(), tool.name, || {
                catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
                    failed("petal panicked, which is a bug; standard error has more")
                })
            });
            // Of a call that was cancelled, nobody wants to hear.
            if self.running().remove(&id.to_string()).is_some() {
                self.say(&version.answer(&id, result));
            }
        });
        Ok(())
    }

    /// Agrees on the version in which the client does not say it in each request: if it wants another one, it is told which there is.
    fn initialize(&self, id: &Value, params: &Map<String, Value>) -> Result<(), Problem> {
        if !params.get("protocolVersion").is_some_and(Value::is_string) {
            return Err(Problem::params("`protocolVersion` is no text"));
        }
        self.is_agreed.store(true, Ordering::Relaxed);
        let server = json!({
            "protocolVersion": BY_HANDSHAKE,
            "capabilities": { "tools": {} },
            "serverInfo": protocol::server(),
            "instructions": INSTRUCTIONS,
        });
        self.say(&Version::ByHandshake.answer(id, server));
        Ok(())
    }

    /// Does it, and tells meanwhile how long it takes, if the client wants to know.
    fn while_telling<T>(&self, token: Option<&Value>, name: &str, act: impl FnOnce() -> T) -> T {
        let Some(token) = token else {
            return act();
        };
        let (done, waited_for) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let begin = Instant::now();
                while waited_for.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                    let seconds = begin.elapsed().as_secs();
                    let message = format!("{name}: {seconds} s");
                    self.say(&protocol::progress(token, seconds, &message));
                }
            });
            let done_with = act();
            drop(done);
            done_with
        })
    }

    /// Asks all calls to stop. Nobody hears of them any more.
    fn stop_all(&self) {
        let running = std::mem::take(&mut *self.running());
        running.values().for_each(Interrupt::request);
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, Interrupt>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a message. A client that is gone ends the input, too.
    fn say(&self, message: &Value) {
        let line = format!("{message}\n");
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output.write_all(line.as_bytes());
    }
}
