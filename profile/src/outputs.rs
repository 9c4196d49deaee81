//! The files of a profile on their way to its folder.
//!
//! What there is to write, `petal_visualize::outputs` lists.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use petal_analysis::Summary;
use petal_visualize::outputs::{Make, OUTPUTS, Output, Rendering};
use petal_visualize::timeline::Format;

use crate::error::Error;
use crate::folder::Staging;

/// The names of all files of a profile.
pub fn files() -> Vec<&'static str> {
    names(|_| true)
}

/// The names of the files that a run writes, or removes.
pub fn of_runs() -> Vec<&'static str> {
    names(|output| !matches!(output.make, Make::Before))
}

/// The names of the files that are made in such a way.
pub fn names(wanted: impl Fn(&Output) -> bool) -> Vec<&'static str> {
    let outputs = OUTPUTS.iter().filter(|output| wanted(output));
    outputs.map(|output| output.name).collect()
}

/// Writes the files that show the whole run and are made in such a way; returns their names.
///
/// # Errors
/// When a file can't be read or written.
pub fn write(
    run: &Rendering<'_, '_>,
    summary: &Summary,
    staging: &Staging,
    wanted: impl Fn(&Output) -> bool,
) -> Result<Vec<&'static str>, Error> {
    let written =
        |output: &&Output| wanted(output) && (!output.of_front_end || run.analysis.has_front_end());
    for output in OUTPUTS.iter().filter(written) {
        if let Some(render) = output.make.render() {
            let drawn = render(run, summary);
            let drawn = drawn.map_err(Error::io("render", Path::new(output.name)))?;
            staging.write(output.name, drawn)?;
        }
    }
    Ok(names(wanted))
}

/// The timeline in several formats.
pub type Formats = Vec<Box<dyn Format + Send>>;

/// The names of the timelines, in the order of their formats.
pub fn timeline_names() -> Vec<&'static str> {
    names(|output| matches!(output.make, Make::Timeline(_)))
}

/// Beyond this many slices, a timeline has what stands for the run: viewers take too long to open more.
pub const MAX_SLICES: u64 = 1_000_000;

/// Begins the timelines in the staging folder.
///
/// # Errors
/// When a file can't be read or written.
pub fn timelines(staging: &Staging) -> Result<Formats, Error> {
    let mut formats = Vec::new();
    for output in OUTPUTS {
        if let Make::Timeline(begin) = output.make {
            let file = Box::new(create(&staging.path(output.name))?);
            formats.push(begin(file).map_err(Error::io("write", Path::new(output.name)))?);
        }
    }
    Ok(formats)
}

/// Leaves out timelines that had too many slices for their format, of those that are complete.
///
/// # Errors
/// When a file can't be read or written.
pub fn keep_timelines(formats: &[Box<dyn Format + Send>], staging: &Staging) -> Result<(), Error> {
    for (format, name) in formats.iter().zip(timeline_names()) {
        if !format.is_whole() {
            let path = staging.path(name);
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Creates a file for writing.
///
/// # Errors
/// When a file can't be read or written.
pub fn create(path: &Path) -> Result<BufWriter<File>, Error> {
    File::create(path)
        .map(|file| BufWriter::with_capacity(1 << 20, file))
        .map_err(Error::io("write", path))
}

/// The folder of advice in that of the profile.
pub const ADVICE: &str = "advice";

/// The files of advice that there are in the folder of a profile.
pub fn advice(out: &Path) -> Vec<String> {
    let entries = fs::read_dir(out.join(ADVICE))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_ours = |name: &String| {
        let patch = name.strip_suffix(".patch");
        let program = name.strip_suffix(".futil");
        matches!(name.as_str(), "advice.md" | "advice.sarif" | "proof.txt")
            || program.is_some_and(|of| of.starts_with("defect-"))
            || patch.is_some_and(|of| {
                let of = of.strip_prefix("front-").unwrap_or(of);
                matches!(of, "all" | "proved") || of.starts_with(|c: char| c.is_ascii_digit())
            })
    };
    names
        .filter(is_ours)
        .map(|name| format!("{ADVICE}/{name}"))
        .collect()
}
