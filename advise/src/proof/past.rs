//! What is known of what a statement begins with, by what runs before it and beside it in both programs.

use petal_program::tree::View;

use super::run::{Machine, Run};

/// What comes before a statement each time that it runs.
#[derive(Clone, Default)]
pub(super) struct Past<'v> {
    steps: Vec<Step<'v>>,
    /// Whether nothing else runs before it at all, but for a reset.
    is_all: bool,
}

#[derive(Clone, Copy)]
enum Step<'v> {
    Before(View<'v>),
    /// An arm of a `par` of which it is another one.
    Beside(View<'v>),
}

impl<'v> Past<'v> {
    /// That of all that a component does: nothing, after a reset if it runs `once`.
    pub fn of_all(once: bool) -> Self {
        Self {
            steps: Vec::new(),
            is_all: once,
        }
    }

    /// That of what stands after some statements.
    pub fn after(&self, views: &[View<'v>]) -> Self {
        let mut past = self.clone();
        past.steps.extend(views.iter().copied().map(Step::Before));
        past
    }

    /// That of the arm of a number.
    pub fn of_arm(&self, arms: &[View<'v>], at: usize) -> Self {
        let mut past = self.clone();
        let others = arms.iter().enumerate().filter(|(arm, _)| *arm != at);
        past.steps.extend(others.map(|(_, arm)| Step::Beside(*arm)));
        past
    }

    /// Runs it.
    pub fn run(&self, run: &mut Run<'_>, machine: &Machine<'_>) {
        if self.is_all {
            run.reset(&machine.registers(|_| true));
        }
        for step in &self.steps {
            match step {
                Step::Before(view) => run.after(&[*view]),
                Step::Beside(view) => run.leave(*view),
            }
        }
    }
}
