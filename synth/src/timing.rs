//! The paths that limit the clock, in the program's words.
//!
//! Owns how the report of nextpnr (`--report`) is read, and which part of the program a path passes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::area::{Attribution, Kind, Part, Shares, row};
use crate::delays::{Delays, End};
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

/// Something of the program that a path passes, or in which it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Element {
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
}

/// A part of the program that a path passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What it is.
    #[serde(flatten)]
    pub element: Element,
    /// The delay in it and in the wires from it, in nanoseconds.
    pub delay_ns: f64,
}

/// A register, memory or state, and the longest path that ends there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathEnd {
    /// What it is.
    #[serde(flatten)]
    pub element: Element,
    /// How much shorter the path is than the longest one, in nanoseconds.
    pub slack_ns: f64,
    /// The path.
    pub path: Path,
}

impl Path {
    /// The part in which most of the time passes.
    pub fn longest_step(&self) -> Option<&Step> {
        let by_delay = |a: &&Step, b: &&Step| a.delay_ns.total_cmp(&b.delay_ns);
        self.steps.iter().max_by(by_delay)
    }
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

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RawStep {
    delay: f64,
    #[serde(rename = "type")]
    kind: String,
    pub net: Option<String>,
}

impl RawStep {
    #[expect(clippy::cast_precision_loss, reason = "no path is as long")]
    pub fn new(picoseconds: u64, kind: &str, net: Option<&str>) -> Self {
        Self {
            delay: picoseconds as f64 / 1000.0,
            kind: kind.to_owned(),
            net: net.map(str::to_owned),
        }
    }
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
        Some(told(&path.path, netlist, names, attribution))
    }
}

/// A path in the program's words.
fn told(
    path: &[RawStep],
    netlist: &Netlist,
    names: &Names<'_>,
    attribution: &mut Attribution<'_>,
) -> Path {
    let mut steps: Vec<Step> = Vec::new();
    let mut logic = 0.0;
    for raw in path {
        logic += raw.delay;
        let Some(net) = raw.net.as_ref().filter(|_| raw.kind == "routing") else {
            continue;
        };
        let shares = netlist.bit(net).and_then(|bit| attribution.driver(bit));
        // What place and route put in belongs to what is before it.
        let Some(shares) = shares else { continue };
        let parts: Vec<Part> = shares.into_keys().collect();
        let element = element(names, &parts);
        let delay_ns = std::mem::take(&mut logic);
        match steps.last_mut() {
            Some(last)
                if last.element.name == element.name
                    && last.element.instance == element.instance =>
            {
                last.delay_ns += delay_ns;
            }
            _ => steps.push(Step { element, delay_ns }),
        }
    }
    if let Some(last) = steps.last_mut() {
        last.delay_ns += logic;
    }
    Path {
        delay_ns: path.iter().map(|step| step.delay).sum(),
        steps,
    }
}

/// As exact as the delays are.
fn picoseconds(of_ns: f64) -> f64 {
    (of_ns * 1000.0).round() / 1000.0
}

/// How many ends of paths are told.
const ENDS: usize = 10;

/// What the delays of a design tell of the program.
#[derive(Debug, Default)]
pub(crate) struct Slacks {
    /// Where the longest paths end, the longest first.
    pub ends: Vec<PathEnd>,
    /// In nanoseconds, by what a path passes: kind, copy of a component, name.
    pub parts: BTreeMap<(Kind, String, String), f64>,
}

/// The longest paths, if the longest of all is as long as the one that nextpnr reports. (Its clock may be a little slower than that path.)
#[expect(clippy::cast_precision_loss, reason = "no path is as long")]
pub(crate) fn slacks(
    delays: &Delays,
    longest_ns: f64,
    netlist: &Netlist,
    names: &Names<'_>,
    attribution: &mut Attribution<'_>,
) -> Option<Slacks> {
    let length = |end: &End| end.path.iter().map(|step| step.delay).sum::<f64>();
    let longest = delays.ends.values().map(length).fold(0.0, f64::max);
    // Each delay is rounded to picoseconds.
    if (longest - longest_ns).abs() > 0.005 * longest_ns {
        return None;
    }
    let slack = |delay: f64| picoseconds((longest_ns - delay).max(0.0));
    let mut ends: BTreeMap<(Kind, String, String), PathEnd> = BTreeMap::new();
    for end in delays.ends.values() {
        let shares = netlist
            .bit(&end.net)
            .and_then(|bit| attribution.driver(bit));
        // What place and route put in, such as a flip-flop of a pin.
        let Some(shares) = shares else { continue };
        let parts: Vec<Part> = shares.into_keys().collect();
        let element = element(names, &parts);
        let key = (element.kind, element.instance.clone(), element.name.clone());
        let slack_ns = slack(length(end));
        if ends.get(&key).is_none_or(|one| slack_ns < one.slack_ns) {
            let mut path = told(&end.path, netlist, names, attribution);
            path.delay_ns = picoseconds(path.delay_ns);
            for step in &mut path.steps {
                step.delay_ns = picoseconds(step.delay_ns);
            }
            let end = PathEnd {
                element,
                slack_ns,
                path,
            };
            ends.insert(key, end);
        }
    }
    let mut ends: Vec<PathEnd> = ends.into_values().collect();
    ends.sort_by(|a, b| a.slack_ns.total_cmp(&b.slack_ns));
    ends.truncate(ENDS);
    let mut parts: BTreeMap<(Kind, String, String), f64> = BTreeMap::new();
    for (net, &delay) in &delays.nets {
        let shares = netlist.bit(net).and_then(|bit| attribution.driver(bit));
        for part in shares.into_iter().flat_map(Shares::into_keys) {
            let row = row(names, &part);
            let least = parts
                .entry((row.kind, row.instance, row.name))
                .or_insert(f64::INFINITY);
            *least = least.min(slack(delay as f64 / 1000.0));
        }
    }
    Some(Slacks { ends, parts })
}

/// How many names a step has at most.
const NAMES: usize = 3;

fn element(names: &Names<'_>, parts: &[Part]) -> Element {
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
    Element {
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
    }
}
