//! Each word of the outputs is explained, and in one way.

use expect_test::{expect, expect_file};
use petal_table::terms::glossary;

use crate::support::workshop::{Workshop, example};

#[test]
fn the_glossary_is_the_list_of_terms() {
    expect_file!["../../docs/guide/glossary.md"].assert_eq(&glossary());
}

#[test]
fn every_heading_and_every_figure_is_explained() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "-q", &example("adl/gcd.futil"), "--out", "gcd"]);
    let tables = workshop.succeeds(&["stats", "gcd", "--format", "json"]);
    let tables: serde_json::Value = serde_json::from_str(&tables).unwrap();
    let summary: serde_json::Value =
        serde_json::from_str(&workshop.read("gcd/summary.json")).unwrap();
    let mut words: Vec<String> = Vec::new();
    for (_, rows) in tables.as_object().unwrap() {
        words.extend(rows[0].as_object().unwrap().keys().cloned());
    }
    let keys = summary.as_object().unwrap().keys();
    words.extend(keys.filter(|key| key.ends_with("cycles")).cloned());
    words.extend(summary["overhead"].as_object().unwrap().keys().cloned());
    words.sort();
    words.dedup();
    assert!(words.len() > 50, "{words:?}");
    for word in words {
        assert!(
            petal_table::terms::Term::find(&word).is_some(),
            "nothing explains `{word}`"
        );
    }
}

#[test]
fn a_word_is_explained_and_a_wrong_one_gets_the_nearest() {
    let workshop = Workshop::empty();
    expect![[r#"
        hidden control (a statement)
          Cycles in which the statement only moved control along, but the run lost nothing by that: something worked beside it, or another statement is charged.
          For example: One arm of a `par` steps while the other one works.
          More: docs/guide/overhead.md#hidden-control
    "#]].assert_eq(&workshop.succeeds(&["explain", "hidden", "control"]));
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
    let said = workshop.ends(2, &["explain", "qwertz"]);
    assert!(
        !said.contains("near") && said.contains("`petal explain`"),
        "{said}"
    );
}
