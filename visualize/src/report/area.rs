//! Area and slack beside the cycles of a report.
//!
//! Owns which rows of `synthesis.json` belong to which row of a table. Who reads that file knows that it is of this design.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::tables::PageTable;

/// What the page tells of the whole design.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Synthesized {
    device: String,
    has_memories: bool,
    clock: Option<Clock>,
    #[serde(skip_serializing)]
    area: Area,
    #[serde(default, skip_deserializing)]
    luts: f64,
    #[serde(default, skip_deserializing)]
    ffs: f64,
}

#[derive(Debug, Deserialize, Serialize)]
struct Clock {
    fmax_mhz: f64,
}

#[derive(Debug, Deserialize)]
struct Area {
    total: Figures,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Figures {
    luts: f64,
    ffs: f64,
}

#[derive(Debug, Deserialize)]
struct Row {
    kind: String,
    instance: String,
    name: String,
    detail: String,
    #[serde(flatten)]
    figures: Figures,
    slack_ns: Option<f64>,
}

/// What the parts of a row take together, and the least slack of them.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    figures: Figures,
    slack_ns: Option<f64>,
}

impl Synthesized {
    /// Reads it; `None` if it tells nothing of the parts of the design.
    pub fn read(json: &Json) -> Option<Self> {
        let mut of: Self = serde_json::from_value(json.clone()).ok()?;
        (of.luts, of.ffs) = (of.area.total.luts, of.area.total.ffs);
        (!of.area.rows.is_empty()).then_some(of)
    }

    /// Adds the columns to the tables of cells, groups and control. A cell has what is in it and not in another cell, a group its
    /// multiplexers and guards, a statement what the compiler made for it.
    pub fn add_to(&self, views: &mut [PageTable]) {
        let [cells, groups, control, ..] = views else {
            return;
        };
        let components: HashMap<String, String> = cells
            .texts(["cell", "component"])
            .map(|[cell, component]| (cell, component))
            .collect();
        let component = |row: &Row| components.get(&row.instance).cloned().unwrap_or_default();
        self.add(cells, ["cell", "cell"], |row| {
            Some([row.instance.clone(), row.instance.clone()])
        });
        self.add(groups, ["component", "group"], |row| {
            (row.kind == "group").then(|| [component(row), row.name.clone()])
        });
        self.add(control, ["component", "statement"], |row| {
            (row.kind == "control").then(|| [component(row), row.detail.clone()])
        });
    }

    fn add(
        &self,
        view: &mut PageTable,
        keys: [&str; 2],
        key: impl Fn(&Row) -> Option<[String; 2]>,
    ) {
        let mut sums: HashMap<[String; 2], Sum> = HashMap::new();
        for row in &self.area.rows {
            let Some(key) = key(row) else { continue };
            let sum = sums.entry(key).or_default();
            sum.figures.luts += row.figures.luts;
            sum.figures.ffs += row.figures.ffs;
            let slacks = sum.slack_ns.into_iter().chain(row.slack_ns);
            sum.slack_ns = slacks.reduce(f64::min);
        }
        let found: Vec<Option<Sum>> = view
            .texts(keys)
            .map(|key| sums.get(&key).copied())
            .collect();
        let columns: [Figure; 3] = [
            ("LUT", |sum| Some(sum.figures.luts)),
            ("FF", |sum| Some(sum.figures.ffs)),
            ("slack, ns", |sum| sum.slack_ns),
        ];
        for (title, figure) in columns {
            let values = found.iter().map(|sum| sum.as_ref().and_then(figure));
            view.push(title, values.map(rounded).collect());
        }
    }
}

/// A column: its heading, and what it has of a row.
type Figure = (&'static str, fn(&Sum) -> Option<f64>);

/// To hundredths, as tables have it.
fn rounded(figure: Option<f64>) -> Json {
    figure.map_or(Json::Null, |figure| {
        ((figure * 100.0).round() / 100.0).into()
    })
}
