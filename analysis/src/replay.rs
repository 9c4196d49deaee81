//! How long a run would take if something in it took less: its cycles put together anew, bottom-up. What follows one another adds up, and a
//! `par` takes as long as its longest arm.
//!
//! Owns the questions and their answers. What belongs to what in one cycle, `plans.rs` tells, and when a `par` or `seq` ends, `sums.rs`. All
//! questions are answered in one pass over the trace; memory grows with the number of different call trees and of questions, not with cycles. A
//! replay knows the run, and not what the program would have done at other times: where results depend on time, it is no more than an estimate.

mod asked;
mod question;
mod saved;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{ComponentId, ControlId, ControlKind, Id as _, Metadata};
use petal_reconstruct::{Event, Run};

pub use self::asked::Wanted;
use self::asked::{Asked, WANTED};
pub use self::question::Question;
pub use self::saved::Times;
use self::saved::{Counted, Saved};
use crate::activations::Activations;
use crate::control::Counts;
use crate::ledger::StatementId;
use crate::parts::Part;
use crate::plans::{PathId, Plans, Work};
use crate::sums::Sum;

/// What a replay found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// The cycles that are in question, in all arms of `par`s: what one would count. None are counted of [`Question::Balance`]
    /// and where steps have another order.
    pub counted: i64,
    /// How many the run would take less.
    pub saved: i64,
    /// What it saves at least and at most, if that is all that is known: where the compiler fixed the schedule, other steps may keep the time,
    /// arms that meet at an `@sync` wait for one another, and what takes no condition, or runs at once, has other control.
    pub between: Option<(i64, i64)>,
}

/// What a replay found of a run.
#[derive(Debug)]
pub struct Found {
    /// The cycles of the run.
    pub cycles: u64,
    /// Most first. Left out is what the call trees do not tell: single runs and iterations that follow one another without a break, and runs
    /// some of whose cycles belong to something else, such as a cell.
    pub answers: Vec<(Question, Answer)>,
    /// What was wanted and is left out.
    pub unknown: Vec<Question>,
    /// How long each part of the run takes.
    pub parts: BTreeMap<Part, Times>,
}

/// Follows a trace, and answers all questions about it.
#[derive(Debug)]
pub struct Replay<'a> {
    plans: Plans<'a>,
    counted: Counted,
    sum: Sum<Saved>,
}

