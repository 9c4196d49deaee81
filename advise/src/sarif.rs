//! Advice as SARIF 2.1.0, which code scanning reads.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::advice::{Advice, Item};
use crate::change::Class;

impl Advice {
    /// As a SARIF log; `path` is the file, relative to the root of the sources (of one that is elsewhere, nothing but the name can be
    /// told), and `version` that of petal.
    pub fn sarif(&self, path: &Path, version: &str) -> Json {
        let uri = &uri(path);
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
                    "help": { "text": help(item) },
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

/// What to do with advice of such a kind.
fn help(item: &Item) -> String {
    format!(
        "{} The result has the number of its patch: `petal advise --apply` makes the change, and petal's guide (docs/guide/advice) tells \
         what each kind of advice does and how it is proved or checked.",
        item.why
    )
}

/// A relative URI of a file.
fn uri(path: &Path) -> String {
    let path = match path.file_name() {
        Some(name) if path.is_absolute() => Path::new(name),
        _ => path,
    };
    petal_table::text::uri(&path.to_string_lossy())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_relative_and_has_no_odd_characters() {
        for (path, expected) in [
            ("designs/a-b_c.futil", "designs/a-b_c.futil"),
            ("a b%.futil", "a%20b%25.futil"),
            ("/home/somebody/ü.futil", "%C3%BC.futil"),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
