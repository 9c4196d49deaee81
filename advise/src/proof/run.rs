//! Runs a piece of a program with values that nobody knows, cycle by cycle.
//!
//! What it starts with are terms; so is what registers and memories hold at its end. Owns what statements do. Each group begins with no
//! `done` high and nothing running, as the premises of proofs say, unless a static one ended at that moment. Loops that run so many times whatever
//! the values are run so many times. What takes a time that depends on values is not followed.

mod cycle;
mod times;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::{cell_of, ports_of, ports_read};
use petal_program::tree::{GroupRef, View};

use self::cycle::Now;
pub(super) use self::cycle::is_followed;
pub(crate) use self::times::times;
use super::terms::{Term, Terms};
use crate::rewrites::{Flow, key};

/// Why a piece is not followed: a clause.
pub(super) type Unfollowed = String;

pub(crate) type Assignment = ir::Assignment<ir::StaticTiming>;

/// A dynamic group that takes longer is not followed.
const MOST_CYCLES: u64 = 64;

/// A loop or static group that takes longer is not followed, unless more is asked for.
const MOST_IN_LOOPS: u64 = 10_000;

/// To look through so many words that were written to a memory takes as long as a cycle.
const WORDS_IN_CYCLE: u64 = 64;

const TOO_LONG: &str = "it takes longer than it is followed";

/// What a cell is about.
#[derive(Clone)]
pub(super) struct State {
    /// The value of a register, or the words of a memory.
    pub held: Option<Term>,
    /// What it gives: what a memory has read, or what something of several cycles has computed.
    pub given: BTreeMap<ir::Id, Term>,
    done: Term,
    /// What something of several cycles was started with, a cycle ago.
    begun: Option<Vec<Term>>,
    /// The products on their way through a pipelined multiplier, the next one first.
    on_its_way: Vec<Term>,
}

/// The state of a component.
pub(super) type Cells = BTreeMap<ir::Id, State>;

/// A component, with continuous assignments.
pub(super) struct Machine<'a> {
    component: &'a ir::Component,
    wires: HashMap<(ir::Id, ir::Id), Vec<Assignment>>,
    flow: Flow,
}

/// What a run has read and written.
#[derive(Default)]
struct Touched {
    read: BTreeSet<ir::Id>,
    written: BTreeSet<ir::Id>,
}

/// A run of a piece.
pub(super) struct Run<'a> {
    machine: &'a Machine<'a>,
    terms: &'a mut Terms,
    pub cells: Cells,
    touched: Touched,
    /// Whether all has to be followed.
    pub is_whole: bool,
    /// The cells that matter, if not all do.
    only: Option<&'a BTreeSet<ir::Id>>,
    /// How many cycles of a loop or static group are followed at most.
    pub most: u64,
    /// Whether loops are left as if nobody could follow them.
    leaves_loops: bool,
    /// The cycles that are left to the loop that runs, if one does.
    left: Option<u64>,
    /// Whether what runs next begins when the static group before it ends.
    goes_on: bool,
    /// Why the first statement that is not followed is not.
    pub unfollowed: Option<Unfollowed>,
}

impl<'a> Machine<'a> {
    pub fn of(component: &'a ir::Component) -> Self {
        let mut wires: HashMap<_, Vec<Assignment>> = HashMap::new();
        for of in with_timing(&component.continuous_assignments) {
            wires.entry(key(&of.dst)).or_default().push(of);
        }
        let mut flow = Flow::default();
        flow.add(&component.continuous_assignments, |_| true);
        Self {
            component,
            wires,
            flow,
        }
    }

    /// A run from a state in which nobody knows anything.
    pub fn run<'b>(&'b self, terms: &'b mut Terms) -> Run<'b> {
        Run {
            machine: self,
            terms,
            cells: Cells::default(),
            touched: Touched::default(),
            is_whole: false,
            only: None,
            most: MOST_IN_LOOPS,
            leaves_loops: false,
            left: None,
            goes_on: false,
            unfollowed: None,
        }
    }
}

/// The cells that a statement drives, with all that is below it.
fn driven(view: View<'_>) -> BTreeSet<ir::Id> {
    let mut cells = BTreeSet::new();
    view.walk(&mut |view| {
        let of_group = view.group().map(|group| group.driven());
        cells.extend(of_group.into_iter().flatten().flatten());
        cells.extend(view.invoked().map(|cell| cell.borrow().name()));
        cells.extend(view.handed_over().into_iter().map(|(_, cell)| cell));
        let (_, driven) = ports_of(view);
        cells.extend(driven.iter().map(|port| port.borrow().get_parent_name()));
    });
    cells
}

