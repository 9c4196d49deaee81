//! Samples that end with an event, and counters while something is active, against plain sums over a waveform and call trees.

use std::collections::VecDeque;

use proptest::test_runner::TestRng;
use serde_json::{Value, json};

use super::plain::{Generator, Plain, Random};
use super::{results, short_examples};
use crate::support::perfetto;
use crate::support::workshop::{Workshop, example, tells};
use crate::support::{programs, rng};

/// Parts of a run: the first cycle of each, and how many cycles it has.
type Parts = Vec<(u64, u64)>;

/// From each cycle in which this is high to the next one.
fn to_next(event: &[u64]) -> Parts {
    let high = (0..).zip(event).filter(|(_, value)| **value == 1);
    let high: Vec<u64> = high.map(|(cycle, _)| cycle).collect();
    high.windows(2)
        .map(|pair| (pair[0], pair[1] - pair[0]))
        .collect()
}

/// From one event to another, the first to begin being the first to end.
fn between(from: &[u64], to: &[u64]) -> (Parts, u64) {
    let (mut open, mut parts) = (VecDeque::new(), Parts::new());
    for (cycle, (from, to)) in (0..).zip(from.iter().zip(to)) {
        if *from == 1 {
            open.push_back(cycle);
        }
        if *to == 1 {
            parts.extend(open.pop_front().map(|start| (start, cycle - start)));
        }
    }
    (parts, open.len() as u64)
}

/// The parts that a window keeps: one at a time, with both ends, the last one up to the end of the run.
fn windows(from: &[u64], to: &[u64]) -> Parts {
    let (mut open, mut parts) = (None, Parts::new());
    for (cycle, (from, to)) in (0..).zip(from.iter().zip(to)) {
        if *from == 1 {
            open.get_or_insert(cycle);
        }
        if *to == 1 {
            parts.extend(open.take().map(|start| (start, cycle + 1 - start)));
        }
    }
    parts.extend(open.map(|start| (start, from.len() as u64 - start)));
    parts
}

/// What comes together in each part.
fn sums(parts: &Parts, values: &[u64]) -> Vec<u64> {
    let of = |&(start, cycles): &(u64, u64)| {
        let part = usize::try_from(start).unwrap()..usize::try_from(start + cycles).unwrap();
        values[part].iter().sum()
    };
    parts.iter().map(of).collect()
}

