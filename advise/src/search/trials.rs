//! Runs programs, several at once, as long as there is time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::limit::{End, Limit};
use super::{Search, total};
use crate::change::Change;
use crate::rewrites::Rewrite;
use crate::variant::Variant;
use crate::workshop::{Failure, Trial, Try, Workshop};

/// What comes of each of these edits of a program by itself, in their order; `None` for those that there was no time for.
///
/// # Errors
/// When no thread can be started.
pub fn try_each<W: Workshop>(
    workshop: &W,
    text: String,
    rewrites: &[Rewrite],
    time: Duration,
    threads: usize,
) -> Result<Vec<Option<Trial>>, Failure> {
    let original = Variant::original(text);
    let best = total(&workshop.as_it_is());
    let changes = rewrites.iter().cloned().map(Change::Edit);
    let changes: Vec<Change> = changes.collect();
    let tries = changes.iter();
    let tries = tries.map(|change| Try::with(change, &original, best.saturating_mul(2)));
    let runner = Runner {
        workshop,
        threads,
        runs: &AtomicUsize::new(1),
    };
    let end = End::of(Limit::Time(time));
    runner.try_all(&tries.collect::<Vec<_>>(), best, end)
}

impl<W: Workshop> Search<'_, W> {
    /// Runs these programs in their order, up to an end; `None` for those after it.
    pub(crate) fn try_all(
        &self,
        tries: &[Try],
        best: u64,
        end: End,
    ) -> Result<Vec<Option<Trial>>, Failure> {
        let runner = Runner {
            workshop: self.workshop,
            threads: self.threads,
            runs: &self.runs,
        };
        runner.try_all(tries, best, end)
    }
}

/// Runs programs.
struct Runner<'a, W> {
    workshop: &'a W,
    threads: usize,
    runs: &'a AtomicUsize,
}

impl<W: Workshop> Runner<'_, W> {
    fn try_all(&self, tries: &[Try], best: u64, end: End) -> Result<Vec<Option<Trial>>, Failure> {
        let next = AtomicUsize::new(0);
        let runs = self.runs.load(Ordering::Relaxed);
        let most = end.left(runs);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(tried) = tries.get(at) else {
                    break;
                };
                // How many have run since does not count: which ones do would be by chance.
                if at >= most || end.left(runs) == 0 || self.workshop.is_interrupted() {
                    break;
                }
                let trial = self.workshop.try_out(&tried.variant(), tried.limit);
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
