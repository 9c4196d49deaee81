//! What was found out about a design: `synthesis.json`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_metadata::Metadata;
use petal_passes::{GroupName, MemoryPlace, Synthesizable};
use serde::{Deserialize, Serialize};

use crate::area::{Area, Attribution, Figures, Kind, Row, place};
use crate::delays::Delays;
use crate::error::Error;
use crate::flow::{Mapped, Placed};
use crate::names::Names;
use crate::netlist::Netlist;
use crate::timing::{Path, PathEnd, Report, slacks};
use crate::tools::{Target, Tools};

/// The version of the schema.
const VERSION: u32 = 1;

/// The area and the clock of a design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    /// The version of this schema.
    pub version: u32,
    /// The fingerprint of the metadata: those of a profile of the same design have the same.
    pub fingerprint: String,
    /// The device family: `ice40`, `ecp5` or `xilinx`; `reports` if others' reports were read.
    pub target: String,
    /// The device, for people.
    pub device: String,
    /// What the tools say of their versions.
    pub tools: Vec<String>,
    /// Whether the external memories are inside.
    pub has_memories: bool,
    /// How many cells of each type yosys counts.
    pub cells: BTreeMap<String, u64>,
    /// The clock; `None` without place and route: then the area is an estimate.
    pub clock: Option<Clock>,
    /// What is used of the device, as nextpnr counts it.
    pub utilization: BTreeMap<String, u64>,
    /// What the cells are for.
    pub area: Area,
    /// The path that limits the clock, with the seed in the middle.
    pub critical_path: Option<Path>,
    /// Where the longest paths end, with that seed, the longest first; empty where nobody tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_ends: Vec<PathEnd>,
    /// The cycles of the run in the same folder, if the design is the same.
    pub cycles: Option<u64>,
    /// Microseconds: the cycles times the period.
    pub time_us: Option<f64>,
    /// What vanishes without a group, for those that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Without>,
}

/// What vanishes without a group: the design was synthesised again without its assignments and the statements that enable it. What only it
/// used vanishes with it, and so does what yosys then finds to be constant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Without {
    /// The component that has the group, in all its copies.
    pub component: String,
    /// The group.
    pub group: String,
    /// The file that it stands in.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The cells that the design has with it, and not without it; less than zero where it has more without it.
    #[serde(flatten)]
    pub vanishes: Figures,
}

/// How fast a clock may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// In MHz, with the seed in the middle.
    pub fmax_mhz: f64,
    /// By seed.
    pub seeds: BTreeMap<u64, f64>,
}

impl Clock {
    /// The slowest and the fastest, in MHz.
    pub fn range(&self) -> (f64, f64) {
        let all = || self.seeds.values().copied();
        (
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        )
    }
}

impl Synthesis {
    /// Puts together what the tools say.
    ///
    /// # Errors
    /// When petal can't read it, or the netlist has other cells than yosys counts.
    pub fn new(
        tools: &Tools,
        target: Target,
        design: &Synthesizable,
        memories: MemoryPlace,
        mapped: &Mapped,
        placed: &[Placed],
    ) -> Result<Self, Error> {
        let netlist = Netlist::parse(&mapped.netlist, &design.hardware.top)?;
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for cell in &netlist.cells {
            *counted.entry(cell.kind.clone()).or_default() += 1;
        }
        if counted != mapped.cells {
            return Err(Error::unreadable(
                "yosys",
                format!(
                    "the netlist has the cells {counted:?}, and `stat` counts {:?}",
                    mapped.cells
                ),
            ));
        }
        let mut reports = Vec::new();
        for placed in placed {
            let report = Report::parse(&placed.report)?;
            reports.push((placed.seed, report, placed.delays.as_deref()));
        }
        reports.sort_by(|(_, a, _), (_, b, _)| a.fmax().total_cmp(&b.fmax()));
        // Of two in the middle, the slower one.
        let middle = reports.get(reports.len().saturating_sub(1) / 2);
        if middle.is_none() && tools.nextpnr.is_some() {
            return Err(Error::unreadable("nextpnr", "there is no report"));
        }
        let delays =
            middle.and_then(|(.., delays)| serde_json::from_str::<Delays>((*delays)?).ok());
        let middle = middle.map(|(_, report, _)| report);
        let names = Names::new(design);
        let mut attribution = Attribution::new(&names, &netlist);
        let mut area = attribution.area();
        let critical_path =
            middle.and_then(|middle| middle.path(&netlist, &names, &mut attribution));
        let slacks = delays
            .zip(critical_path.as_ref())
            .and_then(|(delays, path)| {
                slacks(&delays, path.delay_ns, &netlist, &names, &mut attribution)
            });
        let slacks = slacks.unwrap_or_default();
        for row in &mut area.rows {
            let key = (row.kind, row.instance.clone(), row.name.clone());
            row.slack_ns = slacks.parts.get(&key).copied();
        }
        let used = |value: &serde_json::Value| value["used"].as_u64();
        let utilization = middle.into_iter().flat_map(|report| &report.utilization);
        let versions = [Some(&tools.yosys), tools.nextpnr.as_ref()];
        let versions = versions.into_iter().flatten();
        Ok(Self {
            fingerprint: design.metadata.fingerprint.clone(),
            target: target.name().to_owned(),
            device: target.device().to_owned(),
            tools: versions.map(|tool| tool.version.clone()).collect(),
            has_memories: memories == MemoryPlace::Inside,
            cells: mapped.cells.clone(),
            clock: middle.map(|middle| Clock {
                fmax_mhz: middle.fmax(),
                seeds: reports
                    .iter()
                    .map(|(seed, report, _)| (*seed, report.fmax()))
                    .collect(),
            }),
            utilization: utilization
                .filter_map(|(of, value)| Some((of.clone(), used(value)?)))
                .collect(),
            area,
            critical_path,
            path_ends: slacks.ends,
            ..Self::empty()
        })
    }

