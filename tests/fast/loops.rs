//! The table of loops: how often they go round, and how long their iterations take.

use expect_test::{Expect, expect};

use crate::support::workshop::Workshop;

/// What groups the control may run, by their names.
const GROUPS: [(&str, &str); 8] = [
    (
        "test",
        "comb group test { lt.left = i.out; lt.right = 8'd4; }",
    ),
    (
        "inner",
        "comb group inner { lj.left = j.out; lj.right = i.out; }",
    ),
    (
        "ga",
        "group ga { a.in = i.out; a.write_en = 1'd1; ga[done] = a.done; }",
    ),
    (
        "slow",
        "group slow { a.in = i.out; a.write_en = !a.done ? 1'd1; b.in = a.out; b.write_en = a.done; slow[done] = b.done; }",
    ),
    (
        "inc",
        "group inc { add.left = i.out; add.right = 8'd1; i.in = add.out; i.write_en = 1'd1; inc[done] = i.done; }",
    ),
    (
        "step",
        "group step { more.left = j.out; more.right = 8'd1; j.in = more.out; j.write_en = 1'd1; step[done] = j.done; }",
    ),
    (
        "zero",
        "group zero { j.in = 8'd0; j.write_en = 1'd1; zero[done] = j.done; }",
    ),
    (
        "sa",
        "static<1> group sa { a.in = 8'd1; a.write_en = 1'd1; }",
    ),
];

/// A design with this control, and the groups that it names.
fn design(control: &str) -> String {
    let words: Vec<&str> = control.split(|c: char| !c.is_alphanumeric()).collect();
    let groups = GROUPS.iter().filter(|(name, _)| words.contains(name));
    let groups: Vec<&str> = groups.map(|(_, text)| *text).collect();
    format!(
        "import \"primitives/core.futil\";
component main() -> () {{
  cells {{
    @external i = std_reg(8); @external j = std_reg(8); @external a = std_reg(8); @external b = std_reg(8);
    lt = std_lt(8); lj = std_lt(8); add = std_add(8); more = std_add(8);
  }}
  wires {{
    {}
  }}
  control {{
{control}
  }}
}}
",
        groups.join("\n    ")
    )
}

fn check(control: &str, passes: &str, expected: &Expect) {
    let workshop = Workshop::empty();
    workshop.write("d.futil", design(control));
    workshop.succeeds(&["run", "-q", "d.futil", "--out", "out", "--passes", passes]);
    let table = workshop.read("out/stats/loops.csv");
    let rows = table.lines().map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        [&cells[1..2], &cells[5..]].concat().join(",")
    });
    expected.assert_eq(&rows.map(|row| row + "\n").collect::<String>());
}

