//! The table of component cells: in how many of its cycles each was busy, and what it cost the run.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{Component, Id, Metadata, RegisterKind, SiteId};
use petal_reconstruct::{Activity, FrameLabels, InstanceId, Node, Overhead, actual_path};

pub use petal_reconstruct::instance_path as path;

use crate::activations::Activations;
use crate::elements::ElementKind;
use crate::ledger::{ByKind, Ledger};
use crate::profile::Profile;
use crate::sites::{self, Sites};
use petal_table::Columns;
use petal_table::selection::SITE;
use petal_table::{RowId, Table, Value};

/// The table of component cells, in the order in which they first ran.
///
/// `busy` and `control` add up to `cycles`; main's `cycles` are the run's. `busy with conditions` is the part
/// of `busy` in which only conditions are computed. `overhead` is what the run lost: its cycles that are
/// charged to statements of this cell. In all rows together it is the run's, but for what no statement is
/// charged for.
/// `FSMs` is the number of state machines that the component has for dynamic control, `avg` the cycles
/// of one activation. There is no row of totals: a cell's cycles are also those of the cells around it.
/// `ref cells` tells which `ref` cells it drove, and what they stood for; a component cell has its row
/// where it lives. `continuous` names the combinational primitives that its continuous assignments drive.
pub fn cells(
    sites: &Sites<'_>,
    profile: &Profile,
    ledger: &Ledger,
    activations: &Activations<'_>,
) -> Table {
    let metadata = sites.metadata();
    let all = sums(profile, activations);
    let mut charged: BTreeMap<InstanceId, u64> = BTreeMap::new();
    for (&(instance, _), statement) in &ledger.instances {
        *charged.entry(instance).or_default() += statement.charged();
    }
    let references = references(metadata, profile);
    let none = BTreeSet::new();
    let rows = all.iter().map(|(instance, sums)| {
        let id = profile.instances()[instance.index()].component;
        let path = path(metadata, profile.instances(), *instance);
        let row = CellRow {
            site: sites.of(id, &path, ElementKind::Cell).id,
            path,
            component: metadata.component(id),
            sums,
            charged: charged.get(instance).copied().unwrap_or(0),
            references: references.get(instance).unwrap_or(&none),
        };
        (RowId::Cell(*instance), row)
    });
    columns().table_of(rows)
}

/// A component cell, and what its cycles went to.
pub struct CellRow<'a> {
    path: String,
    component: &'a Component,
    sums: &'a Sums,
    /// Cycles of the run that are charged to its statements.
    charged: u64,
    /// The `ref` cells that it drove, and what they stood for.
    references: &'a BTreeSet<String>,
    site: SiteId,
}

impl CellRow<'_> {
    fn share(&self, cycles: u64) -> Value {
        Value::percent(cycles, self.sums.cycles())
    }

    fn machines(&self) -> u64 {
        let registers = self.component.registers.iter();
        registers
            .filter(|register| register.kind == RegisterKind::Fsm)
            .count() as u64
    }
}

