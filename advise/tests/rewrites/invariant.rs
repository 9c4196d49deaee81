//! Steps that may run before their loop: which, and where that is certain.

use expect_test::expect;
use petal_advise::{Certainty, RewriteKind};

use super::{apart, changed, of};

const IMPORTS: &str = "import \"primitives/binary_operators.futil\";\n";

const CELLS: &str = "@external m = comb_mem_d1(8, 8, 3); @external few = comb_mem_d1(8, 5, 3); a = std_reg(8); b = std_reg(8); c = std_reg(8); \
    i = std_reg(3); add = std_add(8); more = std_add(3); mul = std_mult_pipe(8); div = std_div_pipe(8); lt = std_lt(3); odd = std_slice(8, 1); low = std_slice(8, 3);";

const WIRES: &str = "group zero { i.in = 3'd0; i.write_en = 1'd1; zero[done] = i.done; }
group start { low.in = m.read_data; m.addr0 = 3'd0; i.in = low.out; i.write_en = 1'd1; start[done] = i.done; }
group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; next[done] = i.done; }
group b_1 { b.in = 8'd1; b.write_en = 1'd1; b_1[done] = b.done; }
group b_a { b.in = a.out; b.write_en = 1'd1; b_a[done] = b.done; }
group a_b { a.in = b.out; a.write_en = 1'd1; a_b[done] = a.done; }
group c_b { c.in = b.out; c.write_en = 1'd1; c_b[done] = c.done; }
group a_more { add.left = a.out; add.right = 8'd1; a.in = add.out; a.write_en = 1'd1; a_more[done] = a.done; }
group product { mul.left = b.out; mul.right = b.out; mul.go = !mul.done ? 1'd1; a.in = mul.out; a.write_en = mul.done; product[done] = a.done; }
group quotient { div.left = b.out; div.right = 8'd3; div.go = !div.done ? 1'd1; a.in = div.out_quotient; a.write_en = div.done; quotient[done] = a.done; }
group reach { few.addr0 = i.out; a.in = few.read_data; a.write_en = 1'd1; reach[done] = a.done; }
group put { m.addr0 = i.out; m.write_data = a.out; m.write_en = 1'd1; put[done] = m.done; }
group put_0 { m.addr0 = 3'd0; m.write_data = b.out; m.write_en = 1'd1; put_0[done] = m.done; }
group wait { odd.in = b.out; a.in = b.out; a.write_en = odd.out; wait[done] = a.done; }
group wait_b { odd.in = b.out; c.in = b.out; c.write_en = odd.out; wait_b[done] = c.done; }
group c_more { add.left = c.out; add.right = 8'd1; c.in = add.out; c.write_en = 1'd1; c_more[done] = c.done; }
comb group few_times { lt.left = i.out; lt.right = 3'd4; }
";

fn program(control: &str) -> String {
    super::program(IMPORTS, CELLS, WIRES, control)
}

/// The steps that may run before their loop, and whether that is proved.
fn found(control: &str) -> Vec<(String, bool)> {
    let (_, all) = of(&program(control), &apart());
    let all = all
        .into_iter()
        .filter(|rewrite| rewrite.kind == RewriteKind::LoopInvariant);
    let found = all.map(|rewrite| {
        let name = rewrite.what.split('`').nth(1).unwrap_or_default();
        (name.to_owned(), rewrite.certainty == Certainty::Proved)
    });
    found.collect()
}

#[test]
fn steps_that_find_and_leave_the_same_may_run_before_their_loop() {
    let body = |body: &str| format!("seq {{ zero; repeat 4 {{ seq {{ {body} next; }} }} c_b; }}");
    for (steps, expected) in [
        ("b_1; put;", &[("b_1", true)][..]),
        ("product; put;", &[("product", true)]),
        // What it reads is the same, unless something before it has to do with it.
        ("put; product;", &[]),
        ("b_1; product; put;", &[("b_1", true)]),
        ("product; b_a;", &[]),
        // It goes on from what it left.
        ("a_more; put;", &[]),
        // Nobody knows how long a division takes.
        ("quotient; put;", &[("quotient", false)]),
        // The word is another one each time.
        ("reach; put;", &[]),
        ("a_b; put;", &[("a_b", true)]),
        ("par { b_1; put; }", &[("b_1", true)]),
        // Two write one word.
        ("put_0; put;", &[]),
    ] {
        let found = found(&body(steps));
        let expected: Vec<(String, bool)> = expected
            .iter()
            .map(|(name, is_proved)| ((*name).to_owned(), *is_proved))
            .collect();
        assert_eq!(found, expected, "{steps}");
    }
}

#[test]
fn a_loop_that_may_not_run_leaves_no_trace_of_a_step() {
    let all = |control: &str| found(control);
    let proved = |name: &str, is_proved| vec![(name.to_owned(), is_proved)];
    let counted = "zero; while lt.out with few_times { seq { a_b; put; next; } }";
    let open = "while lt.out with few_times { seq { a_b; put; next; } }";
    assert_eq!(all(&format!("seq {{ {counted} }}")), proved("a_b", true));
    assert_eq!(
        all(&format!("seq {{ start; {open} }}")),
        proved("a_b", true)
    );
    // Somebody sees whether it ran.
    let seen = format!("seq {{ start; {open} b_a; }}");
    assert_eq!(all(&seen), proved("a_b", false));
    let seen = format!("seq {{ {counted} b_a; }}");
    assert_eq!(all(&seen), proved("a_b", true));
}

#[test]
fn what_may_stop_or_never_end_keeps_its_place() {
    let control =
        "seq { zero; repeat 4 { seq { while lt.out with few_times { next; } wait; next; } } }";
    assert_eq!(found(control), [("wait".to_owned(), false)]);
    // What is before it may never end, and then it is not reached.
    let (_, all) = of(
        &program("seq { zero; repeat 4 { seq { wait_b; reach; put; } } }"),
        &apart(),
    );
    let reach = all
        .iter()
        .find(|rewrite| rewrite.what.starts_with("run `reach` once"));
    let premise = &reach.expect("it may come first").premise;
    assert!(premise.contains("never end"), "{premise}");
}

#[test]
fn loops_do_not_become_free_to_run_at_once() {
    // The second one waits for the first, by what it does in each iteration alone.
    let control =
        "seq { zero; repeat 4 { seq { b_1; next; } } repeat 4 { seq { a_b; c_more; } } put_0; }";
    let (_, all) = of(&program(control), &apart());
    let step = all
        .iter()
        .find(|rewrite| rewrite.what.starts_with("run `a_b` once"));
    let premise = &step.expect("it may run before the loop").premise;
    assert!(premise.contains("state machine"), "{premise}");
}

#[test]
fn the_text_of_a_loop_keeps_its_layout() {
    let control = "  seq {
    zero;
    // Four words.
    repeat 4 {
      seq {
        product; // The same each time.
        put;
        next;
      }
    }
  }";
    let text = changed(&program(control), &apart(), "run `product` once");
    expect![[r#"
        +    product;
        -        product; // The same each time.
        +        // The same each time.
    "#]]
    .assert_eq(&text);
    // Where the loop is no step, it becomes one.
    let control = "seq { zero; par { repeat 4 { seq { product; put; next; } } b_1; } }";
    let text = changed(&program(control), &apart(), "run `product` once");
    expect![[r#"
        -seq { zero; par { repeat 4 { seq { product; put; next; } } b_1; } }
        +seq { zero; par { seq { product; repeat 4 { seq { put; next; } } } b_1; } }
    "#]]
    .assert_eq(&text);
}
