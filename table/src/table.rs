//! A table with names, and the ways to write it.

mod layout;

use std::fmt::Write as _;

use petal_metadata::{ComponentId, ControlId, GroupId};
use petal_reconstruct::InstanceId;
use serde_json::{Map, Value as Json};

use crate::text::markdown;
use crate::{Column, Screen, Value};

/// What a row tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowId {
    /// A component cell.
    Cell(InstanceId),
    /// A group of a component.
    Group(ComponentId, GroupId),
    /// A statement of a component.
    Statement(ComponentId, ControlId),
}

/// What a spreadsheet takes for the begin of a formula, or skips before looking for one (OWASP, *CSV
/// Injection*).
const FORMULA: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];
/// Tells Excel that a file is UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Rows as comma-separated values, as [`Table::csv`] has them. There may be more rows than there is memory for at once.
pub fn csv<R: AsRef<[Value]>>(
    heading: impl Iterator<Item = impl AsRef<[u8]>>,
    rows: impl Iterator<Item = R>,
) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(heading);
    let written = rows.fold(written, |so_far, row| {
        so_far.and_then(|()| writer.write_record(row.as_ref().iter().map(spreadsheet)))
    });
    written.expect("all lines have the same length, and a vector can be written");
    let bytes = writer.into_inner().expect("a vector can be written");
    let mut text = String::from_utf8(bytes).expect("only texts were written");
    if !text.is_ascii() {
        text.insert(0, BYTE_ORDER_MARK);
    }
    text
}

