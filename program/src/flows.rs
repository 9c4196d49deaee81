//! Which registers and the like a group surely takes its values from, and which it sets.
//!
//! Owns what is sure: what a guard decides is left out, since a run may do without it. Of memories it has which are surely read, and not which
//! word of them, since that depends on addresses. `dependences` has what *may* depend on what.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::{Flow, Flows};

use crate::dependences::{cell_of, constant, is_combinational, ports_of, primitive, with_called};
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
        let continuous = PortDrivers::of(&component.continuous_assignments);
        let mut add = |group: ir::Id, mut flow: Flow| {
            flow.reads.retain(|cell| !others.contains(cell));
            flow.writes.retain(|cell, _| !others.contains(cell));
            flow.words.retain(|cell| !others.contains(cell));
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
    let mut started = BTreeSet::new();
    let mut calls = BTreeMap::new();
    let called = |cell: &ir::RRC<ir::Cell>| match cell.borrow().prototype {
        ir::CellType::Component { name } => Some(name),
        _ => None,
    };
    for component in &program.components {
        for assignment in &component.continuous_assignments {
            let port = assignment.dst.borrow();
            if port.name == "go" && !port.is_hole() {
                started.extend(called(&port.cell_parent()));
            }
        }
        let cells = component.cells.iter().filter_map(called);
        calls.insert(component.name, cells.collect());
    }
    with_called(started, &calls)
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
        let (_, outputs) = ports_of(view);
        outputs.iter().for_each(&mut add);
        let cells = view.handed_over().into_iter();
        handed.extend(cells.map(|(_, cell)| cell.to_string()));
    });
    let references = component.cells.iter().map(|cell| cell.borrow());
    let references = references.filter(|cell| cell.is_reference());
    others.extend(references.map(|cell| cell.name().to_string()));
    others.extend(handed);
    others
}

/// What drives each port, and whether always.
struct PortDrivers(HashMap<ir::Canonical, Vec<(bool, ir::RRC<ir::Port>)>>);

impl PortDrivers {
    fn of<T>(assignments: &[ir::Assignment<T>]) -> Self {
        let mut drivers: HashMap<_, Vec<_>> = HashMap::new();
        for assignment in assignments {
            // What a static group does at a time, it may do late.
            let driver = (assignment.guard.is_true(), assignment.src.clone());
            let port = assignment.dst.borrow().canonical();
            drivers.entry(port).or_default().push(driver);
        }
        Self(drivers)
    }

    /// All that drive a port of a cell, if any do.
    fn all(&self, cell: &ir::Cell, port: &str) -> Option<&[(bool, ir::RRC<ir::Port>)]> {
        let port = cell.find(port)?.borrow().canonical();
        self.0.get(&port).map(Vec::as_slice)
    }

    /// The one that always drives a port.
    fn only(&self, port: &ir::Canonical) -> Option<&ir::RRC<ir::Port>> {
        match self.0.get(port)?.as_slice() {
            [(true, source)] => Some(source),
            _ => None,
        }
    }
}

/// What a cell is that takes values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Register,
    /// A multiplier or divider.
    Unit,
    /// A memory that keeps the word that it has read last.
    Sequential,
    /// A memory that does not.
    Combinational,
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
            Some(Self::Sequential)
        } else if name.starts_with("comb_mem_d") {
            Some(Self::Combinational)
        } else {
            None
        }
    }

    /// The port that makes it take what is at its inputs, and how their names begin.
    fn inputs(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Register => ("write_en", &["in"]),
            Self::Unit => ("go", &["left", "right"]),
            // What is written does not stay in it for others, but in a word.
            Self::Sequential => ("content_en", &["addr"]),
            Self::Combinational => ("write_en", &["addr", "write_data"]),
        }
    }
}

