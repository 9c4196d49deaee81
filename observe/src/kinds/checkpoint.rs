//! Checkpoints: each time at which something happens.

mod stamps;

use std::collections::BTreeMap;

use petal_metadata::{CellId, CellKind, ControlId, Id as _, Metadata, SiteId, labels};
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent, Value, counted};
use serde::{Deserialize, Serialize};

use crate::activity::{Aspect, Subject, SubjectKind};
use crate::builder::{Builder, Known};
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::Refused;
use crate::program::Program;
use crate::recorded::{self, HasValues, Recorded, Recording, ValueRequest, with_values};
use crate::stats::{quantile, ratio};
use crate::tables::{ResultTable, site};
use crate::text::Text;

pub(crate) use stamps::Stamps;
use stamps::named;

/// What columns of recorded values are called in front of their names.
const VALUE: &str = "value_";

/// A checkpoint: each time at which something happens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// An event.
    pub when: Text,
    /// The initiation interval: cycles, or the checkpoint or event whose median distance it is.
    pub interval: Option<Interval>,
    /// What is recorded each time.
    #[serde(default, deserialize_with = "recorded::in_order")]
    pub values: Vec<ValueRequest>,
    /// A value that is a part of the name: there is a checkpoint for each that it has.
    pub by: Option<Text>,
}

/// An initiation interval.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Interval {
    /// Cycles.
    Cycles(u64),
    /// The name of a checkpoint, or an event.
    Of(String),
}

/// Each time at which something happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// The expression.
    pub when: String,
    /// All cycles in which it happened, ascending.
    pub cycles: Vec<u64>,
    /// The median distance between two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_distance: Option<u64>,
    /// The initiation interval in cycles, if one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<u64>,
    /// What was recorded each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Recorded>,
}

impl CheckpointRequest {
    /// With no interval, and nothing to record.
    pub fn new(name: Option<String>, when: Text) -> Self {
        Self {
            name,
            when,
            interval: None,
            values: Vec::new(),
            by: None,
        }
    }
}

/// What a checkpoint has seen so far.
struct CheckpointCollector {
    name: String,
    when: String,
    node: usize,
    interval: Option<Interval>,
    /// Whether it happens when the run is over, if that comes to its end: something that is active ends then.
    ends_with_run: bool,
    cycles: Vec<u64>,
    values: Vec<Recording>,
    /// The value that is a part of the name.
    by: Option<Recording>,
    /// Where it is left, unless it is asked for only for the interval of others.
    outlet: Option<Outlet<Checkpoint>>,
}

/// Makes checkpoints ready: those that are asked for, those that the source marks, and what only intervals need.
pub(super) fn build(
    requests: &[CheckpointRequest],
    outlet: &Outlet<Checkpoint>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    let name = |of: &CheckpointRequest| of.when.name(of.name.as_ref());
    for of in requests {
        let event = builder.event(&of.when)?;
        let values = Recording::all(&of.values, builder)?;
        let by = of.by.as_ref();
        let by = by.map(|by| Recording::new(name(of), by, builder));
        let collector = CheckpointCollector {
            interval: of.interval.clone(),
            values: values.clone(),
            by: by.transpose()?,
            outlet: Some(outlet.clone()),
            ..CheckpointCollector::new(name(of), &of.when.text, &event, &mut builder.program)
        };
        builder.collect(collector);
        let name = name(of);
        let known = Known {
            name,
            event,
            values,
        };
        builder.checkpoints.push(known);
    }
    add_marked(outlet, builder);
    let names: Vec<String> = requests.iter().map(name).collect();
    for of in requests {
        if let Some(Interval::Of(wanted)) = &of.interval
            && !names.contains(wanted)
        {
            let event = builder.event(&Text {
                text: wanted.clone(),
                ..of.when.clone()
            })?;
            let program = &mut builder.program;
            let collector = CheckpointCollector::new(wanted.clone(), wanted, &event, program);
            builder.collect(collector);
        }
    }
    Ok(())
}

/// Adds the checkpoints that the source marks, in every instance that has them.
fn add_marked(outlet: &Outlet<Checkpoint>, builder: &mut Builder<'_>) {
    for (name, when, subject) in marked(builder.metadata) {
        let event = Expression::Subject(subject, Aspect::Begin);
        let collector = CheckpointCollector {
            outlet: Some(outlet.clone()),
            ..CheckpointCollector::new(name, &when, &event, &mut builder.program)
        };
        builder.collect(collector);
    }
}

