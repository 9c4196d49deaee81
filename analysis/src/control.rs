//! The table of statements: how often each was entered, for how many cycles, and what control cost
//! there.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{
    CellKind, Component, ComponentId, ControlId, ControlKind, Id, Metadata, RunRole, labels,
};
use petal_reconstruct::{InstanceId, Overhead};

use crate::activations::{Activations, Durations};
use crate::cells::path;
use crate::elements::{Element, ElementKind};
use crate::entries::{Seen, entries};
use crate::ledger::{Ledger, Statement};
use crate::profile::Profile;
use petal_table::table::{Column, RowId, Table, Value};

/// The table of statements, in source order of each component. All instances of the component count
/// together. An enable counts the cycles of its group.
///
/// `flattened` is [`Statement::flattened`]. The columns for kinds of overhead, in all rows together, add
/// up to the overhead of the run.
pub fn control(metadata: &Metadata, ledger: &Ledger, activations: &Activations<'_>) -> Table {
    let counts = Counts::of(metadata, activations);
    let mut table = Table::new(columns());
    for id in metadata.component_ids() {
        for (statement, row) in rows(metadata, id, id, &counts, &ledger.statements) {
            table.push_of(RowId::Statement(id, statement), row);
        }
    }
    table
}

/// The table of statements with a row for each instance, which `cell` names, instead of one for all.
/// Rows come by component, and then in the order in which its instances first ran.
///
/// Numbers of times and cycles of one statement add up to those of its row in [`control`].
pub fn control_per_instance(
    metadata: &Metadata,
    profile: &Profile,
    ledger: &Ledger,
    activations: &Activations<'_>,
) -> Table {
    let counts = Counts::by(metadata, activations, |element| element.instance);
    let mut table = Table::new([vec![Column::text("cell")], columns()].concat());
    for id in metadata.component_ids() {
        let instances = profile.instances().iter().enumerate();
        let these = instances.filter(|(_, instance)| instance.component == id);
        for instance in these.map(|(at, _)| InstanceId::from_index(at)) {
            let cell = path(metadata, profile.instances(), instance);
            for (_, row) in rows(metadata, id, instance, &counts, &ledger.instances) {
                table.push([vec![cell.as_str().into()], row].concat());
            }
        }
    }
    table
}

fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::text("component"),
        Column::text("statement"),
        Column::text("kind"),
        Column::text("file"),
        Column::number("line"),
        Column::number("times entered"),
        Column::number("iterations"),
        Column::number("cycles"),
        Column::number("flattened"),
        Column::number("useful"),
        Column::number("conditions"),
        Column::number("overhead"),
    ];
    columns.extend(Overhead::ALL.map(|kind| Column::number(kind.title())));
    columns.extend(["hidden control", "min", "max", "avg"].map(Column::number));
    columns
}

/// A row for each statement of the component `id`, with what it did in `owner`.
fn rows<Owner: Copy + Ord>(
    metadata: &Metadata,
    id: ComponentId,
    owner: Owner,
    counts: &Counts<Owner>,
    statements: &BTreeMap<(Owner, ControlId), Statement>,
) -> Vec<(ControlId, Vec<Value>)> {
    let component = metadata.component(id);
    let names = labels::control_labels(metadata, component);
    let groups = labels::group_labels(component);
    let nodes = component.control.iter().enumerate();
    nodes
        .map(|(at, node)| {
            let statement = ControlId::from_index(at);
            let entered = counts.entered(owner, statement);
            let costs = statements.get(&(owner, statement));
            let costs = costs.copied().unwrap_or_default();
            let name = match node.group {
                Some(group) => groups[group.index()].as_str(),
                None => &names[at],
            };
            let of_runs = |value: fn(Durations) -> Value| match entered {
                None => Value::Unknown,
                Some(Durations { count: 0, .. }) => Value::Empty,
                Some(durations) => value(durations),
            };
            let mut row = vec![
                component.name.as_str().into(),
                name.into(),
                node.kind.keyword().into(),
                node.span.map_or(Value::Empty, |span| {
                    metadata.files[span.file.index()].name.as_str().into()
                }),
                node.span
                    .map_or(Value::Empty, |span| u64::from(span.line).into()),
                Value::or_unknown(entered.map(|entered| entered.count)),
                if node.kind.is_loop() {
                    Value::or_unknown(counts.iterations(component, owner, statement))
                } else {
                    Value::Empty
                },
                costs.cycles.into(),
                costs.flattened.into(),
                costs.useful.into(),
                costs.conditions.into(),
                costs.charged().into(),
            ];
            row.extend(costs.overhead.map(Value::from));
            row.extend([
                costs.hidden.into(),
                of_runs(|entered| entered.min.into()),
                of_runs(|entered| entered.max.into()),
                of_runs(|entered| Value::average(entered.total, entered.count)),
            ]);
            (statement, row)
        })
        .collect()
}

/// How often statements ran, in a component or in one of its instances.
pub struct Counts<Owner> {
    seen: BTreeMap<Owner, BTreeMap<ControlId, Seen>>,
    entries: BTreeMap<Owner, Vec<Option<u64>>>,
}

impl Counts<ComponentId> {
    /// Counts of a run, with all instances of a component together.
    pub fn of(metadata: &Metadata, activations: &Activations<'_>) -> Self {
        let mut counts = Self::by(metadata, activations, |element| {
            activations.component_of(element)
        });
        for id in unseen(metadata) {
            let statements = metadata.component(id).control.len();
            counts.entries.insert(id, vec![None; statements]);
        }
        counts
    }
}

