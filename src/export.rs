//! `petal export`: the tables of a profile as Parquet files.
//!
//! Owns their way into the folder. What is in them is the business of `petal_tables`, which only a petal with the feature `tables`
//! has: Arrow takes long to build.

use std::fmt::Write as _;
use std::path::Path;

use petal_table::thousands;
use petal_visualize::outputs::Make;

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
use crate::tables::write_files;
