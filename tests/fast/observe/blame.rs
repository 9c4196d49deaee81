//! Who is to blame: what the long intervals of a latency have more than the shortest one.

use petal_visualize::outputs::OBSERVATIONS;
use proptest::prelude::RngExt as _;
use serde_json::Value;

use crate::support::workshop::Workshop;
use crate::support::{programs, rng};

/// A row of blame: how many cycles in the way, how many in parallel, and what had them.
type Row = (u64, u64, String);

/// What the latency `x` of a run has: over the shortest, and who is to blame.
fn blame(workshop: &Workshop, arguments: &[&str]) -> (u64, Vec<Row>) {
    let all = [&["run", "design.futil", "-q", "--out", "out"], arguments].concat();
    workshop.succeeds(&all);
    let results: Value =
        serde_json::from_str(&workshop.read(&format!("out/{OBSERVATIONS}"))).unwrap();
    let latency = &results["latencies"][0];
    let number = |value: &Value| value.as_u64().unwrap();
    let rows = latency["blame"].as_array().unwrap().iter();
    let rows = rows.map(|row| {
        let active = row["active"].as_str().unwrap().to_owned();
        (number(&row["cycles"]), number(&row["in_parallel"]), active)
    });
    let rows: Vec<Row> = rows.collect();
    let over = number(&latency["over_shortest"]);
    assert_eq!(rows.iter().map(|(cycles, ..)| cycles).sum::<u64>(), over);
    let shortest = number(&latency["min"]) * number(&latency["count"]);
    assert_eq!(over, number(&latency["total"]) - shortest);
    (over, rows)
}

/// Four rounds, in which a loop runs 0 to 3 times between the beginning and the end; `between` has `LOOP` where it is.
fn rounds(between: &str) -> String {
    let used = (0..STEPS).filter(|n| between.contains(&format!("step{n};")));
    let used: Vec<usize> = used.collect();
    let groups = used.iter().map(|n| {
        format!(
            "group step{n} {{ f{n}.in = 1'd1; f{n}.write_en = 1'd1; step{n}[done] = f{n}.done; }}\n"
        )
    });
    let groups: String = groups.collect();
    let cells = used.iter().map(|n| format!("f{n} = std_reg(1); "));
    let cells: String = cells.collect();
    let between = between.replace("LOOP", "while more.out { wait; }");
    format!(
        r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
component main() -> () {{
  cells {{ i = std_reg(4); left = std_reg(4); lt = std_lt(4); more = std_neq(4); i_next = std_add(4); left_next = std_sub(4); {cells} }}
  wires {{
    lt.left = i.out; lt.right = 4'd4; more.left = left.out; more.right = 4'd0;
    group enter {{ left.in = i.out; left.write_en = 1'd1; enter[done] = left.done; }}
    group wait {{ left_next.left = left.out; left_next.right = 4'd1; left.in = left_next.out; left.write_en = 1'd1; wait[done] = left.done; }}
    group leave {{ i_next.left = i.out; i_next.right = 4'd1; i.in = i_next.out; i.write_en = 1'd1; leave[done] = i.done; }}
{groups}  }}
  control {{ while lt.out {{ seq {{ enter; {between} leave; }} }} }}
}}
"#
    )
}

/// How many steps a program has at most, each a group of its own.
const STEPS: usize = 200;

const PIPELINES: [&[&str]; 3] = [
    &[],
    &["--passes", "compile-repeat,no-opt"],
    &["-d", "static-promotion"],
];

#[test]
fn the_loop_that_runs_more_often_is_to_blame_and_not_what_comes_after_it() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", rounds("LOOP step0; step1; step2;"));
    for pipeline in PIPELINES {
        let latency = ["--latency", "x=main.enter..main.leave"];
        let (over, rows) = blame(&workshop, &[pipeline, &latency].concat());
        assert!(over > 0);
        let [(cycles, in_parallel, active)] = &rows[..] else {
            panic!("{pipeline:?}: {rows:?}");
        };
        assert_eq!((*cycles, *in_parallel), (over, 0), "{pipeline:?}");
        assert!(active.ends_with(" > wait"), "{active}");
    }
}

#[test]
fn a_loop_that_runs_beside_something_longer_is_in_nobodys_way() {
    let workshop = Workshop::empty();
    let steps = [0, 1, 2, 3, 4, 5, 6, 7]
        .map(|n| format!("step{n};"))
        .join(" ");
    workshop.write(
        "design.futil",
        rounds(&format!("par {{ LOOP seq {{ {steps} }} }}")),
    );
    let latency = ["--latency", "x=main.enter..main.leave"];
    let dynamic = ["--passes", "compile-repeat,no-opt"];
    let (over, rows) = blame(&workshop, &[&dynamic[..], &latency].concat());
    assert!(over == 0 && rows.is_empty(), "{over}: {rows:?}");
}

#[test]
fn what_waits_at_a_barrier_is_not_to_blame() {
    let workshop = Workshop::empty();
    let arms = "par { seq { step0; @sync(0); step1; } seq { step2; LOOP @sync(0); step3; } }";
    let design = rounds(arms).replacen("import", "import \"primitives/sync.futil\";\nimport", 1);
    workshop.write("design.futil", design);
    for pipeline in [&[][..], &["-d", "static-promotion"]] {
        let latency = ["--latency", "x=main.enter..main.leave"];
        let (over, rows) = blame(&workshop, &[pipeline, &latency].concat());
        let looped = rows
            .iter()
            .filter(|(.., active)| active.ends_with(" > wait"));
        let looped: u64 = looped.map(|(cycles, ..)| cycles).sum();
        assert!(over > 0 && looped == over, "{pipeline:?}: {over}, {rows:?}");
    }
}

/// Statements of which one is the loop.
fn random(
    rng: &mut proptest::test_runner::TestRng,
    depth: u32,
    has_loop: bool,
    next: &mut usize,
) -> String {
    let step = |next: &mut usize| {
        *next += 1;
        format!("step{}; ", *next - 1)
    };
    if depth == 0 {
        return if has_loop {
            "LOOP ".to_owned()
        } else {
            step(next)
        };
    }
    let parts = rng.random_range(1..4);
    let at = rng.random_range(0..parts);
    let parts: String = (0..parts)
        .map(|part| {
            let depth = rng.random_range(0..depth);
            random(rng, depth, has_loop && part == at, next)
        })
        .collect();
    let kind = ["seq", "par"][rng.random_range(0..2)];
    format!("{kind} {{ {parts}}} ")
}

#[test]
fn in_random_programs_the_only_loop_that_varies_is_to_blame() {
    let workshop = Workshop::empty();
    let mut rng = rng();
    for program in 0..programs(20) {
        let (mut next, before, after) = (0, rng.random_range(0..3), rng.random_range(0..3));
        let mut between = String::new();
        for at in 0..=before + after {
            let depth = rng.random_range(0..4);
            between += &random(&mut rng, depth, at == before, &mut next);
        }
        assert!(next <= STEPS, "{next} steps");
        workshop.write("design.futil", rounds(&between));
        for pipeline in PIPELINES {
            let latency = ["--latency", "x=main.enter..main.leave"];
            let (over, rows) = blame(&workshop, &[pipeline, &latency].concat());
            for (_, _, active) in &rows {
                assert!(
                    active.ends_with(" > wait"),
                    "program {program}, {pipeline:?}: {between}: {over}: {rows:?}"
                );
            }
            assert!(rows.len() <= 1, "{rows:?}");
        }
    }
}
