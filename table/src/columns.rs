//! The columns of a table with what each has in a row: the one list that text, Markdown, CSV, JSON and databases are made from.

use crate::{Column, Kind, Prose, RowId, Table, Value};

/// What a column has in a row.
type Cell<R> = Box<dyn Fn(&R) -> Value>;

/// The columns of a table, each of whose rows is made of an `R`.
pub struct Columns<R>(Vec<(Column, Cell<R>)>);

impl<R> Default for Columns<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R> Columns<R> {
    /// A column of texts.
    #[must_use]
    pub fn text(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::text(name), value)
    }

    /// A column of texts that only programs read.
    #[must_use]
    pub fn aside(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::aside(name), value)
    }

    /// A column of prose.
    #[must_use]
    pub fn prose(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::prose(name), value)
    }

    /// A column of whole numbers.
    #[must_use]
    pub fn number(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::number(name), value)
    }

    /// A column of numbers that are not whole.
    #[must_use]
    pub fn decimal(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::of(name, Kind::Decimal), value)
    }

    /// A column of anything.
    #[must_use]
    pub fn with(mut self, column: Column, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.0.push((column, Box::new(value)));
        self
    }

    /// A column of values in hardware.
    #[must_use]
    pub fn bits(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::of(name, Kind::Bits), value)
    }

    /// A column of lists of texts.
    #[must_use]
    pub fn texts(self, name: impl Into<String>, value: impl Fn(&R) -> Value + 'static) -> Self {
        self.with(Column::of(name, Kind::Texts), value)
    }

    /// The last column may have nothing in a row.
    #[must_use]
    pub fn optional(mut self) -> Self {
        if let Some((column, _)) = self.0.last_mut() {
            column.is_optional = true;
        }
        self
    }

    /// The last column is prose that goes on in more lines where there is no room for it.
    #[must_use]
    pub fn folding(mut self) -> Self {
        if let Some((column, _)) = self.0.last_mut() {
            column.prose = Some(Prose::Folded);
        }
        self
    }

    /// The last column has another heading for people.
    #[must_use]
    pub fn titled(mut self, title: &'static str) -> Self {
        if let Some((column, _)) = self.0.last_mut() {
            column.title = Some(title);
        }
        self
    }

    /// These, and then others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The columns without their values.
    pub fn list(&self) -> impl Iterator<Item = &Column> {
        self.0.iter().map(|(column, _)| column)
    }

    /// What a row has in each.
    pub fn values(&self, row: &R) -> Vec<Value> {
        self.0.iter().map(|(_, value)| value(row)).collect()
    }

    /// The table of rows.
    pub fn table(&self, rows: impl IntoIterator<Item = R>) -> Table {
        let mut table = Table::new(self.list().cloned().collect());
        rows.into_iter()
            .for_each(|row| table.push(self.values(&row)));
        table
    }

    /// The table of rows that each tell of something.
    pub fn table_of(&self, rows: impl IntoIterator<Item = (RowId, R)>) -> Table {
        let mut table = Table::new(self.list().cloned().collect());
        rows.into_iter()
            .for_each(|(id, row)| table.push_of(id, self.values(&row)));
        table
    }
}
