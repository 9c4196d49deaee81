//! Edits of groups and cells: groups that are merged or static, cells that are inlined or kept apart.

use expect_test::expect;
use petal_advise::{Certainty, Observed, RewriteKind};

use super::{CELLS, changed, check, check_with, component, main, of, render, render_of, sets};

#[test]
fn groups_to_merge() {
    let wires = sets("a_1 b_1 c_1");
    check(
        "",
        &wires,
        "seq { a_1; b_1; c_1; b_1; }",
        &expect![[r#"
            proved: run `a_1` and `b_1` to `b_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: run `a_1` and `b_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `a_1` and `b_1`: each takes one cycle, and none of them writes what another one reads or writes
            proved: run `a_1`, `b_1` and `c_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: run `a_1` to `b_1` and `c_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `a_1`, `b_1` and `c_1`: each takes one cycle, and none of them writes what another one reads or writes
            proved: run `b_1` and `c_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `b_1` and `c_1`: each takes one cycle, and none of them writes what another one reads or writes
            proved: run `c_1` and `b_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `c_1` and `b_1`: each takes one cycle, and none of them writes what another one reads or writes
        "#]],
    );
    let source = main("", &wires, "seq { a_1; b_1; c_1; b_1; }");
    let row = changed(
        &source,
        &Observed::default(),
        "one group of `a_1`, `b_1` and `c_1`",
    );
    expect![[r#"
        -group a_1 { a.in = 8'd1; a.write_en = 1'd1; a_1[done] = a.done; }
        +group a_1_to_c_1 {
        +  a.in = 8'd1; a.write_en = 1'd1;
        +  b.in = 8'd1; b.write_en = 1'd1;
        +  c.in = 8'd1; c.write_en = 1'd1; a_1_to_c_1[done] = c.done;
        +}
        -group c_1 { c.in = 8'd1; c.write_en = 1'd1; c_1[done] = c.done; }
        -seq { a_1; b_1; c_1; b_1; }
        +seq { a_1_to_c_1; b_1; }
    "#]]
    .assert_eq(&row);
    let source = main(
        "",
        &wires,
        "seq {\n  par {\n    a_1; // one\n    b_1;\n  }\n  c_1;\n}",
    );
    let whole = changed(
        &source,
        &Observed::default(),
        "one group of `a_1` and `b_1`",
    );
    expect![[r#"
        -group a_1 { a.in = 8'd1; a.write_en = 1'd1; a_1[done] = a.done; }
        -group b_1 { b.in = 8'd1; b.write_en = 1'd1; b_1[done] = b.done; }
        +group a_1_and_b_1 {
        +  a.in = 8'd1; a.write_en = 1'd1;
        +  b.in = 8'd1; b.write_en = 1'd1; a_1_and_b_1[done] = b.done;
        +}
        -  par {
        -    a_1; // one
        -    b_1;
        -  }
        +  a_1_and_b_1; // one
    "#]]
    .assert_eq(&whole);
}

#[test]
fn groups_that_stay_apart() {
    // One takes longer, or may; one is done at once; one starts only when something else is done.
    for group in [
        "group g { mul.left = a.out; mul.right = a.out; mul.go = !mul.done ? 1'd1; c.in = mul.out; c.write_en = mul.done; g[done] = c.done; }\n",
        "group g { c.in = 8'd1; c.write_en = eq.out ? 1'd1; eq.left = d.out; eq.right = 8'd1; g[done] = c.done; }\n",
        "group g { c.in = 8'd1; c.write_en = !c.done ? 1'd1; g[done] = c.done; }\n",
        "group g { c.in = 8'd1; c.write_en = 1'd1; g[done] = 1'd1; }\n",
        "group g { c.in = 8'd1; c.write_en = 1'd1; g[done] = a.done ? c.done; }\n",
        "group g { c.in = 8'd1; c.write_en = 1'd1; d.in = 8'd1; d.write_en = c.done; g[done] = d.done; }\n",
        "group h { c.in = 8'd1; c.write_en = 1'd1; h[done] = c.done; } group g { h[go] = 1'd1; g[done] = h[done]; }\n",
    ] {
        let source = "import \"primitives/binary_operators.futil\";\n".to_owned()
            + &main(
                "mul = std_mult_pipe(8);",
                &(sets("b_1") + group),
                "seq { b_1; g; }",
            );
        let found = of(&source, &Observed::default()).1;
        let merged = found
            .iter()
            .find(|rewrite| rewrite.what.starts_with("make one group"));
        assert!(merged.is_none(), "{group}: {merged:?}");
    }
    // Both drive an adder, one reads what the other writes, or both write one register, by two names perhaps.
    let sum = |name: &str, to: &str| {
        format!(
            "group {name} {{ add.left = {to}.out; add.right = 8'd1; {to}.in = add.out; {to}.write_en = 1'd1; {name}[done] = {to}.done; }}\n"
        )
    };
    let wires = sum("one", "a") + &sum("two", "b");
    check("", &wires, "seq { one; two; }", &expect![""]);
    check(
        "",
        &sets("a_1 b_a"),
        "seq { a_1; b_a; }",
        &expect![[r#"
        proved: make one group of `a_1` and `b_a`, which reads what goes into registers: each takes one cycle, and what a register will have is what goes into it
    "#]],
    );
    check(
        "",
        &sets("a_1 a_b"),
        "seq { a_1; a_b; }",
        &expect![[r#"
        proved: make one group of `a_1` and `a_b`, which reads what goes into registers: each takes one cycle, and what a register will have is what goes into it
    "#]],
    );
    let refs = sets("p_1 q_1");
    let p = (
        "ref p = std_reg(8); ref q = std_reg(8);",
        &*refs,
        "seq { p_1; q_1; }",
    );
    check_with(
        p,
        ("", "", "invoke p[p = c, q = c](x = 8'd1)();"),
        &expect![[r#"
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
        "#]],
    );
    // The `done` of a `ref` cell would end a component that is a single group, and with it the call that hands the cell over.
    let refs = sets("p_1 a_1");
    let p = ("ref p = std_reg(8);", &*refs, "seq { seq { p_1; a_1; } }");
    check_with(
        p,
        ("", "", "invoke p[p = c](x = 8'd1)();"),
        &expect![[r#"
        checked: run `p_1` and `a_1` at once, in a `par`: an invoke hands over a cell that the compiler may make one with another, since it does not see that the invoke uses it
        checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
    "#]],
    );
    // A continuous assignment carries what one writes to what the other reads.
    let wires = sets("a_1")
        + "w.in = a.out;\ngroup late { b.in = w.out; b.write_en = 1'd1; late[done] = b.done; }\n";
    check(
        "w = std_wire(8);",
        &wires,
        "seq { a_1; late; }",
        &expect![""],
    );
    // Another arm of a `par` looks on.
    check(
        "",
        &sets("a_1 b_1 c_a"),
        "par { seq { a_1; b_1; } c_a; }",
        &expect![[r#"
            checked: run `a_1` and `b_1` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `a_1` and `b_1`: results may depend on how long something takes, for what runs beside it or by itself
        "#]],
    );
}

fn seen(latencies: &[(&str, u64)], shared: &[&str]) -> Observed {
    let of = |name: &str| ("main".to_owned(), name.to_owned());
    Observed {
        latencies: latencies
            .iter()
            .map(|(name, cycles)| (of(name), *cycles))
            .collect(),
        shared: shared.iter().map(|name| of(name)).collect(),
        ..Observed::default()
    }
}

#[test]
fn static_groups() {
    let late = "group late { c.in = 8'd1; c.write_en = !c.done ? 1'd1; late[done] = c.done; }\n";
    let own = "group own { d.in = 8'd1; d.write_en = !own[done] ? 1'd1; own[done] = d.done; }\n";
    let wires = sets("a_1") + late + own;
    let source = main("", &wires, "seq { a_1; late; own; }");
    let observed = seen(&[("a_1", 1), ("late", 1), ("own", 1)], &[]);
    expect![[r#"
        checked: say that the group `a_1` always takes 1 cycle: `"promotable"=1`: results may depend on how long something takes, for what runs beside it or by itself
        checked: make the group `a_1` static: `static<1> group`: results may depend on how long something takes, for what runs beside it or by itself
        checked: make the groups `a_1` and `late` static: results may depend on how long something takes, for what runs beside it or by itself
        checked: say that the group `late` always takes 1 cycle: `"promotable"=1`: results may depend on how long something takes, for what runs beside it or by itself
        checked: make the group `late` static: `static<1> group`: results may depend on how long something takes, for what runs beside it or by itself
        checked: say that the group `own` always takes 1 cycle: `"promotable"=1`: it took 1 cycle each time that it ran, with these data
        checked: run `a_1`, `late` and `own` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
        checked: run `a_1` and `late` to `own` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
        checked: run `a_1` to `late` and `own` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
        checked: run `a_1` and `late` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
        checked: run `late` and `own` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
    "#]].assert_eq(&render_of(&source, &observed));
    let changed = changed(&source, &observed, "`a_1` static");
    expect![[r#"
        -group a_1 { a.in = 8'd1; a.write_en = 1'd1; a_1[done] = a.done; }
        +static<1> group a_1 { a.in = 8'd1; a.write_en = 1'd1; }
    "#]]
    .assert_eq(&changed);
    // Something else waits for it.
    let wires = sets("a_1") + "group outer { a_1[go] = 1'd1; outer[done] = a_1[done]; }\n";
    let source = main("", &wires, "outer;");
    expect![[r#"
        checked: say that the group `a_1` always takes 1 cycle: `"promotable"=1`: it took 1 cycle each time that it ran, with these data
    "#]].assert_eq(&render_of(&source, &seen(&[("a_1", 1)], &[])));
}

#[test]
fn cells_that_share_on() {
    // What a component gives may change with what it is given, and with the slice the compiler would not see that.
    let p = component(
        "p(x: 8) -> (out: 8)",
        CELLS,
        &(sets("a_x") + "out = a.out;\n"),
        "a_x;",
    );
    let wires = "group of_p { p.x = a.out; p.go = !p.done ? 1'd1; b.in = p.out; b.write_en = p.done; of_p[done] = b.done; }\n";
    let source = p + &main("p = p();", wires, "of_p;");
    let text = render_of(&source, &seen(&[], &["p"]));
    assert!(!text.contains("apart:"), "{text}");
}

#[test]
fn cells_kept_apart() {
    let wires = sets("a_1 b_a c_a");
    let control = "seq { a_1; b_a; c_a; }";
    let source = main("", &wires, control);
    let observed = seen(&[], &["a", "d"]);
    let text = render_of(&source, &observed);
    let about: Vec<&str> = text.lines().filter(|line| line.contains("apart")).collect();
    expect!["proved: keep the cell `a` apart: read it through the slice `a_apart`: a slice of all bits gives what it gets"].assert_eq(&about.join("\n"));
    expect![[r#"
        -cells { a = std_reg(8); b = std_reg(8); c = std_reg(8); d = std_reg(8); add = std_add(8);
        +cells { a = std_reg(8); a_apart = std_slice(8, 8); b = std_reg(8); c = std_reg(8); d = std_reg(8); add = std_add(8);
        +a_apart.in = a.out;
        -group b_a { b.in = a.out; b.write_en = 1'd1; b_a[done] = b.done; }
        +group b_a { b.in = a_apart.out; b.write_en = 1'd1; b_a[done] = b.done; }
    "#]].assert_eq(&changed(&source, &observed, "`a` apart"));
}

#[test]
fn cells_invoked_in_several_ways() {
    let p = component("p(x: 8) -> ()", "ref r = std_reg(8);", &sets("r_x"), "r_x;");
    let control = "seq { invoke p[r = a](x = 8'd1)(); invoke p[r = b](x = 8'd2)(); invoke p[r = a]( x = 8'd1 )(); }";
    let wires = sets("a_1");
    let source = p + &main("p = p();", &wires, control);
    expect![[r#"
        -    eq = std_eq(8); other = std_eq(8); p = p(); }
        +    eq = std_eq(8); other = std_eq(8); @inline p = p(); @inline p_2 = p(); }
        -seq { invoke p[r = a](x = 8'd1)(); invoke p[r = b](x = 8'd2)(); invoke p[r = a]( x = 8'd1 )(); }
        +seq { invoke p[r = a](x = 8'd1)(); invoke p_2[r = b](x = 8'd2)(); invoke p[r = a]( x = 8'd1 )(); }
    "#]].assert_eq(&changed(&source, &Observed::default(), "make the cell `p`"));
    // Whose output is it that the group reads?
    let p = component(
        "p(x: 8) -> (out: 8)",
        CELLS,
        &(sets("a_x") + "out = a.out;\n"),
        "a_x;",
    );
    let wires = "group of_p { b.in = p.out; b.write_en = 1'd1; of_p[done] = b.done; }\n";
    let control = "seq { invoke p(x = 8'd1)(); of_p; invoke p(x = 8'd2)(); of_p; }";
    let source = p + &main("p = p();", wires, control);
    expect![""].assert_eq(&render(&source));
}

#[test]
fn comments_in_statements() {
    let control =
        "seq { /* 1 */ @promotable(1) a_1 /* } */ ; b_1 // 2\n; seq /* ( */ { c_1; d_1; } }";
    let source = main("", &sets("a_1 b_1 c_1 d_1"), control);
    let (_, found) = of(&source, &Observed::default());
    let mut found = found.iter();
    let first = found
        .find(|of| of.kind == RewriteKind::ParallelSteps)
        .unwrap();
    expect!["run `a_1`, `b_1` and `seq` at once, in a `par`"].assert_eq(&first.what);
}

#[test]
fn cells_that_the_compiler_joined() {
    let source = main("", &sets("a_1 b_1"), "seq { a_1; b_1; }");
    let mut observed = Observed::default();
    let is_proved = |observed: &Observed| {
        let (_, found) = of(&source, observed);
        assert!(!found.is_empty());
        found
            .iter()
            .any(|rewrite| rewrite.certainty == Certainty::Proved)
    };
    assert!(is_proved(&observed));
    observed.joined.insert("main".to_owned());
    assert!(!is_proved(&observed));
}

/// How many ways to run steps of `main` at once are proved, and how many there are.
fn proved_at_once(source: &str) -> (usize, usize) {
    let (_, found) = of(source, &Observed::default());
    let found = found.iter().filter(|rewrite| {
        rewrite.component == "main" && rewrite.kind == RewriteKind::ParallelSteps
    });
    let proved = found
        .clone()
        .filter(|rewrite| rewrite.certainty == Certainty::Proved);
    (proved.count(), found.count())
}

#[test]
fn addresses_when_all_is_done() {
    let proved = |address: &str, control: &str| {
        let wires = format!(
            "lt.left = a.out; lt.right = 8'd3;
            group read {{ t.addr0 = {address}; b.in = t.read_data; b.write_en = 1'd1; read[done] = b.done; }}
            group next {{ i.in = 2'd3; i.write_en = 1'd1; next[done] = i.done; }}
            {}",
            sets("b_1 c_1 d_1")
        );
        let cells =
            "@external t = comb_mem_d1(8, 3, 2); i = std_reg(2); k = std_reg(2); lt = std_lt(8);";
        proved_at_once(&main(cells, &wires, control))
    };
    assert_eq!(proved("i.out", "seq { read; c_1; next; d_1; }"), (0, 6));
    // What need not wait for what comes first may come first, too.
    assert_eq!(proved("i.out", "seq { c_1; read; d_1; next; }"), (0, 6));
    // What does not come first may be what comes first with the edit.
    assert_eq!(proved("i.out", "seq { b_1; read; d_1; next; }"), (2, 3));
    // Nobody writes it.
    assert_eq!(proved("k.out", "seq { read; c_1; next; d_1; }"), (7, 7));
    // Nothing that loops is static.
    let control = "seq { read; c_1; while lt.out { next; } d_1; }";
    assert_eq!(proved("i.out", control), (6, 6));
}

#[test]
fn cells_that_keep_something() {
    let proved = |wires: &str, group: &str| {
        let wires = format!(
            "out = r.out; add.right = x; {wires}
            group up {{ {group} r.in = add.out; r.write_en = 1'd1; up[done] = r.done; }}\n"
        );
        let cells = "r = std_reg(8); add = std_add(8);";
        let sum = component("sum(x: 8) -> (out: 8)", cells, &wires, "up;");
        let control = "seq { invoke p(x = a.out)(); invoke q(x = a.out)(); b_1; }";
        let main = main("p = sum(); q = sum();", &sets("b_1"), control);
        proved_at_once(&(sum + &main))
    };
    assert_eq!(proved("add.left = r.out;", ""), (0, 5));
    // The compiler sees what groups read.
    assert_eq!(proved("", "add.left = r.out;"), (5, 5));
    assert_eq!(proved("add.left = x;", ""), (5, 5));
}

const PRODUCTS: &str = "import \"primitives/binary_operators.futil\";\n";

/// Wires with a group that multiplies.
fn multiplies(head: &str, factor: &str) -> String {
    format!(
        "group {head} {{
      mul.left = a.out;
      mul.right = {factor};
      mul.go = !mul.done ? 1'd1;
      b.in = mul.out;
      b.write_en = mul.done;
      multiply[done] = b.done;
    }}
"
    )
}

#[test]
fn groups_that_wait_for_a_multiplier() {
    let cells = &format!("{CELLS} mul = std_mult_pipe(8);");
    let source = |wires: &str| {
        PRODUCTS.to_owned() + &component("main() -> ()", cells, wires, "seq { multiply; c_b; }")
    };
    let observed = Observed::default();
    let wires = multiplies("multiply", "8'd3") + &sets("c_b");
    let text = changed(&source(&wires), &observed, "`multiply` and `c_b` static");
    expect![[r#"
        -group multiply {
        +static<3> group multiply {
        -      mul.go = !mul.done ? 1'd1;
        +      mul.go = %[0:2] ? 1'd1;
        -      b.write_en = mul.done;
        -      multiply[done] = b.done;
        +      b.write_en = %2 ? 1'd1;
        -group c_b { c.in = b.out; c.write_en = 1'd1; c_b[done] = c.done; }
        +static<1> group c_b { c.in = b.out; c.write_en = 1'd1; }
    "#]]
    .assert_eq(&text);
    // As many cycles as the multiplier declares are one too many.
    let wires = multiplies("multiply<\"promotable\"=4, \"pos\"={1}>", "8'd3") + &sets("c_b");
    let text = changed(&source(&wires), &observed, "`multiply` and `c_b` static");
    expect![[r#"
        -group multiply<"promotable"=4, "pos"={1}> {
        +static<3> group multiply<"pos"={1}> {
        -      mul.go = !mul.done ? 1'd1;
        +      mul.go = %[0:2] ? 1'd1;
        -      b.write_en = mul.done;
        -      multiply[done] = b.done;
        +      b.write_en = %2 ? 1'd1;
        -group c_b { c.in = b.out; c.write_en = 1'd1; c_b[done] = c.done; }
        +static<1> group c_b { c.in = b.out; c.write_en = 1'd1; }
    "#]]
    .assert_eq(&text);
    let wires = multiplies("multiply", "8'd32") + &sets("c_b");
    let text = changed(&source(&wires), &observed, "shift");
    expect![[r#"
        -    eq = std_eq(8); other = std_eq(8); mul = std_mult_pipe(8); }
        +    eq = std_eq(8); other = std_eq(8); mul = std_mult_pipe(8); multiply_shift = std_lsh(8); }
        -      mul.left = a.out;
        -      mul.right = 8'd32;
        -      mul.go = !mul.done ? 1'd1;
        -      b.in = mul.out;
        -      b.write_en = mul.done;
        +      multiply_shift.left = a.out;
        +      multiply_shift.right = 8'd5;
        +      b.in = multiply_shift.out;
        +      b.write_en = 1'd1;
    "#]].assert_eq(&text);
}

#[test]
fn groups_that_wait_for_a_divider() {
    let cells = &format!("{CELLS} mul = std_div_pipe(8);");
    let source = |wires: &str| {
        PRODUCTS.to_owned() + &component("main() -> ()", cells, wires, "seq { multiply; c_b; }")
    };
    let observed = Observed::default();
    let divides = |gives: &str, by: &str| {
        multiplies("multiply", by).replace("mul.out", &format!("mul.{gives}")) + &sets("c_b")
    };
    let text = changed(
        &source(&divides("out_quotient", "8'd32")),
        &observed,
        "divide by 32",
    );
    expect![[r#"
        -    eq = std_eq(8); other = std_eq(8); mul = std_div_pipe(8); }
        +    eq = std_eq(8); other = std_eq(8); mul = std_div_pipe(8); multiply_shift = std_rsh(8); }
        -      mul.left = a.out;
        -      mul.right = 8'd32;
        -      mul.go = !mul.done ? 1'd1;
        -      b.in = mul.out_quotient;
        -      b.write_en = mul.done;
        +      multiply_shift.left = a.out;
        +      multiply_shift.right = 8'd5;
        +      b.in = multiply_shift.out;
        +      b.write_en = 1'd1;
    "#]].assert_eq(&text);
    let text = changed(
        &source(&divides("out_remainder", "8'd32")),
        &observed,
        "low 5 bits",
    );
    expect![[r#"
        -    eq = std_eq(8); other = std_eq(8); mul = std_div_pipe(8); }
        +    eq = std_eq(8); other = std_eq(8); mul = std_div_pipe(8); multiply_low = std_and(8); }
        -      mul.left = a.out;
        -      mul.right = 8'd32;
        -      mul.go = !mul.done ? 1'd1;
        -      b.in = mul.out_remainder;
        -      b.write_en = mul.done;
        +      multiply_low.left = a.out;
        +      multiply_low.right = 8'd31;
        +      b.in = multiply_low.out;
        +      b.write_en = 1'd1;
    "#]]
    .assert_eq(&text);
    // Another divisor, the other way round, one that goes on, and one that somebody looks at later.
    let by_other = divides("out_quotient", "8'd33");
    let turned = divides("out_quotient", "8'd32").replace("mul.left = a.out", "mul.left = 8'd4");
    let turned = turned.replace("mul.right = 8'd32", "mul.right = a.out");
    let goes_on = divides("out_quotient", "8'd32").replace("!mul.done ? ", "");
    let looked_at =
        divides("out_quotient", "8'd32").replace("c.in = b.out", "c.in = mul.out_remainder");
    for wires in [by_other, turned, goes_on, looked_at] {
        let (_, rewrites) = of(&source(&wires), &observed);
        let mut kinds = rewrites.iter().map(|rewrite| rewrite.kind);
        assert!(!kinds.any(|kind| kind == RewriteKind::Shift), "{wires}");
    }
}

#[test]
fn latencies_that_are_not_certain() {
    let cells = &format!("{CELLS} mul = std_mult_pipe(8);");
    let with = |wires: &str, control: &str| {
        let source = PRODUCTS.to_owned() + &component("main() -> ()", cells, wires, control);
        render_of(&source, &seen(&[("multiply", 3)], &[]))
    };
    let multiply = multiplies("multiply", "8'd3");
    // Said to take what it does not: nothing is certain of the program any more.
    let other = multiplies("multiply<\"promotable\"=2>", "8'd3") + &sets("c_b");
    expect![[r#"
        checked: make the group `multiply` static: `static<3> group`: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
        checked: read `mul.out` itself, and leave out its copy in the register `b`: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
        checked: make the groups `multiply` and `c_b` static: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
        checked: make the group `c_b` static: `static<1> group`: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
    "#]].assert_eq(&with(&other, "seq { multiply; c_b; }"));
    // The multiplier is started anew in a cycle too many, and nothing rests between.
    let again = multiplies("multiply<\"promotable\"=4>", "8'd3") + &sets("c_b");
    expect![[r#"
        checked: make the group `multiply` static: `static<3> group`: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
        checked: make the groups `multiply` and `c_b` static: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
        checked: make the group `c_b` static: `static<1> group`: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
    "#]].assert_eq(&with(&again, "seq { c_b; multiply; multiply; }"));
    // It goes on when the group is done.
    let goes_on = multiply.replace("!mul.done ? ", "") + &sets("c_b");
    expect![[r#"
        checked: say that the group `multiply` always takes 3 cycles: `"promotable"=3`: it took 3 cycles each time that it ran, with these data
        checked: make the group `multiply` static: `static<3> group`: some group of the program may be done before all that it writes is written
        checked: read `mul.out` itself, and leave out its copy in the register `b`: some group of the program may be done before all that it writes is written
        checked: make the groups `multiply` and `c_b` static: some group of the program may be done before all that it writes is written
        checked: make the group `c_b` static: `static<1> group`: some group of the program may be done before all that it writes is written
    "#]].assert_eq(&with(&goes_on, "seq { multiply; c_b; }"));
}
