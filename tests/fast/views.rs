//! All views of one run tell the same: a quantity has one number, wherever it stands.

use std::collections::BTreeMap;
use std::fs;

use petal_reconstruct::Overhead;
use serde_json::Value;

use crate::support::corpus::LONG;
use crate::support::perfetto::counters;
use crate::support::workshop::Workshop;
use crate::support::{Expected, designs, examples};

/// Designs of the corpus with what the examples lack: barriers, static waits, `ref` cells, continuous
/// assignments, inlining.
const CORPUS: [&str; 6] = [
    "control-sync.futil",
    "control-static-if.futil",
    "struct-ref-callers.futil",
    "struct-continuous-cell.futil",
    "struct-inline.futil",
    "mixed.futil",
];

/// The figures of a run that have a name, by that name.
type Figures = BTreeMap<String, u64>;

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// The figures that `summary.json` has.
fn of_json(summary: &Value) -> Figures {
    let mut figures = Figures::new();
    for (name, key) in [
        ("cycles", "cycles"),
        ("useful", "useful_cycles"),
        ("computation", "computation_cycles"),
        ("conditions", "condition_cycles"),
        ("overhead", "overhead_cycles"),
    ] {
        figures.insert(name.to_owned(), number(&summary[key]));
    }
    for kind in Overhead::ALL {
        let cycles = number(&summary["overhead"][kind.to_string()]);
        figures.insert(kind.title().to_owned(), cycles);
    }
    figures
}

/// The figures at the top of a summary as text.
fn of_text(summary: &str) -> Figures {
    let lines = summary
        .lines()
        .skip_while(|line| !line.starts_with("  cycles "));
    let lines = lines.take_while(|line| !line.is_empty());
    lines
        .map(|line| {
            // A name, cycles, a share, and a bar.
            let mut columns = line.split("  ").filter(|column| !column.is_empty());
            let mut next = || columns.next().unwrap().trim();
            let name = next();
            let (name, cycles) = match name.rsplit_once(' ') {
                Some((name, cycles)) if cycles.parse::<u64>().is_ok() => (name, cycles),
                _ => (name, next()),
            };
            let cycles = cycles.replace(',', "");
            (name.to_owned(), cycles.parse().unwrap())
        })
        .collect()
}

