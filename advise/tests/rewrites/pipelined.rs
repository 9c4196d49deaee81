//! Loops of which iterations overlap: which, how often one starts, and where that is certain.

use expect_test::expect;
use petal_advise::{Certainty, Observed, RewriteKind};

use super::{apart, changed, of};

const IMPORTS: &str = "import \"primitives/memories/seq.futil\";
import \"primitives/binary_operators.futil\";
";

const CELLS: &str = "@external s = seq_mem_d1(8, 8, 3); @external few = seq_mem_d1(8, 5, 3); @external w = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); i = std_reg(3); \
    add = std_add(8); more = std_add(3); mul = std_mult_pipe(8); eq = std_eq(8); \
    sum = std_add(8); cut = std_slice(8, 3); again = std_slice(8, 3); lt = std_lt(3); wired = std_add(8); d = std_reg(8); \
    seen = std_add(8); and_more = std_add(8); less = std_sub(3); ahead = std_add(3); both = std_add(8);";

const WIRES: &str = "static<1> group load { s.addr0 = i.out; s.content_en = 1'd1; }
static<1> group reach { few.addr0 = i.out; few.content_en = 1'd1; a.in = few.read_data; a.write_en = 1'd1; }
static<2> group times { mul.left = s.read_data; mul.right = s.read_data; mul.go = 1'd1; }
static<2> group own { mul.left = b.out; mul.right = b.out; mul.go = 1'd1; }
static<1> group add_up { add.left = a.out; add.right = mul.out; a.in = add.out; a.write_en = 1'd1; }
static<1> group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; }
group step { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; step[done] = i.done; }
group slow { mul.left = b.out; mul.right = a.out; mul.go = !mul.done ? 1'd1; b.in = mul.out; b.write_en = mul.done; slow[done] = b.done; }
static<1> group zero { i.in = 3'd0; i.write_en = 1'd1; }
static<1> group b_1 { b.in = 8'd1; b.write_en = 1'd1; }
static<1> group read { cut.in = b.out; w.addr0 = cut.out; w.content_en = 1'd1; }
static<1> group add_word { again.in = b.out; w.addr0 = again.out; w.content_en = 1'd1; w.write_en = 1'd1; sum.left = w.read_data; sum.right = mul.out; w.write_data = sum.out; }
static<1> group read_at_i { w.addr0 = i.out; w.content_en = 1'd1; }
static<1> group add_word_at_i { w.addr0 = i.out; w.content_en = 1'd1; w.write_en = 1'd1; sum.left = w.read_data; sum.right = mul.out; w.write_data = sum.out; }
static<1> group copy { d.in = w.read_data; d.write_en = 1'd1; }
static<1> group keep { d.in = s.read_data; d.write_en = 1'd1; }
static<1> group perhaps { d.in = s.read_data; d.write_en = i.out == 3'd1 ? 1'd1; }
static<1> group b_2 { b.in = 8'd2; b.write_en = 1'd1; }
static<1> group add_b { add.left = b.out; add.right = 8'd1; b.in = add.out; b.write_en = 1'd1; }
static<1> group take_wired { d.in = wired.out; d.write_en = 1'd1; } wired.left = s.read_data; wired.right = 8'd1;
group word { s.addr0 = i.out; s.content_en = 1'd1; d.in = s.read_data; d.write_en = s.done; word[done] = d.done; }
static<2> group word_in_2 { s.addr0 = i.out; s.content_en = %0 ? 1'd1; d.in = s.read_data; d.write_en = %1 ? 1'd1; }
group word_sum { s.addr0 = i.out; s.content_en = 1'd1; add.left = s.read_data; add.right = a.out; d.in = add.out; d.write_en = s.done; word_sum[done] = d.done; }
group put { w.addr0 = i.out; w.content_en = 1'd1; w.write_en = 1'd1; add.left = d.out; add.right = b.out; w.write_data = add.out; put[done] = w.done; }
static<1> group add_seen { seen.left = b.out; seen.right = 8'd1; b.in = seen.out; b.write_en = 1'd1; } and_more.left = seen.out; and_more.right = 8'd1;
static<1> group add_to_a { seen.left = a.out; seen.right = 8'd1; a.in = seen.out; a.write_en = 1'd1; }
group before { less.left = i.out; less.right = 3'd1; s.addr0 = less.out; s.content_en = 1'd1; b.in = s.read_data; b.write_en = s.done; before[done] = b.done; }
group here { s.addr0 = i.out; s.content_en = 1'd1; d.in = s.read_data; d.write_en = s.done; here[done] = d.done; }
group behind { ahead.left = i.out; ahead.right = 3'd1; s.addr0 = ahead.out; s.content_en = 1'd1; a.in = s.read_data; a.write_en = s.done; behind[done] = a.done; }
static<1> group next_2 { more.left = i.out; more.right = 3'd2; i.in = more.out; i.write_en = 1'd1; }
static<1> group put_sum { w.addr0 = i.out; w.content_en = 1'd1; w.write_en = 1'd1; sum.left = both.out; sum.right = d.out; both.left = b.out; both.right = a.out; w.write_data = sum.out; }
static<1> group overwrite { s.addr0 = i.out; s.content_en = 1'd1; s.write_en = 1'd1; s.write_data = a.out; }
static<1> group see { w.addr0 = i.out; w.content_en = 1'd1; w.write_en = 1'd1; w.write_data = s.read_data; }
comb group is_less { lt.left = i.out; lt.right = 3'd5; }
comb group is_1 { eq.left = a.out; eq.right = 8'd1; }
";

const MULTIPLIES: &str = "in each cycle; multiply with a `pipelined_mult` instead of `mul`";

fn program(control: &str) -> String {
    super::program(IMPORTS, CELLS, WIRES, control)
}

/// What starts how often, and whether that is proved.
fn found(control: &str, observed: &Observed) -> Vec<(String, bool)> {
    let (_, all) = of(&program(control), observed);
    let overlapping = all
        .into_iter()
        .filter(|rewrite| rewrite.kind == RewriteKind::PipelinedLoop);
    let found = overlapping.map(|rewrite| {
        let every = rewrite
            .what
            .splitn(3, '`')
            .nth(2)
            .unwrap_or_default()
            .trim();
        let every = every.replace(", while the one before it goes on", "");
        let every = every.replace(", while those before it go on", "");
        (every, rewrite.certainty == Certainty::Proved)
    });
    found.collect()
}

#[test]
fn an_iteration_starts_as_soon_as_what_it_needs_is_there() {
    for (control, expected) in [
        (
            "seq { zero; repeat 4 { seq { load; times; add_up; next; } } }",
            &[MULTIPLIES, "every 2 cycles"][..],
        ),
        // One cycle each, static or not.
        (
            "seq { zero; repeat 4 { seq { load; times; step; add_up; } } }",
            &[MULTIPLIES, "every 2 cycles"],
        ),
        (
            "seq { zero; repeat 4 { seq { par { load; own; } add_up; next; } } }",
            &[
                MULTIPLIES,
                "every 2 cycles",
                "in each cycle; run `own` once before it",
            ],
        ),
        // What is the same in each iteration need not be in it.
        (
            "seq { zero; repeat 4 { seq { b_1; load; times; add_up; next; } } }",
            &[
                MULTIPLIES,
                "every 2 cycles",
                "in each cycle; run `b_1` once before it, multiply with a `pipelined_mult` instead of `mul`",
                "every 2 cycles, and run `b_1` once before it",
            ],
        ),
        // All of it waits for all else.
        ("seq { zero; repeat 4 { seq { reach; add_up; } } }", &[]),
        // How long a step takes is not fixed, or there are branches.
        ("seq { zero; repeat 4 { seq { load; slow; next; } } }", &[]),
        (
            "seq { zero; repeat 4 { seq { load; if eq.out with is_1 { b_1; } next; } } }",
            &[],
        ),
        // Too few times, and a step that is no loop.
        ("seq { zero; repeat 2 { seq { load; times; next; } } }", &[]),
        ("seq { zero; load; times; add_up; next; }", &[]),
    ] {
        let every = found(control, &apart()).into_iter();
        let every: Vec<String> = every.map(|(every, _)| every).collect();
        assert_eq!(every, expected, "{control}");
    }
}

#[test]
fn it_is_certain_where_cells_are_apart_and_the_loop_is_not_first() {
    let control = "seq { zero; repeat 4 { seq { load; times; add_up; next; } } }";
    let is_proved = |control: &str, observed: &Observed| {
        let all = found(control, observed);
        assert!(!all.is_empty(), "{control}");
        all.iter().all(|(_, is_proved)| *is_proved)
    };
    assert!(is_proved(control, &apart()));
    assert!(!is_proved(control, &Observed::default()));
    // What comes first is driven once more when all is done, then with an address out of bounds.
    let reaches = "repeat 4 { seq { reach; times; add_up; load; next; } }";
    assert!(is_proved(&format!("seq {{ zero; {reaches} }}"), &apart()));
    assert!(!is_proved(&format!("seq {{ {reaches} b_1; }}"), &apart()));
}

#[test]
fn the_text_of_a_loop_keeps_its_layout() {
    let control = "  seq {
    zero;
    repeat 4 { // Each word.
      seq {
        load; // The word.
        times;
        add_up;
        next;
      }
    }
  }";
    let text = changed(&program(control), &apart(), "every 2 cycles");
    expect![[r#"
        -static<1> group load { s.addr0 = i.out; s.content_en = 1'd1; }
        -static<2> group times { mul.left = s.read_data; mul.right = s.read_data; mul.go = 1'd1; }
        -static<1> group add_up { add.left = a.out; add.right = mul.out; a.in = add.out; a.write_en = 1'd1; }
        -static<1> group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; }
        +static<3> group load_to_next_begin {
        +  s.addr0 = %0 ? i.out;
        +  s.content_en = %0 ? 1'd1;
        +  more.left = %0 ? i.out;
        +  more.right = %0 ? 3'd1;
        +  i.in = %0 ? more.out;
        +  i.write_en = %0 ? 1'd1;
        +  mul.left = %[1:3] ? s.read_data;
        +  mul.right = %[1:3] ? s.read_data;
        +  mul.go = %[1:3] ? 1'd1;
        +  s.addr0 = %2 ? i.out;
        +  s.content_en = %2 ? 1'd1;
        +  more.left = %2 ? i.out;
        +  more.right = %2 ? 3'd1;
        +  i.in = %2 ? more.out;
        +  i.write_en = %2 ? 1'd1;
        +}
        +static<2> group load_to_next {
        +  s.addr0 = %1 ? i.out;
        +  s.content_en = %1 ? 1'd1;
        +  mul.left = s.read_data;
        +  mul.right = s.read_data;
        +  mul.go = 1'd1;
        +  add.left = %0 ? a.out;
        +  add.right = %0 ? mul.out;
        +  a.in = %0 ? add.out;
        +  a.write_en = %0 ? 1'd1;
        +  more.left = %1 ? i.out;
        +  more.right = %1 ? 3'd1;
        +  i.in = %1 ? more.out;
        +  i.write_en = %1 ? 1'd1;
        +}
        +static<3> group load_to_next_end {
        +  add.left = %0 ? a.out;
        +  add.right = %0 ? mul.out;
        +  a.in = %0 ? add.out;
        +  a.write_en = %0 ? 1'd1;
        +  mul.left = %[0:2] ? s.read_data;
        +  mul.right = %[0:2] ? s.read_data;
        +  mul.go = %[0:2] ? 1'd1;
        +  add.left = %2 ? a.out;
        +  add.right = %2 ? mul.out;
        +  a.in = %2 ? add.out;
        +  a.write_en = %2 ? 1'd1;
        +}
        -    repeat 4 { // Each word.
        -      seq {
        -        load; // The word.
        -        times;
        -        add_up;
        -        next;
        -      }
        -    }
        +    // Each word.
        +    // The word.
        +    load_to_next_begin;
        +    repeat 2 { load_to_next; }
        +    load_to_next_end;
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_loop_on_one_line_stays_on_it() {
    let control = "seq { zero; repeat 4 { seq { load; times; add_up; next; } } }";
    let text = changed(&program(control), &apart(), "every 2 cycles");
    let lines = text.split_once("+}\n").expect("a group ends").1;
    expect![[r#"
        +static<2> group load_to_next {
        +  s.addr0 = %1 ? i.out;
        +  s.content_en = %1 ? 1'd1;
        +  mul.left = s.read_data;
        +  mul.right = s.read_data;
        +  mul.go = 1'd1;
        +  add.left = %0 ? a.out;
        +  add.right = %0 ? mul.out;
        +  a.in = %0 ? add.out;
        +  a.write_en = %0 ? 1'd1;
        +  more.left = %1 ? i.out;
        +  more.right = %1 ? 3'd1;
        +  i.in = %1 ? more.out;
        +  i.write_en = %1 ? 1'd1;
        +}
        +static<3> group load_to_next_end {
        +  add.left = %0 ? a.out;
        +  add.right = %0 ? mul.out;
        +  a.in = %0 ? add.out;
        +  a.write_en = %0 ? 1'd1;
        +  mul.left = %[0:2] ? s.read_data;
        +  mul.right = %[0:2] ? s.read_data;
        +  mul.go = %[0:2] ? 1'd1;
        +  add.left = %2 ? a.out;
        +  add.right = %2 ? mul.out;
        +  a.in = %2 ? add.out;
        +  a.write_en = %2 ? 1'd1;
        +}
        -seq { zero; repeat 4 { seq { load; times; add_up; next; } } }
        +seq { zero; load_to_next_begin; repeat 2 { load_to_next; } load_to_next_end; }
    "#]]
    .assert_eq(lines);
}

#[test]
fn what_stands_in_the_way_of_an_iteration_in_each_cycle() {
    let each = |body: &str| {
        let control = format!("seq {{ zero; repeat 4 {{ seq {{ {body} }} }} }}");
        let (_, all) = of(&program(&control), &apart());
        let mut all = all.into_iter();
        // One after another is a schedule as others are.
        all.any(|rewrite| rewrite.what.contains("in each cycle, while those before"))
    };
    for (body, is_offered) in [
        ("load; next;", true),
        ("read; add_word; next;", true),
        // What is read of the word between the two is in the register.
        ("read; copy; add_word; next;", true),
        // It is read before the word is, or after it is written.
        ("copy; read; add_word; next;", false),
        ("read; add_word; copy; next;", false),
        // The address is another one in the next iteration, or when the word is written.
        ("read_at_i; add_word_at_i; next;", false),
        ("read; add_word_at_i; next;", false),
        // A third step has to do with the memory.
        ("read; add_word; read; next;", false),
        // The product is needed before it is there.
        ("add_up; times; load; next;", false),
        // Two steps write one register.
        ("load; b_1; b_2; next;", false),
        // Two have one adder, which wires look at or not.
        ("load; add_up; add_b; next;", true),
        ("load; add_to_a; add_seen; next;", false),
        // Wires hand on what steps write.
        ("load; take_wired; next;", false),
        // It may leave as it is what it gives a value to.
        ("load; perhaps; next;", false),
    ] {
        assert_eq!(each(body), is_offered, "{body}");
    }
}

#[test]
fn a_loop_becomes_a_group_in_which_each_step_runs_as_often() {
    let control = "  seq {
    zero;
    repeat 4 {
      seq {
        load;
        read; // The word.
        times;
        add_word;
        next;
      }
    }
  }";
    let text = changed(&program(control), &apart(), "in each cycle");
    expect![[r#"
        +import "primitives/pipelined.futil";
        -cells { @external s = seq_mem_d1(8, 8, 3); @external few = seq_mem_d1(8, 5, 3); @external w = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); i = std_reg(3); add = std_add(8); more = std_add(3); mul = std_mult_pipe(8); eq = std_eq(8); sum = std_add(8); cut = std_slice(8, 3); again = std_slice(8, 3); lt = std_lt(3); wired = std_add(8); d = std_reg(8); seen = std_add(8); and_more = std_add(8); less = std_sub(3); ahead = std_add(3); both = std_add(8); }
        +cells { @external s = seq_mem_d1(8, 8, 3); @external few = seq_mem_d1(8, 5, 3); @external w = seq_mem_d1(8, 8, 3); w_kept = std_reg(8); a = std_reg(8); b = std_reg(8); i = std_reg(3); add = std_add(8); more = std_add(3); mul = std_mult_pipe(8); mul_pipelined = pipelined_mult(8); eq = std_eq(8); sum = std_add(8); cut = std_slice(8, 3); again = std_slice(8, 3); lt = std_lt(3); wired = std_add(8); d = std_reg(8); seen = std_add(8); and_more = std_add(8); less = std_sub(3); ahead = std_add(3); both = std_add(8); }
        -static<1> group load { s.addr0 = i.out; s.content_en = 1'd1; }
        -static<2> group times { mul.left = s.read_data; mul.right = s.read_data; mul.go = 1'd1; }
        -static<1> group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; }
        +static<9> group load_to_next {
        +  s.addr0 = %[0:4] ? i.out;
        +  s.content_en = %[0:4] ? 1'd1;
        +  mul_pipelined.left = %[1:5] ? s.read_data;
        +  mul_pipelined.right = %[1:5] ? s.read_data;
        +  sum.left = %5 ? w.read_data;
        +  sum.left = %[6:9] ? w_kept.out;
        +  sum.right = %[5:9] ? mul_pipelined.out;
        +  w_kept.in = %[5:8] ? sum.out;
        +  w.write_data = %8 ? sum.out;
        +  w_kept.write_en = %[5:8] ? 1'd1;
        +  w.write_en = %8 ? 1'd1;
        +  more.left = %[0:4] ? i.out;
        +  more.right = %[0:4] ? 3'd1;
        +  i.in = %[0:4] ? more.out;
        +  i.write_en = %[0:4] ? 1'd1;
        +  cut.in = %4 ? b.out;
        +  w.addr0 = %4 ? cut.out;
        +  w.content_en = %4 ? 1'd1;
        +  again.in = %8 ? b.out;
        +  w.addr0 = %8 ? again.out;
        +  w.content_en = %8 ? 1'd1;
        +}
        -static<1> group read { cut.in = b.out; w.addr0 = cut.out; w.content_en = 1'd1; }
        -static<1> group add_word { again.in = b.out; w.addr0 = again.out; w.content_en = 1'd1; w.write_en = 1'd1; sum.left = w.read_data; sum.right = mul.out; w.write_data = sum.out; }
        -    repeat 4 {
        -      seq {
        -        load;
        -        read; // The word.
        -        times;
        -        add_word;
        -        next;
        -      }
        -    }
        +    // The word.
        +    load_to_next;
    "#]].assert_eq(&text);
    // A `while` that runs as often goes with its condition.
    let control = "seq { zero; while lt.out with is_less { seq { load; keep; next; } } }";
    let text = changed(&program(control), &apart(), "in each cycle");
    expect![[r#"
        -static<1> group load { s.addr0 = i.out; s.content_en = 1'd1; }
        -static<1> group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; }
        +static<6> group load_to_next {
        +  s.addr0 = %[0:5] ? i.out;
        +  s.content_en = %[0:5] ? 1'd1;
        +  d.in = %[1:6] ? s.read_data;
        +  d.write_en = %[1:6] ? 1'd1;
        +  more.left = %[0:5] ? i.out;
        +  more.right = %[0:5] ? 3'd1;
        +  i.in = %[0:5] ? more.out;
        +  i.write_en = %[0:5] ? 1'd1;
        +}
        -static<1> group keep { d.in = s.read_data; d.write_en = 1'd1; }
        -comb group is_less { lt.left = i.out; lt.right = 3'd5; }
        -seq { zero; while lt.out with is_less { seq { load; keep; next; } } }
        +seq { zero; load_to_next; }
    "#]].assert_eq(&text);
}

#[test]
fn a_group_that_reads_a_word_and_copies_it_is_two_steps() {
    for (control, expected) in [
        // The memory is free in the second cycle.
        (
            "seq { zero; repeat 4 { seq { word; put; next; } } }",
            &[
                "in each cycle",
                "every 2 cycles, and keep what `i` was for those that need it later",
            ][..],
        ),
        (
            "seq { zero; repeat 4 { seq { word_in_2; put; next; } } }",
            &[
                "in each cycle",
                "every 2 cycles, and keep what `i` was for those that need it later",
            ],
        ),
        // What goes into the register is more than the word.
        (
            "seq { zero; repeat 4 { seq { word_sum; put; next; } } }",
            &[],
        ),
        // Two words of one memory.
        (
            "seq { zero; repeat 4 { seq { word; put; load; keep; next; } } }",
            &["every 2 cycles, and keep what `i` was for those that need it later"],
        ),
    ] {
        let every = found(control, &apart()).into_iter();
        let every: Vec<String> = every.map(|(every, _)| every).collect();
        assert_eq!(every, expected, "{control}");
    }
    let control = "seq { zero; repeat 4 { seq { word; put; add_b; next; load; } } }";
    let text = changed(&program(control), &apart(), "every 2 cycles");
    let (_, text) = text.split_once('\n').expect("a line");
    expect![[r#"
        +cells { @external s = seq_mem_d1(8, 8, 3); @external few = seq_mem_d1(8, 5, 3); @external w = seq_mem_d1(8, 8, 3); a = std_reg(8); b = std_reg(8); b_delayed = std_reg(8); i = std_reg(3); i_delayed = std_reg(3); add = std_add(8); add_2 = std_add(8); more = std_add(3); mul = std_mult_pipe(8); eq = std_eq(8); sum = std_add(8); cut = std_slice(8, 3); again = std_slice(8, 3); lt = std_lt(3); wired = std_add(8); d = std_reg(8); seen = std_add(8); and_more = std_add(8); less = std_sub(3); ahead = std_add(3); both = std_add(8); }
        -static<1> group load { s.addr0 = i.out; s.content_en = 1'd1; }
        -static<1> group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; }
        -static<1> group add_b { add.left = b.out; add.right = 8'd1; b.in = add.out; b.write_en = 1'd1; }
        -group word { s.addr0 = i.out; s.content_en = 1'd1; d.in = s.read_data; d.write_en = s.done; word[done] = d.done; }
        -group put { w.addr0 = i.out; w.content_en = 1'd1; w.write_en = 1'd1; add.left = d.out; add.right = b.out; w.write_data = add.out; put[done] = w.done; }
        +static<2> group word_to_load_begin {
        +  s.addr0 = %0 ? i.out;
        +  s.content_en = %0 ? 1'd1;
        +  add_2.left = %0 ? b.out;
        +  add_2.right = %0 ? 8'd1;
        +  b.in = %0 ? add_2.out;
        +  b.write_en = %0 ? 1'd1;
        +  b_delayed.in = %0 ? b.out;
        +  b_delayed.write_en = %0 ? 1'd1;
        +  more.left = %0 ? i.out;
        +  more.right = %0 ? 3'd1;
        +  i.in = %0 ? more.out;
        +  i.write_en = %0 ? 1'd1;
        +  i_delayed.in = %0 ? i.out;
        +  i_delayed.write_en = %0 ? 1'd1;
        +  d.in = %1 ? s.read_data;
        +  d.write_en = %1 ? 1'd1;
        +  s.addr0 = %1 ? i.out;
        +  s.content_en = %1 ? 1'd1;
        +static<2> group word_to_load {
        +  s.addr0 = %0 ? i.out;
        +  s.content_en = %0 ? 1'd1;
        +  d.in = %1 ? s.read_data;
        +  d.write_en = %1 ? 1'd1;
        +  w.addr0 = %0 ? i_delayed.out;
        +  w.content_en = %0 ? 1'd1;
        +  w.write_en = %0 ? 1'd1;
        +  add.left = %0 ? d.out;
        +  add.right = %0 ? b_delayed.out;
        +  w.write_data = %0 ? add.out;
        +  add_2.left = %0 ? b.out;
        +  add_2.right = %0 ? 8'd1;
        +  b.in = %0 ? add_2.out;
        +  b.write_en = %0 ? 1'd1;
        +  b_delayed.in = %0 ? b.out;
        +  b_delayed.write_en = %0 ? 1'd1;
        +  more.left = %0 ? i.out;
        +  more.right = %0 ? 3'd1;
        +  i.in = %0 ? more.out;
        +  i.write_en = %0 ? 1'd1;
        +  i_delayed.in = %0 ? i.out;
        +  i_delayed.write_en = %0 ? 1'd1;
        +  s.addr0 = %1 ? i.out;
        +  s.content_en = %1 ? 1'd1;
        +}
        +static<1> group word_to_load_end {
        +  w.addr0 = i_delayed.out;
        +  w.content_en = 1'd1;
        +  w.write_en = 1'd1;
        +  add.left = d.out;
        +  add.right = b_delayed.out;
        +  w.write_data = add.out;
        +}
        +}
        -seq { zero; repeat 4 { seq { word; put; add_b; next; load; } } }
        +seq { zero; word_to_load_begin; repeat 3 { word_to_load; } word_to_load_end; }
    "#]].assert_eq(text);
}

#[test]
fn a_word_that_the_iteration_before_has_read_is_in_its_register() {
    let taken = |body: &str| {
        let every = found(
            &format!("seq {{ zero; repeat 4 {{ seq {{ {body} }} }} }}"),
            &apart(),
        );
        let mut taken: Vec<String> = every
            .into_iter()
            .filter_map(|(every, _)| {
                let (_, taken) = every.split_once("take what ")?;
                Some(taken.split_once(" of the iteration")?.0.to_owned())
            })
            .collect();
        taken.sort();
        taken.dedup();
        taken
    };
    let one = "`d` gets from `a`";
    let both = "`b` and `d` get from `d` and `a`";
    for (body, expected) in [
        ("before; here; behind; put_sum; next;", &[both][..]),
        ("here; behind; put_sum; next;", &[one]),
        // What the first iteration reads is not there before the loop, or it is another word.
        ("next; here; behind; put_sum;", &[]),
        ("here; next; behind; put_sum;", &[]),
        // It goes on by another step.
        ("here; behind; put_sum; next_2;", &[]),
        ("before; behind; put_sum; next_2;", &["`b` gets from `a`"]),
        // The register is read, or another one, before the new word is in it.
        ("put_sum; here; behind; next;", &[]),
        // The memory is written.
        ("here; behind; overwrite; put_sum; next;", &[]),
        // Somebody else looks at what was read.
        ("here; see; behind; put_sum; next;", &[]),
        ("see; here; behind; put_sum; next;", &[]),
        ("here; behind; see; next;", &[one]),
    ] {
        assert_eq!(taken(body), expected, "{body}");
    }
    let control = "seq { zero; repeat 4 { seq { here; behind; put_sum; next; } } }";
    let text = changed(&program(control), &apart(), "take what");
    let (_, text) = text.split_once("\n+static").expect("a group");
    expect![[r#"
        <2> group here_to_next_first {
        +  s.addr0 = %0 ? i.out;
        +  s.content_en = %0 ? 1'd1;
        +  a.in = %1 ? s.read_data;
        +  a.write_en = %1 ? 1'd1;
        +}
        +static<6> group here_to_next {
        +  d.in = %[1:5] ? a.out;
        +  d.write_en = %[1:5] ? 1'd1;
        +  ahead.left = %[0:4] ? i.out;
        +  ahead.right = %[0:4] ? 3'd1;
        +  s.addr0 = %[0:4] ? ahead.out;
        +  s.content_en = %[0:4] ? 1'd1;
        +  a.in = %[1:5] ? s.read_data;
        +  a.write_en = %[1:5] ? 1'd1;
        +  w.addr0 = %[2:6] ? i_delayed_2.out;
        +  w.content_en = %[2:6] ? 1'd1;
        +  w.write_en = %[2:6] ? 1'd1;
        +  sum.left = %[2:6] ? both.out;
        +  sum.right = %[2:6] ? d.out;
        +  both.left = %[2:6] ? b.out;
        +  both.right = %[2:6] ? a.out;
        +  w.write_data = %[2:6] ? sum.out;
        +  more.left = %[0:4] ? i.out;
        +  more.right = %[0:4] ? 3'd1;
        +  i.in = %[0:4] ? more.out;
        +  i.write_en = %[0:4] ? 1'd1;
        +  i_delayed.in = %[0:4] ? i.out;
        +  i_delayed.write_en = %[0:4] ? 1'd1;
        +  i_delayed_2.in = %[1:5] ? i_delayed.out;
        +  i_delayed_2.write_en = %[1:5] ? 1'd1;
        +}
        -seq { zero; repeat 4 { seq { here; behind; put_sum; next; } } }
        +seq { zero; here_to_next_first; here_to_next; }
    "#]]
    .assert_eq(text);
}

#[test]
fn logic_of_different_steps_is_no_circle() {
    let cells = "@external s = seq_mem_d1(8, 8, 3); @external w = seq_mem_d1(8, 8, 3); i = std_reg(3); more = std_add(3); add = std_add(8); sub = std_sub(8);";
    let wires = "static<1> group load { s.addr0 = i.out; s.content_en = 1'd1; }
static<1> group put { add.left = s.read_data; add.right = 8'd3; sub.left = add.out; sub.right = 8'd1; w.addr0 = i.out; w.content_en = 1'd1; w.write_en = 1'd1; w.write_data = sub.out; }
static<1> group put_last { sub.left = s.read_data; sub.right = 8'd5; add.left = sub.out; add.right = 8'd7; w.addr0 = 3'd7; w.content_en = 1'd1; w.write_en = 1'd1; w.write_data = add.out; }
static<1> group next { more.left = i.out; more.right = 3'd1; i.in = more.out; i.write_en = 1'd1; }
";
    let control = "seq { repeat 6 { seq { load; put; put_last; next; } } }";
    let program = super::program(IMPORTS, cells, wires, control);
    let text = changed(&program, &apart(), "every 2 cycles");
    assert!(text.contains("+  add_2.left = %0 ? sub_2.out;"), "{text}");
}

#[test]
fn names_of_new_cells_are_new_in_verilog_too() {
    let taken = CELLS.replace("seen =", "i_delayed_clk = std_wire(1); w_kept_reset = std_wire(1); mul_pipelined_reset = std_wire(1); seen =");
    let text = |control: &str, what: &str| {
        changed(
            &super::program(IMPORTS, &taken, WIRES, control),
            &apart(),
            what,
        )
    };
    let delayed = text(
        "seq { zero; repeat 4 { seq { here; behind; put_sum; next; } } }",
        "that need it later",
    );
    assert!(delayed.contains(" i_delayed_2 = std_reg(3);"), "{delayed}");
    let kept = text(
        "seq { zero; repeat 4 { seq { load; read; times; add_word; next; } } }",
        "in each cycle",
    );
    assert!(kept.contains(" w_kept_2 = std_reg(8);"), "{kept}");
    assert!(
        kept.contains(" mul_pipelined_2 = pipelined_mult(8);"),
        "{kept}"
    );
}

#[test]
fn comments_of_a_condition_stay() {
    let control = "seq { zero; while lt.out with is_less { seq { load; keep; next; } } }";
    let source = program(control).replace(
        "is_less { lt.left",
        "is_less {\n  // So many words.\n  lt.left",
    );
    let text = changed(&source, &apart(), "in each cycle");
    let mut new = text.lines().filter(|line| line.starts_with('+'));
    assert!(new.any(|line| line.contains("// So many words.")), "{text}");
    assert!(text.contains("-comb group is_less"), "{text}");
}

#[test]
fn products_of_one_group_tell_no_time() {
    let is_proved = |group: &str, more: &str| {
        let wires = format!(
            "static<7> group all {{ {group} }} {more}\nstatic<1> group zero {{ i.in = 3'd0; i.write_en = 1'd1; }}\n\
             static<1> group b_1 {{ b.in = 8'd1; b.write_en = 1'd1; }}\n"
        );
        let imports = format!("{IMPORTS}import \"primitives/pipelined.futil\";\n");
        let cells = format!("{CELLS} row = pipelined_mult(8);");
        let (_, all) = of(
            &super::program(&imports, &cells, &wires, "seq { zero; b_1; all; }"),
            &apart(),
        );
        let mut all = all.into_iter();
        all.any(|rewrite| {
            let is_chain = rewrite.kind == RewriteKind::OperationChaining;
            rewrite.certainty == Certainty::Proved
                && (is_chain || rewrite.what.starts_with("run `zero`"))
        })
    };
    let fed = "row.left = %[0:3] ? b.out; row.right = %[0:3] ? b.out;";
    let taken = "a.in = %[4:7] ? row.out; a.write_en = %[4:7] ? 1'd1;";
    assert!(is_proved(&format!("{fed} {taken}"), ""));
    // A cycle too early, or too late.
    for (given, read) in [("%[0:3]", "%[3:7]"), ("%[0:2]", "%[4:7]")] {
        let fed = fed.replace("%[0:3]", given);
        let taken = taken.replace("%[4:7]", read);
        assert!(!is_proved(&format!("{fed} {taken}"), ""), "{given} {read}");
    }
    // Nobody knows when, or somebody else looks.
    assert!(!is_proved(
        &format!("{fed} a.in = row.out; a.write_en = %[4:7] ? 1'd1;"),
        ""
    ));
    assert!(!is_proved(
        &format!("{fed} {taken}"),
        "wired.left = row.out; wired.right = 8'd1;"
    ));
}
