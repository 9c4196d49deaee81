//! What becomes of the identity of enables in the passes that rebuild control, one small program
//! per pass: for every group run its control node, for every call its callee in source names.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_metadata::{Callee, CompiledKind, Component, Id, Metadata, labels};
use petal_passes::{Library, Pipeline, Program, instrument};

#[path = "identity/calls.rs"]
mod calls;

fn metadata(cells_wires_control: &str, others: &str, passes: &str) -> Metadata {
    let source = format!(
        "component main() -> () {{{cells_wires_control}}}\n\
         import \"primitives/core.futil\";\n{others}"
    );
    // Imports come first in a file; they are written last here so that line numbers stay small.
    let (main, rest) = source.split_once("import").unwrap();
    let (import, others) = rest.split_once('\n').unwrap();
    let source = format!("import{import} {main}{others}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("design.futil");
    std::fs::write(&file, source).unwrap();
    let library = Library::new(&[]).unwrap();
    let program = Program::read(&file, &library).unwrap();
    let pipeline = Pipeline::parse(passes, &[]).unwrap();
    instrument(program, &pipeline)
        .unwrap_or_else(|error| panic!("{error}"))
        .1
}

fn render(metadata: &Metadata, component: &Component) -> String {
    let control = labels::control_labels(metadata, component);
    let node = |id: petal_metadata::ControlId| {
        let span = component.node(id).span.unwrap();
        format!(
            "{} at {}:{}",
            component.node(id).kind.keyword(),
            span.line,
            span.column
        )
    };
    let mut text = String::new();
    for (at, run) in component.runs.iter().enumerate() {
        let name = &component.group(run.group).name;
        let part = run
            .part
            .map(|part| format!("/{}", component.group(part).name));
        let place = run.control.map_or("called".to_owned(), node);
        let latency = run
            .latency
            .map_or(String::new(), |cycles| format!(" ({cycles} cycles)"));
        let part = part.unwrap_or_default();
        writeln!(text, "{name}{part}: {:?} of {place}{latency}", run.role).unwrap();
        for call in component
            .calls
            .iter()
            .filter(|call| call.caller == Some(Id::from_index(at)))
        {
            match call.callee {
                Callee::Group(run) => {
                    let group = &component.group(component.run(run).group).name;
                    writeln!(text, "  calls {group}").unwrap();
                }
                Callee::Cell(cell) => {
                    let cell = component.cell(cell);
                    let lives = match cell.shares_hardware_of() {
                        _ if cell.is_reference() => " (`ref` cell)",
                        None => "",
                        Some(_) => " (shares its hardware)",
                    };
                    writeln!(text, "  calls {}{lives}", cell.name).unwrap();
                }
            }
        }
    }
    for group in &component.compiled {
        let node = group
            .node
            .map_or("?".to_owned(), |id| control[id.index()].clone());
        let kind = match &group.kind {
            CompiledKind::Leaf => continue,
            CompiledKind::Fsm { states, .. } => states
                .iter()
                .map(|state| format!("{}={}", state.value, component.compiled(state.child).name))
                .collect::<Vec<_>>()
                .join(" "),
            CompiledKind::Par { arms } => arms
                .iter()
                .map(|arm| component.compiled(arm.child).name.clone())
                .collect::<Vec<_>>()
                .join(" | "),
        };
        writeln!(text, "{} runs {node}: {kind}", group.name).unwrap();
    }
    text
}

fn check(program: &str, passes: &str, expected: &Expect) {
    check_with(program, "", passes, expected);
}

fn check_with(program: &str, others: &str, passes: &str, expected: &Expect) {
    let metadata = metadata(program, others, passes);
    let text = render(&metadata, metadata.component(metadata.main));
    // Upstream's compiler numbers this group otherwise.
    expected.assert_eq(&text.replace("early_reset_cond01", "early_reset_cond0"));
}

/// Two registers that are read at the end, and groups that write them.
const TWO_WRITES: &str = "
  cells { @external a = std_reg(8); @external b = std_reg(8); }
  wires {
    group wa { a.in = 8'd1; a.write_en = 1'd1; wa[done] = a.done; }
    group wb { b.in = a.out; b.write_en = 1'd1; wb[done] = b.done; }
  }";

#[test]
fn the_same_group_twice() {
    let program = format!("{TWO_WRITES}\n  control {{\n    seq {{ wa; wb; wa; }}\n  }}\n");
    check(
        &program,
        "no-opt",
        &expect![[r#"
            wa: Body of enable at 8:11
              calls a
            wb: Body of enable at 8:15
              calls b
            wa: Body of enable at 8:19
              calls a
            tdcc runs seq@L8: 0=wa 1=wb 2=wa
        "#]],
    );
    check(
        &program,
        "all",
        &expect![[r#"
        wa: Body of enable at 8:11 (1 cycles)
          calls a
        wb: Body of enable at 8:15 (1 cycles)
          calls b
        wa: Body of enable at 8:19 (1 cycles)
          calls a
    "#]],
    );
}

#[test]
fn par_and_if() {
    let program = format!(
        "{TWO_WRITES}\n  control {{\n    par {{\n      seq {{ wa; }}\n      \
         if a.out {{ wb; }} else {{ seq {{ wb; wb; }} }}\n    }}\n  }}\n"
    )
    .replace("std_reg(8)", "std_reg(1)")
    .replace("8'd1", "1'd1");
    check(
        &program,
        "no-opt",
        &expect![[r#"
            wa: Body of enable at 9:13
              calls a
            wb: Body of enable at 10:18
              calls b
            wb: Body of enable at 10:37
              calls b
            wb: Body of enable at 10:41
              calls b
            tdcc runs seq@L9: 0=wa
            tdcc0 runs if@L10:7: 1=wb 2=wb 3=wb
            par0 runs par@L8: tdcc | tdcc0
            tdcc1 runs par@L8: 0=par0
        "#]],
    );
}

#[test]
fn split_groups() {
    let program = "
  cells { m = std_reg(8); @external r = std_reg(8); }
  wires {
    group both {
      m.in = 8'd1; m.write_en = !m.done ? 1'd1;
      r.in = m.out; r.write_en = m.done;
      both[done] = r.done;
    }
  }
  control {
    seq { both; both; }
  }
";
    check(
        program,
        "all",
        &expect![[r#"
        both/beg_spl_both: Body of enable at 11:11 (1 cycles)
          calls m
        both/end_spl_both: Body of enable at 11:11 (1 cycles)
          calls r
        both/beg_spl_both: Body of enable at 11:17 (1 cycles)
          calls m
        both/end_spl_both: Body of enable at 11:17 (1 cycles)
          calls r
    "#]],
    );
}

#[test]
fn conditions() {
    let program = "
  cells { @external i = std_reg(8); lt = std_lt(8); add = std_add(8); }
  wires {
    comb group cond { lt.left = i.out; lt.right = 8'd3; }
    group incr { add.left = i.out; add.right = 8'd1; i.in = add.out; i.write_en = 1'd1; incr[done] = i.done; }
  }
  control {
    seq {
      while lt.out with cond { incr; }
      if lt.out with cond { incr; }
    }
  }
";
    check(
        program,
        "no-opt",
        &expect![[r#"
            cond: Condition of while at 9:7 (1 cycles)
              calls lt
              calls comb_reg
            incr: Body of enable at 9:32
              calls i
              calls add
            cond: Condition of while at 9:7 (1 cycles)
              calls lt
              calls comb_reg
            cond: Condition of if at 10:7 (1 cycles)
              calls lt
              calls comb_reg
            incr: Body of enable at 10:29
              calls i
              calls add
            tdcc runs seq@L8: 0=wrapper_early_reset_cond0 1=incr 2=wrapper_early_reset_cond0 3=wrapper_early_reset_cond0 4=incr
        "#]],
    );
    check(
        program,
        "all",
        &expect![[r#"
            cond: Condition of while at 9:7 (1 cycles)
              calls lt
              calls comb_reg
            incr: Body of enable at 9:32 (1 cycles)
              calls i
              calls add
            cond: Condition of while at 9:7 (1 cycles)
              calls lt
              calls comb_reg
            cond: Condition of if at 10:7 (1 cycles)
              calls lt
              calls comb_reg
            incr: Body of enable at 10:29 (1 cycles)
              calls i
              calls add
            tdcc runs seq@L8: 0=wrapper_early_reset_cond0 1=while_wrapper_early_reset_static_seq 2=wrapper_early_reset_static_seq0
        "#]],
    );
}

#[test]
fn repeats() {
    let program = "
  cells { @external i = std_reg(8); @external s = std_reg(8); add = std_add(8); lt = std_lt(8); }
  wires {
    group incr { add.left = i.out; add.right = 8'd1; i.in = add.out; i.write_en = lt.out; incr[done] = i.done; }
    lt.left = i.out; lt.right = 8'd9;
    static<2> group tick { s.in = i.out; s.write_en = %1 ? 1'd1; }
  }
  control {
    seq {
      repeat 3 { incr; }
      static repeat 2 { tick; }
    }
  }
";
    check(
        program,
        "all",
        &expect![[r#"
        init_repeat: Control of repeat at 10:7
          calls idx
          calls cond_reg
        incr: Body of enable at 10:18
          calls i
          calls add
        incr_repeat: Control of repeat at 10:7
          calls adder
          calls lt0
          calls cond_reg
          calls idx
        tick: Body of static enable at 11:25 (2 cycles)
          calls s
        tdcc runs seq@L9: 0=init_repeat 1=incr 2=incr_repeat 3=wrapper_early_reset_static_repeat
    "#]],
    );
}

#[test]
fn barriers() {
    let program = format!(
        "{TWO_WRITES}\n  control {{\n    par {{\n      seq {{ wa; @sync(1); wa; }}\n      \
         seq {{ @sync(1); wb; }}\n    }}\n  }}\n"
    );
    check(
        &program,
        "all",
        &expect![[r#"
            wa: Body of enable at 9:13
              calls a
            barrier: Control of sync at 9:17
              calls bar
            invoke0: Control of sync at 9:17
              calls bar
            wa: Body of enable at 9:27
              calls a
            barrier0: Control of sync at 10:13
              calls bar0
            invoke1: Control of sync at 10:13
              calls bar0
            wb: Body of enable at 10:23
              calls b
            tdcc runs seq@L9:7: 0=wa 1=barrier 2=invoke0 3=wa
            tdcc0 runs seq@L10:7: 0=barrier0 1=invoke1 2=wb
            par0 runs par@L8: tdcc | tdcc0
            tdcc1 runs par@L8: 0=par0
        "#]],
    );
}

#[test]
fn machines_of_their_own() {
    let program = format!(
        "{TWO_WRITES}\n  control {{\n    seq {{\n      wa;\n      @new_fsm seq {{ wb; wa; }}\n      \
         wb;\n    }}\n  }}\n"
    );
    check(
        &program,
        "no-opt",
        &expect![[r#"
            wa: Body of enable at 9:7
              calls a
            wb: Body of enable at 10:22
              calls b
            wa: Body of enable at 10:26
              calls a
            wb: Body of enable at 11:7
              calls b
            tdcc runs seq@L10: 0=wb 1=wa
            tdcc0 runs seq@L8: 0=wa 1=tdcc 2=wb
        "#]],
    );
}
