//! The page around the data: markup, style and script, and what keeps them apart from the data.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::colors;
use petal_analysis::summary::Summary;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// One module; each file is about one part of the page.
const SCRIPT: &str = concat!(
    include_str!("model.js"),
    include_str!("selection.js"),
    include_str!("source.js"),
    include_str!("tables.js"),
    include_str!("flame.js"),
    include_str!("timeline.js"),
    include_str!("tracks.js"),
    include_str!("main.js"),
);

/// The page with this data, and trees and runs as they were packed.
pub(crate) fn write(summary: &Summary, data: &impl Serialize, trees: &[u8], runs: &[u8]) -> String {
    let style = format!("{STYLE}{}", colors::style());
    let json = serde_json::to_string(data).expect("the keys are texts");
    let parts = [
        ("script-hash", hash(SCRIPT)),
        ("style-hash", hash(&style)),
        ("design", escape(&summary.design)),
        ("figures", escape(&summary.text())),
        ("style", style),
        ("script", SCRIPT.to_owned()),
        // In JSON, `<` only ever stands inside of a text.
        ("data", json.replace('<', "\\u003c")),
        ("trees", BASE64_STANDARD.encode(trees)),
        ("runs", BASE64_STANDARD.encode(runs)),
    ];
    fill(PAGE, &parts)
}

/// `template` with each `{{name}}` replaced by that part. The parts themselves are left alone.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        text.push_str(before);
        if let Some((_, part)) = parts.iter().find(|(given, _)| *given == name) {
            text.push_str(part);
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// What a content security policy calls a script or style.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// A text as HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
