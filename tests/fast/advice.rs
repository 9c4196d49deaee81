//! Edits that may make programs faster.

mod adversary;
mod groups;
mod patches;
mod premises;
mod random;
mod shapes;
mod writer;
