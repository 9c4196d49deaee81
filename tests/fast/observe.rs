//! Observations against plain computations, and against what petal tells otherwise of the same run.

mod accesses;
mod blame;
mod checkpoints;
mod derived;
mod edges;
mod plain;
mod samples;
mod spans;
mod stream;
mod values;
mod windows;
mod writers;

use std::collections::BTreeMap;
use std::path::PathBuf;

use petal_visualize::outputs::OBSERVATIONS;
use serde_json::{Value, json};

use self::plain::{Generator, Plain};
use crate::support::perfetto;
use crate::support::workshop::{Workshop, example, tells};
use crate::support::{examples, programs, rng};

fn results(workshop: &Workshop, profile: &str) -> Value {
    serde_json::from_str(&workshop.read(&format!("{profile}/{OBSERVATIONS}"))).unwrap()
}

/// The examples whose waveforms are short.
fn short_examples() -> impl Iterator<Item = String> {
    let all = examples().into_iter();
    let all = all.map(|path: PathBuf| path.display().to_string());
    all.filter(|path| !path.contains("packet-scheduler") && !path.contains("structural"))
}

#[test]
fn random_expressions_are_as_computed_from_the_waveform() {
    let workshop = Workshop::empty();
    let mut rng = rng();
    let mut expressions = 0;
    for design in short_examples() {
        workshop.succeeds(&["run", &design, "-q", "--out", "first", "--vcd", "wave.vcd"]);
        let trees = workshop.succeeds(&["trace", "first", "--json"]);
        let plain = Plain::of(&workshop.path("wave.vcd"), &trees);
        if plain.signals.is_empty() {
            continue;
        }
        let mut generator = Generator {
            plain: &plain,
            rng: proptest::test_runner::TestRng::clone(&rng),
        };
        let random = (0..programs(12)).map(|at| generator.expression(1 + at % 5));
        // Wider ones are not added up.
        let random: Vec<_> = random.filter(|random| random.width <= 32).collect();
        rng = generator.rng;
        expressions += random.len();
        // What is recorded at each: another one.
        let random_at = |at: usize| &random[(7 * at + 3) % random.len()];
        let mut args = vec!["--sample".to_owned(), "37".to_owned()];
        for (at, random) in random.iter().enumerate() {
            args.extend(["--count".to_owned(), format!("c{at}={}", random.text)]);
            if random.width == 1 {
                let (event, value) = (&random.text, &random_at(at).text);
                let checkpoint = format!("c{at}={event}; v{at}=signed({value})");
                args.extend(["--checkpoint".to_owned(), checkpoint]);
                args.extend(["--latency".to_owned(), format!("c{at}..c{at}")]);
                args.extend(["--never".to_owned(), format!("c{at}={}", random.text)]);
            }
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = ["run", &design, "-q", "--out", "out"];
        workshop.succeeds(&[&run[..], &args].concat());
        let results = results(&workshop, "out");
        assert_eq!(results["cycles"], json!(plain.cycles));
        let of = |kind: &str, name: &str| {
            let all = results[kind].as_array().unwrap();
            all.iter().find(|of| of["name"] == name).cloned()
        };
        for (at, random) in random.iter().enumerate() {
            let name = format!("c{at}");
            let text = &random.text;
            let counter = of("counters", &name).unwrap();
            let sum = |values: &[u64]| values.iter().map(|&value| u128::from(value)).sum::<u128>();
            let total = sum(&random.values);
            assert_eq!(
                counter["total"].to_string(),
                total.to_string(),
                "{design}: {text}"
            );
            let samples: Vec<String> = random
                .values
                .chunks(37)
                .map(|part| sum(part).to_string())
                .collect();
            let told = counter["samples"].as_array().unwrap().iter();
            let told: Vec<String> = told.map(ToString::to_string).collect();
            assert_eq!(told, samples, "{design}: {text}");
            if random.width == 1 {
                let high = random
                    .values
                    .iter()
                    .enumerate()
                    .filter(|(_, value)| **value == 1);
                let high: Vec<usize> = high.map(|(cycle, _)| cycle).collect();
                // A path alone is the beginning of an activation, which others look at.
                let checkpoint = of("checkpoints", &name).unwrap();
                if !plain.active.contains_key(text) {
                    assert_eq!(checkpoint["cycles"], json!(high), "{design}: {text}");
                }
                let latency = of("latencies", &format!("c{at}..c{at}")).unwrap();
                let recorded = [&checkpoint, &latency];
                values::are_those(
                    &random_at(at).values,
                    recorded,
                    &format!("{design}: {text}"),
                );
                let rule = of("rules", &name).unwrap();
                assert_eq!(rule["cycles"], json!(high.len()), "{design}: {text}");
                let violations = rule["violations"].as_array().unwrap().iter();
                let covered: Vec<u64> = violations
                    .flat_map(|of| {
                        let first = of["cycle"].as_u64().unwrap();
                        first..first + of["cycles"].as_u64().unwrap()
                    })
                    .collect();
                assert_eq!(json!(covered), json!(high), "{design}: {text}");
            }
        }
        // The waveform gives the same, and the profile is the one without observations.
        let metadata = "first/metadata.json";
        let again = ["reconstruct", metadata, "wave.vcd", "-q", "--out", "again"];
        workshop.succeeds(&[&again[..], &args].concat());
        assert_eq!(self::results(&workshop, "again"), results, "{design}");
        let profile = |dir: &str| {
            let files = ["memories.json", "stats/control.csv"];
            let read = |file| std::fs::read(workshop.path(dir).join(file)).ok();
            (workshop.events(dir), files.map(read))
        };
        assert!(profile("out") == profile("first"), "{design}");
    }
    assert!(expressions > 100);
}

#[test]
fn activations_are_those_of_the_tables() {
    let workshop = Workshop::empty();
    let mut compared = 0;
    for design in short_examples() {
        workshop.succeeds(&["run", &design, "-q", "--out", "first"]);
        let groups = workshop.succeeds(&[
            "stats",
            "first",
            "groups",
            "--format",
            "json",
            "--filter",
            "component=main",
        ]);
        let groups: Value = serde_json::from_str(&groups).unwrap();
        let groups: Vec<&Value> = groups["groups"]
            .as_array()
            .unwrap_or_else(|| groups.as_array().unwrap())
            .iter()
            .collect();
        let is_plain = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        let groups: Vec<&&Value> = groups
            .iter()
            .filter(|group| is_plain(group["group"].as_str().unwrap()))
            .collect();
        let mut args = vec![
            "run".to_owned(),
            design.clone(),
            "-q".to_owned(),
            "--out".to_owned(),
            "out".to_owned(),
        ];
        for group in &groups {
            let name = group["group"].as_str().unwrap();
            args.extend(["--latency".to_owned(), format!("main.{name}")]);
            args.extend(["--count".to_owned(), format!("main.{name}")]);
        }
        if groups.is_empty() {
            continue;
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        workshop.succeeds(&args);
        let results = results(&workshop, "out");
        for (at, group) in groups.iter().enumerate() {
            let latency = &results["latencies"][at];
            assert_eq!(latency["count"], group["times active"], "{design}: {group}");
            assert_eq!(latency["total"], group["total cycles"], "{design}: {group}");
            assert_eq!(
                results["counters"][at]["total"], group["total cycles"],
                "{design}: {group}"
            );
            let blame = latency["blame"].as_array().unwrap().iter();
            let blame: u64 = blame.map(|row| row["cycles"].as_u64().unwrap()).sum();
            assert_eq!(latency["over_shortest"], json!(blame), "{design}: {group}");
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} groups");
}

#[test]
fn the_changes_of_a_memory_lead_to_what_it_is_in_the_end() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.succeeds(&[
        "run",
        &design,
        "-q",
        "--out",
        "out",
        "--watch",
        "main.c",
        "--watch",
        "main.i.out",
    ]);
    let results = results(&workshop, "out");
    let mut words: BTreeMap<u64, u64> = BTreeMap::new();
    let changes = results["watches"][0]["changes"].as_array().unwrap();
    for change in changes {
        let number = |key: &str| change[key].as_u64().unwrap();
        let old = words.insert(number("index"), number("new"));
        assert_eq!(old.unwrap_or(0), number("old"));
        let by = change["by"][0].as_str().unwrap();
        assert!(by.ends_with("> store"), "{by}");
    }
    let memories: Value = serde_json::from_str(&workshop.read("out/memories.json")).unwrap();
    let rows = memories["c"]["data"].as_array().unwrap().iter();
    let last: Vec<u64> = rows
        .flat_map(|row| row.as_array().unwrap())
        .map(|word| word.as_u64().unwrap())
        .collect();
    assert_eq!(words.into_values().collect::<Vec<_>>(), last);
    let rows = results["watches"][1]["changes"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["by"][0].as_str().unwrap().ends_with("> next_row"))
    );
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let cases = [
        (
            "main.k.ou == 3",
            ["main.k.ou == 3\n         ^^", "has no port `ou`", "`in`"],
        ),
        (
            "main.multiplied",
            [
                "main.multiplied\n       ^^^^^^^^^^",
                "no cell, port, group or statement",
                "is it `multiply`",
            ],
        ),
        (
            "main.k.out == 9",
            ["9\n                ^", "9 does not fit into 3 bits", ""],
        ),
        (
            "main.k.out + main.sum.out == 3",
            [
                "^^^^^^^^^^^^^^^^^^^^^^^^^",
                "the widths differ: 3 and 32 bits",
                "pad(…, 32)",
            ],
        ),
        (
            "main.k.out",
            [
                "^^^^^^^^^^",
                "this has 3 bits, and one bit is wanted",
                "compare it",
            ],
        ),
        (
            "main.c",
            ["^^^^^^", "this is a memory, which is no value", "c[0][0]"],
        ),
        (
            "main.c[4][0] == 1",
            ["^", "the index 4 is beyond the end: the size is 4", ""],
        ),
        (
            "main.k.out[3:0] == 1",
            ["^^^", "there is no bit 3: this has 3 bits", ""],
        ),
        (
            "k.out == 1",
            ["^^^^^", "paths begin with `main`", "write `main.k.out`"],
        ),
        ("main.k.out == ", ["^", "expected", "a number"]),
        (
            "rise(main.mult.done)",
            ["^^^^", "there is no function `rise`", "rose"],
        ),
        (
            "begin(main.k.out)",
            ["^^^^^^^^^^", "takes a cell, a group or a statement", "rose"],
        ),
    ];
    for (expression, parts) in cases {
        let said = workshop.fails(&["run", &design, "-q", "--out", "out", "--never", expression]);
        tells(&said, &parts);
    }
    assert!(!workshop.path("out").exists());
    workshop.write(
        "o.toml",
        "sample = 10\n\n[[never]]\nname = \"x\"\nwhen = \"main.k.out > 70\"\n",
    );
    let said = workshop.fails(&["run", &design, "-q", "--out", "out", "--observe", "o.toml"]);
    tells(&said, &["o.toml:5: 70 does not fit into 3 bits"]);
    workshop.write("o.toml", "[[never]]\nwhen = \"main.k.out > 1\"\nwho = 3\n");
    let said = workshop.fails(&["run", &design, "-q", "--out", "out", "--observe", "o.toml"]);
    tells(&said, &["o.toml", "line 3", "unknown field `who`"]);
}

#[test]
fn rules_fail_where_that_is_asked_for() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let run = [
        "run",
        &design,
        "-q",
        "--out",
        "out",
        "--never",
        "late=main.k.out > 3",
        "--always",
        "main.i.out <= 4",
    ];
    workshop.succeeds(&run);
    let said = workshop.ends(1, &[&run[..], &["--fail-on-violation"]].concat());
    tells(
        &said,
        &[
            "never late is broken in",
            "first in cycle 37",
            "main > seq@L79",
        ],
    );
    workshop.succeeds(&[
        "run",
        &design,
        "-q",
        "--out",
        "out",
        "--always",
        "main.i.out <= 4",
        "--fail-on-violation",
    ]);
}

