//! The table of statements: how often each was entered, for how many cycles, and what control cost
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use petal_metadata::{
    CellKind, Component, ComponentId, ControlId, ControlKind, ControlNode, Id, Metadata, RunRole,
    SiteId, Span, labels,
};
use petal_reconstruct::{InstanceId, Overhead};

use crate::activations::{Activations, Durations};
use crate::cells::path;
use crate::elements::{Element, ElementKind};
use crate::entries::{Seen, entries};
use crate::ledger::{Ledger, Statement};
use crate::profile::Profile;
use crate::sites::{self, Sites};
use petal_table::Columns;
use petal_table::selection::SITE;
use petal_table::{RowId, Table, Value};

/// The table of statements, in source order of each component. All instances of the component count
/// together. An enable counts the cycles of its group.
///
/// `flattened` is [`Statement::flattened`]. The columns for kinds of overhead, in all rows together, add
/// up to the overhead of the run.
pub fn control(sites: &Sites<'_>, ledger: &Ledger, activations: &Activations<'_>) -> Table {
    let metadata = sites.metadata();
    let counts = Counts::of(metadata, activations);
    let ids = metadata.component_ids();
    columns().table_of(ids.flat_map(|id| {
        let rows = rows(sites, (id, None), id, &counts, &ledger.statements);
        let rows = rows.into_iter().enumerate();
        rows.map(move |(at, row)| (RowId::Statement(id, ControlId::from_index(at)), row))
    }))
}

/// The table of statements with a row for each instance, which `cell` names, instead of one for all.
/// Rows come by component, and then in the order in which its instances first ran.
///
/// Numbers of times and cycles of one statement add up to those of its row in [`control`].
pub fn control_per_instance(
    sites: &Sites<'_>,
    profile: &Profile,
    ledger: &Ledger,
    activations: &Activations<'_>,
) -> Table {
    let metadata = sites.metadata();
    let counts = Counts::by(metadata, activations, |element| element.instance);
    let instances = || profile.instances().iter().enumerate();
    let all = metadata.component_ids().flat_map(|id| {
        let these = instances().filter(move |(_, instance)| instance.component == id);
        let counts = &counts;
        these.flat_map(move |(at, _)| {
            let instance = InstanceId::from_index(at);
            let cell = path(metadata, profile.instances(), instance);
            let of = (id, Some(Rc::from(cell)));
            rows(sites, of, instance, counts, &ledger.instances)
        })
    });
    let cell = Columns::default().text("cell", |row: &StatementRow<'_>| {
        row.cell.as_deref().map_or(Value::Empty, Value::from)
    });
    cell.and(columns()).table(all)
}

/// A statement, and how it ran.
pub struct StatementRow<'a> {
    /// The component cell, where each has a row of its own.
    cell: Option<Rc<str>>,
    metadata: &'a Metadata,
    component: &'a Component,
    node: &'a ControlNode,
    name: String,
    /// How often it was entered, and for how long; `None` if that is not known.
    entered: Option<Durations>,
    /// How often its body ran, if it is a loop.
    iterations: Value,
    costs: Statement,
    site: Option<SiteId>,
}

impl StatementRow<'_> {
    /// A figure of the times it was entered, if it was.
    fn of_runs(&self, value: fn(&Durations) -> Value) -> Value {
        match &self.entered {
            None => Value::Unknown,
            Some(Durations { count: 0, .. }) => Value::Empty,
            Some(durations) => value(durations),
        }
    }

    /// Its name with that of its component, such as `main.while@L12`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.component.name, self.name)
    }

    /// Its component.
    pub fn component(&self) -> Value {
        self.component.name.as_str().into()
    }

    /// What it is called.
    pub fn statement(&self) -> Value {
        self.name.as_str().into()
    }

    /// What it is.
    pub fn kind(&self) -> Value {
        self.node.kind.keyword().into()
    }

    /// The file that it is in.
    pub fn file(&self) -> Value {
        let files = &self.metadata.files;
        self.of_span(|span| files[span.file.index()].name.as_str().into())
    }

    /// Its line.
    pub fn line(&self) -> Value {
        self.of_span(|span| u64::from(span.line).into())
    }

    /// How often it was entered.
    pub fn times_entered(&self) -> Value {
        Value::or_unknown(self.entered.map(|entered| entered.count))
    }

    /// How often its body ran, if it is a loop.
    pub fn iterations(&self) -> Value {
        self.iterations.clone()
    }

    /// What the cycles of the run did for it.
    pub fn costs(&self) -> &Statement {
        &self.costs
    }

    /// Its number.
    pub fn site(&self) -> Value {
        sites::cell(self.site)
    }

    fn of_span(&self, value: impl Fn(Span) -> Value) -> Value {
        self.node.span.map_or(Value::Empty, value)
    }
}

/// The columns of the table of statements.
pub fn columns<'a>() -> Columns<StatementRow<'a>> {
    let columns = Columns::default()
        .text("component", StatementRow::component)
        .text("statement", StatementRow::statement)
        .text("kind", StatementRow::kind)
        .text("file", StatementRow::file)
        .number("line", StatementRow::line)
        .number("times entered", StatementRow::times_entered)
        .number("iterations", StatementRow::iterations)
        .number("cycles", |row| row.costs.cycles.into())
        .number("flattened", |row| row.costs.flattened.into())
        .number("useful", |row| row.costs.useful.into())
        .number("conditions", |row| row.costs.conditions.into())
        .number("overhead", |row| row.costs.charged().into());
    let columns = Overhead::ALL.iter().fold(columns, |columns, kind| {
        columns.number(kind.title(), move |row| {
            row.costs.overhead[kind.index()].into()
        })
    });
    columns
        .number("hidden control", |row| row.costs.hidden.into())
        .number("min", |row| row.of_runs(|entered| entered.min.into()))
        .number("max", |row| row.of_runs(|entered| entered.max.into()))
        .decimal("avg", |row| {
            row.of_runs(|entered| Value::average(entered.total, entered.count))
        })
        .aside(SITE, StatementRow::site)
}

/// A row for each statement of a component, with what it did in `owner`, which is the cell if there is one.
pub fn rows<'a, Owner: Copy + Ord>(
    sites: &Sites<'a>,
    (id, cell): (ComponentId, Option<Rc<str>>),
    owner: Owner,
    counts: &Counts<Owner>,
    statements: &BTreeMap<(Owner, ControlId), Statement>,
) -> Vec<StatementRow<'a>> {
    let metadata = sites.metadata();
    let component = metadata.component(id);
    let names = labels::control_labels(metadata, component);
    let groups = labels::group_labels(component);
    let nodes = component.control.iter().enumerate();
    nodes
        .map(|(at, node)| {
            let statement = ControlId::from_index(at);
            StatementRow {
                cell: cell.clone(),
                metadata,
                component,
                node,
                name: match node.group {
                    Some(group) => groups[group.index()].clone(),
                    None => names[at].clone(),
                },
                entered: counts.entered(owner, statement),
                iterations: if node.kind.is_loop() {
                    Value::or_unknown(counts.iterations(component, owner, statement))
                } else {
                    Value::Empty
                },
                costs: statements
                    .get(&(owner, statement))
                    .copied()
                    .unwrap_or_default(),
                site: match cell.as_deref() {
                    Some(cell) => sites.statement(id, cell, statement),
                    None => sites.only_statement(id, statement),
                },
            }
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
