//! Runs and updates that come again: in a loop, what followed the latest ones before follows them again.
//!
//! Owns the guess, which writer and reader make alike, and the numbers of what was told before. What is told when is the business of
//! the two.

use petal_metadata::RegisterId;

use crate::model::{Cycle, Event, InstanceId, RegisterUpdate, Run, TreeId};

/// A run or an update but for its time, so that all iterations of a loop have the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Run {
        tree: TreeId,
        cycles: u64,
    },
    Update {
        /// Cycles since the end of the runs so far, modulo 2^64.
        after: u64,
        instance: InstanceId,
        register: RegisterId,
        old: u64,
        new: u64,
    },
}

impl Step {
    /// What an event is, where the runs so far end; `None` if it is neither run nor update.
    pub fn of(event: &Event, end: u64) -> Option<Self> {
        match event {
            Event::Run(run) => Some(Self::Run {
                tree: run.tree,
                cycles: run.cycles,
            }),
            Event::Update(update) => Some(Self::Update {
                after: update.cycle.cycles().wrapping_sub(end),
                instance: update.instance,
                register: update.register,
                old: update.old,
                new: update.new,
            }),
            _ => None,
        }
    }

    /// The event that it is, where the runs so far end.
    pub fn event(self, end: u64) -> Event {
        match self {
            Self::Run { tree, cycles } => Event::Run(Run {
                tree,
                start: Cycle::from_cycles(end),
                cycles,
            }),
            Self::Update {
                after,
                instance,
                register,
                old,
                new,
            } => Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(end.wrapping_add(after)),
                instance,
                register,
                old,
                new,
            }),
        }
    }
}

/// The number of a step that was told.
pub(super) type StepId = u32;

/// How many steps one record may tell to be as guessed: so a small file cannot be a trace without end.
pub(super) const MAX_GUESSED: u64 = 1 << 12;

/// How many steps one record may tell to come again, all times together, and how many of the latest steps may be told so.
pub(super) const MAX_AGAIN: u64 = 1 << 16;
const MAX_LATEST: usize = 1 << 14;

/// Steps that are numbered at most: then all is forgotten.
const MAX_STEPS: usize = 1 << 15;

/// Bits of the number that stands for the latest steps, and by how many each step moves those before it, so that it is
/// that of the latest three.
const HISTORY_BITS: u32 = 14;
const SHIFT: u32 = 5;

/// The steps so far, and a guess at the next one.
#[derive(Debug)]
pub(super) struct Repeats {
    steps: Vec<Step>,
    /// What followed the latest steps when they came last, by their number.
    followed: Box<[StepId]>,
    history: usize,
    /// The latest steps by when they came, modulo [`MAX_LATEST`], and how many came.
    latest: Box<[StepId]>,
    count: usize,
}

impl Repeats {
    pub fn new() -> Self {
        Self {
            steps: Vec::new(),
            followed: vec![0; 1 << HISTORY_BITS].into(),
            history: 0,
            latest: vec![0; MAX_LATEST].into(),
            count: 0,
        }
    }

    /// The guess, unless nothing is known.
    pub fn guess(&self) -> Option<(StepId, Step)> {
        let id = self.followed[self.history];
        Some((id, self.get(id)?))
    }

    /// A step that was told before.
    pub fn get(&self, id: StepId) -> Option<Step> {
        self.steps.get(id as usize).copied()
    }

    /// Numbers a step that is new, and takes it. All others are forgotten if `is_full` said so.
    pub fn add(&mut self, step: Step) -> StepId {
        if self.is_full() {
            self.steps.clear();
            self.followed.fill(0);
            self.history = 0;
            self.count = 0;
        }
        let id = StepId::try_from(self.steps.len()).expect("there are few");
        self.steps.push(step);
        self.take(id);
        id
    }

    /// The latest steps, so many of them, if they are remembered.
    pub fn latest(&self, steps: usize) -> Option<impl Iterator<Item = Step>> {
        let is_known = steps <= self.count.min(MAX_LATEST);
        let all = self.count - steps.min(self.count)..self.count;
        is_known.then(|| all.map(|at| self.steps[self.latest[at % MAX_LATEST] as usize]))
    }

    /// Whether the next new step makes all others forgotten.
    pub fn is_full(&self) -> bool {
        self.steps.len() == MAX_STEPS
    }

    /// Takes in that this step came.
    pub fn take(&mut self, id: StepId) {
        self.followed[self.history] = id;
        self.latest[self.count % MAX_LATEST] = id;
        self.count += 1;
        // Spread, so that numbers that follow one another do not fall together with those of other steps.
        let spread = (id.wrapping_mul(0x9E37_79B1) >> (32 - HISTORY_BITS)) as usize;
        self.history = ((self.history << SHIFT) ^ spread) & ((1 << HISTORY_BITS) - 1);
    }
}
