//! The files of a profile are those that the list of outputs and docs/formats.md tell.

use std::collections::BTreeSet;
use std::path::Path;

use petal_analysis::SUMMARY_VERSION;
use petal_visualize::outputs::{Make, OBSERVATIONS, OUTPUTS, SUMMARY};
use serde_json::Value;

use crate::support::workshop::{DESIGN, Workshop, example};
use crate::support::{examples, instrument, root};

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The rows of the first table behind the line `start`, without its head.
fn rows<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    let (_, rest) = page.split_once(&format!("\n{start}\n")).unwrap();
    let lines = rest.lines().skip_while(|line| !line.starts_with('|'));
    lines
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .collect()
}

#[test]
fn a_profile_has_the_files_of_the_list() {
    let workshop = Workshop::new();
    let positions = root().join("tests/corpus/struct-positions.futil");
    let positions = positions.display().to_string();
    // The second one after the first: what it does not have is not left there.
    for (design, front_end) in [(positions, true), (example("switch-case-par.futil"), false)] {
        workshop.succeeds(&["run", &design, "--out", "out"]);
        let files = workshop.files("out");
        let there: BTreeSet<&Path> = files.keys().map(AsRef::as_ref).collect();
        let listed = OUTPUTS.iter();
        let listed = listed.filter(|output| front_end || !output.of_front_end);
        let listed = listed.filter(|output| match output.make {
            Make::Observed | Make::Table => false,
            // The second run has one before it.
            Make::Before => !front_end,
            _ => true,
        });
        let listed: Vec<&Path> = listed.map(|output| output.name.as_ref()).collect();
        assert_eq!(there.len(), listed.len(), "a file is listed twice");
        assert_eq!(there, listed.into_iter().collect());
    }
}

#[test]
fn the_formats_have_the_files_of_the_list() {
    let rest = OUTPUTS.chunk_by(|a, b| a.about == b.about);
    let listed: Vec<String> = rest
        .map(|same| {
            let names = same.iter().map(|output| format!("`{}`", output.name));
            let names: Vec<String> = names.collect();
            let about = same[0].about.replace("](docs/", "](");
            format!("| {} | {about} |", names.join(", "))
        })
        .collect();
    let page = read("docs/formats.md");
    assert_eq!(rows(&page, "## Files of a profile"), listed);
}

/// The fields that the first table behind the heading `heading` of docs/formats.md names.
fn documented(heading: &str) -> BTreeSet<String> {
    let page = read("docs/formats.md");
    let rows = rows(&page, heading).into_iter();
    let columns = rows.map(|row| row.split('|').nth(1).unwrap().to_owned());
    let names = columns.flat_map(|names| {
        let names = names.split(',');
        let names = names.map(|name| name.trim().trim_matches('`').to_owned());
        names.collect::<Vec<_>>()
    });
    names.collect()
}

/// The paths of all fields: `groups[].name`. Those below `versions` are names of tools.
fn fields(value: &Value, path: &str, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = match path {
                    "" => name.clone(),
                    "versions"
                    | "latencies[].histogram"
                    | "counters[].spread.histogram"
                    | "samples.spread.histogram" => format!("{path}.*"),
                    _ => format!("{path}.{name}"),
                };
                fields.insert(path.clone());
                self::fields(value, &path, fields);
            }
        }
        Value::Array(values) => {
            for value in values {
                self::fields(value, &format!("{path}[]"), fields);
            }
        }
        _ => {}
    }
}

