//! Which rows and columns of a table are shown, and in which order.
//!
//! Owns what is asked for and what is shown if nothing is. Knows neither the run nor the terminal.

use std::cmp::Ordering;
use std::str::FromStr;

use petal_metadata::nearest;
use thiserror::Error;

use crate::text::thousands;
use crate::{Table, Value};

/// What people are shown of each table that has it.
pub const TIME: &str = "time us";

/// What programs join tables and other outputs by.
pub const SITE: &str = "site";

/// How many rows of a table are shown if nothing else is asked for.
const ROWS: usize = 10;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The columns, in this order; all if there are none.
    pub columns: Vec<String>,
    /// What must hold of a row: all of it.
    pub filters: Vec<Filter>,
    /// The column to sort by: numbers descend, texts ascend, and rows without a value come last.
    pub sort: Option<String>,
    /// Sort the other way round, if sorted at all.
    pub reverse: bool,
    /// Only so many rows.
    pub top: Option<usize>,
}

/// What must hold of a row: `component=main`, `cycles>100`.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    column: String,
    test: Test,
    value: String,
}

/// How a value is held against that of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Is,
    IsNot,
    Contains,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Test {
    /// All tests; where one is the beginning of another, the longer one comes first.
    const ALL: [(&'static str, Self); 7] = [
        ("!=", Self::IsNot),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("=", Self::Is),
        ("~", Self::Contains),
        ("<", Self::Less),
        (">", Self::More),
    ];
}

/// Why a selection can't be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// The table has no such column.
    #[error("the table has no column `{name}`; {}", rather(.near))]
    Column {
        /// What was asked for.
        name: String,
        /// Names of columns that look like it; if none does, of all.
        near: Vec<String>,
    },
    /// A filter is not of the form that filters have.
    #[error(
        "`{0}` is no filter: write a column, one of = != ~ < <= > >=, and a value, such as `component=main` or `cycles>100`"
    )]
    Filter(String),
    /// A filter compares with what is no number.
    #[error("`{value}` is no number, which `{column}` is compared with")]
    Number {
        /// The column.
        column: String,
        /// What it is compared with.
        value: String,
    },
}

fn rather(near: &[String]) -> String {
    match near {
        [one] => format!("is it `{one}`?"),
        many => format!("there are `{}`", many.join("`, `")),
    }
}

impl FromStr for Filter {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let malformed = || SelectionError::Filter(text.to_owned());
        let at = text.find(['=', '!', '~', '<', '>']).ok_or_else(malformed)?;
        let (column, rest) = text.split_at(at);
        let tests = Test::ALL.into_iter();
        let mut tests = tests.filter_map(|(sign, test)| Some((test, rest.strip_prefix(sign)?)));
        let (test, value) = tests.next().ok_or_else(malformed)?;
        if column.trim().is_empty() {
            return Err(malformed());
        }
        Ok(Self {
            column: column.trim().to_owned(),
            test,
            value: value.trim().to_owned(),
        })
    }
}

/// A filter whose column is known.
struct Condition<'a> {
    column: usize,
    test: Test,
    text: &'a str,
    number: Option<f64>,
}

impl Condition<'_> {
    fn holds(&self, row: &[Value]) -> bool {
        let value = &row[self.column];
        let order = match (number(value), self.number) {
            (Some(number), Some(other)) => number.partial_cmp(&other),
            _ => None,
        };
        let same = || match (value, order) {
            (Value::Text(text), _) => text.eq_ignore_ascii_case(self.text),
            (Value::Empty | Value::Unknown, _) => self.text.is_empty(),
            (_, order) => order == Some(Ordering::Equal),
        };
        match self.test {
            Test::Is => same(),
            Test::IsNot => !same(),
            Test::Contains => {
                let text = value.plain().to_lowercase();
                text.contains(&self.text.to_lowercase())
            }
            Test::Less => order == Some(Ordering::Less),
            Test::AtMost => order.is_some_and(Ordering::is_le),
            Test::More => order == Some(Ordering::Greater),
            Test::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run is as long")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Count(count) => Some(*count as f64),
        Value::Signed(number) => Some(*number as f64),
        other => other.number(),
    }
}

