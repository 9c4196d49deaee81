//! Observations of two runs, side by side, and limits on them.

use expect_test::expect;

use crate::support::comparisons::compare;
use crate::support::workshop::{Workshop, example, tells};

/// Profiles of `while-comb` (`before`) and of one that adds up one time more and writes before it updates (`after`).
fn profiled() -> Workshop {
    let workshop = Workshop::empty();
    workshop.edited(
        "while-comb.futil",
        "while-comb.futil",
        &[
            ("lt.right = 3'd3;", "lt.right = 3'd4;"),
            ("read; update; write;", "read; write; update;"),
        ],
    );
    let observe = [
        "--checkpoint",
        "update=main.update",
        "--checkpoint",
        "write=main.write",
        "--latency",
        "turn=main.read..main.update",
        "--count",
        "writes=main.write",
        "--access",
        "main.mem",
    ];
    let run = |design: &str, out: &str, more: &[&str]| {
        let run = ["run", "-q", design, "--out", out];
        workshop.succeeds(&[&run[..], &observe, more].concat());
    };
    run(
        &example("while-comb.futil"),
        "before",
        &["--count", "old=main.read"],
    );
    run("while-comb.futil", "after", &["--count", "new=main.read"]);
    workshop
}

/// What a comparison says of observations.
fn observed(said: &str) -> &str {
    &said[said.find("\nlatency").unwrap_or(0)..]
}

#[test]
fn observations_stand_side_by_side() {
    let workshop = profiled();
    let said = workshop.succeeds(&["compare", "before", "after"]);
    expect![[r#"

        latency  count  median    p99    max  over shortest  delta of p99       %  what changed
        turn     3 → 4   1 → 2  1 → 2  1 → 2              0            +1  +100.0

        counter  total  delta      %  what changed
        new      – → 4                only after
        old      3 → –                only before
        writes   3 → 4     +1  +33.3

        memory    reads  words read  writes  words written  what changed
        main.mem  3 → 4           1   3 → 4              1

        checkpoint  stamps  median distance  what changed
        update       3 → 4                4
        write        3 → 4                4

        order of stamps: not the same from stamp 0 on (`-` only before, `+` only after)
          + write
            update
            write
          …
            update
            write
          + update

        cycles of turn  before                      after
        1                    3  ██████████████████      0
        2                    0                          4  ████████████████████████
    "#]]
    .assert_eq(observed(&said));
    // A baseline tells the same.
    workshop.succeeds(&["baseline", "before", "--out", "before.json"]);
    let again = workshop.succeeds(&["compare", "before.json", "after"]);
    assert_eq!(again, said);
    // And nothing where nothing changed.
    let same = compare(&workshop, &["before.json", "before"]);
    assert_eq!(
        same["observations"]["order"]["first_difference"],
        serde_json::Value::Null
    );
    assert_eq!(
        same["observations"]["latencies"][0]["p99"]["before"],
        same["observations"]["latencies"][0]["p99"]["after"]
    );
    // Runs that were not observed say nothing of it.
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", "-q", &design, "--out", "plain"]);
    let plain = compare(&workshop, &["plain", "plain"]);
    assert!(plain.get("observations").is_none());
}

#[test]
fn what_was_observed_has_limits() {
    let workshop = profiled();
    let fails = |limits: &[&str]| {
        let limits = limits.iter().flat_map(|limit| ["--fail-above", limit]);
        let args: Vec<&str> = ["compare", "before", "after"]
            .into_iter()
            .chain(limits)
            .collect();
        workshop.ends(1, &args)
    };
    let allowed = ["p99(turn)=100%", "writes=1", "writes=34%"];
    for limit in allowed {
        workshop.succeeds(&["compare", "before", "after", "--fail-above", limit]);
    }
    let said = fails(&["max(turn)=0", "writes=0", "1000cycles"]);
    tells(
        &said,
        &["max(turn) is 2, 1 before: +1 (+100.0 %) is above the limit of 0"],
    );
    tells(
        &said,
        &["writes is 4, 3 before: +1 (+33.3 %) is above the limit of 0"],
    );
    assert!(!said.contains("1000cycles"), "{said}");
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let workshop = profiled();
    for (limit, said) in [
        ("turn=0", "`p99(turn)`"),
        ("wrties=0", "`writes`"),
        ("old=0", "only the run before has it"),
        ("new=5%", "only the run after has it"),
        ("writes=many", "write a limit such as `5%` or `0`"),
        ("xyz=0", "--latency"),
    ] {
        let args = [
            "compare",
            "before",
            "after",
            "--fail-above",
            limit,
            "--flame",
            "f.svg",
        ];
        tells(&workshop.ends(2, &args), &[said]);
        assert!(!workshop.path("f.svg").exists());
    }
}
