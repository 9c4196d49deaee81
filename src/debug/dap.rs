//! `petal debug --dap`: the debugger for editors, by the Debug Adapter Protocol over standard input and output.
//!
//! Owns the protocol: what is asked, how it is answered, and what the editor hears of each stop. An arm of a `par` is a thread, the call tree
//! above it is its stack.

mod breakpoints;
mod moves;
mod sources;
mod stack;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use petal_debug::{DesignFile, Place, Session, Stop, Thread};
use petal_profile::{Error, Profile};
use petal_reconstruct::InstanceId;
use serde_json::{Value, json};

use self::breakpoints::Kind;
use self::sources::Sources;
use crate::frames;
use crate::streams;

/// What a reference of the editor leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Variables {
    /// The registers and memories of a component cell.
    Cell(InstanceId),
    /// The words of a memory of one.
    Memory(InstanceId, String),
}

/// A run that is debugged.
struct Debugged {
    session: Session,
    sources: Sources,
    /// What each breakpoint of the session is to the editor, and where it is from.
    breakpoints: HashMap<usize, (Kind, String)>,
    /// The number of each thread.
    threads: Vec<(Vec<(InstanceId, petal_metadata::ThreadId)>, usize)>,
    /// What references lead to, until the next stop.
    variables: Vec<Variables>,
    stops_on_entry: bool,
    /// Whether frames stand in the front end's files, where they have a line there.
    in_front_end: bool,
}

/// The editor, and what is debugged for it.
struct Server {
    output: File,
    said: u64,
    /// What the first line of a file is called.
    first_line: u32,
    design: DesignFile,
    debugged: Option<Debugged>,
    /// Where a move ended, and why it was made: told after the answer.
    waiting: Option<(&'static str, Stop)>,
}

/// What an answer has, or why there is none.
type Answer = Result<Value, Error>;

/// Serves an editor until it leaves. `design` is what the command line tells of designs.
pub fn serve(design: &DesignFile) -> Result<(), Error> {
    if streams::is_called() {
        return Err(Error::usage(
            "`petal debug --dap` speaks over the standard streams of a process: start one",
        ));
    }
    let mut server = Server {
        output: streams::own_output()?,
        said: 0,
        first_line: 1,
        design: design.clone(),
        debugged: None,
        waiting: None,
    };
    let mut input = io::stdin().lock();
    let lost = |error| Error::new(format!("cannot understand the editor: {error}"));
    while let Some(message) = frames::read(&mut input).map_err(lost)? {
        let message: Value = serde_json::from_slice(&message)
            .map_err(|error| Error::new(format!("cannot understand the editor: {error}")))?;
        if message["type"] == "request" && !server.hear(&message) {
            break;
        }
    }
    Ok(())
}

impl Server {
    /// Answers a request; whether more may come.
    fn hear(&mut self, message: &Value) -> bool {
        let command = message["command"].as_str().unwrap_or_default();
        let arguments = &message["arguments"];
        let serve = AssertUnwindSafe(|| self.answer(command, arguments));
        let answer = catch_unwind(serve).unwrap_or_else(|_| {
            Err(Error::new(
                "petal panicked, which is a bug; standard error has more",
            ))
        });
        let is_done = answer.is_ok();
        let mut response = json!({
            "type": "response",
            "request_seq": message["seq"],
            "command": command,
            "success": is_done,
        });
        match answer {
            Ok(Value::Null) => {}
            Ok(body) => response["body"] = body,
            Err(error) => {
                let text = error.to_string();
                // Braces would stand for variables.
                let format = text.replace('{', "(").replace('}', ")");
                response["message"] = json!(text);
                response["body"] =
                    json!({ "error": { "id": 1, "format": format, "showUser": true } });
            }
        }
        self.say(response);
        if is_done {
            self.follow(command);
        }
        !matches!(command, "disconnect" | "terminate")
    }

    /// Tells what follows from a request that was answered.
    fn follow(&mut self, command: &str) {
        if let Some((reason, stop)) = self.waiting.take() {
            self.stopped(reason, &stop);
        }
        match command {
            "launch" | "attach" => self.tell("initialized", json!({})),
            "configurationDone" => {
                let Some(debugged) = &mut self.debugged else {
                    return;
                };
                if debugged.stops_on_entry {
                    let stop = debugged.session.step(0);
                    self.stopped("entry", &stop);
                } else {
                    let stop = debugged.session.resume();
                    self.stopped("breakpoint", &stop);
                }
            }
            "disconnect" | "terminate" => self.tell("terminated", json!({})),
            _ => {}
        }
    }

    fn say(&mut self, mut message: Value) {
        self.said += 1;
        message["seq"] = json!(self.said);
        // An editor that is gone ends the input, too.
        let _ = frames::write(&mut self.output, &message.to_string());
    }

