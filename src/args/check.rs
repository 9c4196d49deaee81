//! The arguments of `petal check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use petal_observe::{Request, RuleRequest};
use petal_profile::CYCLE_LIMIT;

use super::DesignArgs;
use super::observe::all;
use super::values::{parse_count, parse_size};

/// Examples in the help.
pub const HELP: &str = "\
Examples:
  petal check design.futil --data inputs.json
  petal check design.futil --never 'main.i.out > 8'
  petal check design.futil --format sarif > races.sarif    for code scanning";

/// `petal check`
#[derive(Debug, Clone, Args)]
#[command(mut_arg("passes", |arg| arg.default_value(petal_passes::NO_OPT)))]
pub struct CheckArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// Contents of the memories [default: DESIGN.futil.data if there is one, else zeros]
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    /// Refuse fixed-point numbers that their memory does not have, instead of rounding them
    #[arg(long)]
    pub exact: bool,
    /// Report it when this is true, which it must not be (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub never: Vec<String>,
    /// Report it when this is false, which it must not be (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub always: Vec<String>,
    /// End the run after this many cycles, which is a finding
    #[arg(long, default_value_t = CYCLE_LIMIT, value_name = "CYCLES", value_parser = parse_count)]
    pub cycle_limit: u64,
    /// Refuse designs whose simulation may take more memory, such as 512M or 20G, and so runs with more accesses [default: half of the
    /// machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// How to print what is found
    #[arg(long, value_enum, default_value = "text")]
    pub format: CheckFormat,
    /// Exit with 0 whatever is found
    #[arg(long)]
    pub exit_zero: bool,
    /// Print nothing but what is found and errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl CheckArgs {
    /// The rules.
    pub fn rules(&self) -> Request {
        Request {
            never: all("--never", &self.never, RuleRequest::new),
            always: all("--always", &self.always, RuleRequest::new),
            ..Request::default()
        }
    }
}

/// How to print what a check finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For the terminal
    Text,
    /// JSON
    Json,
    /// SARIF, for code scanning
    Sarif,
}
