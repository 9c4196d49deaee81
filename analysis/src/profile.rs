//! The trees of a trace, and in how many cycles each was active. All outputs that do not depend on
//! the order of cycles are computed from this.

use petal_metadata::Id;
use petal_reconstruct::{Again, CallTree, Event, Instance, Run, TreeId, Warning};

/// A trace without its order.
#[derive(Debug, Default)]
pub struct Profile {
    instances: Vec<Instance>,
    trees: Vec<CallTree>,
    cycles: Vec<u64>,
    warnings: Vec<Warning>,
    total: u64,
    last: Option<TreeId>,
}

impl Profile {
    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                self.trees.push(CallTree::clone(tree));
                self.cycles.push(0);
            }
            Event::Run(Run { tree, cycles, .. }) => {
                self.last = Some(*tree);
                self.cycles[tree.index()] += cycles;
                self.total += cycles;
            }
            Event::Warning(warning) => self.warnings.push(Warning::clone(warning)),
            Event::Gap(_) | Event::Update(_) | Event::Figures(_) | Event::End { .. } => {}
        }
    }

    /// Takes in what comes again.
    pub fn again(&mut self, again: &Again) {
        for Run { tree, cycles, .. } in again.runs() {
            let cycles = cycles * again.times();
            self.cycles[tree.index()] += cycles;
            self.total += cycles;
            self.last = Some(tree);
        }
    }

    /// The cycles of each tree.
    pub fn cycles(&self) -> &[u64] {
        &self.cycles
    }

    /// The tree of the last cycle; `None` for a run without cycles.
    pub fn last(&self) -> Option<TreeId> {
        self.last
    }

    /// Takes these cycles for those of the trees so far. `None` if there are more or fewer trees.
    pub fn restore(&mut self, cycles: &[u64], last: Option<TreeId>) -> Option<()> {
        let fits = |last: TreeId| last.index() < self.trees.len();
        if cycles.len() != self.trees.len() || !last.is_none_or(fits) {
            return None;
        }
        self.total = cycles
            .iter()
            .try_fold(0, |sum: u64, &of| sum.checked_add(of))?;
        self.cycles = cycles.to_vec();
        self.last = last;
        Some(())
    }

    /// All instances.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Each tree with the number of cycles in which it was active.
    pub fn trees(&self) -> impl Iterator<Item = (&CallTree, u64)> {
        self.trees.iter().zip(self.cycles.iter().copied())
    }

    /// The tree of the last cycle; `None` for a run without cycles.
    pub fn last_tree(&self) -> Option<&CallTree> {
        self.last.map(|tree| &self.trees[tree.index()])
    }

    /// What was odd in the waveform.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Length of the run in cycles.
    pub fn total(&self) -> u64 {
        self.total
    }
}
