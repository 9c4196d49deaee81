//! Hands the events of a run to two readers, each on a thread of its own.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use crate::again::Item;
use crate::engine::{Progress, ReconstructError, Reconstruction};
use crate::model::Event;
use crate::observer::Observer;
use crate::source::ProbeSource;

/// Items that are handed over at once, and how many times so many may wait.
const BATCH: usize = 4096;
const BATCHES: usize = 8;

/// What comes again is handed over once it has so many cycles, so that readers do not fall behind, and those that fail end the run soon.
const CYCLES: u64 = 1 << 14;

/// The events of a run, in order, for one reader.
pub struct Events {
    batches: Receiver<Arc<Vec<Item>>>,
}

impl Events {
    /// Hands all events to `read`, as they come. Those of a run that failed end early, without
    /// [`Event::End`].
    ///
    /// # Errors
    /// The first one of `read`, which ends the run.
    pub fn try_for_each<E>(self, mut read: impl FnMut(&Event) -> Result<(), E>) -> Result<(), E> {
        self.try_for_each_item(|item| item.try_for_each(&mut read))
    }

    /// The same; what comes again and again comes as one item.
    ///
    /// # Errors
    /// The first one of `read`, which ends the run.
    pub fn try_for_each_item<E>(
        self,
        mut read: impl FnMut(&Item) -> Result<(), E>,
    ) -> Result<(), E> {
        for batch in self.batches {
            batch.iter().try_for_each(&mut read)?;
        }
        Ok(())
    }
}

/// A reader wants no more events.
struct Gone;

impl Reconstruction<'_> {
    /// Follows a run and hands its events to two readers at once. `observer` looks on, and may end the run; `progress` hears
    /// now and then how far it is. A reader that returns ends the run for both.
    ///
    /// # Errors
    /// What a reader failed with, or the source.
    pub fn fan_out<A: Send, B: Send, E: Send>(
        &self,
        source: &mut impl ProbeSource,
        first: impl FnOnce(Events) -> Result<A, E> + Send,
        second: impl FnOnce(Events) -> Result<B, E> + Send,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(A, B), ReconstructError<E>> {
        thread::scope(|scope| {
            let (to_first, batches) = sync_channel(BATCHES);
            let first = scope.spawn(move || first(Events { batches }));
            let (to_second, batches) = sync_channel(BATCHES);
            let second = scope.spawn(move || second(Events { batches }));
            let send = |batch: &Arc<Vec<Item>>| {
                let sent = to_first.send(Arc::clone(batch));
                sent.and_then(|()| to_second.send(Arc::clone(batch)))
                    .map_err(|_| Gone)
            };
            let mut sent: VecDeque<Arc<Vec<Item>>> = VecDeque::new();
            let mut batch = Vec::with_capacity(BATCH);
            let mut waiting = 0;
            let take = &mut |item| {
                if let Item::Again(again) = &item {
                    waiting += again.cycles() * again.times();
                }
                batch.push(item);
                if batch.len() == BATCH || waiting >= CYCLES {
                    waiting = 0;
                    // The oldest one serves again once nobody reads it any more.
                    let used = sent.front_mut().and_then(Arc::get_mut).map(std::mem::take);
                    if used.is_some() {
                        sent.pop_front();
                    }
                    let mut next = used.unwrap_or_else(|| Vec::with_capacity(BATCH));
                    next.clear();
                    let full = Arc::new(std::mem::replace(&mut batch, next));
                    send(&full)?;
                    sent.push_back(full);
                }
                Ok(())
            };
            let followed = self.follow(source, take, observer, progress);
            if followed.is_ok() {
                // A reader that is gone tells why.
                let _ = send(&Arc::new(batch));
            }
            drop((to_first, to_second));
            let first = join(first).map_err(ReconstructError::Sink)?;
            let second = join(second).map_err(ReconstructError::Sink)?;
            match followed {
                Ok(_) | Err(ReconstructError::Sink(Gone)) => Ok((first, second)),
                Err(ReconstructError::Source(error)) => Err(ReconstructError::Source(error)),
            }
        })
    }
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
