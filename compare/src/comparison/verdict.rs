//! Whether a run, or what was observed in it, grew by more than it may.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::Comparison;
use super::observations::{LatencyRow, Measure, Runs};
use super::rows::Change;
use super::synthesis::{ClockChange, SynthesisChange};
use crate::baseline::Baseline;
use petal_metadata::{nearest, question};
use petal_table::text::{signed, thousands};

/// By how much the cycles of a run may grow: `2%`, `0.5%` or `100cycles`. Growth of exactly so much
/// is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A share of the cycles before, in millionths of a percent.
    Share(u64),
    /// A number of cycles.
    Cycles(u64),
}

/// Millionths of a percent in one percent.
const PERCENT: u64 = 1_000_000;

impl Limit {
    /// By how much something grew in percent, in brackets, with so many decimals that it does not look like the limit.
    fn growth(self, change: Change) -> String {
        let Some(percent) = change.percent() else {
            return String::new();
        };
        let limit = self.to_string();
        let limit = limit.trim_end_matches('%').parse::<f64>();
        let texts = (1..7).map(|decimals| format!("{percent:+.decimals$}"));
        let mut texts = texts.skip_while(|text| text.parse() == limit && limit.is_ok());
        texts
            .next()
            .map_or(String::new(), |text| format!(" ({text} %)"))
    }

    /// Whether something grew by more.
    pub fn exceeded(self, change: Change) -> bool {
        let grown = change.after.saturating_sub(change.before);
        match self {
            Self::Cycles(most) => grown > most,
            Self::Share(share) => {
                u128::from(grown) * 100 * u128::from(PERCENT)
                    > u128::from(change.before) * u128::from(share)
            }
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || format!("write a limit such as `2%` or `100cycles`, not `{text}`");
        if let Some(number) = text.strip_suffix("cycles") {
            let cycles = number.trim_end().parse().map_err(|_| problem())?;
            return Ok(Self::Cycles(cycles));
        }
        let number = text.strip_suffix('%').ok_or_else(problem)?.trim_end();
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 6 {
            return Err(problem());
        }
        let parse = |text: &str| text.parse::<u64>().map_err(|_| problem());
        parse(whole)?
            .checked_mul(PERCENT)
            .zip(parse(&format!("{decimals:0<6}")).ok())
            .and_then(|(whole, decimals)| whole.checked_add(decimals))
            .map(Self::Share)
            .ok_or_else(problem)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles(cycles) => write!(f, "{cycles}cycles"),
            Self::Share(share) => {
                let decimals = format!("{:06}", share % PERCENT);
                let decimals = decimals.trim_end_matches('0');
                let point = if decimals.is_empty() { "" } else { "." };
                write!(f, "{}{point}{decimals}%", share / PERCENT)
            }
        }
    }
}

/// What may grow by how much: `2%` for the cycles of the run, `p99(load)=5%` for a latency, `reads=0` for a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// What: `None` for the run.
    pub of: Option<String>,
    /// By how much.
    pub limit: Limit,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((of, limit)) = text.rsplit_once('=') else {
            let limit = text.parse()?;
            return Ok(Self { of: None, limit });
        };
        let limit = limit.trim();
        let number = limit.parse().map(Limit::Cycles).ok();
        let limit = number
            .or_else(|| limit.parse().ok())
            .ok_or_else(|| format!("write a limit such as `5%` or `0` after `=`, not `{limit}`"))?;
        Ok(Self {
            of: Some(of.trim().to_owned()),
            limit,
        })
    }
}

/// Whether something grew by more than it may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What: `None` for the run.
    pub of: Option<String>,
    /// By how much it may grow.
    pub limit: String,
    /// What to say if it grew by more.
    pub exceeded: Option<String>,
}

/// A figure of a latency.
type Figure = fn(&LatencyRow) -> Measure;

/// Those that have limits, by their names.
const MEASURES: [(&str, Figure); 5] = [
    ("p99", |row| row.p99),
    ("median", |row| row.median),
    ("max", |row| row.max),
    ("over", |row| row.over_shortest),
    ("count", |row| row.count),
];

impl Comparison {
    /// What to say when the run grew by more than `limit`; `None` if it did not.
    pub fn regression(&self, limit: Limit) -> Option<String> {
        if !limit.exceeded(self.cycles) {
            return None;
        }
        let growth = limit.growth(self.cycles);
        let culprits: Vec<String> = self
            .culprits
            .iter()
            .map(|culprit| {
                let what = if culprit.overhead {
                    "cycles of overhead"
                } else {
                    "cycles"
                };
                format!(
                    "{} ({} {what})",
                    culprit.name,
                    signed(culprit.cycles.cast_signed())
                )
            })
            .collect();
        let blamed = if culprits.is_empty() {
            "no group or statement grew by itself".to_owned()
        } else {
            format!("what grew most: {}", culprits.join(", "))
        };
        Some(format!(
            "{} takes {} cycles, {} before: {}{growth} is above the limit of {limit}; {blamed}",
            self.designs.after,
            thousands(self.cycles.after),
            thousands(self.cycles.before),
            signed(self.cycles.delta()),
        ))
    }

