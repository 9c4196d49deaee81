//! The table of groups: how often each ran, and how long (paper, table 1).

use std::collections::BTreeMap;

use petal_metadata::{ComponentId, GroupId, GroupKind, Metadata, Origin, RunRole};

use crate::activations::{Activations, Durations};
use crate::spans::Item;
use crate::table::{Column, Table, Value};

/// The table of groups. One row for each group that control or another group runs, most cycles
/// first; the activations of all instances of the component count together.
///
/// `fixed` tells whether all activations took the same number of cycles: `static` if the group is
/// static already, `yes` if it could be made static, `no` otherwise.
pub fn groups(metadata: &Metadata, activations: &Activations<'_>) -> Table {
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
            durations.entry((id, group)).or_default().merge(found);
        }
    }
    let mut rows: Vec<_> = durations.into_iter().collect();
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
            match group.kind {
                GroupKind::Dynamic => "dynamic",
                GroupKind::Static => "static",
                GroupKind::Comb => "comb",
            }
            .into(),
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
        ]);
    }
    table
}
