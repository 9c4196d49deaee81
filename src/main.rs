//! The `petal` command.

fn main() {}
