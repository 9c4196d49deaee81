//! Observations of a simulated run: when, how long, and with which values.
//!
//! Owns the language of observations (`syntax`, `check`), how they are computed while a run goes by (`program`, `activity`), what each
//! kind makes of it (`collect`), and how that is written (`results`). Knows metadata, call trees and names of signals;
//! knows neither Calyx nor a simulator, and changes no design.
#![allow(rustdoc::private_intra_doc_links)]

mod activity;
mod blame;
mod builder;
mod checker;
mod collect;
mod countable;
mod derived;
mod directory;
mod expression;
mod functions;
mod latency;
mod observations;
mod problem;
mod program;
mod request;
mod resolve;
mod results;
mod shown;
mod syntax;
mod tables;
mod tracks;
mod trees;
mod watched;
mod work;

pub use collect::Told;
pub use countable::{Countable, countable};
pub use directory::{Directory, Memory};
pub use observations::{Observations, Refused};
pub use problem::Problem;
pub use request::{
    CheckpointRequest, CounterRequest, DerivedRequest, Interval, LatencyRequest, Request,
    RuleRequest, Text, WatchRequest, WindowRequest,
};
pub use results::{
    Blame, ChangeOf, Checkpoint, Counter, Derived, Latency, Results, Rule, VERSION, Violation,
    Watch, Window, Written,
};
pub use tables::{Forms, ResultTable};
