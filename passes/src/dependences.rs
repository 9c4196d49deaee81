//! Which statements of a `seq` have to wait for which: the data flow of the program as written.
//!
//! Owns the rule by which two statements are independent. Whatever the rule cannot decide counts as a dependence, so
//! that what is said to be independent is. It says nothing about whether it pays to run them at once.
//!
//! A statement reads and writes *state*: registers, memories, multipliers, cells of components, and all else that is not
//! combinational. Two statements are independent if neither writes what the other one reads or writes. Besides,
//!
//! - what a combinational cell gives is read from where its inputs come from, through continuous assignments as well;
//! - who changes what continuous assignments hand to a cell, changes that cell;
//! - to drive a cell is to write it, but for the addresses of a `comb_mem`, which only read;
//! - an `invoke` reads and writes the cell and all cells that it hands over; a component holds no state but its own;
//! - `ref` cells of one type may be the same cell;
//! - a statement that reads state which continuous assignments drive, that has an `@sync`, or that shares what is
//!   written with another arm of a `par` around it, depends on all others, since it may depend on *when* it runs.
//!
//! Independent statements that drive the same cell, or cells to which the compiler gave the same hardware, contend for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::{Contention, ControlId, ControlKind, Sequence, Step};

use crate::tree::{GroupRef, NodeKey, View};

/// Longer sequences are left out, since the work grows with the square of the length.
const MAX_STEPS: usize = 512;

type Cells = BTreeSet<ir::Id>;

/// What a statement does to the cells of its component.
#[derive(Debug, Clone, Default)]
struct Effects {
    reads: Cells,
    writes: Cells,
    /// Cells whose ports it drives, combinational ones included.
    drives: Cells,
    /// What it does may depend on when it runs.
    timed: bool,
}

impl Effects {
    fn add(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.drives.extend(&other.drives);
        self.timed |= other.timed;
    }

    fn is_independent_of(&self, other: &Self) -> bool {
        let one_way = |a: &Self, b: &Self| {
            // What a cell gives that only the other one drives, nobody knows.
            let mut undriven = b.reads.difference(&b.drives);
            a.writes.is_disjoint(&b.reads)
                && a.writes.is_disjoint(&b.writes)
                && !undriven.any(|cell| a.drives.contains(cell))
        };
        !self.timed && !other.timed && one_way(self, other) && one_way(other, self)
    }
}

/// The statements of a `seq` of the source, with what each does.
#[derive(Debug, Clone)]
struct Steps {
    node: NodeKey,
    steps: Vec<(NodeKey, Effects)>,
}

/// The sequences of a component.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dependences(Vec<Steps>);

impl Dependences {
    /// Of all components of a program whose control nodes have their identities, as it is written.
    pub fn of_all(ctx: &ir::Context) -> HashMap<ir::Id, Self> {
        let mut all = HashMap::new();
        let mut racing = BTreeSet::new();
        let mut hands_over: BTreeMap<ir::Id, BTreeSet<ir::Id>> = BTreeMap::new();
        for component in &ctx.components {
            let mut found = Found::default();
            Analysis::of(component).statement(View::of(&component.control.borrow()), &mut found);
            racing.extend(found.racing);
            hands_over.insert(component.name, found.hands_over);
            all.insert(component.name, Self(found.sequences));
        }
        // What they were handed, they may hand on.
        let mut reached: Vec<ir::Id> = racing.into_iter().collect();
        while let Some(name) = reached.pop() {
            all.remove(&name);
            reached.extend(hands_over.remove(&name).into_iter().flatten());
        }
        all
    }

    /// The sequences in which something is independent. `lives_in` gives the cell that does the work of a cell of the source.
    pub fn sequences(
        &self,
        ids: &HashMap<NodeKey, ControlId>,
        lives_in: impl Fn(ir::Id) -> ir::Id,
    ) -> Vec<Sequence> {
        let sequences = self.0.iter();
        sequences
            .filter_map(|steps| steps.sequence(ids, &lives_in))
            .collect()
    }
}

