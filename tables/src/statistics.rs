//! The tables of statements, groups, cells and lines: those of `petal stats`, with a type for each column.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field};
use petal_analysis::Analysis;
use petal_reconstruct::Overhead;
use petal_table::Value;

use crate::columns::{numbers, texts};
use crate::parquet::TableError;
use crate::schema::{Table, column, number, or_null, real, text};

/// The rows of `statements`, `groups`, `cells` or `lines`; `None` for other tables.
///
/// # Errors
/// If a number is beyond what a column holds.
pub fn statistics(
    table: Table,
    analysis: &Analysis<'_>,
) -> Result<Option<RecordBatch>, TableError> {
    let Some(counted) = counted(table, analysis) else {
        return Ok(None);
    };
    let schema = table.schema();
    debug_assert_eq!(schema.fields().len(), counted.columns().len(), "{table:?}");
    let array_of = |field: &Arc<Field>| {
        let mut headings = counted.columns().iter();
        let at = headings.position(|heading| column(&heading.name) == *field.name());
        let at = at.expect("columns are called as those of the table");
        array(field.data_type(), counted.rows().iter().map(|row| &row[at]))
    };
    let columns: Result<Vec<ArrayRef>, TableError> = schema.fields().iter().map(array_of).collect();
    Ok(Some(RecordBatch::try_new(schema, columns?)?))
}

fn counted(table: Table, analysis: &Analysis<'_>) -> Option<petal_table::Table> {
    Some(match table {
        Table::Statements => analysis.statements(),
        Table::Groups => analysis.groups(),
        Table::Cells => analysis.cells(),
        Table::Lines => analysis.lines(),
        _ => return None,
    })
}

/// The columns of such a table. What a run or a place does not have is null.
pub(crate) fn fields(table: Table) -> Vec<Field> {
    let mut fields = Fields::default();
    match table {
        Table::Statements => fields
            .texts(&["component", "statement", "kind", "file"])
            .numbers(&["line", "times entered", "iterations", "cycles", "flattened"])
            .numbers(&["useful", "conditions", "overhead"])
            .numbers(&Overhead::ALL.map(Overhead::title))
            .numbers(&["hidden control", "min", "max"])
            .reals(&["avg"]),
        Table::Groups => fields
            .texts(&["component", "group", "kind", "origin"])
            .numbers(&[
                "line",
                "enables",
                "times active",
                "total cycles",
                "min",
                "max",
            ])
            .reals(&["avg"])
            .texts(&["fixed", "compiled"]),
        Table::Cells => fields
            .texts(&["cell", "component"])
            .numbers(&["FSMs", "times active", "cycles"])
            .reals(&["avg"])
            .numbers(&["busy", "busy with conditions", "control", "overhead"])
            .numbers(&control(""))
            .reals(&["busy %"])
            .reals(&control(" %"))
            .texts(&["ref cells", "continuous"]),
        Table::Lines => fields
            .texts(&["file"])
            .numbers(&["line"])
            .texts(&["text"])
            .numbers(&["times entered", "cycles"])
            .reals(&["own"])
            .numbers(&["useful", "overhead"])
            .numbers(&Overhead::ALL.map(Overhead::title)),
        _ => &mut fields,
    };
    fields.0
}

/// The headings of a cell's control by kind.
fn control(end: &str) -> [String; Overhead::ALL.len()] {
    Overhead::ALL.map(|kind| format!("control: {}{end}", kind.title()))
}

/// Columns with the headings of `petal stats`.
#[derive(Default)]
struct Fields(Vec<Field>);

impl Fields {
    fn texts(&mut self, headings: &[impl AsRef<str>]) -> &mut Self {
        self.add(headings, text)
    }

    fn numbers(&mut self, headings: &[impl AsRef<str>]) -> &mut Self {
        self.add(headings, number)
    }

    fn reals(&mut self, headings: &[impl AsRef<str>]) -> &mut Self {
        self.add(headings, real)
    }

    fn add(&mut self, headings: &[impl AsRef<str>], field: fn(&str) -> Field) -> &mut Self {
        let names = headings.iter().map(|heading| column(heading.as_ref()));
        self.0.extend(names.map(|name| or_null(field(&name))));
        self
    }
}

fn array<'a>(
    of: &DataType,
    values: impl Iterator<Item = &'a Value>,
) -> Result<ArrayRef, TableError> {
    Ok(match of {
        DataType::Int64 => numbers(values.map(|value| match value {
            Value::Count(count) => Some(*count),
            _ => None,
        }))?,
        DataType::Float64 => {
            let reals = values.map(|value| match value {
                Value::Decimal(number) => Some(*number),
                _ => None,
            });
            Arc::new(reals.collect::<Float64Array>())
        }
        _ => texts(values.map(|value| match value {
            Value::Text(text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        })),
    })
}