impl<Owner: Copy + Ord> Counts<Owner> {
    /// Counts of a run, by what `owner` tells of each element.
    pub fn by(
        metadata: &Metadata,
        activations: &Activations<'_>,
        owner: impl Fn(Element) -> Owner,
    ) -> Self {
        let mut seen: BTreeMap<Owner, BTreeMap<ControlId, Seen>> = BTreeMap::new();
        let mut cells: BTreeMap<Owner, (&Component, u64)> = BTreeMap::new();
        for (element, durations) in activations.durations() {
            let component = metadata.component(activations.component_of(element));
            let owner = owner(element);
            let (node, is_condition) = match element.kind {
                ElementKind::Cell => {
                    cells.entry(owner).or_insert((component, 0)).1 += durations.count;
                    continue;
                }
                ElementKind::Primitive(..) => continue,
                ElementKind::Control(node) => (node, false),
                ElementKind::Group(run) => {
                    let run = component.run(run);
                    let Some(node) = run.control else { continue };
                    (node, run.role == RunRole::Condition)
                }
            };
            let is_own = match element.kind {
                ElementKind::Group(_) => component.node(node).kind.is_enable(),
                _ => true,
            };
            let seen = seen.entry(owner).or_default().entry(node).or_default();
            if is_condition {
                *seen.tested.get_or_insert(0) += durations.count;
            } else if is_own {
                seen.active.merge(&durations);
                seen.unfinished += u64::from(activations.is_unfinished(element));
            }
        }
        let none = BTreeMap::new();
        let entries = cells.into_iter().map(|(owner, (component, times))| {
            let seen = seen.get(&owner).unwrap_or(&none);
            (owner, entries(component, times, seen))
        });
        let entries = entries.collect();
        Self { seen, entries }
    }

    fn seen(&self, owner: Owner, statement: ControlId) -> Seen {
        let seen = self.seen.get(&owner).and_then(|of| of.get(&statement));
        seen.copied().unwrap_or_default()
    }

    /// How often a statement was active: runs that take no cycle are not counted.
    pub fn active(&self, owner: Owner, statement: ControlId) -> u64 {
        self.seen(owner, statement).active.count
    }

    /// How often a statement ran; `None` if that is not known.
    pub fn times(&self, owner: Owner, statement: ControlId) -> Option<u64> {
        let entries = self.entries.get(&owner);
        entries.map_or(Some(0), |of| of[statement.index()])
    }

    /// How often a statement ran, and for how many cycles; a run that took none counts too. `None` if it is not known how often.
    pub fn entered(&self, owner: Owner, statement: ControlId) -> Option<Durations> {
        let count = self.times(owner, statement)?;
        let active = self.seen(owner, statement).active;
        Some(Durations {
            count,
            min: if active.count < count { 0 } else { active.min },
            ..active
        })
    }

    /// How often the body of a loop ran. `None` for what is no loop, or if it is not known.
    pub fn iterations(
        &self,
        component: &Component,
        owner: Owner,
        statement: ControlId,
    ) -> Option<u64> {
        let node = component.node(statement);
        if !node.kind.is_loop() {
            return None;
        }
        let body = children(component, statement).next();
        if let Some(body) = body {
            return self.times(owner, body);
        }
        let times = self.times(owner, statement)?;
        match node.repeats {
            Some(repeats) => times.checked_mul(repeats),
            // Once before each iteration, and once more to leave.
            None => self.seen(owner, statement).tested?.checked_sub(times),
        }
    }
}

/// The components some of whose runs are not seen: the compiled design lacks cells of them, or of a component around them, or
/// runs them in no time.
pub(crate) fn unseen(metadata: &Metadata) -> BTreeSet<ComponentId> {
    let built = with_those_inside(metadata, [metadata.main]);
    let invoked_in_no_time = metadata.components.iter().flat_map(|component| {
        let invokes = component.control.iter();
        let invokes = invokes.filter(|node| node.latency == Some(0));
        let cells = invokes.filter_map(|node| node.cell);
        cells.filter_map(|cell| match component.cell(cell).kind {
            CellKind::Component(id) => Some(id),
            CellKind::Primitive(_) => None,
        })
    });
    let lacking = metadata
        .component_ids()
        .filter(|&id| metadata.component(id).lacks_cells || !built.contains(&id));
    with_those_inside(metadata, lacking.chain(invoked_in_no_time))
}

/// These components and all that have cells in them.
fn with_those_inside(
    metadata: &Metadata,
    outermost: impl IntoIterator<Item = ComponentId>,
) -> BTreeSet<ComponentId> {
    let mut all = BTreeSet::from_iter(outermost);
    let mut left: Vec<ComponentId> = all.iter().copied().collect();
    while let Some(next) = left.pop() {
        let cells = metadata.component(next).instances();
        left.extend(cells.map(|(_, id)| id).filter(|&id| all.insert(id)));
    }
    all
}

/// The statements directly in a statement.
pub fn children(
    component: &Component,
    statement: ControlId,
) -> impl Iterator<Item = ControlId> + '_ {
    (0..component.control.len())
        .map(ControlId::from_index)
        .filter(move |&node| component.node(node).parent == Some(statement))
}

/// A statement at or below `statement` that runs exactly once whenever it does.
pub fn once(component: &Component, statement: ControlId) -> Option<ControlId> {
    let kind = component.node(statement).kind;
    match kind {
        ControlKind::Enable
        | ControlKind::StaticEnable
        | ControlKind::Invoke
        | ControlKind::StaticInvoke => Some(statement),
        ControlKind::Seq | ControlKind::StaticSeq | ControlKind::Par | ControlKind::StaticPar => {
            children(component, statement).find_map(|child| once(component, child))
        }
        ControlKind::If
        | ControlKind::StaticIf
        | ControlKind::While
        | ControlKind::Repeat
        | ControlKind::StaticRepeat
        | ControlKind::Empty => None,
    }
}
