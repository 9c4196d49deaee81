//! What a tool can be asked: parameters with the names and meanings of the command line, as a schema, and as words of the command.

use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use petal_metadata::{nearest, question};
use petal_profile::Error;
use serde_json::{Map, Value, json};

use super::place::Place;
use crate::args::parse_cycles;

/// How many rows of a list are given unless the client says otherwise.
const ROWS: u64 = 20;

/// The cycles that are shown unless the client says otherwise, and how many at a time at most.
const CYCLES: &str = "0..1000";
const MOST_CYCLES: u64 = 100_000;

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file of a design.
    Design,
    /// A file that is read, or several.
    File,
    Files,
    /// The folder of a profile.
    Profile,
    /// A profile or a baseline.
    Figures,
    /// The folder that a profile is written to.
    Out,
    /// Words, of the command line's choice or any.
    Text,
    Texts,
    /// A whole number.
    Number,
    /// Some cycles of a run.
    Cycles,
    /// Yes or no.
    Flag,
    /// How many rows of each list are given, which is no business of the command.
    Top,
}

/// A parameter of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    name: &'static str,
    kind: Kind,
    is_needed: bool,
    /// What it means here, if that is not what the command says.
    about: Option<&'static str>,
}

impl Parameter {
    /// One that may be left out.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            is_needed: false,
            about: None,
        }
    }

    /// One that may not.
    pub const fn needed(name: &'static str, kind: Kind) -> Self {
        Self {
            is_needed: true,
            ..Self::new(name, kind)
        }
    }

    /// It means this here.
    pub const fn about(self, about: &'static str) -> Self {
        Self {
            about: Some(about),
            ..self
        }
    }

    /// The same on the command line.
    fn argument<'a>(&self, command: &'a Command) -> Option<&'a Arg> {
        let is_it = |arg: &&Arg| arg.get_long() == Some(self.name) || arg.get_id() == self.name;
        command.get_arguments().find(is_it)
    }

    fn schema(&self, command: &Command) -> Value {
        let argument = self.argument(command);
        let help = argument.and_then(Arg::get_help).map(ToString::to_string);
        let about = self.about.map(str::to_owned).or(help);
        let text = json!({ "type": "string" });
        let mut schema = match self.kind {
            Kind::Number => json!({ "type": "integer", "minimum": 0 }),
            Kind::Top => json!({ "type": "integer", "minimum": 1, "default": ROWS }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Files | Kind::Texts => json!({ "type": "array", "items": text }),
            _ => match choices(argument) {
                choices if choices.is_empty() => text,
                choices => json!({ "type": "string", "enum": choices }),
            },
        };
        if self.kind == Kind::Cycles {
            schema["default"] = CYCLES.into();
        }
        let mut about = about.unwrap_or_default();
        let form = argument.and_then(Arg::get_value_names).unwrap_or_default();
        if let (Kind::Text | Kind::Texts | Kind::Cycles, [form]) = (self.kind, form)
            && schema.get("enum").is_none()
        {
            about = format!("{about}; as {form}");
        }
        schema["description"] = about.into();
        schema
    }

    /// The texts of its value.
    fn texts(&self, value: &Value, argument: Option<&Arg>) -> Result<Vec<String>, Error> {
        let wanted = |what: &str| Error::usage(format!("`{}` is {what}, not {value}", self.name));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match self.kind {
            Kind::Number | Kind::Top => {
                let number = value
                    .as_u64()
                    .filter(|n| *n > 0 || self.kind == Kind::Number);
                let number = number.ok_or_else(|| wanted("a whole number"))?;
                Ok(vec![number.to_string()])
            }
            Kind::Flag => {
                let is_set = value.as_bool().ok_or_else(|| wanted("true or false"))?;
                Ok(is_set.then(String::new).into_iter().collect())
            }
            Kind::Files | Kind::Texts => {
                let texts = value
                    .as_array()
                    .and_then(|all| all.iter().map(text).collect());
                texts.ok_or_else(|| wanted("a list of texts"))
            }
            _ => {
                let text = text(value).ok_or_else(|| wanted("a text"))?;
                let choices = choices(argument);
                if !choices.is_empty() && !choices.contains(&text) {
                    return Err(wanted(&format!("one of {}", choices.join(", "))));
                }
                if self.kind == Kind::Cycles {
                    check_cycles(&text)?;
                }
                Ok(vec![text])
            }
        }
    }

    /// That its paths lead nowhere else.
    fn check(&self, text: &str, place: &Place) -> Result<(), Error> {
        let path = Path::new(text);
        match self.kind {
            Kind::Design => place.check_design(path),
            Kind::Profile | Kind::Out => place.check_profile(path),
            Kind::Figures if path.is_dir() => place.check_profile(path),
            Kind::Figures if path.extension().is_some_and(|of| of == "futil") => {
                Err(Error::usage(format!(
                    "`{}` is a profile's folder here, or a baseline: `petal_run` makes the profile of {text}",
                    self.name
                )))
            }
            Kind::File | Kind::Files | Kind::Figures => place.check(path),
            Kind::Text | Kind::Texts | Kind::Number | Kind::Cycles | Kind::Flag | Kind::Top => {
                Ok(())
            }
        }
    }
}

