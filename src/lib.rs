//! The `petal` command: arguments in, files and messages out. What is found out about a run is found out in the libraries.
//!
//! [`main`] is the command as a process. [`call`] is the same command inside of another program, such as Python: what it
//! would print is returned.
//!
//! Programs of your own start elsewhere:
//!
//! | to … | begin with |
//! | --- | --- |
//! | profile a design, and read its folder back | [`petal_profile`] |
//! | read a program as it is written | [`petal_program`] |
//! | compile with probes in your own driver | [`petal_passes`] |
//! | find edits of a program, and what is certain of each | [`petal_advise`] |
//! | reconstruct call trees from a waveform | [`petal_reconstruct`] |
//! | draw one output from a trace | [`petal_visualize`] |
//! | compare two runs | [`petal_compare`] |
//! | go forward and back through a run | [`petal_debug`] |
//! | synthesise a design, and attribute its area | [`petal_synth`] |

mod advise;
mod annotate;
mod args;
mod baseline;
mod browser;
mod cache;
mod call;
mod check;
mod compare;
mod counters;
mod debug;
mod design;
mod doctor;
mod events;
mod explain;
mod export;
mod frames;
mod generated;
mod graph;
mod instrument;
mod interrupt;
mod json_rpc;
mod live;
mod lsp;
mod mcp;
mod messages;
mod monitor;
mod outcome;
mod part;
mod perform;
mod print;
mod profile;
mod progress;
mod reconstruct;
mod run;
mod screen;
mod serve;
mod stats;
mod streams;
mod sweep;
mod synth;
mod terminal;
mod trace;
mod versions;
mod view;
mod whatif;

use std::ffi::OsString;

use nix::sys::signal::{SigSet, Signal};
use petal_profile::ErrorKind;

use crate::args::{Cli, Command};
use crate::perform::{joined, on_large_stack, perform};

pub use crate::call::{call, call_until};
pub use crate::streams::Interrupt;
pub use petal_profile::Error;
#[cfg(feature = "tables")]
pub use petal_profile::tables;

/// Does what the arguments of a process ask for, tells on standard error what went wrong, and gives what to exit with.
///
/// The arguments begin with the program's name.
pub fn main(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let cli = match Cli::read(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let color = args::asked_color(&arguments).unwrap_or_default();
            color.write_global();
            error.exit()
        }
    };
    cli.color.write_global();
    // A file that becomes too large is an error of the write then, and not the end of petal.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    let blocked = signals.thread_block();
    debug_assert!(blocked.is_ok(), "the signal exists");
    // Nothing else ends it.
    let is_endless = matches!(&cli.command, Command::Run(args) if args.on_change);
    let command = on_large_stack(move || interrupt::listen().and_then(|()| perform(cli.command)));
    let failure = match command.map(joined) {
        Ok(Ok(())) => return 0,
        Ok(Err(_)) if petal_profile::interrupt::is_requested() => {
            if !is_endless {
                messages::error("interrupted");
            }
            return interrupt::EXIT_CODE;
        }
        Ok(Err(failure)) | Err(failure) => failure,
    };
    messages::error(&failure);
    code(&failure)
}

/// What a command exits with that ended so: 1, or 2 where its arguments make no sense.
pub fn code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Usage => 2,
        _ => 1,
    }
}
