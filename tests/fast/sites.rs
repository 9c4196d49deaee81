//! Any two outputs join by the numbers of sites: what one tells of a site, the others tell, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::support::workshop::{Workshop, example, succeeds, tells};
use crate::support::{perfetto, root};

/// Designs with several instances of a component, groups that run in several ways, split groups, static control, `ref` cells.
const DESIGNS: [&str; 8] = [
    "nested-components",
    "shared-component",
    "invoke-ref",
    "matmul",
    "pipelined-mac",
    "static",
    "switch-case-par",
    "structural-enable",
];

/// How often a site was active, and for how many cycles.
type Counts = BTreeMap<String, (u64, u64)>;

/// What a stream tells: the kind, path and place of each site, and what each did.
struct Stream {
    sites: BTreeMap<String, [String; 4]>,
    counts: Counts,
    /// What begins in a cycle, with how often it began before.
    begins: BTreeMap<(String, u64), u64>,
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn stream(events: &str) -> Stream {
    let (mut sites, mut counts, mut began) = (BTreeMap::new(), Counts::new(), BTreeMap::new());
    let mut begins = BTreeMap::new();
    for line in events.lines().skip(1) {
        let event: Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| event[key].as_u64();
        if event["kind"].is_string() {
            let of = ["kind", "path", "file", "line"].map(|key| text(&event[key]));
            sites.insert(text(&event["site"]), of);
        } else if let Some(site) = event["begin"].as_str() {
            began.insert((site.to_owned(), number("before")), number("cycle"));
            let at = (site.to_owned(), number("cycle").unwrap());
            begins.insert(at, number("before").unwrap());
        } else if let Some(site) = event["end"].as_str() {
            let since = began.remove(&(site.to_owned(), number("before"))).unwrap();
            let of = counts.entry(site.to_owned()).or_default();
            of.0 += number("times").unwrap_or(1);
            of.1 += number("cycle").unwrap() - since.unwrap();
        }
    }
    assert!(began.is_empty());
    Stream {
        sites,
        counts,
        begins,
    }
}

/// The rows of a table in a file of Apache Parquet, as texts.
fn parquet(workshop: &Workshop, table: &str) -> Vec<BTreeMap<String, String>> {
    let path = workshop.path(&format!("out/tables/{table}.parquet"));
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = file.get_row_iter(None).unwrap().map(Result::unwrap);
    rows.map(|row| {
        let all = row.get_column_iter();
        let all = all.map(|(name, value)| {
            let text = match value {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                other => other.to_string(),
            };
            (name.clone(), text)
        });
        all.collect()
    })
    .collect()
}

/// The rows of a table as JSON.
fn json(workshop: &Workshop, args: &[&str]) -> Vec<Value> {
    let text = workshop.succeeds(&[&["stats", "out"], args, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// What looks the same on a timeline.
type Look = (u64, String, BTreeMap<String, String>);

/// What slices tell, each of a category, with its cycles. The first of those that look the same tells its site, if they do not all.
fn told(
    slices: impl IntoIterator<Item = (Look, String, Range<u64>)>,
    stream: &Stream,
    design: &str,
) -> Counts {
    let mut known: BTreeMap<Look, String> = BTreeMap::new();
    let mut counts = Counts::new();
    for ((track, name, mut arguments), category, cycles) in slices {
        let mut number = |key: &str| arguments.remove(key).map(|of| of.parse().unwrap());
        let times: u64 = number("activations").unwrap_or(1);
        let activation = number("activation");
        let own = arguments.remove("site");
        let look = (track, name, arguments);
        let site = own.unwrap_or_else(|| known[&look].clone());
        assert_eq!(stream.sites[&site][0], category, "{design}: {look:?}");
        let path = &stream.sites[&site][1];
        let is_named = path.ends_with(&look.1) || path.contains(&format!("{}@", look.1));
        assert!(is_named || category == "cell", "{design}: {path}: {look:?}");
        // That of a part is that of the whole.
        if let Some(activation) = activation.filter(|_| !path.ends_with(')')) {
            let before = stream.begins[&(site.clone(), cycles.start)];
            assert_eq!(activation, before + 1, "{design}: {path}: {cycles:?}");
        }
        let of = counts.entry(site.clone()).or_default();
        *of = (of.0 + times, of.1 + cycles.end - cycles.start);
        known.insert(look, site);
    }
    counts
}

fn is_of_a_site(category: &str) -> bool {
    ["cell", "control", "group", "primitive"].contains(&category)
}

fn check_timelines(workshop: &Workshop, stream: &Stream, design: &str) {
    let timeline: Value = serde_json::from_str(&workshop.read("out/timeline.json")).unwrap();
    let slices = timeline["traceEvents"].as_array().unwrap().iter();
    let slices = slices.filter(|of| of["ph"] == "X" && is_of_a_site(of["cat"].as_str().unwrap()));
    let slices = slices.map(|slice| {
        let arguments = slice["args"].as_object().unwrap().iter();
        let arguments = arguments.map(|(name, value)| (name.clone(), text(value)));
        let track = slice["tid"].as_u64().unwrap();
        let look = (track, text(&slice["name"]), arguments.collect());
        let [start, cycles] = ["ts", "dur"].map(|key| slice[key].as_u64().unwrap());
        (look, text(&slice["cat"]), start..start + cycles)
    });
    assert_eq!(
        told(slices, stream, design),
        stream.counts,
        "{design}: JSON"
    );
    let native = std::fs::read(workshop.path("out/timeline.pftrace")).unwrap();
    let slices = perfetto::slices(&native).into_iter();
    let slices = slices.filter(|slice| is_of_a_site(&slice.category));
    let slices = slices.map(|of| {
        (
            (of.track, of.name, of.arguments),
            of.category,
            of.start..of.end,
        )
    });
    assert_eq!(told(slices, stream, design), stream.counts, "{design}");
}

fn check_tables(workshop: &Workshop, stream: &Stream, design: &str) {
    let counts = |site: &str| stream.counts.get(site).copied().unwrap_or_default();
    // All sites, by petal and by another reader of the file.
    let mut known = BTreeSet::new();
    for row in json(workshop, &["sites"]) {
        let site = text(&row["site"]);
        let of = ["kind", "path", "file", "line"].map(|key| text(&row[key]));
        assert_eq!(stream.sites[&site], of, "{design}");
        let ran = row["times active"].as_u64().zip(row["cycles"].as_u64());
        // Only the whole of a group that the compiler split is counted.
        let is_part = of[0] == "group" && of[1].ends_with(')');
        assert_eq!(ran.is_none(), is_part, "{design}: {of:?}");
        assert!(
            ran.is_none_or(|ran| ran == counts(&site)),
            "{design}: {row}"
        );
        known.insert(site);
    }
    assert!(known.iter().eq(stream.sites.keys()), "{design}");
    let rows = parquet(workshop, "sites");
    assert_eq!(rows.len(), known.len(), "{design}");
    for row in rows {
        let of = ["kind", "path", "file", "line"].map(|key| row[key].clone());
        assert_eq!(stream.sites[&row["site"]], of, "{design}");
    }
    let mut spans = Counts::new();
    for row in parquet(workshop, "spans") {
        if is_of_a_site(&row["kind"]) {
            let number = |key: &str| row[key].parse::<u64>().unwrap();
            let of = spans.entry(row["site"].clone()).or_default();
            *of = (of.0 + number("activations"), of.1 + number("cycles"));
            assert_eq!(stream.sites[&row["site"]][0], row["kind"], "{design}");
        } else {
            assert_eq!(row["site"], "", "{design}");
        }
    }
    assert_eq!(spans, stream.counts, "{design}: spans");
    // What is in the trees is active while they are.
    let mut cycles: BTreeMap<String, u64> = BTreeMap::new();
    for row in parquet(workshop, "cycles") {
        *cycles.entry(row["tree"].clone()).or_default() += row["cycles"].parse::<u64>().unwrap();
    }
    let mut active: BTreeMap<String, u64> = BTreeMap::new();
    let nodes: BTreeSet<_> = parquet(workshop, "trees")
        .into_iter()
        .filter(|row| row["kind"] != "continuous")
        .map(|row| (row["tree"].clone(), row["site"].clone()))
        .collect();
    for (tree, site) in nodes {
        *active.entry(site).or_default() += cycles[&tree];
    }
    let of_stream = stream.counts.iter();
    let of_stream = of_stream.map(|(site, (_, cycles))| (site.clone(), *cycles));
    assert_eq!(active, of_stream.collect(), "{design}: trees");
}

/// Rows of the other tables with a number tell the same; returns how many have one.
fn check_rows(workshop: &Workshop, stream: &Stream, design: &str) -> usize {
    let counts = |site: &str| stream.counts.get(site).copied().unwrap_or_default();
    let mut joined = 0;
    for (args, times, cycles) in [
        (&["cells"][..], Some("times active"), "cycles"),
        (&["groups"], Some("times active"), "total cycles"),
        (&["control"], None, "cycles"),
        (&["control", "--per-instance"], None, "cycles"),
        (&["loops"], None, "cycles"),
    ] {
        for row in json(workshop, args) {
            let Some(site) = row["site"].as_str() else {
                continue;
            };
            assert!(stream.sites.contains_key(site), "{design}: {row}");
            let (active, total) = counts(site);
            assert_eq!(row[cycles], total, "{design}: {row}");
            if let Some(known) = times.and_then(|times| row[times].as_u64()) {
                assert_eq!(known, active, "{design}: {row}");
            }
            joined += 1;
        }
    }
    let dot = workshop.succeeds(&["graph", "out", "--format", "dot"]);
    for line in dot.lines().filter(|line| line.contains(" site=")) {
        let of = |key: &str| {
            let (_, rest) = line.split_once(key).unwrap();
            let end = rest.find([',', ']']).unwrap();
            rest[..end].trim_matches('"').to_owned()
        };
        let (_, total) = counts(&of(" site="));
        assert_eq!(of(" cycles="), total.to_string(), "{design}: {line}");
        joined += 1;
    }
    joined
}

#[test]
fn all_outputs_tell_the_same_of_a_site() {
    let workshop = Workshop::empty();
    let (mut joined, mut sites) = (0, 0);
    for design in DESIGNS {
        let path = example(&format!("{design}.futil"));
        let run = ["run", &path, "-q", "--out", "out", "--tables"];
        workshop.succeeds(&[&run[..], &["--events", "events"]].concat());
        let stream = stream(&workshop.read("events"));
        check_timelines(&workshop, &stream, design);
        check_tables(&workshop, &stream, design);
        joined += check_rows(&workshop, &stream, design);
        sites += stream.counts.len();
    }
    assert!(joined > 300 && sites > 200, "{joined} rows, {sites} sites");
}

#[test]
fn what_is_observed_has_its_number_in_tables_as_well() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let observed = [
        ["--checkpoint", "row[main.i.out]=main.first_row"],
        ["--checkpoint", "mac=main.multiply"],
        ["--latency", "product=main.multiply"],
        ["--watch", "main.k.out"],
        ["--access", "main.a"],
        ["--never", "big=main.k.out > 1"],
        ["--always", "small=main.i.out < 3"],
        ["--count", "busy=main.multiply"],
        ["--window", "window=main.multiply"],
        // Counters have tracks if there are samples.
        ["--sample", "100"],
    ];
    let run = ["run", &design, "-q", "--out", "out", "--tables"];
    workshop.succeeds(&[&run[..], &observed.concat(), &["--events", "events"]].concat());
    let events = workshop.read("events");
    let mut sites = stream(&events).sites;
    sites.retain(|_, of| !is_of_a_site(&of[0]));
    assert_eq!(sites.len(), observed.len() - 1);
    let mut values: BTreeMap<String, usize> = BTreeMap::new();
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        // The first value of what is watched is no change, and a rule that is no more broken has no row.
        if event["value"].is_string() && event["cycle"] != 0 && event["is"] != 0 {
            *values.entry(text(&event["value"])).or_default() += 1;
        }
    }
    let results: Value = serde_json::from_str(&workshop.read("out/observations.json")).unwrap();
    let mut joined = BTreeSet::new();
    for (table, key, list, has_values) in [
        ("checkpoints", "checkpoint", "checkpoints", true),
        ("latencies", "latency", "latencies", false),
        ("changes", "watch", "watches", false),
        ("accesses", "memory", "accesses", true),
        ("access_memories", "memory", "accesses", false),
        ("access_patterns", "memory", "accesses", false),
        ("access_groups", "memory", "accesses", false),
        ("samples", "counter", "counters", false),
        ("spreads", "counter", "counters", false),
        ("violations", "rule", "rules", true),
        ("counters", "counter", "counters", false),
        ("windows", "window", "windows", false),
    ] {
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for row in parquet(&workshop, table) {
            // The cycles of samples are among their counters.
            let Some([_, name, file, line]) = sites.get(&row["site"]) else {
                assert_eq!(row[key], "cycles", "{table}");
                continue;
            };
            assert!(row[key].starts_with(name.as_str()), "{table}: {row:?}");
            assert_eq!([file, line], ["", ""]);
            let cycle = row.get("cycle").map(String::as_str);
            *rows.entry(row["site"].clone()).or_default() += usize::from(cycle != Some("0"));
        }
        for (site, count) in rows {
            let told = values.get(&site).copied().unwrap_or_default();
            assert!(!has_values || told == count, "{table}: {told} and {count}");
            joined.insert(site);
        }
        let list = results[list].as_array().unwrap().iter();
        let listed: BTreeSet<_> = list.map(|of| text(&of["site"])).collect();
        assert!(listed.iter().all(|site| joined.contains(site)), "{table}");
    }
    assert!(sites.keys().eq(&joined));
    // On the timeline tracks have the numbers.
    let timeline: Value = serde_json::from_str(&workshop.read("out/timeline.json")).unwrap();
    let names = timeline["traceEvents"].as_array().unwrap().iter();
    let names = names.filter(|of| of["name"] == "thread_name" && of["args"]["site"].is_string());
    let names = names.map(|of| (text(&of["args"]["site"]), text(&of["args"]["name"])));
    let names: BTreeMap<_, _> = names.collect();
    assert!(names.keys().eq(sites.keys()));
    let are_named = |(site, name): (&String, &String)| name.starts_with(&sites[site][1]);
    assert!(names.iter().all(are_named), "{names:?}");
    let native = std::fs::read(workshop.path("out/timeline.pftrace")).unwrap();
    assert_eq!(perfetto::described(&native), names);
}

#[test]
fn a_row_that_stands_for_several_sites_has_no_number() {
    let workshop = Workshop::empty();
    let design = example("nested-components.futil");
    workshop.succeeds(&["run", &design, "-q", "--out", "out"]);
    let of = |args: &[&str], name: &str| {
        let rows = json(&workshop, args);
        let mut rows = rows
            .iter()
            .filter(|row| row[args[0].trim_end_matches('s')] == name);
        rows.next().map(|row| row["site"].clone()).unwrap()
    };
    // `square` has two instances, and `norm` has one.
    assert_eq!(of(&["groups"], "multiply"), Value::Null);
    assert!(of(&["groups"], "total").is_string());
    // People are shown numbers if they ask for them.
    let plain = workshop.succeeds(&["stats", "out", "groups", "--all"]);
    assert!(!plain.contains("site"), "{plain}");
    let asked = workshop.succeeds(&["stats", "out", "groups", "--columns", "group,site"]);
    tells(&asked, &["site", text(&of(&["groups"], "total")).as_str()]);
}

#[test]
fn several_streams_each_have_their_events() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let run = ["run", &design, "-q", "--out", "out"];
    let two = ["--events", "all", "--events", "groups"];
    let filters = ["--event-filter", "path=*", "--event-filter", "kind=group"];
    workshop.succeeds(&[&run[..], &two, &filters].concat());
    workshop.succeeds(&[&run[..], &["--events", "one"]].concat());
    let filtered = ["--events", "some", "--event-filter", "kind=group"];
    workshop.succeeds(&[&run[..], &filtered].concat());
    let parts = |name: &str| {
        let text = workshop.read(name);
        let (first, rest) = text.split_once('\n').unwrap();
        (
            serde_json::from_str::<Value>(first).unwrap(),
            rest.to_owned(),
        )
    };
    let (all, groups) = (parts("all"), parts("groups"));
    assert_eq!(all.1, parts("one").1);
    assert_eq!(groups.1, parts("some").1);
    assert!(groups.1.lines().count() * 2 < all.1.lines().count());
    assert_eq!(
        groups.0,
        serde_json::json!({ "events": 1, "design": "matmul", "stream": "groups", "filter": "kind=group" })
    );
    assert!(parts("one").0.get("filter").is_none());
    for (args, words) in [
        (
            &[
                "--events",
                "a",
                "--events",
                "b",
                "--event-filter",
                "kind=cell",
            ][..],
            "path=*",
        ),
        (&["--events", "-", "--events", "-"], "standard output"),
        (&["--events", "a", "--events", "a"], "same file"),
    ] {
        tells(&said_by(&workshop, &[&run[..], args].concat()), &[words]);
    }
}

fn said_by(workshop: &Workshop, args: &[&str]) -> String {
    let output = workshop.petal(args);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_subscribers_in_c_and_python_count_what_petal_counts() {
    let workshop = Workshop::empty();
    for design in ["matmul", "static"] {
        let path = example(&format!("{design}.futil"));
        let run = ["run", &path, "-q", "--out", "out", "--events", "events"];
        workshop.succeeds(&run);
        let stream = stream(&workshop.read("events"));
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Wextra", "-Werror", "-O1", "-o"]);
        compiler.arg(workshop.path("active"));
        compiler.arg(root().join("examples/active.c"));
        succeeds(&mut compiler);
        let active = succeeds(&mut workshop.bash("./active < events"));
        let told: Counts = active
            .lines()
            .map(|line| {
                let parts: Vec<&str> = line.split(' ').collect();
                let [site, cycles, times] = parts[..] else {
                    panic!("{line}")
                };
                (
                    site.to_owned(),
                    (times.parse().unwrap(), cycles.parse().unwrap()),
                )
            })
            .collect();
        assert_eq!(told, stream.counts, "{design}");
        let script = root().join("examples/waits.py");
        let waits = format!("python3 {} < events", script.display());
        let waits = succeeds(&mut workshop.bash(&waits));
        assert!(waits.starts_with(&format!("{design}: ")), "{waits}");
        for line in waits.lines().skip(1) {
            let parts: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(stream.sites[parts[1]][1], parts[2], "{line}");
        }
        let cut = "head -n -1 events | ./active > /dev/null || echo cut";
        let cut = succeeds(&mut workshop.bash(cut));
        assert_eq!(cut.trim(), "cut");
    }
}
