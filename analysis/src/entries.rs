//! How often each statement ran.
//!
//! A run that takes cycles is seen. One that takes none, such as that of an `if` whose condition is false, follows from
//! what is around it: control that goes through a `seq` goes through all its steps. What does not follow is not known.

use std::collections::BTreeMap;

use petal_metadata::{CompiledKind, Component, ControlId, ControlKind, Id};

use crate::activations::Durations;

/// What was seen of a statement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// The times in which it was active.
    pub active: Durations,
    /// How many of them had not ended in the last cycle.
    pub unfinished: u64,
    /// How often its condition was computed.
    pub tested: Option<u64>,
}

/// How often the statements of a component ran, by statement; `None` where that is not known.
pub fn entries(
    component: &Component,
    activations: u64,
    seen: &BTreeMap<ControlId, Seen>,
) -> Vec<Option<u64>> {
    let count = component.control.len();
    let entries = Entries::new(component, seen);
    let takes_cycles = entries.take_cycles();
    let mut known: Vec<Option<u64>> = (0..count)
        .map(|at| {
            let merged = component.control[at].merged;
            (takes_cycles[at] && !merged).then(|| entries.seen(at).active.count)
        })
        .collect();
    // What is in a statement comes after it.
    for at in (0..count).rev() {
        known[at] = known[at].or_else(|| entries.by_inside(at, &known));
    }
    if let Some(root) = known.first_mut() {
        root.get_or_insert(activations);
    }
    for at in 0..count {
        entries.pass_on(at, &mut known);
    }
    known
}

/// Which statements of a component take a cycle at least whenever they run.
pub fn take_cycles(component: &Component) -> Vec<bool> {
    Entries::new(component, &BTreeMap::new()).take_cycles()
}

struct Entries<'a> {
    component: &'a Component,
    children: Vec<Vec<usize>>,
    seen: &'a BTreeMap<ControlId, Seen>,
}

impl<'a> Entries<'a> {
    fn new(component: &'a Component, seen: &'a BTreeMap<ControlId, Seen>) -> Self {
        let mut children = vec![Vec::new(); component.control.len()];
        for (at, node) in component.control.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent.index()].push(at);
            }
        }
        Self {
            component,
            children,
            seen,
        }
    }

    fn seen(&self, at: usize) -> Seen {
        let seen = self.seen.get(&ControlId::from_index(at));
        seen.copied().unwrap_or_default()
    }

    fn kind(&self, at: usize) -> ControlKind {
        self.component.control[at].kind.dynamic()
    }

    /// Which statements take a cycle at least whenever they run.
    fn take_cycles(&self) -> Vec<bool> {
        let component = self.component;
        let mut takes = vec![false; component.control.len()];
        // What the compiler has removed has no groups, and an invoke of what does nothing takes no cycle.
        let runs = component.runs.iter().filter(|run| run.latency != Some(0));
        for node in runs.filter_map(|run| run.control) {
            takes[node.index()] = true;
        }
        for group in &component.compiled {
            if let (Some(node), CompiledKind::Fsm { .. } | CompiledKind::Par { .. }) =
                (group.node, &group.kind)
            {
                takes[node.index()] = true;
            }
        }
        for at in (0..takes.len()).rev() {
            let node = &component.control[at];
            let mut inside = self.children[at].iter().map(|&child| takes[child]);
            takes[at] |= match self.kind(at) {
                _ if node.latency.is_some_and(|latency| latency > 0) => true,
                ControlKind::Seq | ControlKind::Par => inside.any(|takes| takes),
                ControlKind::If => inside.len() == 2 && inside.all(|takes| takes),
                ControlKind::Repeat => node.repeats != Some(0) && inside.all(|takes| takes),
                _ => false,
            };
        }
        takes
    }

    /// How often a statement ran, by what is in it.
    fn by_inside(&self, at: usize, known: &[Option<u64>]) -> Option<u64> {
        let children = &self.children[at];
        match self.kind(at) {
            // What comes later may not have begun in the last run.
            ControlKind::Seq => {
                let first = children.iter().find(|&&child| known[child].is_some())?;
                let count = known[*first]?;
                let last = children.iter().rev().find_map(|&child| known[child]);
                (children.first() == Some(first) || last == Some(count)).then_some(count)
            }
            ControlKind::Par => children.iter().find_map(|&child| known[child]),
            ControlKind::If => match children[..] {
                [then, other] => Some(known[then]? + known[other]?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Tells the statements in a statement how often they ran, by how often it did.
    fn pass_on(&self, at: usize, known: &mut [Option<u64>]) {
        let Some(times) = known[at] else {
            return;
        };
        let children = &self.children[at];
        let is_running = self.seen(at).unfinished > 0;
        match self.kind(at) {
            ControlKind::Seq => {
                // As often as the step before it ended.
                let mut before = Some(times);
                for &child in children {
                    known[child] = known[child].or(before);
                    before =
                        known[child].map(|times| times - self.seen(child).unfinished.min(times));
                }
            }
            ControlKind::Par => {
                for &child in children {
                    known[child] = known[child].or(Some(times));
                }
            }
            ControlKind::If => {
                if let [then, other] = children[..] {
                    let rest = |one: Option<u64>| times.checked_sub(one?);
                    known[then] = known[then].or_else(|| rest(known[other]));
                    known[other] = known[other].or_else(|| rest(known[then]));
                }
            }
            kind if kind.is_loop() && !is_running => {
                let repeats = self.component.control[at].repeats;
                let tested = self.seen(at).tested;
                let iterations = match repeats {
                    Some(repeats) => times.checked_mul(repeats),
                    None => tested.and_then(|tested| tested.checked_sub(times)),
                };
                for &child in children {
                    known[child] = known[child].or(iterations);
                }
            }
            _ => {}
        }
    }
}
