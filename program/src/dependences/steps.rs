//! The statements of a `seq`, and which of them have to wait for which.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::{Contention, ControlId, Sequence, Step};

use super::effects::Effects;
use crate::tree::NodeKey;

/// Longer sequences are left out, since the work grows with the square of the length.
pub(super) const MAX_STEPS: usize = 512;

/// The statements of a `seq` of the source, with what each does.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    pub node: NodeKey,
    pub steps: Vec<(NodeKey, Effects)>,
}

impl Steps {
    pub fn sequence(
        &self,
        ids: &HashMap<NodeKey, ControlId>,
        lives_in: &impl Fn(ir::Id) -> ir::Id,
    ) -> Option<Sequence> {
        let mut steps = Vec::new();
        // For each step the ones that it waits for, directly or not.
        let mut before: Vec<BTreeSet<usize>> = Vec::new();
        for (at, (key, effects)) in self.steps.iter().enumerate() {
            let mut all = BTreeSet::new();
            let mut after = Vec::new();
            for earlier in (0..at).rev() {
                if !all.contains(&earlier) && !effects.is_independent_of(&self.steps[earlier].1) {
                    all.insert(earlier);
                    all.extend(&before[earlier]);
                    after.push(index(earlier));
                }
            }
            after.reverse();
            let mut contends = Vec::new();
            for earlier in (0..at).filter(|earlier| !all.contains(earlier)) {
                contends.extend(contentions(
                    index(earlier),
                    &self.steps[earlier].1,
                    effects,
                    lives_in,
                ));
            }
            before.push(all);
            steps.push(Step {
                node: *ids.get(key)?,
                after,
                contends,
            });
        }
        let is_chain = before.iter().enumerate().all(|(at, all)| all.len() == at);
        (!is_chain).then_some(Sequence {
            node: *ids.get(&self.node)?,
            steps,
        })
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("at most MAX_STEPS")
}

/// The hardware that both of two independent steps drive.
fn contentions<'a>(
    with: u32,
    earlier: &'a Effects,
    later: &'a Effects,
    lives_in: &'a impl Fn(ir::Id) -> ir::Id,
) -> impl Iterator<Item = Contention> + 'a {
    let hardware: BTreeMap<ir::Id, ir::Id> = earlier
        .drives
        .iter()
        .map(|&cell| (lives_in(cell), cell))
        .collect();
    later.drives.iter().filter_map(move |&cell| {
        let other = if earlier.drives.contains(&cell) {
            cell
        } else {
            *hardware.get(&lives_in(cell))?
        };
        Some(Contention {
            with,
            cell: cell.to_string(),
            other: other.to_string(),
        })
    })
}
