//! What the groups of a design drive, read from its source by the Calyx parser alone, to hold call
//! trees against.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use calyx_frontend::ast::{Atom, Port};
use calyx_frontend::parser::CalyxParser;
use petal_metadata::{CellKind, GroupKind, Metadata, Origin};
use petal_reconstruct::{CallTree, Node};

/// The cells that one group drives.
#[derive(Debug, Default)]
struct Drives {
    all: BTreeSet<String>,
    /// Those that are started by an unguarded `go` or `write_en`.
    always: BTreeSet<String>,
}

/// A program without the positions of a front end, as front ends write them.
fn without_positions(text: &str) -> String {
    let program = text.split("\nsourceinfo #{").next().unwrap_or_default();
    let forms = [("@pos{", "} "), ("<\"pos\"={", "}>"), (", \"pos\"={", "}")];
    forms
        .iter()
        .fold(program.to_owned(), |program, (open, close)| {
            let mut parts = program.split(open);
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |text, part| {
                let (_, rest) = part.split_once(close).expect("a position has an end");
                text + rest
            })
        })
}

/// The groups of a source file: component and group → cells.
pub struct Source(BTreeMap<(String, String), Drives>);

impl Source {
    /// Reads a design; imports are left out. Where this parser can't read the design for more than positions, the same
    /// lies beside it in a form that it can.
    pub fn of(design: &Path) -> Self {
        let plain = design.with_extension("futil.plain");
        let design = if plain.exists() { &plain } else { design };
        let text = std::fs::read_to_string(design)
            .unwrap_or_else(|error| panic!("{}: {error}", design.display()));
        let parsed = {
            let _alone = petal_program::parsing();
            CalyxParser::parse(without_positions(&text).as_bytes())
                .unwrap_or_else(|error| panic!("{}: {error:?}", design.display()))
        };
        let mut groups: BTreeMap<(String, String), Drives> = BTreeMap::new();
        for component in parsed.components {
            let name = component.name.to_string();
            let mut drive = |group: &calyx_frontend::ast::Group| {
                let drives = groups
                    .entry((name.clone(), group.name.to_string()))
                    .or_default();
                for wire in &group.wires {
                    let Port::Comp { component, port } = &wire.dest else {
                        continue;
                    };
                    drives.all.insert(component.to_string());
                    let started = matches!(port.as_ref(), "go" | "write_en" | "content_en");
                    let one = matches!(&wire.src.expr, Atom::Num(number) if number.val == 1);
                    if started && one && wire.src.guard.is_none() && !group.is_comb {
                        drives.always.insert(component.to_string());
                    }
                }
            };
            component.groups.iter().for_each(&mut drive);
            for group in &component.static_groups {
                let drives = groups
                    .entry((name.clone(), group.name.to_string()))
                    .or_default();
                for wire in &group.wires {
                    if let Port::Comp { component, .. } = &wire.dest {
                        drives.all.insert(component.to_string());
                    }
                }
            }
        }
        Self(groups)
    }

    /// Holds the cells below each group of a tree against those that the source's group drives:
    /// no other is there, and if `complete`, those are that the group starts in every cycle.
    pub fn check(
        &self,
        metadata: &Metadata,
        tree: &CallTree,
        complete: bool,
    ) -> Result<(), String> {
        for (id, node) in tree.nodes() {
            let Node::Group {
                component, group, ..
            } = node
            else {
                continue;
            };
            let component = metadata.component(component);
            let known = component.group(group);
            let key = (component.name.clone(), known.name.clone());
            let (Origin::Source, Some(drives)) = (&known.origin, self.0.get(&key)) else {
                continue;
            };
            let mut shown = BTreeSet::new();
            let mut parts = false;
            for child in tree.children(id) {
                match tree.node(child) {
                    Node::Primitive { cell, .. }
                        if component.cell(cell).origin != Origin::Source => {}
                    Node::Primitive { cell, .. } => {
                        shown.insert(component.cell(cell).name.clone());
                    }
                    Node::Cell { .. } => {}
                    // The group runs another one, or is split in parts.
                    _ => parts = true,
                }
            }
            if let Some(stranger) = shown.difference(&drives.all).next() {
                return Err(format!(
                    "{stranger} is below the group {}, which does not drive it",
                    known.name
                ));
            }
            let mut primitives = drives.always.iter().filter(|name| {
                component
                    .cells
                    .iter()
                    .any(|cell| cell.name == **name && matches!(cell.kind, CellKind::Primitive(_)))
            });
            let missing = primitives.find(|name| !shown.contains(*name));
            if let (true, GroupKind::Dynamic, false, Some(missing)) =
                (complete, known.kind, parts, missing)
            {
                return Err(format!(
                    "{missing} is not below the group {}, which starts it",
                    known.name
                ));
            }
        }
        Ok(())
    }
}
