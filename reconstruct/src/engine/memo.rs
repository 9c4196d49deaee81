//! What followed from the state of a run and what changed in it: whatever comes again costs one look at the changes.
//!
//! Owns what is remembered, and the numbers of states. Knows nothing of trees, nor what a state means.

use std::rc::Rc;

use foldhash::HashMap;

use super::registers::Updated;
use super::statics::Pending;
use super::tree::Owners;
use crate::model::TreeId;
use crate::source::Change;

/// How many steps are remembered from each state: control goes on from it in few ways.
const MAX_STEPS: usize = 8;

/// How many states and steps are remembered at most. Those of a counter that never has the same value again are of no use.
const MAX_REMEMBERED: usize = 1 << 13;

/// All that decides what follows from changes, at the beginning of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CycleState {
    /// The number of the sample of the cycle.
    pub sample: u32,
    /// Static components that continue in the cycle.
    pub pending: Vec<Pending>,
    /// The static programs that ran in the cycle before, and the position of each.
    pub running: Vec<(usize, u64)>,
}

/// A number for each state.
pub(super) type StateId = usize;

/// A number for each step.
pub(super) type StepNumber = u32;

/// What happens in a cycle. A copy is cheap.
#[derive(Debug, Clone)]
pub(super) struct Happening {
    pub tree: TreeId,
    pub owners: Rc<Owners>,
    /// The registers that are updated at its end.
    pub updates: Rc<[Updated]>,
}

/// What followed in a cycle.
#[derive(Debug)]
struct Step {
    number: StepNumber,
    /// What led to the cycle after it.
    changes: Box<[Change]>,
    happening: Happening,
    to: StateId,
}

/// The states so far, and the steps from each.
#[derive(Debug, Default)]
pub(super) struct Memo {
    ids: HashMap<CycleState, StateId>,
    states: Vec<(CycleState, Vec<Step>)>,
    /// The state at the beginning of the cycle, unless it is new.
    now: Option<StateId>,
    /// Where each step is: its state, and its place among the steps from there.
    steps: Vec<(StateId, usize)>,
    /// How often a step was taken again, and whether that was too seldom to go on.
    repeated: usize,
    is_off: bool,
}

impl Memo {
    /// Whether so much is remembered that it is time to [forget](Self::forget) it.
    pub fn is_full(&self) -> bool {
        self.steps.len().max(self.states.len()) >= MAX_REMEMBERED
    }

    /// Whether steps are remembered.
    pub fn is_on(&self) -> bool {
        !self.is_off
    }

    /// The state at the beginning of the cycle, if it is remembered.
    pub fn state(&self) -> Option<&CycleState> {
        self.now.map(|now| &self.states[now].0)
    }

    /// The step that was taken from here when there were these changes.
    pub fn find(&self, changes: &[Change]) -> Option<usize> {
        let (_, steps) = &self.states[self.now?];
        steps.iter().position(|step| *step.changes == *changes)
    }

    /// The number of a step that was [found](Self::find).
    pub fn number(&self, step: usize) -> StepNumber {
        let (_, steps) = &self.states[self.now.expect("it was found there")];
        steps[step].number
    }

    /// The place of a step among those from its state, and what led to the cycle after it.
    pub fn step(&self, number: StepNumber) -> (usize, &[Change]) {
        let (state, step) = self.steps[number as usize];
        (step, &self.states[state].1[step].changes)
    }

    /// Takes a step that was [found](Self::find).
    pub fn take(&mut self, step: usize) -> Happening {
        let (_, steps) = &self.states[self.now.expect("it was found there")];
        self.now = Some(steps[step].to);
        self.repeated += 1;
        steps[step].happening.clone()
    }

    /// Remembers a step from here: where these were the changes, this followed, and this state.
    pub fn remember(&mut self, changes: &[Change], happening: Happening, to: CycleState) {
        let to = match self.ids.get(&to) {
            Some(&id) => id,
            None => {
                let id = self.states.len();
                self.ids.insert(to.clone(), id);
                self.states.push((to, Vec::new()));
                id
            }
        };
        let Some(now) = self.now.replace(to) else {
            return;
        };
        let (_, steps) = &mut self.states[now];
        if steps.len() < MAX_STEPS {
            let number = StepNumber::try_from(self.steps.len()).expect("there are few");
            self.steps.push((now, steps.len()));
            steps.push(Step {
                number,
                changes: changes.into(),
                happening,
                to,
            });
        }
    }

    /// Forgets everything, for good if few steps were taken again.
    pub fn forget(&mut self) {
        *self = Self {
            is_off: self.is_off || self.repeated < self.steps.len(),
            ..Self::default()
        };
    }
}