/// The classes of the report's bar, which are parts of the run.
fn of_report(page: &str) -> (Figures, Value) {
    let data = page.split(r#"id="data">"#).nth(1).unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    let classes = data["classes"].as_array().unwrap();
    let figures = classes.iter();
    let figures = figures.map(|class| (class[0].as_str().unwrap().to_owned(), number(&class[1])));
    (figures.collect(), data)
}

/// The sum of a column.
fn sum(rows: &[Value], column: &str) -> u64 {
    rows.iter().map(|row| number(&row[column])).sum()
}

/// The overhead in the margin of the source, in all files.
fn of_margin(listing: &str) -> u64 {
    let margins = listing.lines().filter_map(|line| line.split_once(" |"));
    let cells = margins.filter_map(|(margin, _)| {
        // Cycles, useful %, overhead, costs; overhead ends where its heading does.
        let heading = listing.lines().find(|line| line.contains("overhead "))?;
        let end = heading.find("overhead ")? + "overhead".len();
        let overhead = margin.get(end.checked_sub(9)?..end)?;
        overhead.trim().replace(',', "").parse::<u64>().ok()
    });
    cells.sum()
}

/// All views of the run of a design.
#[expect(clippy::too_many_lines, reason = "a list of views")]
fn check(workshop: &Workshop, design: &str) {
    let said = workshop.succeeds(&["run", design, "--out", "out"]);
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let run = of_json(&summary);
    assert_eq!(run["cycles"], run["useful"] + run["overhead"], "{design}");
    assert_eq!(run["useful"], run["computation"] + run["conditions"]);
    let kinds = || Overhead::ALL.map(Overhead::title);
    assert_eq!(
        run["overhead"],
        kinds().map(|kind| run[kind]).iter().sum::<u64>()
    );
    // It leaves out parts that are none of the whole.
    let whole = ["cycles", "useful", "overhead"];
    let mut shown = run.clone();
    shown.retain(|name, cycles| *cycles > 0 || whole.contains(&name.as_str()));
    assert_eq!(of_text(&said), shown, "{design}: the summary as text");

    // The bar has the parts; what it leaves out are their sums.
    let page = workshop.read("out/report.html");
    let (bar, data) = of_report(&page);
    let parts = ["computation", "conditions"].into_iter().chain(kinds());
    let parts: Figures = parts.map(|part| (part.to_owned(), run[part])).collect();
    assert_eq!(bar, parts, "{design}: the bar of the report");
    assert_eq!(number(&data["cycles"]), run["cycles"]);

    let figure = |comparison: &Value, name: &str| {
        assert_eq!(comparison[name]["before"], comparison[name]["after"]);
        number(&comparison[name]["after"])
    };
    workshop.write("base.json", workshop.succeeds(&["baseline", "out"]));
    let comparison = workshop.succeeds(&["compare", "base.json", "out", "--format", "json"]);
    let comparison: Value = serde_json::from_str(&comparison).unwrap();
    for name in ["cycles", "useful", "computation", "conditions", "overhead"] {
        assert_eq!(
            figure(&comparison, name),
            run[name],
            "{design}: {name} compared"
        );
    }
    for kind in Overhead::ALL {
        let compared = figure(&comparison["overhead_by_kind"], &kind.to_string());
        assert_eq!(compared, run[kind.title()], "{design}: {kind} compared");
    }
    let unplaced = figure(&comparison, "unplaced");

    let tables = workshop.succeeds(&["stats", "out", "--format", "json"]);
    let tables: Value = serde_json::from_str(&tables).unwrap();
    let rows = |table: &str| tables[table].as_array().cloned().unwrap_or_default();
    let cells = rows("cells");
    assert_eq!(number(&cells[0]["cycles"]), run["cycles"], "{design}: main");
    let compared = comparison["cells"].as_array().unwrap();
    assert_eq!(compared.len(), cells.len(), "{design}");
    for cell in &cells {
        let of = |column: &str| number(&cell[column]);
        assert_eq!(of("cycles"), of("busy") + of("control"), "{design}: {cell}");
        let control = kinds().map(|kind| of(&format!("control: {kind}")));
        assert_eq!(
            of("control"),
            control.iter().sum::<u64>(),
            "{design}: {cell}"
        );
        let same = compared
            .iter()
            .find(|row| row["name"] == cell["cell"])
            .unwrap();
        for column in ["cycles", "busy", "control"] {
            assert_eq!(figure(same, column), of(column), "{design}: {cell}");
        }
    }
    assert_eq!(
        sum(&cells, "overhead") + unplaced,
        run["overhead"],
        "{design}: cells"
    );
    let control = rows("control");
    assert_eq!(
        sum(&control, "overhead") + unplaced,
        run["overhead"],
        "{design}: statements"
    );
    let placed: u64 = kinds().map(|kind| sum(&control, kind)).iter().sum();
    assert_eq!(
        placed,
        sum(&control, "overhead"),
        "{design}: kinds of statements"
    );
    if unplaced == 0 {
        for kind in kinds() {
            assert_eq!(
                sum(&control, kind),
                run[kind],
                "{design}: {kind} of statements"
            );
        }
    }
    let lines = rows("lines");
    if !lines.is_empty() {
        assert_eq!(sum(&lines, "overhead"), run["overhead"], "{design}: lines");
        for kind in kinds() {
            assert_eq!(sum(&lines, kind), run[kind], "{design}: {kind} of lines");
        }
        let own: f64 = lines.iter().map(|row| row["own"].as_f64().unwrap()).sum();
        assert_eq!(
            format!("{own:.2}"),
            format!("{}.00", run["cycles"]),
            "{design}: own"
        );
    }

    // Two margins: of the Calyx files, and of the front end's.
    let files = data["files"].as_array().unwrap();
    let calyx = files.iter().filter(|file| file["front"] != true);
    let costs = calyx.flat_map(|file| file["costs"].as_array().unwrap());
    let costs: u64 = costs.map(|cost| number(&cost[3])).sum();
    assert_eq!(
        costs + unplaced,
        run["overhead"],
        "{design}: the source in the report"
    );
    let mut margin = 0;
    for file in files.iter().filter(|file| file["front"] != true) {
        let name = file["name"].as_str().unwrap();
        margin += of_margin(&workshop.succeeds(&["annotate", "out", "--file", name]));
    }
    assert_eq!(
        margin + unplaced,
        run["overhead"],
        "{design}: the source in the terminal"
    );

    // Each cycle of overhead is told where it happens.
    let mut told: BTreeMap<String, u64> = BTreeMap::new();
    for line in workshop.succeeds(&["trace", "out", "--json"]).lines() {
        let tree: Value = serde_json::from_str(line).unwrap();
        let cycles = number(&tree["end"]) - number(&tree["start"]);
        for node in tree["tree"].as_array().unwrap() {
            if let Some(kind) = node["overhead"].as_str() {
                *told.entry(kind.to_owned()).or_default() += cycles;
            }
        }
    }
    for kind in Overhead::ALL {
        let cycles = told.get(&kind.to_string()).copied().unwrap_or(0);
        assert_eq!(cycles, run[kind.title()], "{design}: {kind} in call trees");
    }

    let timeline = fs::read(workshop.path("out/timeline.pftrace")).unwrap();
    let overhead = counters(&timeline).get("overhead").copied().unwrap_or(0);
    assert_eq!(
        u64::try_from(overhead),
        Ok(run["overhead"]),
        "{design}: the counter"
    );

    let folded = workshop.read("out/flame.folded");
    let stacks = folded.lines().map(|line| line.rsplit_once(' ').unwrap());
    let stacks: Vec<(&str, f64)> = stacks
        .map(|(stack, weight)| (stack, weight.parse().unwrap()))
        .collect();
    let total = |wanted: &dyn Fn(&str) -> bool| {
        let stacks = stacks.iter().filter(|(stack, _)| wanted(stack));
        // Each stack is rounded by itself.
        stacks.map(|(_, weight)| weight).sum::<f64>()
    };
    #[expect(clippy::cast_precision_loss, reason = "no run here is as long")]
    let same = |found: f64, cycles: u64| (found - cycles as f64).abs() < 0.5;
    assert!(
        same(total(&|_| true), run["cycles"]),
        "{design}: the flame graph"
    );
    for kind in kinds() {
        let leaf = format!("(overhead: {kind})");
        let drawn = total(&|stack| stack.ends_with(&leaf));
        assert!(
            same(drawn, run[kind]),
            "{design}: {drawn} cycles of {kind} in the flame graph"
        );
    }
}

#[test]
fn a_quantity_has_one_number_in_all_views() {
    let workshop = Workshop::empty();
    let corpus = designs("tests/corpus").into_iter();
    let corpus = corpus.filter(|path| CORPUS.iter().any(|name| path.ends_with(name)));
    let mut checked = 0;
    for design in examples().into_iter().chain(corpus) {
        if Expected::of(&design)
            .cycles
            .get("all")
            .is_some_and(|&cycles| cycles < LONG)
        {
            check(&workshop, design.to_str().unwrap());
            checked += 1;
        }
    }
    assert!(checked >= 14 + CORPUS.len(), "only {checked} designs");
}
