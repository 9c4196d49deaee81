//! What a chip recorded held against a simulation: `petal compare` of results of observations.

use std::path::Path;

use petal_observe::{Held, Results};
use petal_profile::{Error, observations};

use crate::args::{CompareArgs, ComparisonArg};
use crate::print::print;
use crate::screen::screen;

/// The results in a file, as `petal monitor read --json` prints them; `None` of any other file.
pub(super) fn reading(path: &Path) -> Option<Results> {
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let text = is_json.then(|| petal_files::read_to_string(path).ok())??;
    serde_json::from_str(&text).ok()
}

/// Compares two sides of which at least one is a reading.
pub(super) fn held(
    args: &CompareArgs,
    [before, after]: [&Path; 2],
    [was, is]: [Option<Results>; 2],
) -> Result<(), Error> {
    if args.html.is_some() || args.flame.is_some() || !args.fail_above.is_empty() {
        return Err(Error::usage(
            "what a monitor recorded is the same or not: leave out `--html`, `--flame` and `--fail-above`",
        ));
    }
    let (was, is) = (results(before, was)?, results(after, is)?);
    let held = Held::new(&was, &is);
    print(&match args.format {
        ComparisonArg::Text => held.text(screen()),
        ComparisonArg::Json => held.json(),
        _ => {
            return Err(Error::usage(
                "what a monitor recorded is compared as `--format text` or `json`",
            ));
        }
    })?;
    if held.same {
        return Ok(());
    }
    Err(Error::new(format!(
        "{} and {} do not tell the same",
        before.display(),
        after.display()
    )))
}

/// Those of a reading, or of the profile in a folder.
fn results(path: &Path, reading: Option<Results>) -> Result<Results, Error> {
    let missing = || {
        Error::new(format!(
            "{} has no observations to hold against those of a monitor: run the design with the same `--checkpoint`, `--count`, … and name \
             the folder of its profile",
            path.display()
        ))
    };
    let results = if path.is_dir() {
        observations::read(path)?
    } else {
        reading
    };
    results.ok_or_else(missing)
}
