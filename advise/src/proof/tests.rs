use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_metadata::ControlKind;
use petal_program::tree::View;
use petal_program::{Library, Parsed, Program, Source};

use super::{Verdict, pieces, times};
use crate::rewrites::RewriteKind;

const CELLS: &str = "@external m = comb_mem_d1(8, 8, 3); @external s = seq_mem_d1(8, 8, 3); @external a = std_reg(8); \
                     @external b = std_reg(8); @external c = std_reg(8); i = std_reg(8); j = std_reg(8); \
                     add = std_add(8); inc = std_add(8); mul = std_mult_pipe(8); sh = std_lsh(8); lt = std_lt(8); cut = std_slice(8, 3); \
                     eq = std_eq(8); ne = std_eq(8); div = std_div_pipe(8); pm = pipelined_mult(8); p1 = part(); p2 = part(); p3 = sum(); \
                     f1 = std_fp_mult_pipe(8, 4, 4); f2 = std_fp_mult_pipe(8, 6, 2);";

const PART: &str = "component part(x: 8) -> (y: 8) { cells { r = std_reg(8); } wires { y = r.out; \
                    group keep { r.in = x; r.write_en = 1'd1; keep[done] = r.done; } } control { keep; } }";

const SUM: &str = "component sum(x: 8, z: 8) -> (y: 8) { cells { r = std_reg(8); s = std_sub(8); } wires { y = s.out; \
                   group keep { s.left = x; s.right = z; r.in = x; r.write_en = 1'd1; keep[done] = r.done; } } control { keep; } }";

fn program(wires: &str, control: &str) -> Program {
    with(SUM, wires, control)
}

/// A program with another component `sum`.
fn with(sum: &str, wires: &str, control: &str) -> Program {
    let text = format!(
        "import \"primitives/core.futil\";\nimport \"primitives/binary_operators.futil\";\nimport \"primitives/memories/comb.futil\";\n\
         import \"primitives/memories/seq.futil\";\nimport \"primitives/pipelined.futil\";\n{PART}\n{sum}\ncomponent main() -> () {{\n  cells {{ {CELLS} }}\n  wires {{ {wires} }}\n  \
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
            main: these statements: equal
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
            main: these statements: differs: `c` is 1, and 3 after the edit with `a.out` 0, `b.out` 2, `c.out` 24
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
            main: these statements: equal
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
            main: these statements: open: how often its loop runs depends on values
        "#]],
    );
}

const FIRST: &str = "group first { a.in = 8'd0; a.write_en = 1'd1; first[done] = a.done; }";
const COUNT: &str = "static<1> group count { inc.left = a.out; inc.right = 8'd1; a.in = inc.out; a.write_en = 1'd1; }";

