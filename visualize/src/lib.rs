//! petal-visualize
