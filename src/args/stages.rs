//! The arguments of the stages of a profile that are commands of their own.

use std::path::PathBuf;

use clap::Args;

use super::design::DesignArgs;
use super::observe::ObserveArgs;
use super::view::ViewArgs;

/// `petal instrument`
#[derive(Debug, Args)]
pub struct InstrumentArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// Where to write the Verilog
    #[arg(long, value_name = "FILE.sv")]
    pub verilog: PathBuf,
    /// Where to write the metadata
    #[arg(long, value_name = "FILE.json")]
    pub metadata: PathBuf,
}

/// `petal reconstruct`
#[derive(Debug, Args)]
pub struct ReconstructArgs {
    /// The metadata that `petal instrument` wrote
    pub metadata: PathBuf,
    /// The waveform: a VCD or FST file of the instrumented design
    pub waveform: PathBuf,
    /// Where to write the profile
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
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
