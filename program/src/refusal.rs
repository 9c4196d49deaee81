//! How an error of the Calyx compiler is told: its place, the line with a mark, and for a name that does not exist
//! those that it may have been meant to be.
//!
//! Owns the reading of the compiler's messages, which have names in words alone. Knows the syntax tree, and no pass.

use std::fmt;
use std::ops::Range;

use calyx_frontend::NamespaceDef;
use calyx_frontend::PortDef;
use calyx_frontend::ast::ComponentDef;
use calyx_utils::{Error, Id};

use crate::{library, syntax};

/// A message about a place in a file.
pub(crate) struct Told<'a> {
    path: &'a str,
    /// The number of the line, counted from 1, and its text.
    line: (usize, &'a str),
    /// The bytes of the line that the message is about.
    at: usize,
    length: usize,
    message: String,
}

impl<'a> Told<'a> {
    /// A message about so many bytes at an offset of a text.
    pub fn at(path: &'a str, text: &'a str, at: usize, length: usize, message: String) -> Self {
        let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            path,
            line: (
                syntax::line(text, at),
                text[begin..].lines().next().unwrap_or_default(),
            ),
            at: at - begin,
            length,
            message,
        }
    }
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, at, .. } = self;
        let (number, text) = self.line;
        let before = text.get(..*at).unwrap_or_default();
        let column = before.chars().count() + 1;
        writeln!(f, "{path}:{number}:{column}: {}", self.message)?;
        writeln!(f, "{number} |{}", text.trim_end())?;
        let margin = " ".repeat(number.to_string().len());
        let space = before.chars().map(|c| if c == '\t' { c } else { ' ' });
        let marked = text.get(*at..).unwrap_or_default();
        let marked = marked.get(..self.length).unwrap_or(marked).trim_end();
        let mark = "^".repeat(marked.chars().count().max(1));
        write!(f, "{margin} |{}{mark}", space.collect::<String>())
    }
}

/// An error of the compiler, with its place where it has one.
pub(crate) fn tell(error: &Error) -> String {
    let said = format!("{error:?}");
    let message = error.message();
    let placed = || {
        // The file, `12 |` and the line, and below it a mark and the message, which others may follow.
        let (path, rest) = said.split_once('\n')?;
        // Upstream's passes return several errors, which are one text.
        let is_text = message == said;
        if !is_text && path != error.location().0 {
            return None;
        }
        let (line, rest) = rest.split_once('\n')?;
        let (number, text) = line.split_once(" |")?;
        let (_, mark) = rest.split_once('|')?;
        let at = mark.find('^')?;
        let length = mark[at..].find(|c| c != '^')?;
        let message = if is_text {
            mark[at + length..].lines().next()?.trim()
        } else {
            &message
        };
        let more = rest.split_once(message)?.1;
        let told = Told {
            path,
            line: (number.parse().ok()?, text),
            at,
            length,
            message: message.to_owned(),
        };
        Some(format!("{told}{more}"))
    };
    placed().unwrap_or_else(|| said.clone())
}

/// A Calyx file of the program.
pub(crate) struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
    pub namespace: NamespaceDef,
}

