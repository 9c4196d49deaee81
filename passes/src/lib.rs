//! Calyx compiler passes that make a design observable without changing its cycle count.
//!
//! Owns the passes `encode-control` and `profiler-instrumentation`, the pipelines that weave them
//! into the stock ones, and the way from a Calyx file to instrumented Verilog and metadata. The
//! only crate that knows Calyx's control and passes. Knows nothing of simulation or waveforms.
//!
//! A driver of your own puts probes into a design by [`register`] (`examples/driver.rs` does it for several
//! designs and prints their Verilog):
//!
//! ```
//! use calyx_frontend::Workspace;
//! use calyx_ir::from_ast::ast_to_ir;
//! use calyx_opt::pass_manager::PassManager;
//!
//! # fn main() -> calyx_utils::CalyxResult<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let metadata = folder.path().join("metadata.json");
//! let library = petal_passes::Library::new(&[]).expect("the temporary folder can be written");
//! let design = "../calyx-examples/while-reg.futil".into();
//! let mut program = ast_to_ir(Workspace::construct(&Some(design), library.path())?)?;
//! let file = format!("profiler-instrumentation:metadata={}", metadata.display());
//! program.extra_opts.push(file);
//!
//! let mut manager = PassManager::default_passes()?;
//! petal_passes::register(&mut manager)?;
//! manager.execute_plan(&mut program, &["profile-all".to_owned()], &[], false)?;
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
mod dependences;
mod design;
mod emit;
mod error;
mod exclusion;
mod frontend;
mod guard;
mod hardware;
mod includes;
mod instrument;
mod kept_state;
mod library;
mod marker;
mod nesting;
mod options;
mod order;
mod pipeline;
mod places;
mod plugin;
mod positions;
mod rebuilt;
mod references;
mod refusal;
mod requirements;
mod rewrites;
mod session;
mod sharing;
mod size;
mod source;
mod source_info;
mod structure;
mod syntax;
mod tree;
mod triggers;
mod verilog_names;
mod well_formed;

pub use design::{Design, Memory};
pub use error::PassesError;
pub use frontend::{Parsed, Program, Source};
pub use hardware::{HardwareCell, HardwareInstance};
pub use includes::Includes;
pub use kept_state::Joined;
pub use library::Library;
pub use pipeline::{ALL, NO_OPT, Pipeline, STACK, compile, instrument};
pub use plugin::{EncodeControl, Instrumentation, register};
pub use positions::parsing;
pub use rewrites::{Certainty, Edit, Observed, Rewrite, RewriteKind, rewrites};
pub use structure::Structure;

/// The version of the Calyx compiler's crates. They do not export it; petal asks Cargo for
/// exactly this one, because its passes follow what the compiler's do.
pub const CALYX_VERSION: &str = "0.7.1";

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_of_calyx_is_the_one_that_cargo_took() {
        let lock = include_str!("../../Cargo.lock");
        let packages = lock.split("[[package]]\n");
        let calyx: Vec<&str> = packages
            .filter(|package| package.starts_with("name = \"calyx-"))
            .collect();
        assert!(calyx.len() >= 6, "only {} crates found", calyx.len());
        let version = format!("\nversion = \"{}\"\n", super::CALYX_VERSION);
        for package in calyx {
            assert!(package.contains(&version), "{package}");
        }
        let manifest = include_str!("../../Cargo.toml");
        let exactly = format!(" = \"={}\"", super::CALYX_VERSION);
        let asked = manifest.lines().filter(|line| line.starts_with("calyx-"));
        let asked: Vec<&str> = asked.filter(|line| line.contains("= \"")).collect();
        assert!(asked.len() >= 6, "only {asked:?} found");
        for line in asked {
            assert!(line.ends_with(&exactly), "{line}");
        }
    }
}
