//! From the slices that are open to those that are open next: transitions that a run has again and again.

use foldhash::{HashMap, HashMapExt as _};
use indexmap::IndexSet;
use petal_reconstruct::TreeId;

use super::format::{Pattern, PatternId};
use super::lines::LineId;
use petal_analysis::elements::ElementId;

/// How many slices all states and transitions that are remembered may have together.
const MAX_SLICES: usize = 1 << 20;

/// An element on one of the tracks on which it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct OnTrack {
    pub element: ElementId,
    /// The number of the track among those of its subject.
    pub number: usize,
}

/// A tree, and the slices that are open while it is active.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct OpenSlices {
    pub tree: Option<TreeId>,
    /// Ascending: what holds others comes first.
    pub open: Vec<OnTrack>,
}

/// How one state becomes another.
#[derive(Debug)]
pub(super) struct Transition {
    /// What holds others comes last.
    pub ends: Vec<OnTrack>,
    /// What holds others comes first, but cells come last, after what calls them.
    pub begins: Vec<OnTrack>,
    /// Those that end with a number or with flows.
    pub closes: Vec<ElementId>,
    /// The front end's lines that become active.
    pub lines: Vec<LineId>,
    to: usize,
    /// The transition that came after this one last.
    then: Option<(Option<TreeId>, PatternId)>,
    /// What changes on the timeline, if it was asked for.
    pub pattern: Option<Pattern>,
    /// Whether it need not be counted each time that it is passed over.
    pub counts_late: bool,
    /// How often it was passed over since that was counted, and in which cycle the last time.
    passed: u64,
    last: u64,
}

/// The transitions so far.
#[derive(Debug)]
pub(super) struct Transitions {
    states: IndexSet<OpenSlices, foldhash::fast::RandomState>,
    now: usize,
    /// The transition that led to `now`, if it is remembered.
    latest: Option<PatternId>,
    list: Vec<Transition>,
    ids: HashMap<(usize, Option<TreeId>), PatternId>,
    /// Slices of all of them.
    slices: usize,
    /// Those that were passed over.
    passed: Vec<PatternId>,
}

impl Transitions {
    /// Nothing is open.
    pub fn new() -> Self {
        Self {
            states: IndexSet::from_iter([OpenSlices::default()]),
            now: 0,
            latest: None,
            list: Vec::new(),
            ids: HashMap::new(),
            slices: 0,
            passed: Vec::new(),
        }
    }

    /// What is open now.
    pub fn now(&self) -> &OpenSlices {
        &self.states[self.now]
    }

    /// The transition `id`.
    pub fn get(&mut self, id: PatternId) -> &mut Transition {
        &mut self.list[id]
    }

    /// Goes on to `tree`, if that transition is remembered: its number.
    pub fn repeat(&mut self, tree: Option<TreeId>) -> Option<PatternId> {
        // A run does the same again and again.
        let then = self.latest.and_then(|latest| self.list[latest].then);
        let id = match then {
            Some((to, id)) if to == tree => id,
            _ => *self.ids.get(&(self.now, tree))?,
        };
        self.go(tree, id);
        Some(id)
    }

    /// Goes on to `tree` by a transition.
    fn go(&mut self, tree: Option<TreeId>, id: PatternId) {
        if let Some(latest) = self.latest.replace(id) {
            self.list[latest].then = Some((tree, id));
        }
        self.now = self.list[id].to;
    }

    /// What is open now, as a number, and how many transitions are remembered: where both are as before, the transitions since then lead from
    /// here to here.
    pub fn state(&self) -> (usize, usize) {
        (self.now, self.list.len())
    }

    /// Passes so often over a transition that [counts late](Transition::counts_late), in the cycle `last` the last time. Returns how many
    /// slices begin each time.
    pub fn pass(&mut self, id: PatternId, times: u64, last: u64) -> usize {
        let transition = &mut self.list[id];
        if transition.passed == 0 {
            self.passed.push(id);
        }
        transition.passed += times;
        transition.last = last;
        transition.begins.len() + transition.lines.len()
    }

    /// Hands those to `take` that were passed over: which, how often, and in which cycle the last time.
    pub fn catch_up(&mut self, mut take: impl FnMut(&Transition, u64, u64)) {
        for id in self.passed.drain(..) {
            let transition = &mut self.list[id];
            let times = std::mem::take(&mut transition.passed);
            take(transition, times, transition.last);
        }
    }

    /// Whether so many are remembered that it is time to [forget](Self::forget) them.
    pub fn is_full(&self) -> bool {
        self.slices >= MAX_SLICES
    }

    /// Forgets all transitions, but not what is open now.
    pub fn forget(&mut self) {
        let now = self.now().clone();
        self.states.clear();
        self.list.clear();
        self.ids.clear();
        self.latest = None;
        self.slices = 0;
        (self.now, _) = self.states.insert_full(now);
    }

    /// Goes on to `tree` by a new transition, in which `kept` stays open: its number.
    pub fn take(
        &mut self,
        tree: Option<TreeId>,
        ends: Vec<OnTrack>,
        begins: Vec<OnTrack>,
        closes: Vec<ElementId>,
        kept: Vec<OnTrack>,
        lines: Vec<LineId>,
    ) -> PatternId {
        let mut open = kept;
        open.extend(&begins);
        open.sort_unstable();
        self.slices += ends.len() + begins.len() + open.len() + lines.len() + 1;
        let (to, _) = self.states.insert_full(OpenSlices { tree, open });
        let id = self.list.len();
        self.list.push(Transition {
            ends,
            begins,
            closes,
            lines,
            to,
            then: None,
            pattern: None,
            counts_late: false,
            passed: 0,
            last: 0,
        });
        self.ids.insert((self.now, tree), id);
        self.go(tree, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use petal_metadata::Id;

    use super::*;

    #[test]
    fn what_is_open_is_not_forgotten() {
        let mut transitions = Transitions::new();
        let on_track = |element, number| OnTrack { element, number };
        let always = on_track(0, 3);
        transitions.take(None, vec![], vec![always], vec![], vec![], vec![]);
        let mut last = Vec::new();
        let mut forgotten = 0;
        for element in 1..=MAX_SLICES {
            let tree = Some(TreeId::from_index(element));
            assert_eq!(transitions.repeat(tree), None);
            if transitions.is_full() {
                transitions.forget();
                forgotten += 1;
            }
            let next = vec![on_track(element, 0)];
            transitions.take(tree, last, next.clone(), vec![], vec![always], vec![]);
            assert_eq!(transitions.now().open, [always, next[0]]);
            last = next;
        }
        assert!(forgotten > 2);
        assert!(transitions.list.len() < MAX_SLICES / 4);
        assert!(transitions.states.len() < MAX_SLICES / 4);
        // The last transitions are still remembered.
        let before = on_track(MAX_SLICES - 1, 0);
        let tree = Some(TreeId::from_index(MAX_SLICES - 1));
        transitions.take(tree, last, vec![before], vec![], vec![always], vec![]);
        let last = Some(TreeId::from_index(MAX_SLICES));
        assert!(transitions.repeat(last).is_some());
        assert_eq!(transitions.now().open, [always, on_track(MAX_SLICES, 0)]);
    }
}
