//! The tables of observations, whose columns are those of the other outputs.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use petal_observe::Results;

use super::schema::{Table, observed_tables};
use petal_table::arrow::TableError;
use petal_table::arrow::{batch, field};

/// The tables of what was observed, without those that have no rows.
///
/// # Errors
/// If a number is beyond what a column holds.
pub(super) fn observed(results: &Results) -> Result<Vec<(Table, RecordBatch)>, TableError> {
    let mut batches = Vec::new();
    for table in observed_tables(results) {
        let of = Table::Observed(table.name);
        let (columns, rows) = table.into_parts();
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let schema = Schema::new(fields).with_metadata(of.marks());
        let rows = batch(Arc::new(schema), &columns, rows)?;
        if rows.num_rows() > 0 {
            batches.push((of, rows));
        }
    }
    Ok(batches)
}
