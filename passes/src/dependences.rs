//! Which statements of a `seq` have to wait for which: the data flow of the program as written.
//!
//! Owns the rule by which two statements are independent. Whatever it cannot decide counts as a dependence. It says nothing
//! about whether it pays to run them at once.
//!
//! A statement reads and writes *state*: registers, memories, multipliers, cells of components, and all else that is not
//! combinational. Two statements are independent if neither writes what the other one reads or writes. Besides,
//!
//! - what a combinational cell gives is read from where its inputs come from, through continuous assignments as well;
//! - who changes what continuous assignments hand to a cell, changes that cell;
//! - to drive a cell is to write it, but for the addresses of a `comb_mem`, which only read;
//! - an `invoke` reads and writes the cell and all cells that it hands over; a component holds no state but its own;
//! - `ref` cells of one type may be the same cell;
//! - a statement that reads state which continuous assignments drive, that has an `@sync`, or that shares what is written with
//!   another arm of a `par` around it, depends on all others, since it may depend on *when* it runs. `timing` has the rest of that.
//!
//! Independent statements that drive the same cell, or cells to which the compiler gave the same hardware, contend for it.

mod timing;
mod uses;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::{Contention, ControlId, ControlKind, Sequence, Step};

use crate::exclusion::Condition;
use crate::tree::{GroupRef, NodeKey, View};
pub(crate) use timing::{is_promised, is_promised_for};
use uses::{Uses, name_of};
pub(crate) use uses::{cell_of, constant, is_combinational, ports_of, ports_read, primitive};

/// Longer sequences are left out, since the work grows with the square of the length.
const MAX_STEPS: usize = 512;

/// Where more pairs of arms of a `par` touch the same cells, they count as racing.
const MAX_PAIRS: usize = 20_000;

pub(crate) type Cells = BTreeSet<ir::Id>;

/// What a statement does to the cells of its component.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects {
    pub reads: Cells,
    pub writes: Cells,
    /// Cells whose ports it drives, combinational ones included.
    pub drives: Cells,
    /// What it does may depend on when it runs.
    pub timed: bool,
}

impl Effects {
    fn add(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.drives.extend(&other.drives);
        self.timed |= other.timed;
    }

    pub fn is_independent_of(&self, other: &Self) -> bool {
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

/// The sequences of a component, and what each of its statements does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dependences {
    sequences: Vec<Steps>,
    statements: HashMap<NodeKey, Statement>,
    timed: bool,
}

/// What a statement does: itself, with its groups, and together with all that is below it.
#[derive(Debug, Clone)]
struct Statement {
    own: Effects,
    all: Effects,
}

impl Dependences {
    /// Of all components of a program whose control nodes have their identities, as it is written.
    pub fn of_all(ctx: &ir::Context) -> HashMap<ir::Id, Self> {
        let mut all = HashMap::new();
        let (mut racing, mut timed) = (BTreeSet::new(), BTreeSet::new());
        let mut calls: BTreeMap<ir::Id, BTreeSet<ir::Id>> = BTreeMap::new();
        for component in &ctx.components {
            let mut found = Found::default();
            Analysis::of(component).statement(View::of(&component.control.borrow()), &mut found);
            racing.extend(found.racing);
            racing.extend(exposed(component));
            timed.extend(found.timed);
            timed.extend(timing::observed(component));
            if found.races || timing::is_promised(component) {
                timed.insert(component.name);
            }
            calls.insert(component.name, found.calls);
            let dependences = Self {
                sequences: found.sequences,
                statements: found.statements.into_iter().collect(),
                timed: false,
            };
            all.insert(component.name, dependences);
        }
        // What runs by itself tells how long all else takes.
        let is_clocked = |component: &ir::Component| {
            timing::is_clocked(component, component.name == ctx.entrypoint)
        };
        if ctx.components.iter().any(is_clocked) {
            timed.extend(calls.keys());
        }
        let (racing, timed) = (with_inlining(racing, ctx), with_inlining(timed, ctx));
        // What they were handed, they may hand on.
        for name in &with_called(racing, &calls) {
            if let Some(dependences) = all.get_mut(name) {
                dependences.sequences.clear();
                let statements = dependences.statements.values_mut();
                statements.for_each(|statement| statement.all.timed = true);
            }
        }
        for name in with_called(timed, &calls) {
            if let Some(dependences) = all.get_mut(&name) {
                dependences.timed = true;
            }
        }
        all
    }

    /// Whether results may depend on how long any statement of the component takes.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// What a statement does, with all that is below it.
    pub fn effects(&self, statement: NodeKey) -> Option<&Effects> {
        let statement = self.statements.get(&statement)?;
        Some(&statement.all)
    }

