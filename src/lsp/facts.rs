//! What is known of each part of a design, in sentences: made of the same tables as `petal stats`.

use std::collections::BTreeMap;

use petal_analysis::activations::Durations;
use petal_analysis::elements::ElementKind;
use petal_analysis::hotspots::HotspotKind;
use petal_analysis::{Analysis, Period, RankedHotspot, StatementId};
use petal_metadata::{CellId, CellKind, ComponentId, ControlId, GroupId, Id as _, Metadata};
use petal_reconstruct::InstanceId;
use petal_table::text::share;
use petal_table::{RowId, Table, Value, counted, grouped, thousands};
use serde_json::Value as Json;

use super::parts::Part;

/// A table, and the rows in it of one thing.
#[derive(Debug)]
struct Rows<Of> {
    table: Table,
    rows: BTreeMap<Of, Vec<usize>>,
}

impl<Of: Ord> Rows<Of> {
    fn new(table: Table, of: impl Fn(RowId) -> Option<Of>) -> Self {
        let mut rows: BTreeMap<Of, Vec<usize>> = BTreeMap::new();
        for (at, id) in table.ids().iter().enumerate() {
            if let Some(of) = id.and_then(&of) {
                rows.entry(of).or_default().push(at);
            }
        }
        Self { table, rows }
    }

    fn all(&self, of: &Of, column: &str) -> impl Iterator<Item = &Value> {
        let rows = self.rows.get(of).map_or(&[][..], Vec::as_slice).iter();
        let mut columns = self.table.columns().iter();
        let at = columns.position(|other| other.name == column);
        rows.filter_map(move |&row| Some(&self.table.rows()[row][at?]))
    }

    /// What the first of its rows has in a column.
    fn one(&self, of: &Of, column: &str) -> &Value {
        self.all(of, column).next().unwrap_or(&Value::Empty)
    }

    fn count(&self, of: &Of, column: &str) -> Option<u64> {
        match self.one(of, column) {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// What all of its rows have in a column, together.
    fn sum(&self, of: &Of, column: &str) -> u64 {
        let counts = self.all(of, column).map(|value| match value {
            Value::Count(count) => *count,
            _ => 0,
        });
        counts.sum()
    }

    /// The shortest, the average and the longest, if they are known.
    fn spread(&self, of: &Of, columns: [&str; 3]) -> Option<String> {
        let [least, average, most] = columns.map(|column| shown(self.one(of, column)));
        Some(format!(
            "min {}, average {}, max {}",
            least?, average?, most?
        ))
    }
}

/// A number as people read it; `None` if there is none.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Count(count) => Some(thousands(*count)),
        Value::Decimal(number) => {
            let text = format!("{number:.2}");
            Some(grouped(text.strip_suffix(".00").unwrap_or(&text)))
        }
        _ => None,
    }
}

/// What is known of the parts of a design.
#[derive(Debug)]
pub struct Facts<'a> {
    metadata: &'a Metadata,
    components: Rows<ComponentId>,
    cells: Rows<(ComponentId, CellId)>,
    /// For how long groups used each primitive.
    uses: BTreeMap<(ComponentId, CellId), Durations>,
    statements: Rows<StatementId>,
    loops: Rows<StatementId>,
    groups: Rows<(ComponentId, GroupId)>,
    why: BTreeMap<StatementId, Vec<String>>,
    costs: BTreeMap<StatementId, u64>,
    run: u64,
    period: Option<Period>,
}

impl<'a> Facts<'a> {
    /// Those of a run. `advice` is what `petal advise` found in it.
    pub fn new(analysis: &Analysis<'a>, advice: Option<&Json>) -> Self {
        let statement = |id| match id {
            RowId::Statement(component, statement) => Some((component, statement)),
            _ => None,
        };
        let instances = analysis.profile().instances();
        let cells = analysis.cells();
        let component = |instance: InstanceId| instances[instance.index()].component;
        let mut uses: BTreeMap<(ComponentId, CellId), Durations> = BTreeMap::new();
        for (element, durations) in analysis.activations().durations() {
            if let ElementKind::Primitive(cell, actual) = element.kind {
                for (instance, cell) in [(element.instance, cell)].into_iter().chain(actual) {
                    let of = uses.entry((component(instance), cell)).or_default();
                    of.merge(&durations);
                }
            }
        }
        let mut why: BTreeMap<StatementId, Vec<String>> = BTreeMap::new();
        let mut costs = BTreeMap::new();
        for hotspot in analysis.hotspots() {
            let of = hotspot.statement;
            if hotspot.kind == HotspotKind::Cost {
                costs.insert(of, hotspot.cost);
            }
            let text = reason(&RankedHotspot::new(hotspot, advice));
            why.entry(of).or_default().push(text);
        }
        Self {
            metadata: analysis.metadata(),
            components: Rows::new(cells.clone(), |id| match id {
                RowId::Cell(cell) => Some(component(cell)),
                _ => None,
            }),
            cells: Rows::new(cells, |id| match id {
                RowId::Cell(cell) => {
                    let (holder, cell) = instances[cell.index()].parent?;
                    Some((component(holder), cell))
                }
                _ => None,
            }),
            uses,
            statements: Rows::new(analysis.statements(), statement),
            loops: Rows::new(analysis.loops(), statement),
            groups: Rows::new(analysis.groups(), |id| match id {
                RowId::Group(component, group) => Some((component, group)),
                _ => None,
            }),
            why,
            costs,
            run: analysis.cycles(),
            period: analysis.period(),
        }
    }

    /// How often a statement was entered, if that is known.
    pub fn times(&self, component: ComponentId, statement: ControlId) -> Option<u64> {
        self.statements
            .count(&(component, statement), "times entered")
    }

