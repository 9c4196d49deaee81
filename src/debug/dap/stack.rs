//! Threads, stacks and variables of a cycle for an editor.

use petal_debug::{Frame, Value as Held};
use petal_profile::Error;
use petal_reconstruct::{InstanceId, instance_path};
use serde_json::{Value, json};

use super::{Answer, Debugged, Variables};
use crate::debug::text;

/// A number among the arguments of a request.
fn number(arguments: &Value, name: &str) -> Option<usize> {
    usize::try_from(arguments[name].as_u64()?).ok()
}

impl Debugged {
    /// The threads of this cycle.
    pub(super) fn list_threads(&mut self) -> Value {
        let threads = self.session.threads();
        let threads: Vec<Value> = threads
            .iter()
            .map(|thread| json!({ "id": self.thread_id(thread), "name": thread.name }))
            .collect();
        // An editor that is told of none takes the run for dead.
        if threads.is_empty() {
            return json!({ "threads": [{ "id": 1, "name": "not kept" }] });
        }
        json!({ "threads": threads })
    }

    /// All frames of this cycle, the threads' one after the other. A frame's number is its place here, from 1 on.
    fn all_frames(&self) -> Vec<(usize, Frame)> {
        let threads = self.session.threads();
        let frames = threads.into_iter().enumerate().flat_map(|(thread, of)| {
            let frames = of.frames.into_iter();
            frames.map(move |frame| (thread, frame))
        });
        frames.collect()
    }

    /// The component cell of the frame that a request is about, or of the innermost one.
    pub(super) fn instance(&self, arguments: &Value) -> InstanceId {
        let at = number(arguments, "frameId").and_then(|id| id.checked_sub(1));
        let frame = at.and_then(|at| self.all_frames().into_iter().nth(at));
        frame.map_or_else(|| self.session.instance(), |(_, frame)| frame.instance)
    }

    /// The stack of a thread.
    pub(super) fn stack_trace(&mut self, arguments: &Value, first_line: u32) -> Value {
        let wanted = number(arguments, "threadId");
        let threads = self.session.threads();
        let ids: Vec<usize> = threads
            .iter()
            .map(|thread| self.thread_id(thread))
            .collect();
        let mut frames = Vec::new();
        for (at, (thread, frame)) in self.all_frames().into_iter().enumerate() {
            if Some(ids[thread]) != wanted {
                continue;
            }
            let place = frame.place(self.session.recording(), self.in_front_end);
            let mut shown = json!({ "id": at + 1, "name": frame.label, "line": 0, "column": 0 });
            if let Some(place) = place {
                shown["line"] = json!(place.line - (1 - first_line));
                shown["column"] = json!(1);
                shown["source"] = self.sources.source(&self.session, &place);
            }
            frames.push(shown);
        }
        let all = frames.len();
        let start = number(arguments, "startFrame").unwrap_or(0);
        let levels = number(arguments, "levels").filter(|levels| *levels > 0);
        let frames: Vec<Value> = frames
            .into_iter()
            .skip(start)
            .take(levels.unwrap_or(all))
            .collect();
        json!({ "stackFrames": frames, "totalFrames": all })
    }

    fn reference(&mut self, variables: Variables) -> usize {
        let known = self.variables.iter().position(|known| *known == variables);
        let at = known.unwrap_or_else(|| {
            self.variables.push(variables);
            self.variables.len() - 1
        });
        at + 1
    }

    /// What a reference of a request leads to.
    pub(super) fn variables_of(&self, arguments: &Value) -> Option<&Variables> {
        let at = number(arguments, "variablesReference")?.checked_sub(1)?;
        self.variables.get(at)
    }

    /// What can be looked at in a frame: the registers and memories of its component cell.
    pub(super) fn scopes(&mut self, arguments: &Value) -> Value {
        let instance = self.instance(arguments);
        let recording = self.session.recording();
        let path = instance_path(recording.metadata(), recording.instances(), instance);
        let reference = self.reference(Variables::Cell(instance));
        // The first look runs the design once more.
        json!({ "scopes": [{
            "name": format!("registers and memories of {path}"),
            "variablesReference": reference,
            "expensive": false,
        }] })
    }

    /// The variables behind a reference.
    pub(super) fn list_variables(&mut self, arguments: &Value) -> Answer {
        let of = self.variables_of(arguments).cloned();
        let of = of.ok_or_else(|| Error::usage("there are no such variables any more"))?;
        let variables: Vec<Value> = match of {
            Variables::Cell(instance) => {
                let held = self.session.variables(instance)?;
                held.into_iter()
                    .map(|(name, value)| {
                        let reference = match &value {
                            Held::Number(_) => 0,
                            Held::Words(..) => {
                                self.reference(Variables::Memory(instance, name.clone()))
                            }
                        };
                        json!({
                            "value": text::value(&value),
                            "evaluateName": self.session.qualified(&name, instance),
                            "name": name,
                            "variablesReference": reference,
                        })
                    })
                    .collect()
            }
            Variables::Memory(instance, name) => {
                let Held::Words(words, _) = self.session.print(&name, instance)? else {
                    return Err(Error::usage("this is no memory"));
                };
                let words = words.into_iter();
                words
                    .map(|(index, word)| {
                        let name = format!("{name}{index}");
                        json!({
                            "name": index,
                            "value": text::number(word),
                            "evaluateName": self.session.qualified(&name, instance),
                            "variablesReference": 0,
                        })
                    })
                    .collect()
            }
        };
        Ok(json!({ "variables": variables }))
    }
}
