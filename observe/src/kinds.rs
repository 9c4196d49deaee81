//! The kinds of observations: each in a file of its own, with how it is asked for, what it makes of the values of a run, what it gives, and
//! the tables and tracks of that.
//!
//! Owns the lists of them: a request, the results of a run.

mod access;
mod checkpoint;
mod counter;
mod derived;
mod latency;
mod promise;
mod rule;
mod sample;
mod split;
mod undriven;
mod watch;
mod window;

use std::collections::BTreeMap;
use std::ops::Range;

use petal_reconstruct::UndrivenRead;
use petal_table::Track;
use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::collector::Outlet;
use crate::problem::Refused;
use crate::tables::ResultTable;
use crate::text::Text;
use crate::variables::{self, Variables};

pub use crate::blame::Blame;
pub(crate) use access::Heat;
pub use access::{
    Access, AccessKind, AccessRequest, Accesses, Banks, Reuse, Site, SiteAccesses, Stride, Summary,
};
pub use checkpoint::{Checkpoint, CheckpointRequest, Interval};
pub(crate) use checkpoint::{Stamps, marked as marked_checkpoints};
pub(crate) use counter::{Counted, named as named_counters};
pub use counter::{Counter, CounterRequest};
pub use derived::{Derived, DerivedRequest};
pub(crate) use latency::Sums;
pub(crate) use latency::power_of;
pub use latency::{Latency, LatencyRequest};
pub(crate) use promise::KIND as PROMISE;
pub use promise::{Broken, Promise};
pub(crate) use rule::kind as rule_kind;
pub use rule::{Rule, RuleRequest, Violation, Written};
pub use sample::{SampleRequest, Samples};
pub(crate) use undriven::KIND as UNDRIVEN;
pub use undriven::Undriven;
pub use watch::{ChangeOf, Watch, WatchRequest};
pub use window::{Window, WindowRequest};

/// All that is to be observed. The texts of expressions are not looked at yet.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// Where samples end.
    pub sample: Option<SampleRequest>,
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
    /// Memories whose accesses are listed.
    #[serde(default, rename = "access")]
    pub accesses: Vec<AccessRequest>,
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
    /// What libraries say of cells.
    #[serde(skip)]
    pub promises: Vec<Promise>,
    /// What undriven ports the design may read.
    #[serde(skip)]
    pub may_read: Vec<UndrivenRead>,
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

    /// Whether nobody asks for anything.
    pub fn is_empty(&self) -> bool {
        !matches!(self.sample, Some(SampleRequest::Event(_)))
            && self.stop_on.is_none()
            && self.checkpoints.is_empty()
            && self.latencies.is_empty()
            && self.watches.is_empty()
            && self.accesses.is_empty()
            && self.never.is_empty()
            && self.always.is_empty()
            && self.counters.is_empty()
            && self.derived.is_empty()
            && self.windows.is_empty()
    }

    /// Adds what `other` asks for.
    pub fn extend(&mut self, other: Self) {
        self.sample = other.sample.or(self.sample.take());
        self.stop_on = other.stop_on.or(self.stop_on.take());
        self.checkpoints.extend(other.checkpoints);
        self.latencies.extend(other.latencies);
        self.watches.extend(other.watches);
        self.accesses.extend(other.accesses);
        self.never.extend(other.never);
        self.always.extend(other.always);
        self.counters.extend(other.counters);
        self.derived.extend(other.derived);
        self.windows.extend(other.windows);
        self.promises.extend(other.promises);
        self.may_read.extend(other.may_read);
    }

    /// Makes all ready. What is found will be left there.
    pub(crate) fn build(&self, builder: &mut Builder<'_>) -> Result<Outlets, Box<Refused>> {
        let outlets = Outlets::default();
        checkpoint::build(&self.checkpoints, &outlets.checkpoints, builder)?;
        latency::build(&self.latencies, &outlets.latencies, builder)?;
        watch::build(&self.watches, &outlets.watches, builder)?;
        access::build(&self.accesses, &outlets.accesses, builder)?;
        rule::build(&self.never, false, &outlets.rules, builder)?;
        rule::build(&self.always, true, &outlets.rules, builder)?;
        let sampling = sample::build(self.sample.as_ref(), &outlets.samples, builder)?;
        counter::build(self, &sampling, &outlets.counters, builder)?;
        derived::build(&self.derived, &sampling, &outlets, builder)?;
        window::build(&self.windows, &outlets.windows, builder)?;
        variables::build(&outlets.variables, builder);
        promise::build(&self.promises, &outlets.broken, builder);
        undriven::build(&self.may_read, &outlets.undriven, builder);
        Ok(outlets)
    }
}

