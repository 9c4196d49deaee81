//! From what is open to what is open next: steps that a run takes again and again.

use foldhash::{HashMap, HashMapExt as _};
use indexmap::IndexSet;
use petal_reconstruct::TreeId;

use super::Moment;
use crate::keys::KeyId;

/// How many places the states and steps that are remembered may have.
const MAX_PLACES: usize = 1 << 20;

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
    /// Places of all of them.
    places: usize,
}

impl<M: Default> Steps<M> {
    /// Nothing is open.
    pub fn new() -> Self {
        Self {
            states: IndexSet::from_iter([State::default()]),
            now: 0,
            list: Vec::new(),
            numbers: HashMap::new(),
            places: 0,
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
        if self.places >= MAX_PLACES {
            let now = self.now().clone();
            self.states.clear();
            self.list.clear();
            self.numbers.clear();
            self.places = 0;
            (self.now, _) = self.states.insert_full(now);
        }
        let mut open = kept;
        open.extend(&begins);
        open.sort_unstable();
        self.places += ends.len() + begins.len() + open.len() + 1;
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

#[cfg(test)]
mod tests {
    use petal_metadata::Id;

    use super::*;

    #[test]
    fn what_is_open_is_not_forgotten() {
        let mut steps: Steps<()> = Steps::new();
        let always = Placed { key: 0, number: 3 };
        let place = |key| Placed { key, number: 0 };
        steps.take(None, Vec::new(), vec![always], Vec::new(), Vec::new());
        let mut last = Vec::new();
        for key in 1..=MAX_PLACES {
            let tree = Some(TreeId::from_index(key));
            assert_eq!(steps.repeat(tree), None);
            steps.take(tree, last, vec![place(key)], Vec::new(), vec![always]);
            assert_eq!(steps.now().open, [always, place(key)]);
            last = vec![place(key)];
        }
        assert!(steps.list.len() < MAX_PLACES / 4 && steps.states.len() < MAX_PLACES / 4);
        // The last steps are still known.
        let before = Some(TreeId::from_index(MAX_PLACES - 1));
        steps.take(
            before,
            last,
            vec![place(MAX_PLACES - 1)],
            Vec::new(),
            vec![always],
        );
        assert!(steps.repeat(Some(TreeId::from_index(MAX_PLACES))).is_some());
        assert_eq!(steps.now().open, [always, place(MAX_PLACES)]);
    }
}
