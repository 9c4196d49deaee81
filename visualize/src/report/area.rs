//! Area and slack beside the cycles of a report.
//!
//! Owns which rows of the table of area belong to which row of the other tables.

use std::collections::HashMap;

use petal_table::{Table, Value};
use serde::Serialize;
use serde_json::Value as Json;

use super::tables::PageTable;

/// What a design takes of a device, and its clock there.
#[derive(Debug, Clone, Serialize)]
pub struct Area {
    /// The device.
    pub device: String,
    /// Whether the external memories are a part of it.
    pub has_memories: bool,
    /// How fast the clock may be, in MHz; `None` if nobody knows.
    pub fmax_mhz: Option<f64>,
    /// Look-up tables of the whole design.
    pub luts: f64,
    /// Flip-flops of the whole design.
    pub ffs: f64,
    /// What each part of the design takes: the table of `stats/area.csv`.
    #[serde(skip)]
    pub parts: Table,
}

/// What the parts of a row take together, and the least slack of them.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    luts: f64,
    ffs: f64,
    slack_ns: Option<f64>,
}

impl Area {
    /// Adds the columns to the tables of cells, groups and control. A cell has what is in it and not in another cell, a group its
    /// multiplexers and guards, a statement what the compiler made for it.
    pub(super) fn add_to(&self, views: &mut [PageTable]) {
        let [cells, groups, control, ..] = views else {
            return;
        };
        let components: HashMap<String, String> = cells
            .texts(["cell", "component"])
            .map(|[cell, component]| (cell, component))
            .collect();
        let component = |instance: &str| components.get(instance).cloned().unwrap_or_default();
        self.add(cells, ["cell", "cell"], |[_, instance, ..]| {
            Some([instance, instance].map(str::to_owned))
        });
        self.add(
            groups,
            ["component", "group"],
            |[kind, instance, name, _]| {
                (kind == "group").then(|| [component(instance), name.to_owned()])
            },
        );
        self.add(
            control,
            ["component", "statement"],
            |[kind, instance, _, of]| {
                (kind == "control").then(|| [component(instance), of.to_owned()])
            },
        );
    }

    /// `key` makes of kind, instance, name and detail of a part what the columns `keys` have in the row that it belongs to.
    fn add(
        &self,
        view: &mut PageTable,
        keys: [&str; 2],
        key: impl Fn([&str; 4]) -> Option<[String; 2]>,
    ) {
        let column = |name: &str| self.parts.column(name).unwrap_or_default();
        let names = ["kind", "instance", "name", "detail"].map(column);
        let figures = ["luts", "ffs", "slack_ns"].map(column);
        let mut sums: HashMap<[String; 2], Sum> = HashMap::new();
        for row in 0..self.parts.rows().len() {
            let Some(key) = key(names.each_ref().map(|names| text(names[row]))) else {
                continue;
            };
            let [luts, ffs, slack_ns] = figures.each_ref().map(|figures| number(figures[row]));
            let sum = sums.entry(key).or_default();
            sum.luts += luts.unwrap_or_default();
            sum.ffs += ffs.unwrap_or_default();
            sum.slack_ns = sum.slack_ns.into_iter().chain(slack_ns).reduce(f64::min);
        }
        let found: Vec<Option<Sum>> = view
            .texts(keys)
            .map(|key| sums.get(&key).copied())
            .collect();
        let columns: [Figure; 3] = [
            ("LUT", |sum| Some(sum.luts)),
            ("FF", |sum| Some(sum.ffs)),
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

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Decimal(number) => Some(*number),
        _ => None,
    }
}

fn rounded(figure: Option<f64>) -> Json {
    figure.map_or(Json::Null, |figure| Value::Decimal(figure).json())
}
