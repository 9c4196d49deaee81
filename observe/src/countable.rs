//! What of a design can be counted, by name: what memories, multipliers, registers, state machines and cells do.

use std::collections::HashSet;

use indexmap::IndexMap;
use petal_metadata::{CellId, CellKind, ComponentId, Id as _, Metadata};
use petal_reconstruct::Signal;

use crate::directory::Directory;

/// A counter that has a name without being asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Countable {
    /// What it is called: the path of a cell, or a kind of cells in brackets, and what is counted.
    pub name: String,
    /// What is added up over all cycles: of all cells of a kind more than one expression.
    pub values: Vec<String>,
    /// What that is, in words.
    pub about: &'static str,
}

/// All counters that a design has, in the order of its cells.
pub fn countable(metadata: &Metadata, directory: &Directory) -> Vec<Countable> {
    let mut list = List {
        metadata,
        directory,
        counters: Vec::new(),
        of_kind: IndexMap::new(),
    };
    let main = metadata.component(metadata.main).name.clone();
    list.add(metadata.main, &metadata.scope, &main);
    let List {
        counters, of_kind, ..
    } = list;
    let sums = of_kind.into_values();
    let sums = sums.filter(|of| of.values.len() > 1);
    counters.into_iter().chain(sums).collect()
}

/// Those whose names match a pattern, in which `*` stands for any text.
pub(crate) fn matching<'a>(
    pattern: &str,
    counters: &'a [Countable],
) -> impl Iterator<Item = &'a Countable> {
    let pattern = pattern.to_owned();
    counters
        .iter()
        .filter(move |counter| matches(&pattern, &counter.name))
}

/// Whether a name matches a pattern, in which `*` stands for any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, rest @ ..] = &parts[..] else {
        return false;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let Some((last, between)) = rest.split_last() else {
        return left.is_empty();
    };
    for part in between {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

struct List<'a> {
    metadata: &'a Metadata,
    directory: &'a Directory,
    counters: Vec<Countable>,
    /// The sums over all cells of a kind, by their names.
    of_kind: IndexMap<String, Countable>,
}

impl List<'_> {
    /// Adds those of an instance, which has this path.
    fn add(&mut self, component: ComponentId, scope: &[String], path: &str) {
        let component = self.metadata.component(component);
        let machines: HashSet<&str> = component
            .registers
            .iter()
            .map(|of| of.name.as_str())
            .collect();
        let cells: Vec<(String, String)> = self
            .directory
            .cells(scope)
            .filter(|(name, _)| !name.starts_with(&self.metadata.prefix.named("")))
            .map(|(name, primitive)| (name.to_owned(), primitive.to_owned()))
            .collect();
        for (name, primitive) in cells {
            let cell = format!("{path}.{name}");
            let signal = Signal {
                scope: scope.to_vec(),
                name: name.clone(),
            };
            let all = self.of_cell(&signal, &cell, &primitive, machines.contains(&*name));
            for (what, value, about) in all {
                let kinds = [
                    format!("[{primitive}].{what}"),
                    format!("[{}].{name}.{what}", component.name),
                ];
                self.count(format!("{cell}.{what}"), kinds, value, about);
            }
        }
        let hardware: Vec<CellId> = component.instances().map(|(id, _)| id).collect();
        for (at, cell) in component.cells.iter().enumerate() {
            let (CellKind::Component(inner), Some(instance)) = (&cell.kind, &cell.instance) else {
                continue;
            };
            let path = format!("{path}.{}", quoted(&cell.name));
            let kind = &self.metadata.component(*inner).name;
            let all = [
                ("active", path.clone(), "cycles in which the cell is active"),
                (
                    "useful",
                    format!("useful({path})"),
                    "cycles in which something useful runs in the cell",
                ),
                (
                    "overhead",
                    format!("overhead({path})"),
                    "cycles in which the cell only moves its control along",
                ),
            ];
            for (what, value, about) in all {
                let kinds = [
                    format!("[{kind}].{what}"),
                    format!("[{}].{}.{what}", component.name, cell.name),
                ];
                self.count(format!("{path}.{what}"), kinds, value, about);
            }
            // Of several that share hardware, one has its counters.
            if hardware.contains(&CellId::from_index(at)) {
                let mut scope = scope.to_vec();
                scope.push(instance.clone());
                self.add(*inner, &scope, &path);
            }
        }
    }
}

impl List<'_> {
    /// What a cell that is no component's has to count: what it is called, the expression, and what that is.
    fn of_cell(
        &self,
        signal: &Signal,
        cell: &str,
        primitive: &str,
        is_machine: bool,
    ) -> Vec<(&'static str, String, &'static str)> {
        let width = |port: &str| Some(self.directory.port(signal, port)?.1);
        let has = |port| width(port) == Some(1);
        let mut all = Vec::new();
        if is_machine {
            all.push((
                "transitions",
                format!("changed({cell}.out)"),
                "cycles in which this state machine, or other control register, changes",
            ));
        } else if primitive == "std_reg" {
            all.push((
                "writes",
                format!("{cell}.write_en"),
                "cycles in which the register is written",
            ));
            if width("out").is_some_and(|width| width <= u64::BITS) {
                all.push((
                    "toggles",
                    format!("toggles({cell}.out)"),
                    "bits of the register that change",
                ));
            }
        } else if primitive.contains("_mem_d") {
            if has("content_en") {
                all.push((
                    "writes",
                    format!("{cell}.content_en && {cell}.write_en"),
                    "cycles in which the memory is written",
                ));
                all.push((
                    "read_cycles",
                    format!("{cell}.content_en && !{cell}.write_en"),
                    "cycles in which the memory is read",
                ));
                all.push((
                    "idle",
                    format!("!{cell}.content_en"),
                    "cycles in which the memory is neither read nor written",
                ));
            } else if has("write_en") {
                // It is read without being asked.
                all.push((
                    "writes",
                    format!("{cell}.write_en"),
                    "cycles in which the memory is written",
                ));
            }
        } else if has("go") && has("done") {
            all.push((
                "busy",
                format!("{cell}.go"),
                "cycles in which the cell is asked to work",
            ));
        }
        all
    }

    /// Adds a counter of a cell, to those of all cells of its kinds as well.
    fn count(&mut self, name: String, kinds: [String; 2], value: String, about: &'static str) {
        for kind in kinds {
            let sum = self.of_kind.entry(kind.clone());
            let sum = sum.or_insert_with(|| Countable {
                name: kind,
                values: Vec::new(),
                about,
            });
            sum.values.push(value.clone());
        }
        self.counters.push(Countable {
            name,
            values: vec![value],
            about,
        });
    }
}

/// A name as expressions have it.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if is_plain {
        name.to_owned()
    } else {
        format!("`{name}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        let counter = |name: &str| Countable {
            name: name.to_owned(),
            values: Vec::new(),
            about: "",
        };
        let all = ["main.a.writes", "main.a.read_cycles", "main.q.a.writes"].map(counter);
        let names =
            |pattern| -> Vec<&str> { matching(pattern, &all).map(|of| of.name.as_str()).collect() };
        assert_eq!(names("main.a.writes"), ["main.a.writes"]);
        assert_eq!(names("*.writes"), ["main.a.writes", "main.q.a.writes"]);
        assert_eq!(names("main.a.*"), ["main.a.writes", "main.a.read_cycles"]);
        assert_eq!(
            names("*a*e*"),
            ["main.a.writes", "main.a.read_cycles", "main.q.a.writes"]
        );
        assert_eq!(names("*.write"), [""; 0]);
    }
}
