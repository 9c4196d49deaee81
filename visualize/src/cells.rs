//! The table of component cells: in how many of its cycles each did something useful.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{Id, Metadata};
use petal_reconstruct::{Activity, FrameLabels, InstanceId, Node, Overhead};

use crate::activations::Activations;
use crate::profile::Profile;
use crate::spans::Item;
use crate::table::{Column, Table, Value};

/// The path of an instance in the design: `main.a.b`.
pub(crate) fn path(
    metadata: &Metadata,
    instances: &[petal_reconstruct::Instance],
    id: InstanceId,
) -> String {
    match instances[id.index()].parent {
        None => metadata.component(metadata.main).name.clone(),
        Some((parent, cell)) => {
            let holder = metadata.component(instances[parent.index()].component);
            format!(
                "{}.{}",
                path(metadata, instances, parent),
                holder.cell(cell).name
            )
        }
    }
}

/// The table of component cells, in the order in which they first ran.
///
/// `useful` and the four kinds of overhead add up to `cycles`; main's row adds up to the run.
pub fn cells(metadata: &Metadata, profile: &Profile, activations: &Activations<'_>) -> Table {
    let mut sums: BTreeMap<InstanceId, BTreeMap<Activity, u64>> = BTreeMap::new();
    for (tree, cycles) in profile.trees() {
        let cells: BTreeSet<(InstanceId, Activity)> = tree
            .nodes()
            .filter_map(|(_, node)| match node {
                Node::Cell { instance, activity } => Some((instance, activity)),
                _ => None,
            })
            .collect();
        for (instance, activity) in cells {
            *sums
                .entry(instance)
                .or_default()
                .entry(activity)
                .or_default() += cycles;
        }
    }
    let counts: BTreeMap<InstanceId, u64> = activations
        .durations()
        .filter(|(key, _)| key.item == Item::Cell)
        .map(|(key, durations)| (key.instance, durations.count))
        .collect();
    let mut table = Table::new(vec![
        Column::text("cell"),
        Column::text("component"),
        Column::number("times active"),
        Column::number("cycles"),
        Column::number("useful"),
        Column::number("fsm update"),
        Column::number("par done"),
        Column::number("both"),
        Column::number("other"),
        Column::number("useful %"),
        Column::number("fsm update %"),
        Column::number("par done %"),
        Column::number("both %"),
        Column::number("other %"),
    ]);
    let kinds: Vec<Activity> = std::iter::once(Activity::Useful)
        .chain(Overhead::ALL.map(Activity::Overhead))
        .collect();
    for (instance, by_kind) in &sums {
        let cycles: u64 = by_kind.values().sum();
        let of = |kind: &Activity| by_kind.get(kind).copied().unwrap_or(0);
        let component = profile.instances()[instance.index()].component;
        let mut row: Vec<Value> = vec![
            path(metadata, profile.instances(), *instance).into(),
            metadata.component(component).name.as_str().into(),
            counts.get(instance).copied().unwrap_or(0).into(),
            cycles.into(),
        ];
        row.extend(kinds.iter().map(|kind| Value::from(of(kind))));
        row.extend(kinds.iter().map(|kind| Value::percent(of(kind), cycles)));
        table.push(row);
    }
    table
}

/// The label of the tracks of an instance: its path with the component of the last cell.
pub(crate) fn track_label(
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
