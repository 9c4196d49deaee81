//! Events while a run goes on: the same as the timeline's, and as the observations'.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::{results, short_examples};
use crate::support::workshop::{Workshop, example, tells};

struct Events {
    sites: BTreeMap<String, Value>,
    edges: Vec<Value>,
    /// What comes after the sites and edges, but for the last line.
    rest: Vec<Value>,
    cycles: u64,
}

fn read(text: &str) -> Events {
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.remove(0)["events"], 1);
    let cycles = lines.pop().unwrap()["cycles"].as_u64().unwrap();
    let (graph, rest): (Vec<Value>, Vec<Value>) = lines
        .into_iter()
        .partition(|line| line.get("site").or(line.get("edge")).is_some());
    let (sites, edges): (Vec<Value>, Vec<Value>) = graph
        .into_iter()
        .partition(|line| line.get("site").is_some());
    let count = sites.len();
    let key = |site: &Value| site["site"].as_str().unwrap().to_owned();
    let sites: BTreeMap<String, Value> = sites.into_iter().map(|site| (key(&site), site)).collect();
    assert_eq!(sites.len(), count, "each site has a number of its own");
    Events {
        sites,
        edges,
        rest,
        cycles,
    }
}

#[test]
fn events_are_those_of_the_timeline() {
    let workshop = Workshop::empty();
    let mut compared = 0;
    for design in short_examples() {
        workshop.succeeds(&[
            "run", &design, "-q", "--out", "out", "--events", "events", "--vcd", "wave.vcd",
        ]);
        let events = read(&workshop.read("events"));
        for edge in &events.edges {
            for end in ["from", "to"] {
                assert!(
                    events.sites.contains_key(edge[end].as_str().unwrap()),
                    "{edge}"
                );
            }
        }
        let mut open: BTreeMap<(&str, u64), u64> = BTreeMap::new();
        let mut times: BTreeMap<&str, u64> = BTreeMap::new();
        let (mut told, mut cycle) = (Vec::new(), 0);
        for event in &events.rest {
            let now = event["cycle"].as_u64().unwrap();
            assert!(now >= cycle, "{design}: {event}");
            cycle = now;
            let before = event["before"].as_u64().unwrap();
            if let Some(site) = event["begin"].as_str() {
                let times = times.entry(site).or_default();
                assert_eq!(before, *times, "{design}: {event}");
                *times += 1;
                open.insert((site, before), now);
            } else {
                let site = event["end"].as_str().unwrap();
                let start = open.remove(&(site, before)).unwrap();
                *times.get_mut(site).unwrap() += event["times"].as_u64().unwrap_or(1) - 1;
                let kind = events.sites[site]["kind"].as_str().unwrap().to_owned();
                told.push((kind, start, now));
            }
        }
        assert!(open.is_empty(), "{design}: {open:?}");
        let timeline: Value = serde_json::from_str(&workshop.read("out/timeline.json")).unwrap();
        let slices = timeline["traceEvents"].as_array().unwrap().iter();
        let slices = slices.filter(|slice| slice["ph"] == "X");
        let kinds = BTreeSet::from(["cell", "control", "group", "primitive"]);
        let mut slices: Vec<(String, u64, u64)> = slices
            .filter(|slice| kinds.contains(slice["cat"].as_str().unwrap()))
            .map(|slice| {
                let start = slice["ts"].as_u64().unwrap();
                let kind = slice["cat"].as_str().unwrap().to_owned();
                (kind, start, start + slice["dur"].as_u64().unwrap())
            })
            .collect();
        told.sort();
        slices.sort();
        assert_eq!(told, slices, "{design}");
        compared += told.len();
        let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
        assert_eq!(summary["cycles"], events.cycles);
        // A waveform tells the same.
        let again = [
            "reconstruct",
            "out/metadata.json",
            "wave.vcd",
            "-q",
            "--out",
            "again",
        ];
        workshop.succeeds(&[&again[..], &["--events", "again.events"]].concat());
        let lines = |name: &str| {
            workshop
                .read(name)
                .lines()
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines("again.events"), lines("events"), "{design}");
    }
    assert!(compared > 1000);
}

