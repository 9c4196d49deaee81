//! The rules of sweeps: a file's text in, runs, messages and the best rows out.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::{Expect, expect};
use petal_sweep::{Inputs, Job, Row, Sweep, SweepFile, conflict, expand};
use petal_table::Screen;

fn jobs(text: &str) -> Vec<Job> {
    let file = SweepFile::parse(text).expect("the file makes sense");
    expand(&file, Path::new(".")).expect("the runs make sense")
}

/// The names of the runs that a file asks for, or what is wrong with it and in which line.
fn check(text: &str, expected: &Expect) {
    let said = match SweepFile::parse(text) {
        Err(problem) => problem,
        Ok(file) => match expand(&file, Path::new(".")) {
            Err(problem) => format!("line {:?}: {problem}\n", problem.line(text)),
            Ok(jobs) => {
                let names = jobs.iter().map(|job| format!("{}\n", job.name));
                names.collect()
            }
        },
    };
    expected.assert_eq(&said);
}

const DESIGN: &str = "
[[design]]
name = \"gemm\"
generate = \"echo {size}\"
parameters = { size = [2, 4] }
";

#[test]
fn runs_are_all_combinations_in_the_order_of_the_file() {
    let head = "passes = [\"all\", { name = \"slow\", list = \"no-opt\" }]\n";
    check(
        &format!("{head}{DESIGN}"),
        &expect![[r#"
        gemm size=2 / all / default
        gemm size=2 / slow / default
        gemm size=4 / all / default
        gemm size=4 / slow / default
    "#]],
    );
}

#[test]
fn what_makes_no_sense_is_told_with_its_line() {
    check(
        &DESIGN.replace("{size}", "{sizes}"),
        &expect![[r#"
        line Some(4): the parameter `size` changes nothing: there is no `{size}` in the command
    "#]],
    );
    check(
        &format!("{DESIGN}{DESIGN}"),
        &expect![[r#"
        line Some(7): the run gemm size=2 / all / default is there twice; give one a `name`
    "#]],
    );
    check(
        &DESIGN.replace("generate", "generates"),
        &expect![[r#"
        TOML parse error at line 4, column 1
          |
        4 | generates = "echo {size}"
          | ^^^^^^^^^
        unknown field `generates`, expected one of `files`, `generate`, `name`, `parameters`, `passes`, `data`, `observe`
        is it `generate`?"#]],
    );
}

#[test]
fn of_rows_those_that_none_beats_are_the_front() {
    let jobs = jobs(&DESIGN.replace("[2, 4]", "[1, 2, 3, 4]"));
    let pareto = ["cycles", "register_bits"].map(str::to_owned);
    let sweep = Sweep::new("0.0.0", "s", pareto.clone(), &jobs);
    // The second has as many cycles as the first, and more bits; the last failed.
    let figures = [(10, 4), (10, 5), (20, 3)];
    let rows: Vec<Row> = jobs
        .iter()
        .enumerate()
        .map(|(at, job)| {
            let mut row = Row::failed(job, Inputs::default(), "it never ends");
            if let Some(&(cycles, bits)) = figures.get(at) {
                row.error = None;
                row.figures =
                    BTreeMap::from([(pareto[0].clone(), cycles), (pareto[1].clone(), bits)]);
            }
            row
        })
        .collect();
    expect![[r#"
        s: 4 runs, 3 done, 1 failed

          least cycles  passes  data     cycles  register_bits
          gemm size=1   all     default      10              4

          Pareto front: cycles against register_bits  passes  data     cycles  register_bits
          gemm size=1                                 all     default      10              4
          gemm size=3                                 all     default      20              3

          failed       passes  data     why
          gemm size=4  all     default  it never ends
    "#]]
    .assert_eq(&sweep.text(&rows, Screen::PLAIN));
}

#[test]
fn parts_with_other_inputs_do_not_fit() {
    let inputs = |text: &str| {
        let mut inputs = Inputs::default();
        inputs.add("design.futil", text.as_bytes());
        inputs
    };
    let mut absent = inputs("one");
    absent.add_absent("design.futil.data");
    let mut there = inputs("one");
    there.add("design.futil.data", b"{}");
    assert_eq!(conflict([&inputs("one"), &inputs("one")]), None);
    assert_eq!(
        conflict([&inputs("one"), &inputs("two")]),
        Some("design.futil")
    );
    assert_eq!(conflict([&absent, &there]), Some("design.futil.data"));
    assert!(absent.digest() != there.digest());
}