/// Which of two values comes first: larger numbers, smaller texts, and what is empty last.
fn order(a: &Value, b: &Value, reverse: bool) -> Ordering {
    let either = |order: Ordering| if reverse { order.reverse() } else { order };
    let has_none = |value: &Value| matches!(value, Value::Empty | Value::Unknown);
    match (a, b) {
        _ if has_none(a) || has_none(b) => has_none(a).cmp(&has_none(b)),
        (Value::Text(a), Value::Text(b)) => either(a.cmp(b)),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => either(b.total_cmp(&a)),
            (a, b) => a.is_none().cmp(&b.is_none()),
        },
    }
}

impl Selection {
    /// All rows, those with most in this column first.
    fn by(column: &str) -> Self {
        Self {
            sort: Some(column.to_owned()),
            ..Self::default()
        }
    }

    /// The rows and columns of `table` that are asked for.
    ///
    /// # Errors
    /// For a column that the table does not have, and where a number is compared with what is none.
    pub fn of(&self, table: &Table) -> Result<Table, SelectionError> {
        let filters = self.filters.iter();
        let conditions: Vec<Condition<'_>> = filters
            .map(|filter| {
                let number = filter.value.parse().ok();
                let ordered = !matches!(filter.test, Test::Is | Test::IsNot | Test::Contains);
                if ordered && number.is_none() {
                    return Err(SelectionError::Number {
                        column: filter.column.clone(),
                        value: filter.value.clone(),
                    });
                }
                Ok(Condition {
                    column: position(table, &filter.column)?,
                    test: filter.test,
                    text: &filter.value,
                    number,
                })
            })
            .collect::<Result<_, _>>()?;
        let holds = |row: &Vec<Value>| conditions.iter().all(|condition| condition.holds(row));
        let mut rows: Vec<usize> = (0..table.rows().len()).collect();
        rows.retain(|&row| holds(&table.rows()[row]));
        if let Some(sort) = &self.sort {
            let by = position(table, sort)?;
            rows.sort_by(|&a, &b| order(&table.rows()[a][by], &table.rows()[b][by], self.reverse));
        }
        rows.truncate(self.top.unwrap_or(usize::MAX));
        let names = self.columns.iter();
        let mut columns: Vec<usize> = names
            .map(|name| position(table, name))
            .collect::<Result<_, _>>()?;
        if columns.is_empty() {
            columns = (0..table.columns().len()).collect();
            return Ok(table.part(&rows, &columns));
        }
        Ok(table.part(&rows, &columns).asked_for())
    }
}

/// The rows of a table that tell of something which was active, or charged.
fn active(table: &Table) -> Table {
    let columns = table.columns().iter().enumerate();
    let counts = columns.filter(|(_, column)| {
        column.is_number() && !OF_THE_PROGRAM.contains(&column.name.as_str())
    });
    let counts: Vec<usize> = counts.map(|(at, _)| at).collect();
    let rows = table.rows().iter().enumerate();
    let rows = rows.filter(|(_, row)| counts.iter().any(|&at| !row[at].is_nothing()));
    let rows: Vec<usize> = rows.map(|(at, _)| at).collect();
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    table.part(&rows, &columns)
}

/// The columns of a table that hold more than zeros and empty texts.
fn told(table: &Table) -> Table {
    let rows = table.rows();
    let empty = |value: &Value| value.is_nothing() || *value == Value::Text(String::new());
    let columns = 0..table.columns().len();
    let columns = columns.filter(|&at| rows.is_empty() || rows.iter().any(|row| !empty(&row[at])));
    let rows: Vec<usize> = (0..rows.len()).collect();
    table.part(&rows, &columns.collect::<Vec<_>>())
}

/// Where the column `name` is, in whatever case it is written.
fn position(table: &Table, name: &str) -> Result<usize, SelectionError> {
    let name = name.trim();
    let columns = table.columns();
    let found = columns
        .iter()
        .position(|column| column.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let all = || columns.iter().map(|column| column.name.as_str());
        let near = nearest(name, all());
        let near = if near.is_empty() {
            all().collect()
        } else {
            near
        };
        SelectionError::Column {
            name: name.to_owned(),
            near: near.into_iter().map(str::to_owned).collect(),
        }
    })
}

/// What of a table matters most: what people are shown if they ask for nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Digest {
    /// The columns.
    columns: &'static [&'static str],
    /// The columns whose largest numbers come first; a later one where all before it are equal.
    sort: &'static [&'static str],
}

