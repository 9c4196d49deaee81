use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_program::{Library, Parsed, Program, Source};

use super::{Verdict, pieces};
use crate::rewrites::RewriteKind;

const CELLS: &str = "@external m = comb_mem_d1(8, 8, 3); @external s = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); c = std_reg(8); \
                     add = std_add(8); inc = std_add(8); mul = std_mult_pipe(8); sh = std_lsh(8); lt = std_lt(8); cut = std_slice(8, 3); \
                     eq = std_eq(8); ne = std_eq(8); div = std_div_pipe(8);";

fn program(wires: &str, control: &str) -> Program {
    let text = format!(
        "import \"primitives/core.futil\";\nimport \"primitives/binary_operators.futil\";\nimport \"primitives/memories/comb.futil\";\n\
         import \"primitives/memories/seq.futil\";\ncomponent main() -> () {{\n  cells {{ {CELLS} }}\n  wires {{ {wires} }}\n  \
         control {{ {control} }}\n}}\n"
    );
    let name = "proof.futil".into();
    let library = Library::new(&[]).unwrap();
    let parsed = Parsed::read(Source::Text { name, text }, &library).unwrap();
    parsed.program().unwrap()
}

/// What is said of the pieces that are others in the second program.
fn said(before: [&str; 2], after: [&str; 2], expected: &Expect) {
    said_of(RewriteKind::FixedLatency, before, after, expected);
}

fn said_of(
    kind: RewriteKind,
    [wires, control]: [&str; 2],
    [other_wires, other_control]: [&str; 2],
    expected: &Expect,
) {
    let found = pieces(
        &program(wires, control),
        &program(other_wires, other_control),
        kind,
    );
    let mut said = String::new();
    for piece in found {
        let verdict = match piece.verdict {
            Verdict::Equal => "equal".to_owned(),
            Verdict::Open(why) => format!("open: {why}"),
            Verdict::Differs(how) => format!("differs: {how}"),
        };
        let _ = writeln!(said, "{}: {verdict}", piece.name);
    }
    expected.assert_eq(&said);
}

const LOAD: &str = "group load { cut.in = a.out; s.addr0 = cut.out; s.content_en = 1'd1; b.in = s.read_data; b.write_en = s.done; load[done] = b.done; }";
const TIMES: &str = "group times { mul.left = a.out; mul.right = 8'd4; mul.go = !mul.done ? 1'd1; b.in = mul.out; b.write_en = mul.done; times[done] = b.done; }";
const SET: &str = "group set { a.in = b.out; a.write_en = 1'd1; set[done] = a.done; }";
const NEXT: &str = "group next { inc.left = a.out; inc.right = 8'd1; c.in = inc.out; c.write_en = 1'd1; next[done] = c.done; }";

