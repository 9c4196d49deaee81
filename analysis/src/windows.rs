//! A run in windows: parts of equal length, with the cycles in each of what is counted.

use serde::{Deserialize, Serialize};

/// The windows of a run so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// Cycles of a window: a power of two. The last one may be shorter.
    width: u64,
    cycles: u64,
    max: usize,
    /// Each thing that is counted has its cycles in each window; those that are missing at the end are 0.
    series: Vec<Vec<u64>>,
}

impl Windows {
    /// At most `max` windows of a run, before its first cycle.
    pub fn new(max: usize) -> Self {
        Self {
            width: 1,
            cycles: 0,
            max,
            series: Vec::new(),
        }
    }

    /// Appends cycles, which all count for each of these things.
    pub fn add(&mut self, counted: &[usize], mut cycles: u64) {
        while cycles > 0 {
            if self.rest() == 0 && self.count() == self.max {
                self.halve();
                continue;
            }
            let taken = cycles.min(self.width - self.rest());
            self.cycles += taken;
            let count = self.count();
            for &id in counted {
                if self.series.len() <= id {
                    self.series.resize_with(id + 1, Vec::new);
                }
                let series = &mut self.series[id];
                match series.get_mut(count - 1) {
                    Some(of) => *of += taken,
                    None => {
                        series.resize(count, 0);
                        series[count - 1] = taken;
                    }
                }
            }
            cycles -= taken;
        }
    }

    /// Appends these runs, each of so many cycles, so often, one time after the other.
    pub fn add_again(&mut self, runs: &[(&[usize], u64)], mut times: u64) {
        let each: u64 = runs.iter().map(|&(_, cycles)| cycles).sum();
        while times > 0 && each > 0 {
            // So often within a window, and once more beyond it.
            let within = times.min(self.room() / each);
            if within > 0 {
                for &(counted, cycles) in runs {
                    self.add(counted, cycles * within);
                }
            }
            times -= within;
            if times > 0 {
                for &(counted, cycles) in runs {
                    self.add(counted, cycles);
                }
                times -= 1;
            }
        }
    }

    /// How many cycles can be appended until a window is full: if they are, their order is of no account.
    pub fn room(&self) -> u64 {
        // Where there are as many as there may be, they are halved first.
        let is_full = self.rest() == 0 && self.count() == self.max;
        let width = self.width << u32::from(is_full);
        width - (self.cycles & (width - 1))
    }

    /// Cycles of the last window, if it is not full; else 0.
    fn rest(&self) -> u64 {
        self.cycles & (self.width - 1)
    }

    /// Whether they can be those of a run of so many cycles.
    pub fn are_of(&self, cycles: u64) -> bool {
        self.width.is_power_of_two()
            && self.cycles == cycles
            && self.count() <= self.max
            && self
                .series
                .iter()
                .all(|series| series.len() <= self.count())
            && self.series.iter().flatten().all(|&of| of <= self.width)
    }

    /// Cycles of the run.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Cycles of a window but the last one.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        let windows = (self.cycles >> self.width.ilog2()) + u64::from(self.rest() > 0);
        usize::try_from(windows).unwrap_or(usize::MAX)
    }

    /// Cycles of the window `at`.
    pub fn length(&self, at: usize) -> u64 {
        let before = at as u64 * self.width;
        self.width.min(self.cycles.saturating_sub(before))
    }

    /// The cycles of a thing in each window.
    pub fn of(&self, counted: usize) -> impl Iterator<Item = u64> + '_ {
        let series = self.series.get(counted).map_or(&[][..], Vec::as_slice);
        let all = series.iter().copied().chain(std::iter::repeat(0));
        all.take(self.count())
    }

    /// Makes one window of every two.
    pub fn halve(&mut self) {
        for series in &mut self.series {
            let pairs = series.chunks(2).map(|pair| pair.iter().sum());
            *series = pairs.collect();
        }
        self.width *= 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: usize = 64;

    proptest! {
        #[test]
        fn what_comes_again_is_added_as_often(
            before in 0..5_000_u64,
            runs in prop::collection::vec((0..5_usize, 1..60_u64), 0..9),
            times in 1..400_u64,
            max in 1..=MAX,
        ) {
            let (mut at_once, mut each) = (Windows::new(max), Windows::new(max));
            at_once.add(&[0], before);
            each.add(&[0], before);
            let counted: Vec<[usize; 2]> = runs.iter().map(|&(id, _)| [id, 5]).collect();
            let runs: Vec<(&[usize], u64)> =
                counted.iter().zip(&runs).map(|(ids, &(_, cycles))| (&ids[..], cycles)).collect();
            at_once.add_again(&runs, times);
            for _ in 0..times {
                for &(counted, cycles) in &runs {
                    each.add(counted, cycles);
                }
            }
            prop_assert_eq!(at_once, each);
        }

        #[test]
        fn windows_add_up(runs in prop::collection::vec((0..5_usize, 1..500_u64), 0..400)) {
            let mut windows = Windows::new(MAX);
            let mut sums = [0; 6];
            for &(id, cycles) in &runs {
                windows.add(&[id, 5], cycles);
                sums[id] += cycles;
                sums[5] += cycles;
            }
            let count = windows.count();
            prop_assert!(count <= MAX);
            prop_assert!(count > MAX / 2 || windows.width() == 1);
            for (id, sum) in sums.into_iter().enumerate() {
                prop_assert_eq!(windows.of(id).sum::<u64>(), sum);
                prop_assert_eq!(windows.of(id).count(), count);
            }
            // What is counted in every cycle fills every window.
            for (at, cycles) in windows.of(5).enumerate() {
                prop_assert_eq!(cycles, windows.length(at));
                prop_assert_eq!(cycles == windows.width(), at + 1 < count || cycles == windows.width());
            }
        }
    }
}
