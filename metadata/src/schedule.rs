//! When the parts of a static program run.

use serde::{Deserialize, Serialize};

use crate::ids::ControlId;

/// What runs in each cycle of a static program, counted from the cycle in which it starts.
///
/// In the file it is the list of its parts in preorder, because readers of JSON bound how deep it
/// nests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Part<S>>", into = "Vec<Part<S>>")]
#[serde(bound(
    serialize = "S: Clone + Serialize",
    deserialize = "S: Deserialize<'de>"
))]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts<S = ControlId> {
    /// None: a group, a delay, or an `if`, whose branch only a run decides.
    None,
    /// One after the other, each with the cycle in which it starts.
    Seq(Vec<(u64, Schedule<S>)>),
    /// All from the start.
    Par(Vec<Schedule<S>>),
    /// The same again and again.
    Repeat(Box<Schedule<S>>),
}

impl<S> Parts<S> {
    /// These, one after the other.
    pub fn seq(parts: impl IntoIterator<Item = Schedule<S>>) -> Self {
        let starts = parts.into_iter().scan(0_u64, |end, part| {
            let start = *end;
            *end = end.saturating_add(part.latency);
            Some((start, part))
        });
        Self::Seq(starts.collect())
    }
}

/// How deep the parts of a program that is read from a file may nest.
const MAX_DEPTH: usize = 4000;

/// A part of a static program, as it is written to the file.
#[derive(Serialize, Deserialize)]
struct Part<S> {
    statement: Option<S>,
    latency: u64,
    parts: Kind,
}

/// How a part is made up of the following ones.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    None,
    Seq(usize),
    Par(usize),
    Repeat,
}

impl<S: Clone> From<Schedule<S>> for Vec<Part<S>> {
    fn from(schedule: Schedule<S>) -> Self {
        let mut list = Vec::new();
        let mut left = vec![schedule];
        while let Some(Schedule {
            statement,
            latency,
            parts,
        }) = left.pop()
        {
            let parts = match parts {
                Parts::None => Kind::None,
                Parts::Seq(parts) => {
                    let count = parts.len();
                    left.extend(parts.into_iter().rev().map(|(_, part)| part));
                    Kind::Seq(count)
                }
                Parts::Par(parts) => {
                    let count = parts.len();
                    left.extend(parts.into_iter().rev());
                    Kind::Par(count)
                }
                Parts::Repeat(body) => {
                    left.push(*body);
                    Kind::Repeat
                }
            };
            list.push(Part {
                statement,
                latency,
                parts,
            });
        }
        list
    }
}

impl<S> TryFrom<Vec<Part<S>>> for Schedule<S> {
    type Error = &'static str;

    fn try_from(list: Vec<Part<S>>) -> Result<Self, Self::Error> {
        // From the last one on, so that the parts of a part are there before it, with their depths.
        let mut built: Vec<(usize, Self)> = Vec::new();
        for part in list.into_iter().rev() {
            let count = match part.parts {
                Kind::None => 0,
                Kind::Seq(count) | Kind::Par(count) => count,
                Kind::Repeat => 1,
            };
            let first = built.len().checked_sub(count);
            let parts = built.split_off(first.ok_or("a schedule lacks parts")?);
            let depth = 1 + parts.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
            if depth > MAX_DEPTH {
                return Err("a schedule nests too deep");
            }
            let mut parts = parts.into_iter().rev().map(|(_, part)| part);
            let parts = match part.parts {
                Kind::Seq(_) => Parts::seq(parts),
                Kind::Par(_) => Parts::Par(parts.collect()),
                Kind::None | Kind::Repeat => match parts.next() {
                    None => Parts::None,
                    Some(body) => Parts::Repeat(Box::new(body)),
                },
            };
            built.push((
                depth,
                Self {
                    statement: part.statement,
                    latency: part.latency,
                    parts,
                },
            ));
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
    /// The innermost statement that certainly runs in this cycle of the program. A program that runs
    /// longer than its latency starts anew.
    pub fn at(&self, cycle: u64) -> Option<S> {
        let cycle = cycle.checked_rem(self.latency)?;
        let inner = match &self.parts {
            Parts::None => None,
            Parts::Seq(parts) => {
                // Parts without a cycle start where the one after them does.
                let next = parts.partition_point(|(start, _)| *start <= cycle);
                let (start, part) = &parts[next.checked_sub(1)?];
                (cycle - start < part.latency).then(|| part.at(cycle - start))?
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
        Schedule {
            statement: self.statement.and_then(name),
            latency: self.latency,
            parts: match &self.parts {
                Parts::None => Parts::None,
                Parts::Seq(parts) => Parts::seq(parts.iter().map(|(_, part)| part.map(name))),
                Parts::Par(parts) => Parts::Par(parts.iter().map(|part| part.map(name)).collect()),
                Parts::Repeat(body) => Parts::Repeat(Box::new(body.map(name))),
            },
        }
    }

    /// All statements that it names.
    pub fn statements(&self) -> Vec<S> {
        let mut statements: Vec<S> = self.statement.into_iter().collect();
        match &self.parts {
            Parts::None => {}
            Parts::Seq(parts) => {
                statements.extend(parts.iter().flat_map(|(_, part)| part.statements()));
            }
            Parts::Par(parts) => statements.extend(parts.iter().flat_map(Self::statements)),
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
            parts: Parts::seq([leaf('c', 1), leaf('-', 1)]),
        };
        let schedule = Schedule {
            statement: Some('s'),
            latency: 8,
            parts: Parts::seq([
                leaf('a', 1),
                leaf('z', 0),
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
        let statements: String = (0..10).filter_map(|cycle| schedule.at(cycle)).collect();
        assert_eq!(statements, "acbcbpeeac");
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(
            serde_json::from_str::<Schedule<char>>(&text).unwrap(),
            schedule
        );
    }

    #[test]
    fn a_program_that_nests_deep_is_written_and_read() {
        let mut schedule = leaf('a', 1);
        for _ in 0..500 {
            schedule = Schedule {
                statement: Some('s'),
                latency: 1,
                parts: Parts::seq([schedule]),
            };
        }
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(
            serde_json::from_str::<Schedule<char>>(&text).unwrap(),
            schedule
        );
    }

    #[test]
    fn lists_that_are_no_program_are_refused() {
        let read = |parts: &[&str]| {
            let parts: Vec<String> = parts
                .iter()
                .map(|parts| format!(r#"{{"statement":null,"latency":1,"parts":{parts}}}"#))
                .collect();
            let text = format!("[{}]", parts.join(","));
            serde_json::from_str::<Schedule<char>>(&text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(read(&[]), "a schedule lacks parts");
        assert_eq!(
            read(&[r#"{"seq":2}"#, r#""none""#]),
            "a schedule lacks parts"
        );
        assert_eq!(
            read(&[r#""none""#, r#""none""#]),
            "a schedule has parts that belong to nothing"
        );
        assert_eq!(
            read(&[vec![r#""repeat""#; MAX_DEPTH], vec![r#""none""#]].concat()),
            "a schedule nests too deep"
        );
    }
}
