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
//! - `ref` cells may be the same cell if some call may hand over one for both (`aliases`);
//! - a statement that reads state which continuous assignments drive, that has an `@sync`, or that shares what is written with
//!   another arm of a `par` around it, depends on all others, since it may depend on *when* it runs. `timing` has the rest of that.
//!
//! Independent statements that drive the same cell, or cells to which the compiler gave the same hardware, contend for it.

mod effects;
mod stale;
mod statements;
mod steps;
mod timing;
mod uses;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use petal_metadata::{ControlId, Sequence};

use self::statements::{Analysis, Found, Statement};
use self::steps::Steps;
use crate::aliases::Aliases;
use crate::tree::{NodeKey, View};
pub use effects::{Cells, Effects};
pub use stale::{deciding_by_course, drivers};
pub use timing::{is_promised, is_promised_for};
use uses::name_of;
pub use uses::{cell_of, constant, is_combinational, is_declared, ports_of, ports_read, primitive};

/// The sequences of a component, and what each of its statements does.
#[derive(Debug, Clone, Default)]
pub struct Dependences {
    sequences: Vec<Steps>,
    statements: HashMap<NodeKey, Statement>,
    timed: bool,
    common: Cells,
}

impl Dependences {
    /// Of all components of a program whose control nodes have their identities, as it is written.
    pub fn of_all(ctx: &ir::Context, aliases: &Aliases) -> HashMap<ir::Id, Self> {
        let mut all = HashMap::new();
        let (mut racing, mut timed) = (BTreeSet::new(), BTreeSet::new());
        let mut calls: BTreeMap<ir::Id, BTreeSet<ir::Id>> = BTreeMap::new();
        for component in &ctx.components {
            let mut found = Found::default();
            let analysis = Analysis::of(component, aliases);
            analysis.statement(View::of(&component.control.borrow()), &mut found);
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
                common: found.common,
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

    /// The logic that groups in several arms of a `par` drive alike: nothing may change that in one of them alone.
    pub fn common(&self) -> &Cells {
        &self.common
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
pub fn with_inlining(mut components: BTreeSet<ir::Id>, ctx: &ir::Context) -> BTreeSet<ir::Id> {
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
pub fn with_called(
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
