//! The command inside of another program: its standard input is handed over, and what it would print is returned. Messages go to standard error.

use std::ffi::OsString;

use petal_profile::Error;

use crate::args::Cli;
use crate::perform::{joined, on_large_stack, perform};
use crate::streams::{Interrupt, Streams};

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
    let streams = Streams::new(input.into(), interrupt.clone());
    let own = streams.clone();
    let command = on_large_stack(move || {
        Streams::enter(Some(own));
        perform(cli.command)
    })?;
    joined(command)?;
    String::from_utf8(streams.take_printed())
        .map_err(|_| Error::new("what the command prints is no text"))
}

/// What clap says of arguments that make no sense.
fn usage(error: &clap::Error) -> Error {
    let text = error.to_string();
    let message = text.trim_end();
    Error::usage(message.strip_prefix("error: ").unwrap_or(message))
}
