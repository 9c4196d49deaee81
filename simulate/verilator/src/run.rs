//! Runs an executable and reads what its testbench reports.
//!
//! Owns the process while it runs. The report lines are [`crate::testbench`]'s, the memory files `petal_data`'s.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, PipeReader, Read as _, pipe};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::Error;
use crate::options::{BuildOptions, Trace};
use crate::testbench::Report;

/// How often to try again to start an executable that somebody still has open, 10 ms apart.
const BUSY: u32 = 100;

/// The number of Ctrl-C's signal.
const SIGINT: i32 = 2;

/// A design that was built and can be run any number of times.
#[derive(Debug, Clone)]
pub struct Executable {
    path: PathBuf,
    trace: Trace,
    interrupt: Arc<AtomicBool>,
}

/// How to run a design.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The folder with a file `NAME.dat` for each `@external` memory of the top component (see
    /// `petal_data::Data::write_dat`). The run adds a `NAME.out` for each (see `petal_data::Data::read_out`).
    pub data_dir: PathBuf,
    /// The file to write a trace to.
    pub vcd: Option<PathBuf>,
    /// How many cycles the design may take; then the run ends.
    pub cycle_limit: u64,
}

/// A run that the design did not stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// The length of the run in cycles: from the first with `go` high to the last before `done` is high, or the
    /// limit.
    pub cycles: u64,
    /// Whether the design was done; if not, the run reached its limit.
    pub is_done: bool,
    /// What the design printed, usually nothing.
    pub output: String,
}

impl Executable {
    pub(crate) fn new(path: PathBuf, options: &BuildOptions) -> Self {
        Self {
            path,
            trace: options.trace,
            interrupt: Arc::clone(&options.interrupt),
        }
    }

