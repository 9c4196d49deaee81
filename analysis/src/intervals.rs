//! From trees per cycle to intervals per element: when each was active without a break.

use foldhash::HashMap;
use petal_reconstruct::{Cycle, Event, Run, TreeId};

use crate::elements::{ElementId, Elements, without};

/// A change from one tree to another.
#[derive(Debug)]
pub struct Transition {
    /// What is active no more. What holds others comes first.
    pub closes: Vec<ElementId>,
    /// What becomes active.
    pub opens: Vec<ElementId>,
    /// The transition that came after this one last, and the tree that it leads to.
    then: Option<(Option<TreeId>, TransitionId)>,
}

/// A number for each transition that is remembered.
pub type TransitionId = usize;

/// How many changes from one tree to another are remembered.
const MAX_TRANSITIONS: usize = 1 << 16;

/// Follows a trace and finds its intervals.
#[derive(Debug, Default)]
pub struct Intervals {
    elements: Elements,
    /// First cycle of what is active, by element.
    since: Vec<Cycle>,
    current: Option<TreeId>,
    /// The transition that led there, if it is remembered.
    latest: Option<TransitionId>,
    /// The latest transitions, and their numbers by the trees.
    transitions: Vec<Transition>,
    numbers: HashMap<(Option<TreeId>, Option<TreeId>), TransitionId>,
}

impl Intervals {
    /// All elements so far.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// A transition that `event` gave last.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id]
    }

    /// The first cycle of what is active, or closes in the latest transition.
    pub fn since(&self, id: ElementId) -> Cycle {
        self.since[id]
    }

    /// Takes in the next event. If it is a transition, returns which one, and its cycle.
    pub fn event(&mut self, event: &Event) -> Option<(TransitionId, Cycle)> {
        self.elements.event(event);
        self.since
            .resize(self.elements.all().len(), Cycle::from_cycles(0));
        let (next, at) = match event {
            Event::Run(Run { tree, start, .. }) => (Some(*tree), *start),
            Event::Gap(gap) => (None, gap.start),
            Event::End { cycles } => (None, Cycle::from_cycles(*cycles)),
            _ => return None,
        };
        // A run does the same again and again.
        let then = self.latest.and_then(|latest| self.transitions[latest].then);
        let number = match then {
            Some((tree, number)) if tree == next => number,
            _ => self.number(next),
        };
        if let Some(latest) = self.latest.replace(number) {
            self.transitions[latest].then = Some((next, number));
        }
        for &id in &self.transitions[number].opens {
            self.since[id] = at;
        }
        self.current = next;
        Some((number, at))
    }

    /// What is active since this cycle, or a later one, is since so many cycles later.
    pub fn later(&mut self, since: u64, cycles: u64) {
        for at in &mut self.since {
            if at.cycles() >= since {
                *at = Cycle::from_cycles(at.cycles() + cycles);
            }
        }
    }

    /// The number of the transition to the tree `next`.
    fn number(&mut self, next: Option<TreeId>) -> TransitionId {
        let pair = (self.current, next);
        if let Some(&number) = self.numbers.get(&pair) {
            return number;
        }
        if self.transitions.len() == MAX_TRANSITIONS {
            self.transitions.clear();
            self.numbers.clear();
            self.latest = None;
        }
        let (before, after) = (self.elements.of(self.current), self.elements.of(next));
        self.transitions.push(Transition {
            closes: without(before, after),
            opens: without(after, before),
            then: None,
        });
        let number = self.transitions.len() - 1;
        self.numbers.insert(pair, number);
        number
    }
}
