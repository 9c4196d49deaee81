//! What the design of a run costs in area and time, as synthesis, place and route told.

use petal_analysis::Period;
use serde::{Deserialize, Serialize};

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
    /// The period with the seed in the middle; of two, the longer one.
    pub fn period(&self) -> Option<Period> {
        let middle = self.periods_ps.get(self.periods_ps.len() / 2)?;
        Period::of_ps(*middle)
    }

    /// What does not fit together, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_period = |&period: &u64| Period::of_ps(period).is_some();
        if !self.periods_ps.iter().all(is_period) || !self.periods_ps.is_sorted() {
            return Err("its clock makes no sense".to_owned());
        }
        Ok(())
    }
}
