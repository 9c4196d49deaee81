//! The stamps of a checkpoint, and the checkpoints that they are.

use std::collections::BTreeMap;

use petal_metadata::SiteId;

use super::{Checkpoint, median_distance};
use crate::recorded::Recorded;

/// How many checkpoints a value may name.
const MOST_NAMES: usize = 1000;

/// All stamps of a checkpoint, or of all that a value of it names.
pub(crate) struct Stamps {
    pub name: String,
    pub site: SiteId,
    pub when: String,
    pub cycles: Vec<u64>,
    pub values: Vec<Recorded>,
    /// The value that is a part of the name.
    pub by: Option<Recorded>,
}

/// What a stamp is called that has these bits of the value that is a part of the name.
pub(super) fn named(name: &str, by: &Recorded, bits: Option<u64>) -> String {
    let value = bits.map_or("?".to_owned(), |bits| by.of(bits).plain());
    format!("{name}[{value}]")
}

impl Stamps {
    /// The stamps of each checkpoint, with its name: one for each value that names it. Those of which the value is not known, or not
    /// one of the first, are together.
    fn rows(&self) -> Vec<(String, Vec<usize>)> {
        let all = 0..self.cycles.len();
        let Some(by) = &self.by else {
            return vec![(self.name.clone(), all.collect())];
        };
        let mut rows: BTreeMap<Option<u64>, Vec<usize>> = BTreeMap::new();
        for at in all {
            let bits = by.bits.get(at).copied();
            let is_full = rows.len() >= MOST_NAMES;
            let bits = bits.filter(|_| !is_full || rows.contains_key(&bits));
            rows.entry(bits).or_default().push(at);
        }
        let rows = rows.into_iter();
        rows.map(|(bits, stamps)| (named(&self.name, by, bits), stamps))
            .collect()
    }

    /// The checkpoints, if so many cycles are an interval.
    pub fn checkpoints(&self, interval: Option<u64>) -> impl Iterator<Item = Checkpoint> {
        self.rows().into_iter().map(move |(name, stamps)| {
            let cycles: Vec<u64> = stamps.iter().map(|&at| self.cycles[at]).collect();
            let values = self.values.iter().map(|of| of.at(&stamps));
            Checkpoint {
                name,
                site: self.site,
                when: self.when.clone(),
                median_distance: median_distance(&cycles),
                interval,
                values: values.collect(),
                cycles,
            }
        })
    }
}