/// The checkpoints that the source marks, in every instance that has them: what each is called, its text, and which statement it is.
pub(crate) fn marked(metadata: &Metadata) -> Vec<(String, String, Subject)> {
    let mut all = Vec::new();
    let mut waiting = vec![(metadata.main, Vec::new(), String::new())];
    while let Some((id, holder, path)) = waiting.pop() {
        let component = metadata.component(id);
        for (at, node) in component.control.iter().enumerate() {
            let Some(number) = node.checkpoint else {
                continue;
            };
            let control = ControlId::from_index(at);
            let holder = holder.clone();
            let kind = SubjectKind::of_statement(component, control);
            let label = labels::control_label(metadata, component, control);
            let name = format!("{path}{number}");
            let when = format!("@checkpoint({number}) {label}");
            all.push((name, when, Subject { holder, kind }));
        }
        // Those that share hardware, too: each is active for itself.
        for (at, cell) in component.cells.iter().enumerate() {
            if let (CellKind::Component(inner), Some(_)) = (&cell.kind, &cell.instance) {
                let mut holder = holder.clone();
                holder.push(CellId::from_index(at));
                waiting.push((*inner, holder, format!("{path}{}.", cell.name)));
            }
        }
    }
    all
}

impl CheckpointCollector {
    /// One that has no interval, records nothing and is left nowhere.
    fn new(name: String, when: &str, event: &Expression, program: &mut Program) -> Self {
        Self {
            name,
            when: when.to_owned(),
            node: program.add(event),
            interval: None,
            ends_with_run: event.is_end(),
            cycles: Vec::new(),
            values: Vec::new(),
            by: None,
            outlet: None,
        }
    }
}

impl Collector for CheckpointCollector {
    fn kind(&self) -> &'static str {
        "checkpoint"
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// Those that the source marks may have one number.
    fn known_as(&self) -> Option<(&'static str, &str)> {
        let is_known = self.outlet.is_some() && !self.when.starts_with('@');
        is_known.then_some((self.kind(), &self.name))
    }

    fn nodes(&self) -> Vec<usize> {
        vec![self.node]
    }

    fn kept(&self) -> usize {
        let values = self.values.len() + usize::from(self.by.is_some());
        self.cycles.len() * (1 + values)
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let may_happen = look.tree.is_some() || (self.ends_with_run && look.is_done);
        let happens = may_happen && look.values[self.node] != 0;
        if happens {
            self.cycles.push(look.cycle);
            // Nobody knows the values after the last cycle.
            let is_known = look.tree.is_some();
            if is_known {
                let all = self.values.iter_mut().chain(&mut self.by);
                all.for_each(|of| of.record(look));
            }
            let at = self.cycles.len() - 1;
            look.tell_of(None, 1, || {
                let by = self.by.as_ref().map(|of| {
                    let bits = of.so_far.bits.last().filter(|_| is_known);
                    named(&self.name, &of.so_far, bits.copied())
                });
                let values = self.values.iter().map(|of| &of.so_far);
                let values = values.map(|of| (of.name.clone(), of.shown(at)));
                (by, values.collect())
            });
        }
        happens
    }

    fn median_distance(&self) -> Option<u64> {
        median_distance(&self.cycles)
    }

    fn finish(self: Box<Self>, run: &Finished<'_>) {
        let Some(outlet) = &self.outlet else {
            return;
        };
        let median_of = |name: &str| {
            let known = run.medians.iter().find(|(of, _)| of == name);
            known.and_then(|(_, median)| *median)
        };
        let interval = match &self.interval {
            None => None,
            Some(Interval::Cycles(cycles)) => Some(*cycles),
            Some(Interval::Of(name)) => median_of(name),
        };
        let site = self.site();
        let values = self.values.into_iter().map(|of| of.so_far);
        let stamps = Stamps {
            site,
            name: self.name,
            when: self.when,
            cycles: self.cycles,
            values: values.collect(),
            by: self.by.map(|of| of.so_far),
        };
        for checkpoint in stamps.checkpoints(interval) {
            outlet.leave(checkpoint);
        }
    }
}