    /// What a statement does itself, with its groups.
    pub fn own(&self, statement: NodeKey) -> Option<&Effects> {
        let statement = self.statements.get(&statement)?;
        Some(&statement.own)
    }

    /// The sequences in which something is independent. `lives_in` gives the cell that does the work of a cell of the source.
    pub fn sequences(
        &self,
        ids: &HashMap<NodeKey, ControlId>,
        lives_in: impl Fn(ir::Id) -> ir::Id,
    ) -> Vec<Sequence> {
        let sequences = self.sequences.iter();
        sequences
            .filter_map(|steps| steps.sequence(ids, &lives_in))
            .collect()
    }
}

/// These components, and those of which they become a part by `@inline`.
pub(crate) fn with_inlining(
    mut components: BTreeSet<ir::Id>,
    ctx: &ir::Context,
) -> BTreeSet<ir::Id> {
    loop {
        let has_part = |component: &&ir::Component| {
            let mut cells = component.cells.iter();
            cells.any(|cell| {
                let cell = cell.borrow();
                let of = cell.type_name();
                cell.get_attribute(ir::BoolAttr::Inline).is_some()
                    && of.is_some_and(|of| components.contains(&of))
            })
        };
        let holders = ctx.components.iter().filter(has_part);
        let holders: BTreeSet<ir::Id> = holders.map(|component| component.name).collect();
        if holders.is_subset(&components) {
            return components;
        }
        components.extend(holders);
    }
}

/// These components, and all that they run.
pub(crate) fn with_called(
    components: BTreeSet<ir::Id>,
    calls: &BTreeMap<ir::Id, BTreeSet<ir::Id>>,
) -> BTreeSet<ir::Id> {
    let mut all = BTreeSet::new();
    let mut next: Vec<ir::Id> = components.into_iter().collect();
    while let Some(name) = next.pop() {
        if all.insert(name) {
            next.extend(calls.get(&name).into_iter().flatten());
        }
    }
    all
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
    statements: Vec<(NodeKey, Statement)>,
    /// Components of cells that its statements run.
    calls: BTreeSet<ir::Id>,
    /// Those of them that may see when another arm of a `par` does something: it changes what they are handed, as a
    /// `ref` cell or as an input, or looks at what they change.
    racing: BTreeSet<ir::Id>,
    /// What each statement does that runs a component.
    runs: Vec<(ir::Id, Effects)>,
    /// Components of cells whose statements may be seen from outside before they are done, or have to take a certain time.
    timed: BTreeSet<ir::Id>,
    /// Arms of a `par` change what others look at, so that results depend on how long anything in the component takes:
    /// even on which parts of it the compiler makes static.
    races: bool,
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
            let races = |effects: &Effects| {
                let mut writes = effects.writes.iter();
                let mut reads = effects.reads.iter();
                writes.any(|cell| in_other_arm(&touching, cell))
                    || reads.any(|cell| in_other_arm(&writing, cell))
            };
            let sequences = found.sequences.iter_mut();
            for (_, effects) in sequences.flat_map(|steps| &mut steps.steps) {
                effects.timed |= races(effects);
            }
            let running = found.runs.iter().filter(|(_, effects)| races(effects));
            self.racing.extend(running.map(|(component, _)| *component));
        }
        for (found, _) in arms {
            self.add(found);
        }
    }

    fn add(&mut self, other: Self) {
        self.sequences.extend(other.sequences);
        self.statements.extend(other.statements);
        self.calls.extend(other.calls);
        self.racing.extend(other.racing);
        self.runs.extend(other.runs);
        self.timed.extend(other.timed);
        self.races |= other.races;
    }
}

/// Components of cells that something else than their `done` ends, or begins: what they do may be seen before they are done.
fn exposed(component: &ir::Component) -> BTreeSet<ir::Id> {
    let runs = |assignment: &ir::Assignment<ir::Nothing>| {
        let cell = cell_of(&assignment.dst)?;
        let is_go = assignment.dst.borrow().attributes.has(ir::NumAttr::Go);
        let cell = cell.borrow();
        (is_go && cell.is_component()).then(|| (cell.name(), cell.type_name()))
    };
    let mut exposed = BTreeSet::new();
    let continuous = component.continuous_assignments.iter().filter_map(runs);
    exposed.extend(continuous.filter_map(|(_, of)| of));
    for group in component.get_groups().iter() {
        let group = group.borrow();
        let ends: BTreeSet<ir::Id> = group
            .assignments
            .iter()
            .filter(|assignment| assignment.dst.borrow().is_hole())
            .flat_map(ports_read)
            .filter(|port| port.borrow().attributes.has(ir::NumAttr::Done))
            .filter_map(|port| name_of(&port))
            .collect();
        let run = group.assignments.iter().filter_map(runs);
        exposed.extend(run.filter_map(|(cell, of)| of.filter(|_| !ends.contains(&cell))));
    }
    exposed
}

