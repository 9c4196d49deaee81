//! Whole call trees of small designs, cycle by cycle, against texts that were checked by hand.
//!
//! A line `cycle N` (or `cycles N to M`) begins each run of equal cycles; an overhead cycle of a
//! cell is told behind it.

mod components;
mod statics;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_metadata::Id;
use petal_reconstruct::{Activity, FrameLabels, Node, actual_path};

use crate::support;

/// Profiles `program` and compares its whole trace.
fn check(program: &str, passes: &str, expected: &Expect) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let file = dir.path().join("design.futil");
    std::fs::write(&file, program.trim_start()).expect("the temporary folder can be written");
    expected.assert_eq(&render(&file, passes));
}

fn render(design: &std::path::Path, passes: &str) -> String {
    let (compiled, metadata) = support::instrument(design, passes);
    let (_, traced) = support::embedded(design, &compiled, &metadata);
    let labels = FrameLabels::new(&metadata);
    let mut text = String::new();
    for run in &traced.runs {
        let first = run.start.cycles();
        if run.cycles == 1 {
            write!(text, "cycle {first}").unwrap();
        } else {
            write!(text, "cycles {first} to {}", first + run.cycles - 1).unwrap();
        }
        let tree = &traced.trees[run.tree.index()];
        for (_, node) in tree.nodes() {
            if let Node::Cell {
                instance,
                activity: Activity::Overhead(charge),
                ..
            } = node
            {
                let cell = labels.instance(instance, &traced.instances);
                let component = traced.instances[instance.index()].component;
                let charge = labels.charge(component, charge);
                write!(text, ", {cell}: {charge}").unwrap();
            }
        }
        text.push('\n');
        let lines = labels.render(tree, &traced.instances);
        for (line, (_, node)) in lines.lines().zip(tree.nodes()) {
            write!(text, "  {line}").unwrap();
            if let Some(actual) = actual_path(&metadata, &traced.instances, node) {
                write!(text, " = {actual}").unwrap();
            }
            text.push('\n');
        }
    }
    for warning in &traced.warnings {
        writeln!(text, "warning: {}: {}", warning.signal, warning.text).unwrap();
    }
    text
}

const REGISTERS: &str = r#"
import "primitives/core.futil";
component main() -> () {
  cells { @external a = std_reg(8); @external b = std_reg(8); @external c = std_reg(1); }
  wires {
    group wa { a.in = 8'd1; a.write_en = 1'd1; wa[done] = a.done; }
    group wb { b.in = 8'd2; b.write_en = 1'd1; wb[done] = b.done; }
    group wc { c.in = 1'd1; c.write_en = 1'd1; wc[done] = c.done; }
    group zc { c.in = 1'd0; c.write_en = 1'd1; zc[done] = c.done; }
  }
  control {
CONTROL
  }
}
"#;

/// A design that writes the registers a, b and c by groups wa, wb, wc (sets c) and zc (clears it);
/// its control program begins on line 11.
fn registers(control: &str) -> String {
    with_control(REGISTERS, control)
}

/// The program with this control, and without the groups that it does not use, in whose place
/// stays an empty line.
fn with_control(program: &str, control: &str) -> String {
    let used: Vec<&str> = control
        .split(|c: char| c != '_' && !c.is_alphanumeric())
        .collect();
    let mut text = String::new();
    for line in program.trim_start().lines() {
        let mut words = line.split_whitespace().skip_while(|word| *word != "group");
        let unused =
            line.starts_with("    ") && words.nth(1).is_some_and(|name| !used.contains(&name));
        text.push_str(if unused { "" } else { line });
        text.push('\n');
    }
    text.replace("CONTROL", control)
}

