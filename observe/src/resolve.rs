//! What a path in an expression names: a signal, a memory, or something that can be active.
//!
//! Paths are those of the source: of cells from main on, then a port, a cell, a group or a statement. Where a cell shares the
//! hardware of another one, its signals are those of that hardware.

use petal_metadata::{
    CellId, CellKind, Component, ComponentId, GroupId, GroupRunId, Id, Metadata, labels,
    nearest_of, question,
};
use petal_reconstruct::Signal;

use crate::activity::{Subject, SubjectKind};
use crate::directory::{Directory, Memory};

/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A signal with its width.
    Signal(Signal, u32),
    /// A memory.
    Memory(Signal, Memory),
    /// Something that is active or not, and the signal or memory of the same name.
    Subject(Subject),
}

/// Why a path names nothing.
#[derive(Debug)]
pub(crate) struct Unknown {
    /// How many of its names are right.
    pub right: usize,
    pub message: String,
    pub help: Option<String>,
}

/// Looks names up in a design.
pub(crate) struct Names<'a> {
    pub metadata: &'a Metadata,
    pub directory: &'a Directory,
}

/// An instance of a component on the way along a path.
struct Location {
    component: ComponentId,
    scope: Vec<String>,
    /// The cells from main on.
    cells: Vec<CellId>,
}

