//! The table of groups: how often each ran, and how long (paper, table 1).

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{
    Callee, CellId, Component, ComponentId, ControlId, Group, GroupId, GroupKind, GroupRun, Id,
    Metadata, Origin, RunRole, SiteId,
};

use crate::activations::{Activations, Durations};
use crate::control::unseen;
use crate::elements::ElementKind;
use crate::sites::{self, Sites};
use petal_table::Columns;
use petal_table::selection::SITE;
use petal_table::{RowId, Table, Value};

/// The table of groups. One row for each group that control or another group runs, most cycles
/// first; the activations of all instances of the component count together.
///
/// `fixed` tells whether all activations took the same number of cycles: `static` if the group is
/// static already, `yes` if it could be made static, `no` otherwise. `compiled` tells what the
/// compiler did to the group:
///
/// - `promoted`: a dynamic group that became static;
/// - `merged`: it is a part of a larger static group;
/// - `split`: it became several groups that run one after the other;
/// - `inlined`: its component was inlined;
/// - `shares a in b`: the work of its cell `a` is done by the hardware of `b`.
pub fn groups(sites: &Sites<'_>, activations: &Activations<'_>) -> Table {
    let metadata = sites.metadata();
    let mut all: Vec<_> = durations(metadata, activations).into_iter().collect();
    all.sort_by_key(|&(_, durations)| std::cmp::Reverse(durations.total));
    let effects = Effects::new(metadata);
    let mut enables: BTreeMap<(ComponentId, GroupId), BTreeSet<ControlId>> = BTreeMap::new();
    for id in metadata.component_ids() {
        for run in &metadata.component(id).runs {
            if run.role != RunRole::Called {
                enables
                    .entry((id, run.group))
                    .or_default()
                    .extend(run.control);
            }
        }
    }
    let unseen = unseen(metadata);
    let rows = all.into_iter().map(|(of, durations)| {
        let (id, group) = of;
        let component = metadata.component(id);
        let row = GroupRow {
            component,
            group: component.group(group),
            enables: enables.get(&of).map_or(0, BTreeSet::len) as u64,
            durations: (!unseen.contains(&id)).then_some(durations),
            total: durations.total,
            effects: effects.of(id, group),
            site: sites.only_group(id, group),
        };
        (RowId::Group(id, group), row)
    });
    columns().table_of(rows)
}

/// A group, and how it ran.
pub struct GroupRow<'a> {
    component: &'a Component,
    group: &'a Group,
    enables: u64,
    /// How long it was active; `None` if some of that is not seen.
    durations: Option<Durations>,
    /// What is seen of it.
    total: u64,
    /// What the compiler did to it.
    effects: &'a [String],
    site: Option<SiteId>,
}

impl GroupRow<'_> {
    /// A figure of its activations, if it had any.
    fn of_runs(&self, value: fn(&Durations) -> Value) -> Value {
        match &self.durations {
            None => Value::Unknown,
            Some(Durations { count: 0, .. }) => Value::Empty,
            Some(durations) => value(durations),
        }
    }

    fn fixed(&self) -> &'static str {
        match (self.group.kind, &self.durations) {
            (GroupKind::Static | GroupKind::Comb, _) => "static",
            (GroupKind::Dynamic, None | Some(Durations { count: 0, .. })) => "",
            (GroupKind::Dynamic, Some(of)) if of.min == of.max => "yes",
            (GroupKind::Dynamic, Some(_)) => "no",
        }
    }

    fn origin(&self) -> Value {
        match &self.group.origin {
            Origin::Source => "source".into(),
            Origin::Compiler => "compiler".into(),
            Origin::Inlined(from) => format!("inlined from {from}").into(),
        }
    }
}

/// The columns of the table of groups.
pub fn columns<'a>() -> Columns<GroupRow<'a>> {
    Columns::default()
        .text("component", |row: &GroupRow<'_>| {
            row.component.name.as_str().into()
        })
        .text("group", |row| row.group.name.as_str().into())
        .text("kind", |row| keyword(row.group.kind).into())
        .text("origin", GroupRow::origin)
        .number("line", |row| {
            let span = row.group.span;
            span.map_or(Value::Empty, |span| u64::from(span.line).into())
        })
        .number("enables", |row| row.enables.into())
        .number("times active", |row| {
            Value::or_unknown(row.durations.map(|of| of.count))
        })
        .number("total cycles", |row| row.total.into())
        .number("min", |row| row.of_runs(|of| of.min.into()))
        .number("max", |row| row.of_runs(|of| of.max.into()))
        .decimal("avg", |row| {
            row.of_runs(|of| Value::average(of.total, of.count))
        })
        .text("fixed", |row| row.fixed().into())
        .text("compiled", |row| row.effects.join(", ").into())
        .aside(SITE, |row| sites::cell(row.site))
}

