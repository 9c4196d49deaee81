//! The arguments of all that compiles a design.

use std::path::PathBuf;

use clap::Args;
use petal_profile::{DesignOptions, Error};

use crate::design;

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
            latencies: Vec::new(),
            source_roots: self.source_root.clone(),
            is_verified: !self.unverified,
            is_strict: self.strict,
        })
    }
}
