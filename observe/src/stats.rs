//! Quantiles and ratios.

use std::collections::BTreeMap;

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
