//! Groups of one cycle that become one although one needs what another one does: where that is the same, and where it isn't.

use expect_test::expect;
use petal_advise::{Observed, RewriteKind};

use super::{changed, component, of};

const IMPORTS: &str = "import \"primitives/memories/seq.futil\";
import \"primitives/binary_operators.futil\";
";

const CELLS: &str = "@external s = seq_mem_d1(8, 8, 3); @external m = comb_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); \
    c = std_reg(8); d = std_reg(8); flag = std_reg(1); at = std_slice(8, 3); to = std_slice(8, 3); add = std_add(8); \
    other = std_add(8); eq = std_eq(8); wired = std_not(8);";

const WIRES: &str = "wired.in = b.out;
group b_a { b.in = a.out; b.write_en = 1'd1; b_a[done] = b.done; }
group b_5 { b.in = 8'd5; b.write_en = 1'd1; b_5[done] = b.done; }
group b_add { add.left = a.out; add.right = 8'd1; b.in = add.out; b.write_en = 1'd1; b_add[done] = b.done; }
group b_two { b.in = flag.out ? a.out; b.in = !flag.out ? d.out; b.write_en = 1'd1; b_two[done] = b.done; }
group a_b { a.in = b.out; a.write_en = 1'd1; a_b[done] = a.done; }
group a_d { a.in = d.out; a.write_en = 1'd1; a_d[done] = a.done; }
group c_b { c.in = b.out; c.write_en = 1'd1; c_b[done] = c.done; }
group c_add { add.left = b.out; add.right = 8'd1; c.in = add.out; c.write_en = 1'd1; c_add[done] = c.done; }
group c_other { other.left = b.out; other.right = b.out; c.in = other.out; c.write_en = 1'd1; c_other[done] = c.done; }
group c_wired { c.in = wired.out; c.write_en = 1'd1; c_wired[done] = c.done; }
group c_both { other.left = b.out; other.right = wired.out; c.in = other.out; c.write_en = 1'd1; c_both[done] = c.done; }
group c_flag { c.in = flag.out ? b.out; c.in = !flag.out ? d.out; c.write_en = 1'd1; c_flag[done] = c.done; }
group flag_eq { eq.left = b.out; eq.right = 8'd1; flag.in = eq.out; flag.write_en = 1'd1; flag_eq[done] = flag.done; }
group flag_1 { flag.in = 1'd1; flag.write_en = 1'd1; flag_1[done] = flag.done; }
group ask { at.in = b.out; s.addr0 = at.out; s.content_en = 1'd1; ask[done] = s.done; }
group take { c.in = s.read_data; c.write_en = 1'd1; take[done] = c.done; }
group look { at.in = a.out; m.addr0 = at.out; b.in = m.read_data; b.write_en = 1'd1; look[done] = b.done; }
group put { at.in = a.out; m.addr0 = at.out; m.write_data = b.out; m.write_en = 1'd1; put[done] = m.done; }
group put_to { to.in = a.out; m.addr0 = to.out; m.write_data = b.out; m.write_en = 1'd1; put_to[done] = m.done; }
";

/// A program of the groups that its control runs.
fn program(control: &str) -> String {
    let words: Vec<&str> = control.split([' ', ';']).collect();
    let is_run = |line: &&str| {
        let name = line
            .strip_prefix("group ")
            .and_then(|line| line.split(' ').next());
        name.is_none_or(|name| words.contains(&name))
    };
    let wires: String = WIRES.split_inclusive('\n').filter(is_run).collect();
    IMPORTS.to_owned() + &component("main() -> ()", CELLS, &wires, control)
}

#[test]
fn a_row_goes_as_far_as_its_groups_can_be_one() {
    for (control, groups) in [
        ("seq { b_a; c_b; }", "`b_a` and `c_b`"),
        ("seq { b_add; c_b; }", "`b_add` and `c_b`"),
        ("seq { b_5; c_other; }", "`b_5` and `c_other`"),
        // Through several registers, and what was there before.
        ("seq { b_a; c_b; a_d; }", "`b_a`, `c_b` and `a_d`"),
        ("seq { a_b; b_5; c_b; }", "`a_b`, `b_5` and `c_b`"),
        ("seq { c_b; b_a; }", "`c_b` and `b_a`"),
        ("seq { flag_eq; c_flag; }", "`flag_eq` and `c_flag`"),
        (
            "seq { b_a; flag_eq; c_flag; }",
            "`b_a`, `flag_eq` and `c_flag`",
        ),
        // Each group once.
        ("seq { b_a; c_b; b_a; }", "`b_a` and `c_b`; `c_b` and `b_a`"),
        // A guard takes no number.
        ("seq { flag_1; c_flag; }", ""),
        // What a register has when something decides about it, or what goes into it.
        ("seq { b_two; c_b; }", ""),
        ("seq { c_b; b_two; }", "`c_b` and `b_two`"),
        // Both need a cell, for different things.
        ("seq { b_add; c_add; }", ""),
        // Of what two write into one register, the last stays.
        ("seq { b_a; b_5; c_b; }", "`b_a`, `b_5` and `c_b`"),
        ("seq { b_a; b_two; }", ""),
        ("seq { b_two; b_a; }", ""),
        // Wires read what has not been written then.
        ("seq { b_a; c_wired; }", ""),
        ("seq { b_a; c_both; }", ""),
        ("seq { c_wired; b_a; }", "`c_wired` and `b_a`"),
        // A sequential memory gives its word in the next cycle.
        ("seq { b_a; ask; }", "`b_a` and `ask`"),
        ("seq { ask; take; }", ""),
        ("seq { take; ask; }", "`take` and `ask`"),
        // A combinational memory is read and written at one address, by one cell.
        ("seq { look; put; }", "`look` and `put`"),
        ("seq { look; put_to; }", ""),
        ("seq { put; look; }", ""),
    ] {
        let (_, all) = of(&program(control), &Observed::default());
        let chains = all
            .iter()
            .filter(|of| of.kind == RewriteKind::OperationChaining);
        let found: Vec<&str> = chains
            .map(|of| of.what.trim_start_matches("make one group of "))
            .map(|what| what.trim_end_matches(", which reads what goes into registers"))
            .collect();
        assert_eq!(found.join("; "), groups, "{control}");
    }
}

#[test]
fn what_goes_into_a_register_is_read() {
    let lines = changed(
        &program("seq { b_add; c_other; flag_eq; a_d; }"),
        &Observed::default(),
        "reads what goes into registers",
    );
    expect![[r#"
        -group b_add { add.left = a.out; add.right = 8'd1; b.in = add.out; b.write_en = 1'd1; b_add[done] = b.done; }
        -group a_d { a.in = d.out; a.write_en = 1'd1; a_d[done] = a.done; }
        -group c_other { other.left = b.out; other.right = b.out; c.in = other.out; c.write_en = 1'd1; c_other[done] = c.done; }
        -group flag_eq { eq.left = b.out; eq.right = 8'd1; flag.in = eq.out; flag.write_en = 1'd1; flag_eq[done] = flag.done; }
        +group b_add_to_a_d {
        +  add.left = a.out; add.right = 8'd1; b.in = add.out; b.write_en = 1'd1;
        +  other.left = add.out; other.right = add.out; c.in = other.out; c.write_en = 1'd1;
        +  eq.left = add.out; eq.right = 8'd1; flag.in = eq.out; flag.write_en = 1'd1;
        +  a.in = d.out; a.write_en = 1'd1; b_add_to_a_d[done] = a.done;
        +}
        -seq { b_add; c_other; flag_eq; a_d; }
        +seq { b_add_to_a_d; }
    "#]].assert_eq(&lines);
    let lines = changed(
        &program("seq { b_a; b_5; c_b; }"),
        &Observed::default(),
        "reads what goes into registers",
    );
    expect![[r#"
        -group b_a { b.in = a.out; b.write_en = 1'd1; b_a[done] = b.done; }
        -group b_5 { b.in = 8'd5; b.write_en = 1'd1; b_5[done] = b.done; }
        -group c_b { c.in = b.out; c.write_en = 1'd1; c_b[done] = c.done; }
        +group b_a_to_c_b {
        +  b.in = 8'd5; b.write_en = 1'd1;
        +  c.in = 8'd5; c.write_en = 1'd1; b_a_to_c_b[done] = c.done;
        +}
        -seq { b_a; b_5; c_b; }
        +seq { b_a_to_c_b; }
    "#]]
    .assert_eq(&lines);
    let lines = changed(
        &program("seq { look; put; }"),
        &Observed::default(),
        "reads what goes into registers",
    );
    expect![[r#"
        -group look { at.in = a.out; m.addr0 = at.out; b.in = m.read_data; b.write_en = 1'd1; look[done] = b.done; }
        -group put { at.in = a.out; m.addr0 = at.out; m.write_data = b.out; m.write_en = 1'd1; put[done] = m.done; }
        +group look_and_put {
        +  b.in = m.read_data; b.write_en = 1'd1;
        +  at.in = a.out; m.addr0 = at.out; m.write_data = m.read_data; m.write_en = 1'd1; look_and_put[done] = m.done;
        +}
        -seq { look; put; }
        +seq { look_and_put; }
    "#]].assert_eq(&lines);
}

#[test]
fn what_is_left_out_may_stand_side_by_side() {
    let wires = "group b_a {
  b.in = a.out; b.write_en = 1'd1;
  b_a[done] = b.done;
}
group b_5 { b.in = 8'd5; b.write_en = 1'd1; b_5[done] = b.done; }
";
    let program =
        IMPORTS.to_owned() + &component("main() -> ()", CELLS, wires, "seq { b_a; b_5; }");
    let lines = changed(
        &program,
        &Observed::default(),
        "reads what goes into registers",
    );
    expect![[r#"
        -group b_a {
        -  b.in = a.out; b.write_en = 1'd1;
        -  b_a[done] = b.done;
        +group b_a_and_b_5 {
        +  b.in = 8'd5; b.write_en = 1'd1; b_a_and_b_5[done] = b.done;
        -group b_5 { b.in = 8'd5; b.write_en = 1'd1; b_5[done] = b.done; }
        -seq { b_a; b_5; }
        +seq { b_a_and_b_5; }
    "#]]
    .assert_eq(&lines);
}
