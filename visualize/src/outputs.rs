//! The files of a profile: their names, what they are, and how each is made.
//!
//! Owns the only list of them: the command writes what is listed here, and the README's table and the tests
//! hold themselves against it. Knows nothing of folders.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Arc;

use crate::flame::{Flame, Frames};
use crate::report::{Area, report};
use crate::timeline::{ChromeJson, Format, Perfetto, WholeSlices};
use petal_analysis::Analysis;
use petal_analysis::leaves::Weighting;
use petal_analysis::summary::Summary;

/// The metadata of the design.
pub const METADATA: &str = "metadata.json";
/// The Petal trace.
pub const TRACE: &str = "trace.petal";
/// The summary; a profile is whole if it is there.
pub const SUMMARY: &str = "summary.json";
/// The memories after the run.
pub const MEMORIES: &str = "memories.json";
/// What was observed; the folder with its tables.
pub const OBSERVATIONS: &str = "observations.json";
/// See [`OBSERVATIONS`].
pub const OBSERVATION_TABLES: &str = "observations";
/// The folder with the tables for databases.
pub const TABLES_FOLDER: &str = "tables";
/// The baseline of the run.
pub const FIGURES: &str = "figures.json";
/// The baseline of the run before.
pub const LAST: &str = "last.json";
/// The native timeline.
pub const TIMELINE: &str = "timeline.pftrace";
/// The timeline for others, which a run of too many slices does not have.
pub const TIMELINE_JSON: &str = "timeline.json";
/// The page that shows everything.
pub const REPORT: &str = "report.html";

/// Beyond this many slices a timeline in JSON is large and slow to open; a part of the run can be had.
const MAX_JSON_SLICES: u64 = 100_000;

/// A file of a profile.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Its path in the folder of the profile, with `/`.
    pub name: &'static str,
    /// What it is, in Markdown. Neighbours in the list that are the same in another format have the same
    /// text.
    pub about: &'static str,
    /// How it is made, and when.
    pub make: Make,
    /// Whether it is only of designs that tell of a front end's files.
    pub of_front_end: bool,
}

/// How a file of a profile is made, and when.
#[derive(Debug, Clone, Copy)]
pub enum Make {
    /// By `petal run`, which hands it from one library to another.
    Run,
    /// By `petal run`, if observations are asked for, and there is something to write.
    Observed,
    /// From the trace, once it is known how long the run is; again by `petal timeline`.
    Timeline(BeginTimeline),
    /// Once the run is read; again by `petal flame`.
    Flame(Render),
    /// Once the run is read; again by `petal report`.
    Report(Render),
    /// Once the run is read.
    Analysis(Render),
    /// By `petal run --tables`, and by `petal export`.
    Table,
    /// Of the run before, whose place this one took.
    Before,
}

/// Begins a timeline in a file.
pub type BeginTimeline = fn(Box<dyn Write + Send>) -> io::Result<Box<dyn Format + Send>>;

/// Makes the bytes of a file.
pub type Render = fn(&Rendering<'_, '_>, &Summary) -> io::Result<Vec<u8>>;

/// A run that has been read, as its outputs show it.
#[derive(Debug)]
pub struct Rendering<'a, 'd> {
    /// What was counted.
    pub analysis: &'a Analysis<'d>,
    frames: Frames,
    area: Option<Area>,
    /// The flame graph that was asked for last: files of the same one follow one another.
    flame: RefCell<Option<(Weighting, Frames, Arc<Flame>)>>,
}

impl<'a, 'd> Rendering<'a, 'd> {
    /// With flame graphs of such frames.
    pub fn new(analysis: &'a Analysis<'d>, frames: Frames) -> Self {
        Self {
            analysis,
            frames,
            area: None,
            flame: RefCell::default(),
        }
    }

    /// With what is known of the area.
    #[must_use]
    pub fn with_area(self, area: Option<Area>) -> Self {
        Self { area, ..self }
    }

