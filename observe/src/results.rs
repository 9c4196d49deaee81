//! What observations gave, and as JSON.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The version of `observations.json`.
pub const VERSION: u32 = 2;

/// All results of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Results {
    /// [`VERSION`].
    pub version: u32,
    /// Cycles of the run.
    pub cycles: u64,
    /// The observation that ended the run, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Points in time.
    pub checkpoints: Vec<Checkpoint>,
    /// Times from one event to another.
    pub latencies: Vec<Latency>,
    /// Changes of values.
    pub watches: Vec<Watch>,
    /// What must never, or always, be.
    pub rules: Vec<Rule>,
    /// Sums over all cycles.
    pub counters: Vec<Counter>,
    /// What is computed from the counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<Derived>,
    /// The parts of the run that are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// How many cycles each sample of a counter has, if there are samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}

/// Each time at which something happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What it is called.
    pub name: String,
    /// The expression.
    pub when: String,
    /// All cycles in which it happened, ascending.
    pub cycles: Vec<u64>,
    /// The median distance between two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_distance: Option<u64>,
    /// The initiation interval in cycles, if one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<u64>,
}

/// How long it took from one event to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// What it is called.
    pub name: String,
    /// The expressions.
    pub when: String,
    /// How many there were.
    pub count: u64,
    /// Cycles of the shortest, the middle, the 99th of 100, and the longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// The middle one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<u64>,
    /// At least 99 of 100 are not longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// The longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Cycles of all.
    pub total: u64,
    /// How many took how many cycles.
    pub histogram: BTreeMap<u64, u64>,
    /// Each, in the order in which they ended: the cycle in which it began, and how many cycles it took.
    pub intervals: Vec<(u64, u64)>,
    /// How many began and had not ended when the run was over.
    pub unfinished: u64,
    /// How many ends belong to no beginning.
    pub unmatched: u64,
    /// What all took longer than the shortest one.
    pub over_shortest: u64,
    /// What they have more than as many of the shortest one, most first.
    pub blame: Vec<Blame>,
    /// Cycles of all in which nothing of their own work was active.
    pub stall: u64,
}

/// What has more cycles in the intervals of a latency than in the shortest one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// How many that makes the intervals longer; adds up to what they took longer.
    pub cycles: u64,
    /// How many more it worked while something else was in the way.
    pub in_parallel: u64,
    /// What had them, as a path through the call tree.
    pub active: String,
}

/// The changes of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// What it is called.
    pub name: String,
    /// What is watched.
    pub value: String,
    /// Whether it is a register or memory, which has its new value in the cycle after it was written.
    pub is_written: bool,
    /// All changes.
    pub changes: Vec<ChangeOf>,
}

/// A change of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOf {
    /// The cycle at whose end a register or a word of a memory gets its new value; the first cycle with the new value for
    /// anything else.
    pub cycle: u64,
    /// The word of a memory, in row-major order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// The value before; none where a waveform does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    /// The value after.
    pub new: u64,
    /// Who wrote it, as paths through the call tree; empty if no group did, or if it is no register or memory.
    pub by: Vec<String>,
}

/// What must never be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// What it is called.
    pub name: String,
    /// The condition.
    pub when: String,
    /// Whether it must hold in every cycle, rather than in none.
    pub always: bool,
    /// Cycles in which the rule is broken.
    pub cycles: u64,
    /// When it is broken.
    pub violations: Vec<Violation>,
}

/// Cycles without a break in which a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The first one.
    pub cycle: u64,
    /// How many.
    pub cycles: u64,
    /// What was active in the first one, as paths through the call tree.
    pub active: Vec<String>,
    /// The writes by which it is broken, of a rule about registers and words of memories alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

/// Writes to registers or memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The cycle at whose end the new values are there.
    pub cycle: u64,
    /// Who wrote, as paths through the call tree.
    pub by: Vec<String>,
}

/// A sum over all cycles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// What it is called.
    pub name: String,
    /// What is added up.
    pub value: String,
    /// The sum.
    pub total: u64,
    /// The sum divided by the cycles of the run.
    pub per_cycle: f64,
    /// The sums of successive parts of the run, if they are asked for; add up to `total`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u64>,
}

/// A figure that is computed from counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Derived {
    /// What it is called.
    pub name: String,
    /// The formula.
    pub formula: String,
    /// Its value for the whole run; `None` where it divides by zero.
    pub value: Option<f64>,
    /// The values for successive parts of the run, if samples are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Option<f64>>,
}

/// Parts of the run, each from one event to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// What it is called.
    pub name: String,
    /// The expressions.
    pub when: String,
    /// `reset` if nothing has been kept, `sample` if the last part had not ended when the run was over, `stop` otherwise.
    pub state: String,
    /// The first cycle of each, and how many cycles it has.
    pub parts: Vec<(u64, u64)>,
}

impl Results {
    /// As JSON.
    ///
    /// # Panics
    /// Never: all keys are texts or numbers.
    pub fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("results can be written");
        json.push('\n');
        json
    }

    /// All stamps in one order, that of time: what happens in one cycle stands in the order of the request. Each row has the
    /// number of its checkpoint there.
    pub fn stamps(&self) -> Vec<(u64, usize)> {
        let all = self.checkpoints.iter().enumerate();
        let mut stamps: Vec<(u64, usize)> = all
            .flat_map(|(at, of)| of.cycles.iter().map(move |&cycle| (cycle, at)))
            .collect();
        stamps.sort_unstable();
        stamps
    }

    /// How many cycles rules were broken in.
    pub fn violations(&self) -> u64 {
        self.rules.iter().map(|rule| rule.cycles).sum()
    }

    /// The cycles that windows keep, ascending and disjoint; empty if there are no windows.
    pub fn kept(&self) -> Vec<Range<u64>> {
        let parts = self.windows.iter().flat_map(|window| &window.parts);
        let mut parts: Vec<Range<u64>> = parts
            .map(|&(start, cycles)| start..start + cycles)
            .collect();
        parts.sort_unstable_by_key(|part| part.start);
        let mut kept: Vec<Range<u64>> = Vec::new();
        for part in parts {
            match kept.last_mut().filter(|last| part.start <= last.end) {
                Some(last) => last.end = last.end.max(part.end),
                None => kept.push(part),
            }
        }
        kept
    }
}

/// The least value that so large a part of all is not above.
pub(crate) fn quantile(histogram: &BTreeMap<u64, u64>, part: u64, of: u64) -> Option<u64> {
    let count: u64 = histogram.values().sum();
    let wanted = (count * part).div_ceil(of);
    let mut so_far = 0;
    let mut reached = histogram.iter().filter(|(_, count)| {
        so_far += **count;
        so_far >= wanted
    });
    reached.next().map(|(value, _)| *value)
}

/// A quotient; of 0 if nothing is there to divide by.
pub(crate) fn ratio(number: u64, by: u64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio is shown with a few digits"
    )]
    let (number, by) = (number as f64, by as f64);
    if by == 0.0 { 0.0 } else { number / by }
}
