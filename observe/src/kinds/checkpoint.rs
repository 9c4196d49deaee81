//! Checkpoints: each time at which something happens.

use std::collections::BTreeMap;

use petal_metadata::{CellId, CellKind, ControlId, Id as _, labels};
use petal_table::{Columns, Track, TrackContent, Value};
use serde::{Deserialize, Serialize};

use crate::activity::{Aspect, Subject, SubjectKind};
use crate::builder::Builder;
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::Refused;
use crate::stats::{quantile, ratio};
use crate::tables::ResultTable;
use crate::text::Text;

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
}

impl CheckpointRequest {
    /// With no interval.
    pub fn new(name: Option<String>, when: Text) -> Self {
        Self {
            name,
            when,
            interval: None,
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
        let (interval, when) = (of.interval.clone(), &of.when);
        add(name(of), when, interval, Some(outlet), builder)?;
    }
    add_marked(outlet, builder);
    let names: Vec<String> = requests.iter().map(name).collect();
    for of in requests {
        if let Some(Interval::Of(wanted)) = &of.interval
            && !names.contains(wanted)
        {
            let event = Text {
                text: wanted.clone(),
                ..of.when.clone()
            };
            add(wanted.clone(), &event, None, None, builder)?;
        }
    }
    Ok(())
}

fn add(
    name: String,
    when: &Text,
    interval: Option<Interval>,
    outlet: Option<&Outlet<Checkpoint>>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    let event = builder.event(when)?;
    let node = builder.program.add(&event);
    builder.collect(CheckpointCollector {
        name,
        when: when.text.clone(),
        node,
        interval,
        ends_with_run: event.is_end(),
        cycles: Vec::new(),
        outlet: outlet.cloned(),
    });
    Ok(())
}

/// Adds the checkpoints that the source marks, in every instance that has them.
fn add_marked(outlet: &Outlet<Checkpoint>, builder: &mut Builder<'_>) {
    let mut waiting = vec![(builder.metadata.main, Vec::new(), String::new())];
    while let Some((id, holder, path)) = waiting.pop() {
        let component = builder.metadata.component(id);
        for (at, node) in component.control.iter().enumerate() {
            let Some(number) = node.checkpoint else {
                continue;
            };
            let control = ControlId::from_index(at);
            let holder = holder.clone();
            let kind = SubjectKind::of_statement(component, control);
            let event = Expression::Subject(Subject { holder, kind }, Aspect::Begin);
            let node = builder.program.add(&event);
            let label = labels::control_label(builder.metadata, component, control);
            builder.collect(CheckpointCollector {
                name: format!("{path}{number}"),
                when: format!("@checkpoint({number}) {label}"),
                node,
                interval: None,
                ends_with_run: false,
                cycles: Vec::new(),
                outlet: Some(outlet.clone()),
            });
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
        self.cycles.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let may_happen = look.tree.is_some() || (self.ends_with_run && look.is_done);
        let happens = may_happen && look.values[self.node] != 0;
        if happens {
            look.tell(None, 1);
            self.cycles.push(look.cycle);
        }
        happens
    }

    fn median_distance(&self) -> Option<u64> {
        let mut distances = BTreeMap::new();
        for pair in self.cycles.windows(2) {
            *distances.entry(pair[1] - pair[0]).or_insert(0) += 1;
        }
        quantile(&distances, 1, 2)
    }

    fn finish(self: Box<Self>, run: &Finished<'_>) {
        let Some(outlet) = &self.outlet else {
            return;
        };
        let median_of = |name: &str| {
            let known = run.medians.iter().find(|(of, _)| of == name);
            known.and_then(|(_, median)| *median)
        };
        outlet.leave(Checkpoint {
            median_distance: self.median_distance(),
            interval: match self.interval {
                None => None,
                Some(Interval::Cycles(cycles)) => Some(cycles),
                Some(Interval::Of(name)) => median_of(&name),
            },
            name: self.name,
            when: self.when,
            cycles: self.cycles,
        });
    }
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

/// Their table.
pub(super) fn tables(all: &[Checkpoint]) -> Vec<ResultTable<'_>> {
    struct Row<'a> {
        i: u64,
        name: &'a str,
        cycle: u64,
        from_first: u64,
        distance: u64,
        interval: Option<u64>,
    }
    let in_intervals = |cycles: u64, row: &Row<'_>| {
        let interval = row.interval.filter(|interval| *interval > 0);
        interval.map_or(Value::Empty, |interval| {
            Value::Fraction(ratio(cycles, interval))
        })
    };
    let columns = Columns::default()
        .number("i", |row: &Row<'_>| row.i.into())
        .text("checkpoint", |row| row.name.into())
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
    let stamps = stamps(all);
    let first = stamps.first().map_or(0, |&(cycle, _)| cycle);
    let title = format!("checkpoints: {} stamps, none lost", stamps.len());
    let mut before = first;
    let rows = (0..).zip(stamps).map(move |(i, (cycle, at))| Row {
        i,
        name: &all[at].name,
        cycle,
        from_first: cycle - first,
        distance: cycle - std::mem::replace(&mut before, cycle),
        interval: all[at].interval,
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
        content: TrackContent::Instants(stamps),
    })
    .collect()
}

/// What a run is compared by.
pub(super) fn figures(all: &[Checkpoint]) -> impl Iterator<Item = (String, u64)> {
    all.iter()
        .map(|of| (format!("checkpoint:{}", of.name), of.cycles.len() as u64))
}
