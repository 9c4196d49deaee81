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

mod advise;
mod annotate;
mod args;
mod cache;
mod call;
mod compare;
mod counters;
mod design;
mod doctor;
mod events;
mod explain;
mod export;
mod generated;
mod graph;
mod instrument;
mod interrupt;
mod live;
mod messages;
mod part;
mod print;
mod profile;
mod progress;
mod reconstruct;
mod run;
mod screen;
mod serve;
mod stats;
mod sweep;
mod terminal;
mod trace;
mod versions;
mod view;

use std::ffi::OsString;
use std::thread::JoinHandle;

use nix::sys::signal::{SigSet, Signal};
use petal_profile::ErrorKind;

use crate::args::{CacheCommand, Cli, Command};
use crate::call::Streams;

pub use crate::call::{Interrupt, call, call_until};
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
    let command = on_large_stack(move || interrupt::listen().and_then(|()| run(cli.command)));
    let failure = match command.map(joined) {
        Ok(Ok(())) => return 0,
        Ok(Err(_)) if petal_profile::interrupt::is_requested() => {
            messages::error("interrupted");
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

/// Starts a thread on which the Calyx compiler, which calls itself for every level of control, does not run out of stack.
fn on_large_stack<T: Send + 'static>(
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    let thread = std::thread::Builder::new().stack_size(petal_program::STACK);
    let streams = Streams::of_command();
    thread
        .spawn(move || {
            Streams::enter(streams);
            act()
        })
        .map_err(|error| Error::new(format!("cannot start a thread: {error}")))
}

/// What a thread gives; where it panicked, this one does.
fn joined<T>(thread: JoinHandle<T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Trace(args) => trace::trace(&args),
        Command::Flame(args) => trace::flame(&args),
        Command::Report(args) => trace::report(&args),
        Command::Export(args) => export::export(&args),
        Command::Timeline(args) => trace::timeline(&args),
        Command::View(args) => view::view(&args),
        Command::Stats(args) => stats::stats(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Annotate(args) => annotate::annotate(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Counters(args) => counters::counters(&args),
        Command::Baseline(args) => compare::baseline(&args),
        Command::Instrument(args) => instrument::instrument(&args),
        Command::Reconstruct(args) => reconstruct::reconstruct(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Cache(CacheCommand::Clean) => cache::clean(),
        Command::Doctor => doctor::doctor(),
        Command::Completions(args) => generated::completions(&args),
        Command::Man(args) => generated::man(&args),
    }
}
