//! How often statements ran, and who pays for a cycle: what the compiler made of a program changes neither.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::{Expect, expect};
use petal_analysis::{Analysis, ControlView};
use petal_table::Value;

use crate::support::corpus::{LONG, OWN_VERILOG};
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
    workshop.write("d.futil", design(&groups.join("\n    "), control));
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

/// Holds the number of times that statements were entered, `–` as empty.
fn check_times(design: &str, expected: &Expect) {
    let workshop = Workshop::empty();
    workshop.write("d.futil", design);
    workshop.succeeds(&["run", "-q", "d.futil", "--out", "out"]);
    let columns = "component,statement,times entered";
    let stats = ["stats", "out", "control", "--all", "--format", "csv"];
    expected.assert_eq(&workshop.succeeds(&[&stats[..], &["--columns", columns]].concat()));
    let groups = workshop.succeeds(&[&["stats", "out", "groups", "--format", "csv"][..]].concat());
    let control = workshop.read("out/stats/control.csv");
    for row in groups.lines().skip(1) {
        let name: Vec<&str> = row.split(',').collect();
        let same = format!("{},{},enable,", name[0], name[1]);
        let is_unknown = |row: &str, column: usize| row.split(',').nth(column) == Some("");
        for statement in control.lines().filter(|row| row.starts_with(&same)) {
            assert_eq!(is_unknown(statement, 5), is_unknown(row, 6), "{row}");
        }
    }
}

