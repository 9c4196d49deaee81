//! A Calyx program as its author wrote it.
//!
//! Owns how a program is read (files, syntax, the library, what is refused), its control as one tree whose nodes have identities and
//! places, and what in it depends on what. In comes a file or a text; out comes a [`Program`], and of its representation before any
//! pass what is [`Written`] in it. Knows no pass of the compiler but by what it says of programs, and nothing of probes.
//!
//! ```
//! use petal_program::tree::View;
//! use petal_program::{Library, Program, Written};
//!
//! let library = Library::new(&[])?;
//! let mut program = Program::read("../calyx-examples/while-reg.futil", &library)?;
//! let written = Written::of(&mut program.ctx, program.texts.into());
//!
//! // Each node of the control program has an identity, under which its kind and place are known.
//! let main = program.ctx.entrypoint();
//! let source = &written.components[&main.name];
//! View::of(&main.control.borrow()).walk(&mut |view| {
//!     if let Some((key, _)) = view.identity() {
//!         assert_eq!(source.nodes[&key].kind, view.kind());
//!     }
//! });
//! # Ok::<(), petal_program::ProgramError>(())
//! ```
#![allow(rustdoc::private_intra_doc_links)]

mod accesses;
mod aliases;
mod course;
pub mod dependences;
mod drivers;
mod error;
pub mod exclusion;
mod flows;
mod frontend;
mod guard;
mod includes;
pub mod instances;
pub mod kept;
pub mod latency;
pub mod library;
mod nesting;
mod parse;
pub mod places;
mod positions;
mod reads;
mod refusal;
mod size;
pub mod source;
mod source_info;
mod syntax;
pub mod tree;
mod unclosed;
mod written;

pub use accesses::{Accesses, accesses};
pub use aliases::Aliases;
pub use course::{Course, begins_at_rest, rests, takes};
pub use drivers::{Driver, Drivers};
pub use error::ProgramError;
pub use flows::flows;
pub use frontend::{CalyxFile, Parsed, Program, Source, Texts};
pub use guard::{guarded, guarded_own};
pub use includes::Includes;
pub use library::Library;
pub use positions::{compiling, parsing};
pub use reads::reads;
pub use refusal::nearest;
pub use source_info::variables::{Location, SourceVariable};
pub use syntax::lexer;
pub use written::Written;

pub use petal_compiler::CALYX_VERSION;

/// The stack that the Calyx compiler needs for the deepest programs that it is given, in bytes.
pub const STACK: usize = 512 << 20;

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
        // A checkout says more of itself.
        let number = super::CALYX_VERSION.split(' ').next().unwrap();
        let version = format!("\nversion = \"{number}\"\n");
        for package in calyx {
            assert!(package.contains(&version), "{package}");
        }
        let manifest = include_str!("../../Cargo.toml");
        let exactly = format!(" = \"={number}\"");
        let asked = manifest.lines().filter(|line| line.starts_with("calyx-"));
        let asked: Vec<&str> = asked.filter(|line| line.contains("= \"")).collect();
        assert!(asked.len() >= 6, "only {asked:?} found");
        for line in asked {
            assert!(line.ends_with(&exactly), "{line}");
        }
    }
}
