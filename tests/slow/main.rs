//! The tests that need Verilator, a browser or Python, kill petal, or take long: `cargo test --workspace --test slow`.

#[path = "../support/mod.rs"]
mod support;

mod advise;
mod cache;
mod cider;
mod compare;
mod compilers;
mod corpus;
mod editors;
mod faults;
mod floats;
mod fst;
mod fud2;
mod habits;
mod hardfloat;
mod interrupts;
mod kills;
mod limits;
mod memory;
mod monitor;
mod observe;
mod options;
mod pages;
mod primitives;
mod random;
mod release;
mod report;
mod safety;
mod simulators;
mod sweep;
mod synth;
mod tasks;
mod timeline;
mod waveform;
mod waves;
mod whatif;
