//! Addresses that a memory does not have: what is written there is told, and what reads there stops the design; both with the
//! group.

use crate::support::workshop::{Workshop, tells};

/// Eight writes to a memory of six words.
const WRITES: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/seq.futil";
component main() -> () {
  cells { @external d = seq_mem_d1(32, 6, 3); k = std_reg(3); kn = std_add(3); }
  wires {
    group wr { d.addr0 = k.out; d.content_en = 1'd1; d.write_en = 1'd1; d.write_data = 32'd1; wr[done] = d.done; }
    group inc { kn.left = k.out; kn.right = 3'd1; k.in = kn.out; k.write_en = 1'd1; inc[done] = k.done; }
  }
  control { repeat 8 { seq { wr; inc; } } }
}
"#;

const DATA: &str = r#"{"d": {"data": [0, 0, 0, 0, 0, 0], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 32}}}"#;

#[test]
fn a_write_that_is_lost_is_told_with_its_group() {
    let told = "cycle 12: main.d: a write to address 6 is lost, since the memory has 6 words; the group `wr` uses it";
    for passes in ["all", "compile-repeat,no-opt"] {
        let workshop = Workshop::empty();
        workshop.write("design.futil", WRITES);
        workshop.write("design.futil.data", DATA);
        let run = ["run", "design.futil", "--out", "out", "--passes", passes];
        let output = workshop.petal(&run);
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        if passes == "all" {
            assert_eq!(said, format!("warning: {told}\n"));
        } else {
            tells(
                &said,
                &["a write to address 6 is lost", "the group `wr` uses it"],
            );
        }
        let strict = [&run[..], &["--strict"]].concat();
        let said = workshop.ends(1, &strict);
        tells(
            &said,
            &[
                "address 6 is lost",
                "error: the run has warnings, and `--strict`",
            ],
        );
        let quiet = [&strict[..], &["--quiet"]].concat();
        tells(&workshop.ends(1, &quiet), &["error: ", "address 6 is lost"]);
        // The profile is there nevertheless.
        workshop.succeeds(&["stats", "out"]);
    }
    let workshop = Workshop::empty();
    let fine = WRITES.replace("repeat 8", "repeat 6");
    workshop.write("design.futil", fine);
    workshop.write("design.futil.data", DATA);
    workshop.succeeds(&["run", "design.futil", "--out", "out", "--strict"]);
}

#[test]
fn a_write_beyond_a_dimension_is_told_with_its_group() {
    let workshop = Workshop::empty();
    // The index of the second dimension goes from 0 to 3.
    let strays = WRITES
        .replace("seq_mem_d1(32, 6, 3)", "seq_mem_d2(32, 2, 3, 1, 3)")
        .replace("d.addr0 = k.out;", "d.addr0 = 1'd0; d.addr1 = k.out;")
        .replace("repeat 8", "repeat 4");
    let run = ["run", "design.futil", "--out", "out", "--strict"];
    workshop.write("design.futil", &strays);
    let data = DATA.replace("[0, 0, 0, 0, 0, 0]", "[[0, 0, 0], [0, 0, 0]]");
    workshop.write("design.futil.data", data);
    tells(
        &workshop.ends(1, &run),
        &[
            "main.d: a write with an index beyond its dimension goes to word 3 of the memory; the group `wr` uses it",
        ],
    );
    workshop.write("design.futil", strays.replace("repeat 4", "repeat 3"));
    workshop.succeeds(&run);
}

#[test]
fn what_stops_the_design_is_told_with_its_group() {
    let comb = WRITES
        .replace("memories/seq", "memories/comb")
        .replace("seq_mem_d1", "comb_mem_d1")
        .replace("d.content_en = 1'd1; ", "");
    let seq = WRITES.replace("d.write_en = 1'd1; d.write_data = 32'd1;", "");
    // The compiler splits this group.
    let split = WRITES
        .replace("cells {", "cells { @external r = std_reg(32);")
        .replace(
            "d.write_en = 1'd1; d.write_data = 32'd1; wr[done] = d.done;",
            "r.in = d.read_data; r.write_en = d.done; wr[done] = r.done;",
        );
    for design in [comb, seq, split] {
        let workshop = Workshop::empty();
        workshop.write("design.futil", design);
        workshop.write("design.futil.data", DATA);
        let said = workshop.ends(1, &["run", "design.futil", "--out", "out"]);
        tells(
            &said,
            &[
                "Out of bounds access",
                "main.d: it stops the design; the group `wr` uses it",
            ],
        );
    }
}
