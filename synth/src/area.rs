//! Which part of the program the cells of the device are for.
//!
//! Owns the attribution: a cell whose output has a name of the program is for what that name stands for; any other is for those that read it,
//! in equal parts. Every sum is that of the netlist.

use std::collections::{BTreeMap, HashMap};
use std::ops::{AddAssign, Sub};

use petal_metadata::labels::control_label;
use petal_metadata::{CompiledKind, ControlId, Id as _, Metadata, Span};
use petal_table::{Columns, Table, Value};
use serde::{Deserialize, Serialize};

use crate::names::{Names, Source};
use crate::netlist::{Cell, Netlist};

/// Cells of a device. Parts of a cell count where several share it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Look-up tables.
    pub luts: f64,
    /// Flip-flops.
    pub ffs: f64,
    /// Block memories.
    pub brams: f64,
    /// Multipliers.
    pub dsps: f64,
    /// Cells of carry chains.
    pub carries: f64,
    /// All others, such as wide multiplexers.
    pub others: f64,
}

impl Figures {
    /// One cell of this type of a device's library.
    pub fn of(kind: &str, count: f64) -> Self {
        let mut figures = Self::default();
        let figure = match kind {
            "SB_LUT4" | "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" => &mut figures.luts,
            "SB_CARRY" | "CCU2C" | "CARRY4" => &mut figures.carries,
            "TRELLIS_FF" | "FDRE" | "FDSE" | "FDCE" | "FDPE" => &mut figures.ffs,
            "DP16KD" | "PDPW16KD" | "RAMB18E1" | "RAMB36E1" => &mut figures.brams,
            "SB_MAC16" | "MULT18X18D" | "MULT9X9D" | "DSP48E1" => &mut figures.dsps,
            kind if kind.starts_with("SB_DFF") => &mut figures.ffs,
            kind if kind.starts_with("SB_RAM40_4K") => &mut figures.brams,
            _ => &mut figures.others,
        };
        *figure = count;
        figures
    }

    /// All cells that yosys counts, by their types.
    #[expect(clippy::cast_precision_loss, reason = "a device has fewer cells")]
    pub(crate) fn counted(cells: &BTreeMap<String, u64>) -> Self {
        let mut sum = Self::default();
        for (kind, count) in cells {
            sum += Self::of(kind, *count as f64);
        }
        sum
    }

    /// With their names.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("luts", self.luts),
            ("ffs", self.ffs),
            ("brams", self.brams),
            ("dsps", self.dsps),
            ("carries", self.carries),
            ("others", self.others),
        ]
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.luts += other.luts;
        self.ffs += other.ffs;
        self.brams += other.brams;
        self.dsps += other.dsps;
        self.carries += other.carries;
        self.others += other.others;
    }
}

impl Sub for Figures {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            luts: self.luts - other.luts,
            ffs: self.ffs - other.ffs,
            brams: self.brams - other.brams,
            dsps: self.dsps - other.dsps,
            carries: self.carries - other.carries,
            others: self.others - other.others,
        }
    }
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A cell of the program.
    Cell,
    /// The multiplexers and guards that a group's assignments need.
    Group,
    /// What the compiler made to run control: state machines, registers of arms that are done.
    Control,
    /// Assignments outside of groups.
    Continuous,
    /// What leads to nothing in the program.
    Unattributed,
}

impl Kind {
    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cell => "cell",
            Self::Group => "group",
            Self::Control => "control",
            Self::Continuous => "continuous",
            Self::Unattributed => "unattributed",
        }
    }
}

/// What one part of the program takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub kind: Kind,
    /// The copy of the component that it is in, such as `main.s`.
    pub instance: String,
    /// Its name.
    pub name: String,
    /// The primitive of a cell; the control statement that the compiler made it for.
    pub detail: String,
    /// The file that it stands in.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// Its cells of the device.
    #[serde(flatten)]
    pub figures: Figures,
    /// Whether a part of them is shared with other rows.
    pub is_shared: bool,
    /// How much shorter the longest path through it is than the longest of all, in nanoseconds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_ns: Option<f64>,
}

/// What all parts of a design take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Of the whole netlist.
    pub total: Figures,
    /// What takes most first; together they are the total.
    pub rows: Vec<Row>,
}

impl Area {
    /// The table of `stats/area.csv`: a row for each part.
    pub fn table(&self) -> Table {
        let text = |text: &Option<String>| text.clone().map_or(Value::Empty, Value::Text);
        let columns = Columns::<Row>::default()
            .text("kind", |row| row.kind.name().into())
            .text("instance", |row| row.instance.as_str().into())
            .text("name", |row| row.name.as_str().into())
            .text("detail", |row| row.detail.as_str().into())
            .text("file", move |row| text(&row.file))
            .optional()
            .number("line", |row| {
                let line = row.line.map(u64::from);
                line.map_or(Value::Empty, Value::Count)
            })
            .optional()
            .text("shared", |row| {
                if row.is_shared { "yes" } else { "no" }.into()
            });
        let figures: [Figure; 6] = [
            ("luts", "LUT", |of| of.luts),
            ("ffs", "FF", |of| of.ffs),
            ("brams", "BRAM", |of| of.brams),
            ("dsps", "DSP", |of| of.dsps),
            ("carries", "carry", |of| of.carries),
            ("others", "other cells", |of| of.others),
        ];
        let columns = figures
            .into_iter()
            .fold(columns, |columns, (name, title, figure)| {
                let value = move |row: &Row| Value::Decimal(figure(&row.figures));
                columns.decimal(name, value).titled(title)
            });
        let columns = columns
            .decimal("slack_ns", |row| {
                row.slack_ns.map_or(Value::Empty, Value::Decimal)
            })
            .optional()
            .titled("slack, ns");
        columns.table(self.rows.iter().cloned())
    }
}

