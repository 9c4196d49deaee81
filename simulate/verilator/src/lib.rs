//! Runs a Calyx design that was compiled to Verilog, in Verilator.
//!
//! The steps: find the tools ([`Verilator::find`]), build an executable from the Verilog ([`Verilator::build`]), write the
//! memories' first contents, run it ([`Executable::run`]), and read the memories back, both with `petal_data`.
//!
//! Owns the testbench and the processes. Knows neither Calyx's crates nor what a trace means: what it has to
//! know of a design is its [`TopModule`].
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::path::Path;
//! use petal_data::{Data, MemoryLayout};
//! use petal_verilator::{BuildOptions, RunOptions, Verilator};
//!
//! let layouts = [MemoryLayout { name: "m".to_owned(), width: 32, dims: vec![8] }];
//! let data = Data::zeros(&layouts);
//! let out = Path::new("out");
//! let verilator = Verilator::find(None)?;
//! let simulation =
//!     verilator.build(Path::new("design.sv"), out, Path::new("cache"), &BuildOptions::default())?;
//! data.write_dat(out)?;
//! let options = RunOptions {
//!     data_dir: out.to_owned(),
//!     vcd: Some(out.join("trace.vcd")),
//!     cycle_limit: 1_000_000,
//! };
//! let outcome = simulation.run(&options, &mut |cycle| eprintln!("cycle {cycle}"))?;
//! println!("{} cycles\n{}", outcome.cycles, data.read_out(out)?.to_json());
//! # Ok(())
//! # }
//! ```

mod build;
mod built;
mod cache;
mod compile;
mod error;
mod generated;
mod options;
mod run;
mod runtime;
mod testbench;
mod verilator;

pub use cache::clean_cache;
pub use error::{BuildStage, Error};
pub use options::{BuildOptions, MoreVerilog, Optimisation, Trace};
pub use run::{Executable, RunOptions, RunOutcome};
pub use testbench::TopModule;
pub use verilator::{Verilator, Version, compiler_version};
