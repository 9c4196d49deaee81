//! Runs compiler commands, several at a time, and keeps their output in a log.
//!
//! Owns no knowledge of what is compiled.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::error::BuildStage;
use crate::options::BuildOptions;
use crate::{Error, verilator::Compiler};

/// How many lines of a compiler's output an error repeats.
const EXCERPT_LINES: usize = 12;

/// How often to look whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How many looks a command has to end by itself when it is asked to.
const GRACE: u32 = 10;

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

/// Runs a command to its end. If `interrupt` becomes true, nothing that it has started is left.
///
/// # Errors
///
/// [`Error::Interrupted`], and what `cannot_start` makes of the reason.
pub(crate) fn output(
    command: &mut Command,
    interrupt: &AtomicBool,
    cannot_start: impl Fn(io::Error) -> Error,
) -> Result<Output, Error> {
    let asked = || interrupt.load(Ordering::Relaxed);
    if asked() {
        return Err(Error::Interrupted);
    }
    // A compiler is several processes: they are a group.
    command.process_group(0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(&cannot_start)?;
    let group = Pid::from_raw(child.id().cast_signed());
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        unreachable!("both are piped")
    };
    let (open, closed) = mpsc::channel::<()>();
    let [stdout, stderr] = thread::scope(|scope| {
        let read = |mut pipe: Box<dyn Read + Send>| {
            let open = open.clone();
            scope.spawn(move || {
                let mut bytes = Vec::new();
                let read = pipe.read_to_end(&mut bytes);
                drop(open);
                read.map(|_| bytes)
            })
        };
        let pipes = [read(Box::new(stdout)), read(Box::new(stderr))];
        drop(open);
        let mut looks = 0;
        while closed.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if asked() {
                // First by asking, so that it removes what it has made for a moment.
                let signal = if looks < GRACE {
                    Signal::SIGTERM
                } else {
                    Signal::SIGKILL
                };
                let _ = killpg(group, signal);
                looks += 1;
            }
        }
        pipes.map(|pipe| {
            pipe.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    let status = child.wait().map_err(&cannot_start)?;
    if asked() {
        return Err(Error::Interrupted);
    }
    Ok(Output {
        status,
        stdout: stdout.map_err(&cannot_start)?,
        stderr: stderr.map_err(&cannot_start)?,
    })
}

/// Runs all commands, at most `jobs` at a time, and adds them to the log in their order.
///
/// # Errors
///
/// That of the first command, in their order, that cannot be started or fails.
pub(crate) fn run_all(
    commands: Vec<Command>,
    options: &BuildOptions,
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
                let output = output(&mut command, &options.interrupt, |error| {
                    compiler.unusable(&error.to_string())
                });
                *result = Some((command, output));
            }
        };
        thread::scope(|scope| {
            for _ in 1..options.jobs.get() {
                scope.spawn(work);
            }
            work();
        });
    }
    let mut failed = None;
    for (command, output) in results.into_iter().flatten() {
        let output = output?;
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
    fn an_interrupt_ends_all_that_a_command_has_started() {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let interrupt = AtomicBool::new(false);
        // One that listens to the request, and one that does not.
        let script = "sleep 60 & echo $! > $0; sh -c 'trap : TERM; while :; do sleep 1; done' & echo $! >> $0; wait; wait";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&pids);
        let began = std::time::Instant::now();
        let ended = thread::scope(|scope| {
            let ended = scope.spawn(|| output(&mut command, &interrupt, |error| panic!("{error}")));
            let written = || fs::read_to_string(&pids).is_ok_and(|text| text.lines().count() == 2);
            while !written() {
                thread::sleep(LOOK);
            }
            interrupt.store(true, Ordering::Relaxed);
            ended.join().unwrap()
        });
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
        assert!(began.elapsed() < Duration::from_secs(20));
        for pid in fs::read_to_string(&pids).unwrap().lines() {
            // Nobody may have taken note of its end yet.
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            assert!(
                status.is_empty() || status.contains("State:\tZ"),
                "{status}"
            );
        }
        let mut never = Command::new("/");
        let ended = output(&mut never, &interrupt, |error| panic!("{error}"));
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
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
