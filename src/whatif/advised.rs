//! Which kinds of advice may make true what is asked, and what each does by itself: tried, and compared with the run as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use petal_advise::{Limit, Profile as _, Rewrite, RewriteKind, Trial, Workshop as _};
use petal_analysis::replay::{Answer, Question};
use petal_analysis::{Analysis, StatementId};
use petal_metadata::{CellKind, ComponentId, ControlId, Id as _, Metadata};
use petal_profile::{Error, Options, Simulator, interrupt};
use petal_program::Program;
use petal_table::thousands;

use crate::advise::{Profiles, Shop, read};
use crate::messages;

/// The edits that there are.
pub struct Advised<'a> {
    metadata: &'a Metadata,
    edits: Vec<Candidate>,
    /// By the statements that they are about.
    by_statement: BTreeMap<StatementId, Vec<usize>>,
}

/// An edit, and what came of it.
struct Candidate {
    rewrite: Rewrite,
    is_tried: bool,
    /// The cycles that it saves; `None` as well where it leaves something else in the memories, or comes to no end.
    saved: Option<i64>,
}

impl<'a> Advised<'a> {
    /// About a program that was profiled.
    pub fn of(
        program: Program,
        metadata: &'a Metadata,
        analysis: &Analysis<'_>,
    ) -> Result<Self, Error> {
        let mut profiles = Profiles::default();
        profiles.add(metadata, analysis, true);
        let mut advised = Self {
            metadata,
            edits: Vec::new(),
            by_statement: BTreeMap::new(),
        };
        for rewrite in petal_advise::rewrites(program, profiles.observed())? {
            advised.add(rewrite);
        }
        Ok(advised)
    }

    fn add(&mut self, rewrite: Rewrite) {
        let mut components = self.metadata.component_ids();
        let Some(component) =
            components.find(|id| self.metadata.component(*id).name == rewrite.component)
        else {
            return;
        };
        let number = self.edits.len();
        for &statement in rewrite.arms.iter().flatten() {
            let edits = self.by_statement.entry((component, statement)).or_default();
            edits.push(number);
        }
        self.edits.push(Candidate {
            rewrite,
            is_tried: false,
            saved: None,
        });
    }

    /// Tries the edits that fit a question, as long as there is time: first conditions, then those that may save most.
    pub fn try_each(
        &mut self,
        options: &Options,
        answers: &[(Question, Answer)],
        (budget, quiet): (Duration, bool),
    ) -> Result<(), Error> {
        // What a condition costs, only a simulation tells.
        let mut potential: BTreeMap<usize, (bool, i64)> = BTreeMap::new();
        for &(question, answer) in answers {
            for edit in self.fitting(question) {
                let kind = self.edits[edit].rewrite.kind;
                let is_condition = kind == RewriteKind::ContinuousCondition;
                let most = potential.entry(edit).or_default();
                *most = (is_condition, answer.saved).max(*most);
            }
        }
        let mut order: Vec<usize> = potential.keys().copied().collect();
        order.sort_by_key(|edit| std::cmp::Reverse(potential[edit]));
        if order.is_empty() {
            return Ok(());
        }
        let (source, text) = read(options.design.source.clone())?;
        let runs = [Options {
            simulator: Simulator::Embedded,
            ..options.clone()
        }];
        let shop = match Shop::new(
            ("simulating", quiet),
            &runs,
            Limit::Time(budget),
            source,
            &text,
        ) {
            Ok(shop) => shop,
            Err(error) => {
                interrupt::check()?;
                messages::note(format!("advice is not tried: {error}"));
                return Ok(());
            }
        };
        let rewrites = order.iter().map(|edit| &self.edits[*edit].rewrite);
        let rewrites: Vec<Rewrite> = rewrites.cloned().collect();
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let trials = petal_advise::try_each(&shop, text, &rewrites, budget, threads);
        shop.bar.finish_and_clear();
        interrupt::check()?;
        let before: u64 = shop.as_it_is().cycles.iter().sum();
        for (edit, trial) in order.into_iter().zip(trials.map_err(Error::new)?) {
            let tried = &mut self.edits[edit];
            tried.is_tried = trial.is_some();
            if let Some(Trial::Ran(ran)) = trial {
                let after: u64 = ran.cycles.iter().sum();
                let saved = i64::try_from(before).ok().zip(i64::try_from(after).ok());
                tried.saved = saved.map(|(before, after)| before - after);
            }
        }
        Ok(())
    }