/// A column of what the tool counts: its name, its heading, and its number.
type Figure = (&'static str, &'static str, fn(&Figures) -> f64);

/// A part of the program, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Cell(usize, usize),
    Group(usize, String),
    Continuous(usize),
    Nothing,
}

/// Parts with how much of a cell is for each; together 1.
pub(crate) type Shares = BTreeMap<Part, f64>;

/// Attributes the cells of a netlist.
#[derive(Debug)]
pub(crate) struct Attribution<'a> {
    names: &'a Names<'a>,
    netlist: &'a Netlist,
    /// Which cells read a bit, and by which ports.
    readers: HashMap<u64, Vec<(usize, &'a str)>>,
    drivers: HashMap<u64, usize>,
    found: HashMap<usize, Option<Shares>>,
}

impl<'a> Attribution<'a> {
    pub fn new(names: &'a Names<'a>, netlist: &'a Netlist) -> Self {
        let mut readers: HashMap<u64, Vec<(usize, &str)>> = HashMap::new();
        let mut drivers = HashMap::new();
        for (number, cell) in netlist.cells.iter().enumerate() {
            for (port, is_output, bits) in &cell.ports {
                for bit in bits.iter().flatten() {
                    if *is_output {
                        drivers.insert(*bit, number);
                    } else {
                        readers.entry(*bit).or_default().push((number, port));
                    }
                }
            }
        }
        Self {
            names,
            netlist,
            readers,
            drivers,
            found: HashMap::new(),
        }
    }

    /// What the whole netlist is for.
    pub fn area(&mut self) -> Area {
        let mut total = Figures::default();
        let mut parts: BTreeMap<Part, (Figures, bool)> = BTreeMap::new();
        for number in 0..self.netlist.cells.len() {
            let kind = &self.netlist.cells[number].kind;
            total += Figures::of(kind, 1.0);
            let shares = self.shares(number);
            let is_shared = shares.len() > 1;
            for (part, share) in shares {
                let (figures, shared) = parts.entry(part).or_default();
                *figures += Figures::of(kind, share);
                *shared |= is_shared;
            }
        }
        let mut rows: BTreeMap<(Kind, String, String), Row> = BTreeMap::new();
        for (part, (figures, is_shared)) in parts {
            let row = Row {
                figures,
                is_shared,
                ..row(self.names, &part)
            };
            let key = (row.kind, row.instance.clone(), row.name.clone());
            match rows.entry(key) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(row);
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    entry.get_mut().figures += figures;
                    entry.get_mut().is_shared |= is_shared;
                }
            }
        }
        let mut rows: Vec<Row> = rows.into_values().collect();
        // To hundredths, as they are written: what is equal there stays in the order of names.
        let size = |row: &Row| ((row.figures.luts + row.figures.ffs) * 100.0).round();
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        Area { total, rows }
    }

    /// What the driver of a bit is for.
    pub fn driver(&mut self, bit: u64) -> Option<Shares> {
        let driver = *self.drivers.get(&bit)?;
        Some(self.shares(driver))
    }

    /// What a cell is for.
    pub fn shares(&mut self, number: usize) -> Shares {
        match self.found.get(&number) {
            Some(Some(shares)) => return shares.clone(),
            // It leads back to itself.
            Some(None) => return Shares::new(),
            None => {}
        }
        self.found.insert(number, None);
        let mut shares = Shares::new();
        let cell = &self.netlist.cells[number];
        if let Some(source) = self.named(cell) {
            add_source(&mut shares, &source, 1.0);
        } else {
            let outputs: Vec<u64> = cell.outputs().collect();
            for bit in outputs {
                for (reader, port) in self.readers.get(&bit).cloned().unwrap_or_default() {
                    for (part, share) in self.read(reader, port) {
                        *shares.entry(part).or_default() += share;
                    }
                }
            }
        }
        let all: f64 = shares.values().sum();
        if all > 0.0 {
            for share in shares.values_mut() {
                *share /= all;
            }
        } else {
            shares = Shares::from([(Part::Nothing, 1.0)]);
        }
        self.found.insert(number, Some(shares.clone()));
        shares
    }

    /// What the names of a cell's outputs stand for.
    fn named(&self, cell: &Cell) -> Option<Source> {
        let mut wiring = None;
        for bit in cell.outputs() {
            let names = self.netlist.names.get(&bit).into_iter().flatten();
            match self.names.source(names.map(String::as_str)) {
                Some(source @ Source::Cell(..)) => return Some(source),
                Some(source) => wiring = wiring.or(Some(source)),
                None => {}
            }
        }
        wiring
    }

    /// What a cell is for that `reader` reads by its port `port`.
    fn read(&mut self, reader: usize, port: &str) -> Shares {
        let cell = &self.netlist.cells[reader];
        if Figures::of(&cell.kind, 1.0).ffs == 0.0 {
            return self.shares(reader);
        }
        let mut shares = Shares::new();
        let Some(Source::Cell(instance, number)) = self.named(cell) else {
            return self.shares(reader);
        };
        let component = self.names.instances[instance].component;
        let of = &self.names.design.components[component].cells[number];
        let wiring = if of.prototype.starts_with("std_reg(") {
            let input = if matches!(port, "D" | "DI" | "M") {
                "in"
            } else {
                "write_en"
            };
            self.names.wiring(instance, number, input)
        } else {
            None
        };
        add_source(
            &mut shares,
            &wiring.unwrap_or(Source::Cell(instance, number)),
            1.0,
        );
        shares
    }
}

