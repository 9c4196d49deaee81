//! Edits that may make programs faster.

mod groups;
mod random;
mod shapes;
mod writer;