impl Steps {
    fn sequence(
        &self,
        ids: &HashMap<NodeKey, ControlId>,
        lives_in: &impl Fn(ir::Id) -> ir::Id,
    ) -> Option<Sequence> {
        let mut steps = Vec::new();
        // For each step the ones that it waits for, directly or not.
        let mut before: Vec<BTreeSet<usize>> = Vec::new();
        for (at, (key, effects)) in self.steps.iter().enumerate() {
            let mut all = BTreeSet::new();
            let mut after = Vec::new();
            for earlier in (0..at).rev() {
                if !all.contains(&earlier) && !effects.is_independent_of(&self.steps[earlier].1) {
                    all.insert(earlier);
                    all.extend(&before[earlier]);
                    after.push(index(earlier));
                }
            }
            after.reverse();
            let mut contends = Vec::new();
            for earlier in (0..at).filter(|earlier| !all.contains(earlier)) {
                contends.extend(contentions(
                    index(earlier),
                    &self.steps[earlier].1,
                    effects,
                    lives_in,
                ));
            }
            before.push(all);
            steps.push(Step {
                node: *ids.get(key)?,
                after,
                contends,
            });
        }
        let is_chain = before.iter().enumerate().all(|(at, all)| all.len() == at);
        (!is_chain).then_some(Sequence {
            node: *ids.get(&self.node)?,
            steps,
        })
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("at most MAX_STEPS")
}

/// The hardware that both of two independent steps drive.
fn contentions<'a>(
    with: u32,
    earlier: &'a Effects,
    later: &'a Effects,
    lives_in: &'a impl Fn(ir::Id) -> ir::Id,
) -> impl Iterator<Item = Contention> + 'a {
    let hardware: BTreeMap<ir::Id, ir::Id> = earlier
        .drives
        .iter()
        .map(|&cell| (lives_in(cell), cell))
        .collect();
    later.drives.iter().filter_map(move |&cell| {
        let other = if earlier.drives.contains(&cell) {
            cell
        } else {
            *hardware.get(&lives_in(cell))?
        };
        Some(Contention {
            with,
            cell: cell.to_string(),
            other: other.to_string(),
        })
    })
}

/// What is found in the control program of a component.
#[derive(Default)]
struct Found {
    sequences: Vec<Steps>,
    /// Components of cells that are invoked with `ref` cells.
    hands_over: BTreeSet<ir::Id>,
    /// Those of them whose `ref` cells another arm of a `par` uses at the same time.
    racing: BTreeSet<ir::Id>,
    /// Each such invoke: the component, and the cells that it hands over.
    invokes: Vec<(ir::Id, Cells)>,
}

impl Found {
    /// Takes in what was found in the arms of a `par`, with the effects of each.
    fn add_arms(&mut self, mut arms: Vec<(Self, Effects)>) {
        let mut touching: BTreeMap<ir::Id, BTreeSet<usize>> = BTreeMap::new();
        let mut writing: BTreeMap<ir::Id, BTreeSet<usize>> = BTreeMap::new();
        for (at, (_, effects)) in arms.iter().enumerate() {
            for &cell in effects.reads.union(&effects.writes) {
                touching.entry(cell).or_default().insert(at);
            }
            for &cell in &effects.writes {
                writing.entry(cell).or_default().insert(at);
            }
        }
        for (at, (found, _)) in arms.iter_mut().enumerate() {
            let in_other_arm = |arms: &BTreeMap<ir::Id, BTreeSet<usize>>, cell: &ir::Id| {
                let arms = arms.get(cell);
                arms.is_some_and(|arms| arms.iter().any(|&arm| arm != at))
            };
            let steps = found
                .sequences
                .iter_mut()
                .flat_map(|steps| &mut steps.steps);
            for (_, effects) in steps {
                let mut writes = effects.writes.iter();
                let mut reads = effects.reads.iter();
                effects.timed |= writes.any(|cell| in_other_arm(&touching, cell))
                    || reads.any(|cell| in_other_arm(&writing, cell));
            }
            for (component, cells) in &found.invokes {
                if cells.iter().any(|cell| in_other_arm(&touching, cell)) {
                    self.racing.insert(*component);
                }
            }
        }
        for (found, _) in arms {
            self.add(found);
        }
    }

    fn add(&mut self, other: Self) {
        self.sequences.extend(other.sequences);
        self.hands_over.extend(other.hands_over);
        self.racing.extend(other.racing);
        self.invokes.extend(other.invokes);
    }
}

/// What is needed to tell the effects of the statements of a component.
struct Analysis<'a> {
    component: &'a ir::Component,
    /// Cell → cells that continuous assignments hand to it, directly or not.
    sources: BTreeMap<ir::Id, Cells>,
    /// State that continuous assignments drive.
    driven: Cells,
    /// `ref` cell → all that may be the same one.
    aliases: BTreeMap<ir::Id, Cells>,
}

