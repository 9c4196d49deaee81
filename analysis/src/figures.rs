//! The figures of a whole run, for a trace that has only parts of it.
//!
//! All is counted by [`Analysis`](crate::Analysis) and [`CriticalPath`](crate::CriticalPath); this is how their counts
//! outlive the run. Nobody but petal of the same version reads them.

use petal_metadata::ControlId;
use petal_reconstruct::{InstanceId, TreeId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::activations::Durations;
use crate::critical::{CriticalCycles, Site};
use crate::elements::Element;
use crate::front_end::FrontEndLine;
use crate::iterations::Iterations;
use crate::waits::Wait;
use crate::windows::Windows;

/// What was counted in a run. Trees and instances are those of its trace, which has all of them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    /// In how many cycles each tree was active.
    pub trees: Vec<u64>,
    /// The tree of the last cycle.
    pub last: Option<TreeId>,
    /// The activations of what was active.
    pub durations: Vec<(Element, Durations)>,
    /// What each `par` waited.
    pub waits: Vec<(InstanceId, ControlId, Wait)>,
    /// The iterations of each loop.
    pub iterations: Vec<(InstanceId, ControlId, Iterations)>,
    /// The order of the cycles, as the report has it (base64); `None` if there are too many.
    pub order: Option<String>,
    /// The classes of cycles in equal parts of the run.
    pub bins: Windows,
    /// How often lines of the front end became active.
    pub lines: Vec<(FrontEndLine, u64)>,
    /// The cycles of the critical path that belong to each site.
    pub own: Vec<(Site, u64)>,
    /// Those that belong to it and to what is in it.
    pub through: Vec<(Site, u64)>,
    /// Those in which a site runs a component cell.
    pub calls: Vec<(Site, InstanceId, u64)>,
}

/// A trace has figures that can't be those of its run, or that another build of petal wrote.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the trace has figures that another build of petal wrote, or that are damaged; profile the design again with `petal run`"
)]
pub struct FiguresError;

impl Figures {
    /// Reads what [`json`](Self::json) made of the figures of a run of so many cycles.
    ///
    /// # Errors
    /// When it is no figures, or those of no such run.
    pub fn of_json(text: &str, cycles: u64) -> Result<Self, FiguresError> {
        let figures: Self = serde_json::from_str(text).map_err(|_| FiguresError)?;
        let is_sum = sum(figures.trees.iter().copied()) == Some(cycles)
            && sum(figures.own.iter().map(|&(_, own)| own)) == Some(cycles)
            && figures.bins.are_of(cycles);
        let durations = figures.durations.iter().map(|(_, durations)| durations);
        let loops = figures.iterations.iter();
        let loops = loops.flat_map(|(_, _, of)| [&of.each, &of.cycles]);
        let waits = figures.waits.iter();
        let parts = durations
            .chain(loops)
            .flat_map(|of| [of.count, of.total, of.min, of.max])
            .chain(
                waits.flat_map(|(_, _, wait)| wait.slowest.values().copied().chain([wait.cycles])),
            )
            .chain(figures.lines.iter().map(|&(_, times)| times))
            .chain(figures.through.iter().map(|&(_, through)| through))
            .chain(figures.calls.iter().map(|&(_, _, calls)| calls));
        let are_parts = parts.into_iter().all(|part| part <= cycles);
        (is_sum && are_parts).then_some(figures).ok_or(FiguresError)
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all keys are texts or numbers.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("figures can be written")
    }

    /// The cycles of the critical path.
    pub fn critical(&self) -> CriticalCycles {
        let calls = self.calls.iter();
        CriticalCycles {
            own: self.own.iter().copied().collect(),
            through: self.through.iter().copied().collect(),
            calls: calls.map(|&(site, cell, n)| ((site, cell), n)).collect(),
        }
    }
}

fn sum(mut all: impl Iterator<Item = u64>) -> Option<u64> {
    all.try_fold(0, |sum: u64, of| sum.checked_add(of))
}
