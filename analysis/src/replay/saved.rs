//! What each question saves of the cycles of a run, or of a part of it.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::Contention;

use super::Answer;
use super::asked::{ALL_ORDER, Asked, COMPUTATION, DATA_ORDER, WANTED};
use crate::parts::Part;
use crate::plans::{PathId, Work};
use crate::sums::{Par, Seq, Tally};

/// The questions about a run, and what is counted of them.
#[derive(Debug)]
pub(super) struct Counted {
    pub asked: Asked,
    pub answers: Vec<Answer>,
    /// The cycles that what is wanted takes longer where it does.
    pub longer: i64,
    /// The runs and iterations that were seen, and their cycles.
    pub seen: Vec<(u64, u64)>,
    /// What was counted of the parts of the run.
    pub parts: BTreeMap<Part, Times>,
}

/// How long a part of a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// As it is.
    pub cycles: u64,
    /// If only its computation took time.
    pub computation: u64,
    /// The same, where each step of a `seq` waits only for those that it depends on.
    pub data_order: u64,
}

/// The cycles of a part of a run.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub cycles: u64,
    /// What each question saves of them; those that save nothing may be left out.
    pub by_question: BTreeMap<usize, i64>,
    /// Where it is.
    at: Option<PathId>,
    /// What runs there, by its question, and for how long so far.
    running: Option<(usize, u64)>,
    loops: Vec<Going>,
    /// The parts of the run that it is in, and how long this took before them.
    parts: Vec<(Part, Times)>,
}

/// A loop that goes on.
#[derive(Debug)]
struct Going {
    path: PathId,
    question: usize,
    /// How many cycles there were before this iteration.
    began: u64,
    is_in_body: bool,
}

impl Times {
    /// Adds what there is now and was not before.
    fn add(&mut self, before: Self, now: Self) {
        self.cycles += now.cycles - before.cycles;
        self.computation += now.computation - before.computation;
        self.data_order += now.data_order - before.data_order;
    }
}

/// A number of cycles that something is added to or taken from.
fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX)
}

impl Saved {
    fn save(&mut self, question: usize, cycles: i64) {
        if cycles != 0 {
            *self.by_question.entry(question).or_default() += cycles;
        }
    }

    /// How many cycles it takes if a question is true.
    fn takes(&self, question: usize, asked: &Asked) -> u64 {
        let saves = |question| self.by_question.get(&question).copied().unwrap_or(0);
        let more = asked.more.contains(&question);
        let saved = saves(question) + if more { saves(ALL_ORDER) } else { 0 };
        self.cycles.saturating_add_signed(-saved)
    }

    fn times(&self, asked: &Asked) -> Times {
        Times {
            cycles: self.cycles,
            computation: self.takes(COMPUTATION, asked),
            data_order: self.takes(DATA_ORDER, asked),
        }
    }

    /// Goes on in these parts of the run, and counts those that it leaves.
    fn enter(&mut self, inside: &[Part], asked: &Asked, counted: &mut BTreeMap<Part, Times>) {
        if self.parts.iter().map(|(part, _)| part).eq(inside) {
            return;
        }
        let now = self.times(asked);
        let before = std::mem::take(&mut self.parts);
        for (part, then) in before.iter().filter(|(part, _)| !inside.contains(part)) {
            counted.entry(*part).or_default().add(*then, now);
        }
        let since = |part: &Part| before.iter().find(|(known, _)| known == part);
        let inside = inside.iter();
        self.parts = inside
            .map(|part| (*part, since(part).map_or(now, |(_, then)| *then)))
            .collect();
    }

    /// Takes in cycles that are in question.
    fn add(&mut self, questions: &[usize], cycles: u64, answers: &mut [Answer]) {
        self.cycles += cycles;
        for &question in questions {
            self.save(question, signed(cycles));
            answers[question].counted += signed(cycles);
        }
    }

    /// Goes on somewhere, where something begins if it `is_new`.
    fn go(&mut self, path: PathId, is_new: bool, counted: &mut Counted) {
        if self.at == Some(path) && !is_new {
            return;
        }
        self.end_run(counted);
        self.at = Some(path);
        let Counted { asked, parts, .. } = &mut *counted;
        self.enter(&asked.parts[&path], asked, parts);
        let mut going = std::mem::take(&mut self.loops);
        let mut left = Vec::new();
        let loops = &counted.asked.loops[&path];
        going.retain(|going| {
            let is_inside = loops.iter().any(|of| of.path == going.path);
            if !is_inside {
                left.push((going.question, going.began));
            }
            is_inside
        });
        for (outwards, of) in loops.iter().enumerate() {
            let found = going.iter_mut().find(|going| going.path == of.path);
            let Some(found) = found else {
                if of.is_in_body {
                    going.push(Going {
                        path: of.path,
                        question: of.question,
                        began: self.cycles,
                        is_in_body: true,
                    });
                }
                continue;
            };
            // What is begun anew is the body of the innermost loop, or in it; of a body of several steps there is a `seq`.
            let begins = !found.is_in_body || (is_new && outwards == 0);
            if of.is_in_body && begins {
                left.push((found.question, found.began));
                found.began = self.cycles;
            }
            found.is_in_body = of.is_in_body;
        }
        self.loops = going;
        for (question, began) in left {
            self.shorten(question, self.cycles - began, counted);
        }
    }

