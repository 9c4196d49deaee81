//! Runs parts of the compiler so that a panic in one becomes an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use calyx_opt::traversal::Named;
use calyx_utils::CalyxResult;

use crate::error::PassesError;
use crate::plugin::{EncodeControl, Instrumentation};
use crate::refusal;

thread_local! {
    /// The message of a panic that [`guarded`] is about to report; `None` outside of it.
    static PANIC: Cell<Option<String>> = const { Cell::new(None) };
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the compiler on the design `path`. Calyx gives up on some inputs by panicking.
pub(crate) fn guarded<T>(
    path: &Path,
    stage: &str,
    act: impl FnOnce() -> CalyxResult<T>,
) -> Result<T, PassesError> {
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
    let of_petal = [EncodeControl::name(), Instrumentation::name()];
    let stage = stage.to_owned();
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(PassesError::Calyx {
            stage,
            message: refusal::tell(&error),
        }),
        Err(_) => {
            let message = PANIC.take().unwrap_or_else(|| "no message".to_owned());
            let path = path.to_owned();
            Err(if of_petal.contains(&&*stage) {
                PassesError::Bug {
                    path,
                    stage,
                    message,
                }
            } else {
                PassesError::Panic {
                    path,
                    stage,
                    message,
                }
            })
        }
    }
}
