//! The tests that need nothing but Rust, and take less than a minute: `cargo test`.

#[path = "../support/mod.rs"]
mod support;

mod action;
mod advice;
mod advise;
mod agents;
mod bounds;
mod call;
mod ci;
mod command;
mod compare;
mod corpus;
mod docs;
mod entries;
mod errors;
mod folders;
mod front_ends;
mod fst;
mod fuzz;
mod graph;
mod guide;
mod habits;
mod hostile;
mod kept_state;
mod last;
mod ledger;
mod libraries;
mod lines;
mod loops;
mod lsp;
mod mcp;
mod observe;
mod options;
mod outputs;
mod packages;
mod papercut;
mod parts;
mod pipes;
mod places;
mod random;
mod refusals;
mod sharing;
mod stats;
mod stuck;
mod sweep;
mod synth;
#[cfg(feature = "tables")]
mod tables;
mod terms;
mod trees;
mod variables;
mod views;
mod waveform;
mod waves;
mod whatif;
