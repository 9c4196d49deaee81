//! Races: accesses of the same register or word by two arms of a `par`, one of them a write, which nothing puts into an order.
//!
//! Two accesses race if two different arms of the same run of a `par` make them and no barrier is between them, whatever cycles they were in: in
//! another run of the compiler they may come the other way round. Arms of a `static par` do not race, since its schedule is a part of the program.
//! What continuous assignments of a component write races with all that its control does, since no statement says when.
//!
//! Owns what a race is. Which group reads what comes with [`Reads`]; who accessed which word of a memory, somebody else has listed. Memory
//! grows with the number of different trees, and with what is accessed within one run of a `par`.

mod acts;
mod found;
mod names;
mod pars;
mod places;
mod statements;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Id as _, Metadata, Reads};
use petal_reconstruct::{CallTree, Event, FrameLabels, InstanceId, Run, TreeId};

use self::acts::{Act, Prepared, Preparer};
use self::names::Names;
use self::pars::{ActivePar, Pair};
use crate::elements::{Element, ElementKind};
use crate::intervals::{Intervals, TransitionId};

pub use found::{Accessor, Doubt, Found, Race, RacingAccess, UndefinedRead, WordAccess};

/// Races that are the same but for their cycles.
type RaceKey = (Option<usize>, usize, [(usize, bool); 2]);

/// Follows a trace.
pub struct Races<'a> {
    metadata: &'a Metadata,
    reads: &'a Reads,
    labels: FrameLabels,
    preparer: Preparer,
    names: Names,
    intervals: Intervals,
    trees: Vec<CallTree>,
    prepared: HashMap<TreeId, Rc<Prepared>>,
    current: Option<TreeId>,
    /// Those that are to come.
    words: std::slice::Iter<'a, WordAccess>,
    pars: BTreeMap<usize, ActivePar>,
    /// What is in each component cell: control on one side, its continuous assignments on the other.
    continuous: BTreeMap<InstanceId, ActivePar>,
    found: BTreeMap<RaceKey, Pair>,
    /// What and who, whether a guard decides, and when.
    undefined: BTreeMap<(usize, usize, bool), u64>,
    unknown: BTreeSet<usize>,
    gaps: u64,
}

impl<'a> Races<'a> {
    /// Of a trace of this design, before its first event, with what its program reads and the accesses of memories in the order of time.
    #[must_use]
    pub fn new(metadata: &'a Metadata, reads: &'a Reads, words: &'a [WordAccess]) -> Self {
        Self {
            metadata,
            reads,
            labels: FrameLabels::new(metadata),
            preparer: Preparer::new(metadata, reads, !words.is_empty()),
            names: Names::default(),
            intervals: Intervals::default(),
            trees: Vec::new(),
            prepared: HashMap::new(),
            current: None,
            words: words.iter(),
            pars: BTreeMap::new(),
            continuous: BTreeMap::new(),
            found: BTreeMap::new(),
            undefined: BTreeMap::new(),
            unknown: BTreeSet::new(),
            gaps: 0,
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Tree(tree) => self.trees.push((**tree).clone()),
            Event::Gap(gap) => self.gaps += gap.cycles,
            _ => {}
        }
        let Some((number, at)) = self.intervals.event(event) else {
            return;
        };
        let at = at.cycles();
        self.words_until(at);
        let next = match event {
            Event::Run(Run { tree, .. }) => Some(*tree),
            _ => None,
        };
        self.close(number, at, matches!(event, Event::End { .. }));
        self.current = next;
        let Some(tree) = next else { return };
        let prepared = self.prepare(tree);
        self.open(number, at, &prepared);
        for act in &prepared.acts {
            self.access(act, at, true);
        }
        for &key in &prepared.undefined {
            self.undefined.entry(key).or_insert(at);
        }
    }

    fn prepare(&mut self, tree: TreeId) -> Rc<Prepared> {
        if let Some(known) = self.prepared.get(&tree) {
            return Rc::clone(known);
        }
        let prepared = self.preparer.prepare(
            &self.trees[tree.index()],
            self.intervals.elements().instances(),
            (self.metadata, self.reads, &self.labels),
            &mut self.names,
        );
        let prepared = Rc::new(prepared);
        self.prepared.insert(tree, Rc::clone(&prepared));
        prepared
    }

    /// The elements of a transition that close or open.
    fn changes(&self, number: TransitionId, is_close: bool) -> Vec<Element> {
        let transition = self.intervals.transition(number);
        let ids = if is_close {
            &transition.closes
        } else {
            &transition.opens
        };
        let all = self.intervals.elements().all();
        ids.iter().map(|&id| all[id]).collect()
    }

    /// What ends with the cycle before this one.
    fn close(&mut self, number: TransitionId, at: u64, is_end: bool) {
        let Some(before) = self.current else { return };
        let before = self.prepare(before);
        let closes = self.changes(number, true);
        for element in closes.iter().filter(|_| !is_end) {
            for act in before.closing.get(element).into_iter().flatten() {
                self.access(act, at - 1, false);
            }
        }
        for element in &closes {
            if let Some(sync) = before.syncs.get(element)
                && let Some(par) = self.pars.get_mut(&sync.arm.par)
            {
                par.leave(sync.arm.arm, sync.barrier);
            }
        }
        for Element { instance, kind } in closes {
            let ElementKind::Control(control) = kind else {
                continue;
            };
            if let Some(number) = self.names.known_par(instance, control)
                && let Some(par) = self.pars.remove(&number)
            {
                self.finish_par(number, par, at);
            }
        }
    }

