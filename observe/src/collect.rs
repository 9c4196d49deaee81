//! What each kind of observation makes of the values of a run.
//!
//! Owns what a stamp, a latency, a change, a violation and a count are. Values are computed elsewhere.

use std::collections::{BTreeMap, HashMap};

use petal_reconstruct::{Instance, Marks, Signal, TreeId};

use crate::latency::Latency;
use crate::request::Interval;
use crate::results::{self, ChangeOf, Violation, Written, quantile, ratio};
use crate::trees::Trees;
use crate::work::Work;

/// A cycle that is looked at.
pub(crate) struct Look<'a, 'b> {
    pub cycle: u64,
    /// The values of all nodes.
    pub values: &'a [u64],
    /// `None` after the run.
    pub tree: Option<TreeId>,
    /// Whether the design was done then.
    pub is_done: bool,
    pub trees: &'a mut Trees<'b>,
    pub work: &'a Work,
    pub instances: &'a [Instance],
    /// Who hears of each value.
    pub told: Option<&'a mut (dyn FnMut(Told) + 'b)>,
    /// The number of the collector that looks.
    pub at: usize,
}

/// A value that is told as soon as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// The cycle.
    pub cycle: u64,
    /// The number of the observation.
    pub observation: usize,
    /// The word of a memory that was written.
    pub index: Option<u64>,
    /// The value.
    pub value: u64,
}

impl Look<'_, '_> {
    fn tell(&mut self, index: Option<u64>, value: u64) {
        if let Some(told) = &mut self.told {
            told(Told {
                cycle: self.cycle,
                observation: self.at,
                index,
                value,
            });
        }
    }
}

/// An observation.
pub(crate) enum Collector {
    Checkpoint(Checkpoint),
    Latency(Box<Latency>),
    Watch(Watch),
    Rule(Rule),
    Counter(Counter),
    Window(Window),
    /// Ends the run.
    Stop {
        node: usize,
    },
}

impl Collector {
    /// The nodes that it looks at.
    pub fn nodes(&self) -> Vec<usize> {
        match self {
            Self::Checkpoint(of) => vec![of.node],
            Self::Latency(of) => vec![of.from, of.to],
            Self::Watch(of) => match of.what {
                Watched::Value { node } => vec![node],
                Watched::Written { event, .. } => vec![event],
            },
            Self::Rule(of) => {
                let writes = of.writes.iter().map(|(event, _)| *event);
                writes.chain([of.node]).collect()
            }
            Self::Counter(of) => of.nodes.clone(),
            Self::Window(of) => [of.from, of.to]
                .into_iter()
                .filter_map(Edge::node)
                .collect(),
            Self::Stop { node } => vec![*node],
        }
    }

    /// How many results it has.
    pub fn kept(&self) -> usize {
        match self {
            Self::Checkpoint(of) => of.cycles.len(),
            Self::Latency(of) => of.kept(),
            Self::Watch(of) => of.changes.len() + of.known.len(),
            Self::Rule(of) => of.violations.len(),
            Self::Counter(of) => of.samples.len(),
            Self::Window(of) => of.parts.len(),
            Self::Stop { .. } => 0,
        }
    }

    /// Looks at a cycle in which a node has changed, or that it asked for. Returns whether it wants the next one, too.
    pub fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        match self {
            Self::Checkpoint(of) => of.look(look),
            Self::Latency(of) => of.look(look),
            Self::Watch(of) => of.look(look),
            Self::Rule(of) => of.look(look),
            Self::Counter(of) => of.look(look),
            Self::Window(of) => of.look(look),
            Self::Stop { .. } => false,
        }
    }
}

pub(crate) struct Checkpoint {
    pub name: String,
    pub when: String,
    pub node: usize,
    pub interval: Option<Interval>,
    /// Whether it is asked for by itself, and not only for the interval of others.
    pub is_listed: bool,
    /// Whether it happens when the run is over, if that comes to its end: something that is active ends then.
    pub ends_with_run: bool,
    pub cycles: Vec<u64>,
}

impl Checkpoint {
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let may_happen = look.tree.is_some() || (self.ends_with_run && look.is_done);
        let happens = may_happen && look.values[self.node] != 0;
        if happens {
            look.tell(None, 1);
            self.cycles.push(look.cycle);
        }
        happens
    }

    pub fn median_distance(&self) -> Option<u64> {
        let mut distances = BTreeMap::new();
        for pair in self.cycles.windows(2) {
            *distances.entry(pair[1] - pair[0]).or_insert(0) += 1;
        }
        quantile(&distances, 1, 2)
    }
}

