//! The arguments of commands that show a profile again.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use petal_visualize::Around;

use super::values::parse_cycles;
use super::view::ViewArgs;

/// `petal trace`
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Only these cycles: the first one, and the one after the last
    #[arg(long, value_name = "A..B", value_parser = parse_cycles)]
    pub cycles: Option<Range<u64>>,
    /// Only this window, by its name and its number (`NAME#2`), if windows were observed
    #[arg(long, value_name = "NAME#N", conflicts_with = "cycles")]
    pub window: Option<String>,
    /// Only a typical iteration of this loop, such as `main.while@L12`, and the first, the longest and the last one as far as they take
    /// another time
    #[arg(long = "loop", value_name = "STATEMENT", conflicts_with_all = ["cycles", "window"])]
    pub of_loop: Option<String>,
    /// One JSON object for each run of equal cycles
    #[arg(long)]
    pub json: bool,
    /// Also show the combinational primitives that continuous assignments drive, in every active cell
    #[arg(long)]
    pub continuous: bool,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// `petal report`
#[derive(Debug, Args)]
pub struct AgainArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// `petal timeline`
#[derive(Debug, Args)]
pub struct TimelineArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Only these cycles: the first one, and the one after the last
    #[arg(long, value_name = "A..B", value_parser = parse_cycles)]
    pub cycles: Option<Range<u64>>,
    /// Only this window, by its name and its number (`NAME#2`), if windows were observed
    #[arg(long, value_name = "NAME#N", conflicts_with = "cycles")]
    pub window: Option<String>,
    /// Only this component cell and what is below it, by its path, such as `main.queue`
    #[arg(long, value_name = "PATH")]
    pub cell: Option<String>,
    /// Only so many levels of the call tree, from that cell on
    #[arg(long, value_name = "LEVELS", value_parser = clap::value_parser!(u32).range(1..))]
    pub depth: Option<u32>,
    /// All of the run, also beyond a million slices
    #[arg(long, conflicts_with_all = ["cycles", "window"])]
    pub whole: bool,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// `petal view`
#[derive(Debug, Args)]
pub struct ViewerArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Open the report instead
    #[arg(long, conflicts_with_all = ["cycles", "window", "around", "out"])]
    pub report: bool,
    /// Show these cycles, the first one and the one after the last [default: all of a short run; what
    /// stands for a long one]
    #[arg(long, value_name = "A..B", value_parser = parse_cycles, conflicts_with = "around")]
    pub cycles: Option<Range<u64>>,
    /// Show this window, by its name and its number (`NAME#2`), if windows were observed
    #[arg(long, value_name = "NAME#N", conflicts_with_all = ["cycles", "around"])]
    pub window: Option<String>,
    /// Show an activation of a statement, group or cell, by its path and its number, such as `main.while@L12#1000`
    #[arg(long, value_name = "PATH#N")]
    pub around: Option<Around>,
    /// Open this waveform of the run in GTKWave instead, with the signals of what is active then under the names of the source, and a marker
    /// at each checkpoint
    #[arg(long, value_name = "WAVE", conflicts_with = "report")]
    pub gtkwave: Option<PathBuf>,
    /// The same in Surfer
    #[arg(long, value_name = "WAVE", conflicts_with_all = ["report", "gtkwave"])]
    pub surfer: Option<PathBuf>,
    /// Show nothing but this group or cell, by its path, such as `main.multiply`, in GTKWave or Surfer
    #[arg(long, value_name = "PATH", conflicts_with = "report")]
    pub signals: Option<String>,
    /// Write what the viewer would open to this file instead
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
