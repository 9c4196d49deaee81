//! How long a run would take if something in it took less: its cycles put together anew, bottom-up. What follows one another adds up, and a
//! `par` takes as long as its longest arm.
//!
//! Owns the questions and their answers. What belongs to what in one cycle, `plans.rs` tells, and when a `par` ends, `pars.rs`. All questions are answered in one pass over the
//! trace; memory grows with the number of different call trees and of questions, not with cycles. A replay knows the run, and not what the
//! program would have done at other times: where results depend on time, it is no more than an estimate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use petal_metadata::{ComponentId, ControlKind, Id as _, Metadata};
use petal_reconstruct::{Event, FrameLabels, Run};

use crate::ledger::StatementId;
use crate::pars::{Par, Sum, Tally};
use crate::plans::{PathId, Plan, Plans, Work};

/// What takes no cycle any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// All cycles in which only control moves along.
    AllControl,
    /// All cycles in which only conditions are computed.
    AllConditions,
    /// Both: what computes is left, in the order that the run had.
    AllButComputation,
    /// The cycles in which control moves along for a statement.
    Control(StatementId),
    /// Those in which only the condition of a statement is computed.
    Condition(StatementId),
    /// Those in which a cell of this component has been started and does nothing yet, or has nothing more to do.
    Call(ComponentId),
    /// What the slowest arm of a `par` takes longer than the next one.
    Balance(StatementId),
}

/// What a replay found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// The cycles that are in question, in all arms of `par`s: what one would count. None are counted of [`Question::Balance`].
    pub counted: u64,
    /// How many the run would take less.
    pub saved: u64,
    /// Whether it may save less: where the compiler fixed the schedule, other steps may keep the time, and arms that meet at an `@sync` wait
    /// for one another.
    pub is_bound: bool,
}

/// Follows a trace, and answers all questions about it.
#[derive(Debug)]
pub struct Replay<'a> {
    plans: Plans<'a>,
    counted: Counted,
    sum: Sum<Saved>,
}

/// The questions about a run, by their numbers.
#[derive(Debug, Default)]
struct Asked {
    questions: Vec<Question>,
    numbers: HashMap<Question, usize>,
    /// Those of what a site does.
    of_sites: HashMap<(PathId, Work), Vec<usize>>,
    /// Those of the cycles of a `par` in which no arm is active, and that of its balance.
    of_pars: HashMap<PathId, (Vec<usize>, usize)>,
}

impl Asked {
    fn number(&mut self, question: Question) -> usize {
        let next = self.questions.len();
        let number = *self.numbers.entry(question).or_insert(next);
        if number == next {
            self.questions.push(question);
        }
        number
    }

    /// Learns what there is to ask of a plan.
    fn learn(&mut self, plan: &Plan, plans: &Plans<'_>) {
        match plan {
            Plan::At(path, work) => self.learn_site(*path, *work, plans),
            Plan::Par(path, arms) => {
                let site = plans.paths[*path].1;
                self.learn_site(*path, Work::Control, plans);
                if let Some(statement) = site.statement {
                    let id = (plans.component(site.instance), statement);
                    let balance = self.number(Question::Balance(id));
                    let own = self.of_sites[&(*path, Work::Control)].clone();
                    self.of_pars.insert(*path, (own, balance));
                }
                for (_, arm) in arms {
                    self.learn(arm, plans);
                }
            }
        }
    }

    fn learn_site(&mut self, path: PathId, work: Work, plans: &Plans<'_>) {
        if self.of_sites.contains_key(&(path, work)) {
            return;
        }
        let site = plans.paths[path].1;
        let component = plans.component(site.instance);
        let questions = match work {
            Work::Computation => Vec::new(),
            Work::Condition => {
                let own = site
                    .statement
                    .map(|of| Question::Condition((component, of)));
                let all = [Question::AllConditions, Question::AllButComputation];
                all.into_iter().chain(own).collect()
            }
            Work::Control => {
                let own = match site.statement {
                    Some(of) => Question::Control((component, of)),
                    None => Question::Call(component),
                };
                vec![Question::AllControl, Question::AllButComputation, own]
            }
        };
        let numbers = questions.into_iter().map(|question| self.number(question));
        let numbers = numbers.collect();
        self.of_sites.insert((path, work), numbers);
    }
}

/// The questions about a run, and what is counted of them.
#[derive(Debug, Default)]
struct Counted {
    asked: Asked,
    answers: Vec<Answer>,
}

/// The cycles of a part of a run.
#[derive(Debug, Default)]
struct Saved {
    cycles: u64,
    /// What each question saves of them; those that save nothing are left out.
    saved: BTreeMap<usize, u64>,
}