/// The cells that a statement looks at or drives, with all that is below it.
fn used(view: View<'_>) -> BTreeSet<ir::Id> {
    let mut cells = driven(view);
    view.walk(&mut |view| cells.extend(looked_at(view)));
    cells
}

/// The cells that a statement looks at, without what is below it.
fn looked_at(view: View<'_>) -> Vec<ir::Id> {
    let own = view.group().map(|group| assignments(&group));
    let comb = view.comb_group();
    let comb = comb.map(|comb| with_timing(&comb.borrow().assignments));
    let of_groups = own.iter().chain(&comb).flatten().flat_map(ports_read);
    let read = of_groups.chain(ports_of(view).0);
    read.filter_map(|port| Some(cell_of(&port)?.borrow().name()))
        .collect()
}

/// Assignments as those of a static group.
pub(super) fn with_timing(assignments: &[ir::Assignment<ir::Nothing>]) -> Vec<Assignment> {
    assignments.iter().map(|of| of.clone().into()).collect()
}

/// Those of a group, static or not.
pub(crate) fn assignments(group: &GroupRef) -> Vec<Assignment> {
    match group {
        GroupRef::Dynamic(group) => with_timing(&group.borrow().assignments),
        GroupRef::Static(group) => group.borrow().assignments.clone(),
    }
}

