//! When the steps of a loop start if iterations overlap: a modulo schedule.
//!
//! Owns the times; what has to wait for what it is told. A new iteration starts every so many cycles, the *initiation interval*. Each step starts
//! in the same cycle of an interval and is over at its end, so that all that runs in one is a piece of its own.

use std::ops::Range;

/// Longer schedules are not looked for.
const MOST_STAGES: u64 = 8;

/// How long after the start of one step another one may start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delay {
    pub from: usize,
    pub to: usize,
    pub cycles: u64,
    /// Whether the other one is of the next iteration.
    pub is_next: bool,
}

/// What the steps of a loop need.
pub(super) struct Needs {
    /// The cycles that each takes.
    pub cycles: Vec<u64>,
    pub delays: Vec<Delay>,
    /// Steps that may not run at once, other than those that wait for one another.
    pub apart: Vec<(usize, usize)>,
}

/// Steps that run, in the order in which they start.
pub(super) struct Runs {
    /// Each with the cycle in which it does.
    pub starts: Vec<(usize, u64)>,
    /// In so many cycles.
    pub cycles: u64,
}

/// When steps start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    /// A new iteration starts every so many cycles.
    pub interval: u64,
    /// When each step starts, after its iteration does.
    pub starts: Vec<u64>,
}

impl Schedule {
    /// In which interval after the one in which its iteration starts a step does.
    pub fn stage(&self, step: usize) -> u64 {
        self.starts[step] / self.interval
    }

    /// In which cycle of an interval a step starts.
    pub fn slot(&self, step: usize) -> u64 {
        self.starts[step] % self.interval
    }

    /// In so many intervals something of an iteration starts.
    pub fn stages(&self) -> u64 {
        let stages = (0..self.starts.len()).map(|step| self.stage(step));
        stages.max().unwrap_or(0) + 1
    }

    /// The steps of these iterations that start in some intervals, after the first of which cycles are counted.
    pub fn runs(&self, iterations: Range<u64>, intervals: &Range<u64>) -> Runs {
        let of_iteration = |iteration: u64| {
            let steps = 0..self.starts.len();
            steps.map(move |step| {
                (
                    iteration + self.stage(step),
                    self.slot(step),
                    iteration,
                    step,
                )
            })
        };
        let all = iterations.flat_map(of_iteration);
        let mut runs: Vec<_> = all
            .filter(|(interval, ..)| intervals.contains(interval))
            .collect();
        runs.sort_unstable();
        let starts = runs.into_iter().map(|(interval, slot, _, step)| {
            (step, (interval - intervals.start) * self.interval + slot)
        });
        Runs {
            starts: starts.collect(),
            cycles: (intervals.end - intervals.start) * self.interval,
        }
    }

    /// What starts in an interval in which all steps do, each of its iteration.
    pub fn each(&self) -> Runs {
        let steps = 0..self.starts.len();
        Runs {
            starts: steps.map(|step| (step, self.slot(step))).collect(),
            cycles: self.interval,
        }
    }
}

impl Needs {
    /// No interval is shorter: the longest step fits in it, and so do steps of which no two may run at once.
    pub fn shortest(&self) -> u64 {
        let after = |step: usize| {
            let mut cycles = self.cycles[step];
            let mut row = vec![step];
            for next in step + 1..self.cycles.len() {
                if row.iter().all(|of| self.apart.contains(&(*of, next))) {
                    cycles += self.cycles[next];
                    row.push(next);
                }
            }
            cycles
        };
        (0..self.cycles.len()).map(after).max().unwrap_or(0)
    }

    /// A schedule with this interval: as early as all allows, and a step that does not fit where it is comes a cycle later.
    pub fn schedule(&self, interval: u64) -> Option<Schedule> {
        let mut starts = vec![0; self.cycles.len()];
        let end = interval * MOST_STAGES;
        while starts.iter().all(|start| *start < end) {
            let late = self
                .late(&starts, interval)
                .or_else(|| self.unfit(&starts, interval));
            match late {
                Some((step, start)) => starts[step] = start,
                None => return Some(Schedule { interval, starts }),
            }
        }
        None
    }

