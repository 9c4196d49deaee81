//! Advice as SARIF 2.1.0, which code scanning reads.

use serde_json::{Value as Json, json};

use crate::advice::{Advice, Item};
use crate::change::Class;

impl Advice {
    /// As a SARIF log; `uri` is the file, relative to the root of the sources, and `version` that of petal.
    pub fn sarif(&self, uri: &str, version: &str) -> Json {
        let mut kinds: Vec<&Item> = Vec::new();
        for item in &self.advice {
            if !kinds.iter().any(|known| known.kind == item.kind) {
                kinds.push(item);
            }
        }
        let rules: Vec<Json> = kinds
            .iter()
            .map(|item| {
                json!({
                    "id": item.kind,
                    "shortDescription": { "text": item.kind.replace('-', " ") },
                    "fullDescription": { "text": item.why },
                })
            })
            .collect();
        let results: Vec<Json> = self.advice.iter().map(|item| result(item, uri)).collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "petal", "version": version, "rules": rules } },
                "results": results,
            }],
        })
    }
}

fn result(item: &Item, uri: &str) -> Json {
    let level = match item.class {
        Class::Proved => "warning",
        Class::Checked => "note",
    };
    json!({
        "ruleId": item.kind,
        "level": level,
        "message": {
            "text": format!(
                "{}: saves {} cycles ({} % of the run). {}",
                item.what, item.on_top, item.percent, item.why
            )
        },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri },
                "region": { "startLine": item.line.unwrap_or(1) },
            }
        }],
        "properties": {
            "class": item.class.name(),
            "saved": item.on_top,
            "alone": item.alone,
            "patch": item.patch,
        },
    })
}