impl Run<'_> {
    /// Runs statements one after the other.
    pub fn statements(&mut self, views: &[View<'_>]) -> Result<(), Unfollowed> {
        views.iter().try_for_each(|view| {
            self.goes_on = false;
            self.statement(*view)
        })
    }

    /// Runs what stands before a piece, but for its loops.
    pub fn after(&mut self, views: &[View<'_>]) {
        self.leaves_loops = true;
        for view in views {
            let before = self.cells.clone();
            if self.statements(&[*view]).is_err() {
                self.cells = before;
                self.leave(*view);
            }
        }
        self.leaves_loops = false;
        self.unfollowed = None;
    }

    /// Runs a statement. One that is not followed may leave anything, but the same wherever it starts with the same.
    fn statement(&mut self, view: View<'_>) -> Result<(), Unfollowed> {
        let cells = self.only;
        if cells.is_some_and(|cells| driven(view).is_disjoint(cells)) {
            self.goes_on = false;
            return Ok(());
        }
        let is_list = matches!(
            view.kind(),
            ControlKind::Seq | ControlKind::StaticSeq | ControlKind::Par | ControlKind::StaticPar
        );
        if is_list || self.is_whole {
            return self.followed(view);
        }
        let before = self.cells.clone();
        if let Err(why) = self.followed(view) {
            self.cells = before;
            self.unfollowed.get_or_insert(why);
            self.leave(view);
        }
        Ok(())
    }

    /// Leaves in all that a statement drives what nobody knows, of all that it uses.
    pub fn leave(&mut self, view: View<'_>) {
        let text = super::shape::whole(self.machine.component, view);
        let used = self.machine.flow.sources(used(view));
        let mut held = Vec::new();
        let mut states = BTreeMap::new();
        let cells = self.machine.component.cells.iter();
        let cells = cells.filter(|cell| used.contains(&cell.borrow().name()));
        let mut cells: Vec<_> = cells.collect();
        cells.sort_by_key(|cell| cell.borrow().name().to_string());
        for cell in cells {
            let is_kept = match cell.borrow().prototype {
                ir::CellType::Primitive { is_comb, .. } => !is_comb,
                ir::CellType::Component { .. } => true,
                ir::CellType::ThisComponent | ir::CellType::Constant { .. } => false,
            };
            if is_kept {
                let (name, state) = (cell.borrow().name(), self.state(cell));
                held.extend(state.held);
                held.extend(state.given.values());
                states.insert(name, state);
            }
        }
        let all = self.terms.all(held);
        let driven = driven(view);
        self.touched.read.extend(states.keys());
        for (name, mut state) in states {
            if !driven.contains(&name) {
                continue;
            }
            if let Some(held) = &mut state.held {
                let width = self.terms.width(*held);
                *held = self.terms.left((&text, name.as_ref()), all, width);
            }
            for (port, given) in &mut state.given {
                let what = format!("{name}.{port}");
                let width = self.terms.width(*given);
                *given = self.terms.left((&text, &what), all, width);
            }
            self.touched.written.insert(name);
            self.cells.insert(name, state);
        }
    }

    fn followed(&mut self, view: View<'_>) -> Result<(), Unfollowed> {
        match view.kind() {
            ControlKind::Empty => Ok(()),
            ControlKind::Seq => self.statements(&view.children()),
            ControlKind::StaticSeq => {
                let mut steps = view.children().into_iter();
                steps.try_for_each(|view| self.statement(view))
            }
            ControlKind::Par | ControlKind::StaticPar => self.arms(&view.children()),
            ControlKind::If | ControlKind::StaticIf => self.branches(view),
            ControlKind::Enable | ControlKind::StaticEnable => {
                let group = view.group().ok_or("an enable has no group")?;
                self.groups(&[group])
            }
            ControlKind::While | ControlKind::Repeat | ControlKind::StaticRepeat => {
                if self.leaves_loops {
                    return Err("there is a loop in it".to_owned());
                }
                let (outer, is_whole) = (self.left, std::mem::replace(&mut self.is_whole, true));
                self.left.get_or_insert(self.most);
                let runs = self.rounds(view);
                (self.is_whole, self.goes_on) = (is_whole, self.goes_on && runs.is_ok());
                if outer.is_none() {
                    self.left = None;
                }
                runs
            }
            ControlKind::Invoke | ControlKind::StaticInvoke => {
                Err("something is invoked in it".to_owned())
            }
        }
    }

    /// Runs a loop, as often as it runs whatever the values are.
    fn rounds(&mut self, view: View<'_>) -> Result<(), Unfollowed> {
        let children = view.children();
        let body = *children.first().ok_or("a loop has no body")?;
        let mut rounds = 0;
        loop {
            let goes_on = match view.kind() {
                ControlKind::While => {
                    let condition = self.condition(view)?;
                    let value = self.terms.value(condition);
                    value.ok_or("how often its loop runs depends on values")? == 1
                }
                _ => view.repeats().is_some_and(|all| rounds < all),
            };
            if !goes_on {
                return Ok(());
            }
            if rounds == self.most {
                return Err(TOO_LONG.to_owned());
            }
            rounds += 1;
            self.goes_on &= view.kind() == ControlKind::StaticRepeat;
            self.statement(body)?;
        }
    }

    /// What a condition gives.
    fn condition(&mut self, view: View<'_>) -> Result<Term, Unfollowed> {
        match &*self.read(view)? {
            [condition] => Ok(*condition),
            _ => Err("it has no condition".to_owned()),
        }
    }

    /// What a statement reads, its groups apart.
    pub fn read(&mut self, view: View<'_>) -> Result<Vec<Term>, Unfollowed> {
        let comb = view.comb_group();
        let own = comb.map_or_else(Vec::new, |comb| with_timing(&comb.borrow().assignments));
        let mut now = Now::of(&own, 0);
        let read = ports_of(view).0;
        read.iter().map(|port| self.port(port, &mut now)).collect()
    }

    /// What wires hand to a port.
    pub fn end(&mut self, port: &ir::RRC<ir::Port>) -> Result<Vec<Term>, Unfollowed> {
        let width = port.borrow().width;
        let given = self.driven(key(port), width, false, &mut Now::of(&[], 0))?;
        Ok(vec![given])
    }

    fn branches(&mut self, view: View<'_>) -> Result<(), Unfollowed> {
        let condition = self.condition(view)?;
        let before = self.cells.clone();
        let mut after = Vec::new();
        for branch in view.children() {
            self.cells = before.clone();
            self.goes_on = false;
            self.statement(branch)?;
            after.push(std::mem::take(&mut self.cells));
        }
        let otherwise = after.pop().unwrap_or_default();
        let then = after.pop().unwrap_or_default();
        self.cells = before;
        self.goes_on = false;
        self.choose(condition, &then, &otherwise)
    }

    /// Takes one of two states.
    fn choose(
        &mut self,
        condition: Term,
        then: &Cells,
        otherwise: &Cells,
    ) -> Result<(), Unfollowed> {
        let names: BTreeSet<ir::Id> = then.keys().chain(otherwise.keys()).copied().collect();
        for name in names {
            let cell = self.cell(name)?;
            let start = self.start(&cell);
            let [one, other] = [then, otherwise].map(|cells| cells.get(&name).unwrap_or(&start));
            let mut merged = one.clone();
            merged.held = match (one.held, other.held) {
                (Some(one), Some(other)) => Some(self.terms.choice(condition, one, other)),
                _ => None,
            };
            for (port, given) in &mut merged.given {
                *given = self.terms.choice(condition, *given, other.given[port]);
            }
            self.cells.insert(name, merged);
        }
        Ok(())
    }

    /// Runs `if`s without `else` of which at most one is taken; `false` if they are no such.
    fn exclusive(&mut self, views: &[View<'_>]) -> Result<bool, Unfollowed> {
        let mut taken = Vec::new();
        for view in views {
            let [then, otherwise] = &*view.children() else {
                return Ok(false);
            };
            if otherwise.kind() != ControlKind::Empty {
                return Ok(false);
            }
            let condition = self.condition(*view)?;
            for (other, _) in &taken {
                let both = self.terms.and(condition, *other);
                if self.terms.value(both) != Some(0) {
                    return Ok(false);
                }
            }
            taken.push((condition, *then));
        }
        let before = self.cells.clone();
        for (condition, then) in taken.into_iter().rev() {
            let otherwise = std::mem::replace(&mut self.cells, before.clone());
            self.goes_on = false;
            self.statement(then)?;
            let then = std::mem::take(&mut self.cells);
            self.choose(condition, &then, &otherwise)?;
        }
        Ok(true)
    }

    /// Runs arms: at once if each takes one cycle, by their conditions if at most one is taken, or else one after the other if they have
    /// nothing to do with one another.
    fn arms(&mut self, views: &[View<'_>]) -> Result<(), Unfollowed> {
        self.goes_on = false;
        let arms = self.each_arm(views);
        self.goes_on = false;
        arms
    }

    fn each_arm(&mut self, views: &[View<'_>]) -> Result<(), Unfollowed> {
        let groups: Option<Vec<GroupRef>> = views.iter().map(|view| view.group()).collect();
        if let Some(groups) = groups {
            let (cells, touched) = (self.cells.clone(), std::mem::take(&mut self.touched));
            let at_once = self.groups(&groups);
            let of_them = std::mem::replace(&mut self.touched, touched);
            if at_once.is_ok() {
                self.touched.read.extend(of_them.read);
                self.touched.written.extend(of_them.written);
                return Ok(());
            }
            self.cells = cells;
        }
        if self.exclusive(views)? {
            return Ok(());
        }
        let outer = std::mem::take(&mut self.touched);
        let mut all: Vec<Touched> = Vec::new();
        for view in views {
            self.goes_on = false;
            self.statement(*view)?;
            let touched = std::mem::take(&mut self.touched);
            let meets = |other: &Touched| {
                !touched.written.is_disjoint(&other.written)
                    || !touched.written.is_disjoint(&other.read)
                    || !touched.read.is_disjoint(&other.written)
            };
            if all.iter().any(meets) {
                return Err("arms of a `par` have to do with the same cells".to_owned());
            }
            all.push(touched);
        }
        self.touched = outer;
        for touched in all {
            self.touched.read.extend(touched.read);
            self.touched.written.extend(touched.written);
        }
        Ok(())
    }

    /// Runs a group, or several that take a cycle each at once.
    fn groups(&mut self, groups: &[GroupRef]) -> Result<(), Unfollowed> {
        if !std::mem::take(&mut self.goes_on) {
            self.rest();
        }
        let own: Vec<Assignment> = groups.iter().flat_map(assignments).collect();
        let is_static = matches!(groups, [GroupRef::Static(_)]);
        let mut left = self.left.unwrap_or(self.most);
        let mut cycle = 0;
        loop {
            let mut now = Now::of(&own, cycle);
            let done: Vec<bool> = groups
                .iter()
                .map(|group| self.is_done(group, &mut now))
                .collect::<Result<_, _>>()?;
            if done.iter().all(|done| *done) {
                self.goes_on = is_static;
                return Ok(());
            }
            let is_long = !is_static && cycle == MOST_CYCLES;
            if is_long || done.contains(&true) || cycle == 1 && groups.len() > 1 {
                return Err("groups run at once that take several cycles".to_owned());
            }
            let words = std::mem::take(&mut self.terms.passed);
            left = left
                .checked_sub(1 + words / WORDS_IN_CYCLE)
                .ok_or(TOO_LONG)?;
            self.left = self.left.map(|_| left);
            self.step(&mut now)?;
            cycle += 1;
        }
    }

    /// Some cycles in which nothing runs.
    fn rest(&mut self) {
        let low = self.terms.bit(false);
        for state in self.cells.values_mut() {
            state.done = low;
            state.begun = None;
            let given = state.given.values_mut();
            if let Some(first) = state.on_its_way.first() {
                let width = self.terms.width(*first);
                let all = state.on_its_way.iter_mut().chain(given);
                all.for_each(|product| *product = self.terms.unknown(width));
            }
        }
    }

    fn is_done(&mut self, group: &GroupRef, now: &mut Now<'_>) -> Result<bool, Unfollowed> {
        if let GroupRef::Static(group) = group {
            return Ok(now.cycle == group.borrow().latency);
        }
        let done = self.driven((group.name(), "done".into()), 1, false, now)?;
        let done = self
            .terms
            .value(done)
            .filter(|_| now.cycle > 0 || self.terms.value(done) == Some(0));
        match done {
            Some(done) => Ok(done == 1),
            None => Err(format!(
                "how long `{}` takes depends on values",
                group.name()
            )),
        }
    }
}