    /// Judges what has limits.
    ///
    /// # Errors
    /// When a limit is of something that was not observed in both runs; tells what it may be of.
    pub fn judge(&self, bounds: &[Bound]) -> Result<Vec<Judgement>, String> {
        let bounds = bounds.iter();
        bounds
            .map(|bound| match &bound.of {
                None => Ok(Judgement {
                    of: None,
                    limit: bound.limit.to_string(),
                    exceeded: self.regression(bound.limit),
                }),
                Some(of) => self.judge_observed(of, bound.limit),
            })
            .collect()
    }

    fn judge_observed(&self, of: &str, limit: Limit) -> Result<Judgement, String> {
        let observed = &self.observations;
        let latencies = observed.latencies.iter().flat_map(|row| {
            let measures = MEASURES.iter();
            measures.map(move |(name, measure)| {
                (format!("{name}({})", row.name), row.runs, measure(row))
            })
        });
        let counters = observed.counters.iter();
        let counters = counters.map(|row| (row.name.clone(), row.runs, row.total));
        let all: Vec<(String, Runs, Measure)> = latencies.chain(counters).collect();
        let found = all.iter().find(|(name, ..)| name == of);
        let given = self.clock.iter().flat_map(ClockChange::limited);
        let synthesis = self.synthesis.iter().flat_map(SynthesisChange::limited);
        let mut figures = given.chain(synthesis);
        let synthesis = figures.find_map(|(name, change)| change.filter(|_| name == of));
        let change = match found {
            None if synthesis.is_some() => synthesis,
            Some((_, _, measure)) => measure.change(),
            None => {
                let latency = observed.latencies.iter().find(|row| row.name == of);
                let near = match latency {
                    Some(row) => vec![format!("p99({})", row.name)],
                    None => nearest(of, all.iter().map(|(name, ..)| name.clone())),
                };
                let hint = question(&near).unwrap_or_else(|| {
                    "observe it in both runs (`petal run --latency`, `--count`), or for area and time synthesise both for one device \
                     (`petal run --synth`), or for time say both periods (`--period`)"
                        .to_owned()
                });
                return Err(format!("no run has an observation `{of}` to limit; {hint}"));
            }
        };
        let Some(change) = change else {
            let which = match found {
                Some((_, Runs::Before, _)) => "only the run before has it",
                Some((_, Runs::After, _)) => "only the run after has it",
                _ => "it has no value in one of the runs",
            };
            return Err(format!("`{of}` cannot be limited: {which}"));
        };
        let bound = match limit {
            Limit::Cycles(number) => number.to_string(),
            Limit::Share(_) => limit.to_string(),
        };
        let growth = limit.growth(change);
        let exceeded = limit.exceeded(change).then(|| {
            format!(
                "{of} is {}, {} before: {}{growth} is above the limit of {bound}",
                thousands(change.after),
                thousands(change.before),
                signed(change.delta()),
            )
        });
        Ok(Judgement {
            of: Some(of.to_owned()),
            limit: bound,
            exceeded,
        })
    }

    /// Whether one of the runs ended early.
    pub fn is_partial(before: &Baseline, after: &Baseline) -> bool {
        before.stopped.is_some() || after.stopped.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_never_looks_like_its_limit() {
        let change = Change {
            before: 30_000,
            after: 33_991,
        };
        for (limit, growth) in [
            ("13.3%", " (+13.303 %)"),
            ("13%", " (+13.3 %)"),
            ("3990cycles", " (+13.3 %)"),
        ] {
            let limit: Limit = limit.parse().unwrap();
            assert!(limit.exceeded(change));
            assert_eq!(limit.growth(change), growth, "{limit}");
        }
    }

    #[test]
    fn limits_are_read_and_written() {
        for text in ["2%", "0.5%", "0.000001%", "100cycles", "0cycles", "0%"] {
            assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
        }
        assert_eq!("2.50 %".parse::<Limit>().unwrap().to_string(), "2.5%");
        for text in [
            "2",
            "%",
            "-1%",
            ".5%",
            "2.%",
            "1e3%",
            "x cycles",
            "99999999999999999999%",
            "18446744073710%",
            "0.0000001%",
        ] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }

    #[test]
    fn exactly_the_limit_is_allowed() {
        let grows = |limit: &str, before, after| {
            let limit: Limit = limit.parse().unwrap();
            limit.exceeded(Change { before, after })
        };
        assert!(!grows("2%", 100, 102));
        assert!(grows("2%", 100, 103));
        assert!(!grows("0.1%", 1000, 1001));
        assert!(grows("0.1%", 999, 1000));
        assert!(!grows("3cycles", 10, 13));
        assert!(grows("3cycles", 10, 14));
        assert!(!grows("0%", 10, 9));
        assert!(grows("50%", 0, 1));
        assert!(!grows("50%", 0, 0));
    }
}
