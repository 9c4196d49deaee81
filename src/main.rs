//! The `petal` command: arguments in, files and messages out. What is found out about a run is found out in the libraries.

mod advise;
mod annotate;
mod args;
mod cache;
mod compare;
mod compile;
mod design;
mod doctor;
mod explain;
mod failure;
mod folder;
mod follow;
mod front_end;
mod generated;
mod interrupt;
mod messages;
mod observe;
mod outputs;
mod part;
mod places;
mod progress;
mod reconstruct;
mod run;
mod stats;
mod trace;
mod verify;
mod versions;
mod view;

use std::process::ExitCode;

use nix::sys::signal::{SigSet, Signal};

use crate::args::{CacheCommand, Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::read();
    // A file that becomes too large is an error of the write then, and not the end of petal.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    let blocked = signals.thread_block();
    debug_assert!(blocked.is_ok(), "the signal exists");
    let command = std::thread::Builder::new()
        .stack_size(petal_passes::STACK)
        .spawn(move || interrupt::listen().and_then(|()| run(cli.command)));
    let result = match command {
        Ok(command) => command
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => Err(Failure::new(format!("cannot start a thread: {error}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if interrupt::requested() => {
            messages::error("interrupted");
            ExitCode::from(interrupt::EXIT_CODE)
        }
        Err(failure) => {
            messages::error(&failure);
            ExitCode::from(failure.code())
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Trace(args) => trace::trace(&args),
        Command::Flame(args) => trace::flame(&args),
        Command::Report(args) => trace::report(&args),
        Command::Timeline(args) => trace::timeline(&args),
        Command::View(args) => view::view(&args),
        Command::Stats(args) => stats::stats(&args),
        Command::Annotate(args) => annotate::annotate(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Counters(args) => observe::counters(&args),
        Command::Baseline(args) => compare::baseline(&args),
        Command::Instrument(args) => run::instrument(&args),
        Command::Reconstruct(args) => reconstruct::reconstruct(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Cache(CacheCommand::Clean) => cache::clean(),
        Command::Doctor => doctor::doctor(),
        Command::Completions(args) => generated::completions(&args),
        Command::Man(args) => generated::man(&args),
    }
}
