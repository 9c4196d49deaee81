//! Runs parts of the compiler so that a panic in one becomes an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use calyx_utils::CalyxResult;

use crate::error::ProgramError;
use crate::refusal;

thread_local! {
    /// The message of a panic that [`guarded`] is about to report; `None` outside of it.
    static PANIC: Cell<Option<String>> = const { Cell::new(None) };
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the compiler, such as the pass `stage`, on the design `path`. Calyx gives up on some inputs by panicking.
///
/// # Errors
/// When the compiler refuses the design, or panics.
pub fn guarded<T>(
    path: &Path,
    stage: &str,
    act: impl FnOnce() -> CalyxResult<T>,
) -> Result<T, ProgramError> {
    caught(stage, act, |message| ProgramError::Panic {
        path: path.to_owned(),
        stage: stage.to_owned(),
        message,
    })
}

/// Runs a step of petal's own on the design `path`: a panic is told as petal's.
///
/// # Errors
/// When the step can't follow the design, or panics.
pub fn guarded_own<T>(
    path: &Path,
    stage: &str,
    act: impl FnOnce() -> CalyxResult<T>,
) -> Result<T, ProgramError> {
    caught(stage, act, |message| ProgramError::Bug {
        path: path.to_owned(),
        stage: stage.to_owned(),
        message,
    })
}

fn caught<T>(
    stage: &str,
    act: impl FnOnce() -> CalyxResult<T>,
    gave_up: impl FnOnce(String) -> ProgramError,
) -> Result<T, ProgramError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                return previous(info);
            }
            let payload = info.payload();
            let message = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| {
                    payload
                        .downcast_ref::<&str>()
                        .map(|text| (*text).to_owned())
                })
                .unwrap_or_else(|| "no message".to_owned());
            PANIC.set(Some(message));
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    GUARDED.set(false);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(ProgramError::Calyx {
            stage: stage.to_owned(),
            message: refusal::tell(&error),
        }),
        Err(_) => {
            let message = PANIC.take().unwrap_or_else(|| "no message".to_owned());
            Err(gave_up(message))
        }
    }
}
