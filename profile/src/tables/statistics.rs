//! The tables of statements, groups, cells and lines: those of `petal stats`.

use arrow_array::RecordBatch;
use arrow_schema::Field;
use petal_analysis::{Analysis, cells, control, groups, lines};
use petal_table::{Column, Columns};

use super::schema::Table;
use petal_table::arrow::TableError;
use petal_table::arrow::{batch, field};

/// The rows of `statements`, `groups`, `cells` or `lines`; `None` for other tables.
///
/// # Errors
/// If a number is beyond what a column holds.
pub(super) fn statistics(
    table: Table,
    analysis: &Analysis<'_>,
) -> Result<Option<RecordBatch>, TableError> {
    let counted = match table {
        Table::Statements => analysis.statements(),
        Table::Groups => analysis.groups(),
        Table::Cells => analysis.cells(),
        Table::Lines => analysis.lines(),
        _ => return Ok(None),
    };
    let rows = counted.rows().iter();
    batch(table.schema(), counted.columns(), rows).map(Some)
}

/// The columns of such a table. What a run or a place does not have is null.
pub(super) fn fields(table: Table) -> Vec<Field> {
    match table {
        Table::Statements => of(&control::columns()),
        Table::Groups => of(&groups::columns()),
        Table::Cells => of(&cells::columns()),
        Table::Lines => of(&lines::columns()),
        _ => Vec::new(),
    }
}

fn of<R>(columns: &Columns<R>) -> Vec<Field> {
    let fields = columns.list();
    let or_null = |column: &Column| field(column).with_nullable(true);
    fields.map(or_null).collect()
}