    /// What begins with this cycle.
    fn open(&mut self, number: TransitionId, at: u64, prepared: &Prepared) {
        let opens = self.changes(number, false);
        for Element { instance, kind } in &opens {
            let ElementKind::Control(control) = kind else {
                continue;
            };
            if let Some(number) = self.names.known_par(*instance, *control) {
                self.pars.insert(number, ActivePar::new(at));
            }
        }
        for element in &opens {
            if let Some(sync) = prepared.syncs.get(element)
                && let Some(par) = self.pars.get_mut(&sync.arm.par)
            {
                par.arrive(sync.arm.arm, sync.barrier);
            }
        }
        for element in &opens {
            for act in prepared.conditions.get(element).into_iter().flatten() {
                self.access(act, at, false);
            }
        }
    }

    /// The accesses of words before this cycle, in the latest tree.
    fn words_until(&mut self, at: u64) {
        while let Some(access) = self.words.as_slice().first()
            && access.cycle < at
        {
            self.words.next();
            let Some(tree) = self.current else { continue };
            let prepared = self.prepare(tree);
            let name = (&*access.memory, Some(access.word));
            let location = self.names.location(name);
            for by in &access.by {
                if let Some(stands) = prepared.groups.get(&**by) {
                    let act = Act {
                        location,
                        is_write: access.is_write,
                        is_sure: true,
                        stands: stands.clone(),
                    };
                    self.access(&act, access.cycle, true);
                }
            }
        }
    }

    /// Somebody accesses something in this cycle, or, where that is not exact, about then.
    fn access(&mut self, act: &Act, cycle: u64, is_exact: bool) {
        for arm in &*act.stands.arms {
            if let Some(par) = self.pars.get_mut(&arm.par) {
                par.access(act, arm.arm, (cycle, is_exact));
            }
        }
        if self
            .preparer
            .may_be_continuous(self.names.place(act.location).0)
        {
            let innermost = act.stands.cells.last();
            for cell in &*act.stands.cells {
                let is_other_side = act.stands.is_continuous && innermost == Some(cell);
                let both = self.continuous.entry(*cell);
                let both = both.or_insert_with(|| ActivePar::new(0));
                both.access(act, usize::from(is_other_side), (cycle, is_exact));
            }
        }
    }

    /// What was found in a run of a `par`.
    fn finish_par(&mut self, number: usize, mut par: ActivePar, at: u64) {
        let met = par.have_met();
        let (component, control) = self
            .names
            .par(number, self.intervals.elements().instances());
        let is_followed = self.preparer.is_followed(component, control);
        if !(met && is_followed) {
            self.unknown.insert(number);
        }
        let node = self.metadata.component(component).node(control);
        let is_one = node.latency.is_none_or(|latency| par.cycles(at) <= latency) && !node.merged;
        let is_known = met && is_followed && is_one;
        for (key, mut pair) in par.pairs() {
            if !is_known {
                pair.doubt = Some(Doubt::Order);
            }
            self.add(Some(number), key, pair);
        }
    }

    fn add(&mut self, par: Option<usize>, (location, sides): pars::PairKey, pair: Pair) {
        let what = self.names.cell(location);
        match self.found.entry((par, what, sides)) {
            Entry::Occupied(mut known) => known.get_mut().merge(pair),
            Entry::Vacant(free) => {
                free.insert(pair);
            }
        }
    }

    /// What was found, once the trace has ended.
    #[must_use]
    pub fn finish(mut self) -> Found {
        for (_, mut both) in std::mem::take(&mut self.continuous) {
            for (key, pair) in both.pairs() {
                self.add(None, key, pair);
            }
        }
        let instances = self.intervals.elements().instances();
        let par_name = |number: usize| {
            let (component, control) = self.names.par(number, instances);
            let name = &self.metadata.component(component).name;
            format!("{name}.{}", self.labels.control(component, control))
        };
        let races = self.found.iter().map(|((par, _, sides), pair)| {
            let (what, word) = self.names.place(pair.location);
            let access = |at: usize| RacingAccess {
                is_write: sides[at].1,
                by: self.names.site(sides[at].0).clone(),
                cycle: pair.cycles[at],
            };
            let mut accesses = [access(0), access(1)];
            accesses.sort_by_key(|of| (of.cycle, of.is_write, of.by.line));
            Race {
                what: what.to_owned(),
                word,
                par: par.map(par_name),
                accesses,
                is_same_cycle: pair.is_same_cycle,
                times: pair.times,
                doubt: pair.doubt,
            }
        });
        let mut races: Vec<Race> = races.collect();
        let order = |of: &Race| (of.accesses[1].cycle, of.accesses[0].cycle, of.what.clone());
        races.sort_by_cached_key(|of| {
            (
                order(of),
                of.accesses.each_ref().map(|of| of.by.path.clone()),
            )
        });
        let undefined = self
            .undefined
            .iter()
            .map(|(&(location, site, is_guarded), &cycle)| UndefinedRead {
                what: self.names.place(location).0.to_owned(),
                by: self.names.site(site).clone(),
                cycle,
                is_guarded,
            });
        let mut undefined: Vec<UndefinedRead> = undefined.collect();
        undefined.sort_by_key(|of| of.cycle);
        Found {
            races,
            undefined,
            unknown: self
                .unknown
                .iter()
                .map(|&number| par_name(number))
                .collect(),
            gaps: self.gaps,
        }
    }
}
