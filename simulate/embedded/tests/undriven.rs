//! Reads of ports that nothing drives: how much there is to observe for each.

mod support;

use std::fmt::Write as _;

use petal_embedded::{Latencies, undriven};
use petal_reconstruct::{Value, ValueOp};
use support::program;

/// What tells who is active.
const MARK: &str = "primitive mark(in: 1) -> () {}\n";

/// A design in which each of `count` adders takes what another one computes, while only its own inputs are driven.
fn ring(count: usize) -> String {
    let (mut cells, mut wires) = (String::new(), String::new());
    for at in 0..count {
        let next = (at + 3) % count;
        writeln!(
            cells,
            "q{at} = std_add(8); x{at} = std_reg(8); go{at} = std_eq(8); mark{at} = mark();"
        )
        .unwrap();
        writeln!(
            wires,
            "go{at}.left = n.out; go{at}.right = 8'd{at};
             mark{at}.in = go{at}.out ? 1'd1;
             q{at}.left = go{at}.out ? x{at}.out;
             q{at}.right = go{at}.out ? q{next}.out;
             x{at}.in = go{at}.out ? q{at}.out;
             x{at}.write_en = go{at}.out ? 1'd1;"
        )
        .unwrap();
    }
    format!(
        "component main() -> () {{
           cells {{ n = std_reg(8); plus = std_add(8); {cells} }}
           wires {{
             plus.left = n.out; plus.right = 8'd1; n.in = plus.out; n.write_en = 1'd1;
             done = n.out == 8'd{count} ? 1'd1;
             {wires}
           }}
           control {{}}
         }}"
    )
}

/// How many operations and operands there are in a value.
fn size(of: &Value) -> usize {
    match of {
        Value::Op(ValueOp::And | ValueOp::Or | ValueOp::Not | ValueOp::Eq, _, operands) => {
            1 + operands.iter().map(size).sum::<usize>()
        }
        _ => 1,
    }
}

#[test]
fn what_is_observed_of_a_read_does_not_grow_with_all_that_the_value_might_reach() {
    let sizes = [8, 16, 32].map(|count| {
        let reads = undriven(&program(MARK, &ring(count)), &Latencies::default()).unwrap();
        // Each adder is read by the one whose turn it is, with neither input driven.
        assert_eq!(reads.len(), 2 * count);
        let sizes = reads.iter().map(|read| size(read.when.as_ref().unwrap()));
        sizes.max().unwrap()
    });
    assert_eq!(sizes[0], sizes[1], "{sizes:?}");
    assert_eq!(sizes[0], sizes[2], "{sizes:?}");
}
