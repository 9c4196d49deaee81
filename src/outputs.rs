//! The files of a profile on their way to its folder.
//!
//! What there is to write, `petal_visualize::outputs` lists.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use petal_analysis::Summary;
use petal_visualize::outputs::{Make, OUTPUTS, Output, Rendering};
use petal_visualize::timeline::Format;

use crate::call;
use crate::failure::Failure;
use crate::folder::Staging;

/// The names of all files of a profile.
pub fn files() -> Vec<&'static str> {
    names(|_| true)
}

/// The names of the files that are made in such a way.
pub fn names(wanted: impl Fn(&Output) -> bool) -> Vec<&'static str> {
    let outputs = OUTPUTS.iter().filter(|output| wanted(output));
    outputs.map(|output| output.name).collect()
}

/// Writes the files that show the whole run and are made in such a way; returns their names.
pub fn write(
    run: &Rendering<'_, '_>,
    summary: &Summary,
    staging: &Staging,
    wanted: impl Fn(&Output) -> bool,
) -> Result<Vec<&'static str>, Failure> {
    let written =
        |output: &&Output| wanted(output) && (!output.of_front_end || run.analysis.has_front_end());
    for output in OUTPUTS.iter().filter(written) {
        if let Some(render) = output.make.render() {
            staging.write(output.name, render(run, summary)?)?;
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

/// Begins the timelines in the staging folder.
pub fn timelines(staging: &Staging) -> Result<Formats, Failure> {
    let mut formats = Vec::new();
    for output in OUTPUTS {
        if let Make::Timeline(begin) = output.make {
            let file = Box::new(create(&staging.path(output.name))?);
            formats.push(begin(file).map_err(Failure::io("write", Path::new(output.name)))?);
        }
    }
    Ok(formats)
}

/// Leaves out timelines that are of no use, of those that are complete.
pub fn keep_timelines(formats: &Formats, staging: &Staging) -> Result<(), Failure> {
    for (format, name) in formats.iter().zip(timeline_names()) {
        if !format.is_whole() {
            let path = staging.path(name);
            std::fs::remove_file(&path).map_err(Failure::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Creates a file for writing.
pub fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path)
        .map(|file| BufWriter::with_capacity(1 << 20, file))
        .map_err(Failure::io("write", path))
}

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    is_read(text).map(drop)
}

/// Prints to standard output, and tells whether somebody reads it.
pub fn is_read(text: &str) -> Result<bool, Failure> {
    let mut out: Box<dyn Write> = match call::output() {
        Some(output) => Box::new(output),
        None => Box::new(anstream::stdout().lock()),
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "cannot write to standard output: {error}"
        ))),
        written => Ok(written.is_ok()),
    }
}