    /// So many cycles, with what they are of the run, and how long they take.
    fn cycles(&self, cycles: u64) -> String {
        let share = share(u128::from(cycles), u128::from(self.run));
        let time = self.period.map(|period| {
            let ns = thousands(period.time_ns(cycles));
            format!(" ({ns} ns)")
        });
        let time = time.unwrap_or_default();
        let cycles = counted(cycles, "cycle");
        format!("{cycles}{time}, {share} of the run")
    }

    /// What is known of a component.
    pub fn of_component(&self, id: ComponentId, part: &mut Part) {
        self.of_instances(&self.components, &id, part);
    }

    /// What is known of instances of a component.
    fn of_instances<Of: Ord>(&self, all: &Rows<Of>, id: &Of, part: &mut Part) {
        part.cycles = all.sum(id, "cycles");
        let times = counted(all.sum(id, "times active"), "time");
        let [busy, overhead] = ["busy", "overhead"].map(|column| thousands(all.sum(id, column)));
        part.facts.push(format!(
            "{}; busy in {busy}, {overhead} overhead",
            self.cycles(part.cycles)
        ));
        let cells = all.rows.get(id).map_or(0, Vec::len);
        part.facts.push(format!(
            "active {times}, in {}",
            counted(cells as u64, "instance")
        ));
    }

    /// What is known of a cell.
    pub fn of_cell(&self, id: (ComponentId, CellId), part: &mut Part) {
        let cell = self.metadata.component(id.0).cell(id.1);
        match &cell.kind {
            CellKind::Component(component) => {
                let component = &self.metadata.component(*component).name;
                part.facts.push(format!("a cell of `{component}`"));
                if self.cells.rows.contains_key(&id) {
                    self.of_instances(&self.cells, &id, part);
                }
            }
            CellKind::Primitive(primitive) => {
                part.facts.push(format!("a primitive, `{primitive}`"));
                if let Some(uses) = self.uses.get(&id) {
                    part.cycles = uses.total;
                    part.facts.push(format!(
                        "groups use it in {}, {}: min {}, max {} cycles",
                        self.cycles(uses.total),
                        counted(uses.count, "time"),
                        thousands(uses.min),
                        thousands(uses.max),
                    ));
                }
            }
        }
        if let Some(other) = cell.shares_hardware_of() {
            let fact = format!("the compiler gave it the hardware of `{other}`");
            part.facts.push(fact);
        }
    }

    /// What is known of a statement.
    pub fn of_statement(&self, id: StatementId, part: &mut Part) {
        part.cycles = self.statements.sum(&id, "cycles");
        part.cost = self.costs.get(&id).copied().unwrap_or(0);
        let [useful, overhead] =
            ["useful", "overhead"].map(|column| thousands(self.statements.sum(&id, column)));
        part.facts.push(format!(
            "{}: {useful} useful; {overhead} overhead is charged to it",
            self.cycles(part.cycles)
        ));
        let entered = self.times(id.0, id.1).map(|times| counted(times, "time"));
        let entered = entered.unwrap_or_else(|| "an unknown number of times".to_owned());
        let spread = self.statements.spread(&id, ["min", "avg", "max"]);
        let spread = spread.map_or(String::new(), |spread| format!(": {spread} cycles"));
        let cells = self.components.rows.get(&id.0).map_or(0, Vec::len);
        let within = match cells {
            0 | 1 => String::new(),
            cells => format!(", in {cells} instances of its component"),
        };
        part.facts
            .push(format!("entered {entered}{within}{spread}"));
        if let Some(iterations) = self.statements.count(&id, "iterations") {
            let each = ["fewest iterations", "average iterations", "most iterations"];
            let each = self.loops.spread(&id, each);
            let each = each.map_or(String::new(), |each| format!(" (each time {each})"));
            let takes = [
                "shortest iteration",
                "average iteration",
                "longest iteration",
            ];
            let takes = self.loops.spread(&id, takes);
            let takes = takes.map_or(String::new(), |takes| format!("; one takes {takes} cycles"));
            let iterations = counted(iterations, "iteration");
            part.facts.push(format!("{iterations}{each}{takes}"));
        }
        part.why = self.why.get(&id).cloned().unwrap_or_default();
    }

    /// What is known of a group.
    pub fn of_group(&self, id: (ComponentId, GroupId), part: &mut Part) {
        if !self.groups.rows.contains_key(&id) {
            return;
        }
        part.cycles = self.groups.sum(&id, "total cycles");
        part.facts.push(self.cycles(part.cycles));
        if let Some(times) = self.groups.count(&id, "times active") {
            let spread = self.groups.spread(&id, ["min", "avg", "max"]);
            let spread = spread.map_or(String::new(), |spread| format!(": {spread} cycles"));
            part.facts
                .push(format!("active {}{spread}", counted(times, "time")));
        }
        let kind = self.groups.one(&id, "kind").plain();
        let compiled = self.groups.one(&id, "compiled").plain();
        let effects = match &*compiled {
            "" => String::new(),
            effects => format!("; the compiler made it {effects}"),
        };
        part.facts.push(format!("{kind}{effects}"));
    }
}

/// Why a statement costs what it does, in a sentence.
fn reason(hotspot: &RankedHotspot) -> String {
    let RankedHotspot {
        kind,
        cost,
        why,
        next,
        ..
    } = hotspot;
    let [_, what] = kind.titles();
    let percent = hotspot.percent.unwrap_or_default();
    let next = next
        .as_ref()
        .map_or(String::new(), |next| format!("; {next}"));
    let cost = thousands(*cost);
    match kind {
        HotspotKind::Cost => format!("costs {cost} cycles ({percent} %): {why}{next}"),
        _ => format!("{what} {cost} cycles ({percent} %): {why}{next}"),
    }
}
