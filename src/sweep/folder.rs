//! The folder of a sweep: what is in it, and what shows all rows.

use std::fs;
use std::io;
use std::path::Path;

use petal_files::is_scratch;
use petal_profile::{Error, folder};
use petal_sweep::{Row, Sweep};

use super::dataset;
use crate::print::print;
use crate::screen::screen;

/// What is in the folder of a sweep: what it is made of, its page, and folders with rows, profiles and what was generated.
pub(super) const SWEEP: &str = "sweep.json";
pub(super) const PAGE: &str = "sweep.html";
pub(super) const ROWS: &str = "rows";
pub(super) const PROFILES: &str = "profiles";
pub(super) const GENERATED: &str = "generated";

/// What the names of figures begin with that are observed.
const OBSERVED: [&str; 4] = ["count:", "checkpoint:", "latency:", "broken:"];

/// Fails unless the folder is not there, empty, or has the file or folder `mark`, which all have that hold such a thing.
pub fn check_free(out: &Path, mark: &str, what: &str) -> Result<(), Error> {
    let entries = match fs::read_dir(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("write to the output folder", out))?,
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.retain(|name| !is_scratch(name));
    names.sort();
    match names.first() {
        Some(first) if !out.join(mark).exists() => Err(Error::usage(format!(
            "the output folder {} holds {} and no {what}; choose a new or empty folder with `--out`",
            out.display(),
            first.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a file, unless it is there: several commands may work on parts of one sweep in one folder.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    folder::write_whole(path, text.as_bytes())
}

/// Writes what shows all rows.
pub(super) fn publish(sweep: &Sweep, rows: &[Row], out: &Path) -> Result<(), Error> {
    dataset::write(sweep, rows, out)?;
    write(&out.join(PAGE), &sweep.html(rows))
}

/// Tells what the runs gave; fails if some gave nothing.
pub(super) fn tell(
    sweep: &Sweep,
    rows: &[Row],
    out: Option<&Path>,
    quiet: bool,
) -> Result<(), Error> {
    let missing = sweep.pareto.iter().find(|name| {
        let is_optional = OBSERVED.iter().any(|prefix| name.starts_with(prefix));
        let there = rows.iter().any(|row| row.figures.contains_key(*name));
        let any = rows.iter().any(|row| row.error.is_none());
        any && !there && !is_optional
    });
    if !quiet {
        print(&sweep.text(rows, screen()))?;
        if let Some(out) = out {
            let page = out.join(PAGE);
            print(&format!("\n  {}   open in a browser\n", page.display()))?;
        }
    }
    if let Some(name) = missing {
        return Err(Error::new(format!(
            "`pareto` names the figure `{name}`, which no run has; there is {}",
            Sweep::figures(rows).join(", ")
        )));
    }
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    match failed {
        0 => Ok(()),
        1 => Err(Error::new(
            "one run failed; the same command tries it again",
        )),
        failed => Err(Error::new(format!(
            "{failed} runs failed; the same command tries them again"
        ))),
    }
}
