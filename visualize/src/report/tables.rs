//! The tables of a report, and which of their rows tell of what.

use std::collections::HashMap;

use petal_metadata::{Id, Metadata, PositionId, Span};
use petal_reconstruct::Instance;
use serde::Serialize;
use serde_json::Value as Json;

use super::place::{SourceLine, front_end_line, source_line, written_line};
use petal_analysis::Analysis;
use petal_table::selection::SITE;
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
    /// The lines of the source that each row is about: that of the front end, then that of the Calyx program.
    places: Vec<Vec<SourceLine>>,
    /// The number of the site that each row is about alone, if there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sites: Vec<Json>,
    /// Whether its rows are lines of the front end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    front: bool,
}

impl PageTable {
    fn new(name: &'static str, table: &Table) -> Self {
        // A hotspot or loop has its site in the table of its kind, too.
        let sites = match name {
            "cells" | "groups" | "control" => table.column(SITE),
            _ => None,
        };
        let sites = sites.into_iter().flatten().map(Value::json).collect();
        let all: Vec<usize> = (0..table.rows().len()).collect();
        let table = table.part(&all, &table.of_people());
        let columns = table.columns().iter();
        let rows = table.rows().iter();
        Self {
            name,
            columns: columns
                .map(|column| (column.heading().to_owned(), column.is_number()))
                .collect(),
            rows: rows
                .map(|row| row.iter().map(Value::json).collect())
                .collect(),
            places: vec![Vec::new(); table.rows().len()],
            sites,
            front: false,
        }
    }

    /// The texts of two columns in each row.
    pub fn texts(&self, titles: [&str; 2]) -> impl Iterator<Item = [String; 2]> {
        let at = titles.map(|title| self.columns.iter().position(|(other, _)| other == title));
        self.rows.iter().map(move |row| {
            at.map(|at| {
                let text = at.and_then(|at| row[at].as_str());
                text.unwrap_or_default().to_owned()
            })
        })
    }

    /// Adds a column of numbers.
    pub fn push(&mut self, title: &str, values: Vec<Json>) {
        self.columns.push((title.to_owned(), true));
        for (row, value) in self.rows.iter_mut().zip(values) {
            row.push(value);
        }
    }
}

/// The tables, with their rows by what they tell of.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Those of cells, groups, control, hotspots and loops, in this order; then that of the front end's lines, if there are any.
    pub views: Vec<PageTable>,
    rows: HashMap<RowId, Vec<Row>>,
}

impl Tables {
    /// The tables of a run.
    pub fn new(analysis: &Analysis<'_>) -> Self {
        let metadata = analysis.metadata();
        let instances = analysis.profile().instances();
        let tables = [
            ("cells", analysis.cells()),
            ("groups", analysis.groups()),
            ("control", analysis.statements()),
            ("hotspots", analysis.hotspots_table()),
            ("loops", analysis.loops()),
        ];
        let mut views = Vec::new();
        let mut rows: HashMap<RowId, Vec<Row>> = HashMap::new();
        for (number, (name, table)) in tables.iter().enumerate() {
            let mut view = PageTable::new(name, table);
            for (row, id) in table.ids().iter().enumerate() {
                let Some(id) = *id else { continue };
                rows.entry(id).or_default().push((number, row));
                let (positions, span) = place(metadata, instances, id);
                let lines = [front_end_line(metadata, positions), source_line(span)];
                view.places[row] = lines.into_iter().flatten().collect();
            }
            views.push(view);
        }
        if analysis.has_front_end() {
            let mut view = PageTable::new("lines", &analysis.lines());
            let lines = analysis.front_end().lines();
            let places = lines.map(|line| written_line(metadata, line).into_iter().collect());
            view.places = places.collect();
            view.front = true;
            views.push(view);
        }
        Self { views, rows }
    }

    /// The headings of their columns.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        let columns = self.views.iter().flat_map(|view| &view.columns);
        columns.map(|(heading, _)| heading.as_str())
    }

    /// The rows that tell of `id`: one in the table of such things, others in that of hotspots.
    pub fn rows(&self, id: RowId) -> &[Row] {
        self.rows.get(&id).map_or(&[], Vec::as_slice)
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
