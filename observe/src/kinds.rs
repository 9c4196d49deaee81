//! The kinds of observations: each in a file of its own, with how it is asked for, what it makes of the values of a run, what it gives, and
//! the tables and tracks of that.
//!
//! Owns the lists of them: a request, the results of a run.

mod checkpoint;
mod counter;
mod derived;
mod latency;
mod rule;
mod watch;
mod window;

use std::collections::BTreeMap;

use petal_reconstruct::{Marks, Signal};
use petal_table::Track;
use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::look::Look;
use crate::problem::Refused;
use crate::tables::ResultTable;
use crate::text::Text;
use crate::work::Work;

pub use crate::blame::Blame;
pub use checkpoint::{Checkpoint, CheckpointRequest, Interval};
pub use counter::{Counter, CounterRequest};
pub use derived::{Derived, DerivedRequest};
pub use latency::{Latency, LatencyRequest};
pub use rule::{Rule, RuleRequest, Violation, Written};
pub use watch::{ChangeOf, Watch, WatchRequest};
pub use window::{Window, WindowRequest};

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

/// What is collected for an observation while a run goes by.
pub(crate) trait Collector: Send {
    /// Its kind, as in a request.
    fn kind(&self) -> &'static str;

    /// What it is called.
    fn name(&self) -> &str;

    /// The kind and the name by which others know it, which no other may have; `None` if nobody does.
    fn known_as(&self) -> Option<(&'static str, &str)> {
        Some((self.kind(), self.name()))
    }

    /// The nodes that it looks at.
    fn nodes(&self) -> Vec<usize>;

    /// How many results it has.
    fn kept(&self) -> usize;

    /// Looks at a cycle in which a node has changed, or that it asked for. Returns whether it wants the next one, too.
    fn look(&mut self, look: &mut Look<'_, '_>) -> bool;

    /// Adds what it found in a run that is over.
    fn finish(self: Box<Self>, run: &Finished<'_>, results: &mut Results);

    /// The median distance of what happens now and then, in cycles.
    fn median_distance(&self) -> Option<u64> {
        None
    }

    /// Hears the words of memories before the run, each with its index in row-major order: all others are 0 then.
    fn start_with(&mut self, _words: &dyn Fn(&Signal) -> Vec<(u64, u64)>) {}

    /// From which cycle on it needs to know what was active.
    fn needs_since(&self) -> Option<u64> {
        None
    }

    /// Keeps what it needs of the cycles before this one, which are about to be forgotten.
    fn keep(&mut self, _before: u64, _work: &Work) {}

    /// How many cycles before the one that decides it a part of the run that it keeps begins at most; `None` if it keeps none.
    fn keeps(&self) -> Option<u64> {
        None
    }

    /// Tells at once what it keeps.
    fn mark(&mut self, _marks: &Marks) {}
}

/// A run that is over.
pub(crate) struct Finished<'a> {
    pub cycles: u64,
    pub sample: Option<u64>,
    pub work: &'a Work,
    /// The median distances of what happens now and then, by name.
    pub medians: Vec<(String, Option<u64>)>,
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

    /// Makes all ready.
    pub(crate) fn build(&self, builder: &mut Builder<'_>) -> Result<(), Box<Refused>> {
        checkpoint::build(&self.checkpoints, builder)?;
        latency::build(&self.latencies, builder)?;
        watch::build(&self.watches, builder)?;
        rule::build(&self.never, false, builder)?;
        rule::build(&self.always, true, builder)?;
        counter::build(&self.counters, self.sample, builder)?;
        derived::build(&self.derived, self.sample, builder)?;
        window::build(&self.windows, builder)
    }
}

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

impl Results {
    /// The first cycle of each sample of the counters.
    fn starts(&self) -> impl Iterator<Item = u64> {
        let sample = self.sample.unwrap_or(1);
        (0..).map(move |at| at * sample)
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all keys are texts or numbers.
    pub fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("results can be written");
        json.push('\n');
        json
    }

    /// All tables, also those without rows.
    pub fn tables(&self) -> Vec<ResultTable<'_>> {
        let tables = [
            checkpoint::tables(self),
            latency::tables(&self.latencies),
            watch::tables(&self.watches),
            rule::tables(self),
            counter::tables(self),
            derived::tables(&self.derived),
            window::tables(self),
        ];
        tables.into_iter().flatten().collect()
    }

    /// The tracks of all observations.
    pub fn tracks(&self) -> Vec<Track> {
        let tracks = [
            window::tracks(&self.windows),
            checkpoint::tracks(self),
            latency::tracks(&self.latencies),
            rule::tracks(&self.rules),
            watch::tracks(&self.watches),
            counter::tracks(self),
            derived::tracks(self),
        ];
        tracks.into_iter().flatten().collect()
    }

    /// What a run is compared by, such as `count:NAME` and `latency:NAME:max`.
    pub fn figures(&self) -> BTreeMap<String, u64> {
        let counters = counter::figures(&self.counters);
        let checkpoints = checkpoint::figures(&self.checkpoints);
        let latencies = latency::figures(&self.latencies);
        let rules = rule::figures(&self.rules);
        let all = counters.chain(checkpoints).chain(latencies);
        all.chain(rules).collect()
    }
}
