//! Which questions a cycle, `par`, `seq` or loop of a run is in.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use petal_metadata::{Metadata, Sequence};
use petal_reconstruct::FrameLabels;

use super::question::Question;
use crate::parts::Part;
use crate::plans::{PathId, Plan, Plans, Work};

/// What is asked for at once.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// What takes nothing any more, or less.
    pub without: BTreeSet<Question>,
    /// How many cycles each run takes of what [`Question::Group`] and [`Question::Invoke`] are about.
    pub cycles: BTreeMap<Question, u64>,
}

impl Wanted {
    /// What there is or is not, in words.
    pub fn text(&self, metadata: &Metadata, labels: &FrameLabels) -> String {
        let without = self.without.iter().map(|of| of.text(metadata, labels));
        let cycles = self.cycles.iter();
        let cycles =
            cycles.map(|(of, cycles)| format!("{}={cycles}", of.subject(metadata, labels)));
        without.chain(cycles).collect::<Vec<_>>().join(", ")
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.without.is_empty() && self.cycles.is_empty()
    }
}

/// The number of [`Question::Wanted`].
pub(super) const WANTED: usize = 0;
/// The number of [`Question::DataOrder`].
pub(super) const DATA_ORDER: usize = 1;
/// The number of [`Question::AllOrder`].
pub(super) const ALL_ORDER: usize = 2;
/// The number of [`Question::AllButComputation`].
pub(super) const COMPUTATION: usize = 3;

/// The questions about a run, by their numbers.
#[derive(Debug)]
pub(super) struct Asked {
    pub questions: Vec<Question>,
    numbers: HashMap<Question, usize>,
    wanted: Wanted,
    /// How many cycles each run is to take, by the number of the question that is about it.
    pub cycles: HashMap<usize, u64>,
    pub sites: HashMap<(PathId, Work), AtSite>,
    pub pars: HashMap<PathId, AtPar>,
    pub seqs: HashMap<PathId, AtSeq>,
    /// The loops that a path is in, or is, inside of the `par` or `seq` that adds it up; inner ones first.
    pub loops: HashMap<PathId, Vec<AtLoop>>,
    /// The parts of the run that a path is in, or is, inside of the same.
    pub parts: HashMap<PathId, Vec<Part>>,
    /// The numbers of all [`Question::More`].
    pub more: BTreeSet<usize>,
}

/// What a site does.
#[derive(Debug)]
pub(super) struct AtSite {
    /// The questions that its cycles are in.
    pub cycles: Vec<usize>,
    /// That of a cycle less for each of its runs.
    pub run: Option<usize>,
}

#[derive(Debug)]
pub(super) struct AtPar {
    /// The questions of the cycles in which no arm is active.
    pub own: Vec<usize>,
    pub balance: usize,
    /// Whether that is wanted.
    pub is_wanted: bool,
}

#[derive(Debug)]
pub(super) struct AtSeq {
    /// What waits for what; `None` where each step waits for the one before.
    pub order: Option<Sequence>,
    pub question: Option<usize>,
    /// Whether that is wanted.
    pub is_wanted: bool,
    /// The cells that steps wait for one another for, by the questions about them.
    pub more: BTreeMap<usize, String>,
}

#[derive(Debug)]
pub(super) struct AtLoop {
    pub path: PathId,
    pub question: usize,
    pub is_in_body: bool,
}

impl Asked {
    pub fn new(wanted: Wanted) -> Self {
        let mut asked = Self {
            questions: Vec::new(),
            numbers: HashMap::default(),
            cycles: HashMap::default(),
            sites: HashMap::default(),
            pars: HashMap::default(),
            seqs: HashMap::default(),
            loops: HashMap::default(),
            parts: HashMap::default(),
            more: BTreeSet::new(),
            wanted: Wanted::default(),
        };
        // Also of a run in which there is nothing of the kind.
        for all in [
            Question::Wanted,
            Question::DataOrder,
            Question::AllOrder,
            Question::AllButComputation,
            Question::AllControl,
            Question::AllConditions,
        ] {
            asked.number(all);
        }
        for (&question, &cycles) in &wanted.cycles {
            let number = asked.number(question);
            asked.cycles.insert(number, cycles);
        }
        asked.wanted = wanted;
        asked
    }

    fn number(&mut self, question: Question) -> usize {
        let next = self.questions.len();
        let number = *self.numbers.entry(question).or_insert(next);
        if number == next {
            self.questions.push(question);
        }
        number
    }

    pub fn is_wanted(&self, question: Question) -> bool {
        self.wanted.without.contains(&question)
    }

    /// Whether something is wanted that the compiler makes other control of.
    pub fn estimates_wanted(&self) -> bool {
        let mut without = self.wanted.without.iter();
        without.any(|of| of.control().is_some())
    }

    /// The number of the control that may be another one if a question is true.
    pub fn control_of(&self, question: Question) -> Option<usize> {
        let control = match question {
            Question::Wanted => self.estimates_wanted().then_some(Question::AllControl),
            question => question.control(),
        };
        self.numbers.get(&control?).copied()
    }

    /// Learns what there is to ask of a plan.
    pub fn learn(&mut self, plan: &Plan, plans: &Plans<'_>) {
        self.learn_inside(plan, None, plans);
    }

