//! The table of sites: all that can be active in a run, each in each instance, by the numbers that other outputs have.

use std::collections::{HashMap, HashSet};

use petal_metadata::Id as _;
use petal_reconstruct::{Instance, InstanceId};
use petal_table::selection::SITE;
use petal_table::{Columns, Table, Value};

use super::{EventSite, SiteId, Sites, cell, runs};
use crate::activations::Activations;
use crate::cells::path;
use crate::durations::Durations;

/// A site, and how it ran.
pub struct SiteRow {
    site: EventSite,
    /// `None` of a part of a group that the compiler split: only the whole is counted.
    durations: Option<Durations>,
}

impl SiteRow {
    /// A figure of its activations, if it had any.
    fn of_runs(&self, value: fn(&Durations) -> Value) -> Value {
        match &self.durations {
            None => Value::Unknown,
            Some(Durations { count: 0, .. }) => Value::Empty,
            Some(durations) => value(durations),
        }
    }
}

/// The columns of the table of sites.
pub fn columns() -> Columns<SiteRow> {
    Columns::default()
        .text(SITE, |row: &SiteRow| cell(Some(row.site.id)))
        .text("kind", |row| row.site.kind.into())
        .text("path", |row| row.site.path.as_str().into())
        .text("file", |row| {
            let place = row.site.place.as_ref();
            place.map_or(Value::Empty, |(file, _)| file.as_str().into())
        })
        .number("line", |row| {
            let place = row.site.place.as_ref();
            place.map_or(Value::Empty, |(_, line)| u64::from(*line).into())
        })
        .number("times active", |row| {
            Value::or_unknown(row.durations.map(|of| of.count))
        })
        .number("cycles", |row| {
            Value::or_unknown(row.durations.map(|of| of.total))
        })
        .number("min", |row| row.of_runs(|of| of.min.into()))
        .number("max", |row| row.of_runs(|of| of.max.into()))
        .decimal("avg", |row| {
            row.of_runs(|of| Value::average(of.total, of.count))
        })
}

/// The table of sites: one row for each, what holds others before them, even if it was never active.
pub fn table(sites: &Sites<'_>, instances: &[Instance], activations: &Activations<'_>) -> Table {
    let metadata = sites.metadata();
    let mut parts: HashSet<SiteId> = HashSet::new();
    for (at, instance) in instances.iter().enumerate() {
        let holder = path(metadata, instances, InstanceId::from_index(at));
        let component = metadata.component(instance.component);
        let runs = component.runs.iter().zip(runs(component));
        let split = runs.filter(|(run, _)| run.part.is_some());
        parts.extend(split.map(|(_, run)| sites.of(instance.component, &holder, run).id));
    }
    let mut all: HashMap<SiteId, Durations> = HashMap::new();
    for (element, durations) in activations.durations() {
        let holder = path(metadata, instances, element.instance);
        let id = activations.component_of(element);
        let site = sites.of(id, &holder, element.kind).id;
        all.entry(site).or_default().merge(&durations);
    }
    let (list, _) = sites.graph();
    columns().table(list.into_iter().map(|site| SiteRow {
        durations:
            (!parts.contains(&site.id)).then(|| all.get(&site.id).copied().unwrap_or_default()),
        site,
    }))
}
