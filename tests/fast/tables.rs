//! The tables for databases: their columns are those of docs/formats.md, and they say what the other outputs say. What `DuckDB`, Polars
//! and pandas read in them, `python/tests` has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use petal::tables::{SCHEMA_VERSION, Table, rows, tables};

use crate::support::workshop::{Workshop, example, said, tells};
use crate::support::{examples, root};

/// The columns that a section of docs/formats.md names, with their types.
fn documented(table: Table) -> Vec<(String, String)> {
    let page = fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let heading = format!("\n### `{}`\n", table.name());
    let (_, section) = page.split_once(&heading).expect("each table has a section");
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|')).skip(2);
    lines
        .flat_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let names = cells[1]
                .split(',')
                .map(|name| name.trim().trim_matches('`'));
            let of = cells[2].to_owned();
            let columns: Vec<_> = names.map(|name| (name.to_owned(), of.clone())).collect();
            columns
        })
        .collect()
}

#[test]
fn the_documented_columns_are_those_written() {
    let types = BTreeMap::from([
        ("Dictionary(Int32, Utf8)", "text"),
        ("Int64", "number"),
        ("UInt64", "value"),
        ("Float64", "real"),
        ("List(non-null Utf8)", "texts"),
    ]);
    for table in Table::all() {
        let schema = table.schema();
        let columns = schema.fields().iter().map(|field| {
            let of = field.data_type().to_string();
            let null = if field.is_nullable() { "?" } else { "" };
            (field.name().clone(), format!("{}{null}", types[&*of]))
        });
        let columns: Vec<_> = columns.collect();
        assert_eq!(documented(table), columns, "{}", table.name());
    }
    let page = fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let version = format!("version of the schema is {SCHEMA_VERSION}:");
    assert!(page.contains(&version), "`{version}`");
}

#[test]
fn every_example_has_its_tables() {
    let workshop = Workshop::empty();
    for design in examples() {
        if design.ends_with("packet-scheduler.futil") {
            continue;
        }
        let design = design.to_str().unwrap();
        workshop.succeeds(&["run", "-q", design, "--out", "out"]);
        let before = workshop.files("out");
        let listed = workshop.succeeds(&["export", "out"]);
        let mut files = workshop.files("out");
        let written: BTreeSet<String> = files
            .keys()
            .filter(|name| name.starts_with("tables"))
            .map(|name| name.display().to_string())
            .collect();
        files.retain(|name, _| !name.starts_with("tables"));
        assert!(files == before, "{design}: other files changed");
        let dir = workshop.path("out");
        let made = tables(&dir).unwrap();
        let long = Table::all()
            .into_iter()
            .filter(|&table| rows(&dir, table).unwrap().is_some());
        let names = made.keys().copied().chain(long);
        let names: BTreeSet<String> = names
            .map(|table| format!("tables/{}.parquet", table.name()))
            .collect();
        assert_eq!(names, written);
        assert_eq!(listed.lines().count(), names.len());
        for (table, batch) in made {
            let csv = match table {
                Table::Statements => "stats/control.csv",
                Table::Groups => "stats/groups.csv",
                Table::Cells => "stats/cells.csv",
                Table::Lines => "stats/lines.csv",
                _ => continue,
            };
            let text = fs::read_to_string(dir.join(csv)).unwrap();
            assert_eq!(
                batch.num_rows(),
                text.lines().count() - 1,
                "{design}: {csv}"
            );
        }
        let spans: usize = rows(&dir, Table::Spans)
            .unwrap()
            .unwrap()
            .map(|batch| batch.unwrap().num_rows())
            .sum();
        let timeline = workshop.succeeds(&["timeline", "out"]);
        let slices = timeline.lines().next().unwrap().replace(',', "");
        assert_eq!(slices, format!("{spans} slices"), "{design}");
    }
}

#[test]
fn tables_come_and_go_with_the_run() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "-q", "--tables", "--out", "out"]);
    let with = workshop.files("out");
    workshop.succeeds(&["export", "out"]);
    assert!(
        workshop.files("out") == with,
        "the same input gives other bytes"
    );
    // Those of another run do not stay.
    workshop.succeeds(&["run", "design.futil", "-q", "--out", "out"]);
    let without = workshop.files("out");
    assert!(without.keys().all(|name| !name.starts_with("tables")));
    assert_eq!(without.len() + 9, with.len());
}

#[test]
fn tables_are_of_whole_profiles_only() {
    let workshop = Workshop::everything();
    let missing = workshop.petal(&["export", "nothing"]);
    assert_eq!(missing.status.code(), Some(1));
    tells(&said(&missing), &["there is no nothing", "petal run"]);
    let trace = workshop.path("kept/trace.petal");
    let mut bytes = fs::read(&trace).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(&trace, bytes).unwrap();
    let before = workshop.files("kept");
    let cut = workshop.petal(&["export", "kept"]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(
        workshop.files("kept") == before,
        "half of the tables are there"
    );
}

#[test]
fn an_observed_run_has_tables_of_it() {
    let workshop = Workshop::empty();
    let design = example("dot-product.futil");
    let args = [
        "run",
        &design,
        "-q",
        "--out",
        "out",
        "--checkpoint",
        "main.multiply; i=main.i.out, a b=signed(main.i.out), x=sfixed(main.i.out, 1)",
        "--latency",
        "main.multiply",
    ];
    workshop.succeeds(&args);
    let tables = tables(&workshop.path("out")).unwrap();
    let text = fs::read_to_string(workshop.path("out/observations/checkpoints.csv")).unwrap();
    assert_eq!(
        tables[&Table::Observed("checkpoints")].num_rows(),
        text.lines().count() - 1
    );
    assert!(!tables.contains_key(&Table::Observed("counters")));
    // Of what is recorded there are columns of their own, in files, too.
    workshop.succeeds(&["export", "out"]);
    let types = |table: &'static str, first: usize| -> Vec<String> {
        let table = &tables[&Table::Observed(table)];
        let schema = table.schema();
        let fields = schema.fields()[first..].iter();
        fields
            .map(|of| format!("{}: {}", of.name(), of.data_type()))
            .collect()
    };
    assert_eq!(
        types("checkpoints", 8),
        ["value_i: UInt64", "value_a_b: Int64", "value_x: Float64"]
    );
    assert_eq!(
        types("latencies", 4),
        ["from_i: UInt64", "from_a_b: Int64", "from_x: Float64"]
    );
}

#[test]
fn an_interrupt_ends_the_reading_of_a_profile() {
    let workshop = Workshop::endless();
    let run = ["run", "design.futil", "-q", "--out", "out", "--partial"];
    workshop.succeeds(&[&run[..], &["--cycle-limit", "1000000"]].concat());
    let interrupt = petal::Interrupt::default();
    let read = || rows(&workshop.path("out"), Table::Cycles);
    let mut rows = interrupt.heeded(read).unwrap().unwrap();
    assert!(rows.next().unwrap().is_ok());
    interrupt.request();
    let failure = rows
        .find_map(Result::err)
        .expect("it is not read to its end");
    assert_eq!(failure.to_string(), "interrupted");
}