impl Names<'_> {
    /// What `path` names.
    pub fn find(&self, path: &[String]) -> Result<Target, Unknown> {
        let main = self.metadata.component(self.metadata.main);
        if path.first() != Some(&main.name) {
            return Err(Unknown {
                right: 0,
                message: format!("paths begin with `{}`, the main component", main.name),
                help: path
                    .first()
                    .map(|_| format!("write `{}.{}`", main.name, path.join("."))),
            });
        }
        let mut place = Location {
            component: self.metadata.main,
            scope: self.metadata.scope.clone(),
            cells: Vec::new(),
        };
        let mut at = 1;
        while at < path.len() {
            let rest = &path[at..];
            if let Some(target) = self.here(&place, rest) {
                return Ok(target);
            }
            match self.enter(&place, &rest[0], at)? {
                Some(inner) => place = inner,
                None => return Err(self.unknown(&place, rest, at)),
            }
            at += 1;
        }
        Ok(Target::Subject(Self::cell_subject(&place)))
    }

    /// A component cell as a subject.
    fn cell_subject(place: &Location) -> Subject {
        Subject {
            holder: place.cells.clone(),
            kind: SubjectKind::Instance,
        }
    }

    /// What the rest of a path names in an instance, but for component cells.
    fn here(&self, place: &Location, rest: &[String]) -> Option<Target> {
        let component = self.metadata.component(place.component);
        let subject = |kind| {
            Target::Subject(Subject {
                holder: place.cells.clone(),
                kind,
            })
        };
        match rest {
            [name] => {
                let groups = labels::group_labels(component);
                let named = (0..groups.len()).filter(|&at| groups[at] == *name);
                let named: Vec<GroupId> = named.map(Id::from_index).collect();
                let runs = component.runs.iter().enumerate();
                let runs = runs.filter(|(_, run)| named.contains(&run.group));
                let runs: Vec<_> = runs.map(|(at, _)| Id::from_index(at)).collect();
                if !runs.is_empty() {
                    return Some(subject(SubjectKind::Group(runs)));
                }
                let all = labels::control_labels(self.metadata, component);
                let label = all.iter().position(|label| {
                    label == name || label.strip_prefix("static ") == Some(name.as_str())
                });
                if let Some(node) = label {
                    let node = Id::from_index(node);
                    return Some(subject(SubjectKind::of_statement(component, node)));
                }
                if let Some(runs) = self.enabled_at(component, &groups, name) {
                    return Some(subject(SubjectKind::Group(runs)));
                }
                if let Some(signal) = self.signal(place, name.clone()) {
                    return Some(signal);
                }
                let cell = self.signal_of(place, name);
                if let Some(memory) = self.directory.memory(&cell) {
                    return Some(Target::Memory(cell, memory));
                }
                let primitive = component.cells.iter().position(|cell| {
                    cell.name == *name && matches!(cell.kind, CellKind::Primitive(_))
                });
                primitive.map(|cell| subject(SubjectKind::Primitive(Id::from_index(cell))))
            }
            [cell, port] => {
                let cell = self.signal_of(place, cell).name;
                self.signal(place, format!("{cell}_{port}"))
            }
            _ => None,
        }
    }

    /// The runs of a group by those of its enables that are written there: `save@L12`, or `save@L12:9` of several on a line.
    fn enabled_at(
        &self,
        component: &Component,
        groups: &[String],
        name: &str,
    ) -> Option<Vec<GroupRunId>> {
        let (group, at) = name.rsplit_once('@')?;
        let runs = component.runs.iter().enumerate();
        let runs = runs.filter(|(_, run)| {
            let enable = run.control.map(|node| component.node(node));
            let enable = enable.filter(|node| node.kind.is_enable());
            let place = enable.and_then(|node| node.span);
            groups[run.group.index()] == group
                && place.is_some_and(|place| labels::is_at(self.metadata, place, at))
        });
        let runs: Vec<_> = runs.map(|(at, _)| Id::from_index(at)).collect();
        (!runs.is_empty()).then_some(runs)
    }

    fn signal(&self, place: &Location, name: String) -> Option<Target> {
        let scope = place.scope.clone();
        let signal = Signal { scope, name };
        let width = self.directory.width(&signal)?;
        Some(Target::Signal(signal, width))
    }

    /// The hardware of a cell.
    fn signal_of(&self, place: &Location, cell: &str) -> Signal {
        let component = self.metadata.component(place.component);
        let mut cells = component.cells.iter();
        let instance = cells.find(|of| of.name == cell);
        let instance = instance.and_then(|cell| cell.instance.as_deref());
        // Verilog has no other characters in names.
        let plain =
            |name: &str| name.replace(|c: char| c != '_' && !c.is_ascii_alphanumeric(), "_");
        Signal {
            scope: place.scope.clone(),
            name: instance.map_or_else(|| plain(cell), str::to_owned),
        }
    }

    /// Goes into a component cell; `None` if there is none of the name.
    fn enter(
        &self,
        place: &Location,
        name: &str,
        right: usize,
    ) -> Result<Option<Location>, Unknown> {
        let component = self.metadata.component(place.component);
        let mut cells = component.cells.iter().enumerate();
        let cell = cells.find(|(_, cell)| cell.name == name);
        let Some((id, cell)) = cell else {
            return Ok(None);
        };
        let CellKind::Component(inner) = cell.kind else {
            return Ok(None);
        };
        let Some(instance) = &cell.instance else {
            return Err(Unknown {
                right,
                message: format!(
                    "`{name}` is a `ref` cell, which stands for another cell in each call"
                ),
                help: Some("name the cell that it stands for".to_owned()),
            });
        };
        let mut scope = place.scope.clone();
        scope.push(instance.clone());
        let mut cells = place.cells.clone();
        cells.push(Id::from_index(id));
        Ok(Some(Location {
            component: inner,
            scope,
            cells,
        }))
    }

    fn unknown(&self, place: &Location, rest: &[String], right: usize) -> Unknown {
        let component = self.metadata.component(place.component);
        let name = &rest[0];
        let cells = component.cells.iter().map(|cell| cell.name.clone());
        let groups = labels::group_labels(component);
        let statements = labels::control_labels(self.metadata, component);
        let prefix = self.metadata.prefix.named("");
        let signals = self.directory.names(&place.scope);
        let signals = signals.filter(|name| !name.starts_with(&prefix));
        // A cell without its port, and a port.
        let cell = self.signal_of(place, name).name;
        let ports: Vec<&str> = self.directory.ports(&place.scope, &cell).collect();
        if !ports.is_empty() {
            let (right, wrong) = match rest.get(1) {
                Some(port) => (right + 1, format!("`{name}` has no port `{port}`")),
                None => (right, format!("`{name}` is a cell, which is no value")),
            };
            return Unknown {
                right,
                message: wrong,
                help: Some(format!("its ports are {}", list(&ports))),
            };
        }
        let all = cells
            .chain(groups)
            .chain(statements)
            .chain(signals.map(|name| name.replacen('_', ".", 1)))
            .map(|other| {
                let is_port = other.contains('.');
                (
                    if is_port {
                        rest.join(".")
                    } else {
                        name.clone()
                    },
                    other,
                )
            });
        let help = did_you_mean(all).unwrap_or_else(|| {
            "the compiler may have removed or renamed it: with `--passes no-opt` everything is there".to_owned()
        });
        Unknown {
            right,
            message: format!(
                "the component `{}` has no cell, port, group or statement `{name}` in the compiled design",
                component.name
            ),
            help: Some(help),
        }
    }
}

/// A question whether one of the names is meant, each of which has what it would have to be.
pub(crate) fn did_you_mean(names: impl Iterator<Item = (String, String)>) -> Option<String> {
    question(&nearest_of(names))
}

/// Names in a sentence.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
