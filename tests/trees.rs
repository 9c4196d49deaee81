//! Whole call trees of small designs, cycle by cycle, against texts that were checked by hand.
//!
//! A line `cycle N` (or `cycles N to M`) begins each run of equal cycles; an overhead cycle of a
//! cell is told behind it.

mod support;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_metadata::Id;
use petal_reconstruct::{Activity, FrameLabels, Node, actual_path};
use petal_simulate::{Optimisation, Trace};

/// Profiles `program` and compares its whole trace.
fn check(program: &str, passes: &str, expected: &Expect) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let file = dir.path().join("design.futil");
    std::fs::write(&file, program.trim_start()).expect("the temporary folder can be written");
    expected.assert_eq(&render(&file, passes));
}

fn render(design: &std::path::Path, passes: &str) -> String {
    let (compiled, metadata) = support::instrument(design, passes);
    let simulated = support::simulate(design, &compiled, Trace::Vcd, Optimisation::Debug);
    let traced = support::reconstruct(&metadata, simulated.vcd.as_deref().expect("it was traced"));
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
            cycle 1, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  wb
                    b (primitive)
            cycle 3, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 4
              main
                seq@L11
                  wa
                    a (primitive)
            cycle 5, main: fsm-update of seq@L11
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
            cycle 1, main: both of seq@L13
              main
                par@L11
                  seq@L13
            cycle 2
              main
                par@L11
                  seq@L13
                    wc
                      c (primitive)
            cycle 3, main: fsm-update of seq@L13
              main
                par@L11
                  seq@L13
            cycles 4 to 5, main: both of par@L11
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
            cycle 1, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  if@L13
                    wa
                      a (primitive)
            cycle 3, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 4
              main
                seq@L11
                  zc
                    c (primitive)
            cycle 5, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 6
              main
                seq@L11
                  wb
                    b (primitive)
            cycle 7, main: fsm-update of seq@L11
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
            cycle 1, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  while@L13
                    seq@L14
                      wa
                        a (primitive)
            cycle 3, main: fsm-update of seq@L14
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
            cycle 5, main: fsm-update of seq@L11
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
            cycle 1, main: fsm-update of seq@L11
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
            cycle 3, main: fsm-update of seq@L11
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
            cycle 0, main: fsm-update of while@L11
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
            cycle 1, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 2
              main
                seq@L11
                  seq@L13
                    wb
                      b (primitive)
            cycle 3, main: fsm-update of seq@L13
              main
                seq@L11
                  seq@L13
            cycle 4
              main
                seq@L11
                  seq@L13
                    wc
                      c (primitive)
            cycle 5, main: fsm-update of seq@L13
              main
                seq@L11
                  seq@L13
            cycle 6, main: fsm-update of seq@L11
              main
                seq@L11
            cycle 7
              main
                seq@L11
                  wa
                    a (primitive)
            cycle 8, main: fsm-update of seq@L11
              main
                seq@L11
        "#]],
    );
}

