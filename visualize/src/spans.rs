//! From trees per cycle to spans per node: when each node of the call trees was active without a
//! break.

use foldhash::HashMap;
use petal_reconstruct::{Cycle, Event, Run, TreeId};

use crate::keys::{KeyId, Keys, without};

/// A change from one tree to another.
#[derive(Debug)]
pub(crate) struct Switch {
    /// What is active no more. What holds others comes first.
    pub closes: Vec<KeyId>,
    /// What becomes active.
    opens: Vec<KeyId>,
}

/// A number for each switch that is remembered.
pub(crate) type SwitchId = usize;

/// How many changes from one tree to another are remembered.
const MAX_SWITCHES: usize = 1 << 16;

/// Follows a trace and finds its spans.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    keys: Keys,
    /// First cycle of what is active, by key.
    since: Vec<Cycle>,
    current: Option<TreeId>,
    /// The latest switches, and their numbers by the trees.
    switches: Vec<Switch>,
    numbers: HashMap<(Option<TreeId>, Option<TreeId>), SwitchId>,
}

impl Spans {
    /// All keys so far.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// A switch that `event` gave last.
    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id]
    }

    /// The first cycle of what is active, or closes in the latest switch.
    pub fn since(&self, id: KeyId) -> Cycle {
        self.since[id]
    }

    /// Takes in the next event. If it is a switch, returns which one, and its cycle.
    pub fn event(&mut self, event: &Event) -> Option<(SwitchId, Cycle)> {
        self.keys.event(event);
        self.since
            .resize(self.keys.all().len(), Cycle::from_cycles(0));
        let (next, at) = match event {
            Event::Run(Run { tree, start, .. }) => (Some(*tree), *start),
            Event::End { cycles } => (None, Cycle::from_cycles(*cycles)),
            Event::Instance(_) | Event::Tree(_) | Event::Update(_) | Event::Warning(_) => {
                return None;
            }
        };
        let pair = (self.current, next);
        let number = match self.numbers.get(&pair) {
            Some(&number) => number,
            None => {
                if self.switches.len() == MAX_SWITCHES {
                    self.switches.clear();
                    self.numbers.clear();
                }
                let (before, after) = (self.keys.of(self.current), self.keys.of(next));
                self.switches.push(Switch {
                    closes: without(before, after),
                    opens: without(after, before),
                });
                let number = self.switches.len() - 1;
                self.numbers.insert(pair, number);
                number
            }
        };
        for &id in &self.switches[number].opens {
            self.since[id] = at;
        }
        self.current = next;
        Some((number, at))
    }
}
