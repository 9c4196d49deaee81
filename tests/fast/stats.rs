//! `petal stats` shows what matters, and what is asked for.

use expect_test::{Expect, expect};

use crate::support::workshop::{Workshop, example};

fn check(options: &[&str], expected: &Expect) {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", "-q", &example("matmul.futil"), "--out", "out"]);
    let args = [&["stats", "out"], options].concat();
    expected.assert_eq(&workshop.succeeds(&args));
}

#[test]
fn ten_rows_and_the_columns_that_matter() {
    check(
        &["control"],
        &expect![[r#"
            component  statement   times entered  cycles  useful  overhead
            main       while@L87              16     464     272       128
            main       seq@L88                64     256     192        64
            main       while@L84               4     580     324        32
            main       seq@L85                16     528     304        32
            main       while@L81               1     609     337         8
            main       seq@L82                 4     596     332         8
            main       seq@L79                 1     612     338         2
            main       multiply               64     128     128         0
            main       par@L90                64      64      64         0
            main       accumulate             64      64      64         0
            10 of 20 rows, 6 of 23 columns; `--all` shows all
        "#]],
    );
    check(
        &["cells"],
        &expect![[r#"
        cell  component  times active  cycles  busy  overhead
        main  main                  1     612   338       274
        6 of 27 columns; `--all` shows all
    "#]],
    );
}

#[test]
fn rows_are_sorted_chosen_and_cut() {
    check(
        &[
            "groups",
            "--sort",
            "avg",
            "--columns",
            "group,avg,max",
            "--top",
            "3",
        ],
        &expect![[r#"
            group        avg  max
            multiply    2.00    2
            more_terms  1.00    1
            accumulate  1.00    1
            3 of 13 rows, 3 of 13 columns; `--all` shows all
        "#]],
    );
    check(
        &[
            "control",
            "--filter",
            "kind=while",
            "--filter",
            "Cycles>100",
            "--sort",
            "line",
            "--reverse",
            "--format",
            "csv",
            "--columns",
            "statement,cycles",
        ],
        &expect![[r#"
            statement,cycles
            while@L81,609
            while@L84,580
            while@L87,464
        "#]],
    );
    check(
        &[
            "groups",
            "--filter",
            "group~WRITE",
            "--filter",
            "origin!=compiler",
            "--columns",
            "group",
            "--format",
            "json",
        ],
        &expect![[r#"
            []
        "#]],
    );
}

#[test]
fn all_of_a_table_is_what_its_file_has() {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", "-q", &example("matmul.futil"), "--out", "out"]);
    for table in ["cells", "groups", "control"] {
        let file = workshop.read(&format!("out/stats/{table}.csv"));
        let csv = workshop.succeeds(&["stats", "out", table, "--format", "csv"]);
        assert_eq!(csv, file);
        let all = workshop.succeeds(&["stats", "out", table, "--all"]);
        assert_eq!(all.lines().count(), file.lines().count(), "{all}");
        assert!(!all.contains("--all"), "{all}");
    }
}

#[test]
fn what_cannot_be_selected_is_told_with_what_can() {
    let workshop = Workshop::empty();
    workshop.succeeds(&["run", "-q", &example("matmul.futil"), "--out", "out"]);
    for (options, told) in [
        (&["cells", "--sort", "overhed"][..], "is it `overhead`?"),
        (
            &["cells", "--columns", "cell,qqq"],
            "no column `qqq`; there are `cell`, `component`",
        ),
        (&["cells", "--filter", "cycels>1"], "`cycles`"),
        (&["cells", "--filter", "cycles"], "`cycles` is no filter"),
        (&["cells", "--filter", ">1"], "`>1` is no filter"),
        (&["cells", "--filter", "cycles>many"], "`many` is no number"),
        (&["--sort", "cycles"], "of one table"),
        (&["cells", "--reverse"], "--sort"),
    ] {
        let said = workshop.ends(2, &[&["stats", "out"], options].concat());
        assert!(said.contains(told), "{options:?}: {said}");
    }
}

#[test]
fn each_of_nested_repeats_is_entered_by_itself() {
    let workshop = Workshop::empty();
    workshop.write(
        "design.futil",
        r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
component main() -> () {
  cells { r = std_reg(8); a = std_add(8); }
  wires {
    group g { a.left = r.out; a.right = 8'd1; r.in = a.out; r.write_en = 1'd1; g[done] = r.done; }
  }
  control {
    repeat 3 {
      repeat 4 {
        repeat 5 { g; }
      }
    }
  }
}
"#,
    );
    for options in [&[][..], &["-d", "static-promotion"]] {
        workshop.succeeds(&[&["run", "design.futil", "-q", "--out", "out"], options].concat());
        let columns = "statement,times entered";
        let table = workshop.succeeds(&[
            "stats",
            "out",
            "control",
            "--columns",
            columns,
            "--format",
            "csv",
        ]);
        let mut rows: Vec<&str> = table.lines().skip(1).collect();
        rows.sort_unstable();
        assert_eq!(
            rows,
            ["g,60", "repeat@L10,3", "repeat@L11,12", "repeat@L9,1"],
            "{options:?}"
        );
    }
}
