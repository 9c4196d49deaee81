//! What the design of a run costs in area and time, as synthesis, place and route told.

use serde::{Deserialize, Serialize};

/// The longest period that a baseline may have, in picoseconds: a second.
const MAX_PERIOD: u64 = 1_000_000_000_000;

/// Area and clock of a design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynthesisFigures {
    /// The device.
    pub device: String,
    /// Whether the external memories are a part of the area.
    pub has_memories: bool,
    /// The tools and their versions.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Look-up tables.
    pub luts: u64,
    /// Flip-flops.
    pub ffs: u64,
    /// Block memories.
    pub brams: u64,
    /// Multipliers.
    pub dsps: u64,
    /// Cells of carry chains.
    pub carries: u64,
    /// The shortest period of the clock for each seed, in picoseconds, shortest first; none without place and route.
    #[serde(default)]
    pub periods_ps: Vec<u64>,
}

impl SynthesisFigures {
    /// The period with the seed in the middle, in picoseconds; of two, the longer one.
    pub fn period_ps(&self) -> Option<u64> {
        self.periods_ps.get(self.periods_ps.len() / 2).copied()
    }

    /// How long so many cycles take, in nanoseconds.
    pub fn time_ns(&self, cycles: u64) -> Option<u64> {
        let time = (u128::from(cycles) * u128::from(self.period_ps()?) + 500) / 1000;
        Some(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// What does not fit together, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_period = |&period: &u64| (1..=MAX_PERIOD).contains(&period);
        if !self.periods_ps.iter().all(is_period) || !self.periods_ps.is_sorted() {
            return Err("its clock makes no sense".to_owned());
        }
        Ok(())
    }
}