/// What a watchpoint looks at.
pub(crate) enum Watched {
    Value {
        node: usize,
    },
    /// The writes to a register or memory: high in those that are looked at, the word of a memory, its value before (if that is
    /// known) and after.
    Written {
        event: usize,
        index: Option<usize>,
        old: Option<usize>,
        new: usize,
        /// The cell.
        cell: Signal,
    },
}

pub(crate) struct Watch {
    pub name: String,
    pub value: String,
    pub what: Watched,
    pub latest: u64,
    pub changes: Vec<ChangeOf>,
    /// The words that are known, where no value before is observed.
    pub known: HashMap<u64, u64>,
    /// Whether the others are known to be 0.
    pub is_known: bool,
}

impl Watch {
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        if look.tree.is_none() {
            return false;
        }
        match &self.what {
            Watched::Value { node } => {
                let new = look.values[*node];
                if new == self.latest {
                    return false;
                }
                let old = std::mem::replace(&mut self.latest, new);
                look.tell(None, new);
                self.changes.push(ChangeOf {
                    cycle: look.cycle,
                    index: None,
                    old: Some(old),
                    new,
                    by: Vec::new(),
                });
                false
            }
            Watched::Written {
                event,
                index,
                old,
                new,
                cell,
            } => {
                if look.values[*event] == 0 {
                    return false;
                }
                let (index, new) = (index.map(|at| look.values[at]), look.values[*new]);
                let old = match (old, index) {
                    (Some(old), _) => Some(look.values[*old]),
                    (None, index) => {
                        let old = self.known.insert(index.unwrap_or(0), new);
                        old.or(self.is_known.then_some(0))
                    }
                };
                if old == Some(new) {
                    return true;
                }
                let by = look
                    .tree
                    .map(|tree| look.trees.writers(tree, cell, look.instances));
                look.tell(index, new);
                self.changes.push(ChangeOf {
                    cycle: look.cycle,
                    index,
                    old,
                    new,
                    by: by.unwrap_or_default(),
                });
                true
            }
        }
    }
}

pub(crate) struct Rule {
    pub name: String,
    pub when: String,
    pub always: bool,
    pub node: usize,
    /// Of a rule about registers and words of memories alone: what is high when one of them is written, and its cell.
    pub writes: Vec<(usize, Signal)>,
    /// The latest writes.
    pub written: Option<Written>,
    pub violations: Vec<Violation>,
    /// Whether the last violation goes on.
    pub is_broken: bool,
}

impl Rule {
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let broken = look.tree.is_some() && (look.values[self.node] != 0) != self.always;
        if broken != self.is_broken && look.tree.is_some() {
            look.tell(None, u64::from(broken));
        }
        if let Some(violation) = self.violations.last_mut().filter(|_| self.is_broken) {
            violation.cycles = look.cycle - violation.cycle;
        }
        if let Some(tree) = look.tree.filter(|_| broken && !self.is_broken) {
            let written = self.written.take();
            self.violations.push(Violation {
                cycle: look.cycle,
                cycles: 0,
                active: look.trees.active(tree, look.instances),
                written: written.filter(|written| written.cycle + 1 == look.cycle),
            });
        }
        self.is_broken = broken;
        self.follow_writes(look)
    }

    /// Remembers who writes in this cycle. Returns whether somebody does.
    fn follow_writes(&mut self, look: &mut Look<'_, '_>) -> bool {
        let high = |(event, _): &&(usize, Signal)| look.values[*event] != 0;
        let cells: Vec<&Signal> = self
            .writes
            .iter()
            .filter(high)
            .map(|(_, cell)| cell)
            .collect();
        let Some(tree) = look.tree.filter(|_| !cells.is_empty()) else {
            return false;
        };
        let writers = cells.iter();
        let writers = writers.flat_map(|cell| look.trees.writers(tree, cell, look.instances));
        let mut by: Vec<String> = writers.collect();
        by.sort();
        by.dedup();
        let cycle = look.cycle;
        self.written = Some(Written { cycle, by });
        true
    }
}

pub(crate) struct Counter {
    pub name: String,
    pub value: String,
    /// What is added up, in every cycle.
    pub nodes: Vec<usize>,
    /// The value since a cycle.
    pub latest: (u64, u64),
    pub total: u64,
    /// How many cycles a sample has.
    pub sample: Option<u64>,
    pub samples: Vec<u64>,
}