#[test]
fn groups_of_certain_cycles_come_to_the_same() {
    said(
        [LOAD, "load;"],
        [
            "static<2> group load { cut.in = a.out; s.addr0 = cut.out; s.content_en = 1'd1; b.in = s.read_data; b.write_en = %1 ? 1'd1; }",
            "load;",
        ],
        &expect![[r#"
            main: the group `load`: equal
        "#]],
    );
    said(
        [TIMES, "times;"],
        [
            "static<3> group times { mul.left = a.out; mul.right = 8'd4; mul.go = %[0:2] ? 1'd1; b.in = mul.out; b.write_en = %2 ? 1'd1; }",
            "times;",
        ],
        &expect![[r#"
            main: the group `times`: equal
        "#]],
    );
    // A cycle too early.
    said(
        [LOAD, "load;"],
        [
            "static<2> group load { cut.in = a.out; s.addr0 = cut.out; s.content_en = 1'd1; b.in = s.read_data; b.write_en = %0 ? 1'd1; }",
            "load;",
        ],
        &expect![[r#"
            main: the group `load`: differs: `b` is 1, and 6 after the edit with `a.out` 173, `s.read_data` 6
        "#]],
    );
}

#[test]
fn statements_that_become_others_come_to_the_same() {
    let both = format!("{SET} {NEXT}");
    said(
        [&both, "seq { set; next; }"],
        [
            "group set_next { a.in = b.out; a.write_en = 1'd1; inc.left = b.out; inc.right = 8'd1; c.in = inc.out; c.write_en = 1'd1; set_next[done] = a.done & c.done ? 1'd1; }",
            "seq { set_next; }",
        ],
        &expect![[r#"
            main: these statements: equal
        "#]],
    );
    said(
        [&both, "seq { set; next; }"],
        [&both, "seq { par { set; next; } }"],
        &expect![[r#"
            main: these statements: differs: `c` is 8, and 174 after the edit with `a.out` 173, `b.out` 7
        "#]],
    );
    said_of(
        RewriteKind::Shift,
        [
            "group shl { sh.left = a.out; sh.right = 8'd2; b.in = sh.out; b.write_en = 1'd1; shl[done] = b.done; }",
            "shl;",
        ],
        [TIMES, "times;"],
        &expect![[r#"
            main: these statements: open: `mul` is left with something else
        "#]],
    );
}

#[test]
fn branches_of_which_one_is_taken_are_one_choice() {
    let wires = "eq.left = a.out; eq.right = 8'd1; ne.left = a.out; ne.right = 8'd2; \
                 group one { b.in = 8'd5; b.write_en = 1'd1; one[done] = b.done; } \
                 group two { b.in = c.out; b.write_en = 1'd1; two[done] = b.done; }";
    let at_once = "seq { par { if eq.out { one; } if ne.out { two; } } }";
    said(
        [wires, at_once],
        [
            wires,
            "seq { if eq.out { one; } else { if ne.out { two; } } }",
        ],
        &expect![[r#"
            main: these statements: equal
        "#]],
    );
    // They may both be taken.
    let both = wires.replace("8'd2", "8'd1");
    said(
        [&both, at_once],
        [
            &both,
            "seq { if eq.out { one; } else { if ne.out { two; } } }",
        ],
        &expect![[r#"
            main: these statements: open: arms of a `par` have to do with the same cells
        "#]],
    );
}

#[test]
fn what_is_not_followed_leaves_the_same_of_the_same() {
    let wires = format!(
        "group divide {{ div.left = a.out; div.right = 8'd3; div.go = !div.done ? 1'd1; b.in = div.out_quotient; b.write_en = div.done; \
         divide[done] = b.done; }} {SET} {NEXT} lt.left = c.out; lt.right = 8'd9;"
    );
    let before = "seq { if lt.out { divide; } par { set; next; } }";
    let after = "seq { if lt.out { divide; } else { } set; next; }";
    said(
        [&wires, before],
        [&wires, after],
        &expect![[r#"
            main: these statements: differs: `c` is 1, and 3 after the edit with `a.out` 0, `b.out` 2, `c.out` 24, `mul.out` 0, `s.read_data` 7
        "#]],
    );
    said(
        [&wires, "seq { next; divide; set; }"],
        [&wires, "seq { par { next; } divide; set; }"],
        &expect![[r#"
            main: these statements: equal
        "#]],
    );
    said(
        [&wires, "seq { next; divide; set; }"],
        [&wires, "seq { divide; next; set; }"],
        &expect![[r#"
            main: these statements: open: nobody knows how long `div` takes
        "#]],
    );
}

#[test]
fn loops_are_looked_into_and_conditions_compared() {
    let is = "comb group is { lt.left = a.out; lt.right = 8'd3; }";
    said(
        [&format!("{is} {NEXT}"), "while lt.out with is { next; }"],
        [
            &format!(
                "lt.left = a.out; lt.right = 8'd3; {}",
                NEXT.replace("group next", "static<1> group next")
                    .replace("next[done] = c.done;", "")
            ),
            "while lt.out { next; }",
        ],
        &expect![[r#"
            main: a condition: equal
            main: the group `next`: equal
        "#]],
    );
    said(
        [&format!("{is} {NEXT}"), "while lt.out with is { next; }"],
        [&format!("{is} {NEXT}"), "repeat 3 { next; }"],
        &expect![[r#"
            main: these statements: open: there is a loop in it
        "#]],
    );
}
