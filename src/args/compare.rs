//! The arguments of `petal compare` and `petal baseline`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use petal_compare::Bound;

use super::synth::{AlsoSynthArgs, ClockArgs};
use super::values::parse_size;

pub const HELP: &str = "\
Examples:
  petal compare petal-out/before petal-out/after
  petal compare --last petal-out/design
  petal compare baseline.json design.futil --fail-above 2%
  petal compare baseline.json design.futil --fail-above 'p99(load)=5%'
  petal compare design.futil --passes no-opt --passes all --html change.html
  petal compare before.futil after.futil --synth --fail-above time=2%
  petal compare baseline.json petal-out/design --format markdown >> $GITHUB_STEP_SUMMARY

Exit codes:
  0  nothing grew by more than its limit
  1  something did (with --format json, `regressed` is true then), or something is wrong with the input
  2  the command line makes no sense";

/// How to print a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ComparisonArg {
    /// Aligned text
    Text,
    /// Markdown, for the step summary of a GitHub job or a comment
    Markdown,
    /// JSON, with all rows
    Json,
    /// The run after, as JSON for github-action-benchmark's tool `customSmallerIsBetter`
    GithubActionBenchmark,
    /// The run after, as JSON for Bencher's adapter `json`
    Bencher,
}

/// `petal compare`
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct CompareArgs {
    /// What to compare with: a profile's folder, a baseline file, or a Calyx program to profile (`-` for the one on
    /// standard input)
    pub base: PathBuf,
    /// What to compare: the same [default: BASE, with the second `--passes`]
    pub new: Option<PathBuf>,
    /// Compare a profile, or that of a design, with the run before it
    #[arg(long, conflicts_with_all = ["passes", "data", "disable_pass", "extra_opt", "library", "max_memory", "unverified", "synth"])]
    pub last: bool,
    /// The passes for programs: for both; or twice, for BASE and for NEW [default: all]
    #[arg(long, value_name = "LIST")]
    pub passes: Vec<String>,
    /// Contents of the memories of programs [default: PROGRAM.futil.data if there is one, else zeros]
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    /// Leave out a pass or alias when a program is compiled (may be repeated)
    #[arg(short = 'd', long = "disable-pass", value_name = "PASS")]
    pub disable_pass: Vec<String>,
    /// Give a pass an option when a program is compiled, as `PASS:OPTION` or `PASS:OPTION=VALUE` (may be repeated)
    #[arg(short = 'x', long = "extra-opt", value_name = "OPTION")]
    pub extra_opt: Vec<String>,
    /// Look for imports of programs in this folder, before the standard library (may be repeated)
    #[arg(short = 'l', long = "library", value_name = "DIR")]
    pub library: Vec<PathBuf>,
    /// Do not make sure that programs run alike without probes
    #[arg(long)]
    pub unverified: bool,
    /// Refuse programs whose compilation or run has warnings
    #[arg(long)]
    pub strict: bool,
    /// Refuse programs whose simulation may take more memory, such as 512M or 20G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    pub format: ComparisonArg,
    /// Show what did not change, too
    #[arg(long)]
    pub all: bool,
    /// Fail if the run got longer by more than this: `2%` or `100cycles`. The same for what was observed (may be repeated):
    /// `p99(NAME)=5%` for a latency, also its `median`, `max`, `over` (the shortest) or `count`, and `NAME=0` for a counter;
    /// of runs with area and clock `time=2%`, `luts=5%`, also `ffs`, `brams`, `dsps`, `carries` or `period`
    #[arg(long, value_name = "[WHAT=]LIMIT")]
    pub fail_above: Vec<Bound>,
    /// Compare designs that have nothing in common, too
    #[arg(long)]
    pub force: bool,
    /// Write the differential flame graph to this file: red grew, blue shrank
    #[arg(long, value_name = "FILE.svg")]
    pub flame: Option<PathBuf>,
    /// Write a page to this file: both flame graphs, the source with both costs, what changed by itself
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub also: AlsoSynthArgs,
    #[command(flatten)]
    pub clock: ClockArgs,
}

/// `petal baseline`
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Write it to this file [default: standard output]
    #[arg(long, value_name = "FILE.json")]
    pub out: Option<PathBuf>,
}
