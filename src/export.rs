//! `petal export`: the tables of a profile as Parquet files, which only a petal with the feature `tables` can write: Arrow takes long to
//! build.

#[cfg(feature = "tables")]
use std::fmt::Write as _;
use std::path::Path;

use petal_profile::Error;
#[cfg(feature = "tables")]
use petal_table::thousands;

use crate::args::ExportArgs;
use crate::print::print;
use crate::progress::Stage;

/// `petal export`
pub fn export(args: &ExportArgs) -> Result<(), Error> {
    check()?;
    let writing = Stage::new("writing tables", false);
    let text = write(&args.dir)?;
    drop(writing);
    print(&text)
}

/// Fails if this petal can't write tables.
pub fn check() -> Result<(), Error> {
    if cfg!(feature = "tables") {
        return Ok(());
    }
    Err(Error::new(
        "this petal was built without tables, which take minutes to build: `cargo install --path . --features tables` in a clone of petal builds one with \
         them; releases have them",
    ))
}

/// Writes the tables of the profile in `dir` into its folder; the text tells which.
#[cfg(feature = "tables")]
pub fn write(dir: &Path) -> Result<String, Error> {
    let mut text = String::new();
    for (name, bytes) in petal_profile::tables::write(dir)? {
        let shown = dir.join(name);
        let _ = writeln!(text, "{}: {} bytes", shown.display(), thousands(bytes));
    }
    Ok(text)
}

/// As [`check`] says.
#[cfg(not(feature = "tables"))]
pub fn write(_: &Path) -> Result<String, Error> {
    check().map(|()| String::new())
}
