//! The baseline of a run, which comparisons read: its figures, and those of what was observed in it.

use petal_analysis::{Analysis, ClockSource, Summary};
use petal_compare::{
    AccessFigures, Baseline, CheckpointFigures, CounterFigures, LatencyFigures, ValueFigures,
};
use petal_observe::Results;

/// The baseline of a run, with what was observed in it.
pub fn of_run(analysis: &Analysis<'_>, summary: &Summary, results: Option<&Results>) -> Baseline {
    let mut baseline = Baseline::new(analysis, &summary.design, summary.stopped.clone());
    baseline.data.clone_from(&summary.data);
    baseline.data_digest.clone_from(&summary.data_digest);
    let clock = summary
        .clock
        .filter(|clock| clock.from == ClockSource::Option);
    baseline.period = clock.map(|clock| clock.period);
    if let Some(results) = results {
        add_observations(&mut baseline, results);
    }
    baseline
}

/// Adds what was observed in a run.
fn add_observations(baseline: &mut Baseline, results: &Results) {
    // What happens in one cycle has an order only by name.
    let mut stamps = results.stamps();
    stamps.sort_by_key(|&(cycle, at)| (cycle, &results.checkpoints[at].name));
    baseline.stamps = stamps.into_iter().map(|(_, at)| at).collect();
    let checkpoints = results.checkpoints.iter();
    baseline.checkpoints = checkpoints
        .map(|of| CheckpointFigures {
            name: of.name.clone(),
            stamps: of.cycles.len() as u64,
            median_distance: of.median_distance,
            values: of
                .values
                .iter()
                .map(|value| ValueFigures {
                    name: value.name.clone(),
                    at_stamps: (0..of.cycles.len())
                        .map(|at| value.shown(at).plain())
                        .collect(),
                })
                .collect(),
        })
        .collect();
    let latencies = results.latencies.iter();
    baseline.latencies = latencies
        .map(|of| LatencyFigures {
            name: of.name.clone(),
            count: of.count,
            median: of.median,
            p99: of.p99,
            max: of.max,
            over_shortest: of.over_shortest,
            histogram: of.histogram.clone(),
        })
        .collect();
    let accesses = results.accesses.iter();
    baseline.accesses = accesses
        .map(|of| AccessFigures {
            name: of.name.clone(),
            reads: of.summary.reads,
            words_read: of.summary.words_read,
            writes: of.summary.writes,
            words_written: of.summary.words_written,
        })
        .collect();
    let counters = results.counters.iter();
    baseline.counters = counters
        .map(|of| CounterFigures {
            name: of.name.clone(),
            total: of.total,
        })
        .collect();
}
