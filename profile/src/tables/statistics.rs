//! The tables of statements, groups, cells, lines and sites: those of `petal stats`.

use arrow_array::RecordBatch;
use petal_analysis::Analysis;

use super::schema::Table;
use petal_table::arrow::TableError;
use petal_table::arrow::batch;

/// The rows of `statements`, `loops`, `groups`, `cells`, `lines` or `sites`; `None` for other tables.
///
/// # Errors
/// If a number is beyond what a column holds.
pub(super) fn statistics(
    table: Table,
    analysis: &Analysis<'_>,
) -> Result<Option<RecordBatch>, TableError> {
    let counted = match table {
        Table::Statements => analysis.statements(),
        Table::Loops => analysis.loops(),
        Table::Groups => analysis.groups(),
        Table::Cells => analysis.cells(),
        Table::Lines => analysis.lines(),
        Table::Sites => analysis.sites_table(),
        _ => return Ok(None),
    };
    let rows = counted.rows().iter();
    batch(table.schema(), counted.columns(), rows).map(Some)
}