#[test]
fn a_seq_that_is_partly_in_a_static_program_is_entered_once() {
    let go_on = "group go_on { go_on[done] = i.done; i.in = 8'd9; i.write_en = 1'd1; }";
    let two = "static<2> group two { a.in = 8'd1; a.write_en = 1'd1; }";
    check(
        &[NEVER, INC, two, go_on],
        "seq { two; seq { inc; while lt.out with never { go_on; } } }",
        &[],
        &expect![[r#"
            statement,times entered,iterations,cycles,overhead,min,max
            seq@L12:5,1,,6,1,6,6
            two,1,,2,0,2,2
            seq@L12:16,1,,5,1,5,5
            inc,1,,1,0,1,1
            while@L12:27,1,0,2,1,2,2
            go_on,0,,0,0,,
        "#]],
    );
}

#[test]
fn a_component_of_which_a_cell_is_gone_is_not_counted() {
    let design = |cell: &str| {
        format!(
            "import \"primitives/core.futil\";
component p() -> (o: 8) {{
  cells {{ r = std_reg(8); }}
  wires {{ o = r.out; group w {{ r.in = 8'd3; r.write_en = 1'd1; w[done] = r.done; }} }}
  control {{ seq {{ w; w; }} }}
}}
component main() -> (oa: 8) {{
  cells {{ read = p(); {cell} = p(); }}
  wires {{ oa = read.o; }}
  control {{ seq {{ invoke read()(); repeat 3 {{ invoke unread()(); }} }} }}
}}
"
        )
    };
    check_times(
        &design("unread"),
        &expect![[r#"
        component,statement,times entered
        p,seq@L5,
        p,w,
        p,w,
        main,seq@L10:13,1
        main,invoke@L10:19,1
        main,repeat@L10:36,1
        main,invoke@L10:47,3
    "#]],
    );
    check_times(
        &design("@inline unread"),
        &expect![[r#"
        component,statement,times entered
        p,seq@L5,
        p,w,
        p,w,
        main,seq@L10:13,1
        main,invoke@L10:19,1
        main,repeat@L10:36,1
        main,invoke@L10:47,3
        main,seq@L5,3
        main,w,3
        main,w,3
    "#]],
    );
}

#[test]
fn an_invoke_that_takes_no_cycle_counts() {
    let design = "import \"primitives/core.futil\";
component e(x: 8) -> (o: 8) {
  cells { r = std_reg(8); }
  wires { o = r.out; group g { r.in = x; r.write_en = 1'd1; g[done] = r.done; } }
  control { repeat 0 { g; } }
}
component main() -> () {
  cells { c = e(); @external r = std_reg(8); }
  wires { group g { r.in = c.o; r.write_en = 1'd1; g[done] = r.done; } }
  control { seq { invoke c(x = 8'd4)(); g; } }
}
";
    check_times(
        design,
        &expect![[r#"
        component,statement,times entered
        e,repeat@L5,
        e,g,
        main,seq@L10:13,1
        main,invoke@L10:19,1
        main,g,1
    "#]],
    );
}

#[test]
fn an_if_with_a_static_branch_is_entered_once() {
    check(
        &[TEST, GA, INC],
        "seq { if lt.out with test { seq { ga; inc; } } ga; }",
        &[],
        &expect![[r#"
            statement,times entered,iterations,cycles,overhead,min,max
            seq@L11:5,1,,4,0,4,4
            if@L11:11,1,,3,0,3,3
            seq@L11:33,1,,2,0,2,2
            ga,1,,1,0,1,1
            inc,1,,1,0,1,1
            ga,1,,1,0,1,1
        "#]],
    );
}

#[test]
fn a_seq_around_a_loop_is_entered_once() {
    check(
        &[TEST, GA, INC],
        "seq { while lt.out with test { seq { ga; inc; } } }",
        &[],
        &expect![[r#"
            statement,times entered,iterations,cycles,overhead,min,max
            seq@L11:5,1,,12,0,12,12
            while@L11:11,1,3,12,2,12,12
            seq@L11:36,3,,6,0,2,2
            ga,3,,3,0,1,1
            inc,3,,3,0,1,1
        "#]],
    );
}

#[test]
fn a_loop_whose_group_was_removed_goes_round() {
    check(
        &[IDLE, SA],
        "static seq { static repeat 3 { idle; } sa; }",
        &[],
        &expect![[r#"
            statement,times entered,iterations,cycles,overhead,min,max
            static seq@L10:5,1,,4,0,4,4
            static repeat@L10:18,1,3,3,0,3,3
            idle,3,,3,3,1,1
            sa,1,,1,0,1,1
        "#]],
    );
}

#[test]
fn a_program_of_removed_groups_pays_for_its_time() {
    check(
        &[IDLE],
        "static seq { idle; idle; }",
        &[],
        &expect![[r#"
            statement,times entered,iterations,cycles,overhead,min,max
            static seq@L9,1,,2,0,2,2
            idle,1,,1,1,1,1
            idle,1,,1,1,1,1
        "#]],
    );
}

#[test]
fn a_branch_that_is_not_taken_pays_nothing() {
    check(
        &[NEVER, GA, INC],
        "seq { if lt.out with never { ga; } else { repeat 0 { inc; } } inc; }",
        &[],
        &expect![[r#"
            statement,times entered,iterations,cycles,overhead,min,max
            seq@L11:5,1,,3,0,3,3
            if@L11:11,1,,2,1,2,2
            ga,0,,0,0,,
            repeat@L11:47,1,0,0,0,0,0
            inc,0,,0,0,,
            inc,1,,1,0,1,1
        "#]],
    );
}

#[test]
fn what_starts_barriers_is_a_barrier() {
    let workshop = Workshop::empty();
    let control = "par { seq { ga; @sync(1); ga; } seq { inc; @sync(1); inc; } }";
    workshop.write("d.futil", design(&[GA, INC].join("\n    "), control));
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
    workshop.write("d.futil", design(&[TEST, GA, INC].join("\n    "), control));
    let run = ["run", "-q", "d.futil", "--out", "out"];
    let points = [
        "--checkpoint",
        "root=main.seq@L11:5",
        "--checkpoint",
        "body=main.seq@L11:36",
    ];
    workshop.succeeds(&[&run[..], &points].concat());
    let stamps = workshop.read("out/observations/checkpoints.csv");
    expect![[r#"
        i,checkpoint,cycle,from_first,distance,from_first_in_intervals,distance_in_intervals,site
        0,root,0,0,0,,,c35eacf35ac3c631
        1,body,2,2,2,,,ed009bb8f06ed8b6
        2,body,5,5,3,,,ed009bb8f06ed8b6
        3,body,8,8,3,,,ed009bb8f06ed8b6
    "#]]
    .assert_eq(&stamps);
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
        // What is inlined runs in another component.
        let text = std::fs::read_to_string(&design).expect("the design can be read");
        if length >= LONG || text.contains("@inline") || design.ends_with(OWN_VERILOG) {
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