#[test]
fn loops_run_as_often_as_they_do_whatever_the_values() {
    let wires = format!("lt.left = a.out; lt.right = 8'd8; {FIRST} {COUNT}");
    let before = "seq { first; while lt.out { count; } }";
    let times = |times: u64| format!("seq {{ first; repeat {times} {{ count; }} }}");
    said(
        [&wires, before],
        [&wires, &times(8)],
        &expect![[r#"
        main: these statements: equal
    "#]],
    );
    said(
        [&wires, before],
        [&wires, &times(7)],
        &expect![[r#"
        main: these statements: differs: `a` is 8, and 7 after the edit
    "#]],
    );
    let after = "seq { repeat 20000 { count; } }";
    said(
        [&wires, "seq { while lt.out { count; } }"],
        [&wires, after],
        &expect![[r#"
            main: these statements: open: how often its loop runs depends on values
        "#]],
    );
}

#[test]
fn long_loops_are_followed_up_to_a_limit() {
    let wires = format!("{FIRST} {COUNT}");
    let repeated = |all: u64, less: u64, expected: &Expect| {
        let [before, after] =
            [all, less].map(|times| format!("seq {{ first; repeat {times} {{ count; }} }}"));
        said([&wires, &before], [&wires, &after], expected);
    };
    let equal = expect![[r#"
        main: these statements: equal
    "#]];
    repeated(20_000, 32, &equal);
    let differs = expect![[r#"
        main: these statements: differs: `a` is 32, and 33 after the edit
    "#]];
    repeated(20_000, 33, &differs);
    let open = expect![[r#"
        main: these statements: open: it takes longer than it is followed
    "#]];
    repeated(300_000, 224, &open);
}

#[test]
fn what_stands_further_out_tells_how_often_loops_run() {
    let wires = format!("lt.left = a.out; lt.right = 8'd8; {FIRST} {COUNT} {LOAD}");
    let counted = |around: &str, expected: &Expect| {
        let [before, after] = ["while lt.out", "repeat 8"]
            .map(|head| around.replace("LOOP", &format!("{head} {{ count; }}")));
        said([&wires, &before], [&wires, &after], expected);
    };
    let equal = expect![[r#"
        main: these statements: equal
    "#]];
    counted("seq { first; par { seq { load; LOOP } load; } }", &equal);
    counted(
        "seq { first; if lt.out { seq { LOOP load; } } else { load; } }",
        &equal,
    );
    let open = expect![[r#"
        main: these statements: open: how often its loop runs depends on values
    "#]];
    counted("seq { first; par { seq { load; LOOP } first; } }", &open);
    counted("seq { first; repeat 2 { seq { LOOP load; } } }", &open);
    let one_less = expect![[r#"
        main: these statements: differs: `a` is 8, and 9 after the edit
    "#]];
    counted(
        "seq { first; count; par { seq { LOOP load; } load; } }",
        &one_less,
    );
}

/// How often the first `while` of a program runs.
fn times_of(wires: &str, control: &str, once: bool) -> Option<u64> {
    let program = program(wires, control);
    let main = program.ctx.components.iter().find(|of| of.name == "main");
    let main = main.unwrap();
    let control = main.control.borrow();
    let mut found = None;
    View::of(&control).walk(&mut |view| {
        if view.kind() == ControlKind::While && found.is_none() {
            found = Some(times(main, View::of(&control), view, once));
        }
    });
    found.unwrap()
}

#[test]
fn it_is_known_how_often_loops_run() {
    let counter = format!("lt.left = a.out; lt.right = 8'd8; {FIRST} {COUNT} {SET}");
    let counter = counter.replace(" a.", " i.").replace("= a", "= i");
    let wires = format!(
        "{counter} {LOAD} {TIMES} \
         static<1> group look {{ j.in = lt.out ? 8'd3; j.in = !lt.out ? 8'd0; j.write_en = 1'd1; }} \
         static<1> group twice {{ inc.left = i.out; inc.right = 8'd2; i.in = inc.out; i.write_en = 1'd1; }} \
         comb group some {{ eq.left = j.out; eq.right = 8'd3; }} \
         comb group more {{ eq.left = b.out; eq.right = 8'd3; }}"
    );
    let of = |control: &str| times_of(&wires, control, false);
    assert_eq!(of("seq { first; while lt.out { count; } }"), Some(8));
    assert_eq!(of("seq { first; while lt.out { twice; } }"), Some(4));
    // The condition is a word that the loop computes.
    let computed = "while eq.out with some { seq { load; count; look; } }";
    assert_eq!(of(&format!("seq {{ first; look; {computed} }}")), Some(8));
    assert_eq!(of(&format!("seq {{ first; {computed} }}")), None);
    // It is counted in both branches, or in one of them.
    let counted = |otherwise: &str| {
        format!(
            "seq {{ first; while lt.out {{ if eq.out with more {{ count; }} else {{ {otherwise} }} }} }}"
        )
    };
    assert_eq!(of(&counted("count;")), Some(8));
    assert_eq!(of(&counted("load;")), None);
    // It begins anew in each iteration of another loop, or does not.
    let inner = "while lt.out { seq { times; count; } }";
    let outer = |before: &str| format!("{before} repeat 3 {{ seq {{ {inner} load; }} }}");
    assert_eq!(
        of(&format!("repeat 3 {{ seq {{ first; {inner} }} }}")),
        Some(8)
    );
    assert_eq!(of(&format!("seq {{ {} }}", outer("first;"))), None);
    // Something else writes what it counts.
    assert_eq!(
        of("seq { first; while lt.out { seq { set; count; } } }"),
        None
    );
    assert_eq!(
        of("par { seq { first; while lt.out { count; } } set; }"),
        None
    );
    assert_eq!(of("seq { first; while lt.out { load; } }"), None);
    // After a reset, registers are 0, but not those from outside.
    let first = |control: &str| times_of(&wires, control, true);
    assert_eq!(of("seq { while lt.out { count; } }"), None);
    assert_eq!(first("seq { while lt.out { count; } }"), Some(8));
    assert_eq!(first("seq { twice; while lt.out { count; } }"), Some(6));
    assert_eq!(first("seq { set; while lt.out { count; } }"), None);
    let again = "repeat 2 { while lt.out { count; } }";
    assert_eq!(first(again), None);
}

#[test]
fn iterations_that_overlap_come_to_the_same() {
    let steps = "static<1> group load { cut.in = a.out; s.addr0 = cut.out; s.content_en = 1'd1; } \
                 static<2> group square { mul.left = s.read_data; mul.right = s.read_data; mul.go = 1'd1; } \
                 static<1> group add_up { add.left = b.out; add.right = mul.out; b.in = add.out; b.write_en = 1'd1; }";
    let before = format!("{FIRST} {steps} {COUNT}");
    let control = "seq { first; repeat 8 { seq { load; square; add_up; count; } } }";
    let in_each_cycle = |sums: &str| {
        format!(
            "{FIRST} static<13> group all {{ cut.in = %[0:8] ? a.out; s.addr0 = %[0:8] ? cut.out; s.content_en = %[0:8] ? 1'd1; \
             inc.left = %[0:8] ? a.out; inc.right = %[0:8] ? 8'd1; a.in = %[0:8] ? inc.out; a.write_en = %[0:8] ? 1'd1; \
             pm.left = %[1:9] ? s.read_data; pm.right = %[1:9] ? s.read_data; \
             add.left = %{sums} ? b.out; add.right = %{sums} ? pm.out; b.in = %{sums} ? add.out; b.write_en = %{sums} ? 1'd1; }}"
        )
    };
    let after = "seq { first; all; }";
    said(
        [&before, control],
        [&in_each_cycle("[5:13]"), after],
        &expect![[r#"
            main: these statements: equal
        "#]],
    );
    // A cycle too early, and one too few.
    said(
        [&before, control],
        [&in_each_cycle("[4:12]"), after],
        &expect![[r#"
            main: these statements: open: nothing shows that they are the same, nor that they differ
        "#]],
    );
    said(
        [&before, control],
        [&in_each_cycle("[5:12]"), after],
        &expect![[r#"
            main: these statements: differs: `b` is 119, and 55 after the edit with `b.out` 7
        "#]],
    );
    // The product goes on from one round to the next.
    let every_third = |loads: u64| {
        format!(
            "{FIRST} {COUNT} {steps} static<1> group start {{ mul.left = s.read_data; mul.right = s.read_data; mul.go = 1'd1; }} \
             static<3> group kernel {{ mul.left = s.read_data; mul.right = s.read_data; mul.go = %0 | %2 ? 1'd1; \
             add.left = %1 ? b.out; add.right = %1 ? mul.out; b.in = %1 ? add.out; b.write_en = %1 ? 1'd1; \
             cut.in = %{loads} ? a.out; s.addr0 = %{loads} ? cut.out; s.content_en = %{loads} ? 1'd1; \
             inc.left = %{loads} ? a.out; inc.right = %{loads} ? 8'd1; a.in = %{loads} ? inc.out; a.write_en = %{loads} ? 1'd1; }}"
        )
    };
    let after = "seq { first; static seq { load; count; start; static repeat 7 { kernel; } } square; add_up; }";
    said(
        [&before, control],
        [&every_third(1), after],
        &expect![[r#"
            main: these statements: equal
        "#]],
    );
    said(
        [&before, control],
        [&every_third(2), after],
        &expect![[r#"
            main: these statements: open: what `mul` is given changes while it runs
        "#]],
    );
}

#[test]
fn components_are_functions_of_their_state() {
    let wires = "group take { b.in = p1.y; b.write_en = 1'd1; take[done] = b.done; } \
                 group other { c.in = p2.y; c.write_en = 1'd1; other[done] = c.done; }";
    let before = "seq { invoke p1(x = a.out)(); take; invoke p2(x = b.out)(); other; }";
    let apart = "seq { invoke p1(x = a.out)(); par { take; } invoke p2(x = b.out)(); other; }";
    said(
        [wires, before],
        [wires, apart],
        &expect![[r#"
        main: these statements: equal
    "#]],
    );
    let too_early = "seq { invoke p1(x = a.out)(); invoke p2(x = b.out)(); take; other; }";
    said(
        [wires, before],
        [wires, too_early],
        &expect![[r#"
        main: these statements: open: something is invoked in it
    "#]],
    );
    said(
        [
            wires,
            "seq { invoke p1(x = a.out)(); take; invoke p2(x = a.out)(); other; }",
        ],
        [
            wires,
            "seq { par { seq { invoke p1(x = a.out)(); take; } seq { invoke p2(x = a.out)(); other; } } }",
        ],
        &expect![[r#"
            main: these statements: equal
        "#]],
    );
}

#[test]
fn what_is_bound_and_handed_on_is_looked_at() {
    let call = |bound: &str| format!("seq {{ invoke p3({bound})(); }}");
    said(
        ["", &call("x = a.out, z = b.out")],
        ["", &call("x = b.out, z = a.out")],
        &expect![[r#"
            main: these statements: open: something is invoked in it
        "#]],
    );
    let wires =
        |from: &str| format!("m.addr0 = 3'd0; m.write_data = {from}.out; m.write_en = 1'd1; {SET}");
    said(
        [&wires("a"), "set;"],
        [&wires("b"), "set;"],
        &expect![[r#"
            main: what wires give `m.addr0`: equal
            main: what wires give `m.write_data`: differs: it is 173, and 7 after the edit with `a.out` 173, `b.out` 7
            main: what wires give `m.write_en`: equal
        "#]],
    );
    let product = |of: &str| {
        format!(
            "group times {{ {of}.left = a.out; {of}.right = a.out; {of}.go = !{of}.done ? 1'd1; b.in = {of}.out; b.write_en = {of}.done; \
             times[done] = b.done; }}"
        )
    };
    said(
        [&product("f1"), "times;"],
        [&product("f2"), "times;"],
        &expect![[r#"
            main: the group `times`: open: nothing shows that they are the same, nor that they differ
        "#]],
    );
}

#[test]
fn outputs_that_groups_drive_are_looked_at() {
    let verdict = |sum: &str| {
        let both = [SUM, sum].map(|sum| with(sum, SET, "set;"));
        let found = pieces(&both[0], &both[1], RewriteKind::FixedLatency);
        found[0].verdict.clone()
    };
    expect![[r#"
        Open(
            "it drives outputs of the component otherwise",
        )
    "#]]
    .assert_debug_eq(&verdict(&SUM.replace("s.right = z", "s.right = x")));
    expect![[r#"
        Open(
            "`s` is another cell",
        )
    "#]]
    .assert_debug_eq(&verdict(&SUM.replace("std_sub(8)", "std_add(8)")));
}
