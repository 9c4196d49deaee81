//! What was observed in a run, as far as a comparison needs it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The figures of a latency, in cycles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// What it is called.
    pub name: String,
    /// How many there were: `histogram` has them all.
    pub count: u64,
    /// The middle one; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<u64>,
    /// At least 99 of 100 are not longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// The longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// What all took longer than the shortest one.
    #[serde(alias = "stall")]
    pub over_shortest: u64,
    /// How many took how many cycles.
    pub histogram: BTreeMap<u64, u64>,
}

/// The sum of a counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterFigures {
    /// What it is called.
    pub name: String,
    /// The sum over all cycles.
    pub total: u64,
}

/// How a memory was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessFigures {
    /// What it is called.
    pub name: String,
    /// How many reads there were.
    pub reads: u64,
    /// Of how many different words.
    pub words_read: u64,
    /// How many writes there were.
    pub writes: u64,
    /// Of how many different words.
    pub words_written: u64,
}

/// The figures of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointFigures {
    /// What it is called.
    pub name: String,
    /// How often it happened.
    pub stamps: u64,
    /// The median distance between two stamps, in cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_distance: Option<u64>,
    /// What it recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueFigures>,
}

/// The values of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueFigures {
    /// What they are called.
    pub name: String,
    /// Each as it is shown, one for every stamp; empty if nobody knows it.
    pub at_stamps: Vec<String>,
}