#[test]
fn an_iteration_lasts_until_the_next_one_begins() {
    // Test 1, step into the body 1, `ga` 1, step 1, `inc` 1, step to the test 1.
    let control = "while lt.out with test { seq { ga; inc; } }";
    check(
        control,
        "no-opt",
        &expect![[r#"
            statement,times entered,iterations,fewest iterations,most iterations,average iterations,cycles,computation,conditions,control only,shortest iteration,longest iteration,average iteration,site
            while@L13:1,1,4,4,4,4.00,26,8,5,13,6,6,6.00,425bd8bf66311267
        "#]],
    );
}

#[test]
fn an_iteration_that_takes_longer_is_told() {
    let control = "while lt.out with test { seq { if a.out { slow; } else { ga; } inc; } }";
    check(
        control,
        "no-opt",
        &expect![[r#"
            statement,times entered,iterations,fewest iterations,most iterations,average iterations,cycles,computation,conditions,control only,shortest iteration,longest iteration,average iteration,site
            while@L14:1,1,4,4,4,4.00,27,9,5,13,6,7,6.25,f498157e799d4098
        "#]],
    );
}

const NESTED: &str =
    "while lt.out with test { seq { zero; while lj.out with inner { step; } inc; } }";

#[test]
fn loops_that_go_round_differently_often_are_told() {
    check(
        NESTED,
        "no-opt",
        &expect![[r#"
            statement,times entered,iterations,fewest iterations,most iterations,average iterations,cycles,computation,conditions,control only,shortest iteration,longest iteration,average iteration,site
            while@L15:1,1,4,4,4,4.00,58,14,15,29,8,20,14.00,d7079f2311a03bfd
            while@L15:38,4,6,0,3,1.50,28,6,10,12,3,4,3.50,9053a16ac9ebc214
        "#]],
    );
}

#[test]
fn static_bodies_begin_as_often() {
    check(
        NESTED,
        "all",
        &expect![[r#"
            statement,times entered,iterations,fewest iterations,most iterations,average iterations,cycles,computation,conditions,control only,shortest iteration,longest iteration,average iteration,site
            while@L15:1,1,4,4,4,4.00,50,14,15,21,9,15,12.00,d7079f2311a03bfd
            while@L15:38,4,6,0,3,1.50,20,6,10,4,2,2,2.00,9053a16ac9ebc214
        "#]],
    );
}

#[test]
fn a_static_loop_goes_round_without_a_break() {
    check(
        "static repeat 5 { sa; }",
        "all",
        &expect![[r#"
            statement,times entered,iterations,fewest iterations,most iterations,average iterations,cycles,computation,conditions,control only,shortest iteration,longest iteration,average iteration,site
            static repeat@L11,1,5,5,5,5.00,5,5,0,0,1,1,1.00,52b2a03a893b72f3
        "#]],
    );
}

#[test]
fn a_typical_iteration_and_those_that_take_another_time_are_shown() {
    let workshop = Workshop::empty();
    let control = "while lt.out with test { seq { if a.out { slow; } else { ga; } inc; } }";
    workshop.write("d.futil", design(control));
    workshop.succeeds(&["run", "-q", "d.futil", "--out", "out", "--passes", "no-opt"]);
    let shown = workshop.succeeds(&["trace", "out", "--loop", "main.while@L14:1"]);
    expect![[r#"
        main.while@L14:1

          cycles  iterations  first begins in cycle
               6           3                      2
               7           1                     14

        typical iteration: cycles 2..8; 3 of 4 are so long

        cycle 2
          main
            while@L14:1
              seq@L14:26
                if@L14:32
                  ga
                    a (primitive)
        cycle 3
          main  <- overhead: FSM update of seq@L14:26
            while@L14:1
              seq@L14:26
        cycle 4
          main
            while@L14:1
              seq@L14:26
                inc
                  i (primitive)
                  add (primitive)
        cycle 5
          main  <- overhead: FSM update of while@L14:1
            while@L14:1
        cycle 6
          main
            while@L14:1
              test
                lt (primitive)
                comb_reg (primitive)
        cycle 7
          main  <- overhead: FSM update of while@L14:1
            while@L14:1

        longest iteration: cycles 14..21; 1 of 4 is so long

        cycle 14
          main
            while@L14:1
              seq@L14:26
                if@L14:32
                  slow
                    a (primitive)
        cycle 15
          main
            while@L14:1
              seq@L14:26
                if@L14:32
                  slow
                    b (primitive)
        cycle 16
          main  <- overhead: FSM update of seq@L14:26
            while@L14:1
              seq@L14:26
        cycle 17
          main
            while@L14:1
              seq@L14:26
                inc
                  i (primitive)
                  add (primitive)
        cycle 18
          main  <- overhead: FSM update of while@L14:1
            while@L14:1
        cycle 19
          main
            while@L14:1
              test
                lt (primitive)
                comb_reg (primitive)
        cycle 20
          main  <- overhead: FSM update of while@L14:1
            while@L14:1
    "#]]
    .assert_eq(&shown);
    let misspelt = workshop.ends(2, &["trace", "out", "--loop", "main.while@L15"]);
    expect![[r#"
        error: there is no loop `main.while@L15`; is it `main.while@L14:1`?
    "#]]
    .assert_eq(&misspelt);
}
