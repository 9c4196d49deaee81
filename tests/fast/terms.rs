//! Each word of the outputs is explained, and in one way.

use std::collections::BTreeSet;

use expect_test::{expect, expect_file};
use petal_analysis::HotspotKind;
use petal_reconstruct::Overhead;
use petal_table::Screen;
use petal_table::terms::{TERMS, Term, glossary};
use serde_json::Value;

use crate::support::workshop::{Workshop, example};

#[test]
fn the_glossary_is_the_list_of_terms() {
    expect_file!["../../docs/guide/glossary.md"].assert_eq(&glossary());
}

/// The words of JSON: keys at any depth, without those that are names of a design.
fn keys(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| keys(value, words)),
        Value::Object(object) => {
            for (key, value) in object {
                words.insert(key.clone());
                keys(value, words);
            }
        }
        _ => {}
    }
}

/// The headings of aligned columns: words with more than one space between them.
fn headings(line: &str) -> impl Iterator<Item = String> + '_ {
    let words = line.split("  ").map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned)
}

/// Every heading, every kind and every fixed phrase of what petal prints.
fn words() -> BTreeSet<String> {
    let workshop = Workshop::new();
    let run = |design: &str, more: &[&str]| {
        let design = example(design);
        workshop.succeeds(&[&["run", &design, "--out", "out"], more].concat())
    };
    let mut words = BTreeSet::new();
    let observed = [
        "--checkpoint",
        "begins=main.incr; i=main.i.out",
        "--latency",
        "bodies=main.incr",
        "--watch",
        "i=main.i.out",
        "--access",
        "main.*",
        "--never",
        "late=main.i.out > 1",
        "--count",
        "writes=main.i.write_en",
        "--derive",
        "share=writes / cycles",
        "--window",
        "some=0..main.incr",
    ];
    let printed = run("while-comb.futil", &observed);
    // Tables are told by a line without a space before it, and below it their headings.
    let lines: Vec<&str> = printed.lines().collect();
    for (title, head) in lines.iter().zip(&lines[1..]) {
        if !title.starts_with(' ') && !title.is_empty() && head.starts_with("  ") {
            words.extend(headings(head));
        }
    }
    let csv = workshop.files("out/observations");
    assert!(csv.len() > 5, "{:?}", csv.keys());
    for text in csv.values() {
        let text = String::from_utf8_lossy(text);
        let first = text
            .trim_start_matches('\u{feff}')
            .lines()
            .next()
            .unwrap_or_default();
        words.extend(first.split(',').map(str::to_owned));
    }
    workshop.succeeds(&["baseline", "out", "--out", "base.json"]);

    run("adl/gcd.futil", &[]);
    let tables = workshop.succeeds(&["stats", "out", "--format", "json"]);
    let tables: Value = serde_json::from_str(&tables).unwrap();
    for (name, rows) in tables.as_object().unwrap() {
        words.insert(name.clone());
        keys(&rows[0], &mut words);
        let kinds = rows.as_array().unwrap().iter();
        words.extend(
            kinds
                .filter_map(|row| row["kind"].as_str())
                .map(str::to_owned),
        );
    }
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let figures = summary.as_object().unwrap().keys();
    words.extend(figures.filter(|key| key.ends_with("cycles")).cloned());
    words.extend(summary["overhead"].as_object().unwrap().keys().cloned());
    words.extend(Overhead::ALL.map(|kind| kind.title().to_owned()));
    words.extend(
        HotspotKind::ALL
            .iter()
            .flat_map(|kind| kind.titles())
            .map(str::to_owned),
    );

    let designs = [
        "while-comb.futil",
        "while-par.futil",
        "switch-case-par.futil",
    ]
    .map(example);
    let [comb, par, switch] = designs.each_ref();
    let comparison = ["compare", comb, par, "--force"];
    let compared = workshop.succeeds(&comparison);
    for table in compared.split("\n\n") {
        words.extend(
            headings(table.lines().next().unwrap_or_default()).filter(|word| !word.contains('→')),
        );
    }
    let advise = ["advise", switch, "--budget", "5s", "--format", "json"];
    let advice: Value = serde_json::from_str(&workshop.succeeds(&advise)).unwrap();
    for item in advice["advice"].as_array().unwrap() {
        words.extend([&item["kind"], &item["class"]].map(|word| word.as_str().unwrap().to_owned()));
    }
    keys(&advice["hardware"], &mut words);
    words.extend(of_sweeps(&workshop));
    words.extend(of_pages(&workshop));
    // Names of primitives are the design's.
    words.retain(|word| !word.contains('(') || word.contains('/'));
    words
}

/// The headings of a sweep: those of its text, but for the names of pipelines, and the figures of its page.
fn of_sweeps(workshop: &Workshop) -> BTreeSet<String> {
    let [first, second] = ["while-comb.futil", "while-par.futil"].map(example);
    let sweep = format!(
        "passes = [\"all\", \"no-opt\"]\ndata = [{{ name = \"given\", file = \"{{design}}.data\" }}, {{ name = \"again\", file = \"{{design}}.data\" }}]\n\
         [[design]]\nfiles = {first:?}\n[[design]]\nfiles = {second:?}\n"
    );
    workshop.write("sweep.toml", sweep);
    let printed = workshop.succeeds(&["sweep", "sweep.toml", "--out", "swept"]);
    let tables = printed.split("\n\n").skip(1);
    let mut words: BTreeSet<String> = tables
        .filter(|table| table.lines().count() > 1)
        .flat_map(|table| headings(table.lines().next().unwrap_or_default()))
        .filter(|word| !["all", "no-opt"].contains(&&**word))
        .collect();
    assert!(words.len() > 5, "{words:?}");
    let data = data_of(&workshop.read("swept/sweep.html"));
    let figures = data["figures"].as_array().unwrap().iter();
    words.extend(figures.map(|figure| figure.as_str().unwrap().to_owned()));
    words
}