impl Counter {
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let (mut since, value) = self.latest;
        let new = self.nodes.iter().map(|&node| look.values[node]).sum();
        if new != value && look.tree.is_some() {
            look.tell(None, new);
        }
        let sum = |cycles: u64| value.saturating_mul(cycles);
        self.total = self.total.saturating_add(sum(look.cycle - since));
        while let Some(sample) = self.sample
            && since < look.cycle
        {
            let at = usize::try_from(since / sample).unwrap_or(usize::MAX);
            let end = (since - since % sample)
                .saturating_add(sample)
                .min(look.cycle);
            self.samples.resize((at + 1).max(self.samples.len()), 0);
            self.samples[at] = self.samples[at].saturating_add(sum(end - since));
            since = end;
        }
        self.latest = (look.cycle, new);
        false
    }

    pub fn results(&self, cycles: u64) -> results::Counter {
        results::Counter {
            name: self.name.clone(),
            value: self.value.clone(),
            total: self.total,
            per_cycle: ratio(self.total, cycles),
            samples: self.samples.clone(),
        }
    }
}

/// An end of a window.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Edge {
    /// The cycles in which this is high.
    Event(usize),
    /// So many cycles from the other end.
    Cycles(u64),
}

impl Edge {
    fn node(self) -> Option<usize> {
        match self {
            Self::Event(node) => Some(node),
            Self::Cycles(_) => None,
        }
    }
}

/// Parts of the run, each with both of the cycles in which it begins and ends.
pub(crate) struct Window {
    pub name: String,
    pub when: String,
    pub from: Edge,
    pub to: Edge,
    pub most: Option<u64>,
    /// Where the one that has begun did.
    pub open: Option<u64>,
    /// First cycle and length of each.
    pub parts: Vec<(u64, u64)>,
    /// Who hears at once what is kept.
    pub marks: Option<Marks>,
}

impl Window {
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let is_over = look.tree.is_none();
        let happens = |edge: Edge| match edge {
            Edge::Event(node) => !is_over && look.values[node] != 0,
            Edge::Cycles(_) => false,
        };
        let is_full = self.is_full();
        match (self.from, self.to) {
            // The last cycles before something happens.
            (Edge::Cycles(before), to) => {
                if !is_full && happens(to) {
                    let start = look.cycle.saturating_sub(before);
                    self.begin(start);
                    self.end(start, look.cycle + 1);
                }
                happens(to)
            }
            (from, to) => {
                if self.open.is_none() && !is_full && happens(from) {
                    self.open = Some(look.cycle);
                    self.begin(look.cycle);
                }
                let Some(start) = self.open else {
                    return happens(from);
                };
                // The end of the run ends no window: it is kept up to there.
                let end = match to {
                    Edge::Cycles(cycles) if !is_over && look.cycle - start == cycles => {
                        Some(look.cycle)
                    }
                    Edge::Event(_) if happens(to) => Some(look.cycle),
                    _ => None,
                };
                if let Some(end) = end {
                    self.end(start, end + 1);
                    self.open = None;
                }
                true
            }
        }
    }

    fn begin(&self, start: u64) {
        if let Some(marks) = &self.marks {
            marks.begin(start);
        }
    }

    fn end(&mut self, start: u64, end: u64) {
        self.parts.push((start, end - start));
        if let Some(marks) = &self.marks {
            marks.end(end);
        }
    }

    /// How many cycles before the one that decides it a part begins at most.
    pub fn before(&self) -> u64 {
        match self.from {
            Edge::Cycles(cycles) => cycles,
            Edge::Event(_) => 0,
        }
    }

    fn is_full(&self) -> bool {
        self.most
            .is_some_and(|most| self.parts.len() as u64 >= most)
    }

    /// One that has begun and did not end is kept up to the end of the run.
    pub fn results(mut self, cycles: u64) -> results::Window {
        let state = match (self.open, self.parts.is_empty()) {
            (Some(_), _) => "sample",
            (None, true) => "reset",
            (None, false) => "stop",
        };
        let open = self.open.filter(|start| *start < cycles);
        self.parts.extend(open.map(|start| (start, cycles - start)));
        results::Window {
            name: self.name,
            when: self.when,
            state: state.to_owned(),
            parts: self.parts,
        }
    }
}
