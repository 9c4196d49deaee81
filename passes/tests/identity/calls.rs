//! What becomes of calls: of components, of shared and handed-over cells, and of groups by groups.

use expect_test::expect;

use super::{check, check_with, metadata, render};

#[test]
fn invokes_and_inlining() {
    let others = "component sub(x: 8) -> (out: 8) {
  cells { r = std_reg(8); }
  wires { group save { r.in = x; r.write_en = 1'd1; save[done] = r.done; } out = r.out; }
  control { seq { save; save; } }
}
";
    let program = "
  cells { @external r = std_reg(8); s = sub(); @inline t = sub(); }
  wires { group keep { r.in = t.out; r.write_en = 1'd1; keep[done] = r.done; } }
  control {
    seq {
      invoke s(x = r.out)(out = r.in);
      invoke t(x = r.out)();
      keep;
    }
  }
";
    check_with(
        program,
        others,
        "all",
        &expect![[r#"
        invoke00: Body of invoke at 6:7 (2 cycles)
          calls s
        save: Body of enable at 15:19 (1 cycles)
          calls r0
        save: Body of enable at 15:25 (1 cycles)
          calls r0
        keep: Body of enable at 8:7 (1 cycles)
          calls r
    "#]],
    );
    check_with(
        program,
        others,
        "no-opt",
        &expect![[r#"
        invoke0: Body of invoke at 6:7
          calls s
        invoke1: Body of invoke at 7:7
          calls t
        keep: Body of enable at 8:7
          calls r
        tdcc runs seq@L5: 0=invoke0 1=invoke1 2=keep
    "#]],
    );
}

#[test]
fn shared_cells() {
    let program = "
  cells { x = std_reg(8); y = std_reg(8); add1 = std_add(8); add2 = std_add(8); @external r = std_reg(8); }
  wires {
    group wx { add1.left = r.out; add1.right = 8'd1; x.in = add1.out; x.write_en = 1'd1; wx[done] = x.done; }
    group rx { r.in = x.out; r.write_en = 1'd1; rx[done] = r.done; }
    group wy { add2.left = r.out; add2.right = 8'd2; y.in = add2.out; y.write_en = 1'd1; wy[done] = y.done; }
    group ry { r.in = y.out; r.write_en = 1'd1; ry[done] = r.done; }
  }
  control {
    seq { wx; rx; wy; ry; }
  }
";
    check(
        program,
        "all",
        &expect![[r#"
        wx: Body of enable at 10:11 (1 cycles)
          calls x
          calls add1
        rx: Body of enable at 10:15 (1 cycles)
          calls r
        wy: Body of enable at 10:19 (1 cycles)
          calls y (shares its hardware)
          calls add2 (shares its hardware)
        ry: Body of enable at 10:23 (1 cycles)
          calls r
    "#]],
    );
}

#[test]
fn structural_enables() {
    let program = "
  cells { @external a = std_reg(8); @external b = std_reg(8); }
  wires {
    group inner { a.in = 8'd1; a.write_en = 1'd1; inner[done] = a.done; }
    group outer { inner[go] = 1'd1; b.in = 8'd2; b.write_en = inner[done]; outer[done] = b.done; }
  }
  control {
    seq { outer; inner; }
  }
";
    check(
        program,
        "no-opt",
        &expect![[r#"
            outer: Body of enable at 8:11
              calls b
              calls inner
            inner: Body of enable at 8:18
              calls a
            inner: Called of called
              calls a
            tdcc runs seq@L8: 0=outer 1=inner
        "#]],
    );
}

#[test]
fn ref_cells() {
    let others = "component sub() -> () {
  cells { ref add = std_add(8); ref to = std_reg(8); a = std_reg(8); }
  wires {
    group one { a.in = 8'd1; a.write_en = 1'd1; one[done] = a.done; }
    group two { add.left = a.out; add.right = 8'd2; to.in = add.out; to.write_en = 1'd1; two[done] = to.done; }
  }
  control { seq { one; two; } }
}
";
    let program = "
  cells { @external r = std_reg(8); x = std_add(8); s = sub(); }
  wires {}
  control { invoke s[add = x, to = r]()(); }
";
    let bound = |passes: &str| {
        let metadata = metadata(program, others, passes);
        let main = metadata.component(metadata.main);
        let Some(sub) = metadata.components.iter().find(|c| c.name == "sub") else {
            panic!("the component is there");
        };
        let bindings = main.control[0].bindings.iter().map(|binding| {
            let (formal, actual) = (sub.cell(binding.formal), main.cell(binding.actual));
            assert!(formal.is_reference() && !actual.is_reference());
            format!("{} = {}", formal.name, actual.name)
        });
        assert_eq!(bindings.collect::<Vec<_>>(), ["add = x", "to = r"]);
        (render(&metadata, main), render(&metadata, sub))
    };
    // The wires between the ports of `s` and the cells are no calls.
    let (main, sub) = bound("no-opt");
    expect![[r#"
        invoke0: Body of invoke at 4:13
          calls s
    "#]]
    .assert_eq(&main);
    expect![[r#"
        one: Body of enable at 12:19
          calls a
        two: Body of enable at 12:24
          calls to (`ref` cell)
          calls add (`ref` cell)
        tdcc runs seq@L12: 0=one 1=two
    "#]]
    .assert_eq(&sub);
    let (main, sub) = bound("all");
    expect![[r#"
        invoke0: Body of invoke at 4:13
          calls s
    "#]]
    .assert_eq(&main);
    expect![[r#"
        one: Body of enable at 12:19
          calls a
        two: Body of enable at 12:24
          calls to (`ref` cell)
          calls add (`ref` cell)
        tdcc runs seq@L12: 0=invoke0 1=two
    "#]]
    .assert_eq(&sub);
}
