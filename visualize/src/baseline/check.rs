//! Whether the figures of a baseline file fit together: nothing else in petal looks again.

use std::collections::BTreeSet;

use super::{Baseline, Frame};
use crate::ledger::ByKind;

/// More cycles than any run has. Sums of as many figures as fit into a file do not overflow.
const MOST: u64 = 1 << 40;

impl Baseline {
    /// What does not fit together, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_sizes()?;
        if self.useful + total(&self.overhead) != self.cycles || self.condition > self.useful {
            return Err("its cycles do not add up".to_owned());
        }
        let charged: u64 = self.statements.iter().map(|row| total(&row.overhead)).sum();
        if charged + self.unplaced != total(&self.overhead) {
            return Err("the overhead of its statements does not add up".to_owned());
        }
        for cell in &self.cells {
            if cell.useful + total(&cell.overhead) != cell.cycles {
                return Err(format!(
                    "the cycles of the cell {} do not add up",
                    cell.path
                ));
            }
        }
        let paths = self.cells.iter().map(|cell| &cell.path);
        let names = self.groups.iter().map(|row| (&row.component, &row.name));
        if paths.collect::<BTreeSet<_>>().len() < self.cells.len()
            || names.collect::<BTreeSet<_>>().len() < self.groups.len()
        {
            return Err("it names a cell or group twice".to_owned());
        }
        for row in &self.statements {
            let file = row.place.is_none_or(|place| place.file < self.files.len());
            let parent = row.parent.is_none_or(|at| at < self.statements.len());
            if !file || !parent {
                return Err(format!("the statement {} is out of place", row.label));
            }
        }
        self.check_flame()
    }

    fn check_sizes(&self) -> Result<(), String> {
        let run = [
            self.warnings,
            self.cycles,
            self.useful,
            self.condition,
            self.unplaced,
        ];
        let cells = self.cells.iter().flat_map(|row| {
            [row.times, row.cycles, row.useful]
                .into_iter()
                .chain(row.overhead)
        });
        let groups = self.groups.iter().flat_map(|row| [row.times, row.cycles]);
        let statements = self
            .statements
            .iter()
            .flat_map(|row| [row.times, row.cycles].into_iter().chain(row.overhead));
        let flame = self.flame.iter().map(|node| node.2);
        let mut all = run
            .into_iter()
            .chain(self.overhead)
            .chain(cells)
            .chain(groups)
            .chain(statements)
            .chain(flame);
        match all.find(|&figure| figure > MOST) {
            Some(figure) => Err(format!("no run is as long as {figure} cycles")),
            None => Ok(()),
        }
    }

    fn check_flame(&self) -> Result<(), String> {
        let known = |frame: &Frame| match frame {
            Frame::Statement(at) => *at < self.statements.len(),
            Frame::Group(at) => *at < self.groups.len(),
            Frame::Label(_) => true,
        };
        let mut deepest = 0;
        for node in &self.flame {
            if node.0 > deepest || node.1 >= self.frames.len() {
                return Err("its flame graph has a loose node".to_owned());
            }
            deepest = node.0 + 1;
        }
        if self.frames.iter().all(known) {
            Ok(())
        } else {
            Err("its flame graph names what is not there".to_owned())
        }
    }
}

fn total(overhead: &ByKind) -> u64 {
    overhead.iter().sum()
}
