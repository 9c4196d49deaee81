//! `petal lsp`: costs and advice in an editor, by the Language Server Protocol over standard input and output.
//!
//! Owns which documents are open, which profile is of each, and who answers what. What a command does, `petal` does. Shows no figure
//! of a text that was not surely the document's: see [`document`] and [`text`].

mod actions;
mod calls;
mod checks;
mod client;
mod commands;
mod diagnostics;
mod document;
mod facts;
mod figures;
mod finder;
mod hints;
mod hover;
mod parameters;
mod parts;
mod requests;
mod settings;
mod tasks;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use petal_profile::{Error, interrupt};
use serde_json::{Value, json};

use self::checks::Check;
use self::client::{Abilities, Client, Level};
use self::document::Document;
use self::figures::Figures;
use self::finder::{Found, Version};
use self::settings::Settings;
use self::tasks::{Done, Tasks};
use crate::frames;
use crate::json_rpc::{self, Message, Problem};
use crate::perform::on_large_stack;
use crate::streams;

/// How long to wait between looks whether somebody asked the process to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// What the server does next.
enum Event {
    /// The client said something.
    Heard(Vec<u8>),
    /// The client is gone, or can't be understood any more.
    Left(Option<io::Error>),
    /// All profiles that there are, the newest first, and whether the finder was told to look.
    Found(Vec<Found>, bool),
    /// The figures of one, unless it can't be read.
    Loaded(PathBuf, Version, Option<Arc<Figures>>),
    /// A command has come to its end.
    Done(Done),
}

/// How far a client and the server have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Open,
    ShutDown,
}

/// The figures of a folder's profile.
struct Loaded {
    version: Version,
    is_read: bool,
    /// `None` until they are read, or if they can't be.
    figures: Option<Arc<Figures>>,
}

struct Server {
    client: Arc<Client>,
    abilities: Abilities,
    stage: Stage,
    settings: Settings,
    folders: Vec<PathBuf>,
    documents: BTreeMap<String, Document>,
    profiles: Vec<Found>,
    loaded: HashMap<PathBuf, Loaded>,
    /// The diagnostics that the client has.
    told: HashMap<String, Value>,
    tasks: Tasks,
    /// Tasks whose figures are not shown yet: each with how often the finder has to have looked.
    held: Vec<(u64, Done)>,
    /// How often the finder was told to look, and how often it has.
    looks: u64,
    looked: u64,
    watched: Sender<Vec<PathBuf>>,
    wanted: Sender<(PathBuf, Version)>,
}

/// `petal lsp`
pub fn lsp() -> Result<(), Error> {
    if streams::is_called() {
        return Err(Error::usage(
            "`petal lsp` speaks over the standard streams of a process: start one",
        ));
    }
    let client = Arc::new(Client::new(streams::own_output()?));
    let (events, heard) = mpsc::channel();
    // They wait for what comes until the process ends.
    let input = events.clone();
    thread::spawn(move || listen(&input));
    let (watched, folders) = mpsc::channel();
    let profiles = events.clone();
    thread::spawn(move || {
        finder::watch(&folders, |found, is_asked| {
            drop(profiles.send(Event::Found(found, is_asked)));
        });
    });
    let (wanted, asked) = mpsc::channel();
    let figures = events.clone();
    on_large_stack(move || load(&asked, &figures))?;
    let mut server = Server {
        tasks: Tasks::new(Arc::clone(&client), move |done| {
            drop(events.send(Event::Done(done)));
        }),
        client,
        abilities: Abilities::default(),
        stage: Stage::Begin,
        settings: Settings::default(),
        folders: Vec::new(),
        documents: BTreeMap::new(),
        profiles: Vec::new(),
        loaded: HashMap::new(),
        told: HashMap::new(),
        held: Vec::new(),
        looks: 0,
        looked: 0,
        watched,
        wanted,
    };
    while !interrupt::is_requested() {
        let event = match heard.recv_timeout(PATIENCE) {
            Ok(Event::Left(None)) | Err(RecvTimeoutError::Disconnected) => break,
            Ok(Event::Left(Some(error))) => {
                server.tasks.stop_all();
                return Err(Error::new(format!("cannot understand the editor: {error}")));
            }
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
        };
        if server.does(event).is_err() {
            server.tasks.stop_all();
            return match server.stage {
                Stage::ShutDown => Ok(()),
                _ => Err(Error::new("the editor left without `shutdown`")),
            };
        }
    }
    server.tasks.stop_all();
    interrupt::check()
}

/// Hears the client.
fn listen(events: &Sender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let event = match frames::read(&mut input) {
            Ok(Some(message)) => Event::Heard(message),
            Ok(None) => Event::Left(None),
            Err(error) => Event::Left(Some(error)),
        };
        let is_last = matches!(event, Event::Left(_));
        if events.send(event).is_err() || is_last {
            break;
        }
    }
}

/// Reads the profiles that are wanted.
fn load(wanted: &Receiver<(PathBuf, Version)>, events: &Sender<Event>) {
    for (dir, version) in wanted {
        let read = catch_unwind(|| Figures::read(&dir).ok()).unwrap_or_default();
        let loaded = Event::Loaded(dir, version, read.map(Arc::new));
        if events.send(loaded).is_err() {
            break;
        }
    }
}

/// The client wants no more.
struct Exit;

