//! `petal export`: the tables of a profile as Parquet files.
//!
//! Owns their way into the folder. What is in them is the business of `petal_tables`, which only a petal with the feature `tables`
//! has: Arrow takes long to build.

use std::fmt::Write as _;
use std::path::Path;

use petal_visualize::outputs::Make;
use petal_visualize::thousands;

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::folder::{self, Staging};
use crate::outputs;
use crate::trace::Folder;

/// `petal export`
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    check()?;
    outputs::print(&write(&args.dir)?)
}

/// Fails if this petal can't write tables.
pub fn check() -> Result<(), Failure> {
    if cfg!(feature = "tables") {
        return Ok(());
    }
    Err(Failure::new(
        "this petal was built without tables: build it with `--features tables`, or take one of a release",
    ))
}

/// Writes the tables of the profile in `dir` into its folder; the text tells which.
pub fn write(dir: &Path) -> Result<String, Failure> {
    // So that the trace stays that of the folder.
    let lock = folder::lock(dir)?;
    let folder = Folder::open(dir)?;
    let staging = Staging::new(dir)?.locked(lock);
    write_files(dir, &folder, &staging)?;
    let names = outputs::names(|output| matches!(output.make, Make::Table));
    let mut text = String::new();
    for name in &names {
        if let Ok(file) = std::fs::metadata(staging.path(name)) {
            let shown = dir.join(name);
            let _ = writeln!(text, "{}: {} bytes", shown.display(), thousands(file.len()));
        }
    }
    staging.commit(&names)?;
    Ok(text)
}

#[cfg(not(feature = "tables"))]
fn write_files(_: &Path, _: &Folder, _: &Staging) -> Result<(), Failure> {
    check()
}

#[cfg(feature = "tables")]
use self::files::write_files;

#[cfg(feature = "tables")]
mod files {
    use std::fs::File;
    use std::io::BufWriter;
    use std::path::PathBuf;

    use petal_tables::{
        Batches, Figures, RunRow, Table, TableError, Writer, observed, statistics, write_runs,
    };
    use petal_visualize::outputs::TABLES_FOLDER;
    use petal_visualize::{Analysis, ControlView};

    use super::{Failure, Folder, Path, Staging};
    use crate::args::ControlArg;
    use crate::{observe, outputs};

    /// Writes all tables that the profile has something for.
    pub fn write_files(dir: &Path, folder: &Folder, staging: &Staging) -> Result<(), Failure> {
        let tables = staging.path(TABLES_FOLDER);
        std::fs::create_dir(&tables).map_err(Failure::io("create the folder", &tables))?;
        let results = observe::read(dir)?;
        let trace = folder.again()?;
        let metadata = &folder.metadata;
        let mut analysis = Analysis::new(metadata, ControlView::Source);
        let mut streams = Vec::new();
        for table in Table::ALL {
            if let Some(batches) = Batches::new(table, metadata) {
                streams.push((batches, TableFile::new(table, &tables)?));
            }
        }
        Folder::read(metadata, trace, ControlArg::Source, &mut |event| {
            analysis.event(event);
            for (batches, file) in &mut streams {
                let batch = batches.event(event).map_err(|error| file.failure(error))?;
                batch.map_or(Ok(()), |batch| file.write(&batch))?;
            }
            Ok(())
        })?;
        for (_, file) in streams {
            file.finish()?;
        }
        for table in Table::ALL {
            let batch = match (&results, table) {
                (_, Table::Lines) if !analysis.has_front_end() => None,
                (Some(results), table) if table.is_of_observations() => {
                    observed(table, results)?.filter(|rows| rows.num_rows() > 0)
                }
                _ => statistics(table, &analysis)?,
            };
            if let Some(batch) = batch {
                let mut file = TableFile::new(table, &tables)?;
                file.write(&batch)?;
                file.finish()?;
            }
        }
        let place = path(Table::Runs, &tables);
        let row = row(folder, &analysis);
        write_runs(&[row], outputs::create(&place)?).map_err(|error| failure(&place, error))
    }

    /// What the table of runs tells of a profile.
    pub fn row(folder: &Folder, analysis: &Analysis<'_>) -> RunRow {
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

    fn path(table: Table, tables: &Path) -> PathBuf {
        tables.join(format!("{}.parquet", table.name()))
    }

    fn failure(path: &Path, error: TableError) -> Failure {
        match error {
            TableError::Io(error) => Failure::io("write", path)(error),
            error => error.into(),
        }
    }

    /// A table on its way to its file.
    struct TableFile {
        path: PathBuf,
        writer: Writer<BufWriter<File>>,
    }

    impl TableFile {
        fn new(table: Table, tables: &Path) -> Result<Self, Failure> {
            let path = path(table, tables);
            let writer = Writer::new(table, outputs::create(&path)?);
            let writer = writer.map_err(|error| failure(&path, error))?;
            Ok(Self { path, writer })
        }

        fn failure(&self, error: TableError) -> Failure {
            failure(&self.path, error)
        }

        fn write(&mut self, batch: &petal_tables::RecordBatch) -> Result<(), Failure> {
            let written = self.writer.write(batch);
            written.map_err(|error| self.failure(error))
        }

        fn finish(self) -> Result<(), Failure> {
            let finished = self.writer.finish();
            finished.map_err(|error| failure(&self.path, error))
        }
    }
}