#[test]
fn what_can_be_counted_is_listed_and_counted() {
    let workshop = Workshop::empty();
    for design in short_examples() {
        let listed = workshop.succeeds(&["counters", &design]);
        let names: Vec<&str> = listed
            .lines()
            .map(|line| line.split(' ').next().unwrap())
            .filter(|name| name.starts_with("main."))
            .collect();
        if names.is_empty() {
            continue;
        }
        workshop.succeeds(&["run", &design, "-q", "--out", "out", "--count", "main.*"]);
        let results = results(&workshop, "out");
        let counters = results["counters"].as_array().unwrap().iter();
        let counted: Vec<&str> = counters.map(|of| of["name"].as_str().unwrap()).collect();
        assert_eq!(counted, names, "{design}");
    }
    let said = workshop.ends(
        1,
        &[
            "run",
            &example("matmul.futil"),
            "-q",
            "--out",
            "none",
            "--count",
            "*.idle",
        ],
    );
    tells(
        &said,
        &[
            "nothing that can be counted has such a name",
            "`petal counters`",
        ],
    );
    // What the tables tell of cells.
    let design = example("nested-components.futil");
    workshop.succeeds(&[
        "run",
        &design,
        "-q",
        "--out",
        "out",
        "--count",
        "main.*.active",
    ]);
    let cells = workshop.succeeds(&["stats", "out", "cells", "--format", "json"]);
    let cells: Value = serde_json::from_str(&cells).unwrap();
    let results = results(&workshop, "out");
    let counters = results["counters"].as_array().unwrap();
    assert!(counters.len() > 1);
    for counter in counters {
        let cells = cells["cells"]
            .as_array()
            .unwrap_or_else(|| cells.as_array().unwrap());
        let path = counter["value"].as_str().unwrap();
        let cell = cells.iter().find(|cell| cell["cell"] == path).unwrap();
        assert_eq!(cell["cycles"], counter["total"], "{path}");
    }
}

