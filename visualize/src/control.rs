//! The table of control nodes: how often each statement was entered, and for how many cycles.

use std::collections::BTreeMap;

use petal_metadata::{ComponentId, ControlId, Id, Metadata, labels};

use crate::activations::{Activations, Durations};
use crate::spans::Item;
use crate::table::{Column, Table, Value};

/// The table of control nodes, in source order of each component. The activations of all instances
/// of the component count together. An enable counts the cycles of its group.
pub fn control(metadata: &Metadata, activations: &Activations<'_>) -> Table {
    let mut durations: BTreeMap<(ComponentId, ControlId), Durations> = BTreeMap::new();
    for (key, found) in activations.durations() {
        let id = activations.component_of(key);
        let node = match key.item {
            Item::Control(node) => Some(node),
            Item::Group(run) => metadata
                .component(id)
                .run(run)
                .control
                .filter(|&node| metadata.component(id).node(node).kind.is_enable()),
            Item::Cell | Item::Primitive(_) => None,
        };
        if let Some(node) = node {
            durations.entry((id, node)).or_default().merge(found);
        }
    }
    let mut table = Table::new(vec![
        Column::text("component"),
        Column::text("statement"),
        Column::text("file"),
        Column::number("line"),
        Column::number("times entered"),
        Column::number("cycles"),
        Column::number("min"),
        Column::number("max"),
        Column::number("avg"),
    ]);
    for id in metadata.component_ids() {
        let component = metadata.component(id);
        let names = labels::control_labels(metadata, component);
        for (at, node) in component.control.iter().enumerate() {
            let found = durations
                .get(&(id, ControlId::from_index(at)))
                .copied()
                .unwrap_or_default();
            let name = match node.group {
                Some(group) => component.group(group).name.as_str(),
                None => &names[at],
            };
            let bound = |cycles: u64| {
                if found.count == 0 {
                    Value::Empty
                } else {
                    cycles.into()
                }
            };
            table.push(vec![
                component.name.as_str().into(),
                name.into(),
                node.span.map_or(Value::Empty, |span| {
                    metadata.files[span.file.index()].name.as_str().into()
                }),
                node.span
                    .map_or(Value::Empty, |span| u64::from(span.line).into()),
                found.count.into(),
                found.total.into(),
                bound(found.min),
                bound(found.max),
                Value::average(found.total, found.count),
            ]);
        }
    }
    table
}
