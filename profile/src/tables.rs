//! The tables of a profile: Apache Arrow in memory, Apache Parquet on disk.
//!
//! Owns which tables there are ([`Table`]), how rows are made of a profile, and how they get into its folder. Those that are as long as
//! the run are made some rows at a time.
//!
//! A run's row, with a parameter of the sweep that it is a part of, in a file:
//!
//! ```
//! use petal_profile::tables::{Figures, Parameter, RunRow, write_runs};
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
//! # Ok::<(), petal_profile::tables::TableError>(())
//! ```

mod cycles;
mod observations;
mod runs;
mod schema;
mod spans;
mod statistics;
mod trees;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_schema::SchemaRef;
use petal_analysis::{Analysis, ControlView};
use petal_metadata::Metadata;
use petal_reconstruct::Event;
use petal_visualize::outputs::{Make, TABLES_FOLDER};

pub use arrow_array::RecordBatch;
pub use petal_table::arrow::{TableError, Writer};

pub use self::runs::{Figures, Parameter, RunRow, runs, write_runs};
pub use self::schema::{SCHEMA_VERSION, Table};

use self::cycles::Cycles;
use self::observations::observed;
use self::spans::Spans;
use self::statistics::statistics;
use self::trees::Trees;
use crate::error::Error;
use crate::folder::{self, Staging};
use crate::profile::Profile;
use crate::{interrupt, outputs};

/// The tables of the profile in `dir` whose size does not grow with the length of the run: all but `trees`, `cycles` and `spans`.
/// Those of observations are there if something was observed, and `lines` if the design names lines.
///
/// # Errors
/// When there is no whole profile, or it is damaged.
pub fn tables(dir: &Path) -> Result<BTreeMap<Table, RecordBatch>, Error> {
    let profile = Profile::open(dir)?;
    let mut analysis = profile.analyse(ControlView::Source)?;
    analysis.set_period(None);
    of_analysis(&profile, &analysis)
}

/// The rows of `trees`, `cycles` or `spans` of the profile in `dir`, which are made on a thread of their own while they are taken;
/// `None` for other tables.
///
/// # Errors
/// When there is no whole profile, or it is damaged.
pub fn rows(dir: &Path, table: Table) -> Result<Option<Rows>, Error> {
    let profile = Profile::open(dir)?;
    if Batches::new(table, &profile.metadata).is_none() {
        return Ok(None);
    }
    // So that few are made before they are wanted.
    let (give, batches) = sync_channel(1);
    let flag = interrupt::flag();
    thread::spawn(move || {
        interrupt::set_flag(Some(flag));
        if let Err(failure) = make(&profile, table, &give) {
            // If nobody takes rows any more, nobody wants to know.
            let _ = give.send(Err(failure));
        }
    });
    Ok(Some(Rows(batches)))
}

/// Rows of a table, some at a time.
#[derive(Debug)]
pub struct Rows(Receiver<Result<RecordBatch, Error>>);

impl Iterator for Rows {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.recv().ok()
    }
}

/// Makes the rows of a table as long as somebody takes them.
fn make(
    profile: &Profile,
    table: Table,
    give: &SyncSender<Result<RecordBatch, Error>>,
) -> Result<(), Error> {
    let Some(mut batches) = Batches::new(table, &profile.metadata) else {
        return Ok(());
    };
    profile.events(
        ControlView::Source,
        &mut |event| match batches.event(event)? {
            Some(batch) => give
                .send(Ok(batch))
                .map_err(|_| Error::new("nobody takes the rows any more")),
            None => Ok(()),
        },
    )
}

/// The tables that are made of what the analysis counts, and of what was observed.
fn of_analysis(
    profile: &Profile,
    analysis: &Analysis<'_>,
) -> Result<BTreeMap<Table, RecordBatch>, Error> {
    let mut tables = BTreeMap::from([(Table::Runs, runs(&[row(profile, analysis)])?)]);
    for table in Table::all() {
        if table != Table::Lines || analysis.has_front_end() {
            let batch = statistics(table, analysis)?;
            tables.extend(batch.map(|batch| (table, batch)));
        }
    }
    if let Some(results) = profile.observations()? {
        tables.extend(observed(&results)?);
    }
    Ok(tables)
}

