//! Runs a source of probe values on a thread of its own, some cycles ahead.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;

use crate::batch::{Batch, BatchCycle, ListNumber};
use crate::model::Warning;
use crate::source::{Change, ProbeSource, SourceError};

/// How many batches may wait.
const BATCHES: usize = 8;

/// A [`ProbeSource`] that is some cycles ahead of its reader, on another thread.
pub struct Ahead<S> {
    receiver: Receiver<Batch>,
    /// Batches that were read, to be filled again.
    used: Sender<Batch>,
    thread: JoinHandle<S>,
    batch: Batch,
    /// The lists of changes that were handed over, after the empty one.
    lists: Vec<Arc<[Change]>>,
    /// Cycles of the batch that were read, and where the changes of the last one are.
    read: usize,
    changes: Changes,
    /// Those that are in two places.
    joined: Vec<Change>,
}

/// Where changes are.
enum Changes {
    List(usize),
    Own(Range<usize>),
    Joined,
}

impl<S: ProbeSource + Send + 'static> Ahead<S> {
    /// Starts the thread.
    pub fn new(mut source: S) -> Self {
        let (sender, receiver) = sync_channel(BATCHES);
        let (used, empty) = channel::<Batch>();
        let thread = std::thread::spawn(move || {
            loop {
                let mut batch = empty.try_recv().unwrap_or_default();
                batch.clear();
                source.fill(&mut batch);
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
            lists: vec![Arc::default()],
            read: 0,
            changes: Changes::List(0),
            joined: Vec::new(),
        }
    }

    /// Finds the changes of the cycle that is read next.
    fn find(&mut self, cycle: BatchCycle) {
        let before = self.read.checked_sub(1);
        let begin = before.map_or(0, |before| self.batch.cycles[before].end());
        let own = begin..cycle.end();
        self.changes = match cycle.list() {
            list if own.is_empty() => Changes::List(list),
            0 => Changes::Own(own),
            list => {
                self.joined.clear();
                self.joined.extend_from_slice(&self.lists[list]);
                self.joined.extend_from_slice(&self.batch.changes[own]);
                Changes::Joined
            }
        };
    }

    /// Ends the thread and gives the source back.
    pub fn into_inner(self) -> S {
        drop(self.receiver);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl<S: ProbeSource + Send + 'static> ProbeSource for Ahead<S> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        loop {
            if let Some(&cycle) = self.batch.cycles.get(self.read) {
                self.find(cycle);
                self.read += 1;
                let is_last = self.read == self.batch.cycles.len();
                return Ok(!(is_last && self.batch.ends));
            }
            if let Some(error) = self.batch.error.take() {
                return Err(error);
            }
            match self.receiver.recv() {
                Ok(batch) => {
                    let used = std::mem::replace(&mut self.batch, batch);
                    self.lists.append(&mut self.batch.lists);
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
        match &self.changes {
            Changes::List(number) => &self.lists[*number],
            Changes::Own(range) => &self.batch.changes[range.clone()],
            Changes::Joined => &self.joined,
        }
    }

    fn list(&self) -> Option<ListNumber> {
        match self.changes {
            Changes::List(number) if number > 0 => ListNumber::try_from(number).ok(),
            _ => None,
        }
    }

    fn pass(&mut self, lists: &[ListNumber]) -> usize {
        let Some(&cycle) = self
            .read
            .checked_sub(1)
            .and_then(|at| self.batch.cycles.get(at))
        else {
            return 0;
        };
        let pairs = self.batch.cycles[self.read..].iter().zip(lists);
        let passed = pairs.take_while(|&(next, &list)| *next == cycle.followed_by(list));
        let passed = passed.count();
        if passed > 0 {
            self.changes = Changes::List(lists[passed - 1] as usize);
            self.read += passed;
        }
        passed
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