/// An error of the compiler about a program of these files.
pub(crate) fn tell_of(error: &Error, sources: &[Source<'_>]) -> String {
    if let Some(told) = without_entry(&error.message(), sources) {
        return told;
    }
    let (path, start, end) = error.location();
    tell_of_name(&error.message(), Some((path, start..end)), sources).unwrap_or_else(|| tell(error))
}

/// The message that no component is the outermost one, at the component that is likeliest to be meant.
fn without_entry(message: &str, sources: &[Source<'_>]) -> Option<String> {
    if !message.starts_with("No entry point") {
        return None;
    }
    let all = sources.iter().flat_map(|source| {
        let components = source.namespace.components.iter();
        components.map(move |component| (component.name, source))
    });
    let all: Vec<(Id, &Source<'_>)> = all.collect();
    let near = petal_metadata::nearest("main", all.iter().map(|(name, _)| name.to_string()));
    let meant = near.first().and_then(|near| {
        let mut all = all.iter();
        all.find(|(name, _)| name.as_ref() == near)
    });
    let &(name, source) = meant.or(all.last())?;
    let at = syntax::find_word(source.text, name.as_ref(), 0..source.text.len()).next()?;
    let message = format!(
        "No entry point for the program: no component is called `main`. If it is `{name}`, call that one `main`, or mark it: `component {name}<\"toplevel\"=1>`"
    );
    let told = Told::at(source.path, source.text, at, name.as_ref().len(), message);
    Some(told.to_string())
}

/// A message about a name that is not there, if it is one. `span` is where the compiler has it from.
pub(crate) fn tell_of_name(
    message: &str,
    span: Option<(&str, Range<usize>)>,
    sources: &[Source<'_>],
) -> Option<String> {
    let missing = Missing::of(message)?;
    let source = span.and_then(|(path, span)| {
        let source = sources.iter().find(|source| source.path == path)?;
        Some((source, span))
    });
    let placed = source.as_ref().and_then(|(source, span)| {
        let at = syntax::find_word(source.text, missing.name, span.clone()).next()?;
        Some((*source, at))
    });
    // The compiler has no place for everything, but a name that is there once can be nowhere else.
    let only = || {
        let mut all = sources.iter().flat_map(|source| {
            let everywhere = 0..source.text.len();
            let places = syntax::find_word(source.text, missing.name, everywhere);
            places.map(move |at| (source, at))
        });
        all.next().filter(|_| all.next().is_none())
    };
    let (source, at) = placed.or_else(|| source.is_none().then(only).flatten())?;
    let near = match &missing.what {
        What::Prototype => of_library(missing.name),
        _ => None,
    };
    let near =
        near.unwrap_or_else(|| nearest(missing.name, missing.candidates(source, at, sources)));
    let message = match message.split_once(" name: ") {
        // Upstream's has the cell before a port.
        Some((kind, _)) => format!("{kind} name: {}{near}", missing.name),
        None => format!("{message}{near}"),
    };
    let told = Told::at(source.path, source.text, at, missing.name.len(), message);
    Some(told.to_string())
}

/// Which file of the library has a primitive, if one has it: that file is not imported then.
fn of_library(primitive: &str) -> Option<String> {
    let files = library::files();
    let (file, _) = files.iter().find(|(name, text)| {
        let code = name.strip_suffix(".futil").map(|_| &**text);
        code.is_some_and(|code| {
            let mut words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.any(|word| word == primitive) && code.contains(&format!("primitive {primitive}"))
        })
    })?;
    // That file is for the compiler, and a part of what everybody imports.
    let file = match &**file {
        "compile.futil" => "core.futil",
        file => file,
    };
    Some(format!(
        "; `import \"primitives/{file}\";` at the beginning of the file has it"
    ))
}

/// A name that is not there.
struct Missing<'a> {
    name: &'a str,
    what: What<'a>,
}

/// What a name that is not there should be.
enum What<'a> {
    Cell,
    /// Of the cell whose name stands before it.
    PortOfCell,
    /// Of the component that it stands in.
    OwnPort,
    /// Of this component or primitive.
    PortOf(&'a str),
    /// That this component takes.
    RefCellOf(&'a str),
    Group,
    CombGroup,
    /// Of a group: `go` or `done`.
    Hole,
    Prototype,
}

impl<'a> Missing<'a> {
    /// Reads a message.
    fn of(message: &'a str) -> Option<Self> {
        if let Some(rest) = message.strip_prefix("Undefined ") {
            let (kind, name) = rest.split_once(" name: ")?;
            let what = match kind {
                "cell" => What::Cell,
                "port" => {
                    let name = name.rsplit('.').next()?;
                    let what = What::PortOfCell;
                    return Some(Self { name, what });
                }
                "component port" => What::OwnPort,
                "group" | "group or fsm" => What::Group,
                "combinational group" => What::CombGroup,
                // Upstream's compiler names its group, too.
                "hole" => {
                    let name = name.rsplit('.').next()?;
                    let what = What::Hole;
                    return Some(Self { name, what });
                }
                "primitive or component" => What::Prototype,
                _ => return None,
            };
            return Some(Self { name, what });
        }
        if let Some((component, name)) = message.split_once(" does not have ref cell named ") {
            let component = component.rsplit(' ').next()?;
            let what = What::RefCellOf(component);
            return Some(Self { name, what });
        }
        let (cell, name) = message.split_once(" does not have port named `")?;
        let (_, prototype) = cell.split_once("(which is an instance of ")?;
        Some(Self {
            name: name.strip_suffix('`')?,
            what: What::PortOf(prototype.strip_suffix(')')?),
        })
    }

    /// The names of such things that could stand at the offset `at` of `source`.
    fn candidates(&self, source: &Source<'_>, at: usize, sources: &[Source<'_>]) -> Vec<Id> {
        let component = || {
            let name = syntax::component_at(source.text, at)?;
            let mut components = source.namespace.components.iter();
            components.find(|component| component.name == name)
        };
        let of_component = |names: fn(&ComponentDef) -> Vec<Id>| component().map(names);
        let names = match self.what {
            What::Cell => of_component(|component| {
                let cells = component.cells.iter();
                cells.map(|cell| cell.name).collect()
            }),
            What::OwnPort => component().map(ports_of_component),
            What::PortOf(prototype) => ports(prototype, sources),
            What::RefCellOf(component) => {
                let namespaces = sources.iter().map(|source| &source.namespace);
                let mut components = namespaces.flat_map(|namespace| &namespace.components);
                let component = components.find(|known| known.name == component);
                component.map(|component| {
                    let cells = component.cells.iter().filter(|cell| cell.reference);
                    cells.map(|cell| cell.name).collect()
                })
            }
            What::PortOfCell => {
                let cell = component_cell(source.text, at);
                let prototype = component().and_then(|component| {
                    let mut cells = component.cells.iter();
                    let cell = cells.find(|known| Some(known.name.as_ref()) == cell)?;
                    Some(cell.prototype.name)
                });
                prototype.and_then(|prototype| ports(prototype.as_ref(), sources))
            }
            What::Group => of_component(|component| {
                let groups = component.groups.iter().filter(|group| !group.is_comb);
                let groups = groups.map(|group| group.name);
                groups
                    .chain(component.static_groups.iter().map(|group| group.name))
                    .collect()
            }),
            What::CombGroup => of_component(|component| {
                let groups = component.groups.iter().filter(|group| group.is_comb);
                groups.map(|group| group.name).collect()
            }),
            What::Hole => Some(["go", "done"].map(Id::from).to_vec()),
            What::Prototype => Some(prototypes(sources)),
        };
        names.unwrap_or_default()
    }
}

/// The name of the cell before the port at the offset `at`.
fn component_cell(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end().strip_suffix('.')?.trim_end();
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\'');
    let begin = before.rfind(|c| !of_name(c)).map_or(0, |at| at + 1);
    Some(&before[begin..])
}

fn ports_of_component(component: &ComponentDef) -> Vec<Id> {
    let ports = component.signature.iter().map(PortDef::name);
    // Each has these, whether or not they are written.
    ports.chain(["go", "done"].map(Id::from)).collect()
}

/// The ports of a component or primitive.
fn ports(prototype: &str, sources: &[Source<'_>]) -> Option<Vec<Id>> {
    sources.iter().find_map(|Source { namespace, .. }| {
        let mut components = namespace.components.iter();
        if let Some(component) = components.find(|component| component.name == prototype) {
            return Some(ports_of_component(component));
        }
        let mut primitives = namespace
            .externs
            .iter()
            .flat_map(|(_, primitives)| primitives);
        let primitive = primitives.find(|primitive| primitive.name == prototype)?;
        Some(primitive.signature.iter().map(PortDef::name).collect())
    })
}

/// The names of all components and primitives.
fn prototypes(sources: &[Source<'_>]) -> Vec<Id> {
    let namespaces = sources.iter().map(|source| &source.namespace);
    let names = namespaces.flat_map(|namespace| {
        let components = namespace.components.iter().map(|component| component.name);
        let primitives = namespace
            .externs
            .iter()
            .flat_map(|(_, primitives)| primitives);
        components.chain(primitives.map(|primitive| primitive.name))
    });
    names.collect()
}

/// A question whether one of `names` is meant, if some are near.
pub fn nearest<N: AsRef<str>>(name: &str, names: impl IntoIterator<Item = N>) -> String {
    let question = petal_metadata::question(&petal_metadata::nearest(name, names));
    question.map_or_else(String::new, |question| format!("; {question}"))
}
