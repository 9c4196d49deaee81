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
use crate::batch::ListNumber;
use crate::model::{Cycle, Event, RegisterUpdate, Run};
use crate::source::{Change, ProbeSource};

/// How many of the latest steps are remembered: rounds are shorter.
const LATEST: usize = 1 << 12;

/// How many steps are alike before a run goes round: else each short wait in a loop would hide the loop.
const LEAST: u64 = 32;

/// After so many steps of which few went round, none is looked at in so many cycles.
const TRIAL: u64 = 1 << 14;
const REST: u64 = 8 * TRIAL;

/// Changes that have no number.
const NO_LIST: ListNumber = ListNumber::MAX;

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
    /// The lists of changes that led to them last, where they have numbers.
    lists: Vec<ListNumber>,
    /// The next one.
    at: usize,
    /// Those that were taken, and whole rounds that are not told yet.
    taken: u64,
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

    /// Takes so many steps of this round.
    fn go_on(&mut self, steps: usize) {
        self.taken += steps as u64;
        self.at += steps;
        if self.at == self.steps.len() {
            self.at = 0;
            self.times += 1;
        }
    }

    fn is_due(&self) -> bool {
        self.at == 0 && self.times >= TIMES && self.times * self.cycles() >= CYCLES
    }

    /// The step that was taken so many steps ago: the latest one was 1 ago.
    fn step_before(&self, ago: u64) -> StepNumber {
        let steps = self.cycles();
        let at = (self.at as u64 + steps - ago % steps) % steps;
        self.steps[usize::try_from(at).expect("it is one of them")]
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
            let steps: Vec<_> = steps.map(|at| self.latest[place(at)]).collect();
            self.round = Some(Round {
                lists: vec![NO_LIST; steps.len()],
                steps,
                at: 0,
                taken: 0,
                times: 0,
                events,
                began: end - self.period,
            });
        }
    }

    /// Whether the run goes round.
    pub fn are_on(&self) -> bool {
        self.round.is_some()
    }

    /// The step that comes next where the run goes round.
    pub fn expected(&self) -> Option<StepNumber> {
        self.round.as_ref().map(|round| round.steps[round.at])
    }

    /// Takes the step that was expected. `list`: that of its changes.
    fn go_round(&mut self, list: Option<ListNumber>) {
        if let Some(round) = &mut self.round {
            round.lists[round.at] = list.unwrap_or(NO_LIST);
            round.go_on(1);
        }
    }

    /// Whether so much of the round was not told that it is time to.
    pub fn is_due(&self) -> bool {
        self.round.as_ref().is_some_and(Round::is_due)
    }

    /// Takes the next steps whose changes are the lists of the last time. Returns whether it is time to tell the rounds.
    pub fn pass(&mut self, source: &mut impl ProbeSource) -> bool {
        let Some(round) = &mut self.round else {
            return false;
        };
        loop {
            let passed = source.pass(&round.lists[round.at..]);
            if passed == 0 {
                return false;
            }
            round.go_on(passed);
            if round.is_due() {
                return true;
            }
        }
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
        self.went += round.taken;
        let latest = round.taken.min(LATEST as u64);
        self.next += round.taken - latest;
        for ago in (1..=latest).rev() {
            self.step(round.step_before(ago));
        }
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
        if !may || self.emitter.cycle < self.rounds.rests {
            self.rounds.forget();
            self.cycle();
            return;
        }
        let step = self.step.map(|step| self.memo.number(step));
        let told = self.emitter.events.len();
        self.cycle();
        match step {
            Some(step) => {
                let told = &self.emitter.events[told..];
                self.rounds.take(step, told, self.emitter.cycle);
            }
            None => self.rounds.forget(),
        }
    }

    /// Whether these changes are the next ones of the steps that the run goes round in, which is all that is done about them.
    pub(super) fn goes_round(&mut self, source: &impl ProbeSource) -> bool {
        let Some(expected) = self.rounds.expected() else {
            return false;
        };
        let (_, known) = self.memo.step(expected);
        let goes_round = *known == *source.changes();
        if goes_round {
            self.rounds.go_round(source.list());
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
