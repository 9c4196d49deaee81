//! Processes with an end: what they print, unless they take too long or too much.
//!
//! Each is a group of its own, so that nothing it has started outlives it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, SysconfVar, sysconf};
use petal_profile::{Error, interrupt};
use wait_timeout::ChildExt as _;

/// How often to look whether a process takes too much, and whether the user wants to stop.
pub const LOOK: Duration = Duration::from_millis(50);

/// How long a process has to end by itself when it is asked to, and where the user waits for it.
const GRACE: Duration = Duration::from_secs(2);
const HASTE: Duration = Duration::from_millis(500);

/// How many bytes a process may print, more than any design or data set; and of how many of its messages the end is kept.
const MOST: u64 = 1 << 30;
const MESSAGES: usize = 1 << 16;

/// What a process may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How many bytes it may have in memory.
    pub memory: Option<u64>,
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

/// Runs a command, which must succeed, and gives its messages. What it prints goes to the file `output`, if there is one: it may be more
/// than there is memory.
///
/// The inner error tells why it did not; the outer one is that of the user who asked to stop.
pub fn run(
    command: &mut Command,
    limits: Limits,
    guard: &Guard,
    mut output: Option<File>,
) -> Result<Result<String, String>, Error> {
    let stdout = output.as_ref().map_or_else(Stdio::null, |_| Stdio::piped());
    command
        .process_group(0)
        .stdout(stdout)
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
    let most = limits.memory.unwrap_or(MOST).min(MOST);
    let output = child.stdout.take().zip(output.take());
    let output = output.map(|(pipe, mut file)| {
        // Closing the pipe ends one who prints for ever.
        beside(move || io::copy(&mut pipe.take(most.saturating_add(1)), &mut file))
    });
    let messages = child.stderr.take().map(|mut pipe| {
        beside(move || {
            let mut messages = End::default();
            // What was read up to an error is what there is.
            let _ = io::copy(&mut pipe, &mut messages);
            messages.0
        })
    });
    let ended = wait(&mut child, limits);
    let output = output.map(|output| received(&output, group));
    let messages = messages.and_then(|messages| received(&messages, group));
    guard.tell('-', group);
    let messages = messages.unwrap_or_default();
    let messages = String::from_utf8_lossy(&messages).trim_end().to_owned();
    let status = match ended? {
        Ok(status) => status,
        Err(reason) => return Ok(Err(reason)),
    };
    match output {
        None => {}
        Some(Some(Ok(bytes))) if bytes <= most => {}
        Some(Some(Ok(_))) => {
            return Ok(Err(format!(
                "it printed more than {most} bytes (`memory` of the sweep, at most {MOST})"
            )));
        }
        Some(Some(Err(error))) => {
            return Ok(Err(format!("cannot keep what it prints: {error}")));
        }
        Some(None) => return Ok(Err("something that it started goes on printing".to_owned())),
    }
    Ok(match (status.code(), status.signal()) {
        (Some(0), _) => Ok(messages),
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

/// Does something beside all else.
fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(work()));
    receive
}

/// What comes of the pipe of a process that has ended. Something that it started may hold the pipe, and is ended then.
fn received<T>(pipe: &Receiver<T>, group: Pid) -> Option<T> {
    let wait = || {
        let began = Instant::now();
        while began.elapsed() < GRACE && !interrupt::is_requested() {
            match pipe.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) => {}
                there => return there.ok(),
            }
        }
        None
    };
    wait().or_else(|| {
        let _ = killpg(group, Signal::SIGKILL);
        wait()
    })
}

/// The end of a long text.
#[derive(Default)]
struct End(Vec<u8>);

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend(bytes);
        if self.0.len() > 2 * MESSAGES {
            self.0.drain(..self.0.len() - MESSAGES);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until a process ends, or has to: then nothing of it is left.
fn wait(child: &mut Child, limits: Limits) -> Result<Result<ExitStatus, String>, Error> {
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
    let asked = Instant::now();
    let grace = || {
        if interrupt::is_requested() {
            HASTE
        } else {
            GRACE
        }
    };
    while matches!(child.wait_timeout(LOOK), Ok(None)) && asked.elapsed() < grace() {}
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}

/// How many bytes of memory a process has, where the system tells.
fn resident(child: &Child) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/statm", child.id())).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    let page = u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?;
    pages.checked_mul(page)
}
