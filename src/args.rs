//! The command line: what can be asked of `petal`, in clap's terms.

mod advise;
mod check;
mod compare;
mod debug;
mod design;
mod graph;
mod monitor;
mod observe;
mod run;
mod shown;
mod stages;
mod sweep;
mod synth;
mod values;
mod view;
mod whatif;

use std::ffi::OsString;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use colorchoice_clap::Color;
use petal_table::Filter;

pub use self::advise::{AdviceArg, AdviseArgs, GoalArg};
pub use self::check::{CheckArgs, CheckFormat};
pub use self::compare::{BaselineArgs, CompareArgs, ComparisonArg};
pub use self::debug::DebugArgs;
pub use self::design::DesignArgs;
pub use self::graph::{GraphArgs, GraphFormat};
pub use self::monitor::{BuildArgs, MonitorArgs, MonitorCommand, ReadArgs};
pub use self::observe::{CountersArgs, ObserveArgs};
pub use self::run::{RunArgs, SimulatorArg};
pub use self::shown::{AgainArgs, TimelineArgs, TraceArgs, ViewerArgs};
pub use self::stages::{InstrumentArgs, ReconstructArgs};
pub use self::sweep::SweepArgs;
pub use self::synth::{AlsoSynthArgs, MemoriesArg, SynthArgs, SynthFormat, TargetArg};
pub use self::values::{parse_cycles, parse_size};
pub use self::whatif::WhatIfArgs;

use crate::versions;

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
     (petal compare also: the run got longer by more than the limit; petal check: it found something)
  2  the command line makes no sense
  130  it was interrupted";

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

const MCP_HELP: &str = "\
An agent's program starts it, in the folder of the designs; nothing that the agent names leads out of that folder.
docs/agents.md tells how to set it up, and which tools there are.

Example:
  claude mcp add petal -- petal mcp";

const LSP_HELP: &str = "\
An editor starts it, in the folder of the designs, beside its server for Calyx if it has one. docs/editors.md tells how to set it up,
which settings it has, and which commands.

Example:
  hx design.futil     (with petal as one of Helix's language servers)";

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
    #[command(after_help = self::run::HELP)]
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
    /// Go forward and back through a recorded run: what is active and since when, what values are, and who wrote them last
    #[command(after_help = self::debug::HELP)]
    Debug(DebugArgs),
    /// Compare two runs: what takes more cycles, and what fewer
    #[command(after_help = self::compare::HELP)]
    Compare(CompareArgs),
    /// Tell which changes of a design save cycles: each is tried, and its results are compared
    #[command(after_help = self::advise::HELP)]
    Advise(AdviseArgs),
    /// Tell what a run would take if control, conditions or primitives took less
    #[command(name = "whatif", after_help = self::whatif::HELP)]
    WhatIf(WhatIfArgs),
    /// Run a design and report races, accesses beyond a memory, and whatever else must not be
    #[command(after_help = self::check::HELP)]
    Check(CheckArgs),
    /// Run many designs, pipelines and data sets, and tell which are best
    #[command(after_help = self::sweep::SWEEP_HELP)]
    Sweep(SweepArgs),
    /// Synthesise a design by yosys and nextpnr: its area by cell and group, its clock, and what limits that
    #[command(after_help = self::synth::HELP)]
    Synth(SynthArgs),
    /// Write a design with hardware that records events, for a chip or any simulator, and read what it recorded
    #[command(after_help = self::monitor::HELP)]
    Monitor(Box<MonitorArgs>),
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
    /// Show costs and advice in an editor: inlay hints, hovers and actions, by the Language Server Protocol
    #[command(after_help = LSP_HELP)]
    Lsp,
    /// Serve petal's tools to an agent over standard input and output, by the Model Context Protocol
    #[command(after_help = MCP_HELP)]
    Mcp,
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
    /// How to print what it means
    #[arg(long, value_enum, default_value = "text")]
    pub format: TextOrJson,
}

/// How to print what is no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    /// For the terminal
    Text,
    /// JSON
    Json,
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
    /// Loops, and how long their iterations take
    Loops,
    /// Lines of the front end's files
    Lines,
    /// Statements that cost cycles, and why
    Hotspots,
    /// What each part takes of a device, after `petal synth`
    Area,
    /// All that can be active, in each instance, by the numbers that all outputs have
    Sites,
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
    /// Which tables [default: all but `sites`]
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
    /// Only the statements that cost most, as `petal run` lists them: so many
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub top: Option<usize>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    pub format: TextOrJson,
}
