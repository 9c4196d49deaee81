//! The trees of a trace, and in how many cycles each was active. All outputs that do not depend on
//! the order of cycles are computed from this.

use petal_metadata::Id;
use petal_reconstruct::{CallTree, Event, Instance, RegisterUpdate, Run, TreeId, Warning};

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
            Event::Update(RegisterUpdate { .. }) | Event::End { .. } => {}
        }
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
