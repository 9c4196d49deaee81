//! The errors of this crate: what failed, on which file, at which place, and what the user can do.
//!
//! Owns their texts.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// How many lines of a design's output an error message repeats.
const OUTPUT_LINES: usize = 20;

/// Why a design could not be built or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Verilator could not be started because there is no such program.
    #[error(
        "Verilator not found (tried `{}`): install it (Debian, Ubuntu: `apt-get install verilator g++`) or give the path of \
         the program", program.display()
    )]
    VerilatorMissing {
        /// The program that was tried.
        program: PathBuf,
    },

    /// Something was started as Verilator, but it does not behave like Verilator.
    #[error("`{}` does not work as Verilator: {reason}", program.display())]
    VerilatorUnusable {
        /// The program that was tried.
        program: PathBuf,
        /// What it did.
        reason: String,
    },

    /// The C++ compiler could not be started.
    #[error(
        "the C++ compiler `{compiler}` does not work: {reason}; install one (Debian, Ubuntu: `apt-get install g++`) or name \
         one in the environment variable CXX"
    )]
    Compiler {
        /// The command that was tried.
        compiler: String,
        /// What happened.
        reason: String,
    },

    /// Verilator or the C++ compiler rejected the design.
    #[error("{stage} failed:\n{excerpt}\nall of its output is in {}", log.display())]
    Build {
        /// The program that failed.
        stage: BuildStage,
        /// The first lines of its output that say why.
        excerpt: String,
        /// The file with all of its output.
        log: PathBuf,
    },

    /// A trace was asked of an executable that was built without tracing.
    #[error("`{}` was built without tracing: build it with Trace::Vcd", executable.display())]
    NoTrace {
        /// The executable.
        executable: PathBuf,
    },

    /// The design stopped the run: `$fatal`, `$error` or `$finish` in its Verilog, such as the checks of the Calyx
    /// primitives, or a memory file that does not fit.
    #[error("the design stopped itself {}:\n{}", when(*cycle), last_lines(output))]
    Stopped {
        /// The cycle in which it did; `None`: while it was being reset. What happens at a rising edge counts for the cycle
        /// that the edge begins.
        cycle: Option<u64>,
        /// All that it printed.
        output: String,
    },

    /// Ctrl-C ended the simulation: a terminal sends it to all processes of a command.
    #[error("interrupted")]
    Interrupted,

    /// The simulation ended without a result.
    #[error(
        "the simulation crashed ({status}); it printed:\n{}",
        last_lines(output)
    )]
    Crashed {
        /// The signal or exit code.
        status: String,
        /// All that the design printed.
        output: String,
    },

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

/// The steps of a build that can fail because of the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStage {
    /// Verilator, from Verilog to C++.
    Verilator,
    /// The C++ compiler.
    Compiler,
    /// The linker.
    Linker,
}

impl fmt::Display for BuildStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Verilator => "Verilator",
            Self::Compiler => "the C++ compiler",
            Self::Linker => "the linker",
        })
    }
}

impl Error {
    /// Makes an [`Error::Io`] for `path`; `action` completes "cannot ...".
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

fn when(cycle: Option<u64>) -> String {
    cycle.map_or_else(
        || "during reset".to_owned(),
        |cycle| format!("in cycle {cycle}"),
    )
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    match lines.len().checked_sub(OUTPUT_LINES) {
        None if lines.is_empty() => "(nothing was printed)".to_owned(),
        None | Some(0) => lines.join("\n"),
        Some(left_out) => format!(
            "({left_out} lines before)\n{}",
            lines[left_out..].join("\n")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn long_output_is_cut_from_the_front() {
        let output: String = (0..22).fold(String::new(), |text, n| text + &format!("line {n}\n"));
        let error = Error::Stopped {
            cycle: Some(3),
            output,
        };
        let text = error.to_string();
        assert!(
            text.starts_with("the design stopped itself in cycle 3:\n(2 lines before)\nline 2\n"),
            "{text}"
        );
        assert!(text.ends_with("line 21"), "{text}");
    }

    #[test]
    fn missing_verilator_tells_what_to_install() {
        expect!["Verilator not found (tried `verilator`): install it (Debian, Ubuntu: `apt-get install verilator g++`) or give the path of the program"]
            .assert_eq(
                &Error::VerilatorMissing {
                    program: PathBuf::from("verilator"),
                }
                .to_string(),
            );
    }
}
