//! What a run waits for without need: statements of a `seq` that do not depend on one another.
//!
//! Owns the estimate of what that costs. Which statements are independent is a fact of the source, which the metadata have; how
//! many cycles could be saved is an upper bound, since statements that run at once need control of their own.

use petal_metadata::{Contention, ControlId, Metadata, Sequence};

use crate::ledger::{Ledger, StatementId};

/// A `seq` that would be shorter if statements ran at once that do not depend on one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Independence<'a> {
    /// The `seq`.
    pub statement: StatementId,
    /// Cycles that it would save at most, in all instances together.
    pub cycles: u64,
    /// Two statements that do not depend on one another, the one that takes longer first.
    pub pair: (ControlId, ControlId),
    /// The hardware that both drive; they could not run at once without cells of their own.
    pub contention: Option<&'a Contention>,
}

/// The sequences of a run that would be shorter. A `seq` is in it once for statements that could
/// run at once as they are, and once for those that could with hardware of their own.
pub fn independences<'a>(metadata: &'a Metadata, ledger: &Ledger) -> Vec<Independence<'a>> {
    let mut all = Vec::new();
    for id in metadata.component_ids() {
        let cycles_of = |node| {
            let statement = ledger.statements.get(&(id, node));
            statement.map_or(0, |statement| statement.cycles)
        };
        for sequence in &metadata.component(id).sequences {
            let steps = sequence.steps.iter();
            let cycles: Vec<u64> = steps.map(|step| cycles_of(step.node)).collect();
            // The compiler may let them overlap already.
            let now = cycles.iter().sum::<u64>().min(cycles_of(sequence.node));
            let as_built = sequence.critical_path(&cycles, |_| true).min(now);
            let with_own_cells = sequence.critical_path(&cycles, |_| false).min(as_built);
            let losses = [(now - as_built, false), (as_built - with_own_cells, true)];
            for (lost, contends) in losses {
                let Some((longer, shorter)) = longest_pair(sequence, &cycles, contends) else {
                    continue;
                };
                if lost > 0 {
                    all.push(Independence {
                        statement: (id, sequence.node),
                        cycles: lost,
                        pair: (sequence.steps[longer].node, sequence.steps[shorter].node),
                        contention: contention(sequence, longer, shorter),
                    });
                }
            }
        }
    }
    all
}

/// The hardware that two steps contend for.
fn contention(sequence: &Sequence, a: usize, b: usize) -> Option<&Contention> {
    let (earlier, later) = (a.min(b), a.max(b));
    let mut contends = sequence.steps[later].contends.iter();
    contends.find(|contention| contention.with as usize == earlier)
}

/// Of the pairs of steps that do not depend on one another, and contend for hardware or not, the one of which both take longest;
/// of each the longer one first.
fn longest_pair(sequence: &Sequence, cycles: &[u64], contends: bool) -> Option<(usize, usize)> {
    let before = sequence.all_before();
    let count = sequence.steps.len();
    let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let independent = pairs.filter(|&(earlier, later)| {
        !before[later].contains(&earlier)
            && contention(sequence, earlier, later).is_some() == contends
    });
    let longest = independent.max_by_key(|&(earlier, later)| {
        let (a, b) = (cycles[earlier], cycles[later]);
        (a.min(b), a.max(b), std::cmp::Reverse((earlier, later)))
    })?;
    let (a, b) = longest;
    Some(if cycles[a] >= cycles[b] {
        (a, b)
    } else {
        (b, a)
    })
}
