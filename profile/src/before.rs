//! The run whose profile was in a folder before another one takes its place.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use petal_analysis::Summary;
use petal_metadata::Metadata;
use petal_observe::Results;
use petal_visualize::outputs::{FIGURES, MEMORIES, SUMMARY};

use crate::profile::Profile;

/// The run before. It can be read although its files are gone.
#[derive(Debug)]
pub struct Before {
    /// Its profile.
    pub profile: Profile,
    /// What was observed in it.
    pub results: Option<Results>,
    /// What was kept of its figures, if anything was.
    pub figures: Option<Vec<u8>>,
    /// When it was written.
    pub written: Option<SystemTime>,
    /// Whether the run after it is the same: of the same program, compiled alike, with the same cycles and memories.
    pub is_same: bool,
    memories: Vec<u8>,
}

impl Before {
    /// That in `dir`; `None` if there is none that this petal can read.
    pub(crate) fn new(dir: &Path) -> Option<Self> {
        // Where a profile is on its way to its place, waiting for that is up to the run.
        let summary = dir.join(SUMMARY);
        let written = fs::metadata(&summary).ok()?.modified().ok();
        let profile = Profile::open(dir).ok()?;
        Some(Self {
            results: profile.observations().ok()?,
            figures: petal_files::read(&dir.join(FIGURES)).ok(),
            memories: petal_files::read(&dir.join(MEMORIES)).unwrap_or_default(),
            profile,
            written,
            is_same: false,
        })
    }

    /// Compares it with the run that takes its place.
    pub(crate) fn compare(&mut self, metadata: &Metadata, summary: &Summary, memories: &str) {
        self.is_same = self.profile.metadata.fingerprint == metadata.fingerprint
            && self.profile.summary.cycles == summary.cycles
            && self.profile.summary.stopped == summary.stopped
            && self.memories == memories.as_bytes();
    }
}
