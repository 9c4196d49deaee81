//! What a name means as a value: a register, a memory, or an expression of the language of observations.
//!
//! Names may be those of the component cell that one looks at: `k` for `main.queue.k.out` while `main.queue` is looked at.

use petal_metadata::{CellKind, ComponentId, Metadata};
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
    let text = text.trim();
    let expression = || Variable {
        text: text.to_owned(),
        memory: None,
    };
    let end = text.find('[').unwrap_or(text.len());
    let (path, indices) = text.split_at(end);
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !path.chars().all(is_path) || path.is_empty() {
        return expression();
    }
    let metadata = recording.metadata();
    let inner = format!(
        "{}.{path}",
        instance_path(metadata, recording.instances(), instance)
    );
    for path in [inner.as_str(), path] {
        match held(metadata, path) {
            Some(Held::Register) => {
                return Variable {
                    text: format!("{path}.out{indices}"),
                    memory: None,
                };
            }
            Some(Held::Memory(signal)) => {
                return Variable {
                    text: format!("{path}{indices}"),
                    memory: indices.is_empty().then_some(signal),
                };
            }
            None => {}
        }
    }
    expression()
}

/// What the cell with this path holds: a register, or a memory by the hardware that does its work.
fn held(metadata: &Metadata, path: &str) -> Option<Held> {
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
            CellKind::Primitive(_) if names.peek().is_some() => return None,
            CellKind::Primitive(kind) if kind == "std_reg" => return Some(Held::Register),
            CellKind::Primitive(kind) => {
                let name = instance;
                return kind
                    .contains("_mem_d")
                    .then_some(Held::Memory(Signal { scope, name }));
            }
        }
    }
    None
}

/// The names of the registers and memories of a component, in the order of the program, those that the compiler made aside.
pub(crate) fn names(metadata: &Metadata, component: ComponentId) -> Vec<&str> {
    use petal_metadata::Origin;

    let cells = metadata.component(component).cells.iter();
    let held = cells.filter(|cell| match &cell.kind {
        CellKind::Primitive(kind) => kind == "std_reg" || kind.contains("_mem_d"),
        CellKind::Component(_) => false,
    });
    let held = held.filter(|cell| cell.origin != Origin::Compiler && cell.instance.is_some());
    held.map(|cell| cell.name.as_str()).collect()
}
