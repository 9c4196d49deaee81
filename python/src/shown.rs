//! The first rows of a table as texts, for notebooks.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// How many rows are shown.
const ROWS: usize = 20;

/// The names of the columns, the first rows, and how many rows there are.
pub fn first(batch: &RecordBatch) -> (Vec<String>, Vec<Vec<String>>, usize) {
    let names = batch.schema();
    let names = names.fields().iter().map(|field| field.name().clone());
    let row = |at: usize| batch.columns().iter().map(move |column| text(column, at));
    let rows = (0..batch.num_rows().min(ROWS)).map(|at| row(at).collect());
    (names.collect(), rows.collect(), batch.num_rows())
}

fn text(column: &dyn Array, at: usize) -> String {
    if column.is_null(at) {
        return String::new();
    }
    match column.data_type() {
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(at).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(at).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(at).to_string(),
        DataType::Boolean => column.as_boolean().value(at).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(at).to_owned(),
        DataType::Dictionary(..) => {
            let column = column.as_dictionary::<Int32Type>();
            let key = usize::try_from(column.keys().value(at)).unwrap_or_default();
            text(column.values(), key)
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(at);
            let items: Vec<String> = (0..items.len()).map(|at| text(&items, at)).collect();
            items.join(", ")
        }
        // Tables have no others.
        other => format!("({other})"),
    }
}
