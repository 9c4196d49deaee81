//! What is to be observed, as users write it: in a file, or on the command line.

use serde::Deserialize;
use toml::Spanned;

/// All that is to be observed. The texts of expressions are not looked at yet.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// How many cycles each sample of the counters has.
    pub sample: Option<u64>,
    /// The run ends after the first cycle in which this happens.
    pub stop_on: Option<Text>,
    /// Points in time.
    #[serde(default, rename = "checkpoint")]
    pub checkpoints: Vec<CheckpointRequest>,
    /// Times from one event to another.
    #[serde(default, rename = "latency")]
    pub latencies: Vec<LatencyRequest>,
    /// Values whose changes are listed.
    #[serde(default, rename = "watch")]
    pub watches: Vec<WatchRequest>,
    /// What must never be.
    #[serde(default, rename = "never")]
    pub never: Vec<RuleRequest>,
    /// What must be in every cycle.
    #[serde(default, rename = "always")]
    pub always: Vec<RuleRequest>,
    /// What is added up.
    #[serde(default, rename = "count")]
    pub counters: Vec<CounterRequest>,
    /// What is computed from counters.
    #[serde(default, rename = "derive")]
    pub derived: Vec<DerivedRequest>,
    /// The parts of the run that are kept.
    #[serde(default, rename = "window")]
    pub windows: Vec<WindowRequest>,
}

/// The text of an expression, with its place in the file if it is from one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Spanned<String>")]
pub struct Text {
    /// The text.
    pub text: String,
    /// Its first byte in the file.
    pub at: Option<usize>,
}

impl From<Spanned<String>> for Text {
    fn from(text: Spanned<String>) -> Self {
        Self {
            at: Some(text.span().start),
            text: text.into_inner(),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            at: None,
        }
    }
}

/// A checkpoint: each time at which something happens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// An event.
    pub when: Text,
    /// The initiation interval: cycles, or the checkpoint or event whose median distance it is.
    pub interval: Option<Interval>,
}

/// An initiation interval.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Interval {
    /// Cycles.
    Cycles(u64),
    /// The name of a checkpoint, or an event.
    Of(String),
}

/// A latency. `from` alone is something with a handshake, or that is active.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LatencyRequest {
    /// What it is called [default: the expressions].
    pub name: Option<String>,
    /// An event, or both as `A..B`.
    pub from: Text,
    /// An event.
    pub to: Option<Text>,
    /// What tells which end belongs to which beginning [default: the first to begin is the first to end].
    pub tag: Option<Text>,
    /// The same at the end, if it is another expression there.
    pub tag_to: Option<Text>,
}

/// A watchpoint: a register, a memory, some of its words, or any expression.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// What is watched.
    pub value: Text,
}

/// A rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// A condition.
    pub when: Text,
}

/// A counter: the sum of a value over all cycles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// The value; a condition counts the cycles in which it holds.
    pub value: Text,
}

/// A figure that is computed from counters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedRequest {
    /// What it is called [default: the formula].
    pub name: Option<String>,
    /// A formula of `+ - * /`, numbers, names of counters and `cycles`.
    pub formula: Text,
}

/// Parts of a run, each from one event to another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRequest {
    /// What it is called [default: the expressions].
    pub name: Option<String>,
    /// An event, or how many cycles before the end; or both ends as `A..B`.
    pub from: Text,
    /// An event, or how many cycles.
    pub to: Option<Text>,
    /// How many windows are kept at most.
    pub most: Option<u64>,
}

impl Request {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong in it, with its line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Result<Self, toml::de::Error> = toml::from_str(text);
        read.map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.stop_on.is_none()
            && self.checkpoints.is_empty()
            && self.latencies.is_empty()
            && self.watches.is_empty()
            && self.never.is_empty()
            && self.always.is_empty()
            && self.counters.is_empty()
            && self.derived.is_empty()
            && self.windows.is_empty()
    }

    /// Adds what `other` asks for.
    pub fn extend(&mut self, other: Self) {
        self.sample = other.sample.or(self.sample);
        self.stop_on = other.stop_on.or(self.stop_on.take());
        self.checkpoints.extend(other.checkpoints);
        self.latencies.extend(other.latencies);
        self.watches.extend(other.watches);
        self.never.extend(other.never);
        self.always.extend(other.always);
        self.counters.extend(other.counters);
        self.derived.extend(other.derived);
        self.windows.extend(other.windows);
    }
}
