//! When the statements of a static program run.

use serde::{Deserialize, Serialize};

use crate::ids::ControlId;
use crate::probe::ProbeName;

/// A static program, or a statement in one: when it runs, counted in cycles from where what contains it starts.
/// What contains a statement here contains it in the source.
///
/// In the file it is the list of its parts in preorder, because readers of JSON bound how deep it
/// nests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<FlatSchedule<S>>", into = "Vec<FlatSchedule<S>>")]
#[serde(bound(
    serialize = "S: Clone + Serialize",
    deserialize = "S: Deserialize<'de>"
))]
pub struct Schedule<S = ControlId> {
    /// The source statement; `None` for a program that is no statement as a whole.
    pub statement: Option<S>,
    /// The cycle in which it starts; for what is in a loop, of an iteration.
    pub start: u64,
    /// Cycles that it takes, all its iterations together.
    pub latency: u64,
    /// How often the parts run, one iteration after the other: 1 for what is no loop.
    pub iterations: u64,
    /// It runs only if this is high: it is in a branch of a `static if`.
    pub branch: Option<ProbeName>,
    /// The statements in it, by their start.
    parts: Vec<Self>,
    /// Cycles of the longest of them.
    longest: u64,
}

impl<S> Schedule<S> {
    /// What runs for so many cycles from the start of what contains it, with nothing in it.
    pub fn new(statement: Option<S>, start: u64, latency: u64) -> Self {
        Self {
            statement,
            start,
            latency,
            iterations: 1,
            branch: None,
            parts: Vec::new(),
            longest: 0,
        }
    }

    /// The same with these parts.
    #[must_use]
    pub fn with(mut self, mut parts: Vec<Self>) -> Self {
        parts.sort_by_key(|part| part.start);
        self.longest = parts.iter().map(|part| part.latency).max().unwrap_or(0);
        self.parts = parts;
        self
    }

    /// The statements in it, by their start.
    pub fn parts(&self) -> &[Self] {
        &self.parts
    }

    /// The same, or its only part if that is all of it.
    #[must_use]
    pub fn innermost(mut self) -> Self {
        match self.parts[..] {
            [ref only] if (only.start, only.latency) == (0, self.latency) => self.parts.remove(0),
            _ => self,
        }
    }
}

/// How deep the parts of a program that is read from a file may nest.
const MAX_DEPTH: usize = 4000;

/// A schedule without its parts, as it is written to the file.
#[derive(Serialize, Deserialize)]
struct FlatSchedule<S> {
    statement: Option<S>,
    start: u64,
    latency: u64,
    iterations: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<ProbeName>,
    /// How many of the following ones are its parts.
    parts: usize,
}

impl<S: Clone> From<Schedule<S>> for Vec<FlatSchedule<S>> {
    fn from(schedule: Schedule<S>) -> Self {
        let mut list = Vec::new();
        let mut left = vec![schedule];
        while let Some(next) = left.pop() {
            list.push(FlatSchedule {
                statement: next.statement,
                start: next.start,
                latency: next.latency,
                iterations: next.iterations,
                branch: next.branch,
                parts: next.parts.len(),
            });
            left.extend(next.parts.into_iter().rev());
        }
        list
    }
}

impl<S> TryFrom<Vec<FlatSchedule<S>>> for Schedule<S> {
    type Error = &'static str;

    fn try_from(list: Vec<FlatSchedule<S>>) -> Result<Self, Self::Error> {
        // From the last one on, so that the parts of a part are there before it, with their depths.
        let mut built: Vec<(usize, Self)> = Vec::new();
        for part in list.into_iter().rev() {
            let first = built.len().checked_sub(part.parts);
            let parts = built.split_off(first.ok_or("a schedule lacks parts")?);
            let depth = 1 + parts.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
            if depth > MAX_DEPTH {
                return Err("a schedule nests too deep");
            }
            let parts = parts.into_iter().rev().map(|(_, part)| part).collect();
            let schedule = Self {
                iterations: part.iterations,
                branch: part.branch,
                ..Self::new(part.statement, part.start, part.latency)
            };
            built.push((depth, schedule.with(parts)));
        }
        let (_, schedule) = built.pop().ok_or("a schedule lacks parts")?;
        if built.is_empty() {
            Ok(schedule)
        } else {
            Err("a schedule has parts that belong to nothing")
        }
    }
}

impl<S: Copy> Schedule<S> {
    /// The parts that run in this cycle of an iteration, those in branches among them, each with its cycle.
    fn running(&self, cycle: u64) -> impl Iterator<Item = (&Self, u64)> {
        let iteration = self.latency.checked_div(self.iterations);
        let cycle = iteration.and_then(|iteration| cycle.checked_rem(iteration));
        let cycles = cycle.unwrap_or(0);
        let started = self.parts.partition_point(|part| part.start <= cycles);
        // What started earlier has ended.
        let ended = self
            .parts
            .partition_point(|part| part.start.saturating_add(self.longest) <= cycles);
        let parts = self.parts[ended..started]
            .iter()
            .filter(move |_| cycle.is_some());
        parts.filter_map(move |part| {
            let cycle = cycles - part.start;
            (cycle < part.latency).then_some((part, cycle))
        })
    }