const STATIC: &str = r#"
import "primitives/core.futil";
static<2> component twice(x: 8) -> (out: 8) {
  cells { r = std_reg(8); add = std_add(8); }
  wires {
  static<1> group first { r.in = x; r.write_en = 1'd1; }
  static<1> group second { add.left = r.out; add.right = r.out; r.in = add.out; r.write_en = 1'd1; }
    out = r.out;
  }
  control { static seq { first; second; } }
}
component main() -> () {
  cells { @external a = std_reg(8); @external c = std_reg(1); t = twice(); }
  wires {
    static<1> group one { a.in = 8'd1; a.write_en = 1'd1; }
    static<3> group three { a.in = 8'd3; a.write_en = %[1:2] ? 1'd1; }
    static<1> group keep { a.in = t.out; a.write_en = 1'd1; }
  }
  control {
CONTROL
  }
}
"#;

/// A design with static groups and a static component; its control program begins on line 19.
fn statics(control: &str) -> String {
    with_control(STATIC, control)
}

#[test]
fn static_control() {
    let program = statics(
        "    seq {\n      one;\n      static seq { one; static repeat 2 { three; } }\n      \
         static if c.out { three; } else { one; }\n    }",
    );
    check(
        &program,
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L19
                  one
                    a (primitive)
            cycle 1, main: fsm-update of seq@L19
              main
                seq@L19
            cycle 2
              main
                seq@L19
                  static seq@L21:7
                    one
                      a (primitive)
            cycle 3
              main
                seq@L19
                  static seq@L21:7
                    static repeat@L21:25
                      three
            cycle 4
              main
                seq@L19
                  static seq@L21:7
                    static repeat@L21:25
                      three
                        a (primitive)
            cycles 5 to 6
              main
                seq@L19
                  static seq@L21:7
                    static repeat@L21:25
                      three
            cycle 7
              main
                seq@L19
                  static seq@L21:7
                    static repeat@L21:25
                      three
                        a (primitive)
            cycle 8
              main
                seq@L19
                  static seq@L21:7
                    static repeat@L21:25
                      three
            cycle 9, main: fsm-update of seq@L19
              main
                seq@L19
            cycle 10
              main
                seq@L19
                  static if@L22
                    one
                      a (primitive)
            cycles 11 to 12, main: static-wait of static if@L22
              main
                seq@L19
                  static if@L22
            cycle 13, main: fsm-update of seq@L19
              main
                seq@L19
        "#]],
    );
}

#[test]
fn a_static_component() {
    let program =
        statics("    static seq {\n      static invoke t(x = a.out)();\n      keep;\n    }");
    check(
        &program,
        "no-opt",
        &expect![[r#"
        cycle 0
          main
            static seq@L19
              static invoke@L20
                static_invoke (compiler)
                  t [twice]
                    static seq@L9
                      first
                        r (primitive)
        cycle 1
          main
            static seq@L19
              static invoke@L20
                static_invoke (compiler)
                  t [twice]
                    static seq@L9
                      second
                        r (primitive)
                        add (primitive)
        cycle 2
          main
            static seq@L19
              keep
                a (primitive)
    "#]],
    );
    check(
        &program,
        "all",
        &expect![[r#"
        cycle 0
          main
            static seq@L19
              static invoke@L20
                static_invoke (compiler)
                  t [twice]
                    static seq@L9
                      first
                        r (primitive)
        cycle 1
          main
            static seq@L19
              static invoke@L20
                static_invoke (compiler)
                  t [twice]
                    static seq@L9
                      second
                        r (primitive)
                        add (primitive)
        cycle 2
          main
            static seq@L19
              keep
                a (primitive)
    "#]],
    );
}

const COMPONENTS: &str = r#"
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component store(x: 8) -> () {
  cells { ref m = comb_mem_d1(8, 2, 1); }
  wires { group put { m.addr0 = 1'd1; m.write_data = x; m.write_en = 1'd1; put[done] = m.done; } }
  control { seq { put; put; } }
}
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 2, 1); s = store(); @external a = std_reg(8); }
  wires {
    group inner { a.in = 8'd1; a.write_en = 1'd1; inner[done] = a.done; }
    group outer { inner[go] = 1'd1; outer[done] = inner[done]; }
  }
  control {
CONTROL
  }
}
"#;

#[test]
fn an_invoke_with_a_memory() {
    let control = "    seq {\n      invoke s[m = mem](x = 8'd7)();\n    }";
    check(
        &with_control(COMPONENTS, control),
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L15
                  invoke@L16
                    invoke0 (compiler)
                      s [store]
                        seq@L6
                          put
                            m (primitive) = main.mem
            cycle 1, s [store]: fsm-update of seq@L6
              main
                seq@L15
                  invoke@L16
                    invoke0 (compiler)
                      s [store]
                        seq@L6
            cycle 2
              main
                seq@L15
                  invoke@L16
                    invoke0 (compiler)
                      s [store]
                        seq@L6
                          put
                            m (primitive) = main.mem
            cycle 3, s [store]: fsm-update of seq@L6
              main
                seq@L15
                  invoke@L16
                    invoke0 (compiler)
                      s [store]
                        seq@L6
            cycle 4, main: fsm-update of seq@L15
              main
                seq@L15
        "#]],
    );
}

#[test]
fn a_group_that_runs_a_group() {
    let control = "    seq {\n      outer;\n      inner;\n    }";
    check(
        &with_control(COMPONENTS, control),
        "no-opt",
        &expect![[r#"
            cycle 0
              main
                seq@L15
                  outer
                    inner
                      a (primitive)
            cycle 1, main: fsm-update of seq@L15
              main
                seq@L15
            cycle 2
              main
                seq@L15
                  inner
                    a (primitive)
            cycle 3, main: fsm-update of seq@L15
              main
                seq@L15
        "#]],
    );
}

#[test]
fn a_ref_cell_works_only_when_it_is_driven() {
    let program = r#"
import "primitives/core.futil";
component steps() -> () {
  cells { ref add = std_add(8); a = std_reg(8); b = std_reg(8); c = std_reg(8); }
  wires {
    group one { a.in = 8'd1; a.write_en = 1'd1; one[done] = a.done; }
    group two { add.left = a.out; add.right = 8'd2; b.in = add.out; b.write_en = 1'd1; two[done] = b.done; }
    group three { c.in = b.out; c.write_en = 1'd1; three[done] = c.done; }
  }
  control { seq { one; two; three; } }
}
component main() -> () {
  cells { adder = std_add(8); s = steps(); }
  wires {}
  control { invoke s[add = adder]()(); }
}
"#;
    check(
        program,
        "no-opt",
        &expect![[r#"
        cycle 0
          main
            invoke@L14
              invoke0 (compiler)
                s [steps]
                  seq@L9
                    one
                      a (primitive)
        cycle 1, s [steps]: fsm-update of seq@L9
          main
            invoke@L14
              invoke0 (compiler)
                s [steps]
                  seq@L9
        cycle 2
          main
            invoke@L14
              invoke0 (compiler)
                s [steps]
                  seq@L9
                    two
                      b (primitive)
                      add (primitive) = main.adder
        cycle 3, s [steps]: fsm-update of seq@L9
          main
            invoke@L14
              invoke0 (compiler)
                s [steps]
                  seq@L9
        cycle 4
          main
            invoke@L14
              invoke0 (compiler)
                s [steps]
                  seq@L9
                    three
                      c (primitive)
        cycle 5, s [steps]: fsm-update of seq@L9
          main
            invoke@L14
              invoke0 (compiler)
                s [steps]
                  seq@L9
    "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "whole trees are long")]
fn ref_cells_are_handed_on() {
    let program = r#"
import "primitives/core.futil";
component put(v: 8) -> () {
  cells { ref r = std_reg(8); n = std_reg(8); }
  wires {
    group note { n.in = v; n.write_en = 1'd1; note[done] = n.done; }
    group write { r.in = n.out; r.write_en = 1'd1; write[done] = r.done; }
  }
  control { seq { note; write; } }
}
component twice() -> () {
  cells { ref p = put(); ref out = std_reg(8); own = std_reg(8); }
  wires {}
  control {
    seq {
      invoke p[r = own](v = 8'd1)();
      invoke p[r = out](v = 8'd2)();
    }
  }
}
component main() -> () {
  cells { @external x = std_reg(8); y = std_reg(8); w = put(); t = twice(); }
  wires {}
  control {
    seq {
      invoke t[p = w, out = x]()();
      invoke w[r = y](v = 8'd3)();
    }
  }
}
"#;
    check(
        program,
        "no-opt",
        &expect![[r#"
        cycle 0
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L15
                        invoke0 (compiler)
                          p [put] = main.w
                            seq@L8
                              note
                                n (primitive)
        cycle 1, w [put]: fsm-update of seq@L8
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L15
                        invoke0 (compiler)
                          p [put] = main.w
                            seq@L8
        cycle 2
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L15
                        invoke0 (compiler)
                          p [put] = main.w
                            seq@L8
                              write
                                r (primitive) = main.t.own
        cycle 3, w [put]: fsm-update of seq@L8
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L15
                        invoke0 (compiler)
                          p [put] = main.w
                            seq@L8
        cycle 4, t [twice]: fsm-update of seq@L14
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
        cycle 5
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L16
                        invoke1 (compiler)
                          p [put] = main.w
                            seq@L8
                              note
                                n (primitive)
        cycle 6, w [put]: fsm-update of seq@L8
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L16
                        invoke1 (compiler)
                          p [put] = main.w
                            seq@L8
        cycle 7
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L16
                        invoke1 (compiler)
                          p [put] = main.w
                            seq@L8
                              write
                                r (primitive) = main.x
        cycle 8, w [put]: fsm-update of seq@L8
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
                      invoke@L16
                        invoke1 (compiler)
                          p [put] = main.w
                            seq@L8
        cycle 9, t [twice]: fsm-update of seq@L14
          main
            seq@L24
              invoke@L25
                invoke0 (compiler)
                  t [twice]
                    seq@L14
        cycle 10, main: fsm-update of seq@L24
          main
            seq@L24
        cycle 11
          main
            seq@L24
              invoke@L26
                invoke1 (compiler)
                  w [put]
                    seq@L8
                      note
                        n (primitive)
        cycle 12, w [put]: fsm-update of seq@L8
          main
            seq@L24
              invoke@L26
                invoke1 (compiler)
                  w [put]
                    seq@L8
        cycle 13
          main
            seq@L24
              invoke@L26
                invoke1 (compiler)
                  w [put]
                    seq@L8
                      write
                        r (primitive) = main.y
        cycle 14, w [put]: fsm-update of seq@L8
          main
            seq@L24
              invoke@L26
                invoke1 (compiler)
                  w [put]
                    seq@L8
        cycle 15, main: fsm-update of seq@L24
          main
            seq@L24
    "#]],
    );
}
