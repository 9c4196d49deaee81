//! What petal's crates need of the file system: temporary folders that no killed process leaves for
//! ever, and reading that does not wait for what never comes.
//!
//! Knows nothing of designs, profiles or caches.

mod input;
mod scratch;

pub use input::{check, is_descriptor, open, read, read_to_string};
pub use scratch::{Scratch, end, is_scratch};