impl<'a> Replay<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata, wanted: Wanted) -> Self {
        Self {
            plans: Plans::new(metadata),
            counted: Counted {
                asked: Asked::new(wanted),
                answers: Vec::new(),
                longer: 0,
                seen: Vec::new(),
                parts: BTreeMap::new(),
            },
            sum: Sum::default(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.plans.instance(*instance),
            Event::Tree(tree) => {
                self.plans.tree(tree);
                let Counted {
                    asked,
                    answers,
                    seen,
                    ..
                } = &mut self.counted;
                if let Some(plan) = self.plans.trees.last() {
                    asked.learn(plan, &self.plans);
                }
                answers.resize(asked.questions.len(), Answer::default());
                seen.resize(asked.questions.len(), (0, 0));
            }
            Event::Run(Run {
                tree,
                start,
                cycles,
            }) => {
                let plan = &self.plans.trees[tree.index()];
                let end = start.cycles() + cycles;
                self.sum.add(plan, *cycles, end, &mut self.counted);
            }
            _ => {}
        }
    }

    /// What was found, once the trace has ended; `activations` are those of the same run.
    pub fn finish(mut self, activations: &Activations<'_>) -> Found {
        self.sum.end(&mut self.counted);
        let metadata = self.plans.metadata;
        let estimates = self.estimates();
        let Counted {
            asked,
            mut answers,
            longer,
            seen,
            parts,
        } = self.counted;
        for (&question, &saved) in &self.sum.tally.by_question {
            answers[question].saved = saved;
        }
        let counts = Counts::of(metadata, activations);
        let has_parts = has_parts(metadata);
        let has_sync = has_sync(metadata);
        let mut found = Found {
            cycles: self.sum.tally.cycles,
            answers: Vec::new(),
            unknown: Vec::new(),
            parts,
        };
        for (number, &question) in asked.questions.iter().enumerate() {
            let mut answer = answers.get(number).copied().unwrap_or_default();
            if estimates.contains(&number) {
                let longer = if number == WANTED { longer } else { 0 };
                let control = asked.control_of(question).and_then(|of| answers.get(of));
                let control = control.map_or(0, |of| of.counted);
                let lost = if has_sync { control } else { 0 };
                let least = answer.saved.min(0).min(-longer) - lost;
                let most = answer.saved.max(answer.counted + longer) + control;
                let all = i64::try_from(found.cycles).unwrap_or(i64::MAX);
                answer.between = Some((least, most.min(all)));
            }
            let seen = seen.get(number).copied().unwrap_or_default();
            let is_known = match question {
                // An arm in which a group runs in parts has cycles in which nothing of it is active.
                Question::Balance(_)
                | Question::Group(..)
                | Question::Invoke(_)
                | Question::Iteration(_) => {
                    !has_parts && is_whole(question, seen, metadata, &counts)
                }
                _ => true,
            };
            if !is_known {
                if asked.cycles.contains_key(&number) || asked.is_wanted(question) {
                    found.unknown.push(question);
                }
                continue;
            }
            found.answers.push((question, answer));
        }
        let order = |&(question, answer): &(Question, Answer)| (Reverse(answer.saved), question);
        found.answers.sort_by_key(order);
        found
    }

    /// The questions that may save more or less.
    fn estimates(&self) -> BTreeSet<usize> {
        let metadata = self.plans.metadata;
        let asked = &self.counted.asked;
        if has_sync(metadata) || has_parts(metadata) {
            return (0..asked.questions.len()).collect();
        }
        let is_fixed = |path: PathId| {
            let site = self.plans.paths[path].1;
            let component = self.plans.component(site.instance);
            let statement = site.statement;
            let is_static = statement.is_some_and(|of| is_static(metadata, (component, of)));
            is_static || self.plans.at_once.contains(&path)
        };
        let mut estimates = BTreeSet::new();
        for (&(path, work), site) in &asked.sites {
            if is_fixed(path) {
                let computes = work == Work::Computation;
                estimates.extend(site.cycles.iter().filter(|_| !computes));
                estimates.extend(site.run);
                let is_wanted = |run: usize| asked.cycles.contains_key(&run);
                estimates.extend(site.run.filter(|&run| is_wanted(run)).map(|_| WANTED));
            }
        }
        for (number, question) in asked.questions.iter().enumerate() {
            let is_estimate = match question {
                Question::Iteration(of) => is_static(metadata, *of),
                question => question.control().is_some(),
            };
            estimates.extend(is_estimate.then_some(number));
        }
        estimates.extend(asked.estimates_wanted().then_some(WANTED));
        estimates
    }
}

/// Whether the compiler fixed when a statement runs.
fn is_static(metadata: &Metadata, (component, of): StatementId) -> bool {
    let component = metadata.component(component);
    let mut runs = component.runs.iter();
    let is_fixed = |node: ControlId| component.node(node).latency.is_some();
    is_fixed(of)
        || component.node(of).parent.is_some_and(is_fixed)
        || runs.any(|run| run.control == Some(of) && run.role.is_body() && run.latency.is_some())
}

/// Whether arms of a `par` wait for one another.
fn has_sync(metadata: &Metadata) -> bool {
    let mut components = metadata.component_ids().map(|id| metadata.component(id));
    components.any(|component| {
        let mut nodes = component.control.iter();
        nodes.any(|node| node.kind == ControlKind::Empty)
    })
}

/// Whether the compiler has split a group.
fn has_parts(metadata: &Metadata) -> bool {
    let components = metadata.component_ids().map(|id| metadata.component(id));
    let mut runs = components.flat_map(|component| &component.runs);
    runs.any(|run| run.part.is_some())
}

/// Whether all runs and iterations of what a question is about were seen, if that matters: so many of them, of so many cycles.
fn is_whole(
    question: Question,
    (times, total): (u64, u64),
    metadata: &Metadata,
    counts: &Counts<ComponentId>,
) -> bool {
    match question {
        Question::Group(..) | Question::Invoke(_) => {
            let statements = question.statements(metadata).into_iter();
            let mut all = Some((0, 0));
            for (component, of) in statements {
                let entered = counts.entered(component, of);
                all = all.zip(entered).map(|((times, total), entered)| {
                    (times + entered.count, total + entered.total)
                });
            }
            all == Some((times, total))
        }
        Question::Iteration((component, of)) => {
            counts.iterations(metadata.component(component), component, of) == Some(times)
        }
        _ => true,
    }
}
