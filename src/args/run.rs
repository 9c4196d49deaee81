//! The arguments of `petal run`, and of all that compiles a design.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use petal_profile::{
    CYCLE_LIMIT, DesignOptions, Error, Options, Simulator, WaveformFile, WaveformFormat,
};

use super::values::{parse_name, parse_size};
use super::{ObserveArgs, ViewArgs};
use crate::design;

pub(super) const HELP: &str = "\
Examples:
  petal run design.futil
  petal run design.futil --data inputs.json --out profile
  petal run design.futil --passes all --disable-pass cell-share
  petal run design.futil --json | jq .cycles
  python3 design.py | petal run - --name design --data inputs.json";

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
    /// Take warnings for errors: refuse a design that the pass `papercut` warns of, and end with one, after the profile is
    /// written, if the run has others
    #[arg(long)]
    pub strict: bool,
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
            is_strict: self.strict,
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