    /// A flame graph with the frames that were asked for.
    fn flame(&self, weighting: Weighting) -> Arc<Flame> {
        self.flame_of(weighting, self.frames)
    }

    /// A flame graph whose frames are lines of the front end's files.
    fn flame_of_front_end(&self, weighting: Weighting) -> Arc<Flame> {
        self.flame_of(weighting, Frames::FrontEnd)
    }

    fn flame_of(&self, weighting: Weighting, frames: Frames) -> Arc<Flame> {
        let mut last = self.flame.borrow_mut();
        match &*last {
            Some((of, with, flame)) if (*of, *with) == (weighting, frames) => flame.clone(),
            _ => {
                let flame = Arc::new(Flame::new(self.analysis, weighting, frames));
                *last = Some((weighting, frames, flame.clone()));
                flame
            }
        }
    }
}

impl Make {
    /// Makes the bytes of a file that shows the whole run; `None` for others.
    pub fn render(self) -> Option<Render> {
        match self {
            Self::Flame(render) | Self::Report(render) | Self::Analysis(render) => Some(render),
            Self::Run | Self::Observed | Self::Timeline(_) | Self::Table | Self::Before => None,
        }
    }
}

const FLAME: &str = "flame graph and folded stacks; adds up to the run: parallel leaves share a cycle, overhead is a leaf of its own";
const LEAVES: &str = "the same with every active leaf counting 1: parallel work adds up";
const ADL: &str = "flame graph of the lines of the front end's files (calyx-py, Dahlia), if the design names them";
const ADL_LEAVES: &str = "the same with every active leaf counting 1";
const TABLES: &str = "tables per component cell, group and control statement";
const OBSERVED: &str =
    "what was [observed](docs/guide/observe/README.md), if that was asked for, and its tables";
const EXPORTED: &str = "the same as [tables for databases](docs/guide/tables.md), with every slice of the timeline and every cycle, by `petal export DIR` or `petal run --tables`";
const READ_AGAIN: &str =
    "what `petal trace`, `annotate`, `compare`, `stats`, `report`, `flame` and `timeline` read";