/// Whether a spread is that of these values.
fn is_spread(spread: &Value, parts: &Parts, values: &[u64], what: &str) {
    if values.is_empty() {
        assert!(spread.is_null(), "{what}");
        return;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = |of: usize| sorted[(sorted.len() * of).div_ceil(100) - 1];
    let total: u64 = values.iter().sum();
    let max = *sorted.last().unwrap();
    let at = parts.iter().zip(values).filter(|(_, value)| **value == max);
    let expected = [
        ("count", values.len() as u64),
        ("min", sorted[0]),
        ("median", rank(50)),
        ("p99", rank(99)),
        ("max", max),
        ("max_at", at.map(|((start, _), _)| *start).min().unwrap()),
        ("total", total),
    ];
    for (key, value) in expected {
        assert_eq!(spread[key], json!(value), "{what}: {key}");
    }
    #[expect(clippy::cast_precision_loss, reason = "as it is shown")]
    let mean = total as f64 / values.len() as f64;
    assert!(
        (spread["mean"].as_f64().unwrap() - mean).abs() < 1e-9,
        "{what}"
    );
    let histogram = spread["histogram"].as_object().unwrap();
    let number: u64 = histogram.values().map(|of| of.as_u64().unwrap()).sum();
    assert_eq!(number, values.len() as u64, "{what}");
}

/// Conditions, which are no names of what is active, and values to count.
fn random(plain: &Plain, rng: &mut TestRng) -> (Vec<Random>, Vec<Random>) {
    let mut generator = Generator {
        plain,
        rng: TestRng::clone(rng),
    };
    let all = (0..programs(40)).map(|at| generator.expression(1 + at % 4));
    let all = all.filter(|of| of.width <= 32 && !plain.active.contains_key(&of.text));
    let all: Vec<Random> = all.collect();
    *rng = generator.rng;
    let often = |of: &Random| of.values.iter().sum::<u64>() > 1;
    all.into_iter().partition(|of| of.width == 1 && often(of))
}

/// Whether the samples, the first counter and the first figure are those of an event and a value.
fn are_samples(results: &Value, event: &[u64], value: &[u64], what: &str) {
    let parts = to_next(event);
    let cycles: Vec<u64> = parts.iter().map(|(_, cycles)| *cycles).collect();
    let samples = &results["samples"];
    assert_eq!(samples["parts"], json!(parts), "{what}");
    is_spread(&samples["spread"], &parts, &cycles, what);
    let around = ["before", "between", "after"].map(|key| samples[key].as_u64().unwrap());
    let all = cycles.iter().sum::<u64>() + around.iter().sum::<u64>();
    assert_eq!(json!(all), results["cycles"], "{what}");
    let counter = &results["counters"][0];
    let of_samples = sums(&parts, value);
    assert_eq!(counter["samples"], json!(of_samples), "{what}");
    assert_eq!(counter["total"], json!(value.iter().sum::<u64>()), "{what}");
    is_spread(&counter["spread"], &parts, &of_samples, what);
    let figures = results["derived"][0]["samples"].as_array().unwrap();
    assert_eq!(figures.len(), cycles.len(), "{what}");
    for ((figure, sum), cycles) in figures.iter().zip(&of_samples).zip(&cycles) {
        #[expect(clippy::cast_precision_loss, reason = "as it is shown")]
        let expected = *sum as f64 / *cycles as f64;
        assert!((figure.as_f64().unwrap() - expected).abs() < 1e-9, "{what}");
    }
}

/// Whether a counter counts in these parts alone.
fn is_within(counter: &Value, parts: &Parts, values: &[u64], unfinished: u64, what: &str) {
    let sums = sums(parts, values);
    let list = |key: &str| counter[key].as_array().cloned().unwrap_or_default();
    assert_eq!(json!(list("parts")), json!(parts), "{what}: {counter}");
    assert_eq!(json!(list("samples")), json!(sums), "{what}: {counter}");
    assert_eq!(counter["total"], json!(sums.iter().sum::<u64>()), "{what}");
    is_spread(&counter["spread"], parts, &sums, what);
    let open = counter["unfinished"].as_u64().unwrap_or(0);
    assert_eq!(open, unfinished, "{what}: {counter}");
}

#[test]
fn samples_and_what_is_around_them_are_the_run() {
    let workshop = Workshop::empty();
    let mut rng = rng();
    let mut compared = 0;
    for design in short_examples() {
        workshop.succeeds(&["run", &design, "-q", "--out", "first", "--vcd", "wave.vcd"]);
        let trees = workshop.succeeds(&["trace", "first", "--json"]);
        let plain = Plain::of(&workshop.path("wave.vcd"), &trees);
        let (events, values) = random(&plain, &mut rng);
        let ([event, from, to, ..], [value, other, ..]) = (&events[..], &values[..]) else {
            continue;
        };
        let during = format!("{}..{}", from.text, to.text);
        let counters = [
            format!("a={}", value.text),
            format!("b={} during {during}", other.text),
            format!("c={} during kept", value.text),
            format!("d={} during slow", value.text),
        ];
        let mut args = vec![
            "run",
            &design,
            "-q",
            "--out",
            "out",
            "--sample",
            &event.text,
        ];
        let (window, latency) = (format!("kept={during}"), format!("slow={during}"));
        args.extend([
            "--window",
            &window,
            "--latency",
            &latency,
            "--derive",
            "a / cycles",
        ]);
        for counter in &counters {
            args.extend(["--count", counter]);
        }
        workshop.succeeds(&args);
        let results = results(&workshop, "out");
        let what = format!("{design}: {} of {}", value.text, event.text);
        are_samples(&results, &event.values, &value.values, &what);
        let (matched, unfinished) = between(&from.values, &to.values);
        let kept = windows(&from.values, &to.values);
        assert_eq!(results["windows"][0]["parts"], json!(kept), "{what}");
        let counter = |at: usize| &results["counters"][at];
        is_within(counter(1), &matched, &other.values, unfinished, &what);
        is_within(counter(2), &kept, &value.values, 0, &what);
        is_within(counter(3), &matched, &value.values, unfinished, &what);
        compared += 1;
    }
    assert!(compared > 5, "only {compared} designs");
}

#[test]
fn iterations_are_samples_up_to_the_end_of_their_loop() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.write(
        "rows.toml",
        "sample = \"iteration(main.while@L84)\"\n\n[[latency]]\nname = \"all\"\nfrom = \"iteration(main.while@L84)\"\n\n\
         [[count]]\nvalue = \"main.mult.go\"\n\n[[count]]\nvalue = \"main.mult.go\"\nduring = \"main.multiply\"\n\n\
         [[count]]\nname = \"products\"\nvalue = \"begin(main.multiply)\"\nduring = \"all\"\n",
    );
    let run = ["run", &design, "--out", "out"];
    let printed = workshop.succeeds(&[&run[..], &["--observe", "rows.toml"]].concat());
    let results = results(&workshop, "out");
    let samples = &results["samples"];
    assert_eq!(samples["parts"], results["latencies"][0]["intervals"]);
    assert_eq!(samples["spread"]["count"], json!(16));
    // Three times the outer loop goes on between two of them.
    assert!(samples["between"].as_u64() > Some(0));
    // Two cycles of the multiplier for each of four products; no product is outside of the loop.
    let counters = &results["counters"];
    assert_eq!(counters[0]["samples"], json!(vec![8; 16]));
    assert_eq!(counters[1]["samples"], json!(vec![2; 64]));
    assert_eq!(
        counters[1]["name"],
        json!("main.mult.go during main.multiply")
    );
    assert_eq!(counters[1]["per_cycle"], json!(1.0));
    assert_eq!(counters[2]["samples"], json!(vec![4; 16]));
    tells(
        &printed,
        &[
            "samples up to iteration(main.while@L84): 16; ",
            "max at",
            "products",
        ],
    );
    // On the timeline each has what was counted in it.
    let timeline = std::fs::read(workshop.path("out/timeline.pftrace")).unwrap();
    let observed = perfetto::observed(&timeline);
    let track = &observed["samples up to iteration(main.while@L84)"];
    assert_eq!(track.len(), 32, "a begin and an end of each");
    let json: Value = serde_json::from_str(&workshop.read("out/timeline.json")).unwrap();
    let mut events = json["traceEvents"].as_array().unwrap().iter();
    let slice = events.find(|of| of["name"] == "samples up to iteration(main.while@L84)");
    assert_eq!(slice.unwrap()["args"]["main.mult.go"], json!(8));
}

