//! The figures of a sweep as Parquet: files in folders that are named after what their rows have in common.
//!
//! Owns where the files are; the table is that of profiles, which only a petal with the feature `tables` has.

use std::path::Path;

use petal_profile::Error;
use petal_sweep::{Row, Sweep};

/// The folder of a sweep's dataset.
pub const RUNS: &str = "runs";

#[cfg(feature = "tables")]
pub use self::files::write;

/// Writes nothing, and leaves nothing of a petal that could: it would be of other rows.
#[cfg(not(feature = "tables"))]
pub fn write(_: &Sweep, _: &[Row], out: &Path) -> Result<(), Error> {
    super::folder::remove(&out.join(RUNS))
}

#[cfg(feature = "tables")]
mod files {
    use std::fs;
    use std::ops::Range;

    use petal_analysis::ByKind;
    use petal_files::Scratch;
    use petal_profile::tables::{Figures, Parameter, RecordBatch, RunRow, Writer, runs};
    use petal_program::CALYX_VERSION;
    use petal_reconstruct::Overhead;
    use petal_sweep::encoded;

    use super::{Error, Path, RUNS, Row, Sweep};
    use crate::sweep::figures::overhead;
    use crate::sweep::folder::remove;

    /// Writes the dataset in place of an earlier one.
    pub fn write(sweep: &Sweep, rows: &[Row], out: &Path) -> Result<(), Error> {
        let scratch = Scratch::new_in(out).map_err(Error::io("write to", out))?;
        let place = scratch.path().join(RUNS);
        fs::create_dir(&place).map_err(Error::io("create the folder", &place))?;
        // All files have the same columns, whichever parameters their runs have.
        let table: Vec<RunRow> = rows.iter().map(|row| run(row, &sweep.petal)).collect();
        let table = runs(&table)?;
        for range in parts(rows) {
            let name = &rows[range.start].name;
            let dir = place.join(format!("design={}", encoded(&name.design)));
            let dir = dir.join(format!("passes={}", encoded(&name.passes)));
            fs::create_dir_all(&dir).map_err(Error::io("create the folder", &dir))?;
            let path = dir.join("runs.parquet");
            let part = table.slice(range.start, range.len());
            fs::write(&path, parquet(&part)?).map_err(Error::io("write", &path))?;
        }
        let target = out.join(RUNS);
        remove(&target)?;
        fs::rename(&place, &target).map_err(Error::io("write", &target))
    }

    /// The runs of each design and pipeline, which follow one another.
    fn parts(rows: &[Row]) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            match parts.last_mut() {
                Some(part) if is_of_one_file(&rows[part.start], row) => part.end = at + 1,
                _ => parts.push(at..at + 1),
            }
        }
        parts
    }

    fn is_of_one_file(one: &Row, other: &Row) -> bool {
        one.name.design == other.name.design && one.name.passes == other.name.passes
    }

    /// A run as a row of the table.
    fn run(row: &Row, petal: &str) -> RunRow {
        let values = row.name.parameters.iter();
        let parameters = values.map(|(name, value)| (name.clone(), parameter(value)));
        // What was observed has no column of its own.
        let observed = row.figures.iter().filter(|(name, _)| name.contains(':'));
        let observed = observed.map(|(name, value)| {
            let value = i64::try_from(*value).unwrap_or(i64::MAX);
            (name.clone(), Parameter::Integer(value))
        });
        RunRow {
            design: row.name.design.clone(),
            digest: row.inputs.digest(),
            pipeline: row.name.passes.clone(),
            data: Some(row.name.data.clone()),
            figures: row.error.is_none().then(|| figures(row)),
            error: row.error.clone(),
            petal: Some(petal.to_owned()),
            calyx: Some(CALYX_VERSION.to_owned()),
            parameters: parameters.chain(observed).collect(),
            ..RunRow::default()
        }
    }

    fn parameter(value: &str) -> Parameter {
        if let Ok(number) = value.parse() {
            return Parameter::Integer(number);
        }
        if let Ok(flag) = value.parse() {
            return Parameter::Flag(flag);
        }
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Parameter::Real(number),
            _ => Parameter::Text(value.to_owned()),
        }
    }

    fn figures(row: &Row) -> Figures {
        let of = |name: &str| row.figures.get(name).copied().unwrap_or(0);
        Figures {
            cycles: of("cycles"),
            computation: of("computation_cycles"),
            conditions: of("condition_cycles"),
            overhead: by_kind(|kind| row.figures.get(&overhead(kind))),
        }
    }

    fn by_kind<'a>(cycles: impl Fn(&str) -> Option<&'a u64>) -> ByKind {
        Overhead::ALL.map(|kind| cycles(&kind.to_string()).copied().unwrap_or(0))
    }

    fn parquet(table: &RecordBatch) -> Result<Vec<u8>, Error> {
        let mut file = Vec::new();
        let mut writer = Writer::new(&table.schema(), &mut file)?;
        writer.write(table)?;
        writer.finish()?;
        Ok(file)
    }
}
