//! The tables of a report, and which of their rows tell of what.

use std::collections::HashMap;

use petal_metadata::{ComponentId, ControlId, GroupId, Id, Metadata};
use petal_reconstruct::{Instance, InstanceId};
use serde::Serialize;
use serde_json::Value as Json;

use super::frames::{Place, place};
use crate::cells::path;
use crate::table::{Align, Table, Value};

/// A row: which table, and which of its rows.
pub(crate) type Row = (usize, usize);

const CELLS: usize = 0;
const GROUPS: usize = 1;
const CONTROL: usize = 2;

/// A table as the page shows it.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    name: &'static str,
    /// Title of each column, and whether it has numbers.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<Json>>,
    /// The line of the source that each row is about.
    places: Vec<Option<Place>>,
}

impl View {
    fn new(name: &'static str, table: &Table) -> Self {
        let columns = table.columns().iter();
        let rows = table.rows().iter();
        Self {
            name,
            columns: columns
                .map(|column| (column.name.clone(), column.align == Align::Right))
                .collect(),
            rows: rows
                .map(|row| row.iter().map(Value::json).collect())
                .collect(),
            places: vec![None; table.rows().len()],
        }
    }
}

/// The tables, with their rows by what they tell of.
#[derive(Debug)]
pub(crate) struct Tables {
    pub views: [View; 3],
    cells: Vec<Option<usize>>,
    groups: HashMap<(ComponentId, GroupId), usize>,
    /// The row of each component's first statement.
    control: Vec<usize>,
}

impl Tables {
    /// The tables of cells, groups and control, in this order.
    pub fn new(metadata: &Metadata, instances: &[Instance], tables: [&Table; 3]) -> Self {
        let [cells, groups, control] = tables;
        let mut views = [
            View::new("cells", cells),
            View::new("groups", groups),
            View::new("control", control),
        ];
        let paths = keys(cells, ["cell", "component"]);
        let cells: Vec<Option<usize>> = instances
            .iter()
            .enumerate()
            .map(|(at, instance)| {
                let component = metadata.component(instance.component);
                let path = path(metadata, instances, InstanceId::from_index(at));
                let row = paths
                    .get(&(path.as_str(), component.name.as_str()))
                    .copied();
                if let Some(row) = row {
                    let cell = instance.parent.and_then(|(holder, cell)| {
                        let holder = instances[holder.index()].component;
                        metadata.component(holder).cell(cell).span
                    });
                    views[CELLS].places[row] = place(cell.or(component.span));
                }
                row
            })
            .collect();
        let names = keys(groups, ["component", "group"]);
        let mut groups = HashMap::new();
        let mut first = Vec::new();
        let mut statements = 0;
        for id in metadata.component_ids() {
            let component = metadata.component(id);
            for (at, group) in component.groups.iter().enumerate() {
                let name = (component.name.as_str(), group.name.as_str());
                if let Some(&row) = names.get(&name) {
                    groups.insert((id, GroupId::from_index(at)), row);
                    views[GROUPS].places[row] = place(group.span);
                }
            }
            // The table has the statements of all components, in order.
            first.push(statements);
            for (at, node) in component.control.iter().enumerate() {
                views[CONTROL].places[statements + at] = place(node.span);
            }
            statements += component.control.len();
        }
        Self {
            views,
            cells,
            groups,
            control: first,
        }
    }

    /// The row of a cell, if it ran.
    pub fn cell(&self, id: InstanceId) -> Option<Row> {
        self.cells[id.index()].map(|row| (CELLS, row))
    }

    /// The row of a group, if it has one.
    pub fn group(&self, component: ComponentId, id: GroupId) -> Option<Row> {
        let row = self.groups.get(&(component, id))?;
        Some((GROUPS, *row))
    }

    /// The row of a statement.
    pub fn control(&self, component: ComponentId, id: ControlId) -> Row {
        (CONTROL, self.control[component.index()] + id.index())
    }
}

/// The rows of a table by two texts that name them.
fn keys<'t>(table: &'t Table, names: [&str; 2]) -> HashMap<(&'t str, &'t str), usize> {
    let [first, second] = names.map(|name| table.column(name).unwrap_or_default());
    let text = |value: &'t Value| match value {
        Value::Text(text) => text.as_str(),
        _ => "",
    };
    first
        .into_iter()
        .zip(second)
        .map(|(first, second)| (text(first), text(second)))
        .zip(0..)
        .collect()
}
