//! Whoever looks at a run while it is reconstructed.

use crate::model::{Cycle, Event, TreeId};
use crate::source::Change;

/// When an [`Observer`] wants to look again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// When something changes.
    Change,
    /// In this cycle, or before if something changes.
    At(Cycle),
    /// Never: the run ends after this cycle.
    Stop,
}

/// Follows a run cycle by cycle, with values that are no probes.
pub trait Observer {
    /// An instance or a tree that comes up, before the first cycle that has it.
    fn event(&mut self, event: &Event);

    /// A cycle in which the call tree, or an observed value, is not as in the cycle before, or that was asked for.
    /// `changes` are those of the observed values alone, which are numbered from 0 on.
    fn cycle(&mut self, cycle: Cycle, tree: TreeId, changes: &[Change]) -> Next;
}
