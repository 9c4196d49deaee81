//! Runs one tool to its end. Owns no knowledge of what it does.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::error::Error;

/// How long to wait between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// How many looks after it was asked to end a tool is killed.
const GRACE: u32 = 50;

/// Runs a command, whose output goes to the file `log`. If `interrupt` becomes true, nothing that it has started is left.
pub(crate) fn run(
    command: &mut Command,
    tool: &str,
    log: &Path,
    interrupt: &AtomicBool,
) -> Result<(), Error> {
    let output = File::create(log).map_err(Error::io("write", log))?;
    let errors = output.try_clone().map_err(Error::io("write", log))?;
    command.process_group(0).stdin(Stdio::null());
    command.stdout(output).stderr(errors);
    let program = command.get_program().to_owned();
    let failed = || Error::io("start", Path::new(&program));
    let asked = || interrupt.load(Ordering::Relaxed);
    if asked() {
        return Err(Error::Interrupted);
    }
    let mut child = command.spawn().map_err(failed())?;
    let group = Pid::from_raw(child.id().cast_signed());
    let mut looks = 0;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed())? {
            break status;
        }
        if asked() {
            let signal = if looks < GRACE {
                Signal::SIGTERM
            } else {
                Signal::SIGKILL
            };
            let _ = killpg(group, signal);
            looks += 1;
        }
        thread::sleep(LOOK);
    };
    if asked() {
        // What the tool itself started.
        let _ = killpg(group, Signal::SIGKILL);
        return Err(Error::Interrupted);
    }
    if status.success() {
        return Ok(());
    }
    let output = fs::read(log).map_err(Error::io("read", log))?;
    Err(Error::Failed {
        tool: tool.to_owned(),
        status: status.to_string(),
        output: String::from_utf8_lossy(&output).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn an_interrupt_ends_a_tool_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let interrupt = AtomicBool::new(false);
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 60 & echo $! > $0; wait"])
            .arg(&pid);
        let began = Instant::now();
        let ended = thread::scope(|scope| {
            let log = dir.path().join("log");
            let interrupt = &interrupt;
            let run = scope.spawn(move || run(&mut command, "sh", &log, interrupt));
            while !fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')) {
                thread::sleep(LOOK);
            }
            interrupt.store(true, Ordering::Relaxed);
            run.join().unwrap()
        });
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
        assert!(began.elapsed() < Duration::from_secs(30));
        let sleep = fs::read_to_string(&pid).unwrap();
        let status = fs::read_to_string(format!("/proc/{}/status", sleep.trim()));
        let is_gone = |text: &String| text.contains("State:\tZ");
        assert!(status.as_ref().map_or(true, is_gone), "{status:?}");
    }

    #[test]
    fn a_tool_that_fails_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo before; echo ERROR: no such module; exit 1"]);
        let never = AtomicBool::new(false);
        let ended = run(&mut command, "yosys", &dir.path().join("log"), &never);
        let text = ended.unwrap_err().to_string();
        assert_eq!(
            text,
            "yosys failed (exit status: 1):\nERROR: no such module"
        );
    }
}
