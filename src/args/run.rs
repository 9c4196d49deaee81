//! The arguments of `petal run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use petal_profile::{CYCLE_LIMIT, Error, Options, Simulator};

use super::design::DesignArgs;
use super::observe::ObserveArgs;
use super::synth::{AlsoSynthArgs, ClockArgs};
use super::values::{parse_count, parse_name, parse_size};
use super::view::ViewArgs;
use crate::design;

pub(super) const HELP: &str = "\
Examples:
  petal run design.futil
  petal run design.futil --data inputs.json --out profile
  petal run design.futil --passes all --disable-pass cell-share
  petal run design.futil --on-change
  petal run design.futil --synth
  petal run design.futil --json | jq .cycles
  python3 design.py | petal run - --name design --data inputs.json";

/// What simulates a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulatorArg {
    /// petal's own, which needs nothing installed
    Embedded,
    /// Verilator and a C++ compiler
    Verilator,
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
    /// Refuse fixed-point numbers that their memory does not have, instead of rounding them
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
    #[arg(long, default_value_t = CYCLE_LIMIT, value_name = "CYCLES", value_parser = parse_count)]
    pub cycle_limit: u64,
    /// Refuse designs whose simulation may take more memory, such as 512M or 20G, and end the run where what is observed takes
    /// more [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Exit with 0 if the run ends before the design is done, and profile it also if Ctrl-C or the design itself ends it
    /// [default: exit with 1, and profile it at the cycle limit and where a design provably never ends]
    #[arg(long)]
    pub partial: bool,
    /// Write all signals of the run to this file as FST, which is small, for a waveform viewer
    #[arg(long, value_name = "FILE", conflicts_with = "verilator")]
    pub fst: Option<PathBuf>,
    /// Write them as VCD, which everything reads
    #[arg(long, value_name = "FILE")]
    pub vcd: Option<PathBuf>,
    /// Run the design again whenever a file that the run reads changes, print what that saved in a line, and serve a report that
    /// shows each run
    #[arg(long, conflicts_with_all = ["json", "memories", "events"])]
    pub on_change: bool,
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
    #[command(flatten)]
    pub also: AlsoSynthArgs,
    #[command(flatten)]
    pub clock: ClockArgs,
}

impl RunArgs {
    /// The run that they ask for.
    pub fn options(&self) -> Result<Options, Error> {
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
            fst: self.fst.clone(),
            vcd: self.vcd.clone(),
            control: self.view.control.into(),
            observe: self.observe.options(),
            period: self.clock.period,
            ..Options::new(self.design.options()?)
        })
    }
}