#[test]
fn the_documented_fields_of_the_summary_are_those_written() {
    let workshop = Workshop::new();
    let of_corpus = |name: &str| root().join("tests/corpus").join(name).display().to_string();
    workshop.edited("without-data.futil", "while-comb.futil", &[]);
    std::fs::remove_file(workshop.path("without-data.futil.data")).unwrap();
    let mut written = BTreeSet::new();
    for (design, limit, passes) in [
        (example("switch-case-par.futil"), "100", "all"),
        (example("switch-case-par.futil"), "5", "all"),
        (of_corpus("struct-positions.futil"), "100", "all"),
        (of_corpus("control-repeat.futil"), "100", "no-opt"),
        (
            workshop.path("without-data.futil").display().to_string(),
            "100",
            "all",
        ),
    ] {
        let partial = ["--partial", "--cycle-limit", limit, "--out", "out"];
        let run = ["run", &design, "--passes", passes, "--period", "4ns"];
        workshop.succeeds(&[&run[..], &partial[..]].concat());
        let text = std::fs::read_to_string(workshop.path("out").join(SUMMARY)).unwrap();
        let summary: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(summary["version"], SUMMARY_VERSION);
        fields(&summary, "", &mut written);
    }
    let heading = format!("## `summary.json`, version {SUMMARY_VERSION}");
    assert_eq!(documented(&heading), written);
}

#[test]
fn the_documented_fields_of_advice_are_those_written() {
    let workshop = Workshop::empty();
    let mut written = BTreeSet::new();
    // Of the second one there is more than is proved.
    for (design, more) in [("switch-case-par", "--search"), ("invoke-ref", "--proved")] {
        let design = example(&format!("{design}.futil"));
        workshop.succeeds(&["advise", &design, more, "--budget", "5s", "--out", "out"]);
        let text = std::fs::read_to_string(workshop.path("out").join(SUMMARY)).unwrap();
        let summary: Value = serde_json::from_str(&text).unwrap();
        fields(&summary["advice"], "", &mut written);
    }
    // What they name depends on the design.
    written.retain(|path| !path.contains(".cells."));
    // It needs the tools that `petal synth` calls.
    let of_tools = ["synthesized", "front[].synthesized", "advice[].synthesized"];
    written.extend(of_tools.map(str::to_owned));
    assert_eq!(documented("## `advice` in `summary.json`"), written);
}

#[test]
fn the_documented_fields_of_what_if_are_those_written() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.succeeds(&["whatif", &design, "--out", "out"]);
    let curve = ["--primitive", "std_mult_pipe=2..3"];
    workshop.succeeds(&[&["whatif", &design, "--out", "out"][..], &curve].concat());
    let text = std::fs::read_to_string(workshop.path("out").join(SUMMARY)).unwrap();
    let summary: Value = serde_json::from_str(&text).unwrap();
    let mut written = BTreeSet::new();
    fields(&summary["what_if"], "", &mut written);
    assert_eq!(documented("## `what_if` in `summary.json`"), written);
}

/// The path of a field, but for what holds it where the same objects are in several places.
fn shared(path: &str) -> String {
    let probes = [".enable.", ".branch."];
    let mut probes = probes.iter().filter_map(|name| path.split_once(name));
    let again = probes.next().map(|(_, field)| ("probe", field));
    let again = again.or_else(|| {
        ["span", "probe", "schedule[]"]
            .into_iter()
            .find_map(|name| {
                let (_, field) = path.split_once(&format!(".{name}."))?;
                Some((name, field))
            })
    });
    match again {
        // How many parts.
        Some(("schedule[]", field)) if field.starts_with("parts.") => "schedule[].parts".to_owned(),
        Some((name, field)) => format!("{name}.{field}"),
        None => path.to_owned(),
    }
}

/// A design with variables of a front end, one of which can't be seen.
fn with_variables() -> String {
    crate::variables::DESIGN.replace("3: main.rp", "3: main.gone")
}

