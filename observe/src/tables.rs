//! What observations gave, as tables: the one list of their columns that files, printed texts, the report and databases are made from.

use petal_metadata::SiteId;
use petal_table::{Column, Columns, Value};

/// A table of results.
pub struct ResultTable<'a> {
    /// What it is called: its file, and its table in databases.
    pub name: &'static str,
    /// What stands above it, where it is shown.
    pub title: String,
    /// Which forms it has.
    pub forms: Forms,
    columns: Vec<Column>,
    rows: RowIterator<'a>,
}

/// The forms that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// A file and a table of databases; and it is shown after a run and in the report.
    All,
    /// All, but it is not shown.
    FileAndDatabase,
    /// All but a table of databases.
    FileAndShown,
    /// A table of databases alone.
    Database,
    /// A file alone.
    File,
    /// It is shown, and no more.
    Shown,
}

impl Forms {
    /// Whether it has a file.
    pub fn has_file(self) -> bool {
        !matches!(self, Self::Database | Self::Shown)
    }

    /// Whether it is shown.
    pub fn is_shown(self) -> bool {
        matches!(self, Self::All | Self::FileAndShown | Self::Shown)
    }

    /// Whether databases have it.
    pub fn is_of_databases(self) -> bool {
        !matches!(self, Self::FileAndShown | Self::File | Self::Shown)
    }
}

/// The rows of a table. There may be more of them than cycles, so nobody has all at once.
type RowIterator<'a> = Box<dyn Iterator<Item = Vec<Value>> + 'a>;

impl<'a> ResultTable<'a> {
    /// With a row for each of these.
    pub(crate) fn new<R: 'a>(
        name: &'static str,
        title: impl Into<String>,
        columns: Columns<R>,
        rows: impl Iterator<Item = R> + 'a,
    ) -> Self {
        Self {
            name,
            title: title.into(),
            forms: Forms::All,
            columns: columns.list().cloned().collect(),
            rows: Box::new(rows.map(move |row| columns.values(&row))),
        }
    }

    /// In these forms.
    pub(crate) fn with(self, forms: Forms) -> Self {
        Self { forms, ..self }
    }

    /// Its columns, and its rows, each with a value for every column.
    pub fn into_parts(self) -> (Vec<Column>, impl Iterator<Item = Vec<Value>> + 'a) {
        (self.columns, self.rows)
    }
}

/// What a table has in its column `site`.
pub(crate) fn site(id: SiteId) -> Value {
    id.to_string().into()
}

/// A number where there is one.
pub(crate) fn or_empty(number: Option<u64>) -> Value {
    number.map_or(Value::Empty, Value::Count)
}
