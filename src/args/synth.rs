//! The arguments of `petal synth`, and of what else synthesises.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::{Args, ValueEnum};
use petal_analysis::Period;

use super::design::DesignArgs;

pub(super) const HELP: &str = "\
Examples:
  petal synth design.futil
  petal synth design.futil --target ecp5 --seeds 5
  petal synth design.futil --without read --without write
  petal synth design.futil --synth-memories inside --format json
  petal synth design.futil --read vivado.json";

/// How often to place and route.
const SEEDS: u64 = 3;

/// A device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetArg {
    /// Lattice iCE40 HX8K
    Ice40,
    /// Lattice ECP5-85k
    Ecp5,
    /// Xilinx 7 series: an estimate of the area by yosys alone, without a clock
    Xilinx,
}

/// Where the external memories are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoriesArg {
    /// Outside of the design, whose ports lead to them
    Outside,
    /// In the device
    Inside,
}

/// How to print what was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SynthFormat {
    /// For the terminal
    Text,
    /// As `synthesis.json` has it
    Json,
}

/// `petal synth`
#[derive(Debug, Args)]
pub struct SynthArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// The device
    #[arg(long, value_enum, default_value = "ice40")]
    pub target: TargetArg,
    /// How often to place and route, each time with another seed: the clock is that in the middle
    #[arg(long, value_name = "N", default_value_t = SEEDS, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub seeds: u64,
    /// Where the `@external` memories are [default: outside, if the device has as many pins]
    #[arg(long, value_enum)]
    pub synth_memories: Option<MemoriesArg>,
    /// Measure what vanishes without a group, by synthesising the design without it (may be repeated)
    #[arg(long, value_name = "[COMPONENT.]GROUP")]
    pub without: Vec<String>,
    /// Measure it for each group that can be left out
    #[arg(long, conflicts_with = "without")]
    pub without_each: bool,
    /// Run no tools, and read area and clock of the design from this report: what fud2 makes of Vivado's (`synth-verilog-to-util-json`), what
    /// yosys writes by `stat -json`, what nextpnr does by `--report` (may be repeated: area once, the clock of several seeds)
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["without", "without_each", "synth_memories"])]
    pub read: Vec<PathBuf>,
    /// How many tools to run at once [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Where the results go; a profile of the same design there tells its cycles [default: petal-out/DESIGN]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print what was found out
    #[arg(long, value_enum, default_value = "text")]
    pub format: SynthFormat,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// What other commands take to synthesise as well.
#[derive(Debug, Clone, Args)]
pub struct AlsoSynthArgs {
    /// Tell area and clock, too, as `petal synth` does, on this device [default: ice40]
    #[arg(long, value_enum, value_name = "DEVICE", num_args = 0..=1, require_equals = true, default_missing_value = "ice40")]
    pub synth: Option<TargetArg>,
    /// With `--synth`: how often to place and route, each time with another seed
    #[arg(long, value_name = "N", default_value_t = SEEDS, requires = "synth", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub seeds: u64,
    /// With `--synth`: where the `@external` memories are [default: outside, if the device has as many pins]
    #[arg(long, value_enum, requires = "synth")]
    pub synth_memories: Option<MemoriesArg>,
}

/// A clock that is known without synthesis.
#[derive(Debug, Clone, Args)]
pub struct ClockArgs {
    /// The period of the clock, such as 4ns, where it is known without synthesis: then outputs have time, too
    #[arg(long, value_name = "TIME", value_parser = Period::from_str, conflicts_with = "synth")]
    pub period: Option<Period>,
}
