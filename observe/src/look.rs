//! What an observation sees of a cycle, and whom it tells of a value.

use petal_reconstruct::{Instance, TreeId};
use petal_table::Value;

use crate::activity::Edge;
use crate::trees::Trees;
use crate::work::Work;

/// A cycle that is looked at.
pub(crate) struct Look<'a, 'b> {
    pub cycle: u64,
    /// The values of all nodes.
    pub values: &'a [u64],
    /// `None` after the run.
    pub tree: Option<TreeId>,
    /// What begins and ends to be active, each site for itself.
    pub edges: &'a [Edge],
    /// Whether the design was done then.
    pub is_done: bool,
    pub trees: &'a mut Trees<'b>,
    pub work: &'a Work,
    pub instances: &'a [Instance],
    /// Who hears of each value.
    pub told: Option<&'a mut (dyn FnMut(Told) + 'b)>,
    /// The number of the collector that looks.
    pub at: usize,
}

/// A value that is told as soon as it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The cycle.
    pub cycle: u64,
    /// The number of the observation.
    pub observation: usize,
    /// The word of a memory that was written.
    pub index: Option<u64>,
    /// The value.
    pub value: u64,
    /// What a checkpoint is called this time, if a value of the design names it.
    pub name: Option<String>,
    /// What a checkpoint records, each with its name.
    pub recorded: Vec<(String, Value)>,
}

impl Look<'_, '_> {
    /// Tells of a value.
    pub fn tell(&mut self, index: Option<u64>, value: u64) {
        self.tell_of(index, value, || (None, Vec::new()));
    }

    /// Tells of a value, with the name and what is recorded, if somebody hears of it.
    pub fn tell_of(
        &mut self,
        index: Option<u64>,
        value: u64,
        more: impl FnOnce() -> (Option<String>, Vec<(String, Value)>),
    ) {
        if let Some(told) = &mut self.told {
            let (name, recorded) = more();
            told(Told {
                cycle: self.cycle,
                observation: self.at,
                index,
                value,
                name,
                recorded,
            });
        }
    }
}
