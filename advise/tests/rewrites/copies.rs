//! Copies of outputs: where nobody needs them, and where somebody does.

use expect_test::expect;
use petal_advise::{Observed, RewriteKind};

use super::{changed, component, of, sets};

const IMPORTS: &str = "import \"primitives/memories/seq.futil\";
import \"primitives/binary_operators.futil\";
";

const CELLS: &str = "@external s = seq_mem_d1(8, 8, 3); @external o = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); \
    c = std_reg(8); d = std_reg(8); at = std_slice(8, 3); mul = std_mult_pipe(8); eq = std_eq(8); flag = std_reg(1);";

/// Groups that take copies into `c`, and such as read it or use what is copied.
const WIRES: &str = r#"group load { at.in = a.out; s.addr0 = at.out; s.content_en = 1'd1; c.in = s.read_data; c.write_en = s.done; load[done] = c.done; }
group again { at.in = b.out; s.addr0 = at.out; s.content_en = 1'd1; d.in = s.read_data; d.write_en = s.done; again[done] = d.done; }
group put { at.in = a.out; s.addr0 = at.out; s.content_en = 1'd1; s.write_en = 1'd1; s.write_data = c.out; put[done] = s.done; }
group answer { o.addr0 = 3'd0; o.content_en = 1'd1; o.write_en = 1'd1; o.write_data = c.out; answer[done] = o.done; }
group twice { mul.left = c.out; mul.right = c.out; mul.go = !mul.done ? 1'd1; b.in = mul.out; b.write_en = mul.done; twice[done] = b.done; }
static<3> group late { mul.left = a.out; mul.right = b.out; mul.go = %[0:2] ? 1'd1; c.in = mul.out; c.write_en = %2 ? 1'd1; }
static<2> group look { at.in = b.out; s.addr0 = at.out; s.content_en = 1'd1; c.in = s.read_data; c.write_en = %1 ? 1'd1; }
static<2> group chase { at.in = s.read_data; s.addr0 = at.out; s.content_en = 1'd1; c.in = s.read_data; c.write_en = %1 ? 1'd1; }
comb group is_1 { eq.left = c.out; eq.right = 8'd1; }
"#;

/// A program of the groups that its control runs.
fn program(control: &str) -> String {
    let all = WIRES.to_owned() + &sets("b_c b_1 a_b c_1");
    let is_run = |line: &&str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "group");
        words.nth(1).is_some_and(|name| control.contains(name))
    };
    let wires: String = all.split_inclusive('\n').filter(is_run).collect();
    IMPORTS.to_owned() + &component("main() -> ()", CELLS, &wires, control)
}

#[test]
fn a_copy_is_followed_to_all_that_reads_it() {
    for (control, is_left_out) in [
        ("seq { load; b_c; answer; }", true),
        // Others may be read or written between.
        ("seq { load; a_b; twice; answer; }", true),
        ("seq { load; repeat 3 { seq { b_c; answer; } } }", true),
        (
            "seq { repeat 3 { seq { load; b_c; answer; put; } } answer; }",
            false,
        ),
        ("seq { repeat 3 { seq { load; b_c; answer; put; } } }", true),
        ("seq { load; if eq.out with is_1 { b_c; } answer; }", true),
        ("seq { load; par { b_c; answer; } }", true),
        ("seq { load; par { again; seq { b_1; a_b; } } }", true),
        // The only cycle of the last reader.
        ("seq { load; put; }", true),
        ("seq { load; put; b_c; }", false),
        // Before it is taken, or where it may not be taken.
        ("seq { b_c; load; answer; }", false),
        ("seq { if eq.out with is_1 { load; } b_c; }", false),
        ("seq { if flag.out { load; } else { b_1; } b_c; }", false),
        ("seq { if flag.out { load; } else { load; } b_c; }", true),
        // What is copied is read again, on one way at least.
        ("seq { load; again; b_c; }", false),
        (
            "seq { load; if flag.out { again; } else { b_1; } b_c; }",
            false,
        ),
        ("seq { load; repeat 3 { seq { b_c; again; } } }", false),
        ("seq { load; repeat 3 { seq { b_c; again; load; } } }", true),
        // Beside what reads.
        ("seq { load; par { again; b_c; } }", false),
        ("par { seq { load; b_c; } seq { b_1; again; } }", false),
        ("par { seq { load; b_c; } seq { b_1; answer; } }", false),
        // What is copied is read at an address of its own, so that it matters how often.
        ("seq { look; b_c; }", true),
        ("seq { chase; b_c; }", false),
        // The register has something else, too.
        ("seq { load; b_c; c_1; }", false),
    ] {
        let (_, all) = of(&program(control), &Observed::default());
        let mut copies = all
            .iter()
            .filter(|of| of.kind == RewriteKind::CopyPropagation);
        let found = copies.any(|of| of.what.contains("`c`"));
        assert_eq!(found, is_left_out, "{control}");
    }
}

#[test]
fn what_a_copy_leaves() {
    let text = changed(
        &program("seq { load; if eq.out with is_1 { b_c; } answer; }"),
        &Observed::default(),
        "its copy",
    );
    expect![[r#"
        -cells { @external s = seq_mem_d1(8, 8, 3); @external o = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); c = std_reg(8); d = std_reg(8); at = std_slice(8, 3); mul = std_mult_pipe(8); eq = std_eq(8); flag = std_reg(1); }
        +cells { @external s = seq_mem_d1(8, 8, 3); @external o = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); d = std_reg(8); at = std_slice(8, 3); mul = std_mult_pipe(8); eq = std_eq(8); flag = std_reg(1); }
        -group load { at.in = a.out; s.addr0 = at.out; s.content_en = 1'd1; c.in = s.read_data; c.write_en = s.done; load[done] = c.done; }
        -group answer { o.addr0 = 3'd0; o.content_en = 1'd1; o.write_en = 1'd1; o.write_data = c.out; answer[done] = o.done; }
        -comb group is_1 { eq.left = c.out; eq.right = 8'd1; }
        -group b_c { b.in = c.out; b.write_en = 1'd1; b_c[done] = b.done; }
        +group load { at.in = a.out; s.addr0 = at.out; s.content_en = 1'd1; load[done] = s.done; }
        +group answer { o.addr0 = 3'd0; o.content_en = 1'd1; o.write_en = 1'd1; o.write_data = s.read_data; answer[done] = o.done; }
        +comb group is_1 { eq.left = s.read_data; eq.right = 8'd1; }
        +group b_c { b.in = s.read_data; b.write_en = 1'd1; b_c[done] = b.done; }
    "#]].assert_eq(&text);
    let text = changed(
        &program("seq { late; b_c; }"),
        &Observed::default(),
        "its copy",
    );
    expect![[r#"
        -cells { @external s = seq_mem_d1(8, 8, 3); @external o = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); c = std_reg(8); d = std_reg(8); at = std_slice(8, 3); mul = std_mult_pipe(8); eq = std_eq(8); flag = std_reg(1); }
        +cells { @external s = seq_mem_d1(8, 8, 3); @external o = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); d = std_reg(8); at = std_slice(8, 3); mul = std_mult_pipe(8); eq = std_eq(8); flag = std_reg(1); }
        -static<3> group late { mul.left = a.out; mul.right = b.out; mul.go = %[0:2] ? 1'd1; c.in = mul.out; c.write_en = %2 ? 1'd1; }
        -group b_c { b.in = c.out; b.write_en = 1'd1; b_c[done] = b.done; }
        +static<2> group late { mul.left = a.out; mul.right = b.out; mul.go = %[0:2] ? 1'd1; }
        +group b_c { b.in = mul.out; b.write_en = 1'd1; b_c[done] = b.done; }
    "#]].assert_eq(&text);
}
