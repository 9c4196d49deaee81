//! The command line: what can be asked of `petal`, in clap's terms.

mod advise;
mod compare;
mod graph;
mod observe;
mod shown;
mod stages;
mod sweep;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use colorchoice_clap::Color;
use petal_analysis::ControlView;
use petal_table::Filter;

pub use self::advise::{AdviceArg, AdviseArgs};
pub use self::compare::{BaselineArgs, CompareArgs, ComparisonArg};
pub use self::graph::{GraphArgs, GraphFormat};
pub use self::observe::{CountersArgs, ObserveArgs};
pub use self::shown::{AgainArgs, TimelineArgs, TraceArgs, ViewerArgs};
pub use self::stages::{InstrumentArgs, ReconstructArgs};
pub use self::sweep::SweepArgs;
use self::values::parse_name;
pub use self::values::parse_size;
use petal_profile::{
    CYCLE_LIMIT, DesignOptions, Error, Options, Simulator, WaveformFile, WaveformFormat,
};

use crate::{design, versions};

const AFTER_HELP: &str = "\
Examples:
  petal run design.futil                       profile a design, into petal-out/design
  petal run design.futil --passes no-opt       the same without optimisations
  petal view petal-out/design                  its timeline, in ui.perfetto.dev
  petal annotate petal-out/design              the source, with what each line cost
  petal trace petal-out/design --cycles 0..10  the call trees of the first ten cycles
  petal compare petal-out/before design.futil  what takes more cycles than before, and what fewer

Exit codes:
  0  it worked
  1  it did not: the design, its data, the simulation or a file is at fault
     (petal compare also: the run got longer by more than the limit)
  2  the command line makes no sense
  130  it was interrupted";

const RUN_HELP: &str = "\
Examples:
  petal run design.futil
  petal run design.futil --data inputs.json --out profile
  petal run design.futil --passes all --disable-pass cell-share
  petal run design.futil --json | jq .cycles
  python3 design.py | petal run - --name design --data inputs.json";

const VIEW_HELP: &str = "\
Examples:
  petal view petal-out/design
  petal view petal-out/design --cycles 5000..6000
  petal view petal-out/design --around main.queue.while@L12#1000
  petal view petal-out/design --report";

const EXPORT_HELP: &str = "\
Examples:
  petal export petal-out/design
  duckdb -c \"SELECT path, sum(cycles) FROM 'petal-out/design/tables/spans.parquet' GROUP BY path\"";

const STATS_HELP: &str = "\
As text, a table has ten rows, those with most first, and the columns that matter, without zeros. --all shows
the whole table; the other formats always have it.

Examples:
  petal stats petal-out/design control
  petal stats petal-out/design cells --sort overhead --top 3
  petal stats petal-out/design groups --columns group,avg,max --filter component=main --filter 'max>1'
  petal stats petal-out/design control --format csv";

const COMPLETIONS_HELP: &str = "\
Examples:
  petal completions bash > ~/.local/share/bash-completion/completions/petal
  petal completions zsh > ~/.zfunc/_petal
  petal completions fish > ~/.config/fish/completions/petal.fish";

/// A cycle-level profiler for hardware written in the Calyx intermediate language.
#[derive(Debug, Parser)]
#[command(name = "petal", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub color: Color,
}

impl Cli {
    /// What these arguments, of which the first is the program's name, ask for.
    ///
    /// Fails where they ask for help or make no sense; the error has the text.
    pub fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Self::definition();
        if arguments.iter().any(|argument| argument == "--version") {
            // Only then, because Verilator takes a moment to tell its version.
            command = command.long_version(versions::text());
        }
        let matches = command.try_get_matches_from_mut(arguments);
        let parsed = matches.and_then(|matches| Self::from_arg_matches(&matches));
        parsed.map_err(|error| error.format(&mut command))
    }

    /// All that can be asked.
    pub fn definition() -> clap::Command {
        Self::command().mut_arg("color", |color| {
            color.help(
                "When to colour: auto is on a terminal, and heeds NO_COLOR and CLICOLOR_FORCE",
            )
        })
    }
}

