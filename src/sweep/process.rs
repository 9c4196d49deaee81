//! Processes with an end: what they print, unless they take too long or too much.
//!
//! Each is a group of its own, so that nothing it has started outlives it.

use std::fs;
use std::io::{Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, SysconfVar, sysconf};
use wait_timeout::ChildExt as _;

use crate::failure::Failure;
use crate::interrupt;

/// How often to look whether a process takes too much, and whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How long a process has to end by itself when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How many bytes a process may print: more than any design or data set.
const MOST: u64 = 1 << 30;

/// What a process may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How many bytes it may have in memory.
    pub memory: Option<u64>,
}

/// What a process printed.
#[derive(Debug)]
pub struct Printed {
    pub output: Vec<u8>,
    pub messages: String,
}

/// A process that ends all others of a sweep if the sweep's own is killed: then its input ends.
pub struct Guard(Mutex<Option<Child>>);

/// What it does: it hears of each group that begins (`+`) and ends (`-`), and ends in the end those that are left.
const GUARD: &str = r#"
left=" "
while read -r what group; do
  case "$what" in
    +) left="$left$group " ;;
    -) left="${left%%" $group "*} ${left#*" $group "}" ;;
  esac
done
for group in $left; do kill -s TERM -- "-$group"; done
[ "$left" = " " ] || sleep 2
for group in $left; do kill -s KILL -- "-$group"; done
"#;

impl Guard {
    /// Starts it. Without a shell there is none, and nothing is lost while nobody kills the sweep.
    pub fn start() -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", GUARD]).process_group(0);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(Mutex::new(command.spawn().ok()))
    }

    fn tell(&self, what: char, group: Pid) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let input = guard.as_mut().and_then(|guard| guard.stdin.as_mut());
        if let Some(input) = input {
            let _ = input.write_all(format!("{what} {group}\n").as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let guard = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(guard) = guard {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// Runs a command, which must succeed.
///
/// The inner error tells why it did not; the outer one is that of the user who asked to stop.
pub fn run(
    command: &mut Command,
    limits: Limits,
    guard: &Guard,
) -> Result<Result<Printed, String>, Failure> {
    command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let program = command.get_program().display();
            return Ok(Err(format!("cannot start {program}: {error}")));
        }
    };
    let group = group(&child);
    guard.tell('+', group);
    let output = child.stdout.take().map(reader);
    let messages = child.stderr.take().map(reader);
    let ended = wait(&mut child, limits);
    let read = |pipe: Option<Receiver<Vec<u8>>>| {
        let Some(pipe) = pipe else {
            return Vec::new();
        };
        // Something that it started may hold the pipe.
        pipe.recv_timeout(GRACE).unwrap_or_else(|_| {
            let _ = killpg(group, Signal::SIGKILL);
            pipe.recv_timeout(GRACE).unwrap_or_default()
        })
    };
    let (output, messages) = (read(output), read(messages));
    guard.tell('-', group);
    let messages = String::from_utf8_lossy(&messages).trim_end().to_owned();
    let status = match ended? {
        Ok(status) => status,
        Err(reason) => return Ok(Err(reason)),
    };
    if output.len() as u64 >= MOST {
        return Ok(Err(format!("it printed more than {MOST} bytes")));
    }
    Ok(match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Printed { output, messages }),
        (Some(code), _) if messages.is_empty() => Err(format!("it ended with exit code {code}")),
        (None, Some(signal)) => {
            let name = Signal::try_from(signal).map_or("a signal", Signal::as_str);
            Err(format!("it was ended by {name}\n{messages}")
                .trim_end()
                .to_owned())
        }
        _ => Err(messages),
    })
}

fn group(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("the system's numbers of processes are such"))
}

/// Reads a pipe to its end beside all else.
fn reader(pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read up to an error is what there is. Closing the pipe ends one who prints for ever.
        let _ = pipe.take(MOST).read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    receive
}

/// Waits until a process ends, or has to: then nothing of it is left.
fn wait(child: &mut Child, limits: Limits) -> Result<Result<ExitStatus, String>, Failure> {
    let started = Instant::now();
    loop {
        let left = limits.time.saturating_sub(started.elapsed());
        match child.wait_timeout(left.min(LOOK)) {
            Ok(Some(status)) => return Ok(Ok(status)),
            Ok(None) => {}
            Err(error) => {
                stop(child);
                return Ok(Err(format!("nobody knows how it ended: {error}")));
            }
        }
        if let Err(interrupted) = interrupt::check() {
            stop(child);
            return Err(interrupted);
        }
        if started.elapsed() >= limits.time {
            stop(child);
            let seconds = limits.time.as_secs();
            return Ok(Err(format!(
                "it took longer than {seconds} s (`timeout` of the sweep)"
            )));
        }
        if let Some(most) = limits.memory
            && resident(child).is_some_and(|bytes| bytes > most)
        {
            stop(child);
            return Ok(Err(format!(
                "it took more than {most} bytes of memory (`memory` of the sweep)"
            )));
        }
    }
}

/// Ends a process and all that it has started: first by asking, so that it removes what it has made for a moment.
fn stop(child: &mut Child) {
    let group = group(child);
    let _ = killpg(group, Signal::SIGTERM);
    if !matches!(child.wait_timeout(GRACE), Ok(Some(_))) {
        let _ = killpg(group, Signal::SIGKILL);
        let _ = child.wait();
    }
    let _ = killpg(group, Signal::SIGKILL);
}

/// How many bytes of memory a process has, where the system tells.
fn resident(child: &Child) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/statm", child.id())).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    let page = u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?;
    pages.checked_mul(page)
}
