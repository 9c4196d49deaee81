//! Small programs of today, and what the parser gets to see of them.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::translate;

/// Compares the text for the parser, and the positions by the text that they are of.
fn check(text: &str, expected: &Expect) {
    let translation = translate(text).unwrap();
    assert_eq!(translation.text.len(), text.len());
    let lines = |text: &str| {
        text.match_indices('\n')
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&translation.text), lines(text));
    let mut shown = String::new();
    for line in translation.text.lines() {
        writeln!(shown, "{}", line.trim_end()).unwrap();
    }
    for (&at, ids) in &translation.positions {
        let begin: String = text[at..].chars().take(12).collect();
        writeln!(shown, "{ids:?} {begin:?}").unwrap();
    }
    expected.assert_eq(&shown);
}

fn check_error(text: &str, expected: &Expect) {
    let problem = translate(text).unwrap_err();
    let line = super::line(text, problem.at);
    expected.assert_eq(&format!("{line}: {}", problem.message));
}

#[test]
fn sets_before_statements_are_blanked() {
    check(
        r#"component main() -> () {
  cells {
    @pos{1} r = std_reg(8);
    @external @pos{2} m = seq_mem_d1(8, 4, 2);
    @pos{3} @external n = seq_mem_d1(8, 4, 2);
    @my_set{1,
            2} s = std_reg(8);
  }
  wires {}
  control {
    @pos{4, 17} seq {
      @pos{5} g;
      @pos{6} @bound(3) while a.out with g { @pos{7} g; }
      @pos{8} if a.out { g; } else @pos{9} if b.out { @pos{10} ; }
      @pos() h;
    }
  }
}
"#,
        &expect![[r#"
            component main() -> () {
              cells {
                        r = std_reg(8);
                @external         m = seq_mem_d1(8, 4, 2);
                        @external n = seq_mem_d1(8, 4, 2);

                           s = std_reg(8);
              }
              wires {}
              control {
                            seq {
                          g;
                          @bound(3) while a.out with g {         g; }
                          if a.out { g; } else         if b.out {          ; }
                  @pos() h;
                }
              }
            }
            [1] "r = std_reg("
            [2] "@external @p"
            [3] "@external n "
            [4, 17] "seq {\n      "
            [5] "g;\n      @po"
            [6] "@bound(3) wh"
            [7] "g; }\n      @"
            [8] "if a.out { g"
            [9] "if b.out { @"
            [10] "; }\n      @p"
        "#]],
    );
}

#[test]
fn sets_in_angle_brackets_are_dropped() {
    check(
        r#"static<1> component main<"pos"={0}>(@pos{9} @data in: 8) -> () {
  cells { }
  wires {
    group g<"pos"={1}, "promotable"=1> { a.in = b.out < c.out ? 1'd1; }
    comb group h<"promotable"=1, "pos"={1, 2}> { }
    static<1> group i<"a"={1}, "promotable"=1, "b"={2},> { }
    group j<"promotable"=1,> { }
  }
}
"#,
        &expect![[r#"
            static<1> component main           (        @data in: 8) -> () {
              cells { }
              wires {
                group g<           "promotable"=1> { a.in = b.out < c.out ? 1'd1; }
                comb group h<"promotable"=1,             > { }
                static<1> group i<         "promotable"=1,         > { }
                group j<"promotable"=1,> { }
              }
            }
            [0] "static<1> co"
            [1] "group g<\"pos"
            [1, 2] "comb group h"
        "#]],
    );
}

#[test]
fn strings_comments_and_verilog_stay() {
    let text = r#"import "@pos{1}.futil"; // @pos{2} "
/* sourceinfo #{ }# " @pos{3} */
extern "x.sv" { primitive p<"share"=1>[W](in: W) -> (out: W); }
comb primitive q[W](in: W) -> (out: W) {
  always @(posedge clk) " @pos{ refa = 1
}
component cells() -> () {
  cells { ref refresh = std_reg(8); ref r = std_reg(1); }
  wires { refout = in; group cells { } }
  control { ref; cells; fsm; }
}
metadata #{ 0: @pos{3} sourceinfo #{
}#
"#;
    assert_eq!(translate(text).unwrap().text, text);
}

#[test]
fn tables_are_blanked() {
    check(
        "component main() -> () { cells {} wires {} }\nSourceInfo #{\nFILES\n 0: ä \"b\nPOSITIONS\n}#\n\
         metadata #{\n1: x }#\nsourceinfo #{}#",
        &expect![[r#"
            component main() -> () { cells {} wires {} }





            metadata #{
            1: x }#

        "#]],
    );
    check_error(
        "sourceinfo #{\n0: a\n",
        &expect!["1: `sourceinfo #{` has no `}#` at its end"],
    );
}

#[test]
fn cells_that_begin_with_ref_are_cells() {
    check(
        "component main() -> () { cells { refresh = std_reg(8); @pos{1} ref = std_reg(8); refx= f(); } wires {} }",
        &expect![[r#"
            component main() -> () { cells { _efresh = std_reg(8);         _ef = std_reg(8); _efx= f(); } wires {} }
            [1] "ref = std_re"
        "#]],
    );
}

#[test]
fn constants_are_their_bits() {
    let text = "component main() -> () { cells {\n  a = std_float_const(0, 32, -2.01); @external b = std_float_const(0,64,0.1);\n\
                refc = std_float_const(0,32,1);\n} wires {} }\n";
    let translation = translate(text).unwrap();
    let mut constants: Vec<_> = translation
        .cells
        .iter()
        .map(|(at, cell)| (*at, cell.constant.unwrap()))
        .collect();
    constants.sort_unstable();
    let bits: Vec<u64> = constants.into_iter().map(|(_, bits)| bits).collect();
    assert_eq!(
        bits,
        [
            u64::from((-2.01_f32).to_bits()),
            0.1_f64.to_bits(),
            0x3f80_0000
        ]
    );
    check(
        text,
        &expect![[r#"
        component main() -> () { cells {
          a = std_float_const(0, 32, 0    ); @external b = std_float_const(0,64,0  );
        _efc = std_float_const(0,32,0);
        } wires {} }
    "#]],
    );
    let check_constant = |arguments: &str, expected: &Expect| {
        let text = format!(
            "component main() -> () {{ cells {{\n a = std_float_const{arguments};\n}} wires {{}} }}"
        );
        check_error(&text, expected);
    };
    check_constant(
        "(1, 32, 2.0)",
        &expect![
            "2: `std_float_const`: the representation is `1`, and only 0 (IEEE 754) has a meaning"
        ],
    );
    check_constant(
        "(0, 16, 2.0)",
        &expect!["2: `std_float_const`: the width is `16`, but must be 32 or 64"],
    );
    check_constant(
        "(0, 32, 1e40)",
        &expect!["2: `std_float_const`: `1e40` is no decimal number of 32 bits, such as -2.01"],
    );
    check_constant(
        "(0, 32, nan)",
        &expect!["2: `std_float_const`: `nan` is no decimal number of 32 bits, such as -2.01"],
    );
    check_constant(
        "(0, 32)",
        &expect![
            "2: `std_float_const`: it takes a representation, a width and a value, but has `0, 32`"
        ],
    );
    check_constant(
        "(0, 32, 4",
        &expect!["2: `std_float_const`: there is no `)` behind its arguments"],
    );
}

#[test]
fn what_has_no_counterpart_is_named() {
    check_error(
        "component main() -> () {\n cells {}\n wires {\n  @pos{2} fsm f {\n 0: {} => 1,\n } }\n}",
        &expect![
            "4: `fsm f` is a state machine that passes of newer Calyx compilers make, and petal cannot tell what runs in one; profile the program from before these passes, as its front end writes it"
        ],
    );
    check_error(
        "component main() -> () {\n cells {\n @pos{a} r = std_reg(1); } wires {} }",
        &expect!["3: the set of the attribute `pos` must be numbers with commas, such as `{1, 2}`"],
    );
    check_error(
        "component main<\"pos\"={1",
        &expect!["1: the set of the attribute `pos` must be numbers with commas, such as `{1, 2}`"],
    );
}