/// What `--color` says, when the other arguments keep clap from telling.
pub fn asked_color(arguments: &[OsString]) -> Option<ColorChoice> {
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let value = arguments.iter().enumerate().find_map(|(at, argument)| {
        let value = argument.strip_prefix("--color")?;
        value.strip_prefix('=').or(match value {
            "" => arguments.get(at + 1).map(String::as_str),
            _ => None,
        })
    })?;
    let color = clap::ColorChoice::from_str(value, false).ok()?;
    Some(Color { color }.as_choice())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Profile a design: compile, simulate, reconstruct, and write all outputs
    #[command(after_help = RUN_HELP)]
    Run(Box<RunArgs>),
    /// Print the call tree of every cycle of a profile
    Trace(TraceArgs),
    /// Write the flame graphs of a profile again
    Flame(FlameArgs),
    /// Write the report of a profile again
    Report(AgainArgs),
    /// Write the tables of a profile as Parquet files, for databases and data frames
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Write the timeline of a profile again
    Timeline(TimelineArgs),
    /// Open the timeline of a profile in ui.perfetto.dev: of a long run a part, and the whole at a glance
    #[command(after_help = VIEW_HELP)]
    View(ViewerArgs),
    /// Print the statistics tables of a profile, or what matters most of them
    #[command(after_help = STATS_HELP)]
    Stats(StatsArgs),
    /// Draw the control-flow graph of a run: what ran after what, how often, and the critical path
    #[command(after_help = self::graph::HELP)]
    Graph(GraphArgs),
    /// Print the source with cycles, useful share and overhead beside each line
    Annotate(AnnotateArgs),
    /// Compare two runs: what takes more cycles, and what fewer
    #[command(after_help = self::compare::HELP)]
    Compare(CompareArgs),
    /// Tell which changes of a design save cycles: each is tried, and its results are compared
    #[command(after_help = self::advise::HELP)]
    Advise(AdviseArgs),
    /// Run many designs, pipelines and data sets, and tell which are best
    #[command(after_help = self::sweep::SWEEP_HELP)]
    Sweep(SweepArgs),
    /// List what can be counted in a design by `petal run --count`: what memories, registers and cells do
    Counters(CountersArgs),
    /// Print what a comparison needs of a profile: a small file to keep beside the design
    Baseline(BaselineArgs),
    /// Compile a design with probes: Verilog and metadata, without a simulation
    Instrument(InstrumentArgs),
    /// Make a profile of a waveform that was simulated elsewhere
    Reconstruct(ReconstructArgs),
    /// Tell what a word of the outputs means, such as `useful` or the heading of a column
    Explain(ExplainArgs),
    /// Look after the cache of Verilator's builds
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Check what petal needs: what is installed, what is missing, and how to get it
    Doctor,
    /// Print a script that completes petal's arguments in a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
    /// Write the manual pages of petal and its commands
    Man(ManArgs),
}

/// `petal cache`
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Remove everything from the cache
    Clean,
}

/// `petal explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The word, or a key of `summary.json` [default: list all]
    pub term: Vec<String>,
}

/// `petal completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `petal man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Where to write the pages, such as ~/.local/share/man/man1
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Which design, and how to compile it.
#[derive(Debug, Clone, Args)]
pub struct DesignArgs {
    /// The Calyx program, or `-` for standard input
    pub design: PathBuf,
    /// The passes: `all`, `no-opt`, or a list of passes and aliases with commas
    #[arg(long, default_value = petal_passes::ALL, value_name = "LIST")]
    pub passes: String,
    /// Leave out a pass or alias (may be repeated)
    #[arg(short = 'd', long = "disable-pass", value_name = "PASS")]
    pub disable_pass: Vec<String>,
    /// Give a pass an option, as `PASS:OPTION` or `PASS:OPTION=VALUE` (may be repeated); what passes print goes to
    /// standard error
    #[arg(short = 'x', long = "extra-opt", value_name = "OPTION")]
    pub extra_opt: Vec<String>,
    /// Look for imports in this folder, before the standard library (may be repeated)
    #[arg(short = 'l', long = "library", value_name = "DIR")]
    pub library: Vec<PathBuf>,
    /// Also take the texts of front-end files (Python, Dahlia) from this folder, or with `FROM=TO` look for those whose paths
    /// begin with FROM below TO (may be repeated) [default: the design's folder and the current one]
    #[arg(long, value_name = "DIR")]
    pub source_root: Vec<String>,
    /// Do not make sure that the design without probes runs alike; outputs tell it
    #[arg(long)]
    pub unverified: bool,
}

impl DesignArgs {
    /// The design, which is read here only if it is on standard input.
    pub fn options(&self) -> Result<DesignOptions, Error> {
        Ok(DesignOptions {
            source: design::source(&self.design)?,
            passes: self.passes.clone(),
            disabled_passes: self.disable_pass.clone(),
            pass_options: self.extra_opt.clone(),
            libraries: self.library.clone(),
            source_roots: self.source_root.clone(),
            is_verified: !self.unverified,
        })
    }
}

/// What simulates a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulatorArg {
    /// petal's own, which needs nothing installed
    Embedded,
    /// Verilator and a C++ compiler
    Verilator,
}

/// Which frames of control outputs show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ControlArg {
    /// Every control statement, as written
    Source,
    /// Only those that became a compilation group
    Compiled,
}

impl From<ControlArg> for ControlView {
    fn from(control: ControlArg) -> Self {
        match control {
            ControlArg::Source => Self::Source,
            ControlArg::Compiled => Self::Compiled,
        }
    }
}

/// Options of everything that shows call trees.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Which frames of control to show
    #[arg(long, value_enum, default_value = "source")]
    pub control: ControlArg,
}

