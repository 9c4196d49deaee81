//! Both builds of every design of `tests/corpus`, compared. The fast tests compare the examples.

use crate::support::comparisons::both_builds_add_up;
use crate::support::designs;

#[test]
fn everything_adds_up_for_both_builds_of_the_corpus() {
    both_builds_add_up(&designs("tests/corpus"));
}
