//! Observations of a simulated run: when, how long, and with which values.
//!
//! Owns the language of observations (`syntax`, `checker`), how they are computed while a run goes by (`program`, `activity`), and what each
//! kind makes of it and gives (`kinds`). Knows metadata, call trees and names of signals;
//! knows neither Calyx nor a simulator, and changes no design.
#![allow(rustdoc::private_intra_doc_links)]

mod activity;
mod blame;
mod builder;
mod checker;
mod collector;
mod countable;
mod directory;
mod expression;
mod functions;
mod held;
mod kinds;
mod look;
mod monitor;
mod observations;
mod problem;
mod program;
mod readers;
mod recorded;
mod resolve;
mod shown;
mod stats;
mod syntax;
mod tables;
mod text;
mod trees;
mod variables;
mod watched;
mod work;

pub use countable::{Countable, countable};
pub use directory::{Directory, Memory};
pub use held::{Difference, Held};
pub use kinds::{
    Access, AccessKind, AccessRequest, Accesses, Banks, Blame, Broken, ChangeOf, Checkpoint,
    CheckpointRequest, Counter, CounterRequest, Derived, DerivedRequest, Interval, Latency,
    LatencyRequest, Promise, Request, Results, Reuse, Rule, RuleRequest, SampleRequest, Samples,
    Site, SiteAccesses, Stride, Summary, Undriven, VERSION, Violation, Watch, WatchRequest, Window,
    WindowRequest, Written,
};
pub use look::Told;
pub use monitor::{
    MONITOR_VERSION, MonitorFile, MonitorPlan, MonitoredCheckpoint, MonitoredCounter,
    MonitoredLatency, MonitoredRule, MonitoredValue, MonitoredWatch, Room, UnreadableRun, monitor,
};
pub use observations::Observations;
pub use problem::{Problem, Refused};
pub use recorded::{Recorded, ValueRequest};
pub use stats::Spread;
pub use tables::{Forms, ResultTable};
pub use text::Text;
pub use variables::{VariableValues, Variables};