/// `petal run`
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct RunArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// Contents of the memories [default: DESIGN.futil.data if there is one, else zeros]
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    /// Refuse data with values that the format of their memory does not have, instead of rounding them
    #[arg(long)]
    pub exact: bool,
    /// What the profile is called [default: the design's file without its extension; stdin for `-`]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub name: Option<String>,
    /// Where to write the profile [default: petal-out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What simulates the design [default: embedded; verilator if the design has Verilog of its own]
    #[arg(long, value_enum)]
    pub simulator: Option<SimulatorArg>,
    /// The Verilator to use; also chooses it as the simulator [default: the one on PATH]
    #[arg(long, value_name = "PROGRAM", conflicts_with = "partial")]
    pub verilator: Option<PathBuf>,
    /// End the run after this many cycles, with the profile up to there and exit code 1
    #[arg(long, default_value_t = CYCLE_LIMIT, value_name = "CYCLES")]
    pub cycle_limit: u64,
    /// Refuse designs whose simulation may take more memory, such as 512M or 20G; what is observed comes on top, with some 40
    /// bytes for each stamp, change or sample [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Take a run that ends before the design is done for one that worked, and profile it also if Ctrl-C or the design
    /// itself ends it [default: at the cycle limit, and where a design provably never ends]
    #[arg(long)]
    pub partial: bool,
    /// End with an error, after the profile is written, if the run has warnings
    #[arg(long)]
    pub strict: bool,
    /// Write all signals of the run to this file as FST, which is small, for a waveform viewer
    #[arg(long, value_name = "FILE", conflicts_with = "verilator")]
    pub fst: Option<PathBuf>,
    /// Write them as VCD, which everything reads
    #[arg(long, value_name = "FILE", conflicts_with = "fst")]
    pub vcd: Option<PathBuf>,
    /// Write the tables of the profile as Parquet files, too, as `petal export` does
    #[arg(long)]
    pub tables: bool,
    /// Print the memories as they are after the run
    #[arg(long)]
    pub memories: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub observe: ObserveArgs,
}

impl RunArgs {
    /// The run that they ask for.
    pub fn options(&self) -> Result<Options, Error> {
        let waveform = |path: &Option<PathBuf>, format| {
            let path = path.clone()?;
            Some(WaveformFile { path, format })
        };
        let fst = waveform(&self.fst, WaveformFormat::Fst);
        let name = || design::name(&self.design.design);
        Ok(Options {
            name: Some(self.name.clone().unwrap_or_else(name)),
            data: self.data.clone(),
            is_exact: self.exact,
            simulator: match (self.simulator, &self.verilator) {
                (_, Some(_)) | (Some(SimulatorArg::Verilator), None) => {
                    Simulator::Verilator(self.verilator.clone())
                }
                (Some(SimulatorArg::Embedded), None) => Simulator::Embedded,
                (None, None) => Simulator::Any,
            },
            cycle_limit: self.cycle_limit,
            max_memory: self.max_memory,
            is_partial: self.partial,
            waveform: fst.or_else(|| waveform(&self.vcd, WaveformFormat::Vcd)),
            control: self.view.control.into(),
            observe: self.observe.options(),
            ..Options::new(self.design.options()?)
        })
    }
}

/// `petal export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The folder that `petal run` wrote; the tables go to the folder `tables` in it
    pub dir: PathBuf,
}

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Aligned text
    Text,
    /// Comma-separated values
    Csv,
    /// Markdown
    Markdown,
    /// JSON
    Json,
}

/// A statistics table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableArg {
    /// Component cells
    Cells,
    /// Groups
    Groups,
    /// Control nodes
    Control,
    /// Lines of the front end's files
    Lines,
    /// Statements that cost cycles, and why
    Hotspots,
}

/// What the frames of flame graphs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FramesArg {
    /// What is in the Calyx program
    Calyx,
    /// Lines of the front end's files
    Adl,
    /// What is in the Calyx program, with lines of the front end's files
    Both,
}

/// `petal flame`
#[derive(Debug, Args)]
pub struct FlameArgs {
    #[command(flatten)]
    pub again: AgainArgs,
    /// What the frames of `flame.svg` and `flame-leaves.svg` are
    #[arg(long, value_enum, default_value = "calyx")]
    pub frames: FramesArg,
}

/// `petal stats`
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Which tables [default: all]
    #[arg(value_enum)]
    pub table: Vec<TableArg>,
    /// A row for each component cell in the table `control`, instead of one for all cells of a component; in the
    /// table `lines`, one for each statement of a line in each cell
    #[arg(long)]
    pub per_instance: bool,
    /// Sort by this column: numbers with most first, texts from A to Z
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<String>,
    /// Sort the other way round
    #[arg(short, long, requires = "sort")]
    pub reverse: bool,
    /// Only so many rows [default: 10 as text, else all]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Only these columns, in this order [default: six as text, else all]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Only rows for which this holds: a column, one of = != ~ (contains) < <= > >=, and a value (may be repeated)
    #[arg(long, value_name = "EXPR")]
    pub filter: Vec<Filter>,
    /// All rows and columns as text, too
    #[arg(long)]
    pub all: bool,
    /// How to print them
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
}

/// `petal annotate`
#[derive(Debug, Args)]
pub struct AnnotateArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Only this source file, by name [default: all that the design uses]
    #[arg(long, value_name = "NAME")]
    pub file: Option<String>,
}
