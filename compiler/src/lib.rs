//! The Calyx compiler that petal is built with.
//!
//! Owns what differs between the published crates and upstream's main branch, which has the same version number:
//! one function for each difference, with one implementation for each compiler. The build script chooses; nothing
//! else asks which compiler it is. Decides nothing about programs.

#[cfg(not(upstream))]
mod published;
#[cfg(upstream)]
mod upstream;

#[cfg(not(upstream))]
pub use published::*;
#[cfg(upstream)]
pub use upstream::*;

/// The version of the Calyx compiler's crates, such as `0.7.1`; where a checkout takes the place of the
/// published ones, with its commit as far as the build knows it: `0.7.1 at 5bba923d2, patched`.
pub const CALYX_VERSION: &str = env!("PETAL_CALYX_VERSION");
