//! The commands of the server: which there are, and what each does with the document that it is called on.

use std::path::{Path, PathBuf};

use petal_table::text::share;
use petal_table::{counted, thousands};
use petal_visualize::outputs::REPORT;
use serde_json::{Deserializer, Value, json};

use super::document::{Document, file_uri, path, range};
use super::figures::Figures;
use super::tasks::{Task, failed};
use super::text::digest;
use super::{Server, diagnostics};
use crate::browser;
use crate::json_rpc::Problem;

/// Profiles a design.
pub const RUN: &str = "petal.run";
/// Finds changes that save cycles.
pub const ADVISE: &str = "petal.advise";
/// Looks for what is wrong in a run.
pub const CHECK: &str = "petal.check";
/// Compares with the run before.
pub const COMPARE: &str = "petal.compare";
/// Opens the report at a line.
pub const OPEN_REPORT: &str = "petal.openReport";
/// Shows the line of the source that a line of the report's source is.
pub const OPEN_SOURCE: &str = "petal.openSource";
/// Opens the timeline where the statement of a line first ran.
pub const OPEN_TIMELINE: &str = "petal.openTimeline";
/// Goes to the next line that costs much.
pub const NEXT_HOTSPOT: &str = "petal.nextHotspot";
/// Goes to the previous one.
pub const PREVIOUS_HOTSPOT: &str = "petal.previousHotspot";

/// All of them. Each is called with the URI of a document, and most with a line, counted from 0; [`OPEN_SOURCE`] with one of a report.
pub const COMMANDS: [&str; 9] = [
    RUN,
    ADVISE,
    CHECK,
    COMPARE,
    OPEN_REPORT,
    OPEN_SOURCE,
    OPEN_TIMELINE,
    NEXT_HOTSPOT,
    PREVIOUS_HOTSPOT,
];

/// How many lines of a comparison are shown as a message.
const MESSAGE_LINES: usize = 12;

/// What a command is called on.
struct Target {
    uri: String,
    path: PathBuf,
    line: usize,
}

impl Target {
    fn new(params: &Value) -> Result<Self, Problem> {
        let first = params.pointer("/arguments/0").unwrap_or(&Value::Null);
        let uri = first.as_str().or_else(|| first.get("uri")?.as_str());
        let line = params.pointer("/arguments/1").or_else(|| first.get("line"));
        let line = line.and_then(Value::as_u64).unwrap_or(0);
        let uri = uri.ok_or_else(|| Problem::params("a command needs the URI of a document"))?;
        let path = path(uri).ok_or_else(|| Problem::params(format!("{uri} names no file")))?;
        Ok(Self {
            uri: uri.to_owned(),
            path,
            line: usize::try_from(line).unwrap_or(usize::MAX),
        })
    }

    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

impl Server {
    /// Does a command; `None` if its answer comes later.
    pub(super) fn execute(&mut self, id: &Value, params: &Value) -> Result<Option<Value>, Problem> {
        let command = params.get("command").and_then(Value::as_str);
        let command = command.unwrap_or_default();
        if !COMMANDS.contains(&command) {
            return Err(Problem::params(format!("there is no command `{command}`")));
        }
        let target = Target::new(params)?;
        let task = match command {
            RUN => Task {
                title: format!("petal: profiling {}", target.name()),
                words: self.words("run", &target, &["--json", "--quiet"], 0)?,
                result: profiled,
                checked: None,
            },
            ADVISE => Task {
                title: format!("petal: looking for advice for {}", target.name()),
                words: self.words("advise", &target, &["--format=json", "--quiet"], 1)?,
                result: advised,
                checked: None,
            },
            CHECK => {
                let options = ["--format=json", "--quiet", "--exit-zero"];
                let text = self.open(&target).map(|document| document.text.whole());
                Task {
                    title: format!("petal: checking {}", target.name()),
                    words: self.words("check", &target, &options, 2)?,
                    result: checked,
                    checked: text.map(|text| (target.uri.clone(), text)),
                }
            }
            COMPARE => {
                let figures = self.figures(&target)?;
                let dir = figures.dir.display().to_string();
                Task {
                    title: format!("petal: comparing {}", target.name()),
                    words: ["compare", "--last", "--", &dir]
                        .map(str::to_owned)
                        .to_vec(),
                    result: compared,
                    checked: None,
                }
            }
            OPEN_TIMELINE => Task {
                title: "petal: waiting until the viewer has the timeline".to_owned(),
                words: self.timeline(&target)?,
                result: |printed| (json!({ "text": printed }), None),
                checked: None,
            },
            OPEN_REPORT => return self.open_report(&target).map(Some),
            OPEN_SOURCE => return self.open_source(&target).map(Some),
            _ => return self.hotspot(&target, command == NEXT_HOTSPOT).map(Some),
        };
        let token = params.get("workDoneToken");
        let shows = self.abilities.shows_progress;
        self.tasks.begin(id, token, shows, task)?;
        Ok(None)
    }

