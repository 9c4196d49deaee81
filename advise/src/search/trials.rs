//! Runs programs, several at once, as long as there is time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::Search;
use crate::workshop::{Failure, Trial, Try, Workshop};

impl<W: Workshop> Search<'_, W> {
    /// Runs all these programs; `None` for those that there was no time for.
    pub(crate) fn try_all(
        &self,
        tries: &[Try],
        best: u64,
        until: Instant,
    ) -> Result<Vec<Option<Trial>>, Failure> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(Try { variant, limit }) = tries.get(at) else {
                    break;
                };
                if Instant::now() >= until || self.workshop.is_interrupted() {
                    break;
                }
                let trial = self.workshop.try_out(variant, *limit);
                // It may have failed for that.
                if self.workshop.is_interrupted() {
                    break;
                }
                done.push((at, trial));
                let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
                self.workshop.progress(runs, best);
            }
            done
        };
        let mut trials: Vec<Option<Trial>> = vec![None; tries.len()];
        thread::scope(|scope| {
            let start = |_| {
                let builder = thread::Builder::new().stack_size(petal_program::STACK);
                builder.spawn_scoped(scope, work)
            };
            let threads: Vec<_> = (0..self.threads.min(tries.len())).map(start).collect();
            for thread in threads {
                let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
                let done = thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                for (at, trial) in done {
                    trials[at] = Some(trial);
                }
            }
            Ok::<(), Failure>(())
        })?;
        Ok(trials)
    }
}
