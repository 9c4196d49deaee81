//! Commands that take a while: each runs on a thread of its own, tells how long it takes, and can be cancelled.
//!
//! Knows nothing of documents and figures; what is done, the command line does.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use petal_profile::{Error, interrupt};
use serde_json::{Value, json};

use super::client::{Client, Level};
use crate::call::call_until;
use crate::json_rpc::Problem;
use crate::streams::Interrupt;

/// How long to wait between two reports.
const BETWEEN: Duration = Duration::from_secs(1);

/// The protocol's codes of a request that was cancelled, and of one that failed.
const CANCELLED: i64 = -32800;
const FAILED: i64 = -32803;

/// A command, and what is to be done with what it prints.
pub struct Task {
    /// What the client shows while it runs.
    pub title: String,
    /// The words of the command line.
    pub words: Vec<String>,
    /// The result, and what the user hears of it.
    pub result: fn(&str) -> (Value, Option<String>),
    /// The document that it checks, by its URI, and the text of that.
    pub checked: Option<(String, String)>,
}

/// A task that has come to its end, whose request has no answer yet.
pub struct Done {
    id: Value,
    token: Option<Value>,
    checked: Option<(String, String)>,
    outcome: Result<(Value, Option<String>), Problem>,
}

impl Done {
    /// The document that it has checked, the text of that, and what was found.
    pub fn check(&self) -> Option<(&str, &str, &Value)> {
        let (uri, text) = self.checked.as_ref()?;
        let (found, _) = self.outcome.as_ref().ok()?;
        Some((uri, text, found))
    }

    /// Whether it did what it was asked for.
    pub fn is_success(&self) -> bool {
        self.outcome.is_ok()
    }

    /// Answers its request, and tells the user.
    pub fn answer(self, client: &Client) {
        if let Some(token) = &self.token {
            client.progress(token, json!({ "kind": "end" }));
        }
        match self.outcome {
            Ok((result, message)) => {
                client.answer(&self.id, result);
                if let Some(message) = message {
                    client.show(Level::Info, &message);
                }
            }
            Err(problem) => client.say(&problem.answer(&self.id)),
        }
    }
}

struct Running {
    interrupt: Interrupt,
    token: Option<Value>,
    thread: JoinHandle<()>,
}

/// The tasks that are under way, by the requests that began them.
pub struct Tasks {
    client: Arc<Client>,
    end: Arc<dyn Fn(Done) + Send + Sync>,
    running: HashMap<String, Running>,
    begun: u64,
}

impl Tasks {
    /// None; `end` hears when one has come to its end.
    pub fn new(client: Arc<Client>, end: impl Fn(Done) + Send + Sync + 'static) -> Self {
        Self {
            client,
            end: Arc::new(end),
            running: HashMap::new(),
            begun: 0,
        }
    }

    /// Begins one, which answers the request when it is done. It tells how it comes along by this token, or, if the client `shows_progress`,
    /// by one of its own.
    pub fn begin(
        &mut self,
        id: &Value,
        token: Option<&Value>,
        shows_progress: bool,
        task: Task,
    ) -> Result<(), Problem> {
        let key = id.to_string();
        if self.running.contains_key(&key) {
            return Err(Problem::request("a request with this `id` is under way"));
        }
        self.begun += 1;
        let token = token.cloned().or_else(|| {
            let token = Value::from(format!("petal-task-{}", self.begun));
            let params = json!({ "token": token });
            shows_progress.then(|| {
                self.client.ask("window/workDoneProgress/create", params);
                token
            })
        });
        let interrupt = Interrupt::default();
        let (client, end) = (Arc::clone(&self.client), Arc::clone(&self.end));
        let own = (id.clone(), token.clone(), interrupt.clone());
        let thread = thread::spawn(move || {
            let (id, token, interrupt) = own;
            let outcome = run(&client, token.as_ref(), &interrupt, &task);
            end(Done {
                id,
                token,
                checked: task.checked,
                outcome,
            });
        });
        let running = Running {
            interrupt,
            token,
            thread,
        };
        self.running.insert(key, running);
        Ok(())
    }

    /// Forgets one that has come to its end.
    pub fn end(&mut self, done: &Done) {
        if let Some(running) = self.running.remove(&done.id.to_string()) {
            let _ = running.thread.join();
        }
    }

    /// Asks the task of a request to stop.
    pub fn cancel(&self, id: Option<&Value>) {
        if let Some(running) = id.and_then(|id| self.running.get(&id.to_string())) {
            running.interrupt.request();
        }
    }

    /// Asks the task to stop that tells by this token how it comes along.
    pub fn cancel_progress(&self, token: Option<&Value>) {
        let mut running = self.running.values();
        let found = running.find(|running| token.is_some() && running.token.as_ref() == token);
        if let Some(running) = found {
            running.interrupt.request();
        }
    }

    /// Asks all tasks to stop, and waits until they have.
    pub fn stop_all(&mut self) {
        let running: Vec<Running> = self.running.drain().map(|(_, running)| running).collect();
        for task in &running {
            task.interrupt.request();
        }
        for task in running {
            let _ = task.thread.join();
        }
    }
}

/// Runs a task, and tells meanwhile how long it takes.
fn run(
    client: &Client,
    token: Option<&Value>,
    own: &Interrupt,
    task: &Task,
) -> Result<(Value, Option<String>), Problem> {
    let begin = Instant::now();
    let tell = |value: Value| {
        if let Some(token) = token {
            client.progress(token, value);
        }
    };
    tell(json!({ "kind": "begin", "title": task.title, "cancellable": true }));
    let (done, waited_for) = mpsc::channel::<()>();
    let printed = thread::scope(|scope| {
        scope.spawn(|| {
            let waited_for = waited_for;
            while waited_for.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                let message = format!("{} s", begin.elapsed().as_secs());
                tell(json!({ "kind": "report", "message": message }));
            }
        });
        let call = AssertUnwindSafe(|| call_until(own, &task.words, ""));
        let printed = catch_unwind(call)
            .unwrap_or_else(|_| Err(Error::new("petal panicked, which is a bug")));
        drop(done);
        printed
    });
    match printed {
        Ok(printed) => Ok((task.result)(&printed)),
        Err(_) if own.heeded(interrupt::is_requested) => Err(Problem::new(CANCELLED, "cancelled")),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The answer to a request that could not be done.
pub fn failed(message: impl Into<String>) -> Problem {
    Problem::new(FAILED, message)
}