    /// What a question saves where an edit of the program makes just that true, and was tried.
    pub fn simulated(&self, question: Question) -> Option<i64> {
        let Question::Condition(_) = question else {
            return None;
        };
        let mut edits = self.fitting(question).into_iter();
        edits.find_map(|edit| {
            let Candidate { rewrite, saved, .. } = &self.edits[edit];
            let is_alone = rewrite.arms.iter().flatten().count() == 1;
            let is_it = rewrite.kind == RewriteKind::ContinuousCondition && is_alone;
            saved.filter(|_| is_it)
        })
    }

    /// What may help with a question, in words, and how much it saves by itself; empty if nothing is known.
    pub fn text(&self, question: Question) -> String {
        let mut kinds: BTreeMap<RewriteKind, Option<i64>> = BTreeMap::new();
        for edit in self.fitting(question) {
            let tried = &self.edits[edit];
            // What saves nothing by itself is no advice.
            if !tried.is_tried || tried.saved > Some(0) {
                let best = kinds.entry(tried.rewrite.kind).or_default();
                *best = tried.saved.max(*best);
            }
        }
        let texts = kinds.into_iter().map(|(kind, saved)| match saved {
            Some(saved) => format!("{} {}", kind.name(), thousands(saved.unsigned_abs())),
            None => kind.name().to_owned(),
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    /// The edits that may help with a question.
    fn fitting(&self, question: Question) -> BTreeSet<usize> {
        let (kinds, statements): (&[RewriteKind], _) = match question {
            Question::Control(of) if self.metadata.component(of.0).node(of.1).kind.is_loop() => {
                (&[RewriteKind::FixedIterations], vec![of])
            }
            Question::Control(of) => (
                &[
                    RewriteKind::MergedGroups,
                    RewriteKind::ExclusiveBranches,
                    RewriteKind::SequentialArms,
                    RewriteKind::FixedLatency,
                ],
                self.with_children(of),
            ),
            Question::Condition(of) => (
                &[
                    RewriteKind::ContinuousCondition,
                    RewriteKind::FixedIterations,
                ],
                vec![of],
            ),
            Question::Order(of) => (
                &[RewriteKind::ParallelSteps, RewriteKind::OperationChaining],
                self.with_children(of),
            ),
            Question::Call(of) => (&[RewriteKind::Inline], self.calls(of)),
            Question::Wanted
            | Question::AllControl
            | Question::AllConditions
            | Question::AllButComputation
            | Question::AllOrder
            | Question::DataOrder
            | Question::More(..)
            | Question::Balance(_)
            | Question::Group(..)
            | Question::Invoke(_)
            | Question::Iteration(_) => return BTreeSet::new(),
        };
        let edits = statements.iter().filter_map(|of| self.by_statement.get(of));
        let edits = edits.flatten().copied();
        edits
            .filter(|edit| kinds.contains(&self.edits[*edit].rewrite.kind))
            .collect()
    }

    /// A statement, and those right below it.
    fn with_children(&self, (component, of): StatementId) -> Vec<StatementId> {
        let nodes = self
            .metadata
            .component(component)
            .control
            .iter()
            .enumerate();
        let nodes = nodes.map(|(at, node)| (ControlId::from_index(at), node.parent));
        let family = nodes.filter(|&(id, parent)| id == of || parent == Some(of));
        family.map(|(id, _)| (component, id)).collect()
    }

    /// The `invoke`s that run a component.
    fn calls(&self, called: ComponentId) -> Vec<StatementId> {
        let mut calls = Vec::new();
        for id in self.metadata.component_ids() {
            let component = self.metadata.component(id);
            for (at, node) in component.control.iter().enumerate() {
                let cell = node.cell.map(|cell| &component.cells[cell.index()].kind);
                if cell == Some(&CellKind::Component(called)) {
                    calls.push((id, ControlId::from_index(at)));
                }
            }
        }
        calls
    }
}