impl<'a> Analysis<'a> {
    fn of(component: &'a ir::Component) -> Self {
        let mut sources: BTreeMap<ir::Id, Cells> = BTreeMap::new();
        let mut driven = Cells::new();
        for assignment in &component.continuous_assignments {
            let Some(cell) = cell_of(&assignment.dst) else {
                continue;
            };
            // An output of the component is nothing that its own statements could read.
            if !is_combinational(&cell) && !cell.borrow().is_this() {
                driven.insert(cell.borrow().name());
            }
            let from = sources.entry(cell.borrow().name()).or_default();
            from.extend(ports_read(assignment).iter().filter_map(name_of));
        }
        // A cell hands on what it gets, so the sources of its sources are its own.
        loop {
            let mut grown = false;
            for cell in sources.keys().copied().collect::<Vec<_>>() {
                let indirect: Vec<ir::Id> = sources[&cell]
                    .iter()
                    .filter_map(|source| sources.get(source))
                    .flatten()
                    .copied()
                    .collect();
                let all = sources.get_mut(&cell).expect("a key of the map");
                let before = all.len();
                all.extend(indirect);
                grown |= all.len() > before;
            }
            if !grown {
                break;
            }
        }
        let mut by_type: BTreeMap<String, Cells> = BTreeMap::new();
        for cell in component.cells.iter() {
            let cell = cell.borrow();
            if cell.is_reference() {
                let of_type = by_type.entry(format!("{:?}", cell.prototype)).or_default();
                of_type.insert(cell.name());
            }
        }
        let aliases = by_type.into_values().flat_map(|cells| {
            let each: Vec<ir::Id> = cells.iter().copied().collect();
            each.into_iter().map(move |cell| (cell, cells.clone()))
        });
        Self {
            component,
            sources,
            driven,
            aliases: aliases.collect(),
        }
    }

    /// The effects of a statement; `found` gets what is at or below it.
    fn statement(&self, view: View<'_>, found: &mut Found) -> Effects {
        let mut effects = Effects {
            timed: view.attributes().has(ir::NumAttr::Sync),
            ..Effects::default()
        };
        let mut steps = Vec::new();
        let mut children = Vec::new();
        for child in view.children() {
            let mut below = Found::default();
            let of_child = self.statement(child, &mut below);
            effects.add(&of_child);
            if let Some((key, _)) = child.identity() {
                steps.push((key, of_child.clone()));
            }
            children.push((below, of_child));
        }
        if matches!(view.kind(), ControlKind::Par | ControlKind::StaticPar) {
            found.add_arms(children);
        } else {
            for (below, _) in children {
                found.add(below);
            }
        }
        if matches!(view.kind(), ControlKind::Seq | ControlKind::StaticSeq)
            && (2..=MAX_STEPS).contains(&steps.len())
            && let Some((node, _)) = view.identity()
        {
            found.sequences.push(Steps { node, steps });
        }
        let handed_over = view.handed_over();
        if let Some(of) = view.invoked().and_then(|cell| cell.borrow().type_name())
            && !handed_over.is_empty()
        {
            let cells: Cells = handed_over.into_iter().map(|(_, actual)| actual).collect();
            found.hands_over.insert(of);
            found.invokes.push((of, self.with_aliases(&cells)));
        }
        let mut uses = Uses::default();
        uses.control(view);
        if let Some(group) = view.group() {
            self.group(&group, &mut uses, &mut Cells::new());
        }
        if let Some(group) = view.comb_group() {
            uses.assignments(&group.borrow().assignments);
        }
        effects.add(&self.effects(&uses));
        effects
    }

    fn group(&self, group: &GroupRef, uses: &mut Uses, called: &mut Cells) {
        match group {
            GroupRef::Dynamic(group) => uses.assignments(&group.borrow().assignments),
            GroupRef::Static(group) => uses.assignments(&group.borrow().assignments),
        }
        for name in group.called() {
            if called.insert(name) {
                if let Some(group) = self.component.find_group(name) {
                    self.group(&GroupRef::Dynamic(group), uses, called);
                } else if let Some(group) = self.component.find_static_group(name) {
                    self.group(&GroupRef::Static(group), uses, called);
                }
            }
        }
    }

