//! Makes all outputs of a profile in one pass over its events.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use petal_metadata::{FileId, Metadata};
use petal_reconstruct::{CompiledView, Event};
use petal_visualize::{
    Activations, Baseline, ChromeJson, Flame, Ledger, Line, Order, Perfetto, Profile, Report,
    Section, Summary, Table, Timeline, Weighting, annotate, cells, control, control_per_instance,
    groups,
};

use crate::args::{ControlArg, TableArg};
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

/// What is counted while the events of a trace pass by.
pub struct Counted<'a> {
    metadata: &'a Metadata,
    profile: Profile,
    activations: Activations<'a>,
    order: Order<'a>,
    /// The profile that flame graphs and the report show, where it is not `profile`.
    compiled: Option<(CompiledView, Profile)>,
}

impl<'a> Counted<'a> {
    /// Counts in a trace of this design; flame graphs show control as `view` tells.
    pub fn new(metadata: &'a Metadata, view: ControlArg) -> Self {
        Self {
            metadata,
            profile: Profile::default(),
            activations: Activations::new(metadata),
            order: Order::new(metadata),
            compiled: (view == ControlArg::Compiled)
                .then(|| (CompiledView::new(metadata), Profile::default())),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        self.profile.event(event);
        self.activations.event(event);
        self.order.event(event);
        if let Some((view, profile)) = &mut self.compiled {
            profile.event(&view.event(event.clone()));
        }
    }

    /// The lines of a source file, with their costs.
    pub fn annotate(&self, file: FileId) -> Vec<Line<'a>> {
        annotate(self.metadata, &self.ledger(), &self.activations, file)
    }

    /// What every cycle went to.
    pub fn ledger(&self) -> Ledger {
        Ledger::new(self.metadata, &self.profile)
    }

    /// Length of the run in cycles.
    pub fn cycles(&self) -> u64 {
        self.profile.total()
    }

    /// The profile with control as it is to be shown.
    fn shown(&self) -> &Profile {
        match &self.compiled {
            Some((_, profile)) => profile,
            None => &self.profile,
        }
    }

    /// Writes the flame graphs.
    pub fn write_flames(&self, staging: &Staging, design: &str) -> Result<(), Failure> {
        for (weighting, folded, svg) in FLAMES {
            let flame = Flame::new(self.metadata, self.shown(), weighting);
            staging.write(folded, flame.folded())?;
            let mut image = Vec::new();
            flame.svg(design, &mut image)?;
            staging.write(svg, image)?;
        }
        Ok(())
    }

    /// One of the tables.
    pub fn table(&self, table: TableArg) -> Table {
        match table {
            TableArg::Cells => cells(self.metadata, &self.profile, &self.activations),
            TableArg::Groups => groups(self.metadata, &self.activations),
            TableArg::Control => control(self.metadata, &self.ledger(), &self.activations),
        }
    }

    /// The table of control nodes, with a row for each instance.
    pub fn control_per_instance(&self) -> Table {
        control_per_instance(
            self.metadata,
            &self.profile,
            &self.ledger(),
            &self.activations,
        )
    }

    /// Writes the tables.
    pub fn write_tables(&self, staging: &Staging) -> Result<(), Failure> {
        for (table, name) in TABLES {
            staging.write(name, self.table(table).csv())?;
        }
        Ok(())
    }

    /// What a comparison needs of a run, which ended early if `stopped` tells why.
    pub fn baseline(&self, design: &str, stopped: Option<String>) -> Baseline {
        Baseline::new(
            self.metadata,
            &self.profile,
            &self.ledger(),
            &self.activations,
            design,
            stopped,
        )
    }

    /// Writes the report.
    pub fn write_report(&self, staging: &Staging, summary: &Summary) -> Result<(), Failure> {
        let report = Report {
            metadata: self.metadata,
            summary,
            profile: &self.profile,
            shown: self.shown(),
            activations: &self.activations,
            ledger: &self.ledger(),
            order: &self.order,
        };
        staging.write(REPORT, report.html())
    }

    /// The summary.
    pub fn summary(&self, design: &str, versions: Vec<(String, String)>) -> Summary {
        Summary::new(
            self.metadata,
            &self.profile,
            &self.ledger(),
            &self.activations,
            design,
            versions,
        )
    }
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