    fn tell(&mut self, event: &str, body: Value) {
        let mut message = json!({ "type": "event", "event": event });
        message["body"] = body;
        self.say(message);
    }

    /// Tells where a move ended. `reason`: why, if no breakpoint is there.
    fn stopped(&mut self, reason: &str, stop: &Stop) {
        let Some(debugged) = &mut self.debugged else {
            return;
        };
        debugged.variables.clear();
        let hits: Vec<usize> = stop.hits.iter().map(|hit| hit.number).collect();
        let kind = hits
            .first()
            .and_then(|first| debugged.breakpoints.get(first));
        let reason = match (kind, stop.place) {
            (Some((kind, _)), _) => kind.reason(),
            (None, Place::Wanted) if reason == "breakpoint" => "pause",
            (None, Place::Wanted) => reason,
            (None, Place::First | Place::Last) => "pause",
        };
        let class = debugged.session.class();
        let end = match stop.place {
            Place::First => ", where the run begins",
            Place::Last => ", where the run ends",
            Place::Wanted => "",
        };
        let mut text = format!("cycle {}{end}: {class}", stop.cycle);
        for hit in &stop.hits {
            for written in &hit.written {
                text = format!("{text}; {}", super::text::change(&hit.text, written));
            }
        }
        let first = debugged.session.threads().into_iter().next();
        let thread = first.map_or(1, |thread| debugged.thread_id(&thread));
        let body = json!({
            "reason": reason,
            "description": text,
            "text": text,
            "threadId": thread,
            "allThreadsStopped": true,
            "hitBreakpointIds": hits,
        });
        self.tell("stopped", body);
    }

    fn answer(&mut self, command: &str, arguments: &Value) -> Answer {
        match command {
            "initialize" => {
                let begins = arguments["linesStartAt1"].as_bool().unwrap_or(true);
                self.first_line = u32::from(begins);
                Ok(capabilities())
            }
            "launch" | "attach" => self.launch(arguments),
            "disconnect" | "terminate" | "setExceptionBreakpoints" => Ok(Value::Null),
            _ => self.of_run(command, arguments),
        }
    }

    /// Opens the profile that is to be debugged.
    fn launch(&mut self, arguments: &Value) -> Answer {
        let path = |name: &str| arguments[name].as_str().map(PathBuf::from);
        let list = |name: &str| {
            let all = arguments[name].as_array().into_iter().flatten();
            all.filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let dir = path("program").ok_or_else(|| {
            Error::usage(
                "`program` is missing: the folder that `petal run` wrote, such as petal-out/design",
            )
        })?;
        let mut design = self.design.clone();
        design.file = path("design").or(design.file);
        design.data = path("data").or(design.data);
        design
            .libraries
            .extend(list("libraries").into_iter().map(PathBuf::from));
        design.pass_options.extend(list("passOptions"));
        let sources = Sources::new(design.file.clone());
        let session = Session::new(Profile::open(dir)?, design)?;
        self.debugged = Some(Debugged {
            session,
            sources,
            breakpoints: HashMap::new(),
            threads: Vec::new(),
            variables: Vec::new(),
            stops_on_entry: arguments["stopOnEntry"].as_bool().unwrap_or(true),
            in_front_end: arguments["frontEnd"].as_bool().unwrap_or(false),
        });
        Ok(Value::Null)
    }

    /// Answers what is asked of the run.
    fn of_run(&mut self, command: &str, arguments: &Value) -> Answer {
        let first_line = self.first_line;
        let debugged = self.debugged.as_mut();
        let debugged = debugged.ok_or_else(|| Error::usage("`launch` comes first"))?;
        match command {
            "configurationDone" => Ok(Value::Null),
            "setBreakpoints" => debugged.set_breakpoints(arguments, first_line),
            "setFunctionBreakpoints" => Ok(debugged.set_function_breakpoints(arguments)),
            "dataBreakpointInfo" => Ok(debugged.data_breakpoint_info(arguments)),
            "setDataBreakpoints" => Ok(debugged.set_data_breakpoints(arguments)),
            "threads" => Ok(debugged.list_threads()),
            "stackTrace" => Ok(debugged.stack_trace(arguments, first_line)),
            "scopes" => Ok(debugged.scopes(arguments)),
            "variables" => debugged.list_variables(arguments),
            "source" => debugged.source(arguments),
            "evaluate" => self.evaluate(arguments),
            _ => self.go(command),
        }
    }
}

impl Debugged {
    /// The number of a thread, which is the same whenever it runs.
    fn thread_id(&mut self, thread: &Thread) -> usize {
        let known = self.threads.iter().position(|key| *key == thread.key);
        let at = known.unwrap_or_else(|| {
            self.threads.push(thread.key.clone());
            self.threads.len() - 1
        });
        at + 1
    }
}

/// What the server can do.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsTerminateRequest": true,
    })
}
