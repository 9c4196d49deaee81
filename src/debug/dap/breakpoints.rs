//! An editor's breakpoints: on lines, on what has a name, and on values.

use petal_debug::Breakpoint;
use petal_profile::Error;
use serde_json::{Value, json};

use super::{Answer, Debugged, Variables};

/// What a breakpoint is to an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Line,
    Function,
    Data,
}

impl Kind {
    /// Why a run stops at it.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Line => "breakpoint",
            Self::Function => "function breakpoint",
            Self::Data => "data breakpoint",
        }
    }
}

/// A breakpoint as its editor sees it: with its number, or why there is none.
fn shown(made: Result<Option<&Breakpoint>, Error>) -> (Option<usize>, Value) {
    match made {
        Ok(Some(breakpoint)) => (
            Some(breakpoint.number),
            json!({ "id": breakpoint.number, "verified": true }),
        ),
        Ok(None) => (
            None,
            json!({ "verified": false, "message": "nothing on this line ran" }),
        ),
        Err(error) => (
            None,
            json!({ "verified": false, "message": error.to_string() }),
        ),
    }
}

/// A text of a breakpoint, if there is one that says anything.
fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of[name]
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

impl Debugged {
    /// Removes the breakpoints of a kind, of a place if that has several.
    fn forget(&mut self, kind: Kind, place: &str) {
        let session = &mut self.session;
        self.breakpoints.retain(|&number, (of, at)| {
            let is_gone = *of == kind && at == place;
            if is_gone {
                session.delete(number);
            }
            !is_gone
        });
    }

    /// The breakpoints of a file.
    pub(super) fn set_breakpoints(&mut self, arguments: &Value, first_line: u32) -> Answer {
        let source = &arguments["source"];
        let file = source["path"].as_str().or_else(|| source["name"].as_str());
        let file = file.ok_or_else(|| Error::usage("a source has neither `path` nor `name`"))?;
        self.forget(Kind::Line, file);
        let known = self.sources.learn(&self.session, source, file);
        let all = arguments["breakpoints"].as_array().into_iter().flatten();
        let breakpoints: Vec<Value> = all
            .map(|of| {
                let line = of["line"]
                    .as_u64()
                    .and_then(|line| u32::try_from(line).ok());
                let line = line.unwrap_or(0);
                let known = match known {
                    Ok(known) => known,
                    Err(message) => {
                        return json!({ "verified": false, "line": line, "message": message });
                    }
                };
                let made = self.session.break_on_line(
                    known,
                    line + (1 - first_line),
                    text(of, "condition"),
                );
                let (number, mut shown) = shown(made);
                if let Some(number) = number {
                    self.breakpoints
                        .insert(number, (Kind::Line, file.to_owned()));
                }
                shown["line"] = json!(line);
                shown
            })
            .collect();
        Ok(json!({ "breakpoints": breakpoints }))
    }

    /// The breakpoints on groups, statements and cells, and on expressions.
    pub(super) fn set_function_breakpoints(&mut self, arguments: &Value) -> Value {
        self.forget(Kind::Function, "");
        let all = arguments["breakpoints"].as_array().into_iter().flatten();
        let breakpoints: Vec<Value> = all
            .map(|of| {
                let name = text(of, "name").unwrap_or_default();
                let made = self.session.break_at(name, text(of, "condition"));
                let (number, shown) = shown(made.map(Some));
                if let Some(number) = number {
                    self.breakpoints
                        .insert(number, (Kind::Function, String::new()));
                }
                shown
            })
            .collect();
        json!({ "breakpoints": breakpoints })
    }

    /// Whether there can be a breakpoint on a value.
    pub(super) fn data_breakpoint_info(&mut self, arguments: &Value) -> Value {
        let name = arguments["name"].as_str().unwrap_or_default();
        let of = self.variables_of(arguments);
        let (instance, name) = match of {
            Some(Variables::Cell(instance)) => (*instance, name.to_owned()),
            Some(Variables::Memory(instance, memory)) => (*instance, format!("{memory}{name}")),
            None => (self.instance(arguments), name.to_owned()),
        };
        let id = self.session.qualified(&name, instance);
        // Whether it is there is seen when it is looked at.
        match self.session.print(&name, instance) {
            Ok(_) => json!({
                "dataId": id,
                "description": format!("{id}, whenever it changes"),
                "accessTypes": ["write"],
                "canPersist": true,
            }),
            Err(error) => json!({ "dataId": null, "description": error.to_string() }),
        }
    }

    /// The breakpoints on values.
    pub(super) fn set_data_breakpoints(&mut self, arguments: &Value) -> Value {
        self.forget(Kind::Data, "");
        let all = arguments["breakpoints"].as_array().into_iter().flatten();
        let breakpoints: Vec<Value> = all
            .map(|of| {
                let made = self.session.watch(text(of, "dataId").unwrap_or_default());
                let (number, shown) = shown(made.map(Some));
                if let Some(number) = number {
                    self.breakpoints.insert(number, (Kind::Data, String::new()));
                }
                shown
            })
            .collect();
        json!({ "breakpoints": breakpoints })
    }
}
