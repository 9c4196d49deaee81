//! Counters of all cells of a kind, what cells do that are active, and figures that are computed from counters.

use serde_json::Value;

use super::results;
use crate::support::perfetto;
use crate::support::workshop::{Workshop, example, tells};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * a.abs().max(1.0)
}

#[test]
fn cells_are_useful_or_move_control_as_in_the_tables() {
    let workshop = Workshop::empty();
    let design = example("packet-scheduler.futil");
    let run = ["run", &design, "-q", "--out", "out"];
    workshop.succeeds(
        &[
            &run[..],
            &[
                "--count",
                "main.*.useful",
                "--count",
                "main.*.overhead",
                "--count",
                "main.*.active",
            ],
        ]
        .concat(),
    );
    let cells = workshop.succeeds(&["stats", "out", "cells", "--format", "json"]);
    let cells: Value = serde_json::from_str(&cells).unwrap();
    let results = results(&workshop, "out");
    let total = |name: &str| {
        let mut counters = results["counters"].as_array().unwrap().iter();
        let counter = counters.find(|counter| counter["name"] == name);
        counter.unwrap()["total"].as_u64().unwrap()
    };
    let mut compared = 0;
    for cell in cells
        .as_array()
        .unwrap()
        .iter()
        .filter(|cell| cell["cell"] != "main")
    {
        let path = cell["cell"].as_str().unwrap();
        let (useful, overhead) = (
            total(&format!("{path}.useful")),
            total(&format!("{path}.overhead")),
        );
        assert_eq!(cell["busy"], useful, "{path}");
        assert_eq!(cell["control"], overhead, "{path}");
        assert_eq!(
            total(&format!("{path}.active")),
            useful + overhead,
            "{path}"
        );
        compared += usize::from(useful > 0 && overhead > 0);
    }
    assert!(compared >= 4);
}

#[test]
fn figures_are_computed_from_counters() {
    let workshop = Workshop::empty();
    let design = example("packet-scheduler.futil");
    workshop.write(
        "figures.toml",
        r#"
sample = 100000
[[count]]
value = "main.q*.ring.writes"
[[count]]
value = "[fifo].ring.writes"
[[count]]
name = "busy"
value = "main.check && main.q0"
[[derive]]
name = "writes per 1000 cycles"
formula = "1000 * `[fifo].ring.writes` / cycles"
[[derive]]
name = "difference"
formula = "`[fifo].ring.writes` - (main.q0.ring.writes + main.q1.ring.writes + main.q2.ring.writes + main.q3.ring.writes)"
[[derive]]
formula = "main.check.active / main.check.useful"
[[derive]]
name = "of nothing"
formula = "busy / (busy - busy)"
"#,
    );
    let text = workshop.succeeds(&["run", &design, "--out", "out", "--observe", "figures.toml"]);
    let results = results(&workshop, "out");
    let cycles = results["cycles"].as_u64().unwrap();
    let counter = |name: &str| {
        let mut counters = results["counters"].as_array().unwrap().iter();
        counters
            .find(|counter| counter["name"] == name)
            .unwrap()
            .clone()
    };
    #[expect(clippy::cast_precision_loss, reason = "they are small")]
    let total = |name: &str| counter(name)["total"].as_u64().unwrap() as f64;
    let sum: f64 = (0..4)
        .map(|at| total(&format!("main.q{at}.ring.writes")))
        .sum();
    assert!(sum > 0.0 && close(total("[fifo].ring.writes"), sum));
    let derived = results["derived"].as_array().unwrap();
    let value = |at: usize| derived[at]["value"].as_f64();
    #[expect(clippy::cast_precision_loss, reason = "it is small")]
    let all = cycles as f64;
    assert!(close(value(0).unwrap(), 1000.0 * sum / all));
    assert!(close(value(1).unwrap(), 0.0));
    // Its counters are there, though nobody asked for them by themselves.
    let ratio = total("main.check.active") / total("main.check.useful");
    assert!(close(value(2).unwrap(), ratio));
    assert_eq!(value(3), None);
    // Each sample is computed from its own sums.
    let samples = derived[0]["samples"].as_array().unwrap();
    let sums = counter("[fifo].ring.writes")["samples"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(
        samples.len(),
        usize::try_from(cycles.div_ceil(100_000)).unwrap()
    );
    for (at, (sample, sum)) in samples.iter().zip(&sums).enumerate() {
        let length = (cycles - at as u64 * 100_000).min(100_000);
        let expected = 1000.0 * sum.as_f64().unwrap() / f64::from(u32::try_from(length).unwrap());
        assert!(close(sample.as_f64().unwrap(), expected), "{at}");
    }
    tells(
        &text,
        &[
            "computed from counters",
            "writes per 1000 cycles",
            "of nothing",
        ],
    );
}

#[test]
fn names_of_counters_are_checked() {
    let workshop = Workshop::empty();
    let design = example("packet-scheduler.futil");
    for (formula, parts) in [
        (
            "main.q0.ring.write / 2",
            [
                "no counter `main.q0.ring.write`",
                "is it `main.q0.ring.writes`",
            ],
        ),
        (
            "busy * 8'd3",
            ["this is no part of a formula", "numbers without a width"],
        ),
        ("cycles % 3", ["this is no part of a formula", "`+ - * /`"]),
    ] {
        let count = ["--count", "busy=main.check", "--derive", formula];
        let said = workshop.ends(
            1,
            &[&["run", &design, "-q", "--out", "new"], &count[..]].concat(),
        );
        tells(&said, &parts);
    }
    // Two patterns may mean the same counter, but no name means two things.
    let twice = ["--count", "main.q0.*", "--count", "main.q0.active"];
    workshop.succeeds(&[&["run", &design, "-q", "--out", "twice"], &twice[..]].concat());
    for kind in ["--count", "--never", "--checkpoint", "--watch"] {
        let same = [kind, "x=main.check", kind, "x=main.q0"];
        let said = workshop.ends(
            1,
            &[&["run", &design, "-q", "--out", "new"], &same[..]].concat(),
        );
        tells(&said, &["two observations of one kind have this name"]);
    }
    let unknown = [
        "run",
        &design,
        "-q",
        "--out",
        "new",
        "--count",
        "[queue].active",
    ];
    tells(&workshop.ends(1, &unknown), &["petal counters"]);
}

#[test]
fn samples_of_a_long_run_are_beside_its_overview() {
    let workshop = Workshop::empty();
    let design = example("packet-scheduler.futil");
    let run = ["run", &design, "-q", "--out", "out", "--sample", "100000"];
    workshop.succeeds(&[&run[..], &["--count", "busy=main.check"]].concat());
    workshop.succeeds(&[
        "view",
        "out",
        "--cycles",
        "500000..500100",
        "--out",
        "part.pftrace",
    ]);
    let part = std::fs::read(workshop.path("part.pftrace")).unwrap();
    let tracks = perfetto::observed(&part);
    let names: Vec<&String> = tracks.keys().collect();
    assert_eq!(names, ["busy"]);
    let values = tracks["busy"]
        .iter()
        .map(|(cycle, _, value)| (*cycle, value.unwrap()));
    let samples = results(&workshop, "out")["counters"][0]["samples"].clone();
    let samples = samples.as_array().unwrap().iter();
    let expected = samples
        .zip(0..)
        .map(|(sum, at)| (at * 100_000, sum.as_f64().unwrap()));
    assert_eq!(values.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
