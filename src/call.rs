//! The command inside of another program: its standard input is handed over, and what it would print is returned.
//!
//! Owns what differs from a process of its own: nothing is read from or written to the standard streams but messages, and
//! several commands may run at once, each on a thread of its own.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use petal_profile::{Error, interrupt};

use crate::args::Cli;
use crate::{joined, on_large_stack, run};

thread_local! {
    /// The streams of the command on this thread; `None` if they are those of the process.
    static STREAMS: RefCell<Option<Streams>> = const { RefCell::new(None) };
}

/// What stands for the standard streams of a command, and for Ctrl-C. Copies are the same ones.
#[derive(Debug, Default, Clone)]
pub struct Streams {
    input: Arc<str>,
    output: Output,
    interrupt: Interrupt,
}

impl Streams {
    /// Those of the command on this thread, for another thread of it; `None` if they are those of the process.
    pub fn of_command() -> Option<Self> {
        STREAMS.with_borrow(Clone::clone)
    }

    /// Makes them those of this thread.
    pub fn enter(streams: Option<Self>) {
        let flag = streams.as_ref();
        interrupt::set_flag(flag.map(|streams| Arc::clone(&streams.interrupt.0)));
        STREAMS.set(streams);
    }
}

/// What a command prints.
#[derive(Debug, Default, Clone)]
pub struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        printed.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Asks the command inside of another program that it was handed to to stop, and no other one.
#[derive(Debug, Default, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Does what is no command, and yet is to stop.
    pub fn heeded<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = Streams::of_command();
        Streams::enter(Some(Streams {
            interrupt: self.clone(),
            ..Streams::default()
        }));
        let done = act();
        Streams::enter(before);
        done
    }
}

/// Does what `arguments`, without the program's name, ask for, and gives what it prints; `-` stands for `input` there.
///
/// Messages go to standard error, unless `--quiet` is among the arguments.
///
/// # Errors
/// Whatever the command ends with.
///
/// # Panics
/// If the command does, which is a bug.
pub fn call(
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    input: impl Into<String>,
) -> Result<String, Error> {
    call_until(&Interrupt::default(), arguments, input)
}

/// The same; it ends with an error once `interrupt` is requested.
///
/// # Errors
/// Whatever the command ends with.
///
/// # Panics
/// If the command does, which is a bug.
pub fn call_until(
    interrupt: &Interrupt,
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    input: impl Into<String>,
) -> Result<String, Error> {
    let all = std::iter::once(OsString::from("petal"));
    let all: Vec<OsString> = all.chain(arguments.into_iter().map(Into::into)).collect();
    let cli = match Cli::read(&all) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => return Ok(error.to_string()),
        Err(error) => return Err(usage(&error)),
    };
    let input = Arc::from(input.into());
    let output = Output::default();
    let streams = Streams {
        input,
        output: output.clone(),
        interrupt: interrupt.clone(),
    };
    let command = on_large_stack(move || {
        Streams::enter(Some(streams));
        run(cli.command)
    })?;
    joined(command)?;
    let printed = std::mem::take(&mut *output.0.lock().unwrap_or_else(PoisonError::into_inner));
    String::from_utf8(printed).map_err(|_| Error::new("what the command prints is no text"))
}

/// What clap says of arguments that make no sense.
fn usage(error: &clap::Error) -> Error {
    let text = error.to_string();
    let message = text.trim_end();
    Error::usage(message.strip_prefix("error: ").unwrap_or(message))
}

/// Whether the command on this thread is inside of another program.
pub fn is_called() -> bool {
    STREAMS.with_borrow(Option::is_some)
}

/// Its standard input, if it is.
pub fn input() -> Option<String> {
    STREAMS.with_borrow(|streams| Some(streams.as_ref()?.input.to_string()))
}

/// Where it prints, if it is.
pub fn output() -> Option<Output> {
    STREAMS.with_borrow(|streams| Some(streams.as_ref()?.output.clone()))
}
