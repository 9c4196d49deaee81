//! The arguments of `petal advise`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use petal_advise::Goal;
use petal_compare::Limit;

use petal_profile::CYCLE_LIMIT;

use super::design::DesignArgs;
use super::synth::AlsoSynthArgs;
use super::values::{parse_count, parse_size, parse_time};

pub(super) const HELP: &str = "\
Examples:
  petal advise design.futil
  petal advise design.futil --data a.json --data b.json --budget 5m
  patch design.futil petal-out/design/advice/01-continuous-condition.patch
  petal advise design.futil --goal time --synth=ecp5
  petal advise design.futil --proved --fail-above 5% --format markdown >> $GITHUB_STEP_SUMMARY

Exit codes:
  0  proved advice saves no more than the limit, if there is one
  1  it does, or something is wrong with the input
  2  the command line makes no sense";

/// How to print advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AdviceArg {
    /// For the terminal
    Text,
    /// Markdown, for a comment
    Markdown,
    /// JSON, with patches
    Json,
    /// SARIF, for code scanning
    Sarif,
}

/// What advice is to save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GoalArg {
    /// Cycles
    Cycles,
    /// Cycles times the period of the clock
    Time,
    /// Look-up tables and flip-flops
    Area,
}

impl From<GoalArg> for Goal {
    fn from(of: GoalArg) -> Self {
        match of {
            GoalArg::Cycles => Self::Cycles,
            GoalArg::Time => Self::Time,
            GoalArg::Area => Self::Area,
        }
    }
}

/// `petal advise`
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct AdviseArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// Contents of the memories; with several files every change is tried on all of them [default: DESIGN.futil.data if
    /// there is one, else zeros]
    #[arg(long, value_name = "DATA.json")]
    pub data: Vec<PathBuf>,
    /// Refuse fixed-point numbers that their memory does not have, instead of rounding them
    #[arg(long)]
    pub exact: bool,
    /// How long to search, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    pub budget: Duration,
    /// Try so many programs, however long that takes: the same advice on every machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "budget")]
    pub candidates: Option<u32>,
    /// How many programs to try at once [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Spend the whole budget on combinations of changes as well: those that none beats in cycles, bits of registers and cells
    #[arg(long)]
    pub search: bool,
    /// Change the design's file as advised, and keep it as it was with the extension `.orig`
    #[arg(long)]
    pub apply: bool,
    /// Take only advice that is proved
    #[arg(long)]
    pub proved: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    pub format: AdviceArg,
    /// Where to write the profile and the patches [default: petal-out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What the advice is to save; with `time` and `area`, changes that save cycles but cost that are left out, for which each is synthesised
    #[arg(long, value_enum, default_value = "cycles")]
    pub goal: GoalArg,
    #[command(flatten)]
    pub also: AlsoSynthArgs,
    /// Fail if proved advice saves more than this: `5%` or `100cycles`
    #[arg(long, value_name = "LIMIT")]
    pub fail_above: Option<Limit>,
    /// Fail if the design as it is takes more cycles
    #[arg(long, default_value_t = CYCLE_LIMIT, value_name = "CYCLES", value_parser = parse_count)]
    pub cycle_limit: u64,
    /// Refuse designs whose simulation may take more memory, such as 512M or 20G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Print nothing but the advice and errors
    #[arg(short, long)]
    pub quiet: bool,
}
