//! What cells get their values from.
//!
//! Owns how values go from cell to cell by the assignments that it is told, whichever groups these are of.

use std::collections::BTreeMap;

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, ports_read};

/// The cells that each cell gets something from.
#[derive(Default)]
pub(crate) struct Flow {
    from: BTreeMap<ir::Id, Cells>,
}

impl Flow {
    /// Adds assignments, and of what they read the ports that count.
    pub fn add<T>(
        &mut self,
        assignments: &[ir::Assignment<T>],
        counts: impl Fn(&ir::Port) -> bool,
    ) {
        for assignment in assignments {
            if let Some(cell) = cell_of(&assignment.dst) {
                let read = ports_read(assignment).into_iter();
                let read = read.filter(|port| counts(&port.borrow()));
                let read = read.filter_map(|port| cell_of(&port));
                let from = self.from.entry(cell.borrow().name()).or_default();
                from.extend(read.map(|cell| cell.borrow().name()));
            }
        }
    }

    /// What these cells get something from, through others, too.
    pub fn behind(&self, cells: impl IntoIterator<Item = ir::Id>) -> Cells {
        let cells = cells.into_iter();
        self.sources(
            cells
                .filter_map(|cell| self.from.get(&cell))
                .flatten()
                .copied(),
        )
    }

    /// These cells, and those that they get something from.
    pub fn sources(&self, cells: impl IntoIterator<Item = ir::Id>) -> Cells {
        let mut next: Vec<ir::Id> = cells.into_iter().collect();
        let mut all = Cells::new();
        while let Some(cell) = next.pop() {
            if all.insert(cell) {
                next.extend(self.from.get(&cell).into_iter().flatten());
            }
        }
        all
    }
}
