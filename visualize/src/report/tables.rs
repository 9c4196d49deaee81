//! The tables of a report, and which of their rows tell of what.

use std::collections::HashMap;

use petal_metadata::{Id, Metadata, PositionId, Span};
use petal_reconstruct::Instance;
use serde::Serialize;
use serde_json::Value as Json;

use super::place::{SourceLine, front_end_line, source_line};
use petal_table::{RowId, Table, Value};

/// A row: which table, and which of its rows.
pub(crate) type Row = (usize, usize);

/// A table as the page shows it.
#[derive(Debug, Serialize)]
pub(crate) struct PageTable {
    name: &'static str,
    /// Title of each column, and whether it has numbers.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<Json>>,
    /// The line of the source that each row is about.
    places: Vec<Option<SourceLine>>,
}

impl PageTable {
    fn new(name: &'static str, table: &Table) -> Self {
        let columns = table.columns().iter();
        let rows = table.rows().iter();
        Self {
            name,
            columns: columns
                .map(|column| (column.name.clone(), column.is_number()))
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
    pub views: [PageTable; 3],
    rows: HashMap<RowId, Row>,
}

impl Tables {
    /// The tables of cells, groups and control, in this order.
    pub fn new(metadata: &Metadata, instances: &[Instance], tables: [&Table; 3]) -> Self {
        let [cells, groups, control] = tables;
        let mut views = [
            PageTable::new("cells", cells),
            PageTable::new("groups", groups),
            PageTable::new("control", control),
        ];
        let mut rows = HashMap::new();
        for (number, table) in tables.into_iter().enumerate() {
            for (row, id) in table.ids().iter().enumerate() {
                let Some(id) = *id else { continue };
                rows.insert(id, (number, row));
                let (positions, span) = place(metadata, instances, id);
                views[number].places[row] =
                    front_end_line(metadata, positions).or(source_line(span));
            }
        }
        Self { views, rows }
    }

    /// The headings of all columns.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        let columns = self.views.iter().flat_map(|view| &view.columns);
        columns.map(|(heading, _)| heading.as_str())
    }

    /// The row that tells of `id`, if there is one.
    pub fn row(&self, id: RowId) -> Option<Row> {
        self.rows.get(&id).copied()
    }
}

/// Where something is written, in the front end's files and in the Calyx program.
fn place<'a>(
    metadata: &'a Metadata,
    instances: &[Instance],
    id: RowId,
) -> (&'a [PositionId], Option<Span>) {
    match id {
        RowId::Cell(id) => {
            let Instance { component, parent } = instances[id.index()];
            let cell = parent.map(|(holder, cell)| {
                let holder = instances[holder.index()].component;
                metadata.component(holder).cell(cell)
            });
            match cell.filter(|cell| cell.span.is_some()) {
                Some(cell) => (&cell.positions, cell.span),
                None => {
                    let component = metadata.component(component);
                    (&component.positions, component.span)
                }
            }
        }
        RowId::Group(id, group) => {
            let group = metadata.component(id).group(group);
            (&group.positions, group.span)
        }
        RowId::Statement(id, statement) => {
            let node = metadata.component(id).node(statement);
            (&node.positions, node.span)
        }
    }
}