#[test]
fn the_documented_fields_of_the_metadata_are_those_written() {
    let mut written = BTreeSet::new();
    let of_corpus = ["struct-positions", "struct-inline"];
    let of_corpus = of_corpus.map(|name| root().join(format!("tests/corpus/{name}.futil")));
    let workshop = Workshop::empty();
    workshop.write(
        "marked.futil",
        DESIGN.replace("{ put; put; }", "{ @checkpoint(1) put; put; }"),
    );
    let marked = workshop.path("marked.futil");
    workshop.write("variables.futil", with_variables());
    let variables = workshop.path("variables.futil");
    for design in [examples(), of_corpus.to_vec(), vec![marked, variables]].concat() {
        let (_, metadata) = instrument(&design, "all");
        let metadata = serde_json::from_str(&metadata.to_json()).unwrap();
        fields(&metadata, "", &mut written);
    }
    // What they name depends on the value.
    written.retain(|path| !path.contains(".variables[].type."));
    // Registers are shared by random programs: `variables/random.rs`.
    written.insert("front_end.holders[].is_shared".to_owned());
    // Of addresses with a guard: `observe/accesses.rs`.
    written.insert("components[].lookups[].probe".to_owned());
    let of_values = [
        ".kind.component",
        ".kind.primitive",
        ".callee.group",
        ".callee.cell",
        ".origin.inlined",
    ];
    written.retain(|path| !of_values.iter().any(|value| path.ends_with(value)));
    let written: BTreeSet<String> = written.iter().map(|path| shared(path)).collect();
    let heading = format!("## `metadata.json`, version {}", petal_metadata::VERSION);
    assert_eq!(documented(&heading), written);
}

#[test]
fn the_documented_version_of_the_trace_is_that_written() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "--out", "out"]);
    let trace = std::fs::read(workshop.path("out/trace.petal")).unwrap();
    let line = trace.split(|&byte| byte == b'\n').next().unwrap();
    let version = String::from_utf8_lossy(line).replace("petal-trace ", "");
    let heading = format!("\n## `trace.petal`, version {version}\n");
    assert!(read("docs/formats.md").contains(&heading), "no{heading}");
}

#[test]
fn the_documented_fields_of_observations_are_those_written() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.write(
        "o.toml",
        "[[checkpoint]]\nwhen = \"main.next_row\"\ninterval = 10\nvalues = { k = \"sfixed(main.k.out, 1)\" }\n[[latency]]\nfrom = \"main.next_row\"\nto = \"main.clear\"\n[[latency]]\nfrom = \"main.k.out == 0\"\nto = \"main.clear\"\n",
    );
    let observed = [
        "--latency",
        "main.while@L87..main.store",
        "--watch",
        "main.c",
        "--access",
        "main.b",
        "--never",
        "main.k.out > 3",
        "--count",
        "main.mult.go",
        "--sample",
        "100",
        "--derive",
        "main.mult.busy / cycles",
        "--window",
        "main.clear",
        "--stop-on",
        "main.i.out == 3",
    ];
    workshop.succeeds(
        &[
            &["run", &design, "-q", "--out", "out", "--observe", "o.toml"],
            &observed[..],
        ]
        .concat(),
    );
    let results: Value =
        serde_json::from_str(&workshop.read(&format!("out/{OBSERVATIONS}"))).unwrap();
    let mut written = BTreeSet::new();
    fields(&results, "", &mut written);
    let sampled = ["--sample", "main.next_row", "--stop-on", "main.i.out == 3"];
    let during = ["--count", "main.mult.go during main.clear..main.next_row"];
    let run = ["run", &design, "-q", "--out", "samples"];
    workshop.succeeds(&[&run[..], &sampled, &during].concat());
    let of_samples = workshop.read(&format!("samples/{OBSERVATIONS}"));
    fields(
        &serde_json::from_str(&of_samples).unwrap(),
        "",
        &mut written,
    );
    workshop.write("variables.futil", with_variables());
    workshop.succeeds(&[
        "run",
        "variables.futil",
        "-q",
        "--out",
        "variables",
        "--watch",
        "a",
    ]);
    let of_variables = workshop.read(&format!("variables/{OBSERVATIONS}"));
    fields(
        &serde_json::from_str(&of_variables).unwrap(),
        "",
        &mut written,
    );
    // Of few designs.
    written.insert("accesses[].is_read_continuously".to_owned());
    // Of monitors.
    let of_monitors = [
        "dropped",
        "overlapped",
        "recorded",
        "recorded.start",
        "recorded.end",
    ];
    written.extend(of_monitors.map(str::to_owned));
    written.extend(["latencies[].powers", "latencies[].powers.*"].map(str::to_owned));
    // Of runs with very many of them.
    written.extend(["variables.until", "variables.left_out"].map(str::to_owned));
    assert_eq!(documented("## `observations.json`, version 3"), written);
    // Each table that there is something in is there, and no other.
    let listed = OUTPUTS
        .iter()
        .filter(|output| matches!(output.make, Make::Observed));
    let listed: BTreeSet<&str> = listed.map(|output| output.name).collect();
    let mut files = workshop.files("out");
    files.extend(workshop.files("variables"));
    let there: BTreeSet<&str> = files
        .keys()
        .filter_map(|path| path.to_str())
        .filter(|path| path.starts_with("observations"))
        .collect();
    assert_eq!(there, listed);
    // They are of the run that was observed.
    workshop.succeeds(&["run", &design, "-q", "--out", "out"]);
    assert!(!workshop.path("out/observations.json").exists());
    assert!(!workshop.path("out/observations/changes.csv").exists());
}

