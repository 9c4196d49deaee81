//! The table `runs`: a row for each run, with where its cycles went.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use petal_analysis::ByKind;

use super::schema::Table;
use petal_table::arrow::{TableError, Writer};
use petal_table::arrow::{numbers, texts};
use petal_table::arrow::{or_null, text};

/// A run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunRow {
    /// The name of the design.
    pub design: String,
    /// A digest of what was run: two runs with the same one gave, or would give, the same results.
    pub digest: String,
    /// The passes that compiled it, as they were asked for.
    pub pipeline: String,
    /// What its memories held before the run; `None` if nobody knows, or if it was zeros.
    pub data: Option<String>,
    /// How long it took; `None` if it failed.
    pub figures: Option<Figures>,
    /// Why it ended before the design was done, if it did.
    pub stopped: Option<String>,
    /// Why there are no figures.
    pub error: Option<String>,
    /// How it was made sure that the plain design runs alike, as in `summary.json`.
    pub verified: Option<String>,
    /// The version of petal.
    pub petal: Option<String>,
    /// The version of the Calyx compiler in it.
    pub calyx: Option<String>,
    /// What else tells it from other runs, by name: a column each, after those of all runs.
    pub parameters: BTreeMap<String, Parameter>,
}

/// What the cycles of a run went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Length of the run. The others add up to it.
    pub cycles: u64,
    /// Cycles in which something worked that is no condition.
    pub computation: u64,
    /// Cycles in which nothing but conditions was computed.
    pub conditions: u64,
    /// Cycles of overhead, by kind.
    pub overhead: ByKind,
}

/// The value of a parameter. A column whose values are of several types has texts.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(String),
}

impl Parameter {
    fn data_type(&self) -> DataType {
        match self {
            Self::Integer(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Flag(_) => DataType::Boolean,
            Self::Text(_) => DataType::Utf8,
        }
    }
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// The table with these rows. Parameters are columns after those of all runs, by name; one that a run does not have is null.
///
/// # Errors
/// If a number is beyond what a column holds, or a parameter is called as a column of all runs.
pub fn runs(rows: &[RunRow]) -> Result<RecordBatch, TableError> {
    let all = |of: fn(&RunRow) -> Option<&str>| texts(rows.iter().map(of));
    let figures =
        |of: &dyn Fn(&Figures) -> u64| numbers(rows.iter().map(|row| row.figures.as_ref().map(of)));
    let sum = |of: &Figures| of.overhead.iter().sum::<u64>();
    let mut columns = vec![
        all(|row| Some(&row.design)),
        all(|row| Some(&row.digest)),
        all(|row| Some(&row.pipeline)),
        all(|row| row.data.as_deref()),
        figures(&|of| of.cycles)?,
        figures(&|of| of.computation + of.conditions)?,
        figures(&|of| of.computation)?,
        figures(&|of| of.conditions)?,
        figures(&sum)?,
    ];
    for kind in 0..ByKind::default().len() {
        columns.push(figures(&|of| of.overhead[kind])?);
    }
    columns.extend([
        all(|row| row.stopped.as_deref()),
        all(|row| row.error.as_deref()),
        all(|row| row.verified.as_deref()),
        all(|row| row.petal.as_deref()),
        all(|row| row.calyx.as_deref()),
    ]);
    let schema = Table::Runs.schema();
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.parameters.keys()).collect();
    for name in names {
        if schema.column_with_name(name).is_some() {
            return Err(TableError::Parameter(name.clone()));
        }
        let (field, column) = parameter(name, rows);
        fields.push(Arc::new(field));
        columns.push(column);
    }
    let schema = Schema::new(fields).with_metadata(schema.metadata().clone());
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}

/// The column of a parameter.
fn parameter(name: &str, rows: &[RunRow]) -> (Field, ArrayRef) {
    let values = || rows.iter().map(|row| row.parameters.get(name));
    let types: BTreeSet<DataType> = values().flatten().map(Parameter::data_type).collect();
    let is_real = |of: &DataType| matches!(of, DataType::Int64 | DataType::Float64);
    let types: Vec<DataType> = types.into_iter().collect();
    let nullable = |of: DataType| Field::new(name, of, true);
    match &types[..] {
        [DataType::Int64] => {
            let numbers = values().map(|value| match value {
                Some(Parameter::Integer(number)) => Some(*number),
                _ => None,
            });
            (
                nullable(DataType::Int64),
                Arc::new(numbers.collect::<Int64Array>()),
            )
        }
        [DataType::Boolean] => {
            let flags = values().map(|value| match value {
                Some(Parameter::Flag(flag)) => Some(*flag),
                _ => None,
            });
            (
                nullable(DataType::Boolean),
                Arc::new(flags.collect::<BooleanArray>()),
            )
        }
        numeric if !numeric.is_empty() && numeric.iter().all(is_real) => {
            #[expect(
                clippy::cast_precision_loss,
                reason = "its column has others that are not whole"
            )]
            let numbers = values().map(|value| match value {
                Some(Parameter::Real(number)) => Some(*number),
                Some(Parameter::Integer(number)) => Some(*number as f64),
                _ => None,
            });
            (
                nullable(DataType::Float64),
                Arc::new(numbers.collect::<Float64Array>()),
            )
        }
        _ => {
            let written: Vec<Option<String>> = values()
                .map(|value| value.map(ToString::to_string))
                .collect();
            (
                or_null(text(name)),
                texts(written.iter().map(Option::as_deref)),
            )
        }
    }
}