fn spreadsheet(value: &Value) -> String {
    let text = value.plain();
    match value {
        Value::Text(_) | Value::Texts(_) if text.starts_with(FORMULA) => format!("'{text}"),
        _ => text,
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
    ids: Vec<Option<RowId>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Appends a row: a value for each column.
    pub fn push(&mut self, row: Vec<Value>) {
        self.append(None, row);
    }

    /// Appends a row that tells of `id`.
    pub fn push_of(&mut self, id: RowId, row: Vec<Value>) {
        self.append(Some(id), row);
    }

    fn append(&mut self, id: Option<RowId>, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
        self.ids.push(id);
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// What each row tells of, where it is one thing of the design.
    pub fn ids(&self) -> &[Option<RowId>] {
        &self.ids
    }

    /// The values of the column `name`.
    pub fn column(&self, name: &str) -> Option<Vec<&Value>> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.rows.iter().map(|row| &row[at]).collect())
    }

    /// These rows and columns of it, by their positions.
    #[must_use]
    pub fn part(&self, rows: &[usize], columns: &[usize]) -> Self {
        let row = |row: &usize| {
            let values = columns.iter().map(|&at| self.rows[*row][at].clone());
            values.collect()
        };
        Self {
            columns: columns.iter().map(|&at| self.columns[at].clone()).collect(),
            rows: rows.iter().map(row).collect(),
            ids: rows.iter().map(|&row| self.ids[row]).collect(),
        }
    }

    /// The same with one column more after the column `name`, made of that.
    #[must_use]
    pub fn with_after(mut self, name: &str, column: Column, of: impl Fn(&Value) -> Value) -> Self {
        if let Some(at) = self.columns.iter().position(|other| other.name == name) {
            self.columns.insert(at + 1, column);
            for row in &mut self.rows {
                let value = of(&row[at]);
                row.insert(at + 1, value);
            }
        }
        self
    }

    /// The columns that people read.
    pub fn of_people(&self) -> Vec<usize> {
        let all = self.columns.iter().enumerate();
        let shown = all.filter(|(_, column)| !column.is_aside);
        shown.map(|(at, _)| at).collect()
    }

    /// The same, whose columns were all asked for: people read them, too.
    #[must_use]
    pub(crate) fn asked_for(mut self) -> Self {
        for column in &mut self.columns {
            column.is_aside = false;
        }
        self
    }

    /// Comma-separated values with a heading line (RFC 4180, but lines end with `\n`).
    ///
    /// Made for scripts and spreadsheets alike: numbers are digits and a decimal point. A text that
    /// a spreadsheet would take for a formula gets a leading apostrophe. Without a byte order mark
    /// Excel takes a file to be in the encoding of its country; so there is one if any character is
    /// not ASCII, and none in all other files, which read the same in every encoding.
    pub fn csv(&self) -> String {
        let heading = self.columns.iter().map(|column| column.name.as_str());
        csv(heading, self.rows.iter())
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        let shown = self.of_people();
        let columns = || shown.iter().map(|&at| &self.columns[at]);
        line(columns().map(|column| markdown(&column.name)).collect());
        let rule = |column: &Column| if column.is_number() { "---:" } else { "---" }.to_owned();
        line(columns().map(rule).collect());
        let columns: Vec<Vec<String>> = shown.iter().map(|&at| self.values(at)).collect();
        for row in 0..self.rows.len() {
            line(
                columns
                    .iter()
                    .map(|column| markdown(&column[row]))
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

    /// Aligned columns.
    pub fn text(&self) -> String {
        self.text_on(Screen::PLAIN, usize::MAX)
    }

    /// Aligned columns as a screen shows them, in lines that begin with so many spaces.
    pub fn shown(&self, screen: Screen, indent: usize) -> String {
        let room = if screen.is_terminal {
            screen.width.saturating_sub(indent)
        } else {
            usize::MAX
        };
        let lines = self.text_on(screen, room);
        let lines = lines.lines().map(|line| format!("{:indent$}{line}\n", ""));
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    pub(super) fn table(rows: Vec<(&str, u64, f64, u64)>) -> Table {
        let mut table = Table::new(vec![
            Column::text("name"),
            Column::number("cycles"),
            Column::number("avg"),
            Column::number("other"),
        ]);
        for (name, cycles, average, other) in rows {
            table.push(vec![
                name.into(),
                cycles.into(),
                Value::Decimal(average),
                other.into(),
            ]);
        }
        table
    }

    #[test]
    fn numbers_stand_to_the_right_with_thousands_apart() {
        let text = table(vec![
            ("a", 7, 0.5, 0),
            ("long_name", 1_234_567, 1234.5, 0),
            ("名前", 999, 999.999, 1),
        ])
        .text();
        expect![[r#"
            name          cycles       avg  other
            a                  7      0.50      0
            long_name  1,234,567  1,234.50      0
            名前             999  1,000.00      1
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn spreadsheets_see_texts_as_texts_and_numbers_as_numbers() {
        let texts = [
            ("plain", "plain"),
            ("a, \"b\"\nc", "a, \"b\"\nc"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
        ];
        let rows = texts.map(|(text, _)| (text, 1_234_567, 1234.5, 0)).to_vec();
        let csv = table(rows).csv();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let read: Vec<csv::StringRecord> = reader
            .records()
            .collect::<Result<_, _>>()
            .expect("it is CSV");
        assert_eq!(read.len(), texts.len());
        for (record, (_, expected)) in read.iter().zip(texts) {
            assert_eq!(record, vec![expected, "1234567", "1234.50", "0"]);
        }
    }

    #[test]
    fn csv_is_marked_as_utf_8_where_that_matters() {
        assert!(table(vec![("ascii", 1, 1.0, 1)]).csv().starts_with("name,"));
        let marked = table(vec![("naïve", 1, 1.0, 1)]).csv();
        assert!(marked.starts_with("\u{feff}name,"), "{marked:?}");
    }

    #[test]
    fn markdown_shows_names_as_they_are() {
        let text = table(vec![
            ("run_s1", 1_234_567, 1.0, 0),
            ("a|b\\|c", 1, 1.0, 0),
            ("`x` *y* __z__ [l](u)", 1, 1.0, 0),
            ("<img src=x> & co", 1, 1.0, 0),
            ("two\nlines\tand a tab", 1, 1.0, 0),
        ])
        .markdown();
        expect![[r#"
            | name | cycles | avg | other |
            | --- | ---: | ---: | ---: |
            | run_s1 | 1,234,567 | 1.00 | 0 |
            | a\|b\\\|c | 1 | 1.00 | 0 |
            | \`x\` \*y\* \_\_z\_\_ \[l\](u) | 1 | 1.00 | 0 |
            | &lt;img src=x&gt; &amp; co | 1 | 1.00 | 0 |
            | two�lines and a tab | 1 | 1.00 | 0 |
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn json_has_numbers_and_nothing() {
        let mut table = table(vec![("a\"b", u64::MAX, 1.005, 0)]);
        table.push(vec![
            Value::Empty,
            Value::Empty,
            Value::percent(1, 3),
            Value::Empty,
        ]);
        expect![[r#"
            [
              {
                "avg": 1.0,
                "cycles": 18446744073709551615,
                "name": "a\"b",
                "other": 0
              },
              {
                "avg": 33.33,
                "cycles": null,
                "name": null,
                "other": null
              }
            ]"#]]
        .assert_eq(&format!("{:#}", table.json()));
    }

    #[test]
    fn nothing_in_a_name_changes_the_terminal() {
        let text = table(vec![("red \x1b[31m\r\n", 1, 1.0, 0)]).text();
        assert!(!text.contains(['\x1b', '\r']), "{text:?}");
        assert_eq!(text.lines().count(), 2);
    }
}