#[test]
fn the_worst_sample_is_the_one_that_is_named() {
    let workshop = Workshop::empty();
    let design = example("packet-scheduler.futil");
    let asked = [
        "--sample",
        "iteration(main.while@L256)",
        "--count",
        "main.check.active",
    ];
    workshop.succeeds(&[&["run", &design, "-q", "--out", "out"], &asked[..]].concat());
    let results = results(&workshop, "out");
    let spread = &results["samples"]["spread"];
    let parts = results["samples"]["parts"].as_array().unwrap();
    let longest = parts.iter().map(|part| part[1].as_u64().unwrap()).max();
    assert_eq!(spread["max"].as_u64(), longest);
    let worst = parts
        .iter()
        .find(|part| part[0] == spread["max_at"])
        .unwrap();
    assert_eq!(worst[1], spread["max"]);
    // The table, whose column `max_at` the report links to the timeline.
    let table = workshop.read("out/observations/spreads.csv");
    let row = format!("{},{},", spread["max"], spread["max_at"]);
    tells(
        &table,
        &[
            "counter,per,count,min,mean,median,p99,max,max_at,total,rest",
            &row,
        ],
    );
    let report = workshop.read("out/report.html");
    tells(&report, &["\"max at\"", "\"spreads\""]);
    let rows = workshop
        .read("out/observations/samples.csv")
        .lines()
        .count();
    assert_eq!(rows, 1 + 2 * 20_000);
}

#[test]
fn what_is_no_sample_is_refused() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let run = ["run", &design, "-q", "--out", "out"];
    for (asked, parts) in [
        (
            ["--sample", "0", "--count=main.mult.go"],
            ["a sample has at least one cycle", ""],
        ),
        (
            ["--sample", "main.k.out", ""],
            ["this has 3 bits, and one bit is wanted", "--sample"],
        ),
        (
            ["--count", "main.mult.go during main.k.out", ""],
            ["two events are needed", ""],
        ),
        (
            [
                "--count",
                "main.mult.go during last",
                "--window=last=10..main.store",
            ],
            ["has an event at each end, and no number of cycles", "last"],
        ),
    ] {
        let asked: Vec<&str> = asked.into_iter().filter(|of| !of.is_empty()).collect();
        tells(&workshop.fails(&[&run[..], &asked].concat()), &parts);
    }
    workshop.write("o.toml", "sample = true\n");
    let said = workshop.fails(&[&run[..], &["--observe", "o.toml"]].concat());
    tells(
        &said,
        &["o.toml", "a sample is a number of cycles, or an event"],
    );
    workshop.write("o.toml", "sample = \"main.k.out == 9\"\n");
    let said = workshop.fails(&[&run[..], &["--observe", "o.toml"]].concat());
    tells(&said, &["o.toml:1: 9 does not fit into 3 bits"]);
    let during = "main.mult.go during main.multiply";
    let said = workshop.fails(&["monitor", &design, "--count", during, "-o", "m.futil"]);
    tells(&said, &["a monitor counts in the whole run"]);
}
