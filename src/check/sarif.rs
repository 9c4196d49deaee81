//! What a check has found as SARIF 2.1.0, which code scanning reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use petal_table::text::uri;
use serde_json::{Value, json};

use super::report::Report;
use super::text::{beyond, race, undefined, undriven};
use crate::design::below_here;
use crate::versions;

/// The kinds of findings: what each is called, and what it means.
const RULES: [(&str, &str); 6] = [
    (
        "race",
        "Two arms of a par access the same register or word of a memory, one of them writes, and no barrier is between them.",
    ),
    ("beyond-memory", "A memory has no such address."),
    ("undefined", "A value is taken that may be any."),
    (
        "undriven",
        "A port is read in a cycle in which nothing drives it: it may have any value then.",
    ),
    ("broken-rule", "What must never be was."),
    ("no-end", "The run ended before the design was done."),
];

/// A log; `path` is the design's file, relative to the root of the sources, and `imported` tells where the files of each name are.
pub fn sarif(report: &Report, path: &Path, imported: &BTreeMap<String, Vec<PathBuf>>) -> Value {
    let design = uri(&path.to_string_lossy());
    let place = |line: Option<u32>, file: Option<&str>| {
        let file = file.map_or_else(
            || design.clone(),
            |name| match imported.get(name).map(Vec::as_slice) {
                Some([path]) => uri(&below_here(path).to_string_lossy()),
                _ => uri(name),
            },
        );
        json!({
            "physicalLocation": {
                "artifactLocation": { "uri": file },
                "region": { "startLine": line.unwrap_or(1) },
            }
        })
    };
    let result = |rule: &str, text: &str, locations: Vec<Value>| {
        json!({
            "ruleId": rule,
            "level": "error",
            "message": { "text": text },
            "locations": locations,
        })
    };
    let mut results = Vec::new();
    for of in &report.found.races {
        let [one, other] = of
            .accesses
            .each_ref()
            .map(|of| place(of.by.line, of.by.file.as_deref()));
        let mut found = result("race", &race(of), vec![one]);
        found["relatedLocations"] = json!([other]);
        if of.doubt.is_some() {
            found["level"] = "note".into();
        }
        results.push(found);
    }
    for of in &report.beyond {
        let site = of.by.first();
        let (line, file) = site.map_or((None, None), |site| (site.line, site.file.as_deref()));
        results.push(result(
            "beyond-memory",
            &beyond(of),
            vec![place(line, file)],
        ));
    }
    for of in report.undefined() {
        let at = place(of.by.line, of.by.file.as_deref());
        results.push(result("undefined", &undefined(of), vec![at]));
    }
    for of in &report.undriven {
        let site = of.by.first();
        let (line, file) = site.map_or((None, None), |site| (site.line, site.file.as_deref()));
        results.push(result("undriven", &undriven(of), vec![place(line, file)]));
    }
    for text in &report.rules {
        results.push(result("broken-rule", text, vec![place(None, None)]));
    }
    if let Some(text) = &report.stopped {
        results.push(result("no-end", text, vec![place(None, None)]));
    }
    let rules = RULES.map(|(id, text)| {
        json!({ "id": id, "shortDescription": { "text": id.replace('-', " ") }, "fullDescription": { "text": text } })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "petal", "version": versions::PETAL, "rules": rules } },
            "results": results,
        }],
    })
}
