//! What a statement does to cells, which tells whether it is independent of another one.

use std::collections::BTreeSet;

use calyx_ir as ir;

/// Cells of a component, by name.
pub type Cells = BTreeSet<ir::Id>;

/// What a statement does to the cells of its component.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// Cells that it reads.
    pub reads: Cells,
    /// Cells that it changes.
    pub writes: Cells,
    /// Cells whose ports it drives, combinational ones included.
    pub drives: Cells,
    /// What it does may depend on when it runs.
    pub timed: bool,
}

impl Effects {
    pub(super) fn add(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.drives.extend(&other.drives);
        self.timed |= other.timed;
    }

    /// Whether it reads what logic gives that only the other one drives: nobody knows what that is.
    pub fn sees(&self, other: &Self) -> bool {
        let mut undriven = self.reads.difference(&self.drives);
        undriven.any(|cell| other.drives.contains(cell) && !other.writes.contains(cell))
    }

    /// Whether the one may run before or after the other, or with it.
    pub fn is_independent_of(&self, other: &Self) -> bool {
        let one_way = |a: &Self, b: &Self| {
            a.writes.is_disjoint(&b.reads) && a.writes.is_disjoint(&b.writes) && !b.sees(a)
        };
        !self.timed && !other.timed && one_way(self, other) && one_way(other, self)
    }
}
