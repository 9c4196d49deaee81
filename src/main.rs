//! The `petal` command: arguments in, files and messages out. All logic is in the libraries.

mod annotate;
mod args;
mod compile;
mod failure;
mod folder;
mod interrupt;
mod outputs;
mod progress;
mod run;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{CacheCommand, Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
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
            outputs::tell("error: interrupted");
            ExitCode::from(interrupt::EXIT_CODE)
        }
        Err(failure) => {
            outputs::tell(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Trace(args) => trace::trace(&args),
        Command::Flame(args) => trace::flame(&args),
        Command::Timeline(args) => trace::timeline(&args),
        Command::Stats(args) => trace::stats(&args),
        Command::Annotate(args) => annotate::annotate(&args),
        Command::Instrument(args) => run::instrument(&args),
        Command::Reconstruct(args) => run::reconstruct(&args),
        Command::Cache(CacheCommand::Clean) => run::clean_cache(),
    }
}
