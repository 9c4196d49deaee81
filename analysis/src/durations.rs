//! How long something took, each time that it happened.

use serde::{Deserialize, Serialize};

/// How long the activations of something took, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Durations {
    /// Number of activations.
    pub count: u64,
    /// Cycles of all activations together.
    pub total: u64,
    /// Cycles of the shortest activation.
    pub min: u64,
    /// Cycles of the longest activation.
    pub max: u64,
}

impl Durations {
    /// Adds `count` activations of `cycles` each.
    pub fn add(&mut self, cycles: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            cycles
        } else {
            self.min.min(cycles)
        };
        self.max = self.max.max(cycles);
        self.count += count;
        self.total += cycles * count;
    }

    /// Adds the activations of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.total += other.total;
    }
}
