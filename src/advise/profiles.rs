//! What profiles of a program tell about changes of it: where its cycles are spent, and what was always the same.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use petal_advise::{AdvisedStatement, Profile};
use petal_advise::{Observed, Rewrite, RewriteKind};
use petal_analysis::{Analysis, StatementId};
use petal_metadata::{Component, ComponentId, ControlId, Id as _, Metadata, Origin};
use petal_passes::Design;

/// What is known of the runs of a program with all data sets.
#[derive(Default)]
pub struct Profiles {
    observed: Observed,
    statements: HashMap<(String, ControlId), Statement>,
}

#[derive(Default, Clone)]
struct Statement {
    name: String,
    at: Option<(u32, u32)>,
    front_end: Option<String>,
    cycles: u64,
    useful: u64,
}

impl Profiles {
    /// Those of a design, before it has run.
    pub fn new(design: &Design, is_apart: bool) -> Self {
        let mut profiles = Self::default();
        profiles.observed.is_apart = is_apart;
        let joined = design.joined.iter();
        profiles.observed.joined = joined.map(|(component, _)| component.clone()).collect();
        profiles
    }

    /// Takes in a run.
    pub fn add(&mut self, metadata: &Metadata, analysis: &Analysis<'_>, first: bool) {
        let component = |id: ComponentId| metadata.component(id).name.clone();
        let components = metadata.components.iter();
        let written: Vec<_> = components.map(written).collect();
        let written = |(id, statement): StatementId| {
            let all: &Vec<(String, ControlId)> = &written[id.index()];
            all[statement.index()].clone()
        };
        for (&(id, statement), costs) in &analysis.ledger().statements {
            let entry = self.statements.entry(written((id, statement))).or_default();
            if entry.name.is_empty() {
                let of: StatementId = (id, statement);
                let span = metadata.component(id).node(statement).span;
                (entry.name, entry.front_end) = analysis.statement(of);
                // The line is that of the text as it is now.
                entry
                    .name
                    .truncate(entry.name.rfind('@').unwrap_or(entry.name.len()));
                entry.at = span.map(|span| (span.line, span.column));
            }
            entry.cycles += costs.cycles;
            entry.useful += costs.useful - costs.conditions;
        }
        let latencies = analysis.fixed_latencies().into_iter();
        let latencies = latencies.map(|((id, group), cycles)| {
            let group = metadata.component(id).group(group).name.clone();
            ((component(id), group), cycles)
        });
        let of_statement = |(of, count)| (written(of), count);
        let seen = Observed {
            latencies: latencies.collect(),
            invokes: analysis
                .fixed_invokes()
                .into_iter()
                .map(of_statement)
                .collect(),
            iterations: analysis
                .fixed_iterations()
                .into_iter()
                .map(of_statement)
                .collect(),
            shared: shared(metadata),
            joined: self.observed.joined.clone(),
            is_apart: self.observed.is_apart,
        };
        if first {
            self.observed = seen;
        } else {
            keep_equal(&mut self.observed.latencies, &seen.latencies);
            keep_equal(&mut self.observed.invokes, &seen.invokes);
            keep_equal(&mut self.observed.iterations, &seen.iterations);
        }
    }

    fn of(&self, rewrite: &Rewrite, statement: ControlId) -> Option<&Statement> {
        self.statements.get(&(rewrite.component.clone(), statement))
    }
}

/// Where each statement of a component is written: in which component, and as which statement of it. The compiler copies those of an inlined
/// component to where it was invoked.
fn written(component: &Component) -> Vec<(String, ControlId)> {
    let node = |id: ControlId| component.node(id);
    let mut counts: HashMap<Option<ControlId>, usize> = HashMap::new();
    let ids = (0..component.control.len()).map(ControlId::from_index);
    ids.map(|id| {
        let origin = &node(id).origin;
        let Origin::Inlined(from) = origin else {
            return (&component.name, None);
        };
        let around = std::iter::successors(Some(id), |id| node(*id).parent);
        let first = around.filter(|id| node(*id).origin == *origin).last();
        (from, first)
    })
    .map(|(name, copy)| {
        let count = counts.entry(copy).or_default();
        *count += 1;
        (name.clone(), ControlId::from_index(*count - 1))
    })
    .collect()
}

/// Keeps what is not contradicted by another run.
fn keep_equal<K: Eq + Hash>(observed: &mut HashMap<K, u64>, other: &HashMap<K, u64>) {
    observed.retain(|of, count| other.get(of).is_none_or(|other| other == count));
}

/// The cells whose hardware does the work of several.
fn shared(metadata: &Metadata) -> BTreeSet<(String, String)> {
    let mut shared = BTreeSet::new();
    for component in &metadata.components {
        for cell in &component.cells {
            if let Some(other) = cell.shares_hardware_of() {
                let of = |cell: &str| (component.name.clone(), cell.to_owned());
                shared.extend([of(&cell.name), of(other)]);
            }
        }
    }
    shared
}

impl Profile for Profiles {
    fn observed(&self) -> &Observed {
        &self.observed
    }

    fn potential(&self, rewrite: &Rewrite) -> u64 {
        let cycles = |arm: &Vec<ControlId>| {
            let statements = arm.iter().filter_map(|id| self.of(rewrite, *id));
            statements.map(|statement| statement.cycles).sum::<u64>()
        };
        let arms: Vec<u64> = rewrite.arms.iter().map(cycles).collect();
        let all = arms.iter().sum::<u64>();
        let useful = || {
            let statements = rewrite.arms.iter().flatten();
            let statements = statements.filter_map(|id| self.of(rewrite, *id));
            statements.map(|statement| statement.useful).sum::<u64>()
        };
        match rewrite.kind {
            RewriteKind::ParallelSteps
            | RewriteKind::MergedGroups
            | RewriteKind::OperationChaining => all - arms.into_iter().max().unwrap_or(0),
            // What control costs there; what it costs elsewhere may go with it.
            RewriteKind::FixedLatency => all.saturating_sub(useful()) + all.min(1),
            _ => all,
        }
    }

    fn place(&self, rewrite: &Rewrite) -> AdvisedStatement {
        let first = rewrite.arms.iter().flatten().next();
        let Some(statement) = first.and_then(|first| self.of(rewrite, *first)) else {
            return AdvisedStatement {
                name: Some(rewrite.component.clone()),
                ..AdvisedStatement::default()
            };
        };
        AdvisedStatement {
            name: Some(statement.name.clone()),
            at: statement.at,
            front_end: statement.front_end.clone(),
        }
    }
}
