//! A sweep as one page: a table that sorts and filters, and pictures of any two figures.
//!
//! The page's script knows nothing but its data, and loads nothing.

use petal_visualize::Page;
use serde::Serialize;

use crate::job::encoded;
use crate::row::{Row, Sweep};

const BODY: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/sweep.js");

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
    warnings: &'a [String],
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
                warnings: &row.warnings,
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
        let page = Page {
            kind: "sweep",
            body: BODY,
            style: STYLE,
            script: SCRIPT,
        };
        page.render(&self.name, &data, &[("title", &self.name)], &[])
    }
}
