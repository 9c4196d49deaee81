//! From a command to the function that does it, on a thread of its own.

use std::thread::JoinHandle;

use petal_profile::Error;

use crate::args::{CacheCommand, Command};
use crate::streams::Streams;
use crate::{
    advise, annotate, cache, check, compare, counters, debug, doctor, explain, export, generated,
    graph, instrument, lsp, mcp, monitor, reconstruct, run, stats, sweep, synth, trace, view,
    whatif,
};

/// Starts a thread on which the Calyx compiler, which calls itself for every level of control, does not run out of stack.
pub fn on_large_stack<T: Send + 'static>(
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
pub fn joined<T>(thread: JoinHandle<T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Does what a command asks for.
pub fn perform(command: Command) -> Result<(), Error> {
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
        Command::Debug(args) => debug::debug(&args),
        Command::Annotate(args) => annotate::annotate(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::WhatIf(args) => whatif::whatif(&args),
        Command::Check(args) => check::check(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Synth(args) => synth::synth(&args),
        Command::Monitor(args) => monitor::monitor(&args),
        Command::Counters(args) => counters::counters(&args),
        Command::Baseline(args) => compare::baseline(&args),
        Command::Instrument(args) => instrument::instrument(&args),
        Command::Reconstruct(args) => reconstruct::reconstruct(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Lsp => lsp::lsp(),
        Command::Mcp => mcp::mcp(),
        Command::Cache(CacheCommand::Clean) => cache::clean(),
        Command::Doctor => doctor::doctor(),
        Command::Completions(args) => generated::completions(&args),
        Command::Man(args) => generated::man(&args),
    }
}
