//! The longest chain of runs of groups, each of which takes what the one before has set: they take at least a cycle each.
//!
//! Owns this chain, of the whole run and of its parts. Only what is sure makes one group wait for another, so it may well be shorter than any
//! program can be: what a guard decides and what goes through the ports of component cells does not count, nor do conditions, nor groups that
//! the compiler has split. Runs that are not told apart are one. Words of memories count as far as somebody has listed who accessed them.

use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::HashMap;
use petal_metadata::{Flows, Id as _, Metadata};
use petal_reconstruct::{Event, InstanceId, Run, TreeId, instance_path};

use crate::elements::{Element, ElementId, ElementKind};
use crate::intervals::{Intervals, Transition};
use crate::parts::{Part, parts_of};

/// A register of a component cell.
type Register = usize;

/// A word of a memory of a component cell: the path of the memory, and the place in it.
pub type Word = (Rc<str>, u64);

/// A read or write of a word, in the order of time.
#[derive(Debug, Clone)]
pub struct Access {
    /// When.
    pub cycle: u64,
    /// Of which word.
    pub word: Word,
    /// Whether it is a write.
    pub is_write: bool,
    /// The name of the group that does it; none if that is not one.
    pub by: Option<String>,
}

/// What of a word a run has read: when first, and the cycle of the write before; `None` if that was not always the same one.
type Taken = Option<(u64, Option<u64>)>;

/// What one element does.
#[derive(Debug)]
struct Actor {
    group: String,
    reads: Vec<Register>,
    writes: Vec<(Register, bool)>,
    /// The paths of memories of which it surely takes a word.
    memories: Vec<String>,
    /// Whether it is a part of a run, of which nothing is known.
    is_part: bool,
    /// The words that it has read since it began.
    taken: BTreeMap<Word, Taken>,
    /// Those that it wrote, and when last.
    written: BTreeMap<Word, u64>,
    /// When it first wrote one.
    first: Option<u64>,
}

impl Actor {
    /// The words that it surely took, each with the cycle of the write that they come from. What it read after it wrote does not tell what it wrote.
    fn words(&self) -> impl Iterator<Item = (&Word, u64)> {
        self.memories.iter().filter_map(|memory| {
            let mut of = self
                .taken
                .iter()
                .filter(|((path, _), _)| **path == **memory);
            let (word, taken) = of.next()?;
            let (cycle, write) = (*taken)?;
            let is_one = of.next().is_none() && self.first.is_none_or(|first| cycle <= first);
            Some((word, write?)).filter(|_| is_one)
        })
    }
}

/// The chains of the runs that began within some time.
#[derive(Debug, Default)]
struct Chain {
    /// How many runs each register has behind it, if any.
    set: HashMap<Register, u64>,
    /// The same of words, with the cycle of the write.
    words: HashMap<Word, (u64, u64)>,
    /// What each of the registers that a run takes values from had behind it when the run began that goes on.
    began: HashMap<ElementId, Vec<u64>>,
    longest: u64,
}

impl Chain {
    fn set(&self, register: Register) -> u64 {
        self.set.get(&register).copied().unwrap_or(0)
    }

    /// How many runs what a run sets has behind it, with its own; it may take values at its beginning or at its end. Nothing, if it began
    /// before.
    fn end(&self, id: ElementId, actor: &Actor) -> u64 {
        let Some(began) = self.began.get(&id).filter(|_| !actor.is_part) else {
            return 0;
        };
        let reads = actor.reads.iter().zip(began);
        let registers = reads.map(|(&register, before)| self.set(register).min(*before));
        let words = actor.words().filter_map(|(word, write)| {
            let (behind, written) = self.words.get(word)?;
            (*written == write).then_some(*behind)
        });
        registers.chain(words).max().unwrap_or(0) + 1
    }

