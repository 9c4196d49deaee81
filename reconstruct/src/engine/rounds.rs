//! Steps that a run goes round in: what they lead to is told once, with how often it comes.
//!
//! When the steps of the latest cycles are those of as many cycles before them, and of one cycle more, then what was told in these cycles is
//! told again as long as the same steps follow: the latest run began, and each instance was named last, within them. Owns
//! which steps were taken when, and what was told in them; and what an [`Engine`] does while it goes round.

use std::sync::Arc;

use petal_metadata::Id as _;

use super::Engine;
use super::memo::StepNumber;
use crate::again::{Again, Item};
use crate::model::{Cycle, Event, RegisterUpdate, Run};
use crate::source::Change;

/// How many of the latest steps are remembered: rounds are shorter.
const LATEST: usize = 1 << 12;

/// How many steps are alike before a run goes round: else each short wait in a loop would hide the loop.
const LEAST: u64 = 32;

/// After so many steps of which few went round, none is looked at in so many cycles.
const TRIAL: u64 = 1 << 14;
const REST: u64 = 8 * TRIAL;

/// Rounds that are told at once, if they have so many cycles: readers hear how far a run is.
const TIMES: u64 = 64;
const CYCLES: u64 = 8192;

/// The latest steps, and whether the run goes round in them.
#[derive(Debug)]
pub(super) struct Rounds {
    /// The steps by when they were taken, modulo [`LATEST`], and when each was taken last.
    latest: Box<[StepNumber]>,
    seen: Vec<u64>,
    /// When the next step is taken, and the first one was of those that have their numbers.
    next: u64,
    first: u64,
    /// So many of the latest steps are those that were taken so many steps before.
    alike: u64,
    period: u64,
    /// So many more of them make it a whole number of rounds, and one step more.
    left: u64,
    /// What was told in the latest round, if the run may go round after it.
    events: Vec<Told>,
    round: Option<Round>,
    /// The steps that were looked at in this trial, and those that went round; and the cycle before which none is looked at.
    looked: u64,
    went: u64,
    rests: u64,
}

/// What steps that were taken before tell.
#[derive(Debug, Clone, Copy)]
enum Told {
    Run(Run),
    Update(RegisterUpdate),
}

impl Told {
    fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Run(run) => Some(Self::Run(*run)),
            Event::Update(update) => Some(Self::Update(*update)),
            _ => None,
        }
    }

    fn event(self) -> Event {
        match self {
            Self::Run(run) => Event::Run(run),
            Self::Update(update) => Event::Update(update),
        }
    }
}

/// The steps that a run goes round in.
#[derive(Debug)]
pub(super) struct Round {
    steps: Vec<StepNumber>,
    /// The next one.
    at: usize,
    /// Whole rounds that are not told yet.
    times: u64,
    /// What is told in each, and the cycle in which the first one of these rounds began.
    events: Arc<[Event]>,
    began: u64,
}

impl Round {
    /// Those of the steps that were taken of a round that is not over.
    pub fn begun(&self) -> &[StepNumber] {
        &self.steps[..self.at]
    }

    /// What is told in a round, and in which cycle it began when it was recorded.
    pub fn events(&self) -> (&Arc<[Event]>, u64) {
        (&self.events, self.began)
    }

    /// Cycles of a round.
    pub fn cycles(&self) -> u64 {
        self.steps.len() as u64
    }

    /// The whole rounds that were not told yet; they are now.
    pub fn take_times(&mut self) -> u64 {
        std::mem::take(&mut self.times)
    }
}

/// Where a step is among the latest ones.
fn place(at: u64) -> usize {
    usize::try_from(at % LATEST as u64).expect("it is small")
}

impl Rounds {
    pub fn new() -> Self {
        Self {
            latest: vec![0; LATEST].into(),
            seen: Vec::new(),
            next: 1,
            first: 1,
            alike: 0,
            period: 0,
            left: 0,
            events: Vec::new(),
            round: None,
            looked: 0,
            went: 0,
            rests: 0,
        }
    }

    /// Takes in a step that was taken before, and what was told in it; `end` is the cycle after it. From then on the run may go round.
    #[inline]
    pub fn take(&mut self, step: StepNumber, told: &[Event], end: u64) {
        self.looked += 1;
        if self.looked == TRIAL {
            if self.went < TRIAL / 8 {
                self.rests = end + REST;
            }
            (self.looked, self.went) = (0, 0);
        }
        if self.period == 0 || self.latest[place(self.next - self.period)] != step {
            let seen = self.seen.get(step as usize).copied().unwrap_or(0);
            let ago = self.next - seen;
            let is_known = seen >= self.first && ago < LATEST as u64;
            self.period = if is_known { ago } else { 0 };
            self.alike = 1;
            self.left = self.period;
            self.events.clear();
            self.step(step);
            return;
        }
        self.step(step);
        self.alike += 1;
        self.left -= 1;
        let is_latest = self.alike + self.left > LEAST;
        if is_latest {
            self.events.extend(told.iter().filter_map(Told::of));
        }
        if self.left == 0 {
            self.left = self.period;
            if is_latest {
                self.begin(end);
            }
        }
    }