impl Server {
    fn does(&mut self, event: Event) -> Result<(), Exit> {
        match event {
            Event::Heard(message) => return self.hear(&message),
            Event::Left(_) => return Err(Exit),
            Event::Found(found, is_asked) => {
                self.profiles = found;
                self.looked += u64::from(is_asked);
                self.update();
                self.release();
            }
            Event::Loaded(dir, version, figures) => {
                if let Some(loaded) = self.loaded.get_mut(&dir)
                    && loaded.version == version
                {
                    loaded.is_read = true;
                    loaded.figures = figures;
                }
                self.update();
                self.release();
            }
            Event::Done(done) => {
                self.tasks.end(&done);
                if let Some((uri, text, found)) = done.check()
                    && let Some(document) = self.documents.get_mut(uri)
                {
                    document.check = Some(Check::new(text, found));
                    self.diagnose();
                }
                if done.is_success() {
                    // Whoever hears of its end finds what it wrote.
                    self.look();
                    self.held.push((self.looks, done));
                } else {
                    done.answer(&self.client);
                }
            }
        }
        Ok(())
    }

    /// Answers the requests of tasks whose figures are shown.
    fn release(&mut self) {
        if self.loaded.values().all(|loaded| loaded.is_read) {
            let looked = self.looked;
            for (_, done) in self.held.extract_if(.., |(look, _)| *look <= looked) {
                done.answer(&self.client);
            }
        }
    }

    fn hear(&mut self, message: &[u8]) -> Result<(), Exit> {
        match json_rpc::message(message) {
            Err(answer) => self.client.say(&answer),
            Ok(None) => {}
            Ok(Some(Message::Notification { method, .. })) if method == "exit" => return Err(Exit),
            Ok(Some(Message::Notification { method, params })) => {
                let notice = AssertUnwindSafe(|| self.notice(&method, &Value::Object(params)));
                let _ = catch_unwind(notice);
            }
            Ok(Some(Message::Request(request))) => {
                let (id, params) = (&request.id, &request.params);
                let serve = AssertUnwindSafe(|| self.serve(id, &request.method, params));
                let served = catch_unwind(serve).unwrap_or_else(|_| Err(Problem::panicked()));
                match served {
                    Ok(Some(result)) => self.client.answer(&request.id, result),
                    Ok(None) => {}
                    Err(problem) => self.client.say(&problem.answer(&request.id)),
                }
            }
        }
        Ok(())
    }

    /// Tells the finder where to look, which it does at once.
    fn look(&mut self) {
        let mut folders = self.folders.clone();
        for document in self.documents.values() {
            if !self.folders.iter().any(|of| document.path.starts_with(of)) {
                // Somebody's home may be around it: only what lies beside it.
                let beside = document.path.parent().map(|of| of.join("petal-out"));
                folders.extend(beside);
            }
        }
        self.looks += 1;
        let _ = self.watched.send(folders);
    }

    /// Chooses the newest profile that is surely of each document, and shows it.
    fn update(&mut self) {
        let mut wanted = BTreeSet::new();
        let mut has_changed = false;
        for document in self.documents.values_mut() {
            let now = document.text.digest();
            let mut fitting: Vec<(&Found, u64)> = self
                .profiles
                .iter()
                .filter_map(|found| Some((found, document.fits(&found.known)?)))
                .collect();
            fitting.sort_by_key(|(_, digest)| *digest != now);
            let Some((found, digest)) = fitting.first() else {
                has_changed |= document.view.take().is_some();
                continue;
            };
            match self.loaded.get(&found.dir) {
                Some(loaded) if loaded.version == found.version => {
                    let Some(figures) = &loaded.figures else {
                        continue;
                    };
                    let shown = document.view.as_ref();
                    if shown.is_none_or(|view| {
                        !Arc::ptr_eq(&view.figures, figures) || view.digest != *digest
                    }) {
                        document.show(figures, *digest);
                        has_changed |= document.view.is_some();
                    }
                }
                _ => {
                    wanted.insert((found.dir.clone(), found.version));
                }
            }
        }
        for (dir, version) in wanted {
            let loaded = Loaded {
                version,
                is_read: false,
                figures: None,
            };
            self.loaded.insert(dir.clone(), loaded);
            let _ = self.wanted.send((dir, version));
        }
        let profiles = &self.profiles;
        self.loaded
            .retain(|dir, _| profiles.iter().any(|found| found.dir == *dir));
        if has_changed {
            self.refresh();
        }
        self.diagnose();
    }

    /// Has the client ask again for what it shows.
    fn refresh(&self) {
        if self.abilities.refreshes_hints {
            self.client.ask("workspace/inlayHint/refresh", Value::Null);
        }
        if self.abilities.refreshes_lenses {
            self.client.ask("workspace/codeLens/refresh", Value::Null);
        }
    }

    /// Tells the client of diagnostics that are others than before.
    fn diagnose(&mut self) {
        for document in self.documents.values() {
            let of = diagnostics::diagnostics(document, &self.settings, self.abilities.encoding);
            let before = self.told.get(&document.uri);
            // Of a document that never had any, nothing is said.
            if before.map_or(of != json!([]), |before| *before != of) {
                let params =
                    json!({ "uri": document.uri, "version": document.version, "diagnostics": of });
                self.client
                    .notify("textDocument/publishDiagnostics", params);
                self.told.insert(document.uri.clone(), of);
            }
        }
    }

    /// Takes in settings, and tells of those that make no sense.
    fn set(&mut self, said: &Value) {
        let odd = self.settings.read(said);
        if !odd.is_empty() {
            let message = format!("petal: {}", odd.join("; "));
            self.client.show(Level::Warning, &message);
        }
    }
}
