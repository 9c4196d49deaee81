//! Somebody asks to stop: the whole process, or what one thread of it does for somebody else.
//!
//! Owns what is left then by a command that ends at once. Who asks, and how the process ends, is the business of the command.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use petal_reconstruct::{Change, ProbeSource, SourceError, Warning};

use crate::error::Error;

static OF_PROCESS: OnceLock<Arc<AtomicBool>> = OnceLock::new();

thread_local! {
    /// What becomes true once this thread is to stop; `None` if only the whole process may be asked to.
    static OF_THREAD: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Becomes true when somebody asks to stop what this thread does.
pub fn flag() -> Arc<AtomicBool> {
    let of_process = || Arc::clone(OF_PROCESS.get_or_init(Arc::default));
    OF_THREAD.with_borrow(|flag| flag.clone().unwrap_or_else(of_process))
}

/// Makes `flag` that of this thread; `None` makes it that of the process.
pub fn set_flag(flag: Option<Arc<AtomicBool>>) {
    OF_THREAD.set(flag);
}

/// Whether somebody asked to stop.
pub fn is_requested() -> bool {
    flag().load(Ordering::Relaxed)
}

/// Fails if somebody asked to stop.
///
/// # Errors
/// Then.
pub fn check() -> Result<(), Error> {
    if is_requested() {
        return Err(Error::interrupted());
    }
    Ok(())
}

/// What to remove if the process ends at once; `None` while it may not.
static LEFT: Mutex<Option<Left>> = Mutex::new(None);

/// What a process that ends at once would leave, besides its temporary folders.
#[derive(Default)]
struct Left {
    files: Vec<PathBuf>,
    /// Folders that are somebody else's, too, if there is anything else in them; inner ones first.
    empty: Vec<PathBuf>,
}

/// While it lives, the process may end as soon as somebody asks to stop.
pub struct Ending(());

impl Ending {
    /// For what can't be asked to stop and has nothing to clean up but temporary folders.
    pub fn at_once() -> Self {
        Self::leaving([], [])
    }

    /// The same, but for `files`, and for those of `folders` that are empty then, inner ones first.
    pub(crate) fn leaving<'a>(
        files: impl IntoIterator<Item = &'a Path>,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        let left = Left {
            files: files.into_iter().map(Path::to_owned).collect(),
            empty: folders.into_iter().map(Path::to_owned).collect(),
        };
        *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
        Self(())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// If the process may end now, removes what it would leave, and ends it by `end`. Nothing goes on meanwhile.
pub fn end_at_once(end: impl FnOnce()) {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(left) = left.take() {
        for file in left.files {
            let _ = std::fs::remove_file(file);
        }
        petal_files::end();
        for folder in left.empty {
            let _ = std::fs::remove_dir(folder);
        }
        end();
    }
}

static UNBROKEN: Mutex<()> = Mutex::new(());

/// While the result lives, no second request ends the process. For what takes no time.
pub fn unbroken() -> MutexGuard<'static, ()> {
    UNBROKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a simulation. What interrupts it was meant for the process, which may not have heard of it yet.
pub(crate) fn of_simulation(error: petal_verilator::Error) -> Error {
    if let petal_verilator::Error::Interrupted = error {
        flag().store(true, Ordering::Relaxed);
    }
    error.into()
}

/// A source that fails when somebody asks to stop.
pub(crate) struct Interruptible<S> {
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
        if self.cycles.is_multiple_of(1024) && is_requested() {
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