    /// One that tells nothing yet.
    pub(crate) fn empty() -> Self {
        Self {
            version: VERSION,
            fingerprint: String::new(),
            target: String::new(),
            device: String::new(),
            tools: Vec::new(),
            has_memories: false,
            cells: BTreeMap::new(),
            clock: None,
            utilization: BTreeMap::new(),
            area: Area::default(),
            critical_path: None,
            path_ends: Vec::new(),
            cycles: None,
            time_us: None,
            without: Vec::new(),
        }
    }

    /// Takes in how many cycles the design runs.
    #[expect(clippy::cast_precision_loss, reason = "a run has fewer cycles")]
    pub fn set_cycles(&mut self, cycles: u64) {
        self.cycles = Some(cycles);
        let clock = self.clock.as_ref();
        self.time_us = clock.map(|clock| cycles as f64 / clock.fmax_mhz);
    }

    /// Takes in what yosys made of the design without a group.
    pub fn set_without(&mut self, metadata: &Metadata, name: &GroupName, mapped: &Mapped) {
        let components = metadata.components.iter();
        let mut groups = components
            .filter(|component| component.name == name.component)
            .flat_map(|component| &component.groups);
        let span = groups
            .find(|group| group.name == name.group)
            .and_then(|group| group.span);
        let (file, line) = place(metadata, span);
        self.without.push(Without {
            component: name.component.clone(),
            group: name.group.clone(),
            file,
            line,
            vanishes: self.area.total - Figures::counted(&mapped.cells),
        });
        let size = |of: &Without| of.vanishes.luts + of.vanishes.ffs;
        self.without.sort_by(|a, b| {
            let names = (&a.component, &a.group).cmp(&(&b.component, &b.group));
            size(b).total_cmp(&size(a)).then(names)
        });
    }

    /// Reads a file of it; `None` if it is of another version, or of something else.
    pub fn from_json(text: &str) -> Option<Self> {
        let synthesis: Self = serde_json::from_str(text).ok()?;
        let is_clock = |clock: &Clock| !clock.seeds.is_empty() && clock.fmax_mhz > 0.0;
        let is_whole = synthesis.clock.as_ref().is_none_or(is_clock);
        (synthesis.version == VERSION && is_whole).then_some(synthesis)
    }

    /// As a file.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("it has plain keys");
        text + "\n"
    }

    /// `flame-area.folded`: look-up tables, in hundredths, since several parts may share one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no netlist is as large"
    )]
    pub fn folded(&self) -> String {
        let mut text = String::new();
        for row in &self.area.rows {
            let weight = (row.figures.luts * 100.0).round() as u64;
            if weight > 0 {
                let mut frames: Vec<String> = row.instance.split('.').map(str::to_owned).collect();
                frames.retain(|frame| !frame.is_empty());
                if frames.is_empty() {
                    frames.push("main".to_owned());
                }
                frames.push(row.kind.name().to_owned());
                frames.push(row.label().replace(';', ","));
                let _ = writeln!(text, "{} {weight}", frames.join(";"));
            }
        }
        text
    }

    /// What of the look-up tables leads to nothing in the program, from 0 to 1.
    pub fn unattributed(&self) -> f64 {
        let rows = self
            .area
            .rows
            .iter()
            .filter(|row| row.kind == Kind::Unattributed);
        let luts = rows.fold(0.0, |sum, row| sum + row.figures.luts);
        if self.area.total.luts > 0.0 {
            luts / self.area.total.luts
        } else {
            0.0
        }
    }
}

impl Row {
    /// Its name with what tells it from others.
    pub fn label(&self) -> String {
        match (self.kind, self.detail.as_str()) {
            (Kind::Cell, detail) => format!("{} ({detail})", self.name),
            (Kind::Control, detail) if !detail.is_empty() => format!("{} of {detail}", self.name),
            _ => self.name.clone(),
        }
    }
}