    /// Takes in that something has run for so many cycles, which might be one less.
    fn shorten(&mut self, question: usize, cycles: u64, counted: &mut Counted) {
        let (times, total) = &mut counted.seen[question];
        *times += 1;
        *total += cycles;
        if cycles > 1 {
            self.save(question, 1);
            counted.answers[question].counted += 1;
        }
    }

    fn end_run(&mut self, counted: &mut Counted) {
        if let Some((question, cycles)) = self.running.take() {
            self.shorten(question, cycles, counted);
            if let Some(wanted) = counted.asked.cycles.get(&question) {
                let saved = signed(cycles) - signed(*wanted);
                self.save(WANTED, saved);
                counted.answers[WANTED].counted += saved;
                counted.longer -= saved.min(0);
            }
        }
    }
}

impl Tally for Saved {
    type Common = Counted;

    const HAS_STEPS: bool = true;

    fn take(&mut self, path: PathId, work: Work, cycles: u64, counted: &mut Counted) {
        self.go(path, false, counted);
        let site = &counted.asked.sites[&(path, work)];
        match &mut self.running {
            Some((question, so_far)) if Some(*question) == site.run => *so_far += cycles,
            _ => {
                let run = site.run;
                self.end_run(counted);
                self.running = run.map(|question| (question, cycles));
            }
        }
        let site = &counted.asked.sites[&(path, work)];
        self.add(&site.cycles, cycles, &mut counted.answers);
    }

    /// It took as long as its longest arm, and the cycles in which none was active.
    fn take_par(&mut self, par: Par<Self>, counted: &mut Counted) {
        self.go(par.path, true, counted);
        let arms = || par.arms.values().map(|arm| &arm.sum.tally);
        let lengths = |question| {
            let arms = arms().map(|arm| arm.takes(question, &counted.asked));
            let mut lengths: Vec<u64> = arms.collect();
            lengths.sort_unstable();
            lengths
        };
        let longest = arms().map(|arm| arm.cycles).max().unwrap_or(0);
        let Some(of) = counted.asked.pars.get(&par.path) else {
            self.cycles += par.cycles;
            return;
        };
        self.add(&of.own, par.cycles - longest, &mut counted.answers);
        self.cycles += longest;
        let questions = arms().flat_map(|arm| arm.by_question.keys().copied());
        let mut questions: BTreeSet<usize> = questions.collect();
        questions.insert(of.balance);
        questions.extend(of.is_wanted.then_some(WANTED));
        for question in questions {
            let is_balanced = question == of.balance || (question == WANTED && of.is_wanted);
            let takes = match lengths(question)[..] {
                [.., next, _] if is_balanced => next,
                [.., last] => last,
                [] => 0,
            };
            let now = if counted.asked.more.contains(&question) {
                lengths(ALL_ORDER).last().copied().unwrap_or(0)
            } else {
                longest
            };
            self.save(question, signed(now) - signed(takes));
        }
    }

    /// It took as long as all of its steps, and the cycles in which none was active.
    fn take_seq(&mut self, seq: Seq<Self>, counted: &mut Counted) {
        self.go(seq.path, true, counted);
        for (&work, &cycles) in &seq.own {
            let questions = &counted.asked.sites[&(seq.path, work)].cycles;
            self.add(questions, cycles, &mut counted.answers);
        }
        let of = &counted.asked.seqs[&seq.path];
        let steps = || seq.steps.values().map(|step| &step.tally);
        let cycles: u64 = steps().map(|step| step.cycles).sum();
        self.cycles += cycles;
        let Some(order) = &of.order else {
            for (&question, &saved) in steps().flat_map(|step| &step.by_question) {
                self.save(question, saved);
            }
            return;
        };
        let questions = steps().flat_map(|step| step.by_question.keys().copied());
        let mut questions: BTreeSet<usize> = questions.collect();
        questions.extend([DATA_ORDER, ALL_ORDER]);
        questions.extend(of.question);
        questions.extend(of.more.keys());
        questions.extend(of.is_wanted.then_some(WANTED));
        for question in questions {
            let is_more = counted.asked.more.contains(&question);
            let is_ordered = is_more
                || [DATA_ORDER, ALL_ORDER].contains(&question)
                || of.question == Some(question)
                || (of.is_wanted && question == WANTED);
            let takes = |question: usize, waits: &dyn Fn(&Contention) -> bool| {
                let steps = || steps().map(|step| step.takes(question, &counted.asked));
                if !is_ordered {
                    return steps().sum();
                }
                let nodes = order.steps.iter().map(|step| step.node);
                let known = nodes.map(|node| {
                    let step = seq.steps.get(&node);
                    step.map_or(0, |step| step.tally.takes(question, &counted.asked))
                });
                let known: Vec<u64> = known.collect();
                let others = steps().sum::<u64>() - known.iter().sum::<u64>();
                others + order.critical_path(&known, waits)
            };
            let now = if is_more {
                takes(ALL_ORDER, &|_| true)
            } else {
                cycles
            };
            let more = of.more.get(&question);
            let waits = |of: &Contention| {
                let is_more = more.is_some_and(|more| [&of.cell, &of.other].contains(&more));
                question != DATA_ORDER && !is_more
            };
            self.save(question, signed(now) - signed(takes(question, &waits)));
        }
    }

    fn end(&mut self, counted: &mut Counted) {
        self.end_run(counted);
        for going in std::mem::take(&mut self.loops) {
            self.shorten(going.question, self.cycles - going.began, counted);
        }
        self.enter(&[], &counted.asked, &mut counted.parts);
    }
}
