//! Calyx compiler passes that make a design observable without changing its cycle count.
//!
//! Owns the passes `encode-control` and `profiler-instrumentation`, the pipelines that weave them
//! into the stock ones, and the way from a Calyx file to instrumented Verilog and metadata. The
//! only crate that knows Calyx. Knows nothing of simulation or waveforms.
//!
//! A Calyx driver of its own can use the passes by [`register`]; `examples/driver.rs` is one.
#![allow(rustdoc::private_intra_doc_links)]

mod align;
mod compiled;
mod emit;
mod encode_control;
mod frontend;
mod instrument;
mod instrumentation;
mod nesting;
mod pipeline;
mod requirements;
mod session;
mod sharing;
mod source;
mod tree;
mod verilog_names;

pub use encode_control::EncodeControl;
pub use frontend::{Library, Program};
pub use instrumentation::Instrumentation;
pub use pipeline::{
    ALL, Design, Memory, NO_OPT, PassesError, Pipeline, STACK, compile, instrument, register,
};
