//! The figures of a run, by which a sweep's rows are compared.

use std::collections::BTreeMap;

use petal_observe::Results;
use petal_profile::{Error, Profile};

use crate::synth;

/// What the cycles of a kind of overhead are called as a figure.
pub(super) fn overhead(kind: &str) -> String {
    format!("{}_cycles", kind.replace('-', "_"))
}

/// The figures of the profile in a folder.
pub(super) fn figures(profile: &Profile) -> Result<BTreeMap<String, u64>, Error> {
    let summary = &profile.summary;
    let mut figures = BTreeMap::from(
        [
            ("cycles", summary.cycles),
            ("useful_cycles", summary.useful_cycles),
            ("computation_cycles", summary.computation_cycles),
            ("condition_cycles", summary.condition_cycles),
            ("overhead_cycles", summary.overhead_cycles),
        ]
        .map(|(name, cycles)| (name.to_owned(), cycles)),
    );
    let kinds = summary.overhead.iter();
    figures.extend(kinds.map(|(kind, cycles)| (overhead(kind), *cycles)));
    if let Some(hardware) = summary.hardware {
        figures.extend(hardware.figures().map(|(name, of)| (name.to_owned(), of)));
    }
    if let Some(clock) = summary.clock {
        figures.insert("time_ns".to_owned(), clock.time_ns);
        figures.insert("period_ps".to_owned(), clock.period.ps());
    }
    if let Some(synthesis) = profile.synthesis() {
        let of = synth::figures(synthesis);
        let named = [
            ("luts", of.luts),
            ("ffs", of.ffs),
            ("brams", of.brams),
            ("dsps", of.dsps),
            ("carries", of.carries),
        ];
        figures.extend(named.map(|(name, figure)| (name.to_owned(), figure)));
    }
    let results = profile.observations()?;
    figures.extend(results.iter().flat_map(Results::figures));
    Ok(figures)
}
