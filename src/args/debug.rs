//! The arguments of `petal debug`.

use std::path::PathBuf;

use clap::Args;

/// Examples in the help.
pub const HELP: &str = "\
Commands come from the terminal, with completion and history, or from standard input, one a line; `help` lists them, and docs/debug.md
tells what each means.

Examples:
  petal debug petal-out/design
  petal debug petal-out/design --design design.futil   with what values need: imports and data
  petal debug petal-out/design < commands
  petal debug --dap                                    for editors, by the Debug Adapter Protocol";

/// `petal debug`
#[derive(Debug, Args)]
pub struct DebugArgs {
    /// The folder that `petal run` wrote
    #[arg(required_unless_present = "dap", conflicts_with = "dap")]
    pub dir: Option<PathBuf>,
    /// The design's file, beside which its imports and its data are; for values only, which one more run of the design gives
    #[arg(long, value_name = "DESIGN.futil")]
    pub design: Option<PathBuf>,
    /// Contents of the memories, as the run had them [default: those beside the design, if the run had any]
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    /// Give a pass an option, as the run did: `PASS:OPTION` or `PASS:OPTION=VALUE` (may be repeated)
    #[arg(short = 'x', long = "extra-opt", value_name = "OPTION")]
    pub extra_opt: Vec<String>,
    /// Look for imports in this folder, before the standard library (may be repeated)
    #[arg(short = 'l', long = "library", value_name = "DIR")]
    pub library: Vec<PathBuf>,
    /// Serve an editor over standard input and output, by the Debug Adapter Protocol; it says which profile it debugs
    #[arg(long)]
    pub dap: bool,
}
