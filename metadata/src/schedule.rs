//! When the parts of a static program run.

use serde::{Deserialize, Serialize};

use crate::ids::ControlId;

/// What runs in each cycle of a static program, counted from the cycle in which it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule<S = ControlId> {
    /// The source statement that this part of the program is; `None` for a delay that the compiler
    /// inserted.
    pub statement: Option<S>,
    /// Cycles that it takes.
    pub latency: u64,
    /// How it is made up.
    pub parts: Parts<S>,
}

/// The parts of a static program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parts<S = ControlId> {
    /// None: a group, a delay, or an `if`, of which only a run can tell which branch it takes.
    None,
    /// One after the other.
    Seq(Vec<Schedule<S>>),
    /// All from the start.
    Par(Vec<Schedule<S>>),
    /// The same again and again.
    Repeat(Box<Schedule<S>>),
}

impl<S: Copy> Schedule<S> {
    /// The innermost statement that certainly runs in this cycle of the program. A program that runs
    /// longer than its latency starts anew.
    pub fn at(&self, cycle: u64) -> Option<S> {
        let cycle = cycle.checked_rem(self.latency)?;
        let inner = match &self.parts {
            Parts::None => None,
            Parts::Seq(parts) => {
                let mut start = 0;
                parts.iter().find_map(|part| {
                    let offset = cycle.checked_sub(start)?;
                    start += part.latency;
                    (offset < part.latency).then(|| part.at(offset))?
                })
            }
            Parts::Par(parts) => {
                let mut running = parts.iter().filter(|part| cycle < part.latency);
                match (running.next(), running.next()) {
                    (Some(only), None) => only.at(cycle),
                    _ => None,
                }
            }
            Parts::Repeat(body) => body.at(cycle),
        };
        inner.or(self.statement)
    }

    /// The same schedule, with statements named by `name`.
    pub fn map<T>(&self, name: &impl Fn(S) -> Option<T>) -> Schedule<T> {
        let all = |parts: &[Self]| parts.iter().map(|part| part.map(name)).collect();
        Schedule {
            statement: self.statement.and_then(name),
            latency: self.latency,
            parts: match &self.parts {
                Parts::None => Parts::None,
                Parts::Seq(parts) => Parts::Seq(all(parts)),
                Parts::Par(parts) => Parts::Par(all(parts)),
                Parts::Repeat(body) => Parts::Repeat(Box::new(body.map(name))),
            },
        }
    }

    /// All statements that it names.
    pub fn statements(&self) -> Vec<S> {
        let mut statements: Vec<S> = self.statement.into_iter().collect();
        match &self.parts {
            Parts::None => {}
            Parts::Seq(parts) | Parts::Par(parts) => {
                statements.extend(parts.iter().flat_map(Self::statements));
            }
            Parts::Repeat(body) => statements.extend(body.statements()),
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: char, latency: u64) -> Schedule<char> {
        Schedule {
            statement: (name != '-').then_some(name),
            latency,
            parts: Parts::None,
        }
    }

    #[test]
    fn the_innermost_statement_that_certainly_runs() {
        // seq s { a(1); repeat 2 { seq b { c(1); delay(1) } }; par p { d(1); e(3) } }
        let body = Schedule {
            statement: Some('b'),
            latency: 2,
            parts: Parts::Seq(vec![leaf('c', 1), leaf('-', 1)]),
        };
        let schedule = Schedule {
            statement: Some('s'),
            latency: 8,
            parts: Parts::Seq(vec![
                leaf('a', 1),
                Schedule {
                    statement: Some('r'),
                    latency: 4,
                    parts: Parts::Repeat(Box::new(body)),
                },
                Schedule {
                    statement: Some('p'),
                    latency: 3,
                    parts: Parts::Par(vec![leaf('d', 1), leaf('e', 3)]),
                },
            ]),
        };
        let found: String = (0..10).filter_map(|cycle| schedule.at(cycle)).collect();
        assert_eq!(found, "acbcbpeeac");
    }
}
