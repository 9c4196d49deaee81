//! What is collected for an observation while a run goes by, and where it is left when the run is over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use petal_metadata::SiteId;
use petal_reconstruct::{Marks, Signal};

use crate::look::Look;
use crate::work::Work;

/// What is collected for an observation while a run goes by.
pub(crate) trait Collector: Send {
    /// Its kind, as in a request.
    fn kind(&self) -> &'static str;

    /// What it is called.
    fn name(&self) -> &str;

    /// Its number in all outputs.
    fn site(&self) -> SiteId {
        SiteId::observed(self.kind(), self.name())
    }

    /// The kind and the name by which others know it, which no other may have; `None` if nobody does.
    fn known_as(&self) -> Option<(&'static str, &str)> {
        Some((self.kind(), self.name()))
    }

    /// The nodes that it looks at.
    fn nodes(&self) -> Vec<usize>;

    /// Whether it looks whenever the call tree is another one, too.
    fn follows_trees(&self) -> bool {
        false
    }

    /// Whether it does so now, if it ever does.
    fn follows_now(&self) -> bool {
        true
    }

    /// How many results it has.
    fn kept(&self) -> usize;

    /// Looks at a cycle in which a node has changed, or that it asked for. Returns whether it wants the next one, too.
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool;

    /// Leaves what it found in a run that is over at its [`Outlet`].
    fn finish(self: Box<Self>, run: &Finished<'_>);

    /// The median distance of what happens now and then, in cycles.
    fn median_distance(&self) -> Option<u64> {
        None
    }

    /// Hears the words of memories before the run, each with its index in row-major order: all others are 0 then.
    fn start_with(&mut self, _words: &dyn Fn(&Signal) -> Vec<(u64, u64)>) {}

    /// From which cycle on it needs to know what was active.
    fn needs_since(&self) -> Option<u64> {
        None
    }

    /// Keeps what it needs of the cycles before this one, which are about to be forgotten.
    fn keep(&mut self, _before: u64, _work: &Work) {}

    /// How many cycles before the one that decides it a part of the run that it keeps begins at most; `None` if it keeps none.
    fn keeps(&self) -> Option<u64> {
        None
    }

    /// Tells at once what it keeps.
    fn mark(&mut self, _marks: &Marks) {}
}

/// A run that is over.
pub(crate) struct Finished<'a> {
    pub cycles: u64,
    pub sample: Option<u64>,
    pub work: &'a Work,
    /// The median distances of what happens now and then, by name.
    pub medians: Vec<(String, Option<u64>)>,
}

/// Where the collectors of a kind leave what they found, in their order.
pub(crate) struct Outlet<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Outlet<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Outlet<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Outlet<T> {
    /// Leaves one more.
    pub fn leave(&self, found: T) {
        self.left().push(found);
    }

    /// What was left so far.
    pub fn left(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was left.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.left())
    }
}
