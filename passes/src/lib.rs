//! petal-passes
