//! The figures of a run, by which a sweep's rows are compared.

use std::collections::BTreeMap;
use std::path::Path;

use petal_observe::Results;
use petal_profile::{Error, Profile};

use crate::synth;

/// What the cycles of a kind of overhead are called as a figure.
pub(super) fn overhead(kind: &str) -> String {
    format!("{}_cycles", kind.replace('-', "_"))
}

/// The figures of the profile in a folder.
pub(super) fn figures(profile: &Profile, folder: &Path) -> Result<BTreeMap<String, u64>, Error> {
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
    if let Some(synthesis) = synth::of_profile(folder, profile) {
        let of = synth::figures(&synthesis);
        let clock = [
            ("time_ns", of.time_ns(summary.cycles)),
            ("period_ps", of.period_ps()),
        ];
        let clock = clock.into_iter();
        figures.extend(clock.filter_map(|(name, figure)| Some((name.to_owned(), figure?))));
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
