//! Simulates a lowered Calyx program, cycle by cycle, without Verilator.
//!
//! After all passes a program is components of guarded continuous assignments and primitives
//! (`program`). It is unfolded into a graph of values in the order in which they depend on one another
//! (`elaborate`, `graph`, `primitives`), and the graph is compiled to machine code that computes
//! one cycle (`code`); long runs with few states do most cycles by code for what is left to compute in a
//! state (`states`). [`Simulation`] runs it; reconstruction reads the values of probes from it.
//!
//! The results are those of Calyx's Verilog under Verilator, where undefined values are 0. Knows
//! Calyx's lowered form and the standard library's primitives; knows nothing of control, groups or
//! what a probe means.
//!
//! To follow a port through a run:
//!
//! ```
//! use petal_embedded::{Options, Simulation};
//! use petal_passes::{ALL, Library, Pipeline, Program, compile};
//! use petal_reconstruct::{ProbeSource, Signal};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = std::path::Path::new("../../calyx-examples/while-reg.futil");
//! let program = Program::read(file, &Library::new(&[])?)?;
//! let design = compile(program, &Pipeline::parse(ALL, &[])?)?;
//! // The port `out` of the cell `i` in main, by its name in the Verilog.
//! let scope = ["toplevel", "main"].map(str::to_owned).to_vec();
//! let port = Signal { scope, name: "i_out".to_owned() };
//! let mut simulation = Simulation::new(design.program(), &[port], Options::default())?;
//! let mut values = Vec::new();
//! for cycle in 0.. {
//!     if !simulation.next_cycle()? {
//!         break;
//!     }
//!     for change in simulation.changes() {
//!         println!("cycle {cycle}: i.out is {}", change.value);
//!         values.push(change.value);
//!     }
//! }
//! assert_eq!(values, [1, 2, 3]);
//! # Ok(())
//! # }
//! ```
#![allow(rustdoc::private_intra_doc_links)]

mod code;
mod elaborate;
mod error;
mod exclusion;
mod graph;
mod hardfloat;
mod library;
mod machine;
mod observed;
mod primitives;
mod program;
mod repetition;
mod simulation;
mod states;
mod verilog;
mod waveform;

pub use elaborate::{Latencies, Latency, undriven};
pub use error::{Error, Stopped};
pub use primitives::TIMED;
pub use simulation::{Compiled, Options, Simulation, Visible};
pub use states::StateCode;
pub use waveform::{WaveformFile, WriteSeek};

/// The version of Cranelift, which makes the machine code.
pub const CRANELIFT_VERSION: &str = cranelift_codegen::VERSION;
