//! Which registers and the like a group surely takes its values from, and which it sets.
//!
//! Owns what is sure: what a guard decides is left out, since a run may do without it. Memories count for the word that a sequential one has
//! read last; what is in them does not, since that depends on addresses. `dependences` has what *may* depend on what.

use std::collections::{BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::{Flow, Flows};

use crate::dependences::{cell_of, constant, is_combinational, primitive};
use crate::tree::View;

/// Those of a program, but for groups of components that run by themselves. Cells that something else than groups may set are in none.
#[must_use]
pub fn flows(program: &ir::Context) -> Flows {
    let mut all = Flows::new();
    let by_themselves = by_themselves(program);
    for component in &program.components {
        if by_themselves.contains(&component.name) {
            continue;
        }
        let others = set_by_others(component);
        let continuous = Drivers::of(&component.continuous_assignments);
        let mut add = |group: ir::Id, mut flow: Flow| {
            flow.reads.retain(|cell| !others.contains(cell));
            flow.writes.retain(|cell, _| !others.contains(cell));
            all.insert((component.name.to_string(), group.to_string()), flow);
        };
        for group in component.groups.iter() {
            let group = group.borrow();
            add(group.name(), of(&group.assignments, &continuous));
        }
        for group in component.static_groups.iter() {
            let group = group.borrow();
            add(group.name(), of(&group.assignments, &continuous));
        }
    }
    all
}

/// Components that something else than control starts, and all in them: nobody tells how often their groups run.
fn by_themselves(program: &ir::Context) -> BTreeSet<ir::Id> {
    let mut found = BTreeSet::new();
    let called = |cell: &ir::RRC<ir::Cell>| match cell.borrow().prototype {
        ir::CellType::Component { name } => Some(name),
        _ => None,
    };
    for component in &program.components {
        for assignment in &component.continuous_assignments {
            let port = assignment.dst.borrow();
            if port.name == "go" && !port.is_hole() {
                found.extend(called(&port.cell_parent()));
            }
        }
    }
    loop {
        let before = found.len();
        for component in &program.components {
            if found.contains(&component.name) {
                found.extend(component.cells.iter().filter_map(called));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Cells of a component that continuous assignments, an `invoke` or other components may set.
fn set_by_others(component: &ir::Component) -> BTreeSet<String> {
    let mut others = BTreeSet::new();
    let mut add = |port: &ir::RRC<ir::Port>| {
        others.extend(cell_of(port).map(|cell| cell.borrow().name().to_string()));
    };
    for assignment in &component.continuous_assignments {
        add(&assignment.dst);
    }
    let mut handed = BTreeSet::new();
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (outputs, cells) = match view {
            View::Dynamic(ir::Control::Invoke(of)) => (&of.outputs, &of.ref_cells),
            View::Static(ir::StaticControl::Invoke(of)) => (&of.outputs, &of.ref_cells),
            View::Dynamic(_) | View::Static(_) => return,
        };
        for (_, port) in outputs {
            add(port);
        }
        handed.extend(
            cells
                .iter()
                .map(|(_, cell)| cell.borrow().name().to_string()),
        );
    });
    let references = component.cells.iter().map(|cell| cell.borrow());
    let references = references.filter(|cell| cell.is_reference());
    others.extend(references.map(|cell| cell.name().to_string()));
    others.extend(handed);
    others
}

/// What drives each port, and whether always.
struct Drivers(HashMap<ir::Canonical, Vec<(bool, ir::RRC<ir::Port>)>>);

impl Drivers {
    fn of<T>(assignments: &[ir::Assignment<T>]) -> Self {
        let mut drivers: HashMap<_, Vec<_>> = HashMap::new();
        for assignment in assignments {
            // The times of a static group are sure to come.
            let is_sure = matches!(&*assignment.guard, ir::Guard::True | ir::Guard::Info(_));
            let driver = (is_sure, assignment.src.clone());
            let port = assignment.dst.borrow().canonical();
            drivers.entry(port).or_default().push(driver);
        }
        Self(drivers)
    }

    /// The one that always drives a port.
    fn only(&self, port: &ir::Canonical) -> Option<&ir::RRC<ir::Port>> {
        match self.0.get(port)?.as_slice() {
            [(true, source)] => Some(source),
            _ => None,
        }
    }
}

/// What a cell is that keeps something, if it is one of these.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Register,
    /// A multiplier or divider.
    Unit,
    /// A sequential memory.
    Memory,
}

impl Kind {
    fn of(cell: &ir::Cell) -> Option<Self> {
        let name = primitive(cell)?;
        let name = name.as_ref();
        if name == "std_reg" {
            Some(Self::Register)
        } else if name.ends_with("mult_pipe") || name.ends_with("div_pipe") {
            Some(Self::Unit)
        } else if name.starts_with("seq_mem_d") || name.starts_with("dyn_mem_d") {
            Some(Self::Memory)
        } else {
            None
        }
    }

    /// The port that starts it.
    fn start(self) -> &'static str {
        match self {
            Self::Register => "write_en",
            Self::Unit => "go",
            Self::Memory => "content_en",
        }
    }
}

fn of<T>(assignments: &[ir::Assignment<T>], continuous: &Drivers) -> Flow {
    let own = Drivers::of(assignments);
    let mut flow = Flow::default();
    let mut waited = BTreeSet::new();
    for assignment in assignments {
        let is_done = assignment.dst.borrow().is_hole();
        if is_done && assignment.guard.is_true() {
            waited.extend(cell_of(&assignment.src).map(|cell| cell.borrow().name()));
        }
    }
    for assignment in assignments {
        let Some(cell) = cell_of(&assignment.dst) else {
            continue;
        };
        let cell = cell.borrow();
        let Some(kind) = Kind::of(&cell) else {
            continue;
        };
        if assignment.dst.borrow().name != kind.start() {
            continue;
        }
        let starts = own.only(&assignment.dst.borrow().canonical());
        let starts = starts.and_then(constant) == Some(1);
        let mut is_sure = starts || waited.contains(&cell.name());
        if kind == Kind::Memory {
            let writes = cell.find("write_en").map(|port| port.borrow().canonical());
            let writes = writes.and_then(|port| own.0.get(&port));
            is_sure &= writes
                .into_iter()
                .flatten()
                .all(|(_, source)| constant(source) == Some(0));
        }
        flow.writes.insert(cell.name().to_string(), is_sure);
    }
    let mut of_its_own = BTreeSet::new();
    let sinks = assignments.iter().map(|assignment| &assignment.dst);
    for sink in sinks.filter(|sink| !sink.borrow().is_hole()) {
        let port = sink.borrow();
        let cell = port.cell_parent();
        let cell = cell.borrow();
        if Kind::of(&cell).is_none() && !primitive(&cell).is_some_and(is_memory) {
            continue;
        }
        let Some(source) = own.only(&port.canonical()) else {
            continue;
        };
        let mut reads = BTreeSet::new();
        let drivers = (&own, continuous);
        trace(source, drivers, &mut BTreeSet::new(), &mut reads);
        let name = cell.name().to_string();
        if port.name == "in" && reads.contains(&name) {
            of_its_own.insert(name);
        }
        flow.reads.extend(reads);
    }
    // What a multiplier gives, the group itself has it do; a register may be read when it is set already, unless it is set to a value of its own.
    let Flow { reads, writes } = &mut flow;
    reads.retain(|cell| !writes.contains_key(cell) || of_its_own.contains(cell));
    flow
}

fn is_memory(primitive: ir::Id) -> bool {
    primitive.as_ref().contains("_mem_d")
}

/// Adds the cells that the value of a port surely comes from.
fn trace(
    port: &ir::RRC<ir::Port>,
    (own, continuous): (&Drivers, &Drivers),
    seen: &mut BTreeSet<ir::Id>,
    reads: &mut BTreeSet<String>,
) {
    let Some(cell) = cell_of(port) else {
        return;
    };
    let cell_name = cell.borrow().name();
    let name = port.borrow().name;
    if Kind::of(&cell.borrow()).is_some() {
        if name != "done" {
            reads.insert(cell_name.to_string());
        }
        return;
    }
    let is_memory = primitive(&cell.borrow()).is_some_and(is_memory);
    if !(is_combinational(&cell) || is_memory) || !seen.insert(cell_name) {
        return;
    }
    for input in &cell.borrow().ports {
        let canonical = {
            let input = input.borrow();
            let is_input = input.direction == ir::Direction::Input;
            if !is_input || (is_memory && !input.name.as_ref().starts_with("addr")) {
                continue;
            }
            input.canonical()
        };
        let source = match own.0.get(&canonical) {
            Some(_) => own.only(&canonical),
            None => continuous.only(&canonical),
        };
        if let Some(source) = source {
            trace(source, (own, continuous), seen, reads);
        }
    }
}