fn of<T>(assignments: &[ir::Assignment<T>], continuous: &PortDrivers) -> Flow {
    let own = PortDrivers::of(assignments);
    let mut flow = Flow::default();
    let mut waited = BTreeSet::new();
    for assignment in assignments {
        if assignment.dst.borrow().is_hole() && assignment.guard.is_true() {
            waited.extend(cell_of(&assignment.src).map(|cell| cell.borrow().name()));
        }
    }
    let mut of_its_own = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for assignment in assignments {
        let Some(cell) = cell_of(&assignment.dst) else {
            continue;
        };
        let cell = cell.borrow();
        let Some(kind) = Kind::of(&cell).filter(|_| seen.insert(cell.name())) else {
            continue;
        };
        let (start, inputs) = kind.inputs();
        let Some(starts) = own.all(&cell, start) else {
            continue;
        };
        let name = cell.name().to_string();
        let writes = own.all(&cell, "write_en").unwrap_or_default();
        let is_always = |drivers: &[(bool, ir::RRC<ir::Port>)]| matches!(drivers, [(true, source)] if constant(source) == Some(1));
        let is_high = is_always(starts);
        let is_sure = is_high || waited.contains(&cell.name());
        for port in cell.ports.iter().filter(|_| is_sure) {
            let port = port.borrow();
            let mut begins = inputs.iter();
            // A sequential memory takes what is written only then.
            let is_written = port.name == "write_data" && is_always(writes);
            if !is_written && !begins.any(|input| port.name.as_ref().starts_with(input)) {
                continue;
            }
            let mut reads = BTreeSet::new();
            if let Some(source) = own.only(&port.canonical()) {
                let taken = (&mut reads, &mut flow.words);
                trace(source, (&own, continuous), &mut BTreeSet::new(), taken);
            }
            if kind == Kind::Register && reads.contains(&name) {
                of_its_own.insert(name.clone());
            }
            flow.reads.extend(reads);
        }
        let only_reads = writes.iter().all(|(_, source)| constant(source) == Some(0));
        if kind == Kind::Sequential && is_sure && only_reads {
            flow.words.insert(name.clone());
        }
        match kind {
            Kind::Register | Kind::Unit => flow.writes.insert(name, is_sure),
            Kind::Sequential => flow.writes.insert(name, is_sure && only_reads),
            Kind::Combinational => None,
        };
    }
    // What a multiplier gives, the group itself has it do; a register may be read when it is set already, unless it is set to a value of its own.
    let Flow { reads, writes, .. } = &mut flow;
    reads.retain(|cell| !writes.contains_key(cell) || of_its_own.contains(cell));
    flow
}

/// Adds the cells that the value of a port surely comes from, and the memories of which it is a word.
fn trace(
    port: &ir::RRC<ir::Port>,
    (own, continuous): (&PortDrivers, &PortDrivers),
    seen: &mut BTreeSet<ir::Id>,
    (reads, words): (&mut BTreeSet<String>, &mut BTreeSet<String>),
) {
    let Some(cell) = cell_of(port) else {
        return;
    };
    let is_combinational = is_combinational(&cell);
    let cell = cell.borrow();
    let kind = Kind::of(&cell);
    let is_memory = kind == Some(Kind::Combinational);
    if kind.is_some() && !is_memory {
        if port.borrow().name != "done" {
            reads.insert(cell.name().to_string());
        }
        return;
    }
    if !(is_combinational || is_memory) || !seen.insert(cell.name()) {
        return;
    }
    if is_memory {
        words.insert(cell.name().to_string());
    }
    // What is not chosen is not taken.
    let chooses = primitive(&cell).is_some_and(|of| of == "std_mux");
    for input in &cell.ports {
        let input = input.borrow();
        let is_taken = match input.name.as_ref() {
            name if is_memory => name.starts_with("addr"),
            name => !chooses || name == "cond",
        };
        if input.direction != ir::Direction::Input || !is_taken {
            continue;
        }
        let port = input.canonical();
        let source = match own.0.get(&port) {
            Some(_) => own.only(&port),
            None => continuous.only(&port),
        };
        if let Some(source) = source {
            trace(source, (own, continuous), seen, (reads, words));
        }
    }
}