    /// Where the executable is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the design once, from reset until it is done or has taken as many cycles as it may.
    ///
    /// `progress` is called with the current cycle, at most about ten times a second, and never for a run that is over
    /// sooner.
    ///
    /// After an error a trace holds what happened until then, and there are no memories.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the design stops itself, [`Error::Crashed`], [`Error::Interrupted`], [`Error::NoTrace`] and [`Error::Io`].
    pub fn run(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<RunOutcome, Error> {
        if let Some(vcd) = &options.vcd {
            if self.trace == Trace::Off {
                return Err(Error::NoTrace {
                    executable: self.path.clone(),
                });
            }
            // The simulation could not say why it cannot write the file.
            File::create(vcd).map_err(Error::io("write", vcd))?;
        }
        let vcd = options.vcd.as_deref().unwrap_or(Path::new(""));
        let mut running = self.start(options, vcd, Stdio::null())?;
        let followed = self.follow(&mut running.0, progress)?;
        self.end(running, followed, options)
    }

    /// Runs the design once, as [`run`](Self::run) does, with its trace going to `consume` and to no file.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run). What `consume` makes of the trace is then lost.
    pub fn run_piped<T>(
        &self,
        options: &RunOptions,
        consume: impl FnOnce(PipeReader) -> T,
    ) -> Result<(RunOutcome, T), Error> {
        if self.trace == Trace::Off {
            return Err(Error::NoTrace {
                executable: self.path.clone(),
            });
        }
        let (reader, writer) = pipe().map_err(Error::io("make a pipe for", &self.path))?;
        // The testbench opens a file by its name. This is that of its standard input: the pipe.
        let vcd = Path::new("/dev/fd/0");
        let mut running = self.start(options, vcd, Stdio::from(writer))?;
        let (followed, consumed) = thread::scope(|scope| {
            let followed = scope.spawn(|| self.follow(&mut running.0, &mut |_| {}));
            let consumed = consume(reader);
            match followed.join() {
                Ok(followed) => (followed, consumed),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        let outcome = self.end(running, followed?, options)?;
        Ok((outcome, consumed))
    }

    fn start(&self, options: &RunOptions, vcd: &Path, stdin: Stdio) -> Result<Running, Error> {
        let mut data = OsString::from("+DATA=");
        data.push(&options.data_dir);
        let mut command = Command::new(&self.path);
        command.arg(options.cycle_limit.to_string());
        command.arg(vcd).arg(data);
        command.stdin(stdin).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        let mut child = command.spawn();
        // A process that another thread started while the file was written has it open for a moment.
        for _ in 0..BUSY {
            if !matches!(&child, Err(error) if error.kind() == ErrorKind::ExecutableFileBusy) {
                break;
            }
            thread::sleep(Duration::from_millis(10));
            child = command.spawn();
        }
        Ok(Running(child.map_err(Error::io("start", &self.path))?))
    }

    /// What the testbench's report and the design's output mean, once the process is over.
    fn end(
        &self,
        mut running: Running,
        (outcome, output): (Option<Report>, String),
        options: &RunOptions,
    ) -> Result<RunOutcome, Error> {
        let status = running
            .0
            .wait()
            .map_err(Error::io("wait for", &self.path))?;
        let output = without_data_line(&output, &options.data_dir);
        match outcome {
            Some(Report::Done(cycles)) => Ok(RunOutcome {
                cycles,
                is_done: true,
                output,
            }),
            Some(Report::Limit(cycles)) => Ok(RunOutcome {
                cycles,
                is_done: false,
                output,
            }),
            Some(Report::Stopped(cycle)) => Err(Error::Stopped { cycle, output }),
            Some(Report::Progress(_)) | None if status.signal() == Some(SIGINT) => {
                Err(Error::Interrupted)
            }
            Some(Report::Progress(_)) | None => Err(Error::Crashed {
                status: status.to_string(),
                output,
            }),
        }
    }

    /// Reads both of the child's outputs to their ends: the outcome that it reports, and what the design prints.
    fn follow(
        &self,
        child: &mut Child,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Option<Report>, String), Error> {
        let (Some(reports), Some(mut printed)) = (child.stdout.take(), child.stderr.take()) else {
            unreachable!("both are piped")
        };
        thread::scope(|scope| {
            let printed = scope.spawn(move || {
                let mut bytes = Vec::new();
                printed.read_to_end(&mut bytes).map(|_| bytes)
            });
            let mut outcome = None;
            for line in BufReader::new(reports).lines() {
                let line = line.map_err(Error::io("read from", &self.path))?;
                // It reports some times a second.
                if self.interrupt.load(Ordering::Relaxed) {
                    let _ = child.kill();
                    return Err(Error::Interrupted);
                }
                match Report::parse(&line) {
                    Some(Report::Progress(cycle)) => progress(cycle),
                    Some(end) => outcome = Some(end),
                    None => {}
                }
            }
            let bytes = match printed.join() {
                Ok(read) => read.map_err(Error::io("read from", &self.path))?,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok((outcome, String::from_utf8_lossy(&bytes).into_owned()))
        })
    }
}

/// A process that does not outlive this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail if the process has ended, which is the usual case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Takes out the line that every design with memories prints, by the Calyx backend.
fn without_data_line(output: &str, data_dir: &Path) -> String {
    let line = format!(
        "DATA (path to meminit files): {}\n",
        data_dir.to_string_lossy()
    );
    output.replacen(&line, "", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// What a run of a shell script in the place of a simulation gives.
    fn run_script(script: &str) -> Result<RunOutcome, Error> {
        run_until(&Arc::default(), script)
    }

    /// The same, with this interrupt.
    fn run_until(interrupt: &Arc<AtomicBool>, script: &str) -> Result<RunOutcome, Error> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("simulation");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let options = RunOptions {
            data_dir: PathBuf::from("data"),
            vcd: None,
            cycle_limit: 10,
        };
        let build = BuildOptions {
            trace: Trace::Off,
            interrupt: Arc::clone(interrupt),
            ..BuildOptions::default()
        };
        Executable::new(path, &build).run(&options, &mut |_| {})
    }

    #[test]
    fn a_killed_simulation_is_an_error_with_its_output() {
        expect![[r"
            the simulation crashed (signal: 11 (SIGSEGV)); it printed:
            oh"]]
        .assert_eq(
            &run_script("echo progress 3; echo oh >&2; kill -SEGV $$")
                .unwrap_err()
                .to_string(),
        );
        expect![[r"
            the simulation crashed (exit status: 2); it printed:
            (nothing was printed)"]]
        .assert_eq(&run_script("exit 2").unwrap_err().to_string());
    }

    #[test]
    fn an_interrupt_ends_a_simulation_that_goes_on() {
        let interrupt = Arc::new(AtomicBool::new(true));
        let ended = run_until(&interrupt, "while echo progress 3; do sleep 0.01; done");
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    }

    #[test]
    fn only_the_data_line_is_taken_out_of_the_output() {
        let line = "DATA (path to meminit files): data";
        let outcome = run_script(&format!("echo '{line}' >&2; echo DATA >&2; echo done 4"));
        assert_eq!(
            outcome.unwrap(),
            RunOutcome {
                cycles: 4,
                is_done: true,
                output: "DATA\n".to_owned()
            }
        );
    }
}
