//! Quantiles and ratios.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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

/// How values are spread over parts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many parts there are.
    pub count: u64,
    /// The least value.
    pub min: u64,
    /// The sum divided by the number of parts.
    pub mean: f64,
    /// At least half of the values are not above it.
    pub median: u64,
    /// At least 99 of 100 are not above it.
    pub p99: u64,
    /// The greatest value.
    pub max: u64,
    /// The first cycle of the first part with that.
    pub max_at: u64,
    /// The sum.
    pub total: u64,
    /// How many parts have which value.
    pub histogram: BTreeMap<u64, u64>,
}

impl Spread {
    /// Of these values, each in the part that begins there; none of no values.
    pub(crate) fn of(parts: &[(u64, u64)], values: &[u64]) -> Option<Self> {
        let mut histogram = BTreeMap::new();
        for value in values {
            *histogram.entry(*value).or_default() += 1;
        }
        let max = *histogram.keys().next_back()?;
        let starts = parts.iter().zip(values);
        let largest = starts.filter(|(_, value)| **value == max);
        let total: u64 = values.iter().sum();
        Some(Self {
            count: values.len() as u64,
            min: *histogram.keys().next()?,
            mean: ratio(total, values.len() as u64),
            median: quantile(&histogram, 1, 2)?,
            p99: quantile(&histogram, 99, 100)?,
            max,
            max_at: largest.map(|((start, _), _)| *start).min()?,
            total,
            histogram,
        })
    }
}
