//! Call trees of static control.

use expect_test::expect;

use super::{check, with_control};

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
            cycle 1, main: FSM update of seq@L19
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
            cycle 9, main: FSM update of seq@L19
              main
                seq@L19
            cycle 10
              main
                seq@L19
                  static if@L22
                    one
                      a (primitive)
            cycles 11 to 12, main: static wait of static if@L22
              main
                seq@L19
                  static if@L22
            cycle 13, main: FSM update of seq@L19
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