    fn step(&mut self, step: StepNumber) {
        let number = step as usize;
        if self.seen.len() <= number {
            self.seen.resize(number + 1, 0);
        }
        self.seen[number] = self.next;
        self.latest[place(self.next)] = step;
        self.next += 1;
    }

    /// Begins to go round in the latest steps.
    fn begin(&mut self, end: u64) {
        let events: Arc<[Event]> = self.events.drain(..).map(Told::event).collect();
        let has_runs = events.iter().any(|event| matches!(event, Event::Run(_)));
        // Updates without runs are seldom, and would have no cycles.
        if has_runs || events.is_empty() {
            let steps = self.next - self.period..self.next;
            self.round = Some(Round {
                steps: steps.map(|at| self.latest[place(at)]).collect(),
                at: 0,
                times: 0,
                events,
                began: end - self.period,
            });
        }
    }

    /// The step that comes next where the run goes round.
    pub fn expected(&self) -> Option<StepNumber> {
        self.round.as_ref().map(|round| round.steps[round.at])
    }

    /// Takes the step that was expected.
    pub fn go_round(&mut self) {
        if let Some(round) = &mut self.round {
            let step = round.steps[round.at];
            self.went += 1;
            round.at += 1;
            if round.at == round.steps.len() {
                round.at = 0;
                round.times += 1;
            }
            self.step(step);
        }
    }

    /// Whether so much of the round was not told that it is time to.
    pub fn is_due(&self) -> bool {
        self.round.as_ref().is_some_and(|round| {
            round.at == 0 && round.times >= TIMES && round.times * round.cycles() >= CYCLES
        })
    }

    /// Takes the round out, until it is [put back](Self::put_back).
    pub fn take_out(&mut self) -> Option<Round> {
        self.round.take()
    }

    pub fn put_back(&mut self, round: Round) {
        self.round = Some(round);
    }

    /// Another step than the expected one came.
    pub fn leave(&mut self) -> Option<Round> {
        let round = self.round.take()?;
        self.period = 0;
        Some(round)
    }

    /// A step came that was never taken before, or all steps have other numbers from now on.
    pub fn forget(&mut self) {
        self.first = self.next;
        self.period = 0;
    }
}

impl Engine<'_> {
    /// Tells what happens in a cycle; from then on the run may go round, if it `may`.
    pub(super) fn go_on(&mut self, may: bool) {
        let step = self.step.map(|step| self.memo.number(step));
        let told = self.emitter.events.len();
        self.cycle();
        match step {
            Some(step) if may && self.emitter.cycle > self.rounds.rests => {
                let told = &self.emitter.events[told..];
                self.rounds.take(step, told, self.emitter.cycle);
            }
            _ => self.rounds.forget(),
        }
    }

    /// Whether these changes are the next ones of the steps that the run goes round in, which is all that is done about them.
    pub(super) fn goes_round(&mut self, changes: &[Change]) -> bool {
        let Some(expected) = self.rounds.expected() else {
            return false;
        };
        let (_, known) = self.memo.step(expected);
        let goes_round = *known == *changes;
        if goes_round {
            self.rounds.go_round();
        }
        goes_round
    }

    /// Tells what the whole rounds are that were not told yet, if anything is told in them.
    pub(super) fn tell(&mut self) -> Option<Item> {
        let mut round = self.rounds.take_out()?;
        let told = self.tell_of(&mut round);
        self.rounds.put_back(round);
        told
    }

    fn tell_of(&mut self, round: &mut Round) -> Option<Item> {
        let times = round.take_times();
        let cycles = times * round.cycles();
        let began = self.emitter.cycle;
        self.emitter.cycle += cycles;
        let (events, recorded) = round.events();
        let run = self.current.as_mut()?;
        if events.is_empty() {
            run.cycles += cycles;
            return None;
        }
        run.start = Cycle::from_cycles(run.start.cycles() + cycles);
        let again = Again::new(Arc::clone(events), began - recorded, round.cycles(), times);
        Some(Item::Again(Box::new(again))).filter(|_| times > 0)
    }

    /// Goes round no more: tells the whole rounds, and follows the steps of the last one.
    pub(super) fn leave_round(&mut self) -> Option<Item> {
        let mut round = self.rounds.leave()?;
        let told = self.tell_of(&mut round);
        for &number in round.begun() {
            let (step, changes) = self.memo.step(number);
            for &Change { slot, value } in changes {
                self.next[slot.index()] = value;
            }
            self.step = Some(step);
            self.cycle();
        }
        told
    }
}
