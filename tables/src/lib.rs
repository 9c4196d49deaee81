//! The tables of a profile: Apache Arrow in memory, Apache Parquet on disk.
//!
//! Owns which tables there are, their columns and types ([`Table`]), and how rows are made of a profile: of its metadata and
//! trace, what `petal_visualize` counts in them, and what was observed. Those that are as long as the run are made some rows at a
//! time ([`Batches`]). Knows neither folders nor commands; it is a crate of its own, since Arrow is heavy.
//!
//! A run's row, with a parameter of the sweep that it is a part of, in a file:
//!
//! ```
//! use petal_tables::{Figures, Parameter, RunRow, write_runs};
//!
//! let row = RunRow {
//!     design: "dot-product".to_owned(),
//!     digest: "5f3a".to_owned(),
//!     pipeline: "all".to_owned(),
//!     data: Some("dot-product.futil.data".to_owned()),
//!     figures: Some(Figures { cycles: 60, computation: 54, conditions: 0, overhead: [6, 0, 0, 0, 0, 0, 0] }),
//!     parameters: [("size".to_owned(), Parameter::Integer(8))].into(),
//!     ..RunRow::default()
//! };
//! let mut file = Vec::new();
//! write_runs(&[row], &mut file)?;
//! assert!(file.starts_with(b"PAR1"));
//! # Ok::<(), petal_tables::TableError>(())
//! ```

mod columns;
mod cycles;
mod observations;
mod parquet;
mod runs;
mod schema;
mod spans;
mod statistics;
mod trees;

use petal_metadata::Metadata;
use petal_reconstruct::Event;

pub use arrow_array::RecordBatch;

pub use self::observations::observed;
pub use self::parquet::{TableError, Writer};
pub use self::runs::{Figures, Parameter, RunRow, runs, write_runs};
pub use self::schema::{SCHEMA_VERSION, Table};
pub use self::statistics::statistics;

use self::cycles::Cycles;
use self::spans::Spans;
use self::trees::Trees;

/// How many rows are made at a time.
const BATCH: usize = 1 << 16;

/// Makes the rows of a table that follows the events of a run: `trees`, `cycles` or `spans`. Its memory grows with the number of
/// different call trees and places in the design, not with cycles.
pub struct Batches<'a>(Maker<'a>);

enum Maker<'a> {
    Trees(Trees<'a>),
    Cycles(Cycles<'a>),
    Spans(Box<Spans<'a>>),
}

impl<'a> Batches<'a> {
    /// Of a run of this design, before its first event; `None` for tables that do not follow events.
    pub fn new(table: Table, metadata: &'a Metadata) -> Option<Self> {
        Some(Self(match table {
            Table::Trees => Maker::Trees(Trees::new(metadata)),
            Table::Cycles => Maker::Cycles(Cycles::new(metadata)),
            Table::Spans => Maker::Spans(Box::new(Spans::new(metadata))),
            _ => return None,
        }))
    }

    /// Takes in the next event; gives rows once there are enough of them, or the run is over.
    ///
    /// # Errors
    /// If a number is beyond what the columns hold.
    pub fn event(&mut self, event: &Event) -> Result<Option<RecordBatch>, TableError> {
        match &mut self.0 {
            Maker::Trees(trees) => trees.event(event),
            Maker::Cycles(cycles) => cycles.event(event),
            Maker::Spans(spans) => spans.event(event),
        }
    }
}
