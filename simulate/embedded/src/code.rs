//! From a graph to machine code that computes one cycle.
//!
//! Values of up to 64 bits live in machine registers; wider ones in memory, where helpers written in Rust
//! work on them. `partition.rs` decides which values are computed together, `plan.rs` where each is, as `layout.rs` has it, `probes.rs` which probes have changed;
//! `compile.rs` makes the functions, `operations.rs` the instructions of one operation; `helpers.rs` has
//! the helpers, `native.rs` calls the code, `edge.rs` does what happens once a cycle, `memory.rs` has the memories: only these four, and
//! `native.rs` of the states, have `unsafe` in them, and each rests on what its own types hold.

mod compile;
mod edge;
mod helpers;
mod layout;
mod memory;
mod native;
mod operations;
mod partition;
mod plan;
mod probes;

pub(crate) use compile::{WORD, failed, module};
pub(crate) use layout::{Layout, WEIGHT, WordSpan, first_weight, load, word, words};
pub(crate) use memory::Memory;
pub(crate) use native::{Code, Ending, Instance};
pub(crate) use operations::Operations;
pub(crate) use probes::bits;