/// Where the kinds leave what they found.
#[derive(Default)]
pub(crate) struct Outlets {
    checkpoints: Outlet<Checkpoint>,
    latencies: Outlet<Latency>,
    watches: Outlet<Watch>,
    accesses: Outlet<Accesses>,
    rules: Outlet<Rule>,
    samples: Outlet<Samples>,
    counters: Outlet<Counter>,
    derived: Outlet<Derived>,
    windows: Outlet<Window>,
    variables: Outlet<Variables>,
    broken: Outlet<Broken>,
    undriven: Outlet<Undriven>,
}

impl Outlets {
    /// The results of a run of so many cycles.
    pub fn results(&self, cycles: u64, sample: Option<u64>, stopped_by: Option<String>) -> Results {
        Results {
            version: VERSION,
            cycles,
            stopped_by,
            checkpoints: self.checkpoints.take(),
            latencies: self.latencies.take(),
            overlapped: Vec::new(),
            watches: self.watches.take(),
            accesses: self.accesses.take(),
            rules: self.rules.take(),
            counters: self.counters.take(),
            derived: self.derived.take(),
            windows: self.windows.take(),
            variables: self.variables.take().pop(),
            broken_promises: self.broken.take(),
            undriven: self.undriven.take(),
            sample,
            samples: self.samples.take().pop(),
            dropped: None,
            recorded: None,
        }
    }
}

/// The version of `observations.json`.
pub const VERSION: u32 = 3;

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
    /// In how many cycles something happened for which a monitor on the chip had no room, if in any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// The cycles of which a monitor tells all, if it had no room for what happened in others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Range<u64>>,
    /// Points in time.
    pub checkpoints: Vec<Checkpoint>,
    /// Times from one event to another.
    pub latencies: Vec<Latency>,
    /// The latencies of which a monitor on the chip tells nothing: one began again before it ended, and sums do not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlapped: Vec<String>,
    /// Changes of values.
    pub watches: Vec<Watch>,
    /// Reads and writes of memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<Accesses>,
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
    /// How many cycles each sample of a counter has, if samples have a number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// The samples, if each ends with an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// The values of the front end's variables, if it tells of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Variables>,
    /// What libraries said of cells, and was not so; kept with what the run warns of.
    #[serde(skip)]
    pub broken_promises: Vec<Broken>,
    /// The reads of ports that nothing drove; `petal check` tells of them.
    #[serde(skip)]
    pub undriven: Vec<Undriven>,
}

impl Results {
    /// All stamps in one order, that of time: what happens in one cycle stands in the order of the request. Each row has the
    /// number of its checkpoint there.
    pub fn stamps(&self) -> Vec<(u64, usize)> {
        checkpoint::stamps(&self.checkpoints)
    }

    /// How many cycles rules were broken in.
    pub fn violations(&self) -> u64 {
        rule::broken(&self.rules)
    }

    /// The cycles that windows keep, ascending and disjoint; empty if there are no windows.
    pub fn kept(&self) -> Vec<Range<u64>> {
        window::kept(&self.windows)
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
        let samples = self.samples.as_ref();
        let tables = [
            checkpoint::tables(&self.checkpoints, self.dropped),
            latency::tables(&self.latencies),
            watch::tables(&self.watches),
            access::tables(&self.accesses, self.cycles),
            rule::tables(&self.rules),
            counter::tables(&self.counters),
            sample::tables(samples, self.sample, &self.counters, self.cycles),
            derived::tables(&self.derived),
            window::tables(&self.windows, self.cycles),
            variables::tables(self.variables.as_ref()),
        ];
        tables.into_iter().flatten().collect()
    }

    /// The first cycle of each sample, and how many cycles it has.
    pub(crate) fn parts(&self) -> Vec<(u64, u64)> {
        sample::parts(self.sample, self.samples.as_ref(), self.cycles)
    }

    /// The tracks of all observations.
    pub fn tracks(&self) -> Vec<Track> {
        let samples = self.samples.as_ref();
        let parts = self.parts();
        let tracks = [
            window::tracks(&self.windows),
            checkpoint::tracks(&self.checkpoints),
            latency::tracks(&self.latencies),
            rule::tracks(&self.rules),
            watch::tracks(&self.watches),
            access::tracks(&self.accesses),
            sample::tracks(samples, &self.counters),
            counter::tracks(&self.counters, &parts),
            derived::tracks(&self.derived, &parts),
            variables::tracks(self.variables.as_ref()),
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
        let accesses = access::figures(&self.accesses);
        let samples = sample::figures(self.samples.as_ref());
        all.chain(rules).chain(accesses).chain(samples).collect()
    }
}
