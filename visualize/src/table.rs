//! A table with names, and the ways to write it.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

/// On which side of its column a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading; also the key in JSON.
    pub name: String,
    /// Alignment in text and Markdown.
    pub align: Align,
}

impl Column {
    /// A column of texts.
    pub fn text(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            align: Align::Left,
        }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            align: Align::Right,
        }
    }
}

/// A value in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number with two decimals.
    Decimal(f64),
    /// Nothing.
    Empty,
}

impl Value {
    /// `part` of `whole` in per cent.
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    pub fn percent(part: u64, whole: u64) -> Self {
        if whole == 0 {
            Self::Empty
        } else {
            Self::Decimal(part as f64 * 100.0 / whole as f64)
        }
    }

    /// `total` divided by `count`.
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    pub fn average(total: u64, count: u64) -> Self {
        if count == 0 {
            Self::Empty
        } else {
            Self::Decimal(total as f64 / count as f64)
        }
    }

    /// As in data files: digits only.
    fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Decimal(number) => format!("{number:.2}"),
            Self::Empty => String::new(),
        }
    }

    /// As for people: thousands separated.
    fn pretty(&self) -> String {
        match self {
            Self::Count(count) => thousands(*count),
            other => other.plain(),
        }
    }

    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Text(text) => Json::from(text.as_str()),
            Self::Count(count) => Json::from(*count),
            Self::Decimal(number) => Json::from((number * 100.0).round() / 100.0),
            Self::Empty => Json::Null,
        }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    /// Appends a row: a value for each column.
    pub fn push(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// The values of the column `name`.
    pub fn column(&self, name: &str) -> Option<Vec<&Value>> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.rows.iter().map(|row| &row[at]).collect())
    }

    /// Comma-separated values with a heading line (RFC 4180). A text that a spreadsheet would take
    /// for a formula gets a leading apostrophe.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let heading = self
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(Self::spreadsheet).collect());
        let lines: Vec<Vec<String>> = std::iter::once(heading).chain(rows).collect();
        for line in lines {
            writer
                .write_record(&line)
                .expect("all lines have the same length");
        }
        let bytes = writer.into_inner().expect("a vector can be written");
        String::from_utf8(bytes).expect("only texts were written")
    }

    fn spreadsheet(value: &Value) -> String {
        let text = value.plain();
        match value {
            Value::Text(_) if text.starts_with(['=', '+', '-', '@']) => format!("'{text}"),
            _ => text,
        }
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        line(
            self.columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
        );
        line(
            self.columns
                .iter()
                .map(|column| match column.align {
                    Align::Left => "---".to_owned(),
                    Align::Right => "---:".to_owned(),
                })
                .collect(),
        );
        for row in &self.rows {
            line(
                row.iter()
                    .map(|value| value.pretty().replace('|', "\\|"))
                    .collect(),
            );
        }
        text
    }

    /// A JSON array with an object for each row.
    pub fn json(&self) -> Json {
        self.rows
            .iter()
            .map(|row| {
                self.columns
                    .iter()
                    .zip(row)
                    .map(|(column, value)| (column.name.clone(), value.json()))
                    .collect::<Map<String, Json>>()
            })
            .map(Json::Object)
            .collect()
    }

    /// Aligned columns, for a terminal.
    pub fn text(&self) -> String {
        let cells: Vec<Vec<String>> = std::iter::once(
            self.columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
        )
        .chain(
            self.rows
                .iter()
                .map(|row| row.iter().map(Value::pretty).collect()),
        )
        .collect();
        let width = |at: usize| {
            cells
                .iter()
                .map(|row: &Vec<String>| row[at].chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| width(at).unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &cells {
            let mut line = String::new();
            for ((cell, column), &width) in row.iter().zip(&self.columns).zip(&widths) {
                let _ = match column.align {
                    Align::Left => write!(line, "{cell:<width$}  "),
                    Align::Right => write!(line, "{cell:>width$}  "),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