    /// Runs that end, whether they began within or not.
    fn close(&mut self, closes: &[ElementId], actors: &[Option<Actor>]) {
        let closes = closes.iter();
        let ends = closes.filter_map(|&id| {
            let actor = actors[id].as_ref()?;
            Some((id, actor, self.end(id, actor)))
        });
        let ends: Vec<(ElementId, &Actor, u64)> = ends.collect();
        for (id, actor, end) in ends {
            self.began.remove(&id);
            self.longest = self.longest.max(end);
            for &(register, is_sure) in &actor.writes {
                let sets = if is_sure {
                    end
                } else {
                    end.min(self.set(register))
                };
                self.set.insert(register, sets);
            }
            for (word, cycle) in &actor.written {
                self.words.insert(word.clone(), (end, *cycle));
            }
        }
    }

    /// Runs that begin, of which some are within.
    fn open(
        &mut self,
        opens: &[ElementId],
        is_within: impl Fn(ElementId) -> bool,
        actors: &[Option<Actor>],
    ) {
        let opens = opens.iter();
        let opens = opens.filter_map(|&id| Some((id, actors[id].as_ref()?)));
        let opens: Vec<(ElementId, &Actor)> = opens.collect();
        for (id, actor) in opens.iter().filter(|(id, _)| is_within(*id)) {
            let reads = actor.reads.iter();
            let before = reads.map(|register| self.set(*register)).collect();
            self.began.insert(*id, before);
        }
        // Somebody may take what it sets before it ends.
        for (id, actor) in opens {
            let end = self.end(id, actor);
            for &(register, _) in &actor.writes {
                let sets = end.min(self.set(register));
                self.set.insert(register, sets);
            }
        }
    }
}

/// The chains of the times that a part of a run takes.
#[derive(Debug, Default)]
struct PartChain {
    /// Of the time that goes on.
    chain: Chain,
    /// The longest of all that have ended, one after the other.
    total: u64,
}

/// Follows a trace. Memory grows with the number of groups, of trees, and of different changes from one tree to another.
#[derive(Debug)]
pub struct Dataflow<'a> {
    metadata: &'a Metadata,
    flows: &'a Flows,
    intervals: Intervals,
    numbers: HashMap<(InstanceId, String), Register>,
    actors: Vec<Option<Actor>>,
    run: Chain,
    parts: BTreeMap<Part, PartChain>,
    /// The parts of each tree, and which groups run for them there.
    trees: Vec<BTreeMap<Part, Vec<ElementId>>>,
    current: Option<TreeId>,
    /// Those that are to come.
    accesses: std::slice::Iter<'a, Access>,
    /// When each word was written last.
    written: HashMap<Word, u64>,
}

