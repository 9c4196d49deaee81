//! What has to hold of a program for any rule to prove anything, whatever passes compile it.
//!
//! How a component is compiled depends on those that it runs: on which of them are static and which may be shared. So what does not
//! hold of a component leaves nothing proved of it, of what it runs, nor of what it becomes a part of. `docs/guide/advice/proofs.md` lists the premises.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{deciding_by_course, is_declared, with_called, with_inlining};
use petal_program::{Aliases, instances, kept};

use super::again::Again;
use super::ends::Ends;
use super::state::{Outputs, is_steady};
use super::{declared, driven, misread, promises, settled, unread};

/// The premises that do not hold.
pub(super) struct Premises {
    /// One that does not hold of the program.
    everywhere: Option<&'static str>,
    /// One that does not hold of a component.
    components: BTreeMap<ir::Id, &'static str>,
    /// The components of which an edit may let two loops run at once, if it makes the last group static.
    loops: BTreeSet<ir::Id>,
}

impl Premises {
    pub fn of(
        ctx: &ir::Context,
        handed_over: &BTreeSet<(ir::Id, ir::Id)>,
        outputs: &Outputs,
        (again, ends): (&Again, &Ends),
        (aliases, is_apart): (&Aliases, bool),
    ) -> Self {
        let everywhere = if declared::has_others(ctx) {
            Some("the program has a primitive that is not declared as in the standard library")
        } else if declared::names_itself(ctx) {
            Some("a cell of the program has the name by which Calyx knows the component itself")
        } else if promises::may_be_untrue(ctx, handed_over) {
            Some(
                "the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that",
            )
        } else if settled::is_unsettled(ctx, aliases) {
            Some("some group of the program may be done before all that it writes is written")
        } else {
            None
        };
        let calls: BTreeMap<ir::Id, BTreeSet<ir::Id>> = ctx
            .components
            .iter()
            .map(|component| {
                let cells = component.cells.iter();
                let cells = cells.filter(|cell| cell.borrow().is_component());
                let of = cells.filter_map(|cell| cell.borrow().type_name());
                (component.name, of.collect())
            })
            .collect();
        let unsteady = ctx.components.iter();
        let unsteady = unsteady.filter(|component| !is_steady(component, handed_over, outputs));
        let found = [
            (
                unsteady.map(|component| component.name).collect(),
                "a condition may change with what runs while it is looked at",
            ),
            (
                driven::undriven(ctx, outputs),
                "something may be read that nothing drives then, and what that gives depends on how it is compiled",
            ),
            (again.stopping(ctx, ends), super::again::DOUBT),
            (
                ends.watched(ctx),
                "wires hand what a component gives while it runs to what may stop, such as a memory as an address",
            ),
            (
                unread::components(ctx),
                "a memory may get an address out of bounds, and the compiler may take it away, since nobody needs what is read there",
            ),
            (
                misread::loops_alone(ctx),
                "all control of a component is one loop, and the compiler may take that for done before it is started",
            ),
            (
                misread::components(ctx, is_apart),
                "a group runs another one, or may not write what it gives a value to, and the compiler misreads what of that is needed when",
            ),
        ];
        let shared = || {
            [
                (
                    kept::keeping(ctx),
                    "a component may read what an earlier run of it left in a cell, and the compiler may lose that",
                ),
                (
                    instances::confused(ctx),
                    "a component of which there are several cells keeps something from one run to the next, and the compiler may make one of them",
                ),
                (
                    deciding_by_course(ctx),
                    "a group decides by the `done` of a register that the compiler may make one with another",
                ),
                (
                    handing(ctx, handed_over),
                    "an invoke hands over a cell that the compiler may make one with another, since it does not see that the invoke uses it",
                ),
            ]
        };
        let shared = (!is_apart).then(shared).into_iter().flatten();
        let mut components = BTreeMap::new();
        for (names, doubt) in found.into_iter().chain(shared) {
            for name in with_called(with_inlining(names, ctx), &calls) {
                components.entry(name).or_insert(doubt);
            }
        }
        Self {
            everywhere,
            components,
            loops: misread::loops::at_once_if_static(ctx, &calls),
        }
    }

    /// Why no edit of a component is proved, if so.
    pub fn doubt_of_edits(&self, component: ir::Id) -> Option<&'static str> {
        let at_once = self.loops.contains(&component);
        self.doubt(component)
            .or(at_once.then_some(super::LOOPS_AT_ONCE))
    }

    /// Why nothing is proved of a component, if so.
    pub fn doubt(&self, component: ir::Id) -> Option<&'static str> {
        let own = self.components.get(&component).copied();
        self.everywhere.or(own)
    }
}

/// The components that hand over cells which `cell-share` may make one: all but memories and others that are never shared.
fn handing(ctx: &ir::Context, handed_over: &BTreeSet<(ir::Id, ir::Id)>) -> BTreeSet<ir::Id> {
    let is_shared = |cell: &ir::Cell| match &cell.prototype {
        ir::CellType::Primitive { name, .. } => {
            let ways = [ir::BoolAttr::Share, ir::BoolAttr::StateShare];
            ways.into_iter().any(|way| is_declared(ctx, *name, way))
        }
        ir::CellType::Component { .. } => true,
        ir::CellType::ThisComponent | ir::CellType::Constant { .. } => false,
    };
    let handing = ctx.components.iter().filter(|component| {
        let cells = component.cells.iter();
        cells
            .map(|cell| cell.borrow())
            .any(|cell| handed_over.contains(&(component.name, cell.name())) && is_shared(&cell))
    });
    handing.map(|component| component.name).collect()
}
