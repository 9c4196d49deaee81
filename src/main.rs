//! The `petal` command: arguments in, files and messages out. All logic is in the libraries.

mod annotate;
mod args;
mod cache;
mod compare;
mod compile;
mod doctor;
mod failure;
mod folder;
mod generated;
mod interrupt;
mod messages;
mod outputs;
mod progress;
mod run;
mod trace;
mod versions;
mod view;

use std::process::ExitCode;

use crate::args::{CacheCommand, Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::read();
    let result = interrupt::listen().and_then(|()| match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Trace(args) => trace::trace(&args),
        Command::Flame(args) => trace::flame(&args),
        Command::Report(args) => trace::report(&args),
        Command::Timeline(args) => trace::timeline(&args),
        Command::View(args) => view::view(&args),
        Command::Stats(args) => trace::stats(&args),
        Command::Annotate(args) => annotate::annotate(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Baseline(args) => compare::baseline(&args),
        Command::Instrument(args) => run::instrument(&args),
        Command::Reconstruct(args) => run::reconstruct(&args),
        Command::Cache(CacheCommand::Clean) => cache::clean(),
        Command::Doctor => doctor::doctor(),
        Command::Completions(args) => generated::completions(&args),
        Command::Man(args) => generated::man(&args),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            messages::error(failure);
            if interrupt::requested() {
                ExitCode::from(interrupt::EXIT_CODE)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
