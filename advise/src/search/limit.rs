//! How far a search goes: until a time, or up to a number of programs.

use std::time::{Duration, Instant};

/// How far a search may go.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// So long.
    Time(Duration),
    /// As long as it takes to try so many programs: the same on every machine.
    Programs(usize),
}

/// Where it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    At(Instant),
    /// When so many programs were run.
    After(usize),
}

impl End {
    pub fn of(limit: Limit) -> Self {
        match limit {
            Limit::Time(time) => Self::At(Instant::now() + time),
            Limit::Programs(programs) => Self::After(programs),
        }
    }

    /// Half way to the end, after so many runs.
    pub fn half(self, runs: usize) -> Self {
        match self {
            Self::At(end) => {
                let now = Instant::now();
                Self::At(now + end.saturating_duration_since(now) / 2)
            }
            Self::After(end) => Self::After(runs + end.saturating_sub(runs).div_ceil(2)),
        }
    }

    /// The end, but a time sooner.
    pub fn within(self, time: Duration) -> Self {
        match self {
            Self::At(end) => Self::At(end.min(Instant::now() + time)),
            Self::After(_) => self,
        }
    }

    /// How many more programs may be run, after so many.
    pub fn left(self, runs: usize) -> usize {
        match self {
            Self::At(end) if Instant::now() >= end => 0,
            Self::At(_) => usize::MAX,
            Self::After(end) => end.saturating_sub(runs),
        }
    }
}
