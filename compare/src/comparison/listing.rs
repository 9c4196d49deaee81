//! How lists of what two runs have become tables: in which style, and which rows are shown.

use petal_table::{Column, Screen, Table, Value};

/// How a comparison is written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Aligned text, as a screen shows it.
    Text(Screen),
    /// Markdown, as GitHub reads it.
    Markdown,
}

/// How many rows of a table are shown, if not all are asked for.
const SHOWN: usize = 20;

/// A row that is shown or not.
pub(super) struct Row {
    pub changed: bool,
    /// What the table is sorted by: the largest first.
    pub rank: (u64, u64),
    pub values: Vec<Value>,
}

/// A list of what two runs have, before it is decided which of it is shown.
pub(super) struct Listing {
    /// What a row is, and several.
    one: &'static str,
    many: &'static str,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Listing {
    pub fn new(
        [one, many]: [&'static str; 2],
        columns: Vec<Column>,
        rows: impl Iterator<Item = Row>,
    ) -> Self {
        Self {
            one,
            many,
            columns,
            rows: rows.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What several rows are.
    pub fn many(&self) -> &'static str {
        self.many
    }

    /// A table of the rows that are shown, and lines that tell of the others.
    pub fn table(self, all: bool) -> (Table, Vec<String>) {
        let mut rows = self.rows;
        let mut table = Table::new(self.columns);
        let mut hidden = Vec::new();
        let mut tell = |count: usize, what: &str| {
            if count > 0 {
                let name = if count == 1 { self.one } else { self.many };
                hidden.push(format!("{count} {name} {what} (`--all` shows them)"));
            }
        };
        rows.sort_by_key(|row| std::cmp::Reverse(row.rank));
        if !all {
            let count = rows.len();
            rows.retain(|row| row.changed);
            let unchanged = count - rows.len();
            tell(rows.len().saturating_sub(SHOWN), "with smaller changes");
            tell(unchanged, "unchanged");
            rows.truncate(SHOWN);
        }
        for row in rows {
            table.push(row.values);
        }
        (table, hidden)
    }
}

pub(super) fn write(table: &Table, style: Style) -> String {
    match style {
        Style::Text(screen) => table.shown(screen, 0),
        Style::Markdown => table.markdown(),
    }
}
