//! The tables of a profile in a folder, as Arrow and as Parquet files.
//!
//! Owns how `petal_tables` gets at a profile: its folder, and that it stays the same one. What is in the tables is decided there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use petal_analysis::{Analysis, ControlView};
use petal_tables::{Batches, Figures, RunRow, TableError, Writer, observed, runs, statistics};
use petal_visualize::outputs::TABLES_FOLDER;

pub use petal_tables::{RecordBatch, SCHEMA_VERSION, Table};

use crate::args::ControlArg;
use crate::failure::Failure;
use crate::folder::Staging;
use crate::trace::Folder;
use crate::{observe, on_large_stack, outputs};

/// The tables of the profile in `dir` whose size does not grow with the length of the run: all but `trees`, `cycles` and `spans`.
/// Those of observations are there if something was observed, and `lines` if the design names lines.
///
/// # Errors
/// When there is no whole profile, or it is damaged.
pub fn tables(dir: &Path) -> Result<BTreeMap<Table, RecordBatch>, Failure> {
    let folder = Folder::open(dir)?;
    let trace = folder.again()?;
    let analysis = Folder::analyse(&folder.metadata, trace, ControlArg::Source)?;
    of_analysis(dir, &folder, &analysis)
}

/// The rows of `trees`, `cycles` or `spans` of the profile in `dir`, which are made on a thread of their own while they are taken;
/// `None` for other tables.
///
/// # Errors
/// When there is no whole profile, or it is damaged.
pub fn rows(dir: &Path, table: Table) -> Result<Option<Rows>, Failure> {
    let folder = Folder::open(dir)?;
    if Batches::new(table, &folder.metadata).is_none() {
        return Ok(None);
    }
    // So that few are made before they are wanted.
    let (give, batches) = sync_channel(1);
    on_large_stack(move || {
        if let Err(failure) = make(&folder, table, &give) {
            // If nobody takes rows any more, nobody wants to know.
            let _ = give.send(Err(failure));
        }
    })?;
    Ok(Some(Rows(batches)))
}

/// Rows of a table, some at a time.
#[derive(Debug)]
pub struct Rows(Receiver<Result<RecordBatch, Failure>>);

impl Iterator for Rows {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.recv().ok()
    }
}

/// Makes the rows of a table as long as somebody takes them.
fn make(
    folder: &Folder,
    table: Table,
    give: &SyncSender<Result<RecordBatch, Failure>>,
) -> Result<(), Failure> {
    let Some(mut batches) = Batches::new(table, &folder.metadata) else {
        return Ok(());
    };
    let trace = folder.again()?;
    Folder::read(
        &folder.metadata,
        trace,
        ControlArg::Source,
        &mut |event| match batches.event(event)? {
            Some(batch) => give
                .send(Ok(batch))
                .map_err(|_| Failure::new("nobody takes the rows any more")),
            None => Ok(()),
        },
    )
}

/// The tables that are made of what the analysis counts, and of what was observed.
fn of_analysis(
    dir: &Path,
    folder: &Folder,
    analysis: &Analysis<'_>,
) -> Result<BTreeMap<Table, RecordBatch>, Failure> {
    let results = observe::read(dir)?;
    let mut tables = BTreeMap::from([(Table::Runs, runs(&[row(folder, analysis)])?)]);
    for table in Table::ALL {
        let batch = match (&results, table) {
            (_, Table::Lines) if !analysis.has_front_end() => None,
            (Some(results), table) if table.is_of_observations() => {
                observed(table, results)?.filter(|rows| rows.num_rows() > 0)
            }
            _ => statistics(table, analysis)?,
        };
        tables.extend(batch.map(|batch| (table, batch)));
    }
    Ok(tables)
}

/// What the table of runs tells of a profile.
fn row(folder: &Folder, analysis: &Analysis<'_>) -> RunRow {
    let ledger = analysis.ledger();
    let version = |wanted: &str| {
        let mut versions = folder.versions.iter();
        let (_, version) = versions.find(|(tool, _)| tool == wanted)?;
        Some(version.clone())
    };
    let verified = serde_json::to_value(folder.verified).ok();
    RunRow {
        design: folder.name.clone(),
        digest: folder.metadata.fingerprint.clone(),
        pipeline: folder.metadata.pipeline.join(","),
        data: folder.data.clone(),
        figures: Some(Figures {
            cycles: analysis.cycles(),
            computation: ledger.computation,
            conditions: ledger.conditions,
            overhead: ledger.overhead,
        }),
        stopped: folder.stopped.clone(),
        verified: verified.and_then(|text| Some(text.as_str()?.to_owned())),
        petal: version("petal"),
        calyx: version("calyx"),
        ..RunRow::default()
    }
}

/// Writes all tables that the profile in `dir`, opened as `folder`, has something for.
pub(crate) fn write_files(dir: &Path, folder: &Folder, staging: &Staging) -> Result<(), Failure> {
    let tables = staging.path(TABLES_FOLDER);
    std::fs::create_dir(&tables).map_err(Failure::io("create the folder", &tables))?;
    let metadata = &folder.metadata;
    let analysis = Analysis::new(metadata, ControlView::Source);
    let mut streams = Vec::new();
    for table in Table::ALL {
        if let Some(batches) = Batches::new(table, metadata) {
            streams.push((batches, TableFile::new(table, dir, &tables)?));
        }
    }
    let trace = folder.again()?;
    let (analysis, _) = Folder::analyse_with(analysis, metadata, trace, &mut |event| {
        for (batches, file) in &mut streams {
            if let Some(batch) = batches.event(event)? {
                file.write(&batch)?;
            }
        }
        Ok(())
    })?;
    for (_, file) in streams {
        file.finish()?;
    }
    for (table, batch) in of_analysis(dir, folder, &analysis)? {
        let mut file = TableFile::new(table, dir, &tables)?;
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
    fn new(table: Table, dir: &Path, tables: &Path) -> Result<Self, Failure> {
        let name = format!("{}.parquet", table.name());
        let place = dir.join(TABLES_FOLDER).join(&name);
        let writer = Writer::new(table, outputs::create(&tables.join(name))?);
        let writer = writer.map_err(|error| failure(&place, error))?;
        Ok(Self { place, writer })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let written = self.writer.write(batch);
        written.map_err(|error| failure(&self.place, error))
    }

    fn finish(self) -> Result<(), Failure> {
        let finished = self.writer.finish();
        finished.map_err(|error| failure(&self.place, error))
    }
}

fn failure(place: &Path, error: TableError) -> Failure {
    match error {
        TableError::Io(error) => Failure::io("write", place)(error),
        error => error.into(),
    }
}