#[test]
fn one_enable() {
    check(
        &registers("    wa;"),
        "no-opt",
        &expect![[r#"
        cycle 0
          main
            wa
              a (primitive)
    "#]],
    );
}

#[test]
fn a_sequence() {
    let program = registers("    seq {\n      wa;\n      wb;\n      wa;\n    }");
    check(
        &program,
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L11
                  wa
                    a (primitive)
            cycle 1, main: FSM update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  wb
                    b (primitive)
            cycle 3, main: FSM update of seq@L11
              main
                seq@L11
            cycle 4
              main
                seq@L11
                  wa
                    a (primitive)
            cycle 5, main: FSM update of seq@L11
              main
                seq@L11
        "#]],
    );
    check(
        &program,
        "all",
        &expect![[r#"
        cycle 0
          main
            seq@L11
              wa
                a (primitive)
        cycle 1
          main
            seq@L11
              wb
                b (primitive)
        cycle 2
          main
            seq@L11
              wa
                a (primitive)
    "#]],
    );
}

#[test]
fn parallel_arms() {
    let program = registers("    par {\n      wa;\n      seq { wb; wc; }\n    }");
    check(
        &program,
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                par@L11
                  seq@L13
                    wb
                      b (primitive)
                  wa
                    a (primitive)
            cycle 1, main: FSM and par-done update of seq@L13
              main
                par@L11
                  seq@L13
            cycle 2
              main
                par@L11
                  seq@L13
                    wc
                      c (primitive)
            cycle 3, main: FSM update of seq@L13
              main
                par@L11
                  seq@L13
            cycles 4 to 5, main: FSM and par-done update of par@L11
              main
                par@L11
        "#]],
    );
    check(
        &program,
        "all",
        &expect![[r#"
        cycle 0
          main
            par@L11
              seq@L13
                wb
                  b (primitive)
                wc
                  c (primitive)
              wa
                a (primitive)
    "#]],
    );
}

#[test]
fn branches() {
    let program = registers(
        "    seq {\n      wc;\n      if c.out { wa; } else { wb; }\n      zc;\n      \
         if c.out { wa; }\n      wb;\n    }",
    );
    check(
        &program,
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L11
                  wc
                    c (primitive)
            cycle 1, main: FSM update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  if@L13
                    wa
                      a (primitive)
            cycle 3, main: FSM update of seq@L11
              main
                seq@L11
            cycle 4
              main
                seq@L11
                  zc
                    c (primitive)
            cycle 5, main: FSM update of seq@L11
              main
                seq@L11
            cycle 6
              main
                seq@L11
                  wb
                    b (primitive)
            cycle 7, main: FSM update of seq@L11
              main
                seq@L11
        "#]],
    );
}

#[test]
fn a_loop() {
    let program = registers(
        "    seq {\n      wc;\n      while c.out {\n        seq { wa; zc; }\n      }\n    }",
    );
    check(
        &program,
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L11
                  wc
                    c (primitive)
            cycle 1, main: FSM update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  while@L13
                    seq@L14
                      wa
                        a (primitive)
            cycle 3, main: FSM update of seq@L14
              main
                seq@L11
                  while@L13
                    seq@L14
            cycle 4
              main
                seq@L11
                  while@L13
                    seq@L14
                      zc
                        c (primitive)
            cycle 5, main: FSM update of seq@L11
              main
                seq@L11
        "#]],
    );
    check(
        &program,
        "all",
        &expect![[r#"
            cycle 0
              main
                seq@L11
                  wc
                    c (primitive)
            cycle 1, main: FSM update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  while@L13
                    seq@L14
                      wa
                        a (primitive)
                      zc
                        c (primitive)
            cycle 3, main: FSM update of seq@L11
              main
                seq@L11
        "#]],
    );
}

#[test]
fn a_loop_that_never_runs() {
    check(
        &registers("    while c.out { wa; }"),
        "no-opt",
        &expect![[r#"
            cycle 0, main: FSM update of while@L11
              main
                while@L11
        "#]],
    );
}

#[test]
fn a_repeat() {
    check(
        &registers("    seq { repeat 2 { wa; } wb; }"),
        "all",
        &expect![[r#"
        cycles 0 to 1
          main
            seq@L11:5
              repeat@L11:11
                wa
                  a (primitive)
        cycle 2
          main
            seq@L11:5
              wb
                b (primitive)
    "#]],
    );
}

#[test]
fn nested_machines() {
    let program =
        registers("    seq {\n      wa;\n      @new_fsm seq { wb; wc; }\n      wa;\n    }");
    check(
        &program,
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L11
                  wa
                    a (primitive)
            cycle 1, main: FSM update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  seq@L13
                    wb
                      b (primitive)
            cycle 3, main: FSM update of seq@L13
              main
                seq@L11
                  seq@L13
            cycle 4
              main
                seq@L11
                  seq@L13
                    wc
                      c (primitive)
            cycle 5, main: FSM update of seq@L13
              main
                seq@L11
                  seq@L13
            cycle 6, main: FSM update of seq@L11
              main
                seq@L11
            cycle 7
              main
                seq@L11
                  wa
                    a (primitive)
            cycle 8, main: FSM update of seq@L11
              main
                seq@L11
        "#]],
    );
}