impl<'a> Dataflow<'a> {
    /// Of a trace of this design, before its first event, with what is known of the accesses of memories in the order of time.
    #[must_use]
    pub fn new(metadata: &'a Metadata, flows: &'a Flows, accesses: &'a [Access]) -> Self {
        Self {
            metadata,
            flows,
            intervals: Intervals::default(),
            numbers: HashMap::default(),
            actors: Vec::new(),
            run: Chain::default(),
            parts: BTreeMap::new(),
            trees: Vec::new(),
            current: None,
            accesses: accesses.iter(),
            written: HashMap::default(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        if let Some((number, at)) = self.intervals.event(event) {
            self.access_until(at.cycles());
            let next = match event {
                Event::Run(Run { tree, .. }) => Some(*tree),
                _ => None,
            };
            let before = std::mem::replace(&mut self.current, next);
            let Transition { closes, opens, .. } = self.intervals.transition(number);
            self.run.close(closes, &self.actors);
            self.run.open(opens, |_| true, &self.actors);
            let none = BTreeMap::new();
            let of = |tree: Option<TreeId>| tree.map_or(&none, |tree| &self.trees[tree.index()]);
            let (before, after) = (of(before), of(next));
            for part in before.keys() {
                let of = self.parts.entry(*part).or_default();
                of.chain.close(closes, &self.actors);
                if !after.contains_key(part) {
                    of.total += std::mem::take(&mut of.chain).longest;
                }
            }
            for (part, within) in after {
                let of = self.parts.entry(*part).or_default();
                let is_within = |id| within.binary_search(&id).is_ok();
                of.chain.open(opens, is_within, &self.actors);
            }
            for &id in closes {
                if let Some(actor) = &mut self.actors[id] {
                    actor.taken.clear();
                    actor.written.clear();
                    actor.first = None;
                }
            }
        }
        for id in self.actors.len()..self.intervals.elements().all().len() {
            let actor = self.actor(id);
            self.actors.push(actor);
        }
        if let Event::Tree(tree) = event {
            let elements = self.intervals.elements();
            let instances = elements.instances();
            let parts = parts_of(tree, instances, self.metadata).into_iter();
            let parts = parts.map(|(part, groups)| {
                let ids = groups.into_iter().filter_map(|(instance, run)| {
                    let kind = ElementKind::Group(run);
                    elements.id(Element { instance, kind })
                });
                let mut ids: Vec<ElementId> = ids.collect();
                ids.sort_unstable();
                (part, ids)
            });
            let parts = parts.collect();
            self.trees.push(parts);
        }
    }

    /// What was accessed before this cycle, in the latest tree.
    fn access_until(&mut self, at: u64) {
        let elements = self.intervals.elements().of(self.current);
        while let Some(Access {
            cycle,
            word,
            is_write,
            by,
        }) = self.accesses.as_slice().first()
            && *cycle < at
        {
            self.accesses.next();
            let is_by = |id: &&ElementId| {
                let actor = self.actors[**id].as_ref();
                actor.is_some_and(|actor| Some(&actor.group) == by.as_ref())
            };
            let mut by = elements.iter().filter(is_by);
            // The same group of two cells: nobody tells whose.
            let by = by.next().copied().filter(|_| by.next().is_none());
            if *is_write {
                for &id in elements.iter().filter(|id| Some(**id) != by) {
                    let actor = self.actors[id].as_mut();
                    if let Some(taken) = actor.and_then(|actor| actor.taken.get_mut(word)) {
                        *taken = None;
                    }
                }
                self.written.insert(word.clone(), *cycle);
            }
            let Some(actor) = by.and_then(|id| self.actors[id].as_mut()) else {
                continue;
            };
            if *is_write {
                actor.first.get_or_insert(*cycle);
                actor.written.insert(word.clone(), *cycle);
            } else {
                let write = self.written.get(word).copied();
                let taken = actor.taken.entry(word.clone());
                let taken = taken.or_insert(Some((*cycle, write)));
                if taken.is_some_and(|(_, before)| before != write) {
                    *taken = None;
                }
            }
        }
    }

    /// What an element does, if it is a group of the source.
    fn actor(&mut self, id: ElementId) -> Option<Actor> {
        let elements = self.intervals.elements();
        let element = elements.all()[id];
        let ElementKind::Group(run) = element.kind else {
            return None;
        };
        let component = elements.instances()[element.instance.index()].component;
        let component = self.metadata.component(component);
        let run = component.run(run);
        let group = &component.group(run.group).name;
        let flow = self.flows.get(&(component.name.clone(), group.clone()))?;
        let mut register = |cell: &String| {
            let next = self.numbers.len();
            let key = (element.instance, cell.clone());
            *self.numbers.entry(key).or_insert(next)
        };
        let is_part = run.part.is_some();
        let holder = instance_path(self.metadata, elements.instances(), element.instance);
        let memories = flow.words.iter().map(|cell| format!("{holder}.{cell}"));
        Some(Actor {
            group: group.clone(),
            memories: memories.collect(),
            taken: BTreeMap::new(),
            written: BTreeMap::new(),
            first: None,
            reads: flow.reads.iter().map(&mut register).collect(),
            writes: flow
                .writes
                .iter()
                .map(|(cell, is_sure)| (register(cell), *is_sure || is_part))
                .collect(),
            is_part,
        })
    }

    /// How many runs the longest chain has, once the trace has ended, and the longest ones within each part together.
    #[must_use]
    pub fn finish(self) -> (u64, BTreeMap<Part, u64>) {
        let parts = self.parts.into_iter().map(|(part, of)| {
            let last = of.chain.longest;
            (part, of.total + last)
        });
        (self.run.longest, parts.collect())
    }
}