    fn effects(&self, uses: &Uses) -> Effects {
        let mut effects = Effects {
            drives: self.with_aliases(&uses.drives),
            writes: self.with_aliases(&uses.writes),
            ..Effects::default()
        };
        let touched = uses.reads.union(&uses.drives);
        let indirect = touched.filter_map(|cell| self.sources.get(cell)).flatten();
        let reads: Cells = uses.reads.iter().chain(indirect).copied().collect();
        effects.timed = !reads.is_disjoint(&self.driven);
        let driven_here = |cell: &ir::Id| {
            let cell = self.component.find_cell(*cell);
            cell.is_some_and(|cell| {
                is_combinational(&cell) && uses.drives.contains(&cell.borrow().name())
            })
        };
        effects.reads = self.with_aliases(&reads);
        effects.reads.retain(|cell| !driven_here(cell));
        for (cell, sources) in &self.sources {
            if self.driven.contains(cell) && !sources.is_disjoint(&effects.drives) {
                effects.writes.insert(*cell);
            }
        }
        effects
    }

    fn with_aliases(&self, cells: &Cells) -> Cells {
        let aliases = cells.iter().filter_map(|cell| self.aliases.get(cell));
        aliases.flatten().chain(cells).copied().collect()
    }
}

/// The cells whose ports a statement names.
#[derive(Default)]
struct Uses {
    reads: Cells,
    writes: Cells,
    drives: Cells,
}

impl Uses {
    /// What a control node names itself, without its groups and what is below it.
    fn control(&mut self, view: View<'_>) {
        match view {
            View::Dynamic(ir::Control::If(node)) => self.read(&node.port),
            View::Dynamic(ir::Control::While(node)) => self.read(&node.port),
            View::Static(ir::StaticControl::If(node)) => self.read(&node.port),
            View::Dynamic(ir::Control::Invoke(node)) => {
                self.invoke(&node.comp, &node.inputs, &node.outputs, &node.ref_cells);
            }
            View::Static(ir::StaticControl::Invoke(node)) => {
                self.invoke(&node.comp, &node.inputs, &node.outputs, &node.ref_cells);
            }
            View::Dynamic(_) | View::Static(_) => {}
        }
    }

    fn invoke(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        inputs: &[(ir::Id, ir::RRC<ir::Port>)],
        outputs: &[(ir::Id, ir::RRC<ir::Port>)],
        handed_over: &[(ir::Id, ir::RRC<ir::Cell>)],
    ) {
        let cells = handed_over.iter().map(|(_, cell)| cell);
        for cell in cells.chain([cell]) {
            let name = cell.borrow().name();
            self.reads.insert(name);
            self.writes.insert(name);
            self.drives.insert(name);
        }
        for (_, port) in inputs {
            self.read(port);
        }
        for (_, port) in outputs {
            self.drive(port);
        }
    }

    fn assignments<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            self.drive(&assignment.dst);
            for port in ports_read(assignment) {
                self.read(&port);
            }
        }
    }

    fn read(&mut self, port: &ir::RRC<ir::Port>) {
        self.reads.extend(name_of(port));
    }

    fn drive(&mut self, port: &ir::RRC<ir::Port>) {
        let Some(cell) = cell_of(port) else { return };
        let name = cell.borrow().name();
        self.drives.insert(name);
        let reads_memory = cell
            .borrow()
            .type_name()
            .is_some_and(|of| of.as_ref().starts_with("comb_mem_d"))
            && port.borrow().name.as_ref().starts_with("addr");
        if reads_memory {
            self.reads.insert(name);
        } else if !is_combinational(&cell) {
            self.writes.insert(name);
        }
    }
}

/// The ports that an assignment reads, without constants and those of groups.
fn ports_read<T>(assignment: &ir::Assignment<T>) -> Vec<ir::RRC<ir::Port>> {
    let mut ports = assignment.guard.all_ports();
    ports.push(assignment.src.clone());
    ports
}

/// The cell that a port belongs to; `None` for constants, ports of groups and inputs of the component, which do not
/// change while it runs.
fn cell_of(port: &ir::RRC<ir::Port>) -> Option<ir::RRC<ir::Cell>> {
    let port = port.borrow();
    if port.is_hole() {
        return None;
    }
    let cell = port.cell_parent();
    let constant = matches!(cell.borrow().prototype, ir::CellType::Constant { .. });
    let is_input = cell.borrow().is_this() && port.direction == ir::Direction::Output;
    (!constant && !is_input).then_some(cell)
}

fn name_of(port: &ir::RRC<ir::Port>) -> Option<ir::Id> {
    cell_of(port).map(|cell| cell.borrow().name())
}

fn is_combinational(cell: &ir::RRC<ir::Cell>) -> bool {
    matches!(
        cell.borrow().prototype,
        ir::CellType::Primitive { is_comb: true, .. }
    )
}