#[test]
fn the_timeline_has_what_was_observed() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.succeeds(&[
        "run",
        &design,
        "-q",
        "--out",
        "out",
        "--checkpoint",
        "row=main.next_row",
        "--latency",
        "sum=main.clear..main.store",
        "--watch",
        "i=main.i.out",
        "--count",
        "busy=main.mult.go",
        "--sample",
        "300",
        "--never",
        "late=main.k.out > 3",
    ]);
    let tracks = perfetto::observed(&std::fs::read(workshop.path("out/timeline.pftrace")).unwrap());
    let rows: Vec<(u64, u32, Option<f64>)> =
        [152, 304, 456, 608].map(|cycle| (cycle, 3, None)).to_vec();
    assert_eq!(tracks["row"], rows);
    // The register has its new value in the cycle after it was written.
    let trace = workshop.succeeds(&["trace", "out", "--cycles", "152..153"]);
    tells(&trace, &["next_row"]);
    let values: Vec<(u64, u32, Option<f64>)> = [(153, 1.0), (305, 2.0), (457, 3.0), (609, 4.0)]
        .map(|(cycle, value)| (cycle, 4, Some(value)))
        .to_vec();
    assert_eq!(tracks["i"], values);
    let results = results(&workshop, "out");
    let ends = |name: &str| {
        tracks[name]
            .iter()
            .filter(|(_, kind, _)| *kind == 2)
            .count()
    };
    assert_eq!(json!(ends("sum")), results["latencies"][0]["count"]);
    assert_eq!(
        ends("late"),
        results["rules"][0]["violations"].as_array().unwrap().len()
    );
    let busy: Vec<(u64, Option<f64>)> = tracks["busy"]
        .iter()
        .map(|(cycle, _, value)| (*cycle, *value))
        .collect();
    assert_eq!(busy, [(0, Some(64.0)), (300, Some(64.0)), (600, Some(0.0))]);
    // A section has those of its cycles.
    workshop.succeeds(&["timeline", "out", "--cycles", "100..400"]);
    let part = perfetto::observed(&std::fs::read(workshop.path("out/timeline.pftrace")).unwrap());
    assert_eq!(part["row"], rows[..2]);
    assert_eq!(part["i"], values[..2]);
}
