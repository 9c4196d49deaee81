//! A column of a table is one line: its heading, its kind, and its value in a row. Text, Markdown, CSV and JSON follow from it, as does
//! what databases have (`docs/ARCHITECTURE.md`, "How to add …").

use petal_table::{Columns, Selection, Value};

/// What a row is made of.
struct Run {
    name: &'static str,
    cycles: u64,
    useful: u64,
}

fn columns() -> Columns<Run> {
    Columns::default()
        .text("run", |run: &Run| run.name.into())
        .number("cycles", |run| run.cycles.into())
        // This one was added.
        .decimal("useful %", |run| Value::percent(run.useful, run.cycles))
}

fn runs() -> [Run; 2] {
    [("short", 60, 54), ("long", 12_000, 9_000)].map(|(name, cycles, useful)| Run {
        name,
        cycles,
        useful,
    })
}

#[test]
fn a_column_is_in_every_form_of_its_table() {
    let table = columns().table(runs());
    expect_test::expect![[r#"
        run    cycles  useful %
        short      60     90.00
        long   12,000     75.00
    "#]]
    .assert_eq(&table.text());
    expect_test::expect![[r#"
        | run | cycles | useful % |
        | --- | ---: | ---: |
        | short | 60 | 90.00 |
        | long | 12,000 | 75.00 |
    "#]]
    .assert_eq(&table.markdown());
    expect_test::expect![[r#"
        run,cycles,useful %
        short,60,90.00
        long,12000,75.00
    "#]]
    .assert_eq(&table.csv());
    let json = serde_json::json!([
        { "run": "short", "cycles": 60, "useful %": 90.0 },
        { "run": "long", "cycles": 12_000, "useful %": 75.0 },
    ]);
    assert_eq!(table.json(), json);
}

#[test]
fn a_column_can_be_asked_for() {
    let selection = Selection {
        columns: vec!["useful %".to_owned()],
        sort: Some("useful %".to_owned()),
        ..Selection::default()
    };
    let table = selection.of(&columns().table(runs())).unwrap();
    assert_eq!(table.csv(), "useful %\n90.00\n75.00\n");
}

#[cfg(feature = "arrow")]
#[test]
fn a_column_has_a_type_in_databases() {
    let columns = columns();
    let names: Vec<_> = columns.list().map(petal_table::arrow::field).collect();
    let names: Vec<_> = names
        .iter()
        .map(|field| (field.name().as_str(), field.data_type().to_string()))
        .collect();
    let expected = [
        ("run", "Dictionary(Int32, Utf8)"),
        ("cycles", "Int64"),
        ("useful_percent", "Float64"),
    ];
    assert_eq!(names, expected.map(|(name, of)| (name, of.to_owned())));
}
