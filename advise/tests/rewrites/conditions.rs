//! Edits of conditions: which become continuous, and which have to stay.

use expect_test::expect;
use petal_advise::Observed;

use super::{
    CELLS, IS_1, apart, changed, check, check_with, component, main, render, render_of, sets,
};

#[test]
fn conditions() {
    let wires = sets("a_1 b_1") + IS_1;
    check(
        "",
        &wires,
        "seq { a_1; if eq.out with is_1 { b_1; } }",
        &expect![[r#"
            proved: make the comb group `is_1` continuous: nothing else drives or reads the cells of the condition, and every register that it reads is written by groups that are done after that
        "#]],
    );
}

#[test]
fn conditions_of_cells_that_others_drive() {
    // As a `ref` cell of another component.
    let p = (
        "ref lt = std_eq(8);",
        "group run { lt.left = x; a.in = 8'd1; a.write_en = lt.out; run[done] = a.done; }\n",
        "run;",
    );
    let wires = sets("b_1") + IS_1;
    let control = "seq { invoke p[lt = eq](x = 8'd1)(); if eq.out with is_1 { b_1; } }";
    check_with(
        p,
        ("", &wires, control),
        &expect![[r#"
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
            checked: make the comb group `is_1` continuous, with a copy of `eq`: an invoke hands over a cell that the compiler may make one with another, since it does not see that the invoke uses it
        "#]],
    );
    // As an output of another component.
    let p = ("", &*sets("a_1"), "a_1;");
    let control = "seq { invoke p(x = 8'd1)(out = eq.left); if eq.out with is_1 { b_1; } }";
    check_with(
        p,
        ("", &wires, control),
        &expect![[r#"
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
            checked: make the comb group `is_1` continuous, with a copy of `eq`: something may be read that nothing drives then, and what that gives depends on how it is compiled
        "#]],
    );
}

#[test]
fn conditions_with_copies() {
    // Another condition and a group use the comparison, too.
    let also = "comb group is_3 { eq.left = a.out; eq.right = 8'd3; }
        group note { eq.left = b.out; eq.right = 8'd7; c.in = eq.out ? 8'd1; c.write_en = 1'd1; note[done] = c.done; }\n";
    let wires = sets("a_1 b_1") + IS_1 + also;
    let control = "seq { a_1; note; while eq.out with is_1 { a_1; } if eq.out with is_3 { b_1; } }";
    check(
        "",
        &wires,
        control,
        &expect![[r#"
            checked: make the comb group `is_1` continuous, with a copy of `eq`: something may be read that nothing drives then, and what that gives depends on how it is compiled
            checked: make the comb group `is_3` continuous, with a copy of `eq`: something may be read that nothing drives then, and what that gives depends on how it is compiled
            checked: run `a_1` and `note` at once, in a `par`: something may be read that nothing drives then, and what that gives depends on how it is compiled
            checked: make one group of `a_1` and `note`: something may be read that nothing drives then, and what that gives depends on how it is compiled
        "#]],
    );
    let source = main("", &wires, control);
    let changed = changed(&source, &Observed::default(), "`is_1` continuous");
    expect![[r#"
        -    eq = std_eq(8); other = std_eq(8);  }
        +    eq = std_eq(8); eq_for_is_1 = std_eq(8); other = std_eq(8);  }
        -comb group is_1 { eq.left = a.out; eq.right = 8'd1; }
        +eq_for_is_1.left = a.out; eq_for_is_1.right = 8'd1;
        -seq { a_1; note; while eq.out with is_1 { a_1; } if eq.out with is_3 { b_1; } }
        +seq { a_1; note; while eq_for_is_1.out { a_1; } if eq.out with is_3 { b_1; } }
    "#]]
    .assert_eq(&changed);
}

#[test]
fn conditions_on_what_two_groups_load() {
    // In a static program `s.done` may still be high from the load before: then `b` gets a word too early, and the right one a cycle later.
    let load = "group load { s.addr0 = 1'd1; s.content_en = 1'd1; b.in = s.read_data; b.write_en = s.done; load[done] = b.done; }\n\
        group first { s.addr0 = 1'd0; s.content_en = 1'd1; c.in = s.read_data; c.write_en = s.done; first[done] = c.done; }\n";
    let logic = "eq.left = b.out; eq.right = 8'd1;\n";
    let loads = |more: &str, wires: &str, control: &str| {
        let cells = format!("@external s = seq_mem_d1(8, 2, 1); {more} {CELLS}");
        let wires = sets("a_1") + load + logic + wires;
        let imports = "import \"primitives/memories/seq.futil\";\n";
        render(&(imports.to_owned() + &component("main() -> (out: 1)", &cells, &wires, control)))
    };
    // Only control sees the comparison, or somebody else, too.
    expect![[r#"
        proved: read `s.read_data` itself, and leave out its copy in the register `c`: `s.read_data` stays what the register gets until all that reads it has
    "#]].assert_eq(&loads("", "", "seq { first; load; if eq.out { a_1; } }"));
    let sees = "group sees { s.addr0 = 1'd0; s.content_en = 1'd1; b.in = s.read_data; b.write_en = s.done; d.in = eq.out ? 8'd1; d.write_en = s.done; sees[done] = b.done; }\n";
    let others = [
        // A group that waits for the same.
        ("", sees, "seq { first; load; sees; if eq.out { a_1; } }"),
        // Whoever runs the component.
        (
            "",
            "out = eq.out;\n",
            "seq { first; load; if eq.out { a_1; } }",
        ),
        // Another register, in each cycle.
        (
            "flag = std_reg(1);",
            "flag.in = eq.out; flag.write_en = 1'd1;\n",
            "seq { first; load; if eq.out { a_1; } }",
        ),
    ];
    let doubted = expect![[r#"
        checked: read `s.read_data` itself, and leave out its copy in the register `c`: results may depend on how long something takes, for what runs beside it or by itself
    "#]];
    for (more, wires, control) in others {
        doubted.assert_eq(&loads(more, wires, control));
    }
}

#[test]
fn conditions_beside_what_two_groups_load_into_what_was_handed_over() {
    let part = component(
        "part() -> ()",
        "ref s = seq_mem_d1(8, 2, 1); ref b = std_reg(8); ref c = std_reg(8); a = std_reg(8); eq = std_eq(8); lt = std_lt(8);",
        "group load { s.addr0 = 1'd1; s.content_en = 1'd1; b.in = s.read_data; b.write_en = s.done; load[done] = b.done; }
        group first { s.addr0 = 1'd0; s.content_en = 1'd1; c.in = s.read_data; c.write_en = s.done; first[done] = c.done; }
        group a_1 { a.in = 8'd1; a.write_en = 1'd1; a_1[done] = a.done; }
        group b_1 { b.in = 8'd1; b.write_en = 1'd1; b_1[done] = b.done; }
        comb group less { lt.left = a.out; lt.right = 8'd4; }
        eq.left = b.out; eq.right = 8'd1;",
        "seq { first; load; if eq.out { a_1; } if lt.out with less { b_1; } }",
    );
    let main = component(
        "main() -> ()",
        "@external m = seq_mem_d1(8, 2, 1); @external x = std_reg(8); @external y = std_reg(8); p = part();",
        "",
        "invoke p[s = m, b = x, c = y]()();",
    );
    let imports = "import \"primitives/memories/seq.futil\";\n";
    expect![[r#"
        proved: make the comb group `less` continuous: nothing else drives or reads the cells of the condition, and every register that it reads is written by groups that are done after that
        proved: make the cell `p` a part of `main`: `@inline`: it is always invoked alike, is given nothing but cells, and all cells keep their hardware
    "#]].assert_eq(&render_of(&format!("{imports}{part}{main}"), &apart()));
}

#[test]
fn conditions_that_have_to_stay() {
    // A memory has one address.
    let wires = sets("a_1")
        + "comb group of_m { m.addr0 = 1'd0; eq.left = m.read_data; eq.right = 8'd1; }
        group load { m.addr0 = 1'd1; b.in = m.read_data; b.write_en = 1'd1; load[done] = b.done; }\n";
    check(
        "m = comb_mem_d1(8, 2, 1);",
        &wires,
        "seq { load; if eq.out with of_m { a_1; } }",
        &expect![""],
    );
    // What something writes without an address goes to the first word.
    let wires = sets("a_1")
        + "comb group of_m { m.addr0 = 1'd1; eq.left = m.read_data; eq.right = 8'd1; }
        group fill { m.write_data = 8'd5; m.write_en = 1'd1; b.in = 8'd1; b.write_en = 1'd1; fill[done] = b.done; }\n";
    check(
        "m = comb_mem_d1(8, 2, 1);",
        &wires,
        "seq { fill; if eq.out with of_m { a_1; } }",
        &expect![""],
    );
    // What a group computes is something else when it is over, through a wire as well.
    let sum = "group sum { add.left = b.out; add.right = 8'd1; b.in = add.out; b.write_en = 1'd1; sum[done] = b.done; }\n";
    let of_sum = "comb group of_sum { eq.left = add.out; eq.right = 8'd1; }\n";
    let control = "seq { sum; if eq.out with of_sum { a_1; } }";
    check("", &(sets("a_1") + sum + of_sum), control, &expect![""]);
    let of_wire = "w.in = add.out;\ncomb group of_sum { eq.left = w.out; eq.right = 8'd1; }\n";
    check(
        "w = std_wire(8);",
        &(sets("a_1") + sum + of_wire),
        control,
        &expect![""],
    );
    // The condition is not of the cell that the comb group drives.
    let wires = sets("a_1") + IS_1 + sum;
    check(
        "less = std_lt(8);",
        &(wires
            + "group test { less.left = a.out; b.in = less.out ? 8'd1; b.write_en = 1'd1; test[done] = b.done; }\n"),
        "seq { sum; test; if less.out with is_1 { a_1; } }",
        &expect![""],
    );
    // An input of a copy that continuous assignments drive.
    let wires = sets("a_1 b_1")
        + "eq.right = 8'd1;\ncomb group left { eq.left = a.out; }
        group note { eq.left = b.out; c.in = eq.out ? 8'd1; c.write_en = 1'd1; note[done] = c.done; }\n";
    check(
        "",
        &wires,
        "seq { a_1; note; if eq.out with left { b_1; } }",
        &expect![[r#"
            checked: run `a_1` and `note` at once, in a `par`: something may be read that nothing drives then, and what that gives depends on how it is compiled
            checked: make one group of `a_1` and `note`: something may be read that nothing drives then, and what that gives depends on how it is compiled
        "#]],
    );
}

#[test]
fn conditions_that_change_with_what_runs() {
    // A group drives what the condition is computed from, itself, or by the input of a component.
    let wires = sets("a_1 b_1")
        + "group test { eq.left = a.out; eq.right = 8'd1; c.in = 8'd1; c.write_en = 1'd1; test[done] = c.done; }\n";
    check(
        "",
        &wires,
        "while eq.out { seq { a_1; test; b_1; } }",
        &expect![[r#"
            checked: run `a_1` to `test` and `b_1` at once, in a `par`: a condition may change with what runs while it is looked at
            checked: make one group of `a_1`, `test` and `b_1`, which reads what goes into registers: a condition may change with what runs while it is looked at
            checked: run `test` and `b_1` at once, in a `par`: a condition may change with what runs while it is looked at
            checked: make one group of `test` and `b_1`: a condition may change with what runs while it is looked at
        "#]],
    );
    let p = ("", "add.left = x; add.right = a.out; out = add.out;\n", "");
    let wires = sets("a_1 b_1") + "eq.left = p.out; eq.right = 8'd1;\n";
    check_with(
        p,
        (
            "",
            &wires,
            "while eq.out { seq { a_1; invoke p(x = b.out)(); b_1; } }",
        ),
        &expect![[r#"
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
            checked: run `a_1` and `invoke p` to `b_1` at once, in a `par`: a condition may change with what runs while it is looked at
            checked: run `a_1` and `invoke p` at once, in a `par`: a condition may change with what runs while it is looked at
        "#]],
    );
    // The output of this one is a register.
    let p = ("", &*(sets("a_x") + "out = a.out;\n"), "a_x;");
    check_with(
        p,
        (
            "",
            &wires,
            "while eq.out { seq { a_1; invoke p(x = b.out)(); b_1; } }",
        ),
        &expect![[r#"
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
            proved: run `a_1` and `invoke p` to `b_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: run `a_1` and `invoke p` at once, in a `par`: none of them writes what another one reads or writes
        "#]],
    );
}
