//! What was observed over time: what timelines show beside what was active.

use petal_metadata::SiteId;

use crate::Value;

/// A track of something that was observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// What it is called.
    pub name: String,
    /// The number of the observation, if it has one.
    pub site: Option<SiteId>,
    /// What is on it.
    pub content: TrackContent,
    /// What is told of its events: names, each with a value for every event, in their order.
    pub arguments: Vec<(String, Vec<Value>)>,
}

/// What is on a track.
#[derive(Debug, Clone, PartialEq)]
pub enum TrackContent {
    /// Something that happens in these cycles, ascending. Each has a number in the order of all that happens on several tracks, and an
    /// arrow leads from each to the next; `None` where there is no such order.
    Instants(Vec<(u64, Option<u64>)>),
    /// Intervals, in the order of their beginnings: the first cycle, and how many there are. Those that overlap are below one another.
    Slices(Vec<(u64, u64)>),
    /// A value from each of these cycles on.
    Values(Vec<(u64, f64)>),
    /// A value for each sample of the run, from its first cycle on.
    Samples(Vec<(u64, f64)>),
}
