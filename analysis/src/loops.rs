//! The table of loops: how often each went round, how long its iterations took, and what its cycles went to.

use std::collections::BTreeMap;

use petal_metadata::{Component, ComponentId, ControlId, ControlKind, Id};
use petal_table::selection::SITE;
use petal_table::{Columns, RowId, Table, Value};

use crate::activations::Activations;
use crate::control::{Counts, StatementRow, children, rows};
use crate::durations::Durations;
use crate::entries::take_cycles;
use crate::iterations::{Alike, Iterations};
use crate::ledger::Ledger;
use crate::sites::Sites;

/// Whether there is always a break between two times that a loop is entered, so that both are seen.
fn is_set_apart(component: &Component, of: ControlId) -> bool {
    let takes = take_cycles(component);
    let mut at = of;
    while let Some(parent) = component.node(at).parent {
        let kind = component.node(parent).kind.dynamic();
        let mut others = children(component, parent).filter(|&child| child != at);
        let is_apart = match kind {
            ControlKind::Seq => others.any(|child| takes[child.index()]),
            // Its check stands between them.
            ControlKind::While => component
                .runs
                .iter()
                .any(|run| run.control == Some(parent) && !run.role.is_body()),
            _ => false,
        };
        if is_apart {
            return true;
        }
        if kind.is_loop() {
            return false;
        }
        at = parent;
    }
    true
}

/// A loop, and how it ran.
pub struct LoopRow<'a> {
    row: StatementRow<'a>,
    /// `None` where the compiled design does not tell one iteration from the next.
    iterations: Option<Iterations>,
}

impl LoopRow<'_> {
    fn of(&self, value: impl FnOnce(&Iterations) -> Value) -> Value {
        self.iterations.as_ref().map_or(Value::Unknown, value)
    }
}

/// The columns of the table of loops.
pub fn columns<'a>() -> Columns<LoopRow<'a>> {
    let least = |of: &Durations, value: u64| {
        if of.count == 0 {
            Value::Empty
        } else {
            value.into()
        }
    };
    Columns::default()
        .text("component", |row: &LoopRow<'_>| row.row.component())
        .text("statement", |row| row.row.statement())
        .text("kind", |row| row.row.kind())
        .text("file", |row| row.row.file())
        .number("line", |row| row.row.line())
        .number("times entered", |row| row.row.times_entered())
        .number("iterations", |row| row.row.iterations())
        .number("fewest iterations", move |row| {
            row.of(|of| least(&of.each, of.each.min))
        })
        .number("most iterations", move |row| {
            row.of(|of| least(&of.each, of.each.max))
        })
        .decimal("average iterations", |row| {
            row.of(|of| Value::average(of.each.total, of.each.count))
        })
        .number("cycles", |row| row.row.costs().cycles.into())
        .number("computation", |row| {
            let costs = row.row.costs();
            (costs.useful - costs.conditions).into()
        })
        .number("conditions", |row| row.row.costs().conditions.into())
        .number("control only", |row| {
            let costs = row.row.costs();
            (costs.cycles - costs.useful).into()
        })
        .number("shortest iteration", move |row| {
            row.of(|of| least(&of.cycles, of.cycles.min))
        })
        .number("longest iteration", move |row| {
            row.of(|of| least(&of.cycles, of.cycles.max))
        })
        .decimal("average iteration", |row| {
            row.of(|of| Value::average(of.cycles.total, of.cycles.count))
        })
        .aside(SITE, |row| row.row.site())
}

/// The table of loops, in source order of each component. All instances of the component count together.
pub fn loops(sites: &Sites<'_>, ledger: &Ledger, activations: &Activations<'_>) -> Table {
    columns().table_of(all(sites, ledger, activations))
}

/// The iterations of each loop, which is called such as `main.while@L12`, by how many cycles they take; none where the compiled design does not
/// tell one from the next.
pub fn iterations(
    sites: &Sites<'_>,
    ledger: &Ledger,
    activations: &Activations<'_>,
) -> Vec<(String, BTreeMap<u64, Alike>)> {
    let loops = all(sites, ledger, activations).into_iter();
    let named = loops.map(|(_, of)| {
        let lengths = of.iterations.map(|of| of.lengths).unwrap_or_default();
        (of.row.name(), lengths)
    });
    named.collect()
}

fn all<'a>(
    sites: &Sites<'a>,
    ledger: &Ledger,
    activations: &Activations<'_>,
) -> Vec<(RowId, LoopRow<'a>)> {
    let metadata = sites.metadata();
    let counts = &Counts::of(metadata, activations);
    let seen = &activations.iterations();
    let loops = metadata.component_ids().flat_map(|id| {
        let component = metadata.component(id);
        let rows = rows(sites, (id, None), id, counts, &ledger.statements);
        let rows = rows.into_iter().enumerate();
        let loops = rows.filter(|(at, _)| component.control[*at].kind.is_loop());
        loops.map(move |(at, row)| {
            let statement = ControlId::from_index(at);
            let seen = seen.get(&(id, statement)).cloned().unwrap_or_default();
            let iterations = exact(component, statement, counts, id, seen);
            let row = LoopRow { row, iterations };
            (RowId::Statement(id, statement), row)
        })
    });
    loops.collect()
}

/// What was seen of a loop, with the times in which it was entered and took no cycle; `None` unless all of it is seen.
fn exact(
    component: &Component,
    statement: ControlId,
    counts: &Counts<ComponentId>,
    owner: ComponentId,
    seen: Iterations,
) -> Option<Iterations> {
    let entered = counts.times(owner, statement)?;
    let iterations = counts.iterations(component, owner, statement)?;
    let unseen = entered.checked_sub(seen.each.count)?;
    let is_exact = iterations == seen.cycles.count
        && iterations == seen.each.total
        && (unseen == 0 || is_set_apart(component, statement));
    let mut exact = seen;
    exact.each.add(0, unseen);
    is_exact.then_some(exact)
}
