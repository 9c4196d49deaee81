//! The static programs of a design, and which of them run.

use petal_metadata::{Id as _, Metadata};

use super::statics::StaticProgram;
use crate::signals::{Layout, SlotId};

pub(super) struct Programs<'a> {
    all: Vec<StaticProgram<'a>>,
    /// The numbers of those that run, and whether others may in the next cycle; the slots that tell that.
    running: Vec<usize>,
    change: bool,
    is_program: Vec<bool>,
}

impl<'a> Programs<'a> {
    /// Those of a design; none of them runs.
    pub fn of(metadata: &'a Metadata, layout: &'a Layout) -> Self {
        let all = StaticProgram::all(metadata, layout);
        let mut is_program = vec![false; layout.table.watched.len()];
        for program in &all {
            is_program[program.slot().index()] = true;
        }
        Self {
            all,
            running: Vec::new(),
            change: false,
            is_program,
        }
    }

    /// All of them, whether they run or not.
    pub fn all(&self) -> &[StaticProgram<'a>] {
        &self.all
    }

    /// Those that run, with their numbers.
    pub fn running(&self) -> impl Iterator<Item = (usize, &StaticProgram<'a>)> {
        let running = self.running.iter();
        running.map(|&number| (number, &self.all[number]))
    }

    /// The numbers of those that run, and the position of each.
    pub fn positions(&self) -> Vec<(usize, u64)> {
        let running = self.running();
        running
            .filter_map(|(number, program)| Some((number, program.position()?)))
            .collect()
    }

    /// Goes back or on to where those that run have these positions.
    pub fn restore(&mut self, running: &[(usize, u64)]) {
        for program in &mut self.all {
            program.set_position(None);
        }
        for &(number, position) in running {
            self.all[number].set_position(Some(position));
        }
        self.change = true;
    }

    /// Takes in that the value of a slot has changed.
    pub fn notice(&mut self, slot: SlotId) {
        self.change |= self.is_program[slot.index()];
    }

    /// Takes them to the cycle in which the signals have the values `now`.
    pub fn advance(&mut self, now: &[u64]) {
        if std::mem::take(&mut self.change) {
            self.running.clear();
            for (number, program) in self.all.iter_mut().enumerate() {
                program.advance(now);
                if program.is_active() {
                    self.running.push(number);
                }
            }
        } else {
            for &number in &self.running {
                self.all[number].advance(now);
            }
        }
    }
}
