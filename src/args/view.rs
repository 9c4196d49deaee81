//! The arguments of everything that shows call trees.

use clap::{Args, ValueEnum};
use petal_analysis::ControlView;

/// Which frames of control outputs show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ControlArg {
    /// Every control statement, as written
    Source,
    /// Only those that became a compilation group
    Compiled,
}

impl From<ControlArg> for ControlView {
    fn from(control: ControlArg) -> Self {
        match control {
            ControlArg::Source => Self::Source,
            ControlArg::Compiled => Self::Compiled,
        }
    }
}

/// Options of everything that shows call trees.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Which frames of control to show
    #[arg(long, value_enum, default_value = "source")]
    pub control: ControlArg,
}