/// What the table of runs tells of a profile.
fn row(profile: &Profile, analysis: &Analysis<'_>) -> RunRow {
    let ledger = analysis.ledger();
    let summary = &profile.summary;
    let version = |tool: &str| summary.versions.get(tool).cloned();
    let verified = serde_json::to_value(summary.verified).ok();
    RunRow {
        design: summary.design.clone(),
        digest: profile.metadata.fingerprint.clone(),
        pipeline: profile.metadata.pipeline.join(","),
        data: summary.data.clone(),
        figures: Some(Figures {
            cycles: analysis.cycles(),
            computation: ledger.computation,
            conditions: ledger.conditions,
            overhead: ledger.overhead,
        }),
        stopped: summary.stopped.clone(),
        verified: verified.and_then(|text| Some(text.as_str()?.to_owned())),
        petal: version("petal"),
        calyx: version("calyx"),
        ..RunRow::default()
    }
}

/// Writes the tables of the profile in `dir` into its folder; returns the names of their files with their sizes in bytes.
///
/// # Errors
/// When it can't be read or written.
pub fn write(dir: &Path) -> Result<Vec<(&'static str, u64)>, Error> {
    // So that the trace stays that of the folder.
    let lock = folder::lock(dir)?;
    let profile = Profile::open(dir)?;
    let staging = Staging::new(dir)?.locked(lock);
    write_files(&profile, &staging)?;
    let names = outputs::names(|output| matches!(output.make, Make::Table));
    let size = |&name| Some((name, std::fs::metadata(staging.path(name)).ok()?.len()));
    let sizes = names.iter().filter_map(size).collect();
    staging.commit(&names)?;
    Ok(sizes)
}

/// Writes all tables that a profile has something for.
fn write_files(profile: &Profile, staging: &Staging) -> Result<(), Error> {
    let dir = profile.dir();
    let tables = staging.path(TABLES_FOLDER);
    std::fs::create_dir(&tables).map_err(Error::io("create the folder", &tables))?;
    let mut streams = Vec::new();
    for table in Table::all() {
        if let Some(batches) = Batches::new(table, &profile.metadata) {
            streams.push((
                batches,
                TableFile::new(table, &table.schema(), dir, &tables)?,
            ));
        }
    }
    let (mut analysis, _) = profile.analyse_with(ControlView::Source, &mut |item| {
        item.try_for_each(|event| {
            for (batches, file) in &mut streams {
                if let Some(batch) = batches.event(event)? {
                    file.write(&batch)?;
                }
            }
            Ok(())
        })
    })?;
    for (_, file) in streams {
        file.finish()?;
    }
    analysis.set_period(None);
    for (table, batch) in of_analysis(profile, &analysis)? {
        let mut file = TableFile::new(table, &batch.schema(), dir, &tables)?;
        file.write(&batch)?;
        file.finish()?;
    }
    Ok(())
}

/// A table on its way to its file.
struct TableFile {
    /// Where it will be, for messages.
    place: PathBuf,
    writer: Writer<BufWriter<File>>,
}

impl TableFile {
    fn new(table: Table, schema: &SchemaRef, dir: &Path, tables: &Path) -> Result<Self, Error> {
        let name = format!("{}.parquet", table.name());
        let place = dir.join(TABLES_FOLDER).join(&name);
        let writer = Writer::new(schema, outputs::create(&tables.join(name))?);
        let writer = writer.map_err(|error| failure(&place, error))?;
        Ok(Self { place, writer })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = self.writer.write(batch);
        written.map_err(|error| failure(&self.place, error))
    }

    fn finish(self) -> Result<(), Error> {
        let finished = self.writer.finish();
        finished.map_err(|error| failure(&self.place, error))
    }
}

fn failure(place: &Path, error: TableError) -> Error {
    match error {
        TableError::Io(error) => Error::io("write", place)(error),
        error => error.into(),
    }
}

/// Makes the rows of a table that follows the events of a run: `trees`, `cycles` or `spans`. Its memory grows with the number of
/// different call trees and places in the design, not with cycles.
struct Batches<'a>(Maker<'a>);

enum Maker<'a> {
    Trees(Trees<'a>),
    Cycles(Cycles<'a>),
    Spans(Box<Spans<'a>>),
}

impl<'a> Batches<'a> {
    /// Of a run of this design, before its first event; `None` for tables that do not follow events.
    fn new(table: Table, metadata: &'a Metadata) -> Option<Self> {
        Some(Self(match table {
            Table::Trees => Maker::Trees(Trees::new(metadata)),
            Table::Cycles => Maker::Cycles(Cycles::new(metadata)),
            Table::Spans => Maker::Spans(Box::new(Spans::new(metadata))),
            _ => return None,
        }))
    }

    /// Takes in the next event; gives rows once there are enough of them, or the run is over.
    fn event(&mut self, event: &Event) -> Result<Option<RecordBatch>, TableError> {
        match &mut self.0 {
            Maker::Trees(trees) => trees.event(event),
            Maker::Cycles(cycles) => cycles.event(event),
            Maker::Spans(spans) => spans.event(event),
        }
    }
}
