//! Call trees through components, groups that run groups, and `ref` cells.

use expect_test::expect;

use super::{check, with_control};

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
            cycle 1, s [store]: FSM update of seq@L6
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
            cycle 3, s [store]: FSM update of seq@L6
              main
                seq@L15
                  invoke@L16
                    invoke0 (compiler)
                      s [store]
                        seq@L6
            cycle 4, main: FSM update of seq@L15
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
            cycle 1, main: FSM update of seq@L15
              main
                seq@L15
            cycle 2
              main
                seq@L15
                  inner
                    a (primitive)
            cycle 3, main: FSM update of seq@L15
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
            cycle 1, s [steps]: FSM update of seq@L9
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
            cycle 3, s [steps]: FSM update of seq@L9
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
            cycle 5, s [steps]: FSM update of seq@L9
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
            cycle 1, w [put]: FSM update of seq@L8
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
            cycle 3, w [put]: FSM update of seq@L8
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
            cycle 4, t [twice]: FSM update of seq@L14
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
            cycle 6, w [put]: FSM update of seq@L8
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
            cycle 8, w [put]: FSM update of seq@L8
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
            cycle 9, t [twice]: FSM update of seq@L14
              main
                seq@L24
                  invoke@L25
                    invoke0 (compiler)
                      t [twice]
                        seq@L14
            cycle 10, main: FSM update of seq@L24
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
            cycle 12, w [put]: FSM update of seq@L8
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
            cycle 14, w [put]: FSM update of seq@L8
              main
                seq@L24
                  invoke@L26
                    invoke1 (compiler)
                      w [put]
                        seq@L8
            cycle 15, main: FSM update of seq@L24
              main
                seq@L24
        "#]],
    );
}