impl Saved {
    fn save(&mut self, question: usize, cycles: u64) {
        if cycles > 0 {
            *self.saved.entry(question).or_default() += cycles;
        }
    }

    /// Takes in cycles that are in question.
    fn add(&mut self, questions: &[usize], cycles: u64, answers: &mut [Answer]) {
        self.cycles += cycles;
        for &question in questions {
            self.save(question, cycles);
            answers[question].counted += cycles;
        }
    }
}

impl Tally for Saved {
    type Common = Counted;

    fn take(&mut self, path: PathId, work: Work, cycles: u64, common: &mut Counted) {
        let questions = &common.asked.of_sites[&(path, work)];
        self.add(questions, cycles, &mut common.answers);
    }

    /// It took as long as its longest arm, and the cycles in which none was active.
    fn take_par(&mut self, par: Par<Self>, common: &mut Counted) {
        let arms = || par.arms.values().map(|arm| &arm.sum.tally);
        let mut lengths: Vec<u64> = arms().map(|arm| arm.cycles).collect();
        lengths.sort_unstable();
        let longest = lengths.last().copied().unwrap_or(0);
        let own = common.asked.of_pars.get(&par.path);
        let questions = own.map_or(&[][..], |(questions, _)| questions);
        self.add(questions, par.cycles - longest, &mut common.answers);
        self.cycles += longest;
        if let (Some((_, balance)), [.., next, last]) = (own, &lengths[..]) {
            self.save(*balance, last - next);
        }
        let questions = arms().flat_map(|arm| arm.saved.keys().copied());
        let questions: BTreeSet<usize> = questions.collect();
        for question in questions {
            let takes = |arm: &Self| arm.cycles - arm.saved.get(&question).copied().unwrap_or(0);
            let takes = arms().map(takes).max().unwrap_or(0);
            self.save(question, longest - takes);
        }
    }
}

impl<'a> Replay<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata) -> Self {
        let mut asked = Asked::default();
        // Also of a run in which there is nothing of the kind.
        for all in [
            Question::AllControl,
            Question::AllConditions,
            Question::AllButComputation,
        ] {
            asked.number(all);
        }
        Self {
            plans: Plans::new(metadata),
            counted: Counted {
                asked,
                answers: Vec::new(),
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
                if let Some(plan) = self.plans.trees.last() {
                    self.counted.asked.learn(plan, &self.plans);
                }
                let Counted { asked, answers } = &mut self.counted;
                answers.resize(asked.questions.len(), Answer::default());
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

    /// The cycles of the run and what each question would save of them, most first, once the trace has ended.
    pub fn finish(mut self) -> (u64, Vec<(Question, Answer)>) {
        self.sum.close(&mut self.counted);
        let Counted { asked, mut answers } = self.counted;
        for (&question, &saved) in &self.sum.tally.saved {
            answers[question].saved = saved;
        }
        let metadata = self.plans.metadata;
        let mut components = metadata.component_ids().map(|id| metadata.component(id));
        let has_sync = components.any(|component| {
            let mut nodes = component.control.iter();
            nodes.any(|node| node.kind == ControlKind::Empty)
        });
        for answer in &mut answers {
            answer.is_bound = has_sync;
        }
        for (&(path, work), questions) in &asked.of_sites {
            let site = self.plans.paths[path].1;
            let component = metadata.component(self.plans.component(site.instance));
            let is_static = site
                .statement
                .is_some_and(|statement| component.node(statement).latency.is_some());
            let is_bound = is_static || self.plans.at_once.contains(&path);
            if is_bound && work != Work::Computation {
                for &question in questions {
                    answers[question].is_bound = true;
                }
            }
        }
        let answers = asked.questions.into_iter().zip(answers);
        let mut answers: Vec<(Question, Answer)> = answers.collect();
        answers.sort_by_key(|&(question, answer)| (Reverse(answer.saved), question));
        (self.sum.tally.cycles, answers)
    }
}

impl Question {
    /// What there is or is not, in words.
    pub fn text(self, metadata: &Metadata) -> String {
        let labels = FrameLabels::new(metadata);
        let statement = |(component, statement): StatementId| {
            let of = &metadata.component(component).name;
            format!("{of}.{}", labels.control(component, statement))
        };
        match self {
            Self::AllControl => "no control".to_owned(),
            Self::AllConditions => "no conditions".to_owned(),
            Self::AllButComputation => "computation alone".to_owned(),
            Self::Control(of) => format!("no control of {}", statement(of)),
            Self::Condition(of) => format!("no condition of {}", statement(of)),
            Self::Call(component) => {
                let of = &metadata.component(component).name;
                format!("no start and finish of {of}")
            }
            Self::Balance(of) => format!("{} balanced", statement(of)),
        }
    }
}
