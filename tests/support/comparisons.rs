//! Comparisons of two runs, and what must add up in any.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::Expected;
use super::workshop::Workshop;

/// The comparison of two sides.
pub fn compare(workshop: &Workshop, args: &[&str]) -> Value {
    let args = [&["compare", "--format", "json"], args].concat();
    serde_json::from_str(&workshop.succeeds(&args)).unwrap()
}

fn figure(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no whole number"))
}

pub fn rows<'a>(comparison: &'a Value, table: &str) -> &'a Vec<Value> {
    comparison[table].as_array().expect("it is a table")
}

/// Everything that must add up in a comparison of any two runs.
pub fn adds_up(comparison: &Value) {
    for side in ["before", "after", "delta"] {
        let of = |value: &Value| figure(&value[side]);
        let kinds = comparison["overhead_by_kind"].as_object().unwrap();
        assert_eq!(
            of(&comparison["overhead"]),
            kinds.values().map(of).sum::<i64>()
        );
        assert_eq!(
            of(&comparison["cycles"]),
            of(&comparison["useful"]) + of(&comparison["overhead"])
        );
        assert_eq!(
            of(&comparison["useful"]),
            of(&comparison["computation"]) + of(&comparison["conditions"])
        );
        let charged = rows(comparison, "statements")
            .iter()
            .map(|row| of(&row["overhead"]));
        assert_eq!(
            of(&comparison["overhead"]),
            charged.sum::<i64>() + of(&comparison["unplaced"])
        );
        for cell in rows(comparison, "cells") {
            assert_eq!(
                of(&cell["cycles"]),
                of(&cell["busy"]) + of(&cell["control"])
            );
        }
        assert_eq!(
            of(&comparison["cycles"]),
            of(&rows(comparison, "cells")[0]["cycles"])
        );
    }
}

/// The figures of one side are those of the tables of its profile.
fn is_of_the_profile(workshop: &Workshop, comparison: &Value, side: &str, folder: &str) {
    let table = |name: &str| -> Vec<Value> {
        let json = workshop.succeeds(&["stats", folder, name, "--format", "json"]);
        serde_json::from_str(&json).unwrap()
    };
    let sum =
        |rows: &[Value], column: &str| -> i64 { rows.iter().map(|row| figure(&row[column])).sum() };
    let compared = |name: &str, of: &str| -> i64 {
        let rows = rows(comparison, name).iter();
        rows.map(|row| figure(&row[of][side])).sum()
    };
    let groups: Vec<Value> = table("groups")
        .into_iter()
        .filter(|row| row["origin"] != "compiler")
        .collect();
    let control = table("control");
    assert_eq!(compared("groups", "cycles"), sum(&groups, "total cycles"));
    // Where cells are gone, the table does not know.
    if groups.iter().all(|row| !row["times active"].is_null()) {
        assert_eq!(compared("groups", "times"), sum(&groups, "times active"));
    }
    assert_eq!(compared("statements", "cycles"), sum(&control, "cycles"));
    assert_eq!(
        compared("statements", "overhead"),
        sum(&control, "overhead")
    );
    assert_eq!(compared("cells", "cycles"), sum(&table("cells"), "cycles"));
}

/// The two builds of each of these designs: everything adds up, and nothing changed but cycles.
pub fn both_builds_add_up(designs: &[PathBuf]) {
    let workshop = Workshop::empty();
    let mut compared = 0;
    for design in designs {
        let expected = Expected::of(design).cycles;
        let verilog = fs::read_to_string(design).unwrap().contains("extern \"");
        let (Some(&base), Some(&new)) = (expected.get("no-opt"), expected.get("all")) else {
            continue;
        };
        // Verilator, and runs of a million cycles, would show nothing more.
        if verilog || base > 100_000 {
            continue;
        }
        let design = design.to_string_lossy();
        for passes in ["no-opt", "all"] {
            let run = ["run", &design, "--passes", passes, "--out", passes, "-q"];
            workshop.succeeds(&run);
        }
        let comparison = compare(&workshop, &["no-opt", "all"]);
        assert_eq!(comparison["cycles"]["before"], base, "{design}");
        assert_eq!(comparison["cycles"]["after"], new, "{design}");
        adds_up(&comparison);
        is_of_the_profile(&workshop, &comparison, "before", "no-opt");
        is_of_the_profile(&workshop, &comparison, "after", "all");
        // Both are builds of the same source, so nothing can have moved or changed.
        for table in ["groups", "statements"] {
            for row in rows(&comparison, table) {
                let fate = row["fate"].as_str().unwrap();
                let unused = |side: &str| row["cycles"][side] == 0;
                let gone =
                    fate == "vanished" && unused("before") || fate == "new" && unused("after");
                assert!(fate == "same" || gone, "{design}: {row}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} designs were compared");
}
