//! Simulates a lowered Calyx program, cycle by cycle, without Verilog.
//!
//! After all passes a program is components of guarded continuous assignments and primitives. It is
//! unfolded into a graph of values in the order in which they depend on one another
//! (`elaborate`, `graph`, `primitives`), and the graph is compiled to machine code that computes
//! one cycle (`code`). [`Simulation`] runs it and delivers probe values to reconstruction.
//!
//! The results are those of Calyx's Verilog under Verilator, where undefined values are 0. Knows
//! Calyx's lowered form and the standard library's primitives; knows nothing of control, groups or
//! what a probe means.
#![allow(rustdoc::private_intra_doc_links)]

mod code;
mod elaborate;
mod error;
mod graph;
mod machine;
mod primitives;
mod program;
mod simulation;
mod waveform;

pub use error::{Error, Stopped};
pub use simulation::{Options, Simulation};

/// The version of Cranelift, which makes the machine code.
pub const CRANELIFT_VERSION: &str = cranelift_codegen::VERSION;
