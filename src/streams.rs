//! What stands for the standard streams where the command runs inside of another program: its input is handed over, and what it would print
//! is kept. Several such commands may run at once, each on threads of its own.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nix::unistd::{dup, dup2_stdout};
use petal_profile::{Error, interrupt};

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
    /// Those of a command that reads `input`, and that `interrupt` stops.
    pub fn new(input: String, interrupt: Interrupt) -> Self {
        Self {
            input: input.into(),
            output: Output::default(),
            interrupt,
        }
    }

    /// What was printed to them so far, which they forget.
    pub fn take_printed(&self) -> Vec<u8> {
        let mut printed = self.output.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut printed)
    }

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

/// Standard output for the protocol alone: what else is printed there, such as by passes, goes to standard error.
pub fn own_output() -> Result<File, Error> {
    let own = dup(io::stdout()).and_then(|own| dup2_stdout(io::stderr()).map(|()| own));
    own.map(File::from)
        .map_err(|error| Error::new(format!("cannot take standard output: {error}")))
}
