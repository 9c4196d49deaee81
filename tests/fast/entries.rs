//! How often statements ran, and who pays for a cycle: what the compiler made of a program changes neither.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::{Expect, expect};
use petal_visualize::{Analysis, ControlView, Value};

use crate::support::corpus::LONG;
use crate::support::workshop::Workshop;
use crate::support::{Expected, designs, embedded, examples, instrument};

/// `component main` with two registers that can be read and one that can't, and this control.
fn design(groups: &str, control: &str) -> String {
    format!(
        "import \"primitives/core.futil\";
import \"primitives/sync.futil\";
component main() -> () {{
  cells {{ @external i = std_reg(8); lt = std_lt(8); add = std_add(8); @external a = std_reg(8); dead = std_reg(8); }}
  wires {{
    {groups}
  }}
  control {{
    {control}
  }}
}}
"
    )
}

const TEST: &str = "comb group test { lt.left = i.out; lt.right = 8'd3; }";
const NEVER: &str = "comb group never { lt.left = i.out; lt.right = 8'd0; }";
const GA: &str = "group ga { a.in = i.out; a.write_en = 1'd1; ga[done] = a.done; }";
const INC: &str = "group inc { add.left = i.out; add.right = 8'd1; i.in = add.out; i.write_en = 1'd1; inc[done] = i.done; }";
const IDLE: &str = "static<1> group idle { dead.in = 8'd1; dead.write_en = 1'd1; }";
const SA: &str = "static<1> group sa { a.in = 8'd1; a.write_en = 1'd1; }";

/// Holds the table of statements of a run with these options.
fn check(groups: &[&str], control: &str, options: &[&str], expected: &Expect) {
    let workshop = Workshop::empty();
    workshop.write("d.futil", &design(&groups.join("\n    "), control));
    workshop.succeeds(&[&["run", "-q", "d.futil", "--out", "out"], options].concat());
    let columns = "statement,times entered,iterations,cycles,overhead,min,max";
    let stats = [
        "stats",
        "out",
        "control",
        "--all",
        "--format",
        "csv",
        "--columns",
        columns,
    ];
    expected.assert_eq(&workshop.succeeds(&stats));
}

#[test]
fn an_if_with_a_static_branch_is_entered_once() {
    check(
        &[TEST, GA, INC],
        "seq { if lt.out with test { seq { ga; inc; } } ga; }",
        &[],
        &expect![[r#""#]],
    );
}

#[test]
fn a_seq_around_a_loop_is_entered_once() {
    check(
        &[TEST, GA, INC],
        "seq { while lt.out with test { seq { ga; inc; } } }",
        &[],
        &expect![[r#""#]],
    );
}

#[test]
fn a_loop_whose_group_was_removed_goes_round() {
    check(
        &[IDLE, SA],
        "static seq { static repeat 3 { idle; } sa; }",
        &[],
        &expect![[r#""#]],
    );
}

#[test]
fn a_program_of_removed_groups_pays_for_its_time() {
    check(
        &[IDLE],
        "static seq { idle; idle; }",
        &[],
        &expect![[r#""#]],
    );
}

#[test]
fn a_branch_that_is_not_taken_pays_nothing() {
    check(
        &[NEVER, GA, INC],
        "seq { if lt.out with never { ga; } else { repeat 0 { inc; } } inc; }",
        &[],
        &expect![[r#""#]],
    );
}

#[test]
fn what_starts_barriers_is_a_barrier() {
    let workshop = Workshop::empty();
    let control = "par { seq { ga; @sync(1); ga; } seq { inc; @sync(1); inc; } }";
    workshop.write("d.futil", &design(&[GA, INC].join("\n    "), control));
    for passes in ["all", "no-opt"] {
        workshop.succeeds(&["run", "-q", "d.futil", "--out", "out", "--passes", passes]);
        let summary: serde_json::Value =
            serde_json::from_str(&workshop.read("out/summary.json")).expect("it is JSON");
        assert_eq!(summary["overhead"]["other"], 0, "{passes}");
        assert!(
            summary["overhead"]["barrier"].as_u64() > Some(0),
            "{passes}"
        );
    }
}

#[test]
fn a_checkpoint_is_stamped_as_often_as_the_statement_is_entered() {
    let workshop = Workshop::empty();
    let control = "seq { while lt.out with test { seq { ga; inc; } } }";
    workshop.write("d.futil", &design(&[TEST, GA, INC].join("\n    "), control));
    let run = ["run", "-q", "d.futil", "--out", "out"];
    let points = [
        "--checkpoint",
        "root=main.seq@L10:5",
        "--checkpoint",
        "body=main.seq@L10:36",
    ];
    workshop.succeeds(&[&run[..], &points].concat());
    let stamps = workshop.read("out/observations/checkpoints.csv");
    expect![[r#""#]].assert_eq(&stamps);
}

/// How often each statement of a design ran, by component, name and line.
fn entries(design: &Path, passes: &str) -> BTreeMap<String, Vec<Value>> {
    let (compiled, metadata) = instrument(design, passes);
    let (_, traced) = embedded(design, &compiled, &metadata);
    let mut analysis = Analysis::new(&metadata, ControlView::Source);
    for event in &traced.events {
        analysis.event(event);
    }
    let table = analysis.statements();
    let names = ["component", "statement", "file", "line"];
    let mut entries: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in 0..table.rows().len() {
        let column =
            |name: &str| table.column(name).expect("the table has the column")[row].clone();
        let name = format!("{:?}", names.map(column));
        entries
            .entry(name)
            .or_default()
            .push(column("times entered"));
    }
    entries
}

/// Optimised or not, a statement runs as often.
#[test]
fn statements_of_the_corpus_run_as_often_under_all_pipelines() {
    let (mut compared, mut open) = (0, 0);
    for design in [examples(), designs("tests/corpus")].concat() {
        let cycles = Expected::of(&design).cycles;
        let lengths = ["all", "no-opt"].map(|passes| cycles.get(passes).copied());
        let [Some(length), Some(_)] = lengths else {
            continue;
        };
        if length >= LONG {
            continue;
        }
        let [optimised, plain] = ["all", "no-opt"].map(|passes| entries(&design, passes));
        for (name, times) in &optimised {
            // The optimiser may copy statements into other components.
            let Some(others) = plain.get(name).filter(|others| others.len() == times.len()) else {
                continue;
            };
            for pair in times.iter().zip(others) {
                match pair {
                    (Value::Unknown, _) | (_, Value::Unknown) => open += 1,
                    (times, others) => {
                        compared += 1;
                        assert_eq!(times, others, "{name} of {}", design.display());
                    }
                }
            }
        }
    }
    assert!(
        compared > 1000 && open * 10 < compared,
        "{compared} compared, {open} open"
    );
}
