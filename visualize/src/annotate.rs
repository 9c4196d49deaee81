//! The source with what each line cost in its margin.

use std::collections::BTreeMap;

use petal_metadata::{ControlId, FileId, Id, Metadata, Span};

use crate::activations::Activations;
use crate::keys::Item;
use crate::ledger::Ledger;

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number, counted from 1.
    pub number: u32,
    /// What the statements, groups and components that begin here cost; `None` if none does.
    pub cost: Option<Cost>,
    /// The source.
    pub text: &'a str,
}

/// What a line cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Cycles in which the outermost of what begins on the line was active, summed over the
    /// instances of the component.
    pub cycles: u64,
    /// The part of them in which something useful ran inside of it, conditions included.
    pub useful: u64,
    /// Overhead of the run that is charged to the statements that begin on the line.
    pub overhead: u64,
}

/// The lines of a source file. Over all files, `overhead` adds up to what the ledger charges to
/// statements.
pub fn annotate<'a>(
    metadata: &'a Metadata,
    ledger: &Ledger,
    activations: &Activations<'_>,
    file: FileId,
) -> Vec<Line<'a>> {
    let mut costs: BTreeMap<u32, Cost> = BTreeMap::new();
    let mut add = |span: Option<Span>, cycles: u64, useful: u64, overhead: u64| {
        let Some(span) = span.filter(|span| span.file == file) else {
            return;
        };
        let cost = costs.entry(span.line).or_default();
        cost.overhead += overhead;
        if cycles > cost.cycles {
            cost.cycles = cycles;
            cost.useful = useful;
        }
    };
    // Groups first: where one is defined on the line of a statement, the statement is meant.
    let mut groups: BTreeMap<_, u64> = BTreeMap::new();
    for (key, durations) in activations.durations() {
        if let Item::Group(run) = key.item {
            let id = activations.component_of(key);
            let group = metadata.component(id).run(run).group;
            *groups.entry((id, group)).or_default() += durations.total;
        }
    }
    for id in metadata.component_ids() {
        let component = metadata.component(id);
        for (at, group) in component.groups.iter().enumerate() {
            let cycles = groups.get(&(id, Id::from_index(at))).copied().unwrap_or(0);
            add(group.span, cycles, cycles, 0);
        }
        for (at, node) in component.control.iter().enumerate() {
            let statement = ledger
                .statements
                .get(&(id, ControlId::from_index(at)))
                .copied()
                .unwrap_or_default();
            add(
                node.span,
                statement.cycles,
                statement.useful,
                statement.charged(),
            );
        }
    }
    metadata.files[file.index()]
        .text
        .lines()
        .zip(1..)
        .map(|(text, number)| Line {
            number,
            cost: costs.get(&number).copied(),
            text,
        })
        .collect()
}
