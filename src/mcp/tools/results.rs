//! What of a command's JSON a client gets: the same fields, in lists that are cut.

use std::cmp::Reverse;
use std::path::Path;

use petal_profile::outputs::ADVICE;
use serde_json::{Map, Value, json};

use crate::mcp::parameters::Asked;
use crate::mcp::rows::Rows;

/// The only document that a command printed.
fn only(printed: Vec<Value>) -> Value {
    printed.into_iter().next().unwrap_or_default()
}

/// The only document, with these of its lists cut.
fn with_lists(printed: Vec<Value>, lists: &[&str], rows: &mut Rows) -> Value {
    let mut all = only(printed);
    for list in lists {
        rows.cut(&mut all, list);
    }
    all
}

/// Removes fields.
fn without(of: &mut Value, fields: &[&str]) {
    if let Some(object) = of.as_object_mut() {
        object.retain(|name, _| !fields.contains(&name.as_str()));
    }
}

/// `petal run`: the summary, and what was observed.
pub fn run(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut printed = printed.into_iter();
    let (summary, observed) = (printed.next(), printed.next());
    let mut all = summary.unwrap_or_default();
    rows.cut(&mut all, "hotspots");
    rows.cut(&mut all, "warnings");
    // What other tools found of the design has lists of its own.
    without(&mut all, &["advice", "what_if"]);
    if let Some(ending) = all.get_mut("ending") {
        rows.cut_named(ending, "active", "nodes of the last call tree");
    }
    let Some(mut observed) = observed else {
        return all;
    };
    for (list, left_out) in [
        ("rules", &[][..]),
        (
            "latencies",
            &["intervals", "histogram", "unfinished_since", "unmatched_at"],
        ),
        ("counters", &["samples", "parts", "spread"]),
        ("accesses", &["groups", "sites", "accesses"]),
    ] {
        let mut of_list = observed[list].take();
        if of_list.is_null() {
            continue;
        }
        for row in of_list.as_array_mut().into_iter().flatten() {
            let name = row["name"].as_str().unwrap_or_default().to_owned();
            for list in ["violations", "blame"] {
                rows.cut_named(row, list, &format!("{list} of {name}"));
            }
            without(row, left_out);
        }
        all[list] = of_list;
        rows.cut(&mut all, list);
    }
    all
}

/// Rows that are the whole document.
pub fn rows(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut all = json!({ "rows": only(printed) });
    rows.cut(&mut all, "rows");
    all
}

/// A row on each line.
pub fn trace(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut all = json!({ "rows": Value::Array(printed) });
    rows.cut(&mut all, "rows");
    all
}

/// `petal annotate`: of each file the lines that cost most, in their order.
pub fn annotate(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut all = only(printed);
    for file in all["files"].as_array_mut().into_iter().flatten() {
        let name = format!("lines of {}", file["name"].as_str().unwrap_or_default());
        if let Some(lines) = file["lines"].as_array_mut() {
            lines.sort_by_key(|line| {
                let cycles = |name: &str| line[name].as_u64();
                Reverse((cycles("costs"), cycles("cycles")))
            });
        }
        rows.cut_named(file, "lines", &name);
        if let Some(lines) = file["lines"].as_array_mut() {
            lines.sort_by_key(|line| line["line"].as_u64());
        }
    }
    all
}

/// `petal compare`: what differs, most first.
pub fn compare(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut all = only(printed);
    let delta = |row: &Value, of: &str| row[of]["delta"].as_i64().unwrap_or(0);
    for list in ["statements", "groups", "cells"] {
        if let Some(all) = all[list].as_array_mut() {
            all.retain(|row| {
                let figures = ["cycles", "times", "overhead"];
                row["fate"] != "same" || figures.iter().any(|of| delta(row, of) != 0)
            });
            all.sort_by_key(|row| Reverse(delta(row, "cycles").unsigned_abs()));
        }
    }
    // There was no limit.
    without(&mut all, &["limit", "regressed"]);
    for list in ["statements", "groups", "cells", "culprits", "notes"] {
        rows.cut(&mut all, list);
    }
    all
}

/// `petal advise`: the advice, and the file of the patch with all of it.
pub fn advise(asked: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut all = with_lists(printed, &["advice", "not_advised", "defects"], rows);
    let profile = asked.profile.as_deref().unwrap_or(Path::new(""));
    let patch = profile.join(ADVICE).join("all.patch");
    if patch.exists() {
        all["patch"] = patch.display().to_string().into();
    }
    all
}

/// `petal whatif`
pub fn what_if(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    with_lists(printed, &["answers", "bounds", "parts"], rows)
}

/// `petal check`
pub fn check(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let lists = [
        "races",
        "beyond",
        "undefined",
        "undriven",
        "unfollowed",
        "rules",
        "unknown",
    ];
    with_lists(printed, &lists, rows)
}

/// `petal synth`
pub fn synth(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut all = with_lists(printed, &["without"], rows);
    rows.cut_named(&mut all["area"], "rows", "parts");
    // Each has a path of its own.
    without(&mut all, &["path_ends"]);
    rows.cut_named(
        &mut all["critical_path"],
        "steps",
        "steps of the critical path",
    );
    all
}

/// `petal explain`: a term, or all.
pub fn explain(_: &Asked, printed: Vec<Value>, rows: &mut Rows) -> Value {
    let mut terms = only(printed);
    if !terms.is_array() {
        terms = json!([terms]);
    }
    let mut all = Map::from_iter([("terms".to_owned(), terms)]).into();
    rows.cut(&mut all, "terms");
    all
}
