//! Loops of which iterations overlap: which, how often one starts, and where that is certain.

use expect_test::expect;
use petal_advise::{Certainty, Observed, RewriteKind};

use super::{apart, changed, of};

const IMPORTS: &str = "import \"primitives/memories/seq.futil\";
import \"primitives/binary_operators.futil\";
";

const CELLS: &str = "@external s = seq_mem_d1(8, 8, 3); @external few = seq_mem_d1(8, 5, 3); a = std_reg(8); b = std_reg(8); i = std_reg(3); \
    add = std_add(8); more = std_add(3); mul = std_mult_pipe(8); eq = std_eq(8);";

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
comb group is_1 { eq.left = a.out; eq.right = 8'd1; }
";

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
        let every = rewrite.what.split("`repeat` ").nth(1).unwrap_or_default();
        let every = every.replace(", while the one before it goes on", "");
        (every, rewrite.certainty == Certainty::Proved)
    });
    found.collect()
}

#[test]
fn an_iteration_starts_as_soon_as_what_it_needs_is_there() {
    for (control, expected) in [
        (
            "seq { zero; repeat 4 { seq { load; times; add_up; next; } } }",
            &["every 2 cycles"][..],
        ),
        // One cycle each, static or not.
        (
            "seq { zero; repeat 4 { seq { load; times; step; add_up; } } }",
            &["every 2 cycles"],
        ),
        (
            "seq { zero; repeat 4 { seq { par { load; own; } add_up; next; } } }",
            &["every 2 cycles"],
        ),
        // What is the same in each iteration need not be in it.
        (
            "seq { zero; repeat 4 { seq { b_1; load; times; add_up; next; } } }",
            &[
                "every 2 cycles",
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
        -    repeat 4 { // Each word.
        +    load; next; times; load; next;
        +    repeat 2 { // Each word.
        -        load; // The word.
        -        times;
        -        add_up;
        -        next;
        +        load_to_next; // The word.
        +    add_up; times; add_up;
    "#]]
    .assert_eq(&text);
    let control = "seq { zero; repeat 4 { seq { load; times; add_up; next; } } }";
    let text = changed(&program(control), &apart(), "every 2 cycles");
    let lines = text.split_once("+}\n").expect("a group ends").1;
    expect![[r#"
        -seq { zero; repeat 4 { seq { load; times; add_up; next; } } }
        +seq { zero; load; next; times; load; next; repeat 2 { seq { load_to_next; } } add_up; times; add_up; }
    "#]].assert_eq(lines);
}
