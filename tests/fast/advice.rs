//! Edits that may make programs faster.

mod adversary;
mod groups;
mod random;
mod shapes;
mod writer;