#[test]
fn the_documented_fields_of_monitors_are_those_written() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let monitor = ["monitor", &design, "-o", "m.futil", "--checkpoint"];
    let checkpoints = [
        "k[main.k.out]=end(main.next_row); k=sfixed(main.k.out, 1)",
        "--checkpoint",
        "main.clear",
        "--count",
        "main.clear",
        "--watch",
        "main.k",
        "--never",
        "main.k.out == 3",
        "--latency",
        "main.clear",
        "--latency",
        "main.mult",
        "--cyclic",
        "--trigger",
        "main.clear",
        "--histogram",
    ];
    workshop.succeeds(&[&monitor[..], &checkpoints].concat());
    let metadata = serde_json::from_str(&workshop.read("m.monitor.json")).unwrap();
    let mut written = BTreeSet::new();
    fields(&metadata, "", &mut written);
    let heading = "## `OUT.monitor.json`, version 2";
    assert_eq!(documented(heading), written);
}

#[test]
fn the_documented_fields_of_annotated_sources_and_words_are_those_written() {
    let workshop = Workshop::empty();
    let positions = root().join("tests/corpus/struct-positions.futil");
    workshop.succeeds(&["run", positions.to_str().unwrap(), "-q", "--out", "out"]);
    let printed = |args: &[&str]| {
        let printed = workshop.succeeds(&[args, &["--format", "json"]].concat());
        serde_json::from_str::<Value>(&printed).unwrap()
    };
    let annotated = printed(&["annotate", "out"]);
    let mut written = BTreeSet::new();
    fields(&annotated, "", &mut written);
    // They need the tools that `petal synth` calls.
    let of_area = ["luts", "ffs", "slack_ns"].map(|name| format!("files[].lines[].{name}"));
    written.extend(of_area);
    assert_eq!(documented("## Annotated sources"), written);
    // The figures are those of the text.
    for file in annotated["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        let text = workshop.succeeds(&["annotate", "out", "--file", name]);
        for line in file["lines"].as_array().unwrap() {
            let source = line["text"].as_str().unwrap();
            let shown = text
                .lines()
                .find(|shown| shown.ends_with(&format!(" {} | {source}", line["line"])));
            let shown = shown.unwrap_or_else(|| panic!("{line} is not shown"));
            let first = shown.split_whitespace().next().unwrap();
            assert_eq!(first, line["cycles"].to_string());
        }
    }
    let refused = workshop.ends(2, &["annotate", "out", "--top", "3", "--format", "json"]);
    assert!(refused.contains("petal stats out hotspots"), "{refused}");
    let mut written = BTreeSet::new();
    let word = printed(&["explain", "useful"]);
    fields(&word, "", &mut written);
    assert_eq!(documented("## Words"), written);
    let all = printed(&["explain"]);
    assert!(all.as_array().unwrap().contains(&word));
}
