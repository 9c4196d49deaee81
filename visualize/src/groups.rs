//! The table of groups: how often each ran, and how long (paper, table 1).

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{
    Callee, CellId, Component, ComponentId, GroupId, GroupKind, GroupRun, Id, Metadata, Origin,
    RunId, RunRole,
};

use crate::activations::{Activations, Durations};
use crate::keys::Item;
use crate::table::{Column, Table, Value};

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
pub fn groups(metadata: &Metadata, activations: &Activations<'_>) -> Table {
    let mut rows: Vec<_> = durations(metadata, activations).into_iter().collect();
    rows.sort_by_key(|&(_, durations)| std::cmp::Reverse(durations.total));
    let mut table = Table::new(vec![
        Column::text("component"),
        Column::text("group"),
        Column::text("kind"),
        Column::text("origin"),
        Column::number("line"),
        Column::number("enables"),
        Column::number("times active"),
        Column::number("total cycles"),
        Column::number("min"),
        Column::number("max"),
        Column::number("avg"),
        Column::text("fixed"),
        Column::text("compiled"),
    ]);
    for ((id, group_id), durations) in rows {
        let component = metadata.component(id);
        let group = component.group(group_id);
        let enables = component
            .runs
            .iter()
            .filter(|run| run.group == group_id && run.role != RunRole::Called)
            .filter_map(|run| run.control)
            .collect::<std::collections::BTreeSet<_>>();
        let fixed = match group.kind {
            GroupKind::Static | GroupKind::Comb => "static",
            GroupKind::Dynamic if durations.count == 0 => "",
            GroupKind::Dynamic if durations.min == durations.max => "yes",
            GroupKind::Dynamic => "no",
        };
        let bound = |cycles: u64| {
            if durations.count == 0 {
                Value::Empty
            } else {
                cycles.into()
            }
        };
        table.push(vec![
            component.name.as_str().into(),
            group.name.as_str().into(),
            keyword(group.kind).into(),
            match &group.origin {
                Origin::Source => Value::from("source"),
                Origin::Compiler => Value::from("compiler"),
                Origin::Inlined(from) => format!("inlined from {from}").into(),
            },
            group
                .span
                .map_or(Value::Empty, |span| u64::from(span.line).into()),
            (enables.len() as u64).into(),
            durations.count.into(),
            durations.total.into(),
            bound(durations.min),
            bound(durations.max),
            Value::average(durations.total, durations.count),
            fixed.into(),
            effects(component, group_id).join(", ").into(),
        ]);
    }
    table
}

/// How long each group that control or another group runs was active, in all instances of its
/// component together.
pub(crate) fn durations(
    metadata: &Metadata,
    activations: &Activations<'_>,
) -> BTreeMap<(ComponentId, GroupId), Durations> {
    let mut durations: BTreeMap<(ComponentId, GroupId), Durations> = BTreeMap::new();
    for id in metadata.component_ids() {
        for run in &metadata.component(id).runs {
            durations.entry((id, run.group)).or_default();
        }
    }
    for (key, found) in activations.durations() {
        if let Item::Group(run) = key.item {
            let id = activations.component_of(key);
            let group = metadata.component(id).run(run).group;
            durations.entry((id, group)).or_default().merge(&found);
        }
    }
    durations
}

/// What the compiler did to a group.
pub(crate) fn effects(component: &Component, id: GroupId) -> Vec<String> {
    let group = component.group(id);
    let runs: Vec<(RunId, &GroupRun)> = (0..component.runs.len())
        .map(RunId::from_index)
        .map(|run| (run, component.run(run)))
        .filter(|(_, run)| run.group == id)
        .collect();
    let mut effects = Vec::new();
    let mut add = |holds: bool, effect: &str| {
        if holds {
            effects.push(effect.to_owned());
        }
    };
    add(
        group.kind == GroupKind::Dynamic && runs.iter().any(|(_, run)| run.latency.is_some()),
        "promoted",
    );
    add(
        runs.iter().any(|(_, run)| is_merged(component, run)),
        "merged",
    );
    add(runs.iter().any(|(_, run)| run.part.is_some()), "split");
    add(matches!(group.origin, Origin::Inlined(_)), "inlined");
    let cells: BTreeSet<CellId> = component
        .calls
        .iter()
        .filter(|call| runs.iter().any(|(run, _)| call.caller == Some(*run)))
        .filter_map(|call| match call.callee {
            Callee::Cell(cell) => Some(cell),
            Callee::Group(_) => None,
        })
        .collect();
    for cell in cells {
        let cell = component.cell(cell);
        if cell.name != cell.instance {
            effects.push(format!("shares {} in {}", cell.name, cell.instance));
        }
    }
    effects
}

/// How a group is timed, in one word.
pub(crate) fn keyword(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Dynamic => "dynamic",
        GroupKind::Static => "static",
        GroupKind::Comb => "comb",
    }
}

/// Whether a group run is a part of a static program that runs more than this group.
fn is_merged(component: &Component, run: &GroupRun) -> bool {
    let Some(control) = run.control.filter(|_| run.latency.is_some()) else {
        return false;
    };
    component
        .compiled
        .iter()
        .filter_map(|group| group.schedule.as_ref())
        .chain(&component.schedule)
        .filter(|schedule| schedule.statement != Some(control))
        .any(|schedule| {
            let known = schedule.statements();
            component
                .ancestry(control)
                .any(|above| known.contains(&above))
        })
}
