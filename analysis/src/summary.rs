//! The summary of a run: its length, how much of it was useful, and what was most expensive.

pub mod text;

use std::collections::BTreeMap;

use petal_metadata::{ComponentId, GroupId, Id, Metadata, Origin, labels};
use petal_reconstruct::Overhead;
use serde::{Deserialize, Serialize};

use crate::activations::Activations;
use crate::clock::{Clock, ClockSource, Period};
use crate::elements::ElementKind;
use crate::ending::Ending;
use crate::hotspots::{RankedHotspot, hotspots, ranked};
use crate::ledger::Ledger;
use crate::profile::Profile;

/// How many groups and statements the summary names.
pub(crate) const RANKED: usize = 5;

/// An expensive group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedGroup {
    /// Component and name: `main.read`, or `main.read (from sub)` if inlining brought it into a
    /// component that has another group of that name.
    pub name: String,
    /// Cycles in which it was active, in all instances together.
    pub cycles: u64,
    /// How often it was active.
    pub times: u64,
}

/// How it was made sure that the plain design runs as the profiled one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verified {
    /// Not at all.
    #[default]
    No,
    /// Both are the same hardware, but for the probes.
    Structure,
    /// Both took as many cycles and left the same memories.
    Simulation,
    /// Whoever compiled it said so; nobody has the plain design now.
    AtCompilation,
}

impl Verified {
    /// What it means, as a line.
    pub fn text(self) -> &'static str {
        match self {
            Self::No => "not verified: nobody made sure that the design runs alike without probes",
            Self::Structure => {
                "verified by structure: but for its probes, this is the design that the stock compiler builds"
            }
            Self::Simulation => {
                "verified by simulation: without probes, the design took as many cycles and left the same memories"
            }
            Self::AtCompilation => "verified when it was compiled",
        }
    }
}

/// What a compiled design consists of, in all instances of all components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hardware {
    /// Registers.
    pub registers: u64,
    /// Their bits, with one of each for `done`.
    pub register_bits: u64,
    /// Other cells of primitives.
    pub cells: u64,
}

impl Hardware {
    /// Its figures, by what `summary.json` calls them.
    pub fn figures(self) -> [(&'static str, u64); 3] {
        [
            ("registers", self.registers),
            ("register_bits", self.register_bits),
            ("cells", self.cells),
        ]
    }

    /// That of cells: of each primitive, such as `std_reg(32)`, how many.
    pub fn of<'a>(cells: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut hardware = Self::default();
        for (cell, count) in cells {
            let width = cell.strip_prefix("std_reg(");
            let width = width.and_then(|rest| rest.strip_suffix(')')?.parse::<u64>().ok());
            match width {
                Some(width) => {
                    hardware.registers += count;
                    hardware.register_bits += count * (width + 1);
                }
                None => hardware.cells += count,
            }
        }
        hardware
    }
}

/// Version of `summary.json`; `docs/formats.md` tells what may change without a new one.
pub const SUMMARY_VERSION: u32 = 3;

/// The summary of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of the format, [`SUMMARY_VERSION`].
    pub version: u32,
    /// Name of the design.
    pub design: String,
    /// The name of the file with the contents of the memories, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// A digest of the contents of the memories before the run; `None` if nobody knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_digest: Option<String>,
    /// Why the run ended before the design was done, if it did: then the profile is a partial one.
    pub stopped: Option<String>,
    /// What was active then, and what it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// How it was made sure that the plain design runs alike: `structure`, `simulation`,
    /// `at-compilation` (for the waveform of a design that petal compiled before) or `no`.
    pub verified: Verified,
    /// Length of the run in cycles.
    pub cycles: u64,
    /// The clock, if its period is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Cycles in which something worked: `computation_cycles` and `condition_cycles`.
    pub useful_cycles: u64,
    /// Cycles in which something worked that is no condition.
    pub computation_cycles: u64,
    /// Cycles in which nothing but conditions was computed.
    pub condition_cycles: u64,
    /// The other cycles.
    pub overhead_cycles: u64,
    /// They, by kind: `fsm-update`, `par-done`, `fsm-and-par-done`, `static-wait`, `barrier`,
    /// `start-finish` and `other`.
    pub overhead: BTreeMap<String, u64>,
    /// The most expensive groups.
    pub groups: Vec<RankedGroup>,
    /// The statements that cost most, of each kind.
    pub hotspots: Vec<RankedHotspot>,
    /// What the compiled design consists of, if petal compiled it for this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Hardware>,
    /// The pass that ran because the design needs it, although `no-opt` lacks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_pass: Option<String>,
    /// What was odd in the waveform, and what the run lacked.
    pub warnings: Vec<String>,
    /// That of them which says that the run had no data, if it had none: who ran it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_data: Option<String>,
    /// What `petal advise` found, if it was asked: `docs/formats.md` has its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<serde_json::Value>,
    /// What `petal whatif` found, if it was asked: `docs/formats.md` has its fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<serde_json::Value>,
    /// What the report shows of observations, which have a file of their own.
    #[serde(skip)]
    pub observations: Option<serde_json::Value>,
    /// Versions of petal, of the Calyx compiler in it, and of what simulated the design, if petal
    /// did: `cranelift`, for the embedded simulator, or `verilator`.
    pub versions: BTreeMap<String, String>,
}

