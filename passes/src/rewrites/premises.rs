//! What has to hold of a program for any rule to prove anything, whatever passes compile it.
//!
//! How a component is compiled depends on those that it runs: on which of them are static and which may be shared. So what does not
//! hold of a component leaves nothing proved of it, nor of what it runs. `docs/guide/advice/proofs.md` lists the premises.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use super::again::Again;
use super::ends::Ends;
use super::state::{Outputs, is_steady};
use super::{declared, driven, instances, kept, settled};
use crate::dependences::with_called;

/// The premises that do not hold.
pub(super) struct Premises {
    /// One that does not hold of the program.
    everywhere: Option<&'static str>,
    /// One that does not hold of a component.
    components: BTreeMap<ir::Id, &'static str>,
}

impl Premises {
    pub fn of(
        ctx: &ir::Context,
        handed_over: &BTreeSet<(ir::Id, ir::Id)>,
        outputs: &Outputs,
        (again, ends): (&Again, &Ends),
    ) -> Self {
        let everywhere = if declared::has_others(ctx) {
            Some("the program has a primitive that is not declared as in the standard library")
        } else if settled::is_unsettled(ctx) {
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
            (
                kept::keeping(ctx),
                "a component may read what an earlier run of it left in a cell, and the compiler may lose that",
            ),
            (
                instances::confused(ctx),
                "a component of which there are several cells keeps something from one run to the next, and the compiler may make one of them",
            ),
            (again.stopping(ctx, ends), super::again::DOUBT),
        ];
        let mut components = BTreeMap::new();
        for (names, doubt) in found {
            for name in with_called(names, &calls) {
                components.entry(name).or_insert(doubt);
            }
        }
        Self {
            everywhere,
            components,
        }
    }

    /// Why nothing is proved of a component, if so.
    pub fn doubt(&self, component: ir::Id) -> Option<&'static str> {
        let own = self.components.get(&component).copied();
        self.everywhere.or(own)
    }
}
