//! The arguments of `petal whatif`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use petal_profile::CYCLE_LIMIT;

use super::values::{parse_count, parse_latency, parse_run, parse_size, parse_time};
use super::{DesignArgs, FormatArg};

/// Examples in the help.
pub const HELP: &str = "\
Examples:
  petal whatif design.futil                              what costs most, if it took nothing
  petal whatif design.futil --primitive std_mult_pipe=1  a faster multiplier
  petal whatif design.futil --primitive std_div_pipe=1..16
                                                         how fast a divider has to be
  petal whatif design.futil --cycles main.load=2 --condition main.while@L12
                                                         several things at once
  petal whatif design.futil --format json                the same for other programs";

/// `petal whatif`
#[derive(Debug, Clone, Args)]
pub struct WhatIfArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// Contents of the memories [default: DESIGN.futil.data if there is one, else zeros]
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    /// Refuse fixed-point numbers that their memory does not have, instead of rounding them
    #[arg(long)]
    pub exact: bool,
    /// Ask only what the run would take if a multiplier or divider, all of a primitive or a cell such as main.mul, were done after so many
    /// cycles, or after each number from A to B (may be repeated: all at once)
    #[arg(long, value_name = "NAME=CYCLES|A..B", value_parser = parse_latency)]
    pub primitive: Vec<(String, RangeInclusive<u32>)>,
    /// Profile the run with these latencies into a folder of its own, for `petal compare` and all else
    #[arg(long, value_name = "DIR", requires = "primitive")]
    pub profile: Option<PathBuf>,
    /// Ask what the run would take if control took no cycle for a statement, such as main.while@L12, for the start and finish of a component's
    /// cells, or for `all` (as the options below: may be repeated and mixed: all at once)
    #[arg(long, value_name = "NAME")]
    pub overhead: Vec<String>,
    /// Ask the same of a condition that takes no cycle, or of `all`
    #[arg(long, value_name = "STATEMENT")]
    pub condition: Vec<String>,
    /// Ask the same of a `par` whose slowest arm is as fast as the next one
    #[arg(long, value_name = "STATEMENT")]
    pub balance: Vec<String>,
    /// Ask the same of a `seq` whose steps wait only for those that they depend on
    #[arg(long, value_name = "STATEMENT")]
    pub order: Vec<String>,
    /// Ask the same of a group or `invoke` that takes so many cycles each time, fewer or more
    #[arg(long, value_name = "NAME=CYCLES", value_parser = parse_run)]
    pub cycles: Vec<(String, u32)>,
    /// How long to try what a program can have, such as 30s or 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_time)]
    pub budget: Duration,
    /// How many answers to print, those that save most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// How to print them
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
    /// Where the profile goes [default: petal-out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Fail if the design takes more cycles
    #[arg(long, default_value_t = CYCLE_LIMIT, value_name = "CYCLES", value_parser = parse_count)]
    pub cycle_limit: u64,
    /// Refuse designs whose simulation may take more memory, such as 512M or 20G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Print nothing but the answers and errors
    #[arg(short, long)]
    pub quiet: bool,
}
