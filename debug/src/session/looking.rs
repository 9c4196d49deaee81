//! What a position sees: values, who changed them, and the source.

use std::rc::Rc;

use petal_metadata::Id as _;
use petal_observe::Watch;
use petal_profile::Error;
use petal_reconstruct::InstanceId;
use petal_table::Screen;

use super::{Session, Stop};
use crate::source::{self, SourcePlace};
use crate::subjects::{self, File, Unnamed};
use crate::values::{Look, Value, Written};
use crate::variables::{self, Variable, variable};

impl Session {
    /// What a text asks for where one looks at a component cell.
    pub(super) fn variable(&self, text: &str, instance: InstanceId) -> Variable {
        variable(&self.recording, text, instance)
    }

    pub(super) fn history(&mut self, look: Look, variable: &Variable) -> Result<Rc<Watch>, Error> {
        let profile = self.recording.profile();
        let mut all = self.values.changes(profile, look, &[&variable.text])?;
        Ok(all.swap_remove(0))
    }

    /// What a register, a memory or an expression is in this cycle, as seen from a component cell.
    ///
    /// # Errors
    /// When there is no such value.
    pub fn print(&mut self, text: &str, instance: InstanceId) -> Result<Value, Error> {
        let variable = self.variable(text, instance);
        let profile = self.recording.profile();
        let mut values = self.values.values(profile, &[variable], self.at)?;
        Ok(values.swap_remove(0))
    }

    /// The text of a value with its whole path: `main.queue.k.out` for `k` as seen from `main.queue`.
    pub fn qualified(&self, text: &str, instance: InstanceId) -> String {
        self.variable(text, instance).text
    }

    /// The cells of which the compiler made one with that of a text, as seen from a component cell: each has what is written to any.
    pub fn joined(&self, text: &str, instance: InstanceId) -> Vec<&str> {
        let text = self.qualified(text, instance);
        variables::joined(self.recording.metadata(), &text)
    }

    /// The registers and memories of a component cell with their values in this cycle.
    ///
    /// # Errors
    /// When the design can't be run again.
    pub fn variables(&mut self, instance: InstanceId) -> Result<Vec<(String, Value)>, Error> {
        let component = self.recording.instances()[instance.index()].component;
        let names = variables::names(self.recording.metadata(), component);
        let asked = names.iter().map(|name| self.variable(name, instance));
        let asked: Vec<Variable> = asked.collect();
        let profile = self.recording.profile();
        let values = self.values.values(profile, &asked, self.at)?;
        Ok(names.into_iter().map(str::to_owned).zip(values).collect())
    }

    /// Who changed a value last: goes back to the latest change before this cycle, and tells of it and of the line that made it.
    ///
    /// # Errors
    /// When there is no such value, or nothing changed it before.
    pub fn last(&mut self, text: &str) -> Result<(Stop, Written, Option<SourcePlace>), Error> {
        let variable = self.variable(text, self.instance());
        let watch = self.history(Look::Writes, &variable)?;
        let after = watch.changes.partition_point(|of| of.cycle < self.at);
        let Some(change) = after.checked_sub(1).map(|last| &watch.changes[last]) else {
            return Err(Error::usage(format!(
                "nothing changed `{}` before cycle {}",
                variable.text, self.at
            )));
        };
        let profile = self.recording.profile();
        let written = self.values.written(profile, &variable, change)?;
        let stop = self.go(change.cycle);
        let line = self.line_of(&written, &variable);
        Ok((stop, written, line))
    }

    /// The line of the group that wrote a value in this cycle: the assignment if its text has one alone, or else that of the group.
    fn line_of(&self, written: &Written, variable: &Variable) -> Option<SourcePlace> {
        let threads = self.threads();
        let writer = written.by.first()?;
        let mut frames = threads.iter().flat_map(|thread| {
            (0..thread.frames.len()).map(move |at| (&thread.frames[at], &thread.frames[at..]))
        });
        let (frame, _) = frames.find(|(_, above)| {
            let names: Vec<&str> = above.iter().rev().map(|of| of.label.as_str()).collect();
            names.join(" > ") == *writer
        })?;
        let path = variable.text.split('[').next().unwrap_or_default();
        let path = path.trim();
        let path = path.strip_suffix(".out").unwrap_or(path);
        let cell = path.rsplit('.').next().unwrap_or(path);
        let mut group = frame
            .lines
            .iter()
            .filter(|of| matches!(of.file, File::Calyx(_)));
        let group = *group.next_back()?;
        let line = source::assignment(&self.recording, group, cell);
        line.or_else(|| Some(SourcePlace::new(&self.recording, group.file, group.first)))
    }

    /// Lines of the source around a line (`L12`, `lib.futil:12`), around something that ran, or around what is active, with marks at what
    /// is: `=>` at the innermost, `>` at what is around that.
    ///
    /// # Errors
    /// When there is no such place.
    pub fn list(&self, text: Option<&str>, around: u32, screen: Screen) -> Result<String, Error> {
        let threads = self.threads();
        let nowhere = || Error::usage("nothing that is active now stands in a source file");
        let at = match text {
            None => {
                let mut places = threads.iter().filter_map(|thread| self.place(thread));
                let place = places.next().ok_or_else(nowhere)?;
                (place.of, place.line)
            }
            Some(text) => {
                let wrong = |of: Unnamed| Error::usage(of.message());
                match subjects::place(&self.recording, text).map_err(wrong)? {
                    Some((files, line)) => {
                        let mut files = files.into_iter();
                        let first = files.next().ok_or_else(nowhere)?;
                        let runs = |file: &File| !self.subjects.on_line(*file, line).is_empty();
                        let other = files.find(runs).filter(|_| !runs(&first));
                        (other.unwrap_or(first), line)
                    }
                    None => {
                        let ids = self.subjects.find(&self.recording, text).map_err(wrong)?;
                        let lines = ids.iter().find_map(|&id| self.subjects.lines(id).last());
                        let lines = lines.ok_or_else(nowhere)?;
                        (lines.file, lines.first)
                    }
                }
            }
        };
        let listed = source::list(&self.recording, &threads, at, around, screen);
        let listed = listed.ok_or_else(|| Error::usage("nobody knows the text of that file"))?;
        if listed.is_empty() {
            return Err(Error::usage("the file has no such line"));
        }
        Ok(listed)
    }
}