#[test]
fn a_site_has_the_same_number_wherever_it_runs() {
    let workshop = Workshop::empty();
    workshop.write("elsewhere.toml", "");
    std::fs::create_dir(workshop.path("folder")).unwrap();
    std::fs::copy(
        example("matmul.futil"),
        workshop.path("folder/matmul.futil"),
    )
    .unwrap();
    std::fs::copy(
        example("matmul.futil.data"),
        workshop.path("folder/matmul.futil.data"),
    )
    .unwrap();
    let text = workshop.succeeds(&[
        "run",
        "folder/matmul.futil",
        "--out",
        "out",
        "--events",
        "-",
    ]);
    let events = read(&text);
    let site = &events.sites["9fd8063dd9d084fc"];
    assert_eq!(site["kind"], "control");
    assert_eq!(site["path"], "main.seq@L79");
    assert_eq!(
        (site["file"].as_str(), site["line"].as_u64()),
        (Some("matmul.futil"), Some(79))
    );
    // What calls what, and what comes after what.
    let number = |path: &str| {
        let mut sites = events.sites.iter();
        sites
            .find(|(_, site)| site["path"] == path)
            .unwrap()
            .0
            .as_str()
    };
    let edge = |kind: &str, from: &str, to: &str| {
        let (from, to) = (number(from), number(to));
        let mut edges = events.edges.iter();
        assert!(edges.any(|edge| edge["edge"] == kind && edge["from"] == from && edge["to"] == to));
    };
    edge("calls", "main", "main.seq@L79");
    edge("calls", "main.multiply", "main.mult");
    edge("then", "main.multiply", "main.par@L90");
    edge("then", "main.more_terms", "main.seq@L88");
    edge("then", "main.seq@L88", "main.seq@L88");
}

#[test]
fn what_is_observed_is_told_in_its_cycle() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let run = ["run", &design, "-q", "--out", "out", "--events", "events"];
    let wanted = [
        "--checkpoint",
        "main.next_row",
        "--watch",
        "main.c",
        "--watch",
        "main.i.out",
    ];
    let more = ["--never", "main.k.out > 3", "--count", "busy=main.mult.go"];
    workshop.succeeds(&[&run[..], &wanted, &more].concat());
    let events = read(&workshop.read("events"));
    let results = results(&workshop, "out");
    let values = |path: &str| -> Vec<(u64, Option<u64>, u64)> {
        // A group that is watched is a site of its own, too.
        let observed = |site: &Value| site["path"] == path && site.get("file").is_none();
        let mut sites = events.sites.iter();
        let (id, _) = sites.find(|(_, site)| observed(site)).unwrap();
        let values = events.rest.iter().filter(|event| event["value"] == **id);
        let values = values.enumerate().map(|(at, event)| {
            assert_eq!(event["before"], at);
            let number = |key: &str| event[key].as_u64();
            (
                number("cycle").unwrap(),
                number("index"),
                number("is").unwrap(),
            )
        });
        values.collect()
    };
    let stamps = results["checkpoints"][0]["cycles"].as_array().unwrap();
    let stamps: Vec<_> = stamps
        .iter()
        .map(|cycle| (cycle.as_u64().unwrap(), None, 1))
        .collect();
    assert_eq!(values("main.next_row"), stamps);
    for (at, name) in ["main.c", "main.i.out"].into_iter().enumerate() {
        let changes = results["watches"][at]["changes"].as_array().unwrap().iter();
        let changes: Vec<_> = changes
            .map(|change| {
                let number = |key: &str| change[key].as_u64();
                (
                    number("cycle").unwrap(),
                    number("index"),
                    number("new").unwrap(),
                )
            })
            .collect();
        assert!(!changes.is_empty());
        assert_eq!(values(name), changes);
    }
    let violations = results["rules"][0]["violations"].as_array().unwrap().iter();
    let mut edges: Vec<_> = violations
        .flat_map(|of| {
            let (first, cycles) = (
                of["cycle"].as_u64().unwrap(),
                of["cycles"].as_u64().unwrap(),
            );
            [(first, None, 1), (first + cycles, None, 0)]
        })
        .collect();
    edges.retain(|(cycle, ..)| *cycle < events.cycles);
    assert_eq!(values("main.k.out > 3"), edges);
    let busy = values("busy");
    let last = [(events.cycles, None, 0)];
    let pairs = busy.iter().zip(busy.iter().skip(1).chain(&last));
    let total: u64 = pairs
        .map(|((from, _, value), (to, ..))| value * (to - from))
        .sum();
    assert_eq!(results["counters"][0]["total"], total);
    // In the order of time, together with what begins and ends.
    let cycles: Vec<u64> = events
        .rest
        .iter()
        .map(|event| event["cycle"].as_u64().unwrap())
        .collect();
    assert!(cycles.is_sorted());
}

