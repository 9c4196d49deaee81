//! Ctrl-C: the first one asks the command to stop, the second one stops it at once.

use std::sync::atomic::{AtomicBool, Ordering};

use petal_profile::{Error, interrupt};

use crate::messages;

/// The exit code of a command that was interrupted: what shells give for SIGINT.
pub const EXIT_CODE: u8 = 130;

/// Lets Ctrl-C ask the process to stop.
pub fn listen() -> Result<(), Error> {
    let flag = interrupt::flag();
    // Not the flag: a simulation that was interrupted may have set that before.
    let heard = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        flag.store(true, Ordering::Relaxed);
        let again = heard.swap(true, Ordering::Relaxed);
        interrupt::end_at_once(|| {
            messages::error("interrupted");
            std::process::exit(i32::from(EXIT_CODE));
        });
        if again {
            let _unbroken = interrupt::unbroken();
            std::process::exit(i32::from(EXIT_CODE));
        }
    })
    .map_err(|error| Error::new(format!("cannot listen for Ctrl-C: {error}")))
}