/// The data of a page.
fn data_of(page: &str) -> Value {
    let data = between(page, "id=\"data\">", "</script>");
    serde_json::from_str(data[0]).unwrap()
}

/// What stands between two texts, wherever it does.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    let parts = text.split(open).skip(1);
    parts.filter_map(|part| part.split(close).next()).collect()
}

/// The headings on all pages, and what stands in the boxes of a graph. Those that need no explanation are left out.
fn of_pages(workshop: &Workshop) -> BTreeSet<String> {
    const PLAIN: [&str; 7] = [
        "Keys and mouse",
        "Source",
        "Tables",
        "All runs",
        "Two figures of each run",
        "line",
        "Observations",
    ];
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "paged"]);
    workshop.succeeds(&["graph", "paged", "--out", "graph.html"]);
    workshop.succeeds(&["graph", "paged", "--out", "graph.svg"]);
    let other = example("while-par.futil");
    workshop.succeeds(&["compare", &design, &other, "--html", "compare.html"]);
    let mut words = BTreeSet::new();
    for page in [
        "paged/report.html",
        "compare.html",
        "swept/sweep.html",
        "graph.html",
    ] {
        let page = workshop.read(page);
        let parts = [
            between(&page, "element(\"h2\", {}, \"", "\""),
            between(&page, "element(\"h3\", {}, \"", "\""),
            between(&page, "<h2>", "</h2>"),
            between(&page, "title: \"", "\""),
            between(
                &page,
                "role=\"tabpanel\" tabindex=\"-1\" aria-label=\"",
                "\"",
            ),
            between(&page, "role=\"tabpanel\" aria-label=\"", "\""),
        ];
        words.extend(parts.into_iter().flatten().map(str::to_owned));
        let titles = between(&page, "const titles = [\"", "\", name]").into_iter();
        words.extend(
            titles
                .flat_map(|titles| titles.split("\", \""))
                .map(str::to_owned),
        );
        if let Some(tables) = data_of(&page)["tables"].as_array() {
            let columns = tables
                .iter()
                .flat_map(|table| table["columns"].as_array().unwrap());
            words.extend(columns.map(|column| column[0].as_str().unwrap().to_owned()));
        }
    }
    let compared = between(&workshop.read("compare.html"), "const ROWS = {", "}").join("");
    words.extend(
        between(&compared, ": \"", "\"")
            .into_iter()
            .map(str::to_owned),
    );
    assert!(words.len() > 30, "{words:?}");
    // In the boxes of a graph, words stand before their numbers.
    let graph = workshop.read("graph.svg");
    let texts = between(&graph, "<text", "</text>").into_iter();
    let told = texts.filter_map(|text| text.rsplit('>').next()?.split_once(' '));
    let counted = told.filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    // The heading is of the run.
    let counted = counted.filter(|(word, _)| !word.ends_with(':'));
    let counted: BTreeSet<String> = counted.map(|(word, _)| word.to_owned()).collect();
    assert!(counted.contains("critical"), "{counted:?}");
    words.extend(counted);
    words.retain(|word| !PLAIN.contains(&&**word) && !word.contains("${") && !word.is_empty());
    words
}

#[test]
fn every_word_that_is_printed_is_explained() {
    let words = words();
    assert!(words.len() > 120, "{words:?}");
    let unknown: Vec<&String> = words
        .iter()
        .filter(|word| Term::find(word).is_none())
        .collect();
    assert!(unknown.is_empty(), "nothing explains {unknown:?}");
}

#[test]
fn explanations_are_short_and_each_word_has_one() {
    let mut all = BTreeSet::new();
    for term in TERMS {
        let text = term.explain(Screen::PLAIN);
        assert!(text.lines().count() <= 8, "{text}");
        assert!(text.contains("For example: "), "{text}");
        for name in term.also.iter().chain([&term.name]) {
            assert!(all.insert(*name), "`{name}` has two terms");
        }
    }
}

#[test]
fn a_word_is_explained_and_a_wrong_one_gets_the_nearest() {
    let workshop = Workshop::empty();
    expect![[r#"
        hidden control (a statement)
          Cycles in which the statement only moved control along, but the run lost
          nothing by that: something worked beside it, or another statement is charged.
          For example: One arm of a `par` steps while the other one works.
          More: docs/guide/overhead.md#hidden-control
    "#]]
    .assert_eq(&workshop.succeeds(&["explain", "hidden", "control"]));
    let same = workshop.succeeds(&["explain", "fsm-update"]);
    assert_eq!(workshop.succeeds(&["explain", "FSM", "update"]), same);
    let cell = workshop.succeeds(&["explain", "control: barrier"]);
    assert!(cell.starts_with("control (a component cell)"), "{cell}");
    let all = workshop.succeeds(&["explain"]);
    assert!(all.contains("useful") && all.contains("flattened"), "{all}");
    let said = workshop.ends(2, &["explain", "usefull"]);
    assert!(
        said.contains("`useful`") && said.contains("`petal explain`"),
        "{said}"
    );
    for word in [
        "stall",
        "unfinished",
        "unmatched",
        "p99",
        "II",
        "activation",
        "critical",
        "hotspot",
        "primitive",
        "leaf",
        "budget",
        "promotable",
        "multiplexers",
        "(compiler)",
    ] {
        workshop.succeeds(&["explain", word]);
    }
    let said = workshop.ends(2, &["explain", "unfinishd"]);
    assert!(said.contains("`unfinished`"), "{said}");
    let said = workshop.ends(2, &["explain", "qwertz"]);
    assert!(
        !said.contains("near") && said.contains("`petal explain`"),
        "{said}"
    );
}
