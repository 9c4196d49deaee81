//! The table of statements: how often each was entered, for how many cycles, and what control cost
//! there.

use std::collections::BTreeMap;

use petal_metadata::{
    Component, ComponentId, ControlId, ControlKind, Id, Metadata, RunRole, labels,
};
use petal_reconstruct::{InstanceId, Overhead};

use crate::activations::{Activations, Durations};
use crate::cells::path;
use crate::elements::{Element, ElementKind};
use crate::ledger::{Ledger, Statement};
use crate::profile::Profile;
use crate::table::{Column, RowId, Table, Value};

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
            let bound = |cycles: u64| {
                if entered.count == 0 {
                    Value::Empty
                } else {
                    cycles.into()
                }
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
                entered.count.into(),
                counts
                    .iterations(component, owner, statement)
                    .map_or(Value::Empty, Value::from),
                costs.cycles.into(),
                costs.flattened.into(),
                costs.useful.into(),
                costs.conditions.into(),
                costs.charged().into(),
            ];
            row.extend(costs.overhead.map(Value::from));
            row.extend([
                costs.hidden.into(),
                bound(entered.min),
                bound(entered.max),
                Value::average(entered.total, entered.count),
            ]);
            (statement, row)
        })
        .collect()
}

/// How often statements were entered, in a component or in one of its instances.
pub(crate) struct Counts<Owner> {
    statements: BTreeMap<(Owner, ControlId), Durations>,
    /// The groups that compute conditions, by the statement whose condition it is.
    conditions: BTreeMap<(Owner, ControlId), Durations>,
}

impl Counts<ComponentId> {
    /// Counts of a run, with all instances of a component together.
    pub(crate) fn of(metadata: &Metadata, activations: &Activations<'_>) -> Self {
        Self::by(metadata, activations, |element| {
            activations.component_of(element)
        })
    }
}

impl<Owner: Copy + Ord> Counts<Owner> {
    /// Counts of a run, by what `owner` tells of each element.
    pub(crate) fn by(
        metadata: &Metadata,
        activations: &Activations<'_>,
        owner: impl Fn(Element) -> Owner,
    ) -> Self {
        let mut counts = Self {
            statements: BTreeMap::new(),
            conditions: BTreeMap::new(),
        };
        for (element, durations) in activations.durations() {
            let owner = owner(element);
            match element.kind {
                ElementKind::Control(node) => {
                    counts
                        .statements
                        .entry((owner, node))
                        .or_default()
                        .merge(&durations);
                }
                ElementKind::Group(run) => {
                    let component = metadata.component(activations.component_of(element));
                    let run = component.run(run);
                    let Some(node) = run.control else { continue };
                    let of = match run.role {
                        RunRole::Condition => &mut counts.conditions,
                        _ if component.node(node).kind.is_enable() => &mut counts.statements,
                        _ => continue,
                    };
                    of.entry((owner, node)).or_default().merge(&durations);
                }
                ElementKind::Cell | ElementKind::Primitive(..) => {}
            }
        }
        counts
    }

    /// The times in which a statement was active.
    pub(crate) fn entered(&self, owner: Owner, statement: ControlId) -> Durations {
        self.statements
            .get(&(owner, statement))
            .copied()
            .unwrap_or_default()
    }

    /// How often the comb group of an `if` or `while` computed its condition, if it has one that ran.
    pub(crate) fn tested(&self, owner: Owner, statement: ControlId) -> Option<u64> {
        let tested = self.conditions.get(&(owner, statement))?;
        Some(tested.count)
    }

    /// How often the body of a loop ran. `None` for what is no loop, and for a loop without a
    /// statement in its body that runs exactly once in each iteration.
    pub(crate) fn iterations(
        &self,
        component: &Component,
        owner: Owner,
        statement: ControlId,
    ) -> Option<u64> {
        if !component.node(statement).kind.is_loop() {
            return None;
        }
        if let Some(tested) = self.tested(owner, statement) {
            // Once before each iteration, and once more to leave.
            return tested.checked_sub(self.entered(owner, statement).count);
        }
        let body = children(component, statement).next()?;
        let witness = once(component, body)?;
        Some(self.entered(owner, witness).count)
    }
}

/// The statements directly in a statement.
pub(crate) fn children(
    component: &Component,
    statement: ControlId,
) -> impl Iterator<Item = ControlId> + '_ {
    (0..component.control.len())
        .map(ControlId::from_index)
        .filter(move |&node| component.node(node).parent == Some(statement))
}

/// A statement at or below `statement` that runs exactly once whenever it does.
pub(crate) fn once(component: &Component, statement: ControlId) -> Option<ControlId> {
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
