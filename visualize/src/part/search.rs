//! The way through a trace to an activation.
//!
//! Owns where it begins and ends. What is looked for is decided before.

use petal_analysis::elements::ElementId;
use petal_analysis::intervals::{Intervals, Transition};
use petal_reconstruct::Event;
use petal_table::text::thousands;

use super::{Around, Part};

/// How many cycles are shown before and after an activation.
const MARGIN: u64 = 100;

/// What is looked for.
#[derive(Debug)]
pub(super) struct Goal {
    /// What is activated, or its last part.
    pub within: Vec<ElementId>,
    /// What begins with it, any of these, and after how many cycles again, where it is active without a break.
    pub witnesses: Vec<(ElementId, Option<u64>)>,
    /// How many activations come before the one that is wanted, and how many there are.
    pub first: u64,
    pub all: u64,
}

/// Goes through the trace, and finds the activation.
#[derive(Debug)]
pub struct Search {
    around: Around,
    intervals: Intervals,
    /// Length of the run.
    cycles: u64,
    way: Way,
}

/// How far the way through the trace has come.
#[derive(Debug)]
struct Way {
    goal: Goal,
    max_slices: u64,
    /// Slices so far, without those of control registers that are joined.
    slices: u64,
    /// The witness that is active, when it begins again if it stays so, and after how many cycles once more.
    next: Option<(ElementId, u64, u64)>,
    /// How many activations began so far.
    seen: u64,
    /// Where the one that is wanted began, and how many slices were before it.
    start: Option<(u64, u64)>,
    /// Where it ended.
    end: Option<u64>,
    /// From which cycle on there are more slices than fit.
    full: Option<u64>,
}

impl Way {
    /// Goes on to the cycle `now`, from which on other elements are active.
    fn go(&mut self, Transition { closes, opens, .. }: &Transition, now: u64) {
        self.catch_up(now);
        for id in closes {
            if self.goal.within.contains(id) {
                self.finish(now);
            }
            self.next.take_if(|(witness, _, _)| *witness == *id);
        }
        self.catch_up(now + 1);
        for &id in opens {
            let mut witnesses = self.goal.witnesses.iter();
            if let Some(&(_, latency)) = witnesses.find(|(witness, _)| *witness == id) {
                self.begin(now);
                self.next = latency.map(|latency| (id, now + latency, latency));
            }
        }
        self.slices += opens.len() as u64;
        if let (Some((start, before)), None) = (self.start, self.full)
            && self.slices - before > self.max_slices
        {
            self.full = Some(now.max(start + 1));
        }
    }

    /// The witness that is active begins again in the cycles before `now`.
    fn catch_up(&mut self, now: u64) {
        while let Some((id, next, latency)) = self.next
            && next < now
        {
            self.begin(next);
            self.next = Some((id, next + latency, latency));
        }
    }

    fn begin(&mut self, now: u64) {
        self.finish(now);
        if self.seen == self.goal.first {
            self.start = Some((now, self.slices));
        }
        self.seen += 1;
    }

    /// The one that is wanted ends in the cycle `now`, if it has begun, and not ended before.
    fn finish(&mut self, now: u64) {
        if self.start.is_some() && self.end.is_none() && self.full.is_none_or(|full| full >= now) {
            self.end = Some(now);
        }
    }
}

impl Search {
    pub(super) fn new(goal: Goal, around: Around, cycles: u64, max_slices: u64) -> Self {
        Self {
            around,
            intervals: Intervals::default(),
            cycles,
            way: Way {
                goal,
                max_slices,
                slices: 0,
                next: None,
                seen: 0,
                start: None,
                end: None,
                full: None,
            },
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        self.way.slices += u64::from(matches!(event, Event::Update(_)));
        if let Some((transition, now)) = self.intervals.event(event) {
            let transition = self.intervals.transition(transition);
            self.way.go(transition, now.cycles());
        }
    }

    /// The activation with what is near it, once the trace has ended.
    pub fn part(&self) -> Part {
        let start = self.way.start.map_or(0, |(start, _)| start);
        let end = self.way.end.unwrap_or(self.cycles);
        let Around { path, number } = &self.around;
        let all = self.way.goal.all;
        let mut about = format!(
            "activation {} of {} of {path}, cycles {}..{}",
            thousands(number.get()),
            thousands(all),
            thousands(start),
            thousands(end),
        );
        let shown = match self.way.full {
            Some(full) if full < end => {
                about.push_str(", from its beginning on as far as fits");
                full
            }
            _ => end.saturating_add(MARGIN).min(self.cycles),
        };
        let cycles = start.saturating_sub(MARGIN)..shown;
        let mut part = Part::new(cycles, about, self.cycles);
        if shown >= end {
            let next = number.checked_add(1).filter(|next| next.get() <= all);
            part.next = next.map(|next| format!("--around '{path}#{next}'"));
        }
        part
    }
}