fn median_distance(cycles: &[u64]) -> Option<u64> {
    let mut distances = BTreeMap::new();
    for pair in cycles.windows(2) {
        *distances.entry(pair[1] - pair[0]).or_insert(0) += 1;
    }
    quantile(&distances, 1, 2)
}

/// All stamps in the order of time, each with the number of its checkpoint.
pub(super) fn stamps(all: &[Checkpoint]) -> Vec<(u64, usize)> {
    let all = all.iter().enumerate();
    let mut stamps: Vec<(u64, usize)> = all
        .flat_map(|(at, of)| of.cycles.iter().map(move |&cycle| (cycle, at)))
        .collect();
    stamps.sort_unstable();
    stamps
}

/// A row of their table.
struct Row<'a> {
    i: u64,
    of: &'a Checkpoint,
    /// How many stamps the checkpoint has before.
    at: usize,
    cycle: u64,
    from_first: u64,
    distance: u64,
}

impl HasValues for Row<'_> {
    fn values(&self) -> (&[Recorded], usize) {
        (&self.of.values, self.at)
    }
}

/// Their table; `dropped` is in how many cycles there was no room for what happened.
pub(super) fn tables(all: &[Checkpoint], dropped: Option<u64>) -> Vec<ResultTable<'_>> {
    let in_intervals = |cycles: u64, row: &Row<'_>| {
        let interval = row.of.interval.filter(|interval| *interval > 0);
        interval.map_or(Value::Empty, |interval| {
            Value::Fraction(ratio(cycles, interval))
        })
    };
    let columns = Columns::default()
        .number("i", |row: &Row<'_>| row.i.into())
        .text("checkpoint", |row| row.of.name.as_str().into())
        .titled("id")
        .number("cycle", |row| row.cycle.into())
        .titled("t(i)")
        .number("from_first", |row| row.from_first.into())
        .titled("t(i)-t(0)")
        .number("distance", |row| row.distance.into())
        .titled("t(i)-t(i-1)")
        .decimal("from_first_in_intervals", move |row| {
            in_intervals(row.from_first, row)
        })
        .titled("(t(i)-t(0))/II")
        .optional()
        .decimal("distance_in_intervals", move |row| {
            in_intervals(row.distance, row)
        })
        .titled("(t(i)-t(i-1))/II")
        .optional();
    let columns = columns.aside(SITE, |row| site(row.of.site));
    let columns = with_values(columns, VALUE, all.iter().flat_map(|of| &of.values));
    let stamps = stamps(all);
    let first = stamps.first().map_or(0, |&(cycle, _)| cycle);
    let lost = dropped.map_or("none lost".to_owned(), |cycles| {
        format!("those of {} lost", counted(cycles, "other cycle"))
    });
    let title = format!("checkpoints: {} stamps, {lost}", stamps.len());
    let mut before = first;
    let mut so_far = vec![0; all.len()];
    let rows = (0..).zip(stamps).map(move |(i, (cycle, number))| {
        so_far[number] += 1;
        Row {
            i,
            of: &all[number],
            at: so_far[number] - 1,
            cycle,
            from_first: cycle - first,
            distance: cycle - std::mem::replace(&mut before, cycle),
        }
    });
    vec![ResultTable::new("checkpoints", title, columns, rows)]
}

/// Their tracks. Arrows lead through the events of several checkpoints in their order.
pub(super) fn tracks(all: &[Checkpoint]) -> Vec<Track> {
    let mut stamps = vec![Vec::new(); all.len()];
    let has_order = stamps.len() > 1;
    for (order, (cycle, at)) in (0..).zip(self::stamps(all)) {
        stamps[at].push((cycle, has_order.then_some(order)));
    }
    let all = all.iter().zip(stamps);
    all.map(|(of, stamps)| Track {
        name: of.name.clone(),
        site: Some(of.site),
        content: TrackContent::Instants(stamps),
        arguments: recorded::arguments(&of.values, &(0..of.cycles.len()).collect::<Vec<_>>()),
    })
    .collect()
}

/// What a run is compared by.
pub(super) fn figures(all: &[Checkpoint]) -> impl Iterator<Item = (String, u64)> {
    all.iter()
        .map(|of| (format!("checkpoint:{}", of.name), of.cycles.len() as u64))
}
