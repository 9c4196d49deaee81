//! Which statements of a `seq` have to wait for which, and what groups take and set, as the data flow of the source says.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ids::ControlId;

/// A `seq` of which at least two statements do not depend on one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The `seq` or `static seq`.
    pub node: ControlId,
    /// Its statements, in order; those that do nothing are left out.
    pub steps: Vec<Step>,
}

/// A statement of a [`Sequence`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The statement.
    pub node: ControlId,
    /// The earlier steps, by position, that change what it reads or writes, or that read what it writes. Those that
    /// follow from others are left out: if a step is after one that is after a third, the third is not named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u32>,
    /// Hardware that it drives and an earlier step, which it need not wait for otherwise, drives too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contends: Vec<Contention>,
}

/// Hardware that two steps drive, which could otherwise run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contention {
    /// The earlier step, by position.
    pub with: u32,
    /// The cell that this step drives, by its name in the source.
    pub cell: String,
    /// The cell that the earlier step drives: the same, or another one to which the compiler gave the same hardware.
    pub other: String,
}

/// What a group does to registers, multipliers and dividers, and what sequential memories have read, by the names of the cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// Those that it surely takes values from as others left them.
    pub reads: BTreeSet<String>,
    /// Those that it sets, and whether it surely does.
    pub writes: BTreeMap<String, bool>,
    /// Memories of which it surely takes a word.
    pub words: BTreeSet<String>,
}

/// What the groups of a program do, by the names of component and group.
pub type Flows = BTreeMap<(String, String), Flow>;

impl Sequence {
    /// For each step the earlier ones, by position, that it has to wait for, directly or not.
    pub fn all_before(&self) -> Vec<BTreeSet<usize>> {
        let mut all: Vec<BTreeSet<usize>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            // Steps are checked to name only earlier ones.
            let direct = step.after.iter().map(|&before| before as usize);
            let indirect = direct.clone().flat_map(|before| &all[before]);
            let before = indirect.copied().chain(direct.clone()).collect();
            all.push(before);
        }
        all
    }

    /// How long the steps take if each waits only for those that it has to, given how long each takes; `waits` tells
    /// for which hardware two steps that drive it wait for one another as well.
    ///
    /// # Panics
    /// When `cycles` has fewer entries than there are steps.
    pub fn critical_path(&self, cycles: &[u64], waits: impl Fn(&Contention) -> bool) -> u64 {
        let mut ends: Vec<u64> = Vec::with_capacity(self.steps.len());
        for (at, step) in self.steps.iter().enumerate() {
            let contends = step.contends.iter().filter(|of| waits(of));
            let before = step.after.iter().copied();
            let before = before.chain(contends.map(|contention| contention.with));
            // Steps are checked to name only earlier ones.
            let start = before.map(|before| ends[before as usize]).max();
            ends.push(start.unwrap_or(0) + cycles[at]);
        }
        ends.into_iter().max().unwrap_or(0)
    }
}
