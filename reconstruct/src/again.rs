//! What comes again and again in a run, told once: readers that can count it at once need not hear of each time.

use std::sync::Arc;

use crate::model::{Cycle, Event, RegisterUpdate, Run};

/// A part of a run on its way to its readers.
#[derive(Debug, Clone)]
pub enum Item {
    /// One event.
    Event(Event),
    /// Events that come several times.
    Again(Box<Again>),
}

/// Runs and updates that come several times, one time after the other. They came once before, so nothing in them is new.
#[derive(Debug, Clone)]
pub struct Again {
    /// The events of one time, and by how many cycles the first time is later.
    events: Arc<[Event]>,
    later: u64,
    /// Cycles of each time.
    cycles: u64,
    times: u64,
}

impl Again {
    pub(crate) fn new(events: Arc<[Event]>, later: u64, cycles: u64, times: u64) -> Self {
        Self {
            events,
            later,
            cycles,
            times,
        }
    }

    /// Cycles of each time: those of its runs together.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// How often the events come, at least once.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// The cycle in which its last run ends.
    pub fn end(&self) -> Cycle {
        let start = self.runs().next().map_or(0, |run| run.start.cycles());
        Cycle::from_cycles(start + self.times * self.cycles)
    }

    /// Events of each time.
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// The events of the first time.
    pub fn first(&self) -> impl Iterator<Item = Event> + '_ {
        self.time(0)
    }

    /// The runs of the first time.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.first().filter_map(|event| match event {
            Event::Run(run) => Some(run),
            _ => None,
        })
    }

    /// The events of the time with this number, from 0 on.
    pub fn time(&self, number: u64) -> impl Iterator<Item = Event> + '_ {
        (0..self.count()).map(move |at| self.event(number, at))
    }

    /// The event with this number of the time with this number.
    pub(crate) fn event(&self, number: u64, at: usize) -> Event {
        self.events[at].later(self.later + number * self.cycles)
    }
}

impl Item {
    /// Hands all events of it to `read`.
    ///
    /// # Errors
    /// The first one of `read`.
    pub fn try_for_each<E>(&self, mut read: impl FnMut(&Event) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Event(event) => read(event),
            Self::Again(again) => (0..again.times)
                .flat_map(|number| again.time(number))
                .try_for_each(|event| read(&event)),
        }
    }
}

impl Event {
    /// The same so many cycles later.
    fn later(&self, cycles: u64) -> Self {
        // A trace that is damaged may have any cycles.
        let later = |cycle: Cycle| Cycle::from_cycles(cycle.cycles().wrapping_add(cycles));
        match self {
            Self::Run(run) => Self::Run(Run {
                start: later(run.start),
                ..*run
            }),
            Self::Update(update) => Self::Update(RegisterUpdate {
                cycle: later(update.cycle),
                ..*update
            }),
            other => other.clone(),
        }
    }
}
