//! Ctrl-C: the first one asks the command to stop, the second one stops it at once. Inside of another program, that program
//! asks.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use petal_reconstruct::{Change, ProbeSource, SourceError, Warning};

use crate::call;
use crate::failure::Failure;
use crate::messages;

/// The exit code of a command that was interrupted: what shells give for SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Becomes true when the user asks to stop: the whole process, or only the command of this thread inside of another program.
pub fn flag() -> Arc<AtomicBool> {
    call::interrupt().unwrap_or_else(|| Arc::clone(REQUESTED.get_or_init(Arc::default)))
}

/// What to remove at an interrupt that ends the command at once; `None` if it does not.
static LEFT: Mutex<Option<Left>> = Mutex::new(None);

/// What a command that ends at once would leave.
#[derive(Default)]
struct Left {
    /// Folders and files.
    whole: Vec<PathBuf>,
    /// Folders that are somebody else's, too, if there is anything else in them; inner ones first.
    empty: Vec<PathBuf>,
}

/// While it lives, the first Ctrl-C ends the command at once.
pub struct Ending;

impl Ending {
    /// For what can't be asked to stop and has nothing to clean up but the folders and files `left`.
    pub fn at_once<'a>(left: impl IntoIterator<Item = &'a Path>) -> Self {
        let left = Left {
            whole: left.into_iter().map(Path::to_owned).collect(),
            empty: Vec::new(),
        };
        *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
        Self
    }

    /// The same; it also removes those of `folders` that are empty then, inner ones first.
    pub fn with_empty<'a>(self, folders: impl IntoIterator<Item = &'a Path>) -> Self {
        if let Some(left) = &mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner) {
            left.empty = folders.into_iter().map(Path::to_owned).collect();
        }
        self
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
    // Not the flag: a simulation that was interrupted may have set that before.
    let heard = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        flag.store(true, Ordering::Relaxed);
        let again = heard.swap(true, Ordering::Relaxed);
        // Held to the end, so that the command does not go on meanwhile.
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = left.take() {
            left.whole.iter().for_each(|path| remove(path));
            for folder in left.empty {
                let _ = std::fs::remove_dir(folder);
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

/// Removes a file or folder.
fn remove(path: &Path) {
    // The command goes on writing to it meanwhile.
    for _ in 0..100 {
        if std::fs::remove_file(path).is_ok() || !path.exists() {
            return;
        }
        let _ = std::fs::remove_dir_all(path);
    }
}

/// The failure of a simulation. What interrupts it was meant for the command, which may not have heard of it yet.
pub fn of_simulation(error: petal_verilator::Error) -> Failure {
    if let petal_verilator::Error::Interrupted = error {
        flag().store(true, Ordering::Relaxed);
    }
    error.into()
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    flag().load(Ordering::Relaxed)
}

/// Fails if the user asked to stop.
pub fn check() -> Result<(), Failure> {
    if requested() {
        return Err(Failure::new("interrupted"));
    }
    Ok(())
}

/// A source that fails when the user asks to stop.
pub struct Interruptible<S> {
    source: S,
    cycles: u32,
}

impl<S> Interruptible<S> {
    pub fn new(source: S) -> Self {
        Self { source, cycles: 0 }
    }
}

impl<S: ProbeSource> ProbeSource for Interruptible<S> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        self.cycles = self.cycles.wrapping_add(1);
        if self.cycles.is_multiple_of(1024) && requested() {
            return Err(SourceError::Run("interrupted".into()));
        }
        self.source.next_cycle()
    }

    fn changes(&self) -> &[Change] {
        self.source.changes()
    }

    fn is_done(&self) -> bool {
        self.source.is_done()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.source.take_warnings()
    }
}
