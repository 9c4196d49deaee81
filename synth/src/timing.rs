//! The path that limits the clock, in the program's words.
//!
//! Owns how the report of nextpnr (`--report`) is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::area::{Attribution, Kind, Part, row};
use crate::error::Error;
use crate::names::Names;
use crate::netlist::Netlist;

/// A path from one flip-flop to another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// How long a signal takes, in nanoseconds.
    pub delay_ns: f64,
    /// What it passes, in order.
    pub steps: Vec<Step>,
}

/// A part of the program that a path passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What it is.
    pub kind: Kind,
    /// The copy of the component that it is in.
    pub instance: String,
    /// Its name; of several that share the wiring, all.
    pub name: String,
    /// The primitive, or the control statement.
    pub detail: String,
    /// The file that it stands in.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The delay in it and in the wires from it, in nanoseconds.
    pub delay_ns: f64,
}

/// What nextpnr reports.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    fmax: BTreeMap<String, Fmax>,
    #[serde(default)]
    critical_paths: Vec<RawPath>,
    /// What is used of the device.
    #[serde(default)]
    pub utilization: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Fmax {
    achieved: f64,
}

#[derive(Debug, Deserialize)]
struct RawPath {
    from: String,
    to: String,
    path: Vec<RawStep>,
}

#[derive(Debug, Deserialize)]
struct RawStep {
    delay: f64,
    #[serde(rename = "type")]
    kind: String,
    net: Option<String>,
}

impl Report {
    pub fn parse(text: &str) -> Result<Self, Error> {
        let report: Self = serde_json::from_str(text)
            .map_err(|error| Error::unreadable("nextpnr", error.to_string()))?;
        if report.fmax.is_empty() {
            return Err(Error::unreadable("nextpnr", "its report has no clock"));
        }
        Ok(report)
    }

    /// The highest frequency of the clock, in MHz.
    pub fn fmax(&self) -> f64 {
        let all = self.fmax.values().map(|clock| clock.achieved);
        all.fold(f64::INFINITY, f64::min)
    }

    /// The path that limits it.
    pub fn path(
        &self,
        netlist: &Netlist,
        names: &Names<'_>,
        attribution: &mut Attribution<'_>,
    ) -> Option<Path> {
        let delay = |path: &&RawPath| path.path.iter().map(|step| step.delay).sum::<f64>();
        let of_clock = |path: &&RawPath| {
            // From and to an edge of the clock; others come from pins.
            path.from.starts_with("posedge") && path.to == path.from
        };
        let paths = self.critical_paths.iter().filter(of_clock);
        let path = paths.max_by(|a, b| delay(a).total_cmp(&delay(b)))?;
        let mut steps: Vec<Step> = Vec::new();
        let mut logic = 0.0;
        for raw in &path.path {
            logic += raw.delay;
            let Some(net) = raw.net.as_ref().filter(|_| raw.kind == "routing") else {
                continue;
            };
            let shares = netlist.bit(net).and_then(|bit| attribution.driver(bit));
            // What place and route put in belongs to what is before it.
            let Some(shares) = shares else { continue };
            let parts: Vec<Part> = shares.into_keys().collect();
            let mut step = step(names, &parts);
            step.delay_ns = std::mem::take(&mut logic);
            match steps.last_mut() {
                Some(last) if last.name == step.name && last.instance == step.instance => {
                    last.delay_ns += step.delay_ns;
                }
                _ => steps.push(step),
            }
        }
        if let Some(last) = steps.last_mut() {
            last.delay_ns += logic;
        }
        Some(Path {
            delay_ns: delay(&path),
            steps,
        })
    }
}

/// How many names a step has at most.
const NAMES: usize = 3;

fn step(names: &Names<'_>, parts: &[Part]) -> Step {
    let rows: Vec<_> = parts.iter().map(|part| row(names, part)).collect();
    let first = &rows[0];
    let mut all: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    all.dedup();
    let more = all.len().saturating_sub(NAMES);
    all.truncate(NAMES);
    let mut name = all.join(", ");
    if more > 0 {
        name = format!("{name} and {more} more");
    }
    let is_one = rows.len() == 1;
    Step {
        kind: first.kind,
        instance: first.instance.clone(),
        name,
        detail: if is_one {
            first.detail.clone()
        } else {
            String::new()
        },
        file: first.file.clone().filter(|_| is_one),
        line: first.line.filter(|_| is_one),
        delay_ns: 0.0,
    }
}