/// The files of a profile.
#[rustfmt::skip]
pub const OUTPUTS: &[Output] = &[
    Output { name: REPORT, about: "one page with everything: summary, source with costs, flame graph, timeline down to the cycle, tables; needs no network", make: Make::Report(|run, summary| Ok(report(run.analysis, summary, run.area.as_ref()).into())), of_front_end: false },
    Output { name: "flame.svg", about: FLAME, make: Make::Flame(|run, summary| svg(&run.flame(Weighting::Scaled), summary)), of_front_end: false },
    Output { name: "flame.folded", about: FLAME, make: Make::Flame(|run, _| Ok(run.flame(Weighting::Scaled).folded().into())), of_front_end: false },
    Output { name: "flame-leaves.svg", about: LEAVES, make: Make::Flame(|run, summary| svg(&run.flame(Weighting::Leaves), summary)), of_front_end: false },
    Output { name: "flame-leaves.folded", about: LEAVES, make: Make::Flame(|run, _| Ok(run.flame(Weighting::Leaves).folded().into())), of_front_end: false },
    Output { name: "flame-adl.svg", about: ADL, make: Make::Flame(|run, summary| svg(&run.flame_of_front_end(Weighting::Scaled), summary)), of_front_end: true },
    Output { name: "flame-adl.folded", about: ADL, make: Make::Flame(|run, _| Ok(run.flame_of_front_end(Weighting::Scaled).folded().into())), of_front_end: true },
    Output { name: "flame-adl-leaves.svg", about: ADL_LEAVES, make: Make::Flame(|run, summary| svg(&run.flame_of_front_end(Weighting::Leaves), summary)), of_front_end: true },
    Output { name: "flame-adl-leaves.folded", about: ADL_LEAVES, make: Make::Flame(|run, _| Ok(run.flame_of_front_end(Weighting::Leaves).folded().into())), of_front_end: true },
    Output { name: TIMELINE, about: "timeline for [ui.perfetto.dev](https://ui.perfetto.dev), which `petal view DIR` opens; 1 µs is 1 cycle; beyond a million slices [what stands for the run](docs/guide/long-runs.md)", make: Make::Timeline(|out| Ok(Box::new(Perfetto::new(out)?))), of_front_end: false },
    Output { name: TIMELINE_JSON, about: "the same slices for speedscope and others; left out beyond 100,000 slices", make: Make::Timeline(|out| Ok(Box::new(WholeSlices::new(ChromeJson::new(out)?, MAX_JSON_SLICES)))), of_front_end: false },
    Output { name: "stats/cells.csv", about: TABLES, make: Make::Analysis(|run, _| Ok(run.analysis.cells().csv().into())), of_front_end: false },
    Output { name: "stats/groups.csv", about: TABLES, make: Make::Analysis(|run, _| Ok(run.analysis.groups().csv().into())), of_front_end: false },
    Output { name: "stats/control.csv", about: TABLES, make: Make::Analysis(|run, _| Ok(run.analysis.statements().csv().into())), of_front_end: false },
    Output { name: "stats/loops.csv", about: "table per loop: how often it goes round, [how long its iterations take, and what for](docs/guide/while.md#why-does-my-loop-take-15-cycles-an-iteration)", make: Make::Analysis(|run, _| Ok(run.analysis.loops().csv().into())), of_front_end: false },
    Output { name: "stats/lines.csv", about: "table per line of the front end's files", make: Make::Analysis(|run, _| Ok(run.analysis.lines().csv().into())), of_front_end: true },
    Output { name: "stats/hotspots.csv", about: "the statements that cost cycles, [and why](docs/guide/overhead.md#why-it-costs-that)", make: Make::Analysis(|run, _| Ok(run.analysis.hotspots_table().csv().into())), of_front_end: false },
    Output { name: OBSERVATIONS, about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/checkpoints.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/latencies.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/unmatched.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/intervals.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/blame.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/changes.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/access_memories.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/access_patterns.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/access_groups.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/accesses.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/violations.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/counters.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/spreads.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/derived.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/samples.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/windows.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "observations/variables.csv", about: OBSERVED, make: Make::Observed, of_front_end: false },
    Output { name: "tables/runs.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/statements.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/loops.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/groups.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/cells.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/lines.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/sites.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/trees.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/cycles.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/spans.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/checkpoints.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/latencies.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/unmatched.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/blame.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/changes.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/access_memories.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/access_patterns.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/access_groups.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/accesses.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/violations.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/counters.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/samples.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/spreads.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/derived.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/windows.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: "tables/variables.parquet", about: EXPORTED, make: Make::Table, of_front_end: false },
    Output { name: SUMMARY, about: "cycles, useful cycles, [overhead by kind](docs/guide/overhead.md), the most expensive statements and groups", make: Make::Analysis(|_, summary| Ok(summary.json().into())), of_front_end: false },
    Output { name: MEMORIES, about: "the memories after the run", make: Make::Run, of_front_end: false },
    Output { name: METADATA, about: READ_AGAIN, make: Make::Run, of_front_end: false },
    Output { name: TRACE, about: READ_AGAIN, make: Make::Run, of_front_end: false },
    Output { name: FIGURES, about: "the [baseline](docs/ci.md) of the run, which becomes `last.json`", make: Make::Run, of_front_end: false },
    Output { name: LAST, about: "the [baseline](docs/ci.md) of the run before, for `petal compare --last`; kept while nothing changes", make: Make::Before, of_front_end: false },
];

fn svg(flame: &Flame, summary: &Summary) -> io::Result<Vec<u8>> {
    let mut image = Vec::new();
    flame.svg(&summary.design, &mut image)?;
    Ok(image)
}
