//! The summary of a run: its length, how much of it was useful, and what was most expensive.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_metadata::{Id, Metadata, Origin, labels};
use petal_reconstruct::{Activity, Node, Overhead};
use serde::Serialize;

use crate::activations::Activations;
use crate::profile::Profile;
use crate::spans::Item;
use crate::table::{Column, Table, Value, thousands};

/// How many groups and statements the summary names.
const RANKED: usize = 5;

/// Something expensive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ranked {
    /// Component and name: `main.read`, `main.while@L12`.
    pub name: String,
    /// Cycles in which it was active, in all instances together.
    pub cycles: u64,
    /// How often it was active.
    pub times: u64,
}

/// The summary of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Name of the design.
    pub design: String,
    /// Length of the run in cycles.
    pub cycles: u64,
    /// Cycles in which at least one active cell did something useful.
    pub useful_cycles: u64,
    /// The other cycles by kind: `fsm-update`, `par-done`, `both` and `other`. A cycle is `both`
    /// when, among all active cells, FSM and par-done registers change.
    pub overhead: BTreeMap<String, u64>,
    /// The most expensive groups.
    pub groups: Vec<Ranked>,
    /// The most expensive control nodes, without those that span the whole run of their component.
    pub control: Vec<Ranked>,
    /// What was odd in the waveform.
    pub warnings: Vec<String>,
    /// Versions of petal and of the tools that it used.
    pub versions: BTreeMap<String, String>,
}

impl Summary {
    /// The summary of a run of the design `design`.
    pub fn new(
        metadata: &Metadata,
        profile: &Profile,
        activations: &Activations<'_>,
        design: &str,
        versions: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let mut useful_cycles = 0;
        let mut overhead: BTreeMap<String, u64> =
            Overhead::ALL.map(|kind| (kind.to_string(), 0)).into();
        for (tree, cycles) in profile.trees() {
            let activities: Vec<Activity> = tree
                .nodes()
                .filter_map(|(_, node)| match node {
                    Node::Cell { activity, .. } => Some(activity),
                    _ => None,
                })
                .collect();
            if activities.contains(&Activity::Useful) {
                useful_cycles += cycles;
            } else {
                *overhead
                    .entry(combined(&activities).to_string())
                    .or_default() += cycles;
            }
        }
        Self {
            design: design.to_owned(),
            cycles: profile.total(),
            useful_cycles,
            overhead,
            groups: ranked_groups(metadata, activations),
            control: ranked_control(metadata, activations),
            warnings: profile
                .warnings()
                .iter()
                .map(|warning| {
                    format!(
                        "cycle {}: {}: {}",
                        warning.cycle.cycles(),
                        warning.signal,
                        warning.text
                    )
                })
                .collect(),
            versions: versions
                .into_iter()
                .chain([("petal".to_owned(), metadata.petal.clone())])
                .collect(),
        }
    }

    /// The text of `summary.json`.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the keys are texts");
        text.push('\n');
        text
    }

    /// The summary for a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let share = |cycles: u64| match Value::percent(cycles, self.cycles) {
            Value::Decimal(percent) => format!("{percent:5.1} %"),
            _ => String::new(),
        };
        let width = thousands(self.cycles).len();
        let mut line = |name: &str, cycles: u64| {
            let _ = writeln!(
                text,
                "  {name:<22}{:>width$}  {}",
                thousands(cycles),
                share(cycles)
            );
        };
        line("cycles", self.cycles);
        line("useful", self.useful_cycles);
        line("control overhead", self.cycles - self.useful_cycles);
        for (kind, name) in [
            ("fsm-update", "  FSM update"),
            ("par-done", "  par-done update"),
            ("both", "  both"),
            ("other", "  other"),
        ] {
            line(name, self.overhead.get(kind).copied().unwrap_or(0));
        }
        for (title, ranked) in [
            ("most expensive groups", &self.groups),
            ("most expensive control", &self.control),
        ] {
            if ranked.is_empty() {
                continue;
            }
            let mut table = Table::new(vec![
                Column::text(title),
                Column::number("cycles"),
                Column::number("times"),
            ]);
            for entry in ranked {
                table.push(vec![
                    entry.name.as_str().into(),
                    entry.cycles.into(),
                    entry.times.into(),
                ]);
            }
            text.push('\n');
            for line in table.text().lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "\n  warning: {warning}");
        }
        text
    }
}

/// The kind of overhead of a cycle in which no cell is useful.
fn combined(activities: &[Activity]) -> Overhead {
    let has = |kinds: [Overhead; 2]| {
        activities.iter().any(|activity| match activity {
            Activity::Overhead(kind) => kinds.contains(kind),
            Activity::Useful => false,
        })
    };
    match (
        has([Overhead::FsmUpdate, Overhead::Both]),
        has([Overhead::ParDone, Overhead::Both]),
    ) {
        (true, true) => Overhead::Both,
        (true, false) => Overhead::FsmUpdate,
        (false, true) => Overhead::ParDone,
        (false, false) => Overhead::Other,
    }
}

fn rank(entries: BTreeMap<String, (u64, u64)>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = entries
        .into_iter()
        .map(|(name, (cycles, times))| Ranked {
            name,
            cycles,
            times,
        })
        .collect();
    ranked.sort_by_key(|entry| std::cmp::Reverse(entry.cycles));
    ranked.truncate(RANKED);
    ranked
}

fn ranked_groups(metadata: &Metadata, activations: &Activations<'_>) -> Vec<Ranked> {
    let mut entries: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (key, durations) in activations.durations() {
        let Item::Group(run) = key.item else { continue };
        let component = metadata.component(activations.component_of(key));
        let group = component.group(component.run(run).group);
        if group.origin == Origin::Compiler {
            continue;
        }
        let entry = entries
            .entry(format!("{}.{}", component.name, group.name))
            .or_default();
        entry.0 += durations.total;
        entry.1 += durations.count;
    }
    rank(entries)
}

fn ranked_control(metadata: &Metadata, activations: &Activations<'_>) -> Vec<Ranked> {
    let names: Vec<Vec<String>> = metadata
        .components
        .iter()
        .map(|component| labels::control_labels(metadata, component))
        .collect();
    let mut entries: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (key, durations) in activations.durations() {
        let Item::Control(node) = key.item else {
            continue;
        };
        let id = activations.component_of(key);
        let component = metadata.component(id);
        if component.node(node).parent.is_none() {
            continue;
        }
        let name = format!("{}.{}", component.name, names[id.index()][node.index()]);
        let entry = entries.entry(name).or_default();
        entry.0 += durations.total;
        entry.1 += durations.count;
    }
    rank(entries)
}