    /// The same of a part of the `par` or `seq` `outside`.
    fn learn_inside(&mut self, plan: &Plan, outside: Option<PathId>, plans: &Plans<'_>) {
        match plan {
            Plan::At(path, work) => {
                self.learn_site(*path, *work, plans);
                self.learn_loops(*path, outside, plans);
            }
            Plan::AtSeq(path, work) => {
                self.learn_site(*path, *work, plans);
                self.learn_seq(*path, plans);
                self.learn_loops(*path, outside, plans);
            }
            Plan::Seq(path, _, plan) => {
                self.learn_seq(*path, plans);
                self.learn_loops(*path, outside, plans);
                self.learn_inside(plan, Some(*path), plans);
            }
            Plan::Par(path, arms) => {
                let site = plans.paths[*path].1;
                self.learn_site(*path, Work::Control, plans);
                self.learn_loops(*path, outside, plans);
                if let Some(statement) = site.statement {
                    let question = Question::Balance((plans.component(site.instance), statement));
                    let par = AtPar {
                        own: self.sites[&(*path, Work::Control)].cycles.clone(),
                        balance: self.number(question),
                        is_wanted: self.is_wanted(question),
                    };
                    self.pars.insert(*path, par);
                }
                for (_, arm) in arms {
                    self.learn_inside(arm, Some(*path), plans);
                }
            }
        }
    }

    fn learn_site(&mut self, path: PathId, work: Work, plans: &Plans<'_>) {
        if self.sites.contains_key(&(path, work)) {
            return;
        }
        let site = plans.paths[path].1;
        let component = plans.component(site.instance);
        let own = site.statement.map(|of| (component, of));
        let questions = match work {
            Work::Computation => Vec::new(),
            Work::Condition => {
                let all = [Question::AllConditions, Question::AllButComputation];
                all.into_iter()
                    .chain(own.map(Question::Condition))
                    .collect()
            }
            Work::Control => {
                let own = own.map_or(Question::Call(component), Question::Control);
                vec![Question::AllControl, Question::AllButComputation, own]
            }
        };
        let run = own.filter(|_| work == Work::Computation);
        let run = run.and_then(|of| Question::of_enable(plans.metadata, of));
        let is_wanted = questions.iter().any(|&question| self.is_wanted(question));
        let numbers = questions.into_iter().map(|question| self.number(question));
        let mut cycles: Vec<usize> = numbers.collect();
        cycles.extend((work != Work::Computation).then_some(DATA_ORDER));
        cycles.extend(is_wanted.then_some(WANTED));
        let run = run.map(|question| self.number(question));
        self.sites.insert((path, work), AtSite { cycles, run });
    }

    fn learn_seq(&mut self, path: PathId, plans: &Plans<'_>) {
        if self.seqs.contains_key(&path) {
            return;
        }
        let site = plans.paths[path].1;
        let component = plans.component(site.instance);
        let node = site.statement;
        let sequences = &plans.metadata.component(component).sequences;
        let order = node
            .and_then(|node| sequences.iter().find(|of| of.node == node))
            .cloned();
        let question = order
            .as_ref()
            .map(|order| Question::Order((component, order.node)));
        let mut seq = AtSeq {
            order,
            question: question.map(|question| self.number(question)),
            is_wanted: question.is_some_and(|question| self.is_wanted(question))
                || self.is_wanted(Question::AllOrder),
            more: BTreeMap::new(),
        };
        let here = seq.order.as_ref().map(contended).unwrap_or_default();
        let all = (!here.is_empty()).then(|| all_contended(sequences));
        for (at, name) in all.into_iter().flatten().enumerate() {
            if here.contains(&name) {
                let number = self.number(Question::More(component, at));
                self.more.insert(number);
                seq.more.insert(number, name);
            }
        }
        self.seqs.insert(path, seq);
    }

    fn learn_loops(&mut self, path: PathId, outside: Option<PathId>, plans: &Plans<'_>) {
        if self.loops.contains_key(&path) {
            return;
        }
        let mut loops = Vec::new();
        let mut parts = Vec::new();
        let around = std::iter::successors(Some(path), |&path| plans.paths[path].0);
        for at in around.take_while(|&at| Some(at) != outside) {
            let site = plans.paths[at].1;
            let component = plans.component(site.instance);
            let part = Part::of(site, component, plans.metadata);
            if let Some(Part::Loop(of)) = part {
                loops.push(AtLoop {
                    path: at,
                    question: self.number(Question::Iteration(of)),
                    is_in_body: at != path,
                });
            }
            parts.extend(part);
        }
        self.loops.insert(path, loops);
        self.parts.insert(path, parts);
    }
}

/// All cells that steps of these wait for one another for, though not for data, in the order of their names.
pub(super) fn all_contended(sequences: &[Sequence]) -> impl Iterator<Item = String> {
    let all: BTreeSet<String> = sequences.iter().flat_map(contended).collect();
    all.into_iter()
}

/// Those of one.
fn contended(order: &Sequence) -> BTreeSet<String> {
    let contends = order.steps.iter().flat_map(|step| &step.contends);
    let same = contends.filter(|of| of.cell == of.other);
    same.map(|of| of.cell.clone()).collect()
}
