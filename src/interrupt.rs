//! Ctrl-C: the first one asks the command to stop, the second one stops it at once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::failure::Failure;
use crate::messages;

/// The exit code of a command that was interrupted: what shells give for SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Becomes true when the user asks to stop.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(REQUESTED.get_or_init(Arc::default))
}

/// The folders to remove at an interrupt, if it ends the command at once.
static LEFT: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

/// While it lives, the first Ctrl-C ends the command at once.
pub struct Ending;

impl Ending {
    /// For what can't be asked to stop and has nothing to clean up but the folders `left`.
    pub fn at_once(left: &[&Path]) -> Self {
        let left = left.iter().map(|&folder| folder.to_owned()).collect();
        *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
        Self
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

static UNBROKEN: Mutex<()> = Mutex::new(());

/// While the result lives, no Ctrl-C ends the command. For what takes no time.
pub fn unbroken() -> MutexGuard<'static, ()> {
    UNBROKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets Ctrl-C set the flag.
pub fn listen() -> Result<(), Failure> {
    let flag = flag();
    ctrlc::set_handler(move || {
        let again = flag.swap(true, Ordering::Relaxed);
        // Held to the end, so that the command does not go on meanwhile.
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folders) = left.take() {
            for folder in folders {
                let _ = std::fs::remove_dir_all(folder);
            }
            messages::error("interrupted");
            std::process::exit(i32::from(EXIT_CODE));
        }
        if again {
            let _unbroken = unbroken();
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
