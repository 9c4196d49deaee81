//! Numbers for what determines a tree beside the samples.

use foldhash::HashMap;
use petal_metadata::{ControlId, Id as _};

use super::programs::Programs;
use super::statics::Pending;

/// The numbers so far.
#[derive(Default)]
pub(super) struct Contexts {
    numbers: HashMap<Box<[u64]>, u32>,
    /// The latest of those that have one.
    latest: Vec<u64>,
}

impl Contexts {
    /// The number of the components that continue and of the static programs that run: of a program's position, that
    /// are the statements that run there, in whatever branch. 0: nothing.
    pub fn number(&mut self, pending: &[Pending], programs: &Programs<'_>) -> u32 {
        let key = &mut self.latest;
        key.clear();
        for pending in pending {
            let Pending {
                physical,
                call,
                left,
            } = *pending;
            key.extend([physical.index() as u64, call.index() as u64, left]);
        }
        for (number, program) in programs.running() {
            key.push(number as u64);
            if let Some((schedule, position)) = program.running() {
                let mut add = |statement: ControlId| key.push(statement.index() as u64);
                schedule.visit(position, &|_| true, &mut add);
            }
            key.push(u64::MAX);
        }
        if key.is_empty() {
            return 0;
        }
        if let Some(&number) = self.numbers.get(key.as_slice()) {
            return number;
        }
        let number = u32::try_from(self.numbers.len() + 1).expect("few are remembered");
        self.numbers.insert(key.as_slice().into(), number);
        number
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn clear(&mut self) {
        self.numbers.clear();
    }
}