/// The columns of the table of cells.
pub fn columns<'a>() -> Columns<CellRow<'a>> {
    let columns = Columns::default()
        .text("cell", |row: &CellRow<'_>| row.path.as_str().into())
        .text("component", |row| row.component.name.as_str().into())
        .number("FSMs", |row| row.machines().into())
        .number("times active", |row| row.sums.times.into())
        .number("cycles", |row| row.sums.cycles().into())
        .decimal("avg", |row| {
            Value::average(row.sums.cycles(), row.sums.times)
        })
        .number("busy", |row| row.sums.busy.into())
        .number("busy with conditions", |row| row.sums.conditions.into())
        .number("control", |row| row.sums.control.iter().sum::<u64>().into())
        .number("overhead", |row| row.charged.into());
    let heading = |kind: Overhead| format!("control: {}", kind.title());
    let columns = Overhead::ALL.iter().fold(columns, |columns, &kind| {
        columns.number(heading(kind), move |row| {
            row.sums.control[kind.index()].into()
        })
    });
    let columns = columns.decimal("busy %", |row| row.share(row.sums.busy));
    let columns = Overhead::ALL.iter().fold(columns, |columns, &kind| {
        columns.decimal(format!("{} %", heading(kind)), move |row| {
            row.share(row.sums.control[kind.index()])
        })
    });
    columns
        .text("ref cells", |row| {
            let known: Vec<&str> = row.references.iter().map(String::as_str).collect();
            known.join(", ").into()
        })
        .text("continuous", |row| {
            let cells = row.component.continuous.iter();
            let cells = cells.map(|&cell| row.component.cell(cell).name.as_str());
            cells.collect::<Vec<&str>>().join(", ").into()
        })
        .aside(SITE, |row| sites::cell(Some(row.site)))
}

/// For each instance the `ref` cells that it drove, each with a cell that it stood for:
/// `total = main.x`.
fn references(metadata: &Metadata, profile: &Profile) -> BTreeMap<InstanceId, BTreeSet<String>> {
    let instances = profile.instances();
    let mut references: BTreeMap<InstanceId, BTreeSet<String>> = BTreeMap::new();
    for (tree, _) in profile.trees() {
        for (id, node) in tree.nodes() {
            let Some(actual) = actual_path(metadata, instances, node) else {
                continue;
            };
            let (component, formal) = match node {
                Node::Cell {
                    formal: Some(formal),
                    ..
                } => formal,
                Node::Primitive {
                    component, cell, ..
                } => (component, cell),
                _ => continue,
            };
            let above = tree.path(id).into_iter().rev().skip(1);
            let holder = above.map(|id| tree.node(id)).find_map(|node| match node {
                Node::Cell { instance, .. } => Some(instance),
                _ => None,
            });
            let formal = &metadata.component(component).cell(formal).name;
            let known = holder.map(|holder| references.entry(holder).or_default());
            known.map(|known| known.insert(format!("{formal} = {actual}")));
        }
    }
    references
}

/// What the cycles of each instance went to.
pub fn sums(profile: &Profile, activations: &Activations<'_>) -> BTreeMap<InstanceId, Sums> {
    let mut sums: BTreeMap<InstanceId, Sums> = BTreeMap::new();
    for (tree, cycles) in profile.trees() {
        let cells: BTreeSet<(InstanceId, Activity)> = tree
            .nodes()
            .filter_map(|(_, node)| match node {
                Node::Cell {
                    instance, activity, ..
                } => Some((instance, activity)),
                _ => None,
            })
            .collect();
        for (instance, activity) in cells {
            sums.entry(instance).or_default().add(activity, cycles);
        }
    }
    for (element, durations) in activations.durations() {
        if let (ElementKind::Cell, Some(sums)) = (element.kind, sums.get_mut(&element.instance)) {
            sums.times = durations.count;
        }
    }
    sums
}

/// What the cycles of one instance went to.
#[derive(Default)]
pub struct Sums {
    /// How often it was active.
    pub times: u64,
    /// Cycles in which it ran a group, a primitive or another cell.
    pub busy: u64,
    /// The part of them in which it ran only conditions.
    pub conditions: u64,
    /// The other cycles in which it was active: it only moved its own control along. By kind.
    pub control: ByKind,
}

impl Sums {
    /// Cycles in which it was active.
    pub fn cycles(&self) -> u64 {
        self.busy + self.control.iter().sum::<u64>()
    }

    fn add(&mut self, activity: Activity, cycles: u64) {
        match activity {
            Activity::Useful => self.busy += cycles,
            Activity::Condition => {
                self.busy += cycles;
                self.conditions += cycles;
            }
            Activity::Overhead(charge) => self.control[charge.kind.index()] += cycles,
        }
    }
}

/// The label of the tracks of an instance: its path with the component of the last cell.
pub fn track_label(
    metadata: &Metadata,
    labels: &FrameLabels,
    instances: &[petal_reconstruct::Instance],
    id: InstanceId,
) -> String {
    match instances[id.index()].parent {
        None => labels.instance(id, instances).to_owned(),
        Some((parent, _)) => {
            format!(
                "{}.{}",
                path(metadata, instances, parent),
                labels.instance(id, instances)
            )
        }
    }
}
