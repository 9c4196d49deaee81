//! What `petal --version` tells.

use petal_embedded::CRANELIFT_VERSION;
use petal_program::CALYX_VERSION;
use petal_verilator::{Error, Verilator};

/// petal's own version.
pub const PETAL: &str = env!("CARGO_PKG_VERSION");

/// The versions of petal and of all that it profiles with.
pub fn text() -> String {
    let verilator = Verilator::installed().map_or_else(
        |error| match error {
            Error::VerilatorMissing { .. } => "not installed".to_owned(),
            _ => "does not work; see `petal doctor`".to_owned(),
        },
        |version| version.to_string(),
    );
    format!(
        "{PETAL}\ncalyx {CALYX_VERSION}\nembedded simulator: cranelift {CRANELIFT_VERSION}\nverilator: {verilator}"
    )
}