/// An arm of a `par`.
struct Arm {
    /// What it does itself, without what is below it.
    own: Effects,
    all: Effects,
    /// That of an `if` without `else`.
    condition: Option<Condition>,
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
    /// Cells that one comb group drives and nothing else: whoever drives them, drives them alike.
    conditional: Cells,
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
            conditional: timing::conditional(component),
        }
    }

    /// The effects of a statement; `found` gets what is at or below it.
    fn statement(&self, view: View<'_>, found: &mut Found) -> Effects {
        let mut effects = Effects {
            timed: view.attributes().has(ir::NumAttr::Sync),
            ..Effects::default()
        };
        let is_par = matches!(view.kind(), ControlKind::Par | ControlKind::StaticPar);
        let mut steps = Vec::new();
        let mut arms = Vec::new();
        let mut children = Vec::new();
        for child in view.children() {
            let mut below = Found::default();
            let of_child = self.statement(child, &mut below);
            effects.add(&of_child);
            if let Some((key, _)) = child.identity() {
                steps.push((key, of_child.clone()));
            }
            if is_par {
                arms.push(self.arm(child, of_child.clone()));
            }
            children.push((below, of_child));
        }
        if is_par {
            found.add_arms(children);
            found.races |= self.race(&arms);
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
        let of_itself = self.effects(&self.uses(view));
        for cell in &of_itself.drives {
            let driven = self.component.find_cell(*cell);
            let driven = driven.filter(|cell| cell.borrow().is_component());
            if let Some(of) = driven.and_then(|cell| cell.borrow().type_name()) {
                found.calls.insert(of);
                found.runs.push((of, of_itself.clone()));
                // What it is given changes while it runs.
                let given = timing::given(self.component, view, *cell);
                if !self.with_aliases(&given).is_disjoint(&of_itself.writes) {
                    found.timed.insert(of);
                }
            }
        }
        if timing::is_promised_for(view) {
            let statements = found.statements.iter_mut();
            statements.for_each(|(_, statement)| statement.all.timed = true);
            found.timed.extend(&found.calls);
        }
        effects.add(&of_itself);
        if let Some((key, _)) = view.identity() {
            let all = effects.clone();
            let own = of_itself;
            found.statements.push((key, Statement { own, all }));
        }
        effects
    }

    /// What a statement names itself, with its groups.
    fn uses(&self, view: View<'_>) -> Uses {
        let mut uses = Uses::default();
        uses.control(view);
        if let Some(group) = view.group() {
            self.group(&group, &mut uses, &mut Cells::new());
        }
        if let Some(group) = view.comb_group() {
            uses.assignments(&group.borrow().assignments);
        }
        uses
    }

    fn arm(&self, view: View<'_>, all: Effects) -> Arm {
        Arm {
            own: self.effects(&self.uses(view)),
            condition: Condition::of(self.component, view),
            all,
        }
    }

    /// Whether what some arms of a `par` do depends on when others do something.
    fn race(&self, arms: &[Arm]) -> bool {
        let collide = |a: &Effects, b: &Effects| {
            let changes = |a: &Effects, b: &Effects| {
                let mut touched = b.reads.union(&b.writes);
                touched.any(|cell| a.writes.contains(cell))
                    || b.reads.intersection(&a.drives).next().is_some()
            };
            let mut both = a.drives.intersection(&b.drives);
            changes(a, b) || changes(b, a) || both.any(|cell| !self.conditional.contains(cell))
        };
        let mut touching: BTreeMap<ir::Id, BTreeSet<usize>> = BTreeMap::new();
        for (at, arm) in arms.iter().enumerate() {
            let Effects {
                reads,
                writes,
                drives,
                ..
            } = &arm.all;
            for &cell in reads.iter().chain(writes).chain(drives) {
                touching.entry(cell).or_default().insert(at);
            }
        }
        let mut pairs = BTreeSet::new();
        for arms in touching.values() {
            let others = |at: usize| arms.range(at + 1..).map(move |other| (at, *other));
            pairs.extend(arms.iter().flat_map(|at| others(*at)));
            if pairs.len() > MAX_PAIRS {
                return true;
            }
        }
        pairs.into_iter().any(|(a, b)| {
            let (a, b) = (&arms[a], &arms[b]);
            // Of branches that exclude one another, at most one does anything.
            if let (Some(first), Some(second)) = (&a.condition, &b.condition)
                && first.excludes(second)
            {
                return collide(&a.own, &b.all) || collide(&a.all, &b.own);
            }
            collide(&a.all, &b.all)
        })
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
