//! What each statement of a component does, with all that is below it.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_metadata::ControlKind;

use super::effects::{Cells, Effects};
use super::steps::{MAX_STEPS, Steps};
use super::timing;
use super::uses::{Uses, cell_of, is_combinational, name_of, ports_read};
use crate::aliases::Aliases;
use crate::exclusion::Condition;
use crate::latency::takes_one_cycle;
use crate::tree::{GroupRef, NodeKey, View};

/// Where more pairs of arms of a `par` touch the same cells, they count as racing.
const MAX_PAIRS: usize = 20_000;

/// What a statement does: itself, with its groups, and together with all that is below it.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub own: Effects,
    pub all: Effects,
}

/// What is found in the control program of a component.
#[derive(Default)]
pub(super) struct Found {
    pub sequences: Vec<Steps>,
    pub statements: Vec<(NodeKey, Statement)>,
    /// Components of cells that its statements run.
    pub calls: BTreeSet<ir::Id>,
    /// Those of them that may see when another arm of a `par` does something: it changes what they are handed, as a
    /// `ref` cell or as an input, or looks at what they change.
    pub racing: BTreeSet<ir::Id>,
    /// What each statement does that runs a component.
    runs: Vec<(ir::Id, Effects)>,
    /// Components of cells whose statements may be seen from outside before they are done, or have to take a certain time.
    pub timed: BTreeSet<ir::Id>,
    /// Arms of a `par` change what others look at, so that results depend on how long anything in the component takes:
    /// even on which parts of it the compiler makes static.
    pub races: bool,
    /// Logic that several groups drive alike, in arms that run at once.
    pub common: Cells,
}

impl Found {
    /// Takes in what was found in the arms of a `par`, with the effects of each. Two of which at most one does anything are not at work at once.
    fn add_arms(&mut self, mut arms: Vec<(Self, Effects)>, of: &[Arm]) {
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
                arms.is_some_and(|arms| {
                    let mut others = arms.iter().filter(|&&arm| arm != at);
                    others.any(|&arm| !of[arm].excludes(&of[at]))
                })
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
        self.common.extend(other.common);
    }
}

/// An arm of a `par`.
struct Arm {
    /// What it does itself, without what is below it.
    own: Effects,
    all: Effects,
    /// Whether it is a group that takes one cycle: the first one of the `par`, which all arms have in common.
    is_short: bool,
    /// That of an `if` without `else`.
    condition: Option<Condition>,
}

impl Arm {
    /// Whether at most one of them does anything, as long as nothing writes what their conditions read.
    fn excludes(&self, other: &Self) -> bool {
        let both = self.condition.as_ref().zip(other.condition.as_ref());
        both.is_some_and(|(first, second)| first.excludes(second))
    }
}

/// What is needed to tell the effects of the statements of a component.
pub(super) struct Analysis<'a> {
    component: &'a ir::Component,
    /// Cell → cells that continuous assignments hand to it, directly or not.
    sources: BTreeMap<ir::Id, Cells>,
    /// State that continuous assignments drive.
    driven: Cells,
    aliases: &'a Aliases,
    /// Cells that whoever drives them, drives alike, and how many groups do.
    alike: BTreeMap<ir::Id, usize>,
}

impl<'a> Analysis<'a> {
    pub fn of(component: &'a ir::Component, aliases: &'a Aliases) -> Self {
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
        Self {
            component,
            sources,
            driven,
            aliases,
            alike: timing::driven_alike(component),
        }
    }

    /// The effects of a statement; `found` gets what is at or below it.
    pub fn statement(&self, view: View<'_>, found: &mut Found) -> Effects {
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
            found.add_arms(children, &arms);
            found.races |= self.race(&arms);
            found.common.extend(self.common(&arms));
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
            is_short: view.group().is_some_and(|group| match group {
                GroupRef::Dynamic(group) => takes_one_cycle(&group.borrow()),
                GroupRef::Static(group) => group.borrow().latency == 1,
            }),
            condition: Condition::of(self.component, view),
            all,
        }
    }

    /// Whether what some arms of a `par` do depends on when others do something.
    fn race(&self, arms: &[Arm]) -> bool {
        let wired = |a: &Effects, b: &Effects| {
            let mut given = b.reads.intersection(&a.drives);
            given.any(|cell| !a.writes.contains(cell))
        };
        let drive = |a: &Effects, b: &Effects| {
            let mut both = a.drives.intersection(&b.drives);
            both.any(|cell| !self.alike.contains_key(cell))
        };
        let collide = |a: &Effects, b: &Effects| {
            let changes = |a: &Effects, b: &Effects| {
                let mut touched = b.reads.union(&b.writes);
                touched.any(|cell| a.writes.contains(cell)) || wired(a, b)
            };
            changes(a, b) || changes(b, a) || drive(a, b)
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
            if a.excludes(b) {
                return collide(&a.own, &b.all) || collide(&a.all, &b.own);
            }
            if a.is_short && b.is_short {
                // Each sees what was there before.
                return !a.all.writes.is_disjoint(&b.all.writes)
                    || wired(&a.all, &b.all)
                    || wired(&b.all, &a.all)
                    || drive(&a.all, &b.all);
            }
            collide(&a.all, &b.all)
        })
    }

    /// The logic that several groups drive alike, where more than one of these arms drive it.
    fn common(&self, arms: &[Arm]) -> Cells {
        let (mut once, mut common) = (Cells::new(), Cells::new());
        for arm in arms {
            let several = |cell: &&ir::Id| self.alike.get(cell).is_some_and(|groups| *groups > 1);
            for cell in arm.all.drives.iter().filter(several) {
                if !once.insert(*cell) {
                    common.insert(*cell);
                }
            }
        }
        common
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
        let own = self.component.name;
        let cells_of = |cell: &ir::Id| self.aliases.may_be(own, *cell);
        let aliases = cells.iter().filter_map(cells_of);
        aliases.flatten().chain(cells).copied().collect()
    }
}
