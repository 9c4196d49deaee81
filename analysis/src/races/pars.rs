//! One run of a `par`: who of its arms accessed what, and which barriers put that into an order.
//!
//! Each arm counts the barriers to which it has come, and knows how far the others were when they met last: a vector clock. What an arm did before
//! a barrier is before what another does that has left it.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _};

use super::Doubt;
use super::acts::Act;

/// The location, and both sides: who, and whether it is a write.
pub(super) type PairKey = (usize, [(usize, bool); 2]);

/// Two accesses that nothing puts into an order.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// Where first.
    pub location: usize,
    /// When, of each side.
    pub cycles: [u64; 2],
    pub is_same_cycle: bool,
    pub times: u64,
    pub doubt: Option<Doubt>,
}

impl Pair {
    /// Adds the same pair of another time, and shows the one that says most.
    pub fn merge(&mut self, other: Self) {
        let times = self.times + other.times;
        let rank = |of: &Self| (of.doubt, !of.is_same_cycle, of.cycles[0].max(of.cycles[1]));
        if rank(&other) < rank(self) {
            *self = other;
        }
        self.times = times;
    }
}

/// The latest access of somebody to something.
struct Entry {
    arm: usize,
    site: usize,
    is_write: bool,
    is_sure: bool,
    /// When, and whether it was then for sure.
    time: (u64, bool),
    /// To how many barriers the arm had come.
    epoch: u64,
}

type Clock = BTreeMap<usize, u64>;

/// A run of a `par` that goes on.
pub(super) struct ActivePar {
    since: u64,
    accesses: HashMap<usize, Vec<Entry>>,
    pairs: BTreeMap<PairKey, Pair>,
    /// To how many barriers each arm has come.
    epochs: HashMap<usize, u64>,
    /// What each arm knows of the others.
    clocks: HashMap<usize, Clock>,
    /// How often each arm has come to each barrier.
    visits: BTreeMap<(u64, usize), u64>,
    /// What all know who have come to a barrier for the nth time.
    meetings: HashMap<(u64, u64), Clock>,
}

impl ActivePar {
    pub fn new(since: u64) -> Self {
        Self {
            since,
            accesses: HashMap::new(),
            pairs: BTreeMap::new(),
            epochs: HashMap::new(),
            clocks: HashMap::new(),
            visits: BTreeMap::new(),
            meetings: HashMap::new(),
        }
    }

    /// How long it took, if it ends with the cycle before this one.
    pub fn cycles(&self, at: u64) -> u64 {
        at - self.since
    }

    /// An arm comes to a barrier.
    pub fn arrive(&mut self, arm: usize, barrier: u64) {
        let nth = self.visits.entry((barrier, arm)).or_default();
        *nth += 1;
        let epoch = self.epochs.entry(arm).or_default();
        *epoch += 1;
        let own = self.clocks.entry(arm).or_default();
        own.insert(arm, *epoch);
        join(self.meetings.entry((barrier, *nth)).or_default(), own);
    }

    /// An arm leaves a barrier: so all others have come to it.
    pub fn leave(&mut self, arm: usize, barrier: u64) {
        let nth = self
            .visits
            .get(&(barrier, arm))
            .copied()
            .unwrap_or_default();
        if let Some(all) = self.meetings.get(&(barrier, nth)) {
            join(self.clocks.entry(arm).or_default(), all);
        }
    }

    /// Whether all arms that came to a barrier came equally often: else nobody tells who met whom.
    pub fn have_met(&self) -> bool {
        let mut visits: BTreeMap<u64, u64> = BTreeMap::new();
        let mut all = self.visits.iter();
        all.all(|((barrier, _), times)| *visits.entry(*barrier).or_insert(*times) == *times)
    }

    /// An arm accesses something.
    pub fn access(&mut self, act: &Act, arm: usize, time: (u64, bool)) {
        let epoch = self.epochs.get(&arm).copied().unwrap_or_default();
        let known = self.clocks.get(&arm);
        let entries = self.accesses.entry(act.location).or_default();
        for other in entries.iter() {
            let is_before = || {
                known
                    .and_then(|of| of.get(&other.arm))
                    .is_some_and(|of| *of > other.epoch)
            };
            if other.arm == arm || !(other.is_write || act.is_write) || is_before() {
                continue;
            }
            let mut sides = [
                ((other.site, other.is_write), other.time.0),
                ((act.stands.site, act.is_write), time.0),
            ];
            sides.sort_unstable();
            let is_sure = other.is_sure && act.is_sure;
            let pair = Pair {
                location: act.location,
                cycles: sides.map(|(_, cycle)| cycle),
                is_same_cycle: time == other.time && time.1,
                times: 1,
                doubt: (!is_sure).then_some(Doubt::Guard),
            };
            let key = (act.location, sides.map(|(side, _)| side));
            match self.pairs.get_mut(&key) {
                Some(known) => {
                    known.merge(pair);
                    known.times = 1;
                }
                None => {
                    self.pairs.insert(key, pair);
                }
            }
        }
        let entry = Entry {
            arm,
            site: act.stands.site,
            is_write: act.is_write,
            is_sure: act.is_sure,
            time,
            epoch,
        };
        let key = |of: &Entry| (of.arm, of.site, of.is_write, of.is_sure);
        match entries.iter_mut().find(|of| key(of) == key(&entry)) {
            Some(known) => *known = entry,
            None => entries.push(entry),
        }
    }

    /// What was found.
    pub fn pairs(&mut self) -> BTreeMap<PairKey, Pair> {
        std::mem::take(&mut self.pairs)
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&arm, &epoch) in other {
        let own = clock.entry(arm).or_default();
        *own = (*own).max(epoch);
    }
}
