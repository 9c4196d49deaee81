//! A sweep as one page: a table that sorts and filters, and pictures of any two figures.
//!
//! The page's script knows nothing but its data, loads nothing, and runs under a policy that admits no other script.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::expand::encoded;
use crate::history::History;
use crate::row::{Row, Sweep};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const COMMON: &str = include_str!("page/common.js");
const SWEEP: &str = include_str!("page/sweep.js");
const HISTORY: &str = include_str!("page/history.js");

/// What the script of a sweep's page gets.
#[derive(Serialize)]
struct SweepData<'a> {
    name: &'a str,
    petal: &'a str,
    pareto: &'a [String; 2],
    parameters: Vec<&'a str>,
    figures: Vec<String>,
    rows: Vec<RowData<'a>>,
}

#[derive(Serialize)]
struct RowData<'a> {
    design: &'a str,
    family: &'a str,
    passes: &'a str,
    data: &'a str,
    /// In the order of the parameters; empty for one that the design lacks.
    parameters: Vec<&'a str>,
    /// In the order of the figures.
    figures: Vec<Option<u64>>,
    error: Option<&'a str>,
    /// The folder of the profile, as a URL.
    profile: Option<String>,
}

impl Sweep {
    /// The text of `sweep.html`, for the folder that holds the profiles. `rows` belong to the runs of the sweep, in the same
    /// order, where they were tried.
    pub fn html(&self, rows: &[Row]) -> String {
        let figures = Self::figures(rows);
        let mut parameters: Vec<&str> = Vec::new();
        for row in rows {
            for name in row.name.parameters.keys() {
                if !parameters.contains(&name.as_str()) {
                    parameters.push(name);
                }
            }
        }
        let mut tried = rows.iter().peekable();
        let row_data = self.runs.iter().filter_map(|run| {
            let row = tried.next_if(|row| row.name == run.name)?;
            let of = |name: &&str| row.name.parameters.get(*name).map_or("", String::as_str);
            let folder = row.name.folder();
            let parts = folder.iter().map(|part| encoded(&part.to_string_lossy()));
            let parts: Vec<String> = parts.collect();
            Some(RowData {
                design: &row.name.design,
                family: &run.family,
                passes: &row.name.passes,
                data: &row.name.data,
                parameters: parameters.iter().map(of).collect(),
                figures: figures
                    .iter()
                    .map(|name| row.figures.get(name).copied())
                    .collect(),
                error: row.error.as_deref(),
                profile: (run.profile && row.error.is_none())
                    .then(|| format!("profiles/{}", parts.join("/"))),
            })
        });
        let rows = row_data.collect();
        let data = SweepData {
            name: &self.name,
            petal: &self.petal,
            pareto: &self.pareto,
            parameters: parameters.clone(),
            figures,
            rows,
        };
        page(&self.name, &format!("{COMMON}{SWEEP}"), &data)
    }
}

/// The text of the page with these histories.
pub fn history_html(histories: &[History]) -> String {
    let data: Vec<_> = histories.iter().map(History::data).collect();
    page("history", &format!("{COMMON}{HISTORY}"), &data)
}

/// A page with this script and data.
fn page(title: &str, script: &str, data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).expect("the keys are texts");
    let parts = [
        ("script-hash", hash(script)),
        ("style-hash", hash(STYLE)),
        ("title", escape(title)),
        ("style", STYLE.to_owned()),
        ("script", script.to_owned()),
        // In JSON, `<` only ever stands inside of a text.
        ("data", json.replace('<', "\\u003c")),
    ];
    let mut text = String::new();
    let mut rest = PAGE;
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        text.push_str(before);
        let part = parts.iter().find(|(given, _)| *given == name);
        text.push_str(&part.expect("the page names its parts").1);
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
