//! Edits that may make programs faster.

mod adversary;
mod conditions;
mod groups;
mod mutants;
mod patches;
mod premises;
mod random;
mod shapes;
mod writer;
