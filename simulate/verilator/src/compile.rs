//! Runs compiler commands, several at a time, and keeps their output in a log.
//!
//! Owns no knowledge of what is compiled.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

use crate::error::BuildStage;
use crate::{Error, verilator::Compiler};

/// How many lines of a compiler's output an error repeats.
const EXCERPT_LINES: usize = 12;

/// A log file that fills step by step.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    text: String,
}

impl Log {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            text: String::new(),
        }
    }

    /// Adds a command and its output, and writes the file.
    pub(crate) fn add(&mut self, command: &Command, output: &Output) -> Result<(), Error> {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "$ {command:?}");
        self.text.push_str(&String::from_utf8_lossy(&output.stdout));
        self.text.push_str(&String::from_utf8_lossy(&output.stderr));
        fs::write(&self.path, &self.text).map_err(Error::io("write", &self.path))
    }

    /// The error for a step that failed with this output.
    pub(crate) fn failure(&self, stage: BuildStage, output: &Output) -> Error {
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&output.stdout)
        );
        Error::Build {
            stage,
            excerpt: excerpt(&text, &output.status.to_string()),
            log: self.path.clone(),
        }
    }
}

/// Runs all commands, at most `jobs` at a time, and adds them to the log in their order.
///
/// # Errors
///
/// That of the first command, in their order, that cannot be started or fails.
pub(crate) fn run_all(
    commands: Vec<Command>,
    jobs: usize,
    compiler: &Compiler,
    log: &mut Log,
) -> Result<(), Error> {
    let mut results: Vec<_> = commands.iter().map(|_| None).collect();
    {
        let queue = Mutex::new(commands.into_iter().zip(results.iter_mut()));
        let work = || {
            loop {
                // A panic while holding the lock is not possible: `next` of a zip of vectors does not panic.
                let next = queue.lock().expect("no thread panics").next();
                let Some((mut command, result)) = next else {
                    return;
                };
                let output = command.output();
                *result = Some((command, output));
            }
        };
        thread::scope(|scope| {
            for _ in 1..jobs {
                scope.spawn(work);
            }
            work();
        });
    }
    let mut failed = None;
    for (command, output) in results.into_iter().flatten() {
        let output = output.map_err(|error| compiler.unusable(&error.to_string()))?;
        log.add(&command, &output)?;
        if !output.status.success() && failed.is_none() {
            failed = Some(log.failure(BuildStage::Compiler, &output));
        }
    }
    failed.map_or(Ok(()), Err)
}

/// The lines of a tool's output that say why it failed.
fn excerpt(output: &str, status: &str) -> String {
    let mut lines = Vec::new();
    // Verilator marks an error with `%Error` and shows the source line below; compilers have `error:` in the line.
    let mut inside = false;
    for line in output.lines() {
        if line.starts_with("%Error: Exiting due to") {
            inside = false;
        } else if line.starts_with('%') {
            inside = line.starts_with("%Error");
        } else if inside && !line.starts_with(' ') {
            inside = false;
        }
        if inside || line.contains("error:") || line.contains("undefined reference") {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        let all: Vec<&str> = output.lines().collect();
        lines = all[all.len().saturating_sub(EXCERPT_LINES)..].to_vec();
    }
    if lines.is_empty() {
        return format!("it ended with {status} and said nothing");
    }
    let left_out = lines.len().saturating_sub(EXCERPT_LINES);
    lines.truncate(EXCERPT_LINES);
    let mut text = lines.join("\n");
    if left_out > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n({left_out} more lines)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(output: &str, expected: &Expect) {
        expected.assert_eq(&excerpt(output, "exit status: 1"));
    }

    #[test]
    fn excerpts_have_the_errors_only() {
        check(
            "%Warning-WIDTH: a.sv:1:2: wide\n    1 | x\n%Error: a.sv:3:4: Cannot find: 'sub'\n    3 | sub s();\n      | ^~~\n%Error: Exiting due to 1 error(s)\n",
            &expect![[r"
                %Error: a.sv:3:4: Cannot find: 'sub'
                    3 | sub s();
                      | ^~~"]],
        );
        check(
            "In file included from b.h:\na.cpp:1:2: error: no\n  1 | x\n",
            &expect!["a.cpp:1:2: error: no"],
        );
        check("odd\n", &expect!["odd"]);
        check(
            "",
            &expect!["it ended with exit status: 1 and said nothing"],
        );
    }
}