/// Writes these rows to one Parquet file.
///
/// # Errors
/// As [`runs`], and when `out` can't be written.
pub fn write_runs(rows: &[RunRow], out: impl Write + Send) -> Result<(), TableError> {
    let batch = runs(rows)?;
    let mut writer = Writer::new(&batch.schema(), out)?;
    writer.write(&batch)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(parameters: &[(&str, Parameter)]) -> RunRow {
        let parameters = parameters.iter();
        RunRow {
            figures: Some(Figures {
                cycles: 10,
                computation: 3,
                conditions: 1,
                overhead: [4, 0, 0, 0, 0, 2, 0],
            }),
            parameters: parameters
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            ..RunRow::default()
        }
    }

    fn numbers_of(table: &RecordBatch, name: &str) -> Vec<Option<i64>> {
        let column = table.column_by_name(name).unwrap().as_any();
        column
            .downcast_ref::<Int64Array>()
            .unwrap()
            .iter()
            .collect()
    }

    #[test]
    fn figures_add_up_and_a_run_that_failed_has_none() {
        let failed = RunRow {
            error: Some("out of memory".to_owned()),
            ..RunRow::default()
        };
        let table = runs(&[row(&[]), failed]).unwrap();
        for (name, value) in [
            ("cycles", 10),
            ("useful", 4),
            ("overhead", 6),
            ("fsm_update", 4),
            ("start_finish", 2),
            ("other", 0),
        ] {
            assert_eq!(numbers_of(&table, name), [Some(value), None], "{name}");
        }
    }

    #[test]
    fn parameters_are_columns_of_their_type() {
        let table = runs(&[
            row(&[
                ("size", Parameter::Integer(4)),
                ("scale", Parameter::Integer(1)),
                ("fast", Parameter::Flag(true)),
                ("mixed", Parameter::Integer(1)),
            ]),
            row(&[
                ("scale", Parameter::Real(0.5)),
                ("fast", Parameter::Flag(false)),
                ("mixed", Parameter::Text("one".to_owned())),
            ]),
        ])
        .unwrap();
        let schema = table.schema();
        let first = Table::Runs.schema().fields().len();
        let columns = schema.fields()[first..].iter();
        let columns: Vec<String> = columns
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect();
        assert_eq!(
            columns,
            [
                "fast: Boolean",
                "mixed: Dictionary(Int32, Utf8)",
                "scale: Float64",
                "size: Int64"
            ]
        );
        assert_eq!(numbers_of(&table, "size"), [Some(4), None]);
    }

    #[test]
    fn a_parameter_is_not_called_as_a_column_of_all_runs() {
        let error = runs(&[row(&[("cycles", Parameter::Integer(4))])]).unwrap_err();
        assert!(error.to_string().contains("`cycles`"), "{error}");
    }
}
