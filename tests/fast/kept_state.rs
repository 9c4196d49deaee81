//! Registers that the pass `cell-share` joins although they keep values from one activation to the next.

use std::fs;

use petal_program::CALYX_VERSION;
use serde_json::Value;

use crate::support::root;
use crate::support::workshop::{Workshop, said};

const RUN: [&str; 4] = ["run", "design.futil", "--out", "out"];

/// Counts with two registers, of which an activation uses one.
pub const COUNTERS: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component counters(which: 1) -> (out: 8) {
  cells { a = std_reg(8); b = std_reg(8); add_a = std_add(8); add_b = std_add(8); shown = std_reg(8); }
  wires {
    group count_a { add_a.left = a.out; add_a.right = 8'd1; a.in = add_a.out; a.write_en = 1'd1; count_a[done] = a.done; }
    group show_a { shown.in = a.out; shown.write_en = 1'd1; show_a[done] = shown.done; }
    group count_b { add_b.left = b.out; add_b.right = 8'd1; b.in = add_b.out; b.write_en = 1'd1; count_b[done] = b.done; }
    group show_b { shown.in = b.out; shown.write_en = 1'd1; show_b[done] = shown.done; }
    out = shown.out;
  }
  control { if which { seq { count_a; show_a; } } else { seq { count_b; show_b; } } }
}
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); c = counters(); }
  wires {
    group save { m.addr0 = 1'd0; m.write_data = c.out; m.write_en = 1'd1; save[done] = m.done; }
  }
  control { seq { invoke c(which=1'd1)(); invoke c(which=1'd1)(); invoke c(which=1'd0)(); save; } }
}
"#;

/// What a run of the design says, and what it leaves in the memory.
fn run(design: &str, more: &[&str]) -> (String, Value) {
    let workshop = Workshop::empty();
    workshop.write("design.futil", design);
    let output = workshop.petal(&[&RUN[..], more].concat());
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    let memories: Value = serde_json::from_str(&workshop.read("out/memories.json")).unwrap();
    (said, memories["m"]["data"][0].clone())
}

#[test]
fn a_register_that_loses_what_it_kept_is_told() {
    let (notes, shared) = run(COUNTERS, &[]);
    // `b` has counted one activation, and newer compilers do not join it with `a`.
    let is_told = notes
        .contains("design.futil:4: `cell-share` makes one cell of `a`, `b` in `counters`, though");
    assert_eq!(
        (shared == 3, shared == 1),
        (is_told, !is_told),
        "{shared}: {notes}"
    );
    assert_eq!(is_told, CALYX_VERSION == "0.7.1", "{notes}");
    let (notes, counted) = run(COUNTERS, &["--disable-pass", "cell-share"]);
    assert_eq!(counted, 1);
    assert!(!notes.contains("cell-share"), "{notes}");
}

#[test]
fn a_sweep_tells_which_of_its_runs_lose_what_they_kept() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", COUNTERS);
    workshop.write(
        "s.toml",
        r#"
passes = ["all", { name = "apart", disable = ["cell-share"] }]
[[design]]
files = "design.futil"
"#,
    );
    let told = workshop.succeeds(&["sweep", "s.toml"]);
    let row = |passes: &str| -> Value {
        let path = format!("petal-out/s/rows/design/{passes}/default/row.json");
        serde_json::from_str(&workshop.read(&path)).unwrap()
    };
    let page = workshop.read("petal-out/s/sweep.html");
    assert!(row("apart")["warnings"].is_null());
    let warning = "`cell-share` makes one cell of `a`, `b` in `counters`";
    let is_told = CALYX_VERSION == "0.7.1";
    let of_row = row("all")["warnings"][0].as_str().map(str::to_owned);
    for text in [&told, &page, &of_row.unwrap_or_default()] {
        assert_eq!(text.contains(warning), is_told, "{text}");
    }
    assert_eq!(told.contains(", 1 with warnings"), is_told, "{told}");
}

#[test]
fn cells_of_a_component_that_lose_what_they_kept_are_told() {
    let premises = root().join("tests/fast/advice/premises");
    let design = fs::read_to_string(premises.join("state-behind-wires.futil")).unwrap();
    // Newer compilers keep apart registers, but not these.
    let (notes, _) = run(&design, &[]);
    let is_told = notes.contains("makes one cell of `p`, `q` in `main`, though");
    assert!(is_told, "{notes}");
    // What a run writes before anything shows it is no matter.
    let written = design.replace("ad.left = r.out", "ad.left = a");
    let (notes, _) = run(&written, &[]);
    assert!(!notes.contains("cell-share"), "{notes}");
}

#[test]
fn registers_that_are_written_first_are_not_told() {
    let first = COUNTERS
        .replace("seq { count_a;", "seq { zero_a; count_a;")
        .replace("seq { count_b;", "seq { zero_b; count_b;")
        .replace(
            "    out = shown.out;",
            "    group zero_a { a.in = 8'd0; a.write_en = 1'd1; zero_a[done] = a.done; }
    group zero_b { b.in = 8'd0; b.write_en = 1'd1; zero_b[done] = b.done; }
    out = shown.out;",
        );
    let (notes, counted) = run(&first, &[]);
    assert_eq!(counted, 1);
    assert!(!notes.contains("cell-share"), "{notes}");
}
