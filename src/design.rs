//! Where a design comes from: a file, or standard input, which is `-`.
//!
//! Owns that standard input is read once, however often the design is parsed. Knows no Calyx.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use petal_profile::interrupt::Ending;
use petal_profile::{Error, folder};
use petal_program::Source;

use crate::args::DesignArgs;
use crate::streams;

/// What errors call the design from standard input.
const NAME: &str = "<stdin>";

/// Whether the design is on standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The design at `path`, which is read here only if it is on standard input.
pub fn source(path: &Path) -> Result<Source, Error> {
    if !is_standard_input(path) {
        check(path)?;
        return Ok(Source::from(path));
    }
    let text = streams::input().map_or_else(text, Ok)?;
    Ok(Source::Text {
        name: PathBuf::from(NAME),
        text,
    })
}

/// Fails if a folder stands where a design is wanted: says what it is, and what takes it.
pub fn check(path: &Path) -> Result<(), Error> {
    if !path.is_dir() {
        return Ok(());
    }
    let shown = path.display();
    Err(Error::new(if folder::is_profile(path) {
        format!(
            "{shown} is the profile of a run, and no design: name the design's file, or see what the profile holds with \
             `petal stats {shown} hotspots`, and what changed since the run before with `petal compare --last {shown}`"
        )
    } else {
        format!(
            "cannot read the design {shown}: it is a directory, and not a regular file; name a Calyx file in it"
        )
    }))
}

/// What is on standard input.
fn text() -> Result<String, Error> {
    static TEXT: Mutex<Option<String>> = Mutex::new(None);
    let mut kept = TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = &*kept {
        return Ok(text.clone());
    }
    // It may take for ever, and there is nothing to clean up yet.
    let _ending = Ending::at_once();
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(Error::io("read the design", Path::new(NAME)))?;
    Ok(kept.insert(text).clone())
}

/// Where a file is below the folder in which the command runs: who shows a place in it looks there.
pub fn below_here(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path)
}

/// The name of a design: its file's without the extension, if that is a name.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) {
        return "stdin".to_owned();
    }
    petal_profile::design_name(path)
}

/// A command of a design, with the options that it is compiled with.
pub fn command(name: &str, design: &DesignArgs, data: Option<&Path>) -> Vec<String> {
    let mut words = vec![
        "petal".to_owned(),
        name.to_owned(),
        design.design.display().to_string(),
    ];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if let Some(data) = data {
        option("--data", data.display().to_string());
    }
    if design.passes != petal_passes::ALL {
        option("--passes", design.passes.clone());
    }
    for pass in &design.disable_pass {
        option("-d", pass.clone());
    }
    for extra in &design.extra_opt {
        option("-x", extra.clone());
    }
    for library in &design.library {
        option("-l", library.display().to_string());
    }
    words
}