/// Numbers that something has even if it was never active.
const OF_THE_PROGRAM: [&str; 3] = ["FSMs", "enables", "line"];

impl Digest {
    /// Of the table of component cells.
    pub const CELLS: Self = Self {
        columns: &[
            "cell",
            "component",
            "times active",
            "cycles",
            "busy",
            "overhead",
        ],
        sort: &["cycles"],
    };
    /// Of the table of groups.
    pub const GROUPS: Self = Self {
        columns: &[
            "component",
            "group",
            "times active",
            "total cycles",
            "fixed",
            "compiled",
        ],
        sort: &["total cycles"],
    };
    /// Of the table of statements.
    pub const STATEMENTS: Self = Self {
        columns: &[
            "component",
            "statement",
            "times entered",
            "cycles",
            "useful",
            "overhead",
        ],
        sort: &["overhead", "cycles"],
    };
    /// Of the table of statements with a row for each instance.
    pub const STATEMENTS_PER_INSTANCE: Self = Self {
        columns: &[
            "cell",
            "statement",
            "times entered",
            "cycles",
            "useful",
            "overhead",
        ],
        ..Self::STATEMENTS
    };
    /// Of the table of loops.
    pub const LOOPS: Self = Self {
        columns: &[
            "component",
            "statement",
            "times entered",
            "iterations",
            "cycles",
            "shortest iteration",
            "longest iteration",
            "average iteration",
        ],
        sort: &["cycles"],
    };
    /// Of the table of a front end's lines.
    pub const LINES: Self = Self {
        columns: &["file", "line", "text", "cycles", "own", "overhead"],
        sort: &["own", "cycles"],
    };
    /// Of the table of lines with a row for each statement in each cell.
    pub const LINES_PER_INSTANCE: Self = Self {
        columns: &["file", "line", "cell", "statement", "cycles", "overhead"],
        ..Self::LINES
    };

    /// Of the table of area.
    pub const AREA: Self = Self {
        columns: &["kind", "instance", "name", "luts", "ffs", "slack_ns"],
        sort: &["luts", "ffs"],
    };

    /// Of the table of sites.
    pub const SITES: Self = Self {
        columns: &[SITE, "kind", "path", "line", "times active", "cycles"],
        sort: &["cycles"],
    };

    /// Of the table of hotspots: those of all kinds, by what they cost.
    pub const HOTSPOTS: Self = Self {
        columns: &[
            "kind",
            "statement",
            "cost",
            "% of run",
            "times entered",
            "why",
        ],
        sort: &["cost"],
    };

    /// The part of `table` that is shown if `selection` is asked for: what it leaves open is ten rows in which
    /// something was active, those with most first, and the columns that matter. With it a line that tells what
    /// is not shown, if anything.
    ///
    /// # Errors
    /// As those of [`Selection::of`].
    pub fn of(
        self,
        table: &Table,
        selection: &Selection,
    ) -> Result<(Table, Option<String>), SelectionError> {
        let mut selection = selection.clone();
        let chosen = !selection.columns.is_empty();
        if !chosen {
            let columns = table.columns().iter().map(|column| &*column.name);
            let shown = columns.filter(|name| self.columns.contains(name) || *name == TIME);
            selection.columns = shown.map(str::to_owned).collect();
        }
        selection.top = Some(selection.top.unwrap_or(ROWS));
        // Who asks for rows by what they are may ask for these.
        let mut part = if selection.filters.is_empty() {
            active(table)
        } else {
            table.clone()
        };
        if selection.sort.is_none() {
            for sort in self.sort.iter().rev() {
                part = Selection::by(sort).of(&part)?;
            }
        }
        let shown = selection.of(&part)?;
        let shown = if chosen { shown } else { told(&shown) };
        let (rows, columns) = (table.rows().len(), table.of_people().len());
        let some = |shown: usize, all: usize, what: &str| {
            (shown < all).then(|| {
                let (shown, all) = (thousands(shown as u64), thousands(all as u64));
                format!("{shown} of {all} {what}")
            })
        };
        let parts = [
            some(shown.rows().len(), rows, "rows"),
            some(shown.columns().len(), columns, "columns"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let note =
            (!parts.is_empty()).then(|| format!("{}; `--all` shows all\n", parts.join(", ")));
        Ok((shown, note))
    }
}
