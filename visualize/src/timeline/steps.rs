//! From what is open to what is open next: steps that a run takes again and again.

use foldhash::{HashMap, HashMapExt as _};
use indexmap::IndexSet;
use petal_reconstruct::TreeId;

use super::Moment;
use crate::keys::KeyId;

/// How many steps are remembered.
const MAX_STEPS: usize = 1 << 16;

/// A key on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Placed {
    pub key: KeyId,
    /// The number of the row among those of its track.
    pub number: usize,
}

/// A tree, and on which rows its keys are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct State {
    pub tree: Option<TreeId>,
    /// Ascending: what holds others comes first.
    pub open: Vec<Placed>,
}

/// How one state becomes another.
#[derive(Debug)]
pub(super) struct Step<M> {
    /// What holds others comes last.
    pub ends: Vec<Placed>,
    /// What holds others comes first, but cells come last, after what calls them.
    pub begins: Vec<Placed>,
    /// Those that end with a number or with arrows.
    pub closes: Vec<KeyId>,
    to: usize,
    /// How it is drawn, if it was.
    pub moment: Option<Moment>,
    pub memo: M,
}

/// The steps so far.
#[derive(Debug)]
pub(super) struct Steps<M> {
    states: IndexSet<State, foldhash::fast::RandomState>,
    now: usize,
    list: Vec<Step<M>>,
    numbers: HashMap<(usize, Option<TreeId>), usize>,
}

impl<M: Default> Steps<M> {
    /// Nothing is open.
    pub fn new() -> Self {
        Self {
            states: IndexSet::from_iter([State::default()]),
            now: 0,
            list: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// What is open now.
    pub fn now(&self) -> &State {
        &self.states[self.now]
    }

    /// A step.
    pub fn step(&mut self, number: usize) -> &mut Step<M> {
        &mut self.list[number]
    }

    /// Goes on to `tree`, if that step is known: its number.
    pub fn repeat(&mut self, tree: Option<TreeId>) -> Option<usize> {
        let number = *self.numbers.get(&(self.now, tree))?;
        self.now = self.list[number].to;
        Some(number)
    }

    /// Goes on to `tree` by a new step, in which `kept` stays open: its number.
    pub fn take(
        &mut self,
        tree: Option<TreeId>,
        ends: Vec<Placed>,
        begins: Vec<Placed>,
        closes: Vec<KeyId>,
        kept: Vec<Placed>,
    ) -> usize {
        if self.list.len() == MAX_STEPS {
            let now = self.now().clone();
            self.states.clear();
            self.list.clear();
            self.numbers.clear();
            (self.now, _) = self.states.insert_full(now);
        }
        let mut open = kept;
        open.extend(&begins);
        open.sort_unstable();
        let (to, _) = self.states.insert_full(State { tree, open });
        let number = self.list.len();
        self.list.push(Step {
            ends,
            begins,
            closes,
            to,
            moment: None,
            memo: M::default(),
        });
        self.numbers.insert((self.now, tree), number);
        self.now = to;
        number
    }
}