    /// A step that starts too early for what it waits for, and when it may.
    fn late(&self, starts: &[u64], interval: u64) -> Option<(usize, u64)> {
        self.delays.iter().find_map(|delay| {
            let ready = starts[delay.from] + delay.cycles;
            let ready = ready.saturating_sub(if delay.is_next { interval } else { 0 });
            (starts[delay.to] < ready).then_some((delay.to, ready))
        })
    }

    /// A step that is not over at the end of an interval, or runs at once with another one that it may not.
    fn unfit(&self, starts: &[u64], interval: u64) -> Option<(usize, u64)> {
        let slots = |step: usize| {
            let first = starts[step] % interval;
            first..first + self.cycles[step]
        };
        let wraps = (0..starts.len()).find(|step| slots(*step).end > interval);
        let meets = || {
            let mut pairs = self.apart.iter();
            pairs.find_map(|(one, other)| {
                let (a, b) = (slots(*one), slots(*other));
                let is_at_once = a.start < b.end && b.start < a.end;
                let later = if starts[*one] > starts[*other] {
                    one
                } else {
                    other
                };
                is_at_once.then_some(*later)
            })
        };
        let step = wraps.or_else(meets)?;
        Some((step, starts[step] + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Delay, Needs};
    use std::ops::Range;

    /// The steps of a product that is added to a memory: an address, a read, a product of two cycles, a read, a write, a counter.
    fn product() -> Needs {
        let wait = |from, to, cycles, is_next| Delay {
            from,
            to,
            cycles,
            is_next,
        };
        Needs {
            cycles: vec![1, 1, 2, 1, 1, 1],
            delays: vec![
                wait(0, 1, 1, false),
                wait(1, 2, 1, false),
                wait(2, 4, 2, false),
                wait(3, 4, 1, false),
                wait(0, 5, 0, false),
                // The next iteration.
                wait(1, 0, 0, true),
                wait(2, 1, 1, true),
                wait(4, 2, 0, true),
                wait(4, 3, 1, true),
                wait(5, 0, 1, true),
            ],
            apart: vec![(3, 4)],
        }
    }

    #[test]
    fn an_iteration_starts_as_often_as_its_longest_step_allows() {
        let needs = product();
        assert_eq!((needs.shortest(), needs.schedule(1)), (2, None));
        let schedule = needs.schedule(2).expect("iterations overlap");
        assert_eq!(schedule.stages(), 3);
        // Each step of each iteration runs once, in an order in which none comes before what it waits for.
        let stages = schedule.stages();
        let iterations = 5;
        let rest = iterations - stages + 1;
        let in_order = |intervals: Range<u64>| {
            let runs = schedule.runs(0..iterations, &intervals);
            runs.starts
                .into_iter()
                .map(|(step, _)| step)
                .collect::<Vec<_>>()
        };
        let mut runs = in_order(0..stages - 1);
        for interval in 0..rest {
            let at = stages - 1 + interval;
            runs.extend(in_order(at..at + 1));
        }
        runs.extend(in_order(iterations..iterations + stages));
        assert_eq!(runs, in_order(0..iterations + stages));
        for step in 0..6 {
            assert_eq!(runs.iter().filter(|run| **run == step).count(), 5);
        }
        let places = |step: usize| {
            let at = runs.iter().enumerate();
            let at = at.filter(move |(_, run)| **run == step);
            at.map(|(place, _)| place).collect::<Vec<_>>()
        };
        for delay in product().delays {
            let (from, to) = (places(delay.from), places(delay.to));
            let to = to.iter().skip(usize::from(delay.is_next));
            assert!(from.iter().zip(to).all(|(from, to)| from < to), "{delay:?}");
        }
    }

    #[test]
    fn nothing_overlaps_where_each_iteration_waits_for_all_of_the_one_before() {
        let mut needs = product();
        needs.delays.push(Delay {
            from: 4,
            to: 0,
            cycles: 1,
            is_next: true,
        });
        let all: u64 = needs.cycles.iter().sum();
        let intervals = needs.shortest()..all;
        let mut overlapping = intervals.filter_map(|interval| needs.schedule(interval));
        assert!(overlapping.all(|schedule| schedule.stages() == 1));
    }
}
