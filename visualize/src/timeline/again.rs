//! What comes again and again: where nobody needs what would be drawn of it, it is counted at once.

use std::io;

use petal_reconstruct::Again;

use super::Timeline;
use super::format::Format;
use super::section::Phase;

impl<F: Format> Timeline<'_, F> {
    /// Takes in what comes again.
    pub(super) fn again(&mut self, again: &Again) -> io::Result<()> {
        let Some(start) = again.runs().next().map(|run| run.start.cycles()) else {
            return Ok(());
        };
        for number in 0..again.times() {
            let rest = again.times() - 1 - number;
            let since = start + number * again.cycles();
            // Updates of a time may come after its runs.
            let end = since + (rest + 2) * again.cycles();
            let is_quiet = self.is_quiet(since, end);
            let state = self.transitions.state();
            let passed = self.passed;
            let activations = self.numbers.activations().to_vec();
            let lines = self.lines.all_times();
            again
                .time(number)
                .try_for_each(|event| self.event(&event))?;
            if is_quiet && state == self.transitions.state() {
                // From one state to the same one: all times to come do what this one did.
                let later = rest * again.cycles();
                self.pass_rest(again, rest);
                self.numbers.again(&activations, rest, since, later);
                self.lines.again(&lines, rest, since, later);
                self.updates.later(since, later);
                self.passed += (self.passed - passed) * rest;
                break;
            }
        }
        Ok(())
    }

    /// Whether nobody needs what would be drawn of these cycles.
    fn is_quiet(&self, first: u64, end: u64) -> bool {
        match self.phase {
            Phase::Before => self.start.is_some_and(|start| end < start),
            Phase::Within => {
                end < self.cycles.end && self.format.rests(first) && self.format.rests(end)
            }
            Phase::After => false,
        }
    }

    /// Passes over the transitions that are counted late, so often.
    fn pass_rest(&mut self, again: &Again, rest: u64) {
        let later = (again.times() - 1) * again.cycles();
        for run in again.runs() {
            // It is known, since it was taken just now.
            let id = self.transitions.repeat(Some(run.tree));
            if let Some(id) = id.filter(|&id| rest > 0 && self.transitions.get(id).counts_late) {
                self.transitions.pass(id, rest, run.start.cycles() + later);
            }
        }
    }
}
