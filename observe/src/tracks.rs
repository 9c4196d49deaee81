//! What observations gave, as tracks of a timeline, and as figures of a run.

use std::collections::BTreeMap;

use petal_table::{Track, TrackContent};

use crate::results::Results;

impl Results {
    /// The tracks of all observations.
    pub fn tracks(&self) -> Vec<Track> {
        // Arrows lead through the events of several checkpoints in their order.
        let mut stamps = vec![Vec::new(); self.checkpoints.len()];
        let has_order = stamps.len() > 1;
        for (order, (cycle, at)) in (0..).zip(self.stamps()) {
            stamps[at].push((cycle, has_order.then_some(order)));
        }
        let checkpoints = self.checkpoints.iter().zip(stamps);
        let checkpoints =
            checkpoints.map(|(of, stamps)| (&of.name, TrackContent::Instants(stamps)));
        let latencies = self.latencies.iter().map(|of| {
            let mut intervals = of.intervals.clone();
            intervals.sort_unstable();
            (&of.name, TrackContent::Slices(intervals))
        });
        let rules = self.rules.iter().map(|of| {
            let slices = of.violations.iter();
            let slices = slices.map(|at| (at.cycle, at.cycles));
            (&of.name, TrackContent::Slices(slices.collect()))
        });
        #[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
        let watches = self.watches.iter().map(|of| {
            // A word of a memory is no value over time, and a register has its new one in the next cycle.
            let writes = of.changes.iter().filter(|change| change.index.is_some());
            let writes: Vec<_> = writes.map(|change| (change.cycle, None)).collect();
            let later = u64::from(of.is_written);
            let values = of.changes.iter();
            let values = values.map(|change| (change.cycle + later, change.new as f64));
            let content = match &writes[..] {
                [] => TrackContent::Values(values.collect()),
                _ => TrackContent::Instants(writes),
            };
            (&of.name, content)
        });
        let sample = self.sample.unwrap_or(1);
        #[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
        let counters = self.counters.iter().map(|of| {
            let samples = (0..).map(|at| at * sample).zip(of.samples.iter());
            let values = samples.map(|(cycle, &sum)| (cycle, sum as f64));
            (&of.name, TrackContent::Samples(values.collect()))
        });
        let windows = self.windows.iter().map(|of| {
            let mut parts = of.parts.clone();
            parts.sort_unstable();
            (&of.name, TrackContent::Slices(parts))
        });
        let derived = self.derived.iter().map(|of| {
            let samples = (0..).map(|at| at * sample).zip(of.samples.iter());
            let values = samples.filter_map(|(cycle, value)| Some((cycle, (*value)?)));
            (&of.name, TrackContent::Samples(values.collect()))
        });
        let all = windows
            .chain(checkpoints)
            .chain(latencies)
            .chain(rules)
            .chain(watches)
            .chain(counters)
            .chain(derived);
        all.map(|(name, content)| Track {
            name: name.clone(),
            content,
        })
        .collect()
    }

    /// What a run is compared by, such as `count:NAME` and `latency:NAME:max`.
    pub fn figures(&self) -> BTreeMap<String, u64> {
        let mut figures = BTreeMap::new();
        for of in &self.counters {
            figures.insert(format!("count:{}", of.name), of.total);
        }
        for of in &self.checkpoints {
            figures.insert(format!("checkpoint:{}", of.name), of.cycles.len() as u64);
        }
        for of in &self.latencies {
            for (what, value) in [("median", of.median), ("max", of.max)] {
                if let Some(value) = value {
                    figures.insert(format!("latency:{}:{what}", of.name), value);
                }
            }
        }
        for of in &self.rules {
            figures.insert(format!("broken:{}", of.name), of.cycles);
        }
        figures
    }
}
