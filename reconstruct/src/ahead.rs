//! Runs a source of probe values on a thread of its own, some cycles ahead.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;

use crate::model::Warning;
use crate::source::{Change, ProbeSource, SourceError};

/// Cycles that are handed over at once, and how many times so many may wait.
const BATCH: usize = 2048;
const BATCHES: usize = 8;

/// Some cycles of a source.
#[derive(Default)]
struct Batch {
    /// For each cycle, what `next_cycle` gave, and the end of its changes.
    cycles: Vec<(bool, usize)>,
    changes: Vec<Change>,
    /// With the number of the cycle in this batch.
    warnings: Vec<(usize, Vec<Warning>)>,
    /// What the source told after the last of them, where that ends the run.
    is_done: bool,
    /// What `next_cycle` failed with after these cycles.
    error: Option<SourceError>,
}

/// A [`ProbeSource`] that is some cycles ahead of its reader, on another thread.
pub struct Ahead<S> {
    receiver: Receiver<Batch>,
    /// Batches that were read, to be filled again.
    used: Sender<Batch>,
    thread: JoinHandle<S>,
    batch: Batch,
    /// Cycles of the batch that were read, and the changes of the last one.
    read: usize,
    changes: Range<usize>,
}

impl<S: ProbeSource + Send + 'static> Ahead<S> {
    /// Starts the thread.
    pub fn new(mut source: S) -> Self {
        let (sender, receiver) = sync_channel(BATCHES);
        let (used, empty) = channel::<Batch>();
        let thread = std::thread::spawn(move || {
            loop {
                let mut batch = empty.try_recv().unwrap_or_default();
                batch.read(&mut source);
                let goes_on = batch.goes_on();
                // Nobody receives it when the reader wants no more.
                if sender.send(batch).is_err() || !goes_on {
                    return source;
                }
            }
        });
        Self {
            receiver,
            used,
            thread,
            batch: Batch::default(),
            read: 0,
            changes: 0..0,
        }
    }

    /// Ends the thread and gives the source back.
    pub fn into_inner(self) -> S {
        drop(self.receiver);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Batch {
    /// Takes the next cycles.
    fn read(&mut self, source: &mut impl ProbeSource) {
        self.cycles.clear();
        self.changes.clear();
        self.warnings.clear();
        while self.cycles.len() < BATCH {
            match source.next_cycle() {
                Ok(running) => {
                    self.changes.extend_from_slice(source.changes());
                    let warnings = source.take_warnings();
                    if !warnings.is_empty() {
                        self.warnings.push((self.cycles.len(), warnings));
                    }
                    self.cycles.push((running, self.changes.len()));
                    if !running {
                        self.is_done = source.is_done();
                        break;
                    }
                }
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
    }

    fn goes_on(&self) -> bool {
        self.error.is_none() && self.cycles.last().is_some_and(|&(running, _)| running)
    }
}

impl<S: ProbeSource + Send + 'static> ProbeSource for Ahead<S> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        loop {
            if let Some(&(running, end)) = self.batch.cycles.get(self.read) {
                self.changes = if self.read == 0 { 0 } else { self.changes.end }..end;
                self.read += 1;
                return Ok(running);
            }
            if let Some(error) = self.batch.error.take() {
                return Err(error);
            }
            match self.receiver.recv() {
                Ok(batch) => {
                    let used = std::mem::replace(&mut self.batch, batch);
                    // Nobody fills it any more at the end.
                    let _ = self.used.send(used);
                }
                // The run is over, and asked for again.
                Err(_) => return Ok(false),
            }
            self.read = 0;
        }
    }

    fn changes(&self) -> &[Change] {
        &self.batch.changes[self.changes.clone()]
    }

    fn is_done(&self) -> bool {
        self.batch.is_done
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        let cycle = self.read.wrapping_sub(1);
        match self.batch.warnings.first_mut() {
            Some((at, warnings)) if *at == cycle => {
                let warnings = std::mem::take(warnings);
                self.batch.warnings.remove(0);
                warnings
            }
            _ => Vec::new(),
        }
    }
}