    /// The document of a target, if it is open.
    fn open(&self, target: &Target) -> Option<&Document> {
        self.documents.get(&target.uri)
    }

    /// The figures of a target.
    fn figures(&self, target: &Target) -> Result<&Figures, Problem> {
        let view = self
            .open(target)
            .and_then(|document| document.view.as_ref());
        let view = view.ok_or_else(|| {
            failed(format!(
                "there is no profile of {}, as it is or was here: `{RUN}` makes one",
                target.name()
            ))
        })?;
        Ok(&view.figures)
    }

    /// The words of a command on the design of a target.
    fn words(
        &self,
        command: &str,
        target: &Target,
        options: &[&str],
        more: usize,
    ) -> Result<Vec<String>, Problem> {
        let name = target.name();
        let Some(stem) = name.strip_suffix(".futil") else {
            return Err(failed(format!(
                "{name} is no Calyx file: make its design anew and profile that, and the figures here change by themselves (`python3 {name} | petal run -`)"
            )));
        };
        let text = petal_files::read_to_string(&target.path)
            .map_err(|error| failed(format!("cannot read {name}: {error}")))?;
        let is_saved = |document: &Document| document.text.digest() == digest(&text);
        if !self.open(target).is_none_or(is_saved) {
            return Err(failed(format!(
                "{name} has changes that are not saved: save it first"
            )));
        }
        let mut words = vec![command.to_owned()];
        words.extend(options.iter().map(|&option| option.to_owned()));
        // A check writes nothing.
        if command != "check" {
            let out = self.out(&target.path, stem);
            words.push(format!("--out={}", out.display()));
        }
        words.extend(self.settings.arguments[more].iter().cloned());
        words.extend(["--".to_owned(), target.path.display().to_string()]);
        Ok(words)
    }

    /// Where the profile of a design goes: where one is already, or else into the folder that is open around it.
    fn out(&self, path: &Path, stem: &str) -> PathBuf {
        let out = |folder: &Path| folder.join("petal-out").join(stem);
        let around = self
            .folders
            .iter()
            .filter(|folder| path.starts_with(folder));
        let around = around.max_by_key(|folder| folder.components().count());
        let beside = path.parent().unwrap_or(path);
        let around: &Path = around.map_or(beside, |folder| folder);
        let mut folders = beside.ancestors().take_while(|of| of.starts_with(around));
        let known = folders.find(|folder| out(folder).is_dir());
        out(known.unwrap_or(around))
    }

    /// The words that show the timeline where the statement on a line first ran.
    fn timeline(&self, target: &Target) -> Result<Vec<String>, Problem> {
        let dir = self.figures(target)?.dir.display().to_string();
        let view = self
            .open(target)
            .and_then(|document| document.view.as_ref());
        let parts = view.map(|view| view.parts(target.line)).unwrap_or_default();
        let mut statements = parts
            .iter()
            .filter(|part| part.cycles > 0 && part.name.contains('@'));
        let path = statements.find_map(|part| part.path.as_ref());
        let mut words = vec!["view".to_owned()];
        words.extend(path.map(|path| format!("--around={path}#1")));
        words.extend(["--".to_owned(), dir]);
        Ok(words)
    }

    /// Opens the report at a line.
    fn open_report(&self, target: &Target) -> Result<Value, Problem> {
        let figures = self.figures(target)?;
        let mut uri = file_uri(&figures.dir.join(REPORT));
        let view = self
            .open(target)
            .and_then(|document| document.view.as_ref());
        if let Some((view, line)) = view.and_then(|view| Some((view, view.profiled(target.line)?)))
        {
            uri = format!("{uri}#{}", Figures::anchor(view.file, line));
        }
        if self.abilities.shows_documents {
            let params = json!({ "uri": uri, "external": true });
            self.client.ask("window/showDocument", params);
        } else {
            browser::open(&uri);
        }
        Ok(json!({ "uri": uri }))
    }

