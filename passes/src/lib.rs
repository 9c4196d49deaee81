//! Calyx compiler passes that make a design observable without changing its cycle count.
//!
//! Owns the passes `encode-control` and `profiler-instrumentation`, the pipelines that weave them
//! into the stock ones, and the way from a program to instrumented Verilog and metadata. The only
//! crate that runs Calyx's passes. How a program is read, [`petal_program`] knows. Knows nothing of
//! simulation or waveforms.
//!
//! A driver of your own puts probes into a design by [`register`] (`examples/driver.rs` does it for several
//! designs and prints their Verilog):
//!
//! ```
//! use calyx_opt::traversal::Named as _;
//!
//! # fn main() -> calyx_utils::CalyxResult<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let metadata = folder.path().join("metadata.json");
//! let library = petal_passes::Library::new(&[]).expect("the temporary folder can be written");
//! let design = "../calyx-examples/while-reg.futil".as_ref();
//! let folder = library.complete().expect("the temporary folder can be written");
//! let workspace = petal_compiler::workspace(design, folder)?;
//! let mut program = petal_compiler::ast_to_ir(workspace)?;
//! let pass = petal_passes::Instrumentation::name();
//! let file = format!("{pass}:metadata={}", metadata.display());
//! program.extra_opts.push(file);
//!
//! let mut manager = petal_compiler::default_passes()?;
//! petal_passes::register(&mut manager)?;
//! petal_compiler::run_pass(&manager, &mut program, "profile-all")?;
//!
//! // The probes are cells of the lowered program, and the metadata tell what they stand for.
//! let main = program.entrypoint();
//! assert!(main.cells.iter().any(|cell| cell.borrow().name().as_ref().starts_with("petal_")));
//! petal_metadata::Metadata::read(&metadata).expect("the passes have written it");
//! # Ok(())
//! # }
//! ```
#![allow(rustdoc::private_intra_doc_links)]

mod align;
mod compiled;
mod design;
mod emit;
mod error;
mod hardware;
mod instrument;
mod kept_state;
mod marker;
mod monitor;
mod options;
mod order;
mod owners;
mod papercuts;
mod pipeline;
mod plugin;
mod probes;
mod rebuilt;
mod references;
mod removal;
mod requirements;
mod session;
mod sharing;
mod steps;
mod structure;
mod synthesis;
mod triggers;
mod verilog_names;
mod well_formed;

pub use design::{Design, Memory};
pub use error::PassesError;
pub use hardware::{HardwareCell, HardwareInstance, HardwarePromise};
pub use kept_state::Joined;
pub use monitor::Monitored;
// What those who compile hand in, and what of it they get back.
pub use petal_program::{
    CALYX_VERSION, Includes, Library, Parsed, Program, ProgramError, STACK, Source, parsing,
};
pub use pipeline::{ALL, NO_OPT, Pipeline, compile, instrument};
pub use plugin::{EncodeControl, Instrumentation, register};
pub use removal::GroupName;
pub use structure::Structure;
pub use synthesis::{
    Cell as SynthesisCell, Component as SynthesisComponent, Groups, Hardware, MemoryPlace,
    Synthesizable, synthesizable, without,
};