impl Summary {
    /// The summary of a run of the design `design`.
    pub fn new(
        metadata: &Metadata,
        profile: &Profile,
        ledger: &Ledger,
        activations: &Activations<'_>,
        design: &str,
        versions: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        Self {
            version: SUMMARY_VERSION,
            design: design.to_owned(),
            data: None,
            data_digest: None,
            stopped: None,
            ending: None,
            verified: if metadata.verified {
                Verified::AtCompilation
            } else {
                Verified::No
            },
            cycles: profile.total(),
            clock: None,
            useful_cycles: ledger.useful(),
            computation_cycles: ledger.computation,
            condition_cycles: ledger.conditions,
            overhead_cycles: ledger.total_overhead(),
            overhead: Overhead::ALL
                .iter()
                .zip(ledger.overhead)
                .map(|(kind, cycles)| (kind.to_string(), cycles))
                .collect(),
            groups: ranked_groups(metadata, activations),
            hotspots: ranked(
                &hotspots(metadata, ledger, activations, profile.total()),
                RANKED,
            )
            .into_iter()
            .map(|row| RankedHotspot::new(row, None))
            .collect(),
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
            hardware: None,
            added_pass: None,
            no_data: None,
            advice: None,
            what_if: None,
            observations: None,
            versions: versions
                .into_iter()
                .chain([
                    ("petal".to_owned(), metadata.petal.clone()),
                    ("calyx".to_owned(), metadata.calyx.clone()),
                ])
                .collect(),
        }
    }

    /// The text of `summary.json`.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the keys are texts");
        text.push('\n');
        text
    }

    /// The summary that the text of a `summary.json` has.
    ///
    /// # Errors
    /// Why it has none.
    pub fn of_json(text: &str) -> Result<Self, String> {
        /// What is the same in all versions.
        #[derive(Deserialize)]
        struct Writer {
            version: u32,
            #[serde(default)]
            versions: BTreeMap<String, String>,
        }
        let writer: Writer = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if writer.version != SUMMARY_VERSION {
            let petal = writer.versions.get("petal").map_or("?", String::as_str);
            return Err(format!(
                "petal {petal} wrote it, in version {} of the format, and this one reads version {SUMMARY_VERSION}",
                writer.version
            ));
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Takes in what the user says of the clock, or else what place and route found, for which a period stays that the user said.
    pub fn set_clock(&mut self, given: Option<Period>, synthesized: Option<Period>) {
        let known = self.clock.filter(|clock| clock.from == ClockSource::Option);
        let given = given.or(known.map(|clock| clock.period));
        let given = given.map(|period| (period, ClockSource::Option));
        let found = synthesized.map(|period| (period, ClockSource::Synthesis));
        let clock = given.or(found);
        self.clock = clock.map(|(period, from)| Clock::new(period, from, self.cycles));
    }

    /// The period of the clock, if it is known.
    pub fn period(&self) -> Option<Period> {
        self.clock.map(|clock| clock.period)
    }

    /// Takes in what `petal advise` found, or that nobody has asked it.
    pub fn set_advice(&mut self, advice: Option<serde_json::Value>) {
        for row in &mut self.hotspots {
            row.next = row.next_step(advice.as_ref());
        }
        self.advice = advice;
    }

    /// Why the run ended before the design was done, and what was active then; `None` if the design was done.
    pub fn early_end(&self) -> Option<String> {
        let stopped = self.stopped.as_ref()?;
        let ending = self.ending.as_ref().map(Ending::text);
        Some(match ending {
            Some(ending) => format!("{stopped}\n  {ending}"),
            None => stopped.clone(),
        })
    }
}

/// Whether the memories of two runs are known to have begun with other contents, by their digests.
pub fn have_other_data(before: Option<&str>, after: Option<&str>) -> bool {
    before.zip(after).is_some_and(|(was, is)| was != is)
}

fn ranked_groups(metadata: &Metadata, activations: &Activations<'_>) -> Vec<RankedGroup> {
    let mut entries: BTreeMap<(ComponentId, GroupId), (u64, u64)> = BTreeMap::new();
    for (element, durations) in activations.durations() {
        let ElementKind::Group(run) = element.kind else {
            continue;
        };
        let id = activations.component_of(element);
        let component = metadata.component(id);
        let group = component.run(run).group;
        if component.group(group).origin == Origin::Compiler {
            continue;
        }
        let entry = entries.entry((id, group)).or_default();
        entry.0 += durations.total;
        entry.1 += durations.count;
    }
    let labels: Vec<Vec<String>> = metadata
        .components
        .iter()
        .map(labels::group_labels)
        .collect();
    let mut ranked: Vec<RankedGroup> = entries
        .into_iter()
        .map(|((id, group), (cycles, times))| RankedGroup {
            name: format!(
                "{}.{}",
                metadata.component(id).name,
                labels[id.index()][group.index()]
            ),
            cycles,
            times,
        })
        .collect();
    ranked.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.name.cmp(&b.name)));
    ranked.truncate(RANKED);
    ranked
}
