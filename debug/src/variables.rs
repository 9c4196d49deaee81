//! What a name means as a value: a register, a memory, or an expression of the language of observations.
//!
//! Names may be those of the component cell that one looks at: `k` for `main.queue.k.out` while `main.queue` is looked at.

use petal_metadata::{Cell, CellKind, Component, ComponentId, Id as _, Metadata, Origin};
use petal_reconstruct::{InstanceId, Signal, instance_path};

use crate::recording::Recording;

/// What a text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its text in the language of observations, such as `main.k.out`.
    pub text: String,
    /// The memory that is asked for as a whole.
    pub memory: Option<Signal>,
}

/// A cell of a primitive that has a value.
enum Held {
    Register,
    Memory(Signal),
}

/// What a text asks for where one looks at a component cell.
pub(crate) fn variable(recording: &Recording, text: &str, instance: InstanceId) -> Variable {
    let text = qualified(recording, text.trim(), instance);
    let memory = match held(recording.metadata(), &text) {
        Some(Held::Memory(signal)) => Some(signal),
        Some(Held::Register) | None => None,
    };
    Variable { text, memory }
}

/// A text in which names of the component cell that one looks at have their whole paths, and registers their outputs.
fn qualified(recording: &Recording, text: &str, instance: InstanceId) -> String {
    let is_start = |c: char| c == '_' || c.is_ascii_alphabetic();
    let is_part = |c: char| c == '_' || c == '.' || c.is_ascii_alphanumeric();
    let mut written = String::new();
    let mut rest = text;
    let (mut before, mut is_quoted) = (' ', false);
    while let Some(first) = rest.chars().next() {
        is_quoted ^= first == '`';
        // Within a number, a label or quotes nothing is a name of its own.
        let begins = is_start(first) && !is_part(before) && !['\'', '@', ':'].contains(&before);
        let begins = begins && !is_quoted;
        let length = if begins {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (part, after) = rest.split_at(length);
        let is_name = begins && !after.starts_with('@') && !after.trim_start().starts_with('(');
        if is_name && !part.ends_with('.') {
            written.push_str(&named(recording, part, instance));
        } else {
            written.push_str(part);
        }
        before = part.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    written
}

/// A name with its whole path, and the output of a register for its cell.
fn named(recording: &Recording, name: &str, instance: InstanceId) -> String {
    let metadata = recording.metadata();
    let component = recording.instances()[instance.index()].component;
    let component = metadata.component(component);
    let first = name.split('.').next().unwrap_or(name);
    let is_main = first == metadata.component(metadata.main).name;
    let mut here = component
        .cells
        .iter()
        .map(|cell| &cell.name)
        .chain(component.groups.iter().map(|group| &group.name));
    let path = if !is_main && here.any(|of| of == first) {
        let holder = instance_path(metadata, recording.instances(), instance);
        format!("{holder}.{name}")
    } else {
        name.to_owned()
    };
    match held(metadata, &path) {
        Some(Held::Register) => format!("{path}.out"),
        Some(Held::Memory(_)) | None => path,
    }
}

/// What the cell with this path holds: a register, or a memory by the hardware that does its work.
fn held(metadata: &Metadata, path: &str) -> Option<Held> {
    let (_, cell, scope) = cell(metadata, path)?;
    match &cell.kind {
        CellKind::Primitive(kind) if kind == "std_reg" => Some(Held::Register),
        CellKind::Primitive(kind) => {
            let name = cell.instance.clone()?;
            kind.contains("_mem_d")
                .then_some(Held::Memory(Signal { scope, name }))
        }
        CellKind::Component(_) => None,
    }
}

/// The cell of a primitive with this path, the component that it is in, and the scope of its hardware.
fn cell<'a>(metadata: &'a Metadata, path: &str) -> Option<(&'a Component, &'a Cell, Vec<String>)> {
    let mut names = path.split('.');
    let mut component = metadata.component(metadata.main);
    if names.next()? != component.name {
        return None;
    }
    let mut scope = metadata.scope.clone();
    let mut names = names.peekable();
    while let Some(name) = names.next() {
        let cell = component.cells.iter().find(|cell| cell.name == name)?;
        let instance = cell.instance.clone()?;
        match &cell.kind {
            CellKind::Component(inner) => {
                component = metadata.component(*inner);
                scope.push(instance);
            }
            CellKind::Primitive(_) => {
                return names.peek().is_none().then_some((component, cell, scope));
            }
        }
    }
    None
}

/// The cells of which the compiler made one with that of a text, if it is a cell or the output of a register.
pub(crate) fn joined<'a>(metadata: &'a Metadata, text: &str) -> Vec<&'a str> {
    let path = text.strip_suffix(".out").unwrap_or(text);
    let Some((component, cell, _)) = cell(metadata, path) else {
        return Vec::new();
    };
    let others = component.cells.iter();
    let others = others.filter(|other| other.instance == cell.instance && other.name != cell.name);
    others.map(|other| other.name.as_str()).collect()
}

/// The names of the registers and memories of a component, in the order of the program, those that the compiler made aside.
pub(crate) fn names(metadata: &Metadata, component: ComponentId) -> Vec<&str> {
    let cells = metadata.component(component).cells.iter();
    let held = cells.filter(|cell| match &cell.kind {
        CellKind::Primitive(kind) => kind == "std_reg" || kind.contains("_mem_d"),
        CellKind::Component(_) => false,
    });
    let held = held.filter(|cell| cell.origin != Origin::Compiler && cell.instance.is_some());
    held.map(|cell| cell.name.as_str()).collect()
}
