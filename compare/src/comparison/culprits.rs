//! What is to blame for a run that got longer.

use serde::Serialize;

use super::rows::{Change, GroupRow, StatementRow, Subject};

/// What grew, and so may be what made the run longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// The group or statement.
    pub name: String,
    /// By how many cycles: of a group its cycles, of a statement the overhead that is charged to it.
    pub cycles: u64,
    /// Whether these cycles are overhead.
    pub overhead: bool,
}

/// How many culprits are named.
const CULPRITS: usize = 3;

/// The groups and statements that grew most. A statement counts by its overhead: its cycles are also
/// those of the groups inside of it.
pub(super) fn culprits(groups: &[GroupRow], statements: &[StatementRow]) -> Vec<Culprit> {
    let grown = |subject: &Subject, change: Change, overhead: bool| {
        let cycles = change.after.saturating_sub(change.before);
        (cycles > 0).then(|| Culprit {
            name: subject.name.clone(),
            cycles,
            overhead,
        })
    };
    let mut culprits: Vec<Culprit> = statements
        .iter()
        .filter_map(|row| grown(&row.subject, row.overhead, true))
        .chain(
            groups
                .iter()
                .filter_map(|row| grown(&row.subject, row.subject.cycles, false)),
        )
        .collect();
    culprits.sort_by_key(|culprit| std::cmp::Reverse(culprit.cycles));
    culprits.truncate(CULPRITS);
    culprits
}
