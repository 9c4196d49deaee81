//! The files of a profile: their names, and which output goes to which of them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use petal_metadata::Metadata;
use petal_visualize::{Analysis, ChromeJson, Perfetto, Section, Table, Timeline, Weighting};

use crate::args::TableArg;
use crate::failure::Failure;
use crate::folder::{self, Staging};

/// The timeline.
pub const TIMELINE: &str = "timeline.pftrace";
/// The timeline for other viewers. Beyond this many slices it is large and slow to open, so it is
/// left out; a part of it can be had.
pub const TIMELINE_JSON: &str = "timeline.json";
const MAX_JSON_SLICES: u64 = 100_000;
/// The flame graphs: weighting, folded stacks, image.
pub const FLAMES: [(Weighting, &str, &str); 2] = [
    (Weighting::Flat, "flame.folded", "flame.svg"),
    (Weighting::Scaled, "flame-scaled.folded", "flame-scaled.svg"),
];
/// The page that shows everything.
pub const REPORT: &str = "report.html";
/// The tables.
pub const TABLES: [(TableArg, &str); 3] = [
    (TableArg::Cells, "stats/cells.csv"),
    (TableArg::Groups, "stats/groups.csv"),
    (TableArg::Control, "stats/control.csv"),
];

/// One of the tables.
pub fn table(analysis: &Analysis<'_>, table: TableArg) -> Table {
    match table {
        TableArg::Cells => analysis.cells(),
        TableArg::Groups => analysis.groups(),
        TableArg::Control => analysis.statements(),
    }
}

/// Writes the flame graphs.
pub fn write_flames(
    analysis: &Analysis<'_>,
    staging: &Staging,
    design: &str,
) -> Result<(), Failure> {
    for (weighting, folded, svg) in FLAMES {
        let flame = analysis.flame(weighting);
        staging.write(folded, flame.folded())?;
        let mut image = Vec::new();
        flame.svg(design, &mut image)?;
        staging.write(svg, image)?;
    }
    Ok(())
}

/// Writes the tables.
pub fn write_tables(analysis: &Analysis<'_>, staging: &Staging) -> Result<(), Failure> {
    for (wanted, name) in TABLES {
        staging.write(name, table(analysis, wanted).csv())?;
    }
    Ok(())
}

/// The timeline in all its formats.
pub type Timelines<'a> = Timeline<'a, (Perfetto<BufWriter<File>>, ChromeJson<BufWriter<File>>)>;

/// Begins the timelines in the staging folder.
pub fn timelines<'a>(
    metadata: &'a Metadata,
    section: Section,
    staging: &Staging,
) -> Result<Timelines<'a>, Failure> {
    let native = Perfetto::new(create(&staging.path(TIMELINE))?)?;
    let json = ChromeJson::new(create(&staging.path(TIMELINE_JSON))?, MAX_JSON_SLICES)?;
    Ok(Timeline::new(metadata, section, (native, json)))
}

/// Ends the timelines: one that is of no use is left out.
pub fn finish_timelines(timelines: &Timelines<'_>, staging: &Staging) -> Result<(), Failure> {
    let (_, json) = timelines.format();
    if !json.is_whole() {
        let path = staging.path(TIMELINE_JSON);
        std::fs::remove_file(&path).map_err(Failure::io("remove", &path))?;
    }
    Ok(())
}

/// Creates a file for writing.
pub fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path)
        .map(|file| BufWriter::with_capacity(1 << 20, file))
        .map_err(Failure::io("write", path))
}

/// The names of all files of a profile, the summary last.
pub fn files() -> Vec<&'static str> {
    let mut files = vec![
        folder::MEMORIES,
        folder::METADATA,
        folder::TRACE,
        TIMELINE,
        TIMELINE_JSON,
    ];
    for (_, folded, svg) in FLAMES {
        files.extend([folded, svg]);
    }
    files.extend(TABLES.map(|(_, name)| name));
    files.extend([REPORT, folder::SUMMARY]);
    files
}

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}