    /// The innermost statement that certainly runs in this cycle of the program, whatever the branches. A program that
    /// runs longer than its latency starts anew.
    pub fn at(&self, cycle: u64) -> Option<S> {
        let cycle = cycle.checked_rem(self.latency)?;
        let mut running = self
            .running(cycle)
            .filter(|(part, _)| part.branch.is_none());
        let inner = match (running.next(), running.next()) {
            (Some((only, cycle)), None) => only.at(cycle),
            _ => None,
        };
        inner.or(self.statement)
    }

    /// Calls `visit` for the statements that run in this cycle of the program, those around others first. `is_high` tells the
    /// values of the probes of branches.
    pub fn visit(
        &self,
        cycle: u64,
        is_high: &impl Fn(ProbeName) -> bool,
        visit: &mut impl FnMut(S),
    ) {
        let Some(cycle) = cycle.checked_rem(self.latency) else {
            return;
        };
        self.statement.into_iter().for_each(&mut *visit);
        for (part, cycle) in self.running(cycle) {
            if part.branch.is_none_or(is_high) {
                part.visit(cycle, is_high, visit);
            }
        }
    }

    /// The same schedule, with statements named by `name`.
    pub fn map<T>(&self, name: &impl Fn(S) -> Option<T>) -> Schedule<T> {
        let statement = self.statement.and_then(name);
        let parts = self.parts.iter().map(|part| part.map(name)).collect();
        let schedule = Schedule {
            iterations: self.iterations,
            branch: self.branch,
            ..Schedule::new(statement, self.start, self.latency)
        };
        schedule.with(parts)
    }

    /// This schedule and all in it.
    pub fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(next) = all.get(at) {
            all.extend(&next.parts);
            at += 1;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::ProbeKind;

    fn part(name: char, start: u64, latency: u64, parts: Vec<Schedule<char>>) -> Schedule<char> {
        Schedule::new(Some(name), start, latency).with(parts)
    }

    #[test]
    fn the_statements_that_run() {
        // seq s { a(1); repeat r 2 { seq b { c(1); delay(1) } }; par p { d(1); e(3) }; if i { x(2) } }
        let probe = ProbeName {
            kind: ProbeKind::EN,
            number: 7,
        };
        let branch = Schedule {
            branch: Some(probe),
            ..part('x', 0, 2, vec![])
        };
        let body = part('b', 0, 2, vec![part('c', 0, 1, vec![])]);
        let schedule = part(
            's',
            0,
            10,
            vec![
                part('a', 0, 1, vec![]),
                Schedule {
                    iterations: 2,
                    ..part('r', 1, 4, vec![body])
                },
                part(
                    'p',
                    5,
                    3,
                    vec![part('d', 0, 1, vec![]), part('e', 0, 3, vec![])],
                ),
                part('i', 8, 2, vec![branch]),
            ],
        );
        let statements: String = (0..12).filter_map(|cycle| schedule.at(cycle)).collect();
        assert_eq!(statements, "acbcbpeeiiac");
        let all = |cycle, high| {
            let mut all = String::new();
            schedule.visit(cycle, &|_| high, &mut |statement| all.push(statement));
            all
        };
        assert_eq!(all(3, false), "srbc");
        assert_eq!(all(5, false), "spde");
        assert_eq!(all(9, false), "si");
        assert_eq!(all(9, true), "six");
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(
            serde_json::from_str::<Schedule<char>>(&text).unwrap(),
            schedule
        );
    }

    #[test]
    fn a_program_that_nests_deep_is_written_and_read() {
        let mut schedule = part('a', 0, 1, vec![]);
        for _ in 0..500 {
            schedule = part('s', 0, 1, vec![schedule]);
        }
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(
            serde_json::from_str::<Schedule<char>>(&text).unwrap(),
            schedule
        );
    }

    #[test]
    fn lists_that_are_no_program_are_refused() {
        let read = |parts: &[usize]| {
            let parts: Vec<String> = parts
                .iter()
                .map(|parts| {
                    format!(
                        r#"{{"statement":null,"start":0,"latency":1,"iterations":1,"parts":{parts}}}"#
                    )
                })
                .collect();
            let text = format!("[{}]", parts.join(","));
            serde_json::from_str::<Schedule<char>>(&text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(read(&[]), "a schedule lacks parts");
        assert_eq!(read(&[2, 0]), "a schedule lacks parts");
        assert_eq!(read(&[0, 0]), "a schedule has parts that belong to nothing");
        assert_eq!(
            read(&[vec![1; MAX_DEPTH], vec![0]].concat()),
            "a schedule nests too deep"
        );
    }
}
