//! Ctrl-C: the first one asks the command to stop, the second one stops it at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::failure::Failure;

/// The exit code of a command that was interrupted: what shells give for SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Becomes true when the user asks to stop.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(REQUESTED.get_or_init(Arc::default))
}

/// Lets Ctrl-C set the flag.
pub fn listen() -> Result<(), Failure> {
    let flag = flag();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(EXIT_CODE));
        }
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    let flag = REQUESTED.get();
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Fails if the user asked to stop.
pub fn check() -> Result<(), Failure> {
    if requested() {
        return Err(Failure::new("interrupted"));
    }
    Ok(())
}