/// How long each group that control or another group runs was active, in all instances of its
/// component together.
pub fn durations(
    metadata: &Metadata,
    activations: &Activations<'_>,
) -> BTreeMap<(ComponentId, GroupId), Durations> {
    let mut durations: BTreeMap<(ComponentId, GroupId), Durations> = BTreeMap::new();
    for id in metadata.component_ids() {
        for run in &metadata.component(id).runs {
            durations.entry((id, run.group)).or_default();
        }
    }
    for (element, of_run) in activations.durations() {
        if let ElementKind::Group(run) = element.kind {
            let id = activations.component_of(element);
            let group = metadata.component(id).run(run).group;
            durations.entry((id, group)).or_default().merge(&of_run);
        }
    }
    durations
}

/// What the compiler did to the groups of a design.
#[derive(Debug)]
pub struct Effects(Vec<Vec<Vec<String>>>);

impl Effects {
    /// Those on the groups of a design.
    pub fn new(metadata: &Metadata) -> Self {
        Self(metadata.components.iter().map(effects).collect())
    }

    /// Those on a group.
    pub fn of(&self, component: ComponentId, group: GroupId) -> &[String] {
        &self.0[component.index()][group.index()]
    }
}

/// What the compiler did to each group of a component.
fn effects(component: &Component) -> Vec<Vec<String>> {
    let programs = Programs::of(component);
    let mut treated: Vec<Treatment> = (0..component.groups.len())
        .map(|_| Treatment::default())
        .collect();
    for run in &component.runs {
        let treated = &mut treated[run.group.index()];
        treated.is_static |= run.latency.is_some();
        treated.is_merged |= programs.merge(component, run);
        treated.is_split |= run.part.is_some();
    }
    for call in &component.calls {
        if let (Some(caller), Callee::Cell(cell)) = (call.caller, call.callee) {
            let group = component.run(caller).group;
            treated[group.index()].cells.insert(cell);
        }
    }
    let effects = |(group, treated): (&Group, Treatment)| {
        let promoted = group.kind == GroupKind::Dynamic && treated.is_static;
        let applied = [
            (promoted, "promoted"),
            (treated.is_merged, "merged"),
            (treated.is_split, "split"),
            (matches!(group.origin, Origin::Inlined(_)), "inlined"),
        ];
        let applied = applied.into_iter().filter(|(holds, _)| *holds);
        let cells = treated.cells.into_iter().map(|cell| component.cell(cell));
        let shared = cells.filter_map(|cell| Some((&cell.name, cell.shares_hardware_of()?)));
        applied
            .map(|(_, effect)| effect.to_owned())
            .chain(shared.map(|(cell, other)| format!("shares {cell} in {other}")))
            .collect()
    };
    component.groups.iter().zip(treated).map(effects).collect()
}

/// What the compiler did to a group.
#[derive(Default)]
struct Treatment {
    is_static: bool,
    is_merged: bool,
    is_split: bool,
    cells: BTreeSet<CellId>,
}

/// The static programs of a component: for each statement in one, the statements that they are.
struct Programs(HashMap<ControlId, Vec<Option<ControlId>>>);

impl Programs {
    fn of(component: &Component) -> Self {
        let mut programs: HashMap<_, Vec<_>> = HashMap::new();
        for schedule in component.schedules() {
            let parts = schedule.all().into_iter();
            for statement in parts.filter_map(|part| part.statement) {
                programs
                    .entry(statement)
                    .or_default()
                    .push(schedule.statement);
            }
        }
        Self(programs)
    }

    /// Whether a group run is a part of a static program that runs more than this group.
    fn merge(&self, component: &Component, run: &GroupRun) -> bool {
        let Some(control) = run.control.filter(|_| run.latency.is_some()) else {
            return false;
        };
        let mut programs = component
            .ancestry(control)
            .filter_map(|above| self.0.get(&above));
        programs.any(|programs| programs.iter().any(|program| *program != Some(control)))
    }
}

/// How a group is timed, in one word.
pub fn keyword(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Dynamic => "dynamic",
        GroupKind::Static => "static",
        GroupKind::Comb => "comb",
    }
}
