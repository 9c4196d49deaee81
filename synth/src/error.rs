//! Why a design could not be synthesised, for its user.

use std::io;
use std::path::{Path, PathBuf};

use crate::tools::Target;

/// How many lines of a tool's output an error repeats.
const LINES: usize = 12;

/// Why a design could not be synthesised.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tool is not installed.
    #[error(
        "{tool} not found: install it (Debian, Ubuntu: `sudo apt-get install -y {package}`; any system: `pip install {wheel}`)"
    )]
    Missing {
        /// What it is called.
        tool: String,
        /// Debian's packages that have it.
        package: &'static str,
        /// The Python packages that have it.
        wheel: &'static str,
    },

    /// Debian has no such tool.
    #[error("{tool} not found: install it (`pip install {wheel}`)")]
    NoPackage {
        /// What it is called.
        tool: String,
        /// The Python packages that have it.
        wheel: &'static str,
    },

    /// A tool failed.
    #[error("{tool} failed ({status}):\n{}", excerpt(output))]
    Failed {
        /// What it is called.
        tool: String,
        /// How it ended.
        status: String,
        /// What it said.
        output: String,
    },

    /// The design is larger than the device.
    #[error("the design does not fit in the {device} ({reason}): {hint}")]
    TooLarge {
        /// The device.
        device: &'static str,
        /// What nextpnr said.
        reason: String,
        /// What to do.
        hint: &'static str,
    },

    /// A tool wrote what petal can't read.
    #[error("cannot read what {tool} wrote: {reason}")]
    Unreadable {
        /// What the tool is called.
        tool: String,
        /// What is wrong.
        reason: String,
    },

    /// A report that others made is of no use.
    #[error("{name}: {reason}")]
    Report {
        /// The files.
        name: String,
        /// Why.
        reason: String,
    },

    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,

    /// The operating system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    pub(crate) fn unreadable(tool: &str, reason: impl Into<String>) -> Self {
        Self::Unreadable {
            tool: tool.to_owned(),
            reason: reason.into(),
        }
    }

    /// The same; but where a tool found no place for all of a design on the device, that.
    pub(crate) fn or_too_large(self, target: Target) -> Self {
        let Self::Failed { output, .. } = &self else {
            return self;
        };
        let line = output.lines().find(|line| {
            line.contains("no BELs remaining") || line.contains("Unable to find a placement")
        });
        let Some(line) = line else { return self };
        Self::TooLarge {
            device: target.device(),
            reason: line.trim_start_matches("ERROR: ").trim().to_owned(),
            hint: match target {
                Target::Ice40 => "a larger one is ECP5-85k (`ecp5`)",
                _ => "make it smaller",
            },
        }
    }
}

/// The lines with errors, or else the last ones.
fn excerpt(output: &str) -> String {
    let errors: Vec<&str> = output
        .lines()
        .filter(|line| line.contains("ERROR"))
        .collect();
    let lines = if errors.is_empty() {
        output.lines().collect()
    } else {
        errors
    };
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
