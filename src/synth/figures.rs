//! Area and clock in whole numbers, as comparisons and sweeps have them.

use petal_compare::SynthesisFigures;
use petal_synth::{Figures, Synthesis};

/// The figures of a design that was synthesised.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of cells, and periods, are neither as large nor negative"
)]
pub fn figures(synthesis: &Synthesis) -> SynthesisFigures {
    let Figures {
        luts,
        ffs,
        brams,
        dsps,
        carries,
        ..
    } = synthesis.area.total;
    let clocks = synthesis.clock.iter().flat_map(|of| of.seeds.values());
    let mut periods_ps: Vec<u64> = clocks.map(|mhz| (1e6 / mhz).round() as u64).collect();
    periods_ps.sort_unstable();
    let whole = |cells: f64| cells.round() as u64;
    SynthesisFigures {
        device: synthesis.device.clone(),
        has_memories: synthesis.has_memories,
        tools: synthesis.tools.clone(),
        luts: whole(luts),
        ffs: whole(ffs),
        brams: whole(brams),
        dsps: whole(dsps),
        carries: whole(carries),
        periods_ps,
    }
}
