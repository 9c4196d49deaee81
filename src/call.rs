//! The command inside of another program: its standard input is handed over, and what it would print is returned.
//!
//! Owns what differs from a process of its own: nothing is read from or written to the standard streams but messages, and
//! several commands may run at once, each on a thread of its own.

use std::cell::RefCell;
use std::ffi::OsString;

use crate::args::Cli;
use crate::failure::Failure;
use crate::interrupt;
use crate::{joined, on_large_stack, run};

thread_local! {
    /// The streams of the command on this thread; `None` if they are those of the process.
    static STREAMS: RefCell<Option<Streams>> = const { RefCell::new(None) };
}

/// What stands for the standard streams of a command.
#[derive(Debug, Default)]
struct Streams {
    input: String,
    output: String,
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
) -> Result<String, Failure> {
    let all = std::iter::once(OsString::from("petal"));
    let all: Vec<OsString> = all.chain(arguments.into_iter().map(Into::into)).collect();
    let cli = match Cli::read(&all) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => return Ok(error.to_string()),
        Err(error) => return Err(Failure::arguments(error)),
    };
    let input = input.into();
    let _called = interrupt::Called::new();
    let command = on_large_stack(move || {
        STREAMS.set(Some(Streams {
            input,
            output: String::new(),
        }));
        run(cli.command).map(|()| STREAMS.take().unwrap_or_default().output)
    })?;
    joined(command)
}

/// Whether the command on this thread is inside of another program.
pub fn is_called() -> bool {
    STREAMS.with_borrow(Option::is_some)
}

/// Its standard input, if it is.
pub fn input() -> Option<String> {
    STREAMS.with_borrow(|streams| Some(streams.as_ref()?.input.clone()))
}

/// Takes what it prints, if it is.
pub fn take_output(text: &str) -> bool {
    STREAMS.with_borrow_mut(|streams| {
        let streams = streams.as_mut();
        streams.is_some_and(|streams| {
            streams.output.push_str(text);
            true
        })
    })
}