#[expect(clippy::cast_precision_loss, reason = "a design has fewer assignments")]
fn add_source(shares: &mut Shares, source: &Source, share: f64) {
    match source {
        Source::Cell(instance, cell) => {
            *shares.entry(Part::Cell(*instance, *cell)).or_default() += share;
        }
        Source::Wiring(instance, assignments) => {
            for groups in assignments {
                let share = share / assignments.len() as f64;
                for group in groups {
                    let part = Part::Group(*instance, group.clone());
                    *shares.entry(part).or_default() += share / groups.len() as f64;
                }
                if groups.is_empty() {
                    *shares.entry(Part::Continuous(*instance)).or_default() += share;
                }
            }
        }
    }
}

/// A part of the program, as tables have it, without figures.
pub(crate) fn row(names: &Names<'_>, part: &Part) -> Row {
    let metadata = &names.design.metadata;
    let mut row = Row {
        kind: Kind::Unattributed,
        instance: String::new(),
        name: "unattributed".to_owned(),
        detail: String::new(),
        file: None,
        line: None,
        figures: Figures::default(),
        is_shared: false,
        slack_ns: None,
    };
    let at = match part {
        Part::Cell(at, _) | Part::Group(at, _) | Part::Continuous(at) => *at,
        Part::Nothing => return row,
    };
    let instance = &names.instances[at];
    let component = &names.design.components[instance.component];
    let known = metadata
        .components
        .iter()
        .find(|of| of.name == component.name);
    row.instance.clone_from(&instance.path);
    let span = match part {
        Part::Cell(_, number) => {
            let cell = &component.cells[*number];
            row.name.clone_from(&cell.name);
            row.detail.clone_from(&cell.prototype);
            row.kind = if cell.is_of_program {
                Kind::Cell
            } else {
                Kind::Control
            };
            let sources = known.into_iter().flat_map(|known| &known.cells);
            let same = |of: &&petal_metadata::Cell| of.instance.as_deref() == Some(&cell.instance);
            match sources.into_iter().find(same) {
                Some(source) => source.span,
                None => known.and_then(|known| {
                    let node = controlled(known, &cell.instance)?;
                    row.detail = control_label(metadata, known, node);
                    known.node(node).span
                }),
            }
        }
        Part::Group(_, name) => {
            row.name.clone_from(name);
            let groups = known.into_iter().flat_map(|known| &known.groups);
            match groups.into_iter().find(|group| group.name == *name) {
                Some(group) => {
                    row.kind = Kind::Group;
                    group.span
                }
                None => {
                    row.kind = Kind::Control;
                    known.and_then(|known| {
                        let compiled = known.compiled.iter().find(|of| of.name == *name)?;
                        let node = compiled.node?;
                        row.detail = control_label(metadata, known, node);
                        known.node(node).span
                    })
                }
            }
        }
        _ => {
            row.kind = Kind::Continuous;
            "continuous assignments".clone_into(&mut row.name);
            known.and_then(|known| known.span)
        }
    };
    (row.file, row.line) = place(metadata, span);
    row
}

/// The file and the line.
pub(crate) fn place(metadata: &Metadata, span: Option<Span>) -> (Option<String>, Option<u32>) {
    let file = span.and_then(|span| metadata.files.get(span.file.index()));
    (
        file.map(|file| file.name.clone()),
        span.map(|span| span.line),
    )
}

/// The control statement whose state a register holds.
fn controlled(component: &petal_metadata::Component, register: &str) -> Option<ControlId> {
    let holds = |id: petal_metadata::RegisterId| component.register(id).name == register;
    let group = component.compiled.iter().find(|group| match &group.kind {
        CompiledKind::Fsm { register, .. } => holds(*register),
        CompiledKind::Par { arms } => arms.iter().any(|arm| holds(arm.register)),
        CompiledKind::Leaf => false,
    });
    group?.node
}