    /// Shows the line that the address of a report names, in whichever document that is open is its file.
    fn open_source(&self, target: &Target) -> Result<Value, Problem> {
        let (report, part) = target.uri.split_once('#').unwrap_or((&target.uri, ""));
        let report = path(report);
        let mut views = self
            .documents
            .values()
            .filter_map(|document| Some((document, document.view.as_ref()?)))
            .filter(|(_, view)| Some(view.figures.dir.join(REPORT)) == report)
            .peekable();
        let Some(&(_, first)) = views.peek() else {
            return Err(failed(format!(
                "no document that is open is of the report {}",
                target.uri
            )));
        };
        let (file, line) = Figures::place(part)
            .filter(|&(file, _)| file < first.figures.files.len())
            .ok_or_else(|| failed(format!("`{part}` is no line of the report")))?;
        let name = first.figures.files[file].name.clone();
        let found = views.find(|(_, view)| view.file == file);
        let (document, view) = found.ok_or_else(|| failed(format!("{name} is not open")))?;
        let line = view
            .place(line)
            .ok_or_else(|| failed(format!("line {line} of {name} is another one by now")))?;
        Ok(self.show(document, line, false))
    }

    /// Shows a line of a document, and gives where it is.
    fn show(&self, document: &Document, line: usize, takes_focus: bool) -> Value {
        let selection = document.line_range(line, self.abilities.encoding);
        let start = selection["start"]["character"].as_u64();
        let start = start
            .and_then(|start| usize::try_from(start).ok())
            .unwrap_or(0);
        let selection = range([(line, start); 2]);
        if self.abilities.shows_documents {
            let params =
                json!({ "uri": document.uri, "takeFocus": takes_focus, "selection": selection });
            self.client.ask("window/showDocument", params);
        }
        json!({ "uri": document.uri, "range": selection })
    }

    /// The next or previous line that costs much; behind the last one comes the first.
    fn hotspot(&self, target: &Target, is_next: bool) -> Result<Value, Problem> {
        self.figures(target)?;
        let Some((document, view)) = self
            .open(target)
            .and_then(|document| Some((document, document.view.as_ref()?)))
        else {
            return Ok(Value::Null);
        };
        let lines = diagnostics::hotspots(view, self.settings.least);
        let found = if is_next {
            let next = lines.iter().find(|line| **line > target.line);
            next.or(lines.first())
        } else {
            let before = lines.iter().rev().find(|line| **line < target.line);
            before.or(lines.last())
        };
        let Some(&line) = found else {
            return Ok(Value::Null);
        };
        Ok(self.show(document, line, true))
    }
}

/// The first JSON that a command printed.
fn first(printed: &str) -> Value {
    let mut printed = Deserializer::from_str(printed).into_iter();
    printed.next().and_then(Result::ok).unwrap_or_default()
}

/// What there is to tell of a run.
fn profiled(printed: &str) -> (Value, Option<String>) {
    let run = first(printed);
    let number = |name: &str| run[name].as_u64().unwrap_or(0);
    let (cycles, useful) = (number("cycles"), number("useful_cycles"));
    let message = format!(
        "{}: {} cycles, {} useful, {} overhead",
        run["design"].as_str().unwrap_or_default(),
        thousands(cycles),
        share(u128::from(useful), u128::from(cycles)),
        thousands(number("overhead_cycles")),
    );
    let names = [
        "design",
        "cycles",
        "useful_cycles",
        "overhead_cycles",
        "stopped",
    ];
    let result = names.map(|name| (name.to_owned(), run[name].clone()));
    (Value::Object(result.into_iter().collect()), Some(message))
}

/// What there is to tell of advice.
fn advised(printed: &str) -> (Value, Option<String>) {
    let advice = first(printed);
    let number = |name: &str| advice[name].as_u64().unwrap_or(0);
    let changes = advice["advice"].as_array().map_or(0, Vec::len);
    let message = match changes {
        0 => "no change was found that saves cycles".to_owned(),
        _ => format!(
            "{changes} changes: {} cycles become {} by what is proved, and {} by all; the code actions of their lines make them",
            thousands(number("cycles")),
            thousands(number("with_proved")),
            thousands(number("with_all")),
        ),
    };
    let result = json!({
        "cycles": number("cycles"),
        "with_proved": number("with_proved"),
        "with_all": number("with_all"),
        "changes": changes,
    });
    (result, Some(message))
}

/// What there is to tell of a check.
fn checked(printed: &str) -> (Value, Option<String>) {
    let found = first(printed);
    let cycles = counted(found["cycles"].as_u64().unwrap_or(0), "cycle");
    let message = match found["found"].as_str() {
        None | Some("") => format!("nothing found in {cycles}"),
        Some(all) => format!("{all} in {cycles}"),
    };
    (found, Some(message))
}

/// What there is to tell of a comparison.
fn compared(printed: &str) -> (Value, Option<String>) {
    let lines: Vec<&str> = printed.lines().take(MESSAGE_LINES).collect();
    (json!({ "text": printed }), Some(lines.join("\n")))
}