#[test]
fn events_come_while_the_run_goes_on() {
    let workshop = Workshop::endless();
    let mut command =
        workshop.command(&["run", "design.futil", "-q", "--out", "out", "--events", "-"]);
    let mut run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let events = BufReader::new(run.stdout.take().unwrap()).lines();
    let begins = events.filter(|line| line.as_ref().unwrap().starts_with("{\"begin\""));
    assert_eq!(begins.take(10_000).count(), 10_000);
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn events_have_standard_output_for_themselves() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let run = ["run", &design, "--out", "out", "--events"];
    for other in ["--json", "--memories"] {
        let said = workshop.ends(2, &[&run[..], &["-", other]].concat());
        tells(&said, &["--events -", other, "standard output"]);
    }
    let compiled = [&run[..], &["events", "--control", "compiled"]].concat();
    tells(
        &workshop.ends(2, &compiled),
        &["--events", "--control compiled"],
    );
    assert!(!workshop.path("out").exists() && !workshop.path("events").exists());
    let missing = workshop.fails(&[&run[..], &["nowhere/events"]].concat());
    tells(&missing, &["nowhere/events"]);
    // A reader that has enough is no error, and the profile is whole.
    let head =
        format!("petal run {design} -q --out out --events - | head -n 3; echo ${{PIPESTATUS[0]}}");
    let output = workshop.bash(&head).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().last(), Some("0"), "{said}");
    workshop.succeeds(&["stats", "out"]);
}

#[test]
fn a_filter_leaves_events_of_some_sites_and_times_as_they_are() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let told = |filter: &[&str]| {
        let run = ["run", &design, "-q", "--out", "out", "--events", "events"];
        let observed = ["--checkpoint", "k=main.multiply"];
        workshop.succeeds(&[&run[..], &observed, filter].concat());
        read(&workshop.read("events"))
    };
    let all = told(&[]);
    let some = told(&[
        "--event-filter",
        "kind=group,checkpoint; path=main.m*, k; every=2; cycles=10..200",
    ]);
    let is_of = |site: &Value| {
        let (kind, path) = (&site["kind"], site["path"].as_str().unwrap());
        (kind == "group" || kind == "checkpoint") && (path.starts_with("main.m") || path == "k")
    };
    let sites = all.sites.iter().filter(|(_, site)| is_of(site));
    let sites: BTreeMap<String, Value> =
        sites.map(|(id, site)| (id.clone(), site.clone())).collect();
    assert!(sites.len() > 2, "{sites:?}");
    assert_eq!(some.sites, sites);
    // Both streams join by the sites and the numbers of activations.
    let mut open = BTreeSet::new();
    let wanted = all.rest.iter().filter(|event| {
        let (begin, end) = (event["begin"].as_str(), event["end"].as_str());
        let site = begin.or(end).or(event["value"].as_str()).unwrap();
        let before = event["before"].as_u64().unwrap();
        if end.is_some() {
            return open.remove(&(site.to_owned(), before));
        }
        let is_told = sites.contains_key(site)
            && before.is_multiple_of(2)
            && (10..200).contains(&event["cycle"].as_u64().unwrap());
        if is_told && begin.is_some() {
            open.insert((site.to_owned(), before));
        }
        is_told
    });
    let wanted: Vec<&Value> = wanted.collect();
    assert!(wanted.len() > 10, "only {} events", wanted.len());
    assert_eq!(some.rest.iter().collect::<Vec<_>>(), wanted);
    assert_eq!(some.cycles, all.cycles);
    let wrong = [
        "run",
        &design,
        "--events",
        "events",
        "--event-filter",
        "site=1",
    ];
    tells(&workshop.ends(2, &wrong), &["`site` is none of"]);
}
