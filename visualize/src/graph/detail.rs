//! How much of a graph is shown.

/// How much of a graph a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All of a small one; of a large one what is on the critical path.
    Fitting,
    /// As much as a picture has room for.
    All,
}
