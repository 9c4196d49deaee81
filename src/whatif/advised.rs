//! Which kinds of advice may make true what is asked. Whether one can be had, `petal advise` tries.

use std::collections::{BTreeMap, BTreeSet};

use petal_advise::{Profile as _, Rewrite, RewriteKind};
use petal_analysis::replay::Question;
use petal_analysis::{Analysis, StatementId};
use petal_metadata::{CellKind, ComponentId, ControlId, Id as _, Metadata};
use petal_profile::Error;
use petal_program::Program;

use crate::advise::Profiles;

/// The kinds of advice that there are.
pub struct Advised<'a> {
    metadata: &'a Metadata,
    /// By the statements that it is about.
    kinds: BTreeMap<StatementId, BTreeSet<RewriteKind>>,
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
            kinds: BTreeMap::new(),
        };
        for rewrite in petal_advise::rewrites(program, profiles.observed())? {
            advised.add(&rewrite);
        }
        Ok(advised)
    }

    fn add(&mut self, rewrite: &Rewrite) {
        let mut components = self.metadata.component_ids();
        let Some(component) =
            components.find(|id| self.metadata.component(*id).name == rewrite.component)
        else {
            return;
        };
        for &statement in rewrite.arms.iter().flatten() {
            let kinds = self.kinds.entry((component, statement)).or_default();
            kinds.insert(rewrite.kind);
        }
    }

    /// What may help with a question, in words; empty if nothing is known.
    pub fn text(&self, question: Question) -> String {
        let fits = |kinds: &[RewriteKind], statements: Vec<StatementId>| {
            let of = statements.iter().filter_map(|of| self.kinds.get(of));
            let of: BTreeSet<RewriteKind> = of.flatten().copied().collect();
            let known = kinds.iter().filter(|kind| of.contains(*kind));
            let names: Vec<&str> = known.map(|kind| kind.name()).collect();
            names.join(", ")
        };
        match question {
            Question::Control(of) if self.metadata.component(of.0).node(of.1).kind.is_loop() => {
                fits(&[RewriteKind::FixedIterations], vec![of])
            }
            Question::Control(of) => {
                let kinds = [
                    RewriteKind::MergedGroups,
                    RewriteKind::ExclusiveBranches,
                    RewriteKind::SequentialArms,
                    RewriteKind::FixedLatency,
                ];
                fits(&kinds, self.with_children(of))
            }
            Question::Condition(of) => {
                let kinds = [
                    RewriteKind::ContinuousCondition,
                    RewriteKind::FixedIterations,
                ];
                fits(&kinds, vec![of])
            }
            Question::Order(of) => fits(&[RewriteKind::ParallelSteps], self.with_children(of)),
            Question::Call(of) => fits(&[RewriteKind::Inline], self.calls(of)),
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
            | Question::Iteration(_) => String::new(),
        }
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