/// That these are cycles, and not too many to be told.
fn check_cycles(text: &str) -> Result<(), Error> {
    let cycles = parse_cycles(text);
    let cycles = cycles.map_err(|problem| Error::usage(format!("`cycles`: {problem}")))?;
    if cycles.end - cycles.start > MOST_CYCLES {
        return Err(Error::usage(format!(
            "`cycles`: {text} are more than {MOST_CYCLES}, which is the most at a time; name both ends"
        )));
    }
    Ok(())
}

fn choices(argument: Option<&Arg>) -> Vec<String> {
    let values = argument.map(Arg::get_possible_values).unwrap_or_default();
    let names = values.iter().map(|value| value.get_name().to_owned());
    // Those of a flag.
    names
        .filter(|name| !["true", "false"].contains(&name.as_str()))
        .collect()
}

/// The schema of an object with these parameters of the command.
pub fn schema(parameters: &[Parameter], command: &Command) -> Value {
    let properties = parameters.iter();
    let properties = properties.map(|of| (of.name.to_owned(), of.schema(command)));
    let needed = parameters.iter().filter(|of| of.is_needed);
    json!({
        "type": "object",
        "properties": properties.collect::<Map<String, Value>>(),
        "required": needed.map(|of| of.name).collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// What a tool is asked.
#[derive(Debug)]
pub struct Asked {
    /// The words of the command beside what it always gets: options, and what stands without a name.
    pub options: Vec<String>,
    pub names: Vec<String>,
    /// The folder of the profile that is read or written.
    pub profile: Option<PathBuf>,
    /// How many rows of a list to give.
    pub top: usize,
}

impl Asked {
    /// What these values of the parameters of the command ask for.
    ///
    /// # Errors
    /// If a parameter is missing, unknown or of another type, or a path leads out of the place.
    pub fn new(
        parameters: &[Parameter],
        command: &Command,
        values: &Map<String, Value>,
        place: &Place,
    ) -> Result<Self, Error> {
        let names = parameters.iter().map(|of| of.name);
        for name in values.keys() {
            if !names.clone().any(|known| known == name) {
                let near = question(&nearest(name, names));
                let near = near.map_or_else(String::new, |near| format!("; {near}"));
                return Err(Error::usage(format!(
                    "there is no parameter `{name}`{near}"
                )));
            }
        }
        let mut asked = Self {
            options: Vec::new(),
            names: Vec::new(),
            profile: None,
            top: 0,
        };
        for parameter in parameters {
            asked.take(parameter, command, values.get(parameter.name), place)?;
        }
        Ok(asked)
    }

    fn take(
        &mut self,
        parameter: &Parameter,
        command: &Command,
        value: Option<&Value>,
        place: &Place,
    ) -> Result<(), Error> {
        let Parameter { name, kind, .. } = *parameter;
        let argument = parameter.argument(command);
        let texts = match (value, kind) {
            (Some(value), _) => parameter.texts(value, argument)?,
            (None, _) if parameter.is_needed => {
                return Err(Error::usage(format!("the parameter `{name}` is missing")));
            }
            (None, Kind::Top) => vec![ROWS.to_string()],
            (None, Kind::Cycles) => vec![CYCLES.to_owned()],
            // The design stands before it.
            (None, Kind::Out) => {
                let design = self
                    .names
                    .first()
                    .map(|name| petal_profile::design_name(name.as_ref()));
                vec![format!("petal-out/{}", design.unwrap_or_default())]
            }
            (None, _) => Vec::new(),
        };
        for text in texts {
            parameter.check(&text, place)?;
            if matches!(kind, Kind::Profile | Kind::Figures | Kind::Out) {
                self.profile = Some(text.clone().into());
            }
            match kind {
                Kind::Top => self.top = text.parse().unwrap_or(usize::MAX),
                Kind::Flag => self.options.push(format!("--{name}")),
                _ if argument.is_some_and(Arg::is_positional) => self.names.push(match &*text {
                    // Standard input is the client's.
                    "-" => "./-".to_owned(),
                    _ => text,
                }),
                _ => self.options.push(format!("--{name}={text}")),
            }
        }
        Ok(())
    }
}
