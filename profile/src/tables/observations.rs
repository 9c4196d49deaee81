//! The tables of observations, whose columns are those of the other outputs.

use arrow_array::RecordBatch;
use petal_observe::{ResultTable, Results};
use petal_table::Column;

use super::schema::Table;
use petal_table::arrow::TableError;
use petal_table::arrow::batch;

/// The tables of observations that databases have.
fn all(results: &Results) -> impl Iterator<Item = ResultTable<'_>> {
    let tables = results.tables().into_iter();
    tables.filter(|table| table.forms.is_of_databases())
}

/// Their names.
pub(super) fn names() -> Vec<&'static str> {
    all(&Results::default()).map(|table| table.name).collect()
}

/// The columns of such a table.
pub(super) fn columns(name: &str) -> Vec<Column> {
    let results = Results::default();
    let table = all(&results).find(|table| table.name == name);
    table.map_or_else(Vec::new, |table| table.into_parts().0)
}

/// The tables of what was observed, without those that have no rows.
///
/// # Errors
/// If a number is beyond what a column holds.
pub(super) fn observed(results: &Results) -> Result<Vec<(Table, RecordBatch)>, TableError> {
    let mut batches = Vec::new();
    for table in all(results) {
        let of = Table::Observed(table.name);
        let (columns, rows) = table.into_parts();
        let rows = batch(of.schema(), &columns, rows)?;
        if rows.num_rows() > 0 {
            batches.push((of, rows));
        }
    }
    Ok(batches)
}
