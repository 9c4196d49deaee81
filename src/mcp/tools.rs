//! The tools: what each is called, what it can be asked, which command does it, and what of the command's JSON a client gets.

mod list;
mod results;
mod words;

use std::path::Path;

use petal_profile::{Error, ErrorKind};
use petal_table::text::uri;
use serde_json::{Deserializer, Map, Value, json};

use super::parameters::{Asked, Parameter, schema};
use super::place::Place;
use super::rows::Rows;
use crate::args::Cli;
use crate::call::call_until;
use crate::streams::Interrupt;

pub use self::list::all;

/// What a tool does to the files of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It reads them.
    Reads,
    /// It writes a profile, in the place of an older one; a second time, the same.
    Replaces,
    /// The same, with what it finds out in some time.
    Searches,
}

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The command that does it, what it always gets, and what stands behind the names that it gets.
    command: &'static str,
    options: &'static [&'static str],
    last: &'static [&'static str],
    parameters: &'static [Parameter],
    effect: Effect,
    /// The fields of its result, besides `profile` and `cut`.
    fields: fn() -> Value,
    /// A file of the profile that tells more than the command prints, if it is there.
    more: Option<&'static str>,
    /// The result, of what the command prints and that file.
    result: fn(&Asked, Vec<Value>, &mut Rows) -> Value,
    /// The result in some words.
    words: fn(&Value) -> String,
    /// The files of the profile that it links to.
    links: &'static [&'static str],
}

impl Tool {
    /// What a client has to know of it.
    pub fn declaration(&self) -> Value {
        let mut properties = (self.fields)();
        let mut required: Vec<String> = properties
            .as_object()
            .map(|of| of.keys().cloned().collect())
            .unwrap_or_default();
        required.push("cut".to_owned());
        required.retain(|name| properties[name]["optional"].take().is_null());
        if let Some(fields) = properties.as_object_mut() {
            for field in fields.values_mut().filter_map(Value::as_object_mut) {
                field.remove("optional");
            }
        }
        properties["profile"] =
            json!({ "type": "string", "description": "the folder of the profile" });
        properties["cut"] = json!({
            "type": "array",
            "description": "the lists that have more rows than are given",
            "items": {
                "type": "object",
                "properties": {
                    "list": { "type": "string" },
                    "shown": { "type": "integer" },
                    "of": { "type": "integer" },
                },
                "required": ["list", "shown", "of"],
            },
        });
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": schema(self.parameters, &self.command()),
            "outputSchema": { "type": "object", "properties": properties, "required": required },
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.effect == Effect::Reads,
                "destructiveHint": self.effect != Effect::Reads,
                "idempotentHint": self.effect != Effect::Searches,
                "openWorldHint": false,
            },
        })
    }

    fn command(&self) -> clap::Command {
        let all = Cli::definition();
        let command = all.find_subcommand(self.command).cloned();
        command.unwrap_or_default()
    }

    /// What a client gets that calls it with these values of its parameters.
    pub fn call(&self, values: &Map<String, Value>, place: &Place, interrupt: &Interrupt) -> Value {
        match self.result(values, place, interrupt) {
            Ok(result) => result,
            Err(error) => failed(&error.to_string()),
        }
    }

    fn result(
        &self,
        values: &Map<String, Value>,
        place: &Place,
        interrupt: &Interrupt,
    ) -> Result<Value, Error> {
        let asked = Asked::new(self.parameters, &self.command(), values, place)?;
        let words = [self.command]
            .into_iter()
            .chain(self.options.iter().copied());
        let words = words.chain(asked.options.iter().map(String::as_str));
        // What is called as an option is one no more.
        let words = words
            .chain(["--"])
            .chain(asked.names.iter().map(String::as_str));
        let words: Vec<&str> = words.chain(self.last.iter().copied()).collect();
        let mut printed = call_until(interrupt, words, "").map_err(short)?;
        let more = asked.profile.as_ref().zip(self.more);
        if let Some(path) = more
            .map(|(profile, name)| profile.join(name))
            .filter(|path| path.exists())
        {
            printed += &petal_files::read_to_string(&path).map_err(Error::io("read", &path))?;
        }
        let printed = Deserializer::from_str(&printed).into_iter();
        let printed: Result<Vec<Value>, _> = printed.collect();
        let printed =
            printed.map_err(|error| Error::new(format!("petal printed no JSON: {error}")))?;
        let mut rows = Rows::new(asked.top);
        let mut result = (self.result)(&asked, printed, &mut rows);
        result["cut"] = rows.json();
        let mut text = (self.words)(&result);
        text.push_str(&rows.text());
        let mut content = vec![json!({ "type": "text", "text": text })];
        if let Some(profile) = asked.profile.as_ref().filter(|profile| profile.is_dir()) {
            result["profile"] = profile.display().to_string().into();
            let links = self.links.iter();
            content.extend(links.filter_map(|name| link(place, profile, name)));
        }
        Ok(json!({ "content": content, "structuredContent": result, "isError": false }))
    }
}

/// What a client gets of a call that came to nothing.
pub fn failed(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

/// What clap says of arguments ends with the usage of the command line, which no client has.
fn short(error: Error) -> Error {
    let text = error.to_string();
    match text.split_once("\n\nUsage:") {
        Some((text, _)) if error.kind() == ErrorKind::Usage => Error::usage(text),
        _ => error,
    }
}

/// A link to a file of a profile, if it is there.
fn link(place: &Place, profile: &Path, name: &str) -> Option<Value> {
    let path = place.absolute(&profile.join(name))?;
    let kind = match path.extension()?.to_str()? {
        "html" => "text/html",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Some(json!({
        "type": "resource_link",
        "uri": format!("file://{}", uri(path.to_str()?)),
        "name": name,
        "mimeType": kind,
    }))
}
