//! When an observer looks at a run.

use crate::model::{Cycle, Event, TreeId};
use crate::observer::{Next, Observer};
use crate::source::Change;

pub(super) struct Watch {
    /// The changes of observed values in the cycle and in the one after it.
    now: Vec<Change>,
    next: Vec<Change>,
    /// What the observer saw last, and when it wants to look again.
    seen: Option<TreeId>,
    look: Next,
}

impl Watch {
    pub fn new() -> Self {
        Self {
            now: Vec::new(),
            next: Vec::new(),
            seen: None,
            look: Next::Change,
        }
    }

    /// Takes in what changes of observed values in the next cycle.
    pub fn take(&mut self, change: Change) {
        self.next.push(change);
    }

    /// Goes to the next cycle.
    pub fn step(&mut self) {
        self.now.clear();
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Lets an observer look at a cycle, in which there were these events.
    pub fn look(
        &mut self,
        observer: &mut dyn Observer,
        events: &[Event],
        cycle: Cycle,
        tree: Option<TreeId>,
    ) -> Next {
        for event in events {
            if matches!(event, Event::Instance(_) | Event::Tree(_)) {
                observer.event(event);
            }
        }
        let due = self.look == Next::At(cycle);
        if let Some(now) = tree
            && (due || tree != self.seen || !self.now.is_empty())
        {
            self.seen = tree;
            self.look = observer.cycle(cycle, now, &self.now);
        }
        self.look
    }
}
