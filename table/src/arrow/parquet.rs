//! Tables as Parquet files.

use std::collections::HashMap;
use std::error::Error as _;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use thiserror::Error;

/// Why a table can't be made or written.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file can't be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A number is beyond what a column holds.
    #[error("{0} is too large for a column of numbers")]
    Number(u64),
    /// A parameter has the name of a column of all runs.
    #[error(
        "a parameter can't be called `{0}`: the table of runs has a column of that name; call it otherwise"
    )]
    Parameter(String),
    /// Arrow refuses the rows, which is a bug.
    #[error("{0}; please report this")]
    Arrow(#[from] ArrowError),
    /// Parquet does, which is a bug.
    #[error("{0}; please report this")]
    Parquet(ParquetError),
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        let source = match &error {
            ParquetError::External(source) => source.downcast_ref::<io::Error>(),
            other => other.source().and_then(|source| source.downcast_ref()),
        };
        match source {
            Some(source) => Self::Io(copy(source)),
            None => Self::Parquet(error),
        }
    }
}

/// The same error once more.
fn copy(error: &io::Error) -> io::Error {
    let code = error.raw_os_error();
    code.map_or_else(
        || io::Error::new(error.kind(), error.to_string()),
        io::Error::from_raw_os_error,
    )
}

/// How many rows a row group has. What is in memory while a file is written is one group, compressed.
const GROUP: usize = 1 << 18;

/// Writes a table to a Parquet file, in constant memory.
pub struct Writer<W: Write + Send>(ArrowWriter<W>);

impl<W: Write + Send> Writer<W> {
    /// Begins a file with these columns; what the schema tells of itself stands beside them.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn new(schema: &Schema, out: W) -> Result<Self, TableError> {
        let marks = schema.metadata().clone().into_iter();
        let mut marks: Vec<KeyValue> = marks
            .map(|(key, value)| KeyValue::new(key, value))
            .collect();
        marks.sort_by(|a, b| a.key.cmp(&b.key));
        let schema = schema
            .clone()
            .with_metadata(HashMap::<String, String>::new());
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("petal {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_max_row_group_row_count(Some(GROUP))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(marks));
        // Numbers that grow from row to row: differences are small.
        for name in ["start", "cycle", "activation"] {
            if schema.column_with_name(name).is_some() {
                properties = properties
                    .set_column_dictionary_enabled(name.into(), false)
                    .set_column_encoding(name.into(), Encoding::DELTA_BINARY_PACKED);
            }
        }
        let writer = ArrowWriter::try_new(out, Arc::new(schema), Some(properties.build()))?;
        Ok(Self(writer))
    }

    /// Writes rows.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        Ok(self.0.write(batch)?)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(self) -> Result<(), TableError> {
        self.0.into_inner()?.flush()?;
        Ok(())
    }
}
