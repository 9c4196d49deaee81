//! Steps of a loop that drive the same logic: each but the first gets logic of its own, so that they may run at once.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{Cells, cell_of, is_combinational};

use super::new::New;
use super::{Loop, Scope};
use crate::proof::Assignment;
use crate::rewrites::flow::Flow;
use crate::rewrites::state::port_of;

impl Scope<'_> {
    /// The loop of which no two steps drive the same logic; `None` if that is so as it is, or wires look at such logic or drive it.
    pub(super) fn with_own_logic<'a>(&self, of: &Loop<'a>) -> Option<Loop<'a>> {
        let mut of = of.clone();
        let mut taken = BTreeSet::new();
        let mut driven = Cells::new();
        for step in &mut of.steps {
            let own = step.effects.drives.clone();
            let shared = own.iter().filter(|cell| driven.contains(*cell));
            let mut copies: BTreeMap<ir::Id, New> = BTreeMap::new();
            for name in shared {
                let cell = self.component.find_cell(*name)?;
                if !is_combinational(&cell) {
                    continue;
                }
                (!self.is_wired(*name)).then_some(())?;
                let ports: Vec<ir::Id> = cell
                    .borrow()
                    .ports
                    .iter()
                    .map(|port| port.borrow().name)
                    .collect();
                let ports = || ports.iter().map(AsRef::as_ref);
                let numbered =
                    (2..).map(|number| self.free_name(&format!("{name}_{number}"), ports()));
                let copy = numbered
                    .into_iter()
                    .find(|name| taken.insert(name.clone()))?;
                copies.insert(*name, New::like(copy, &cell)?);
            }
            let mut moved = ir::Rewriter::default();
            for (name, copy) in &copies {
                step.effects.drives.remove(name);
                step.effects.drives.insert(copy.name());
                for port in &copy.cell.borrow().ports {
                    let from = ir::Canonical::new(*name, port.borrow().name);
                    moved.port_map.insert(from, port.clone());
                }
            }
            step.assignments
                .iter_mut()
                .for_each(|to| moved.rewrite_assign(to));
            of.new.extend(copies.into_values());
            driven.extend(own);
        }
        (!of.new.is_empty()).then_some(of)
    }

    /// Whether logic would get something of what it gives if all of these steps drove theirs at once: the compiler does not look at when they do.
    pub(super) fn is_circular<'a>(
        &self,
        steps: impl IntoIterator<Item = &'a [Assignment]>,
    ) -> bool {
        let mut logic = Logic::default();
        logic.add(&self.component.continuous_assignments);
        for own in steps {
            logic.add(own);
        }
        let mut cells = logic.cells.iter();
        cells.any(|cell| logic.flow.behind([*cell]).contains(cell))
    }

    /// Whether wires look at what a cell gives, or drive it.
    fn is_wired(&self, cell: ir::Id) -> bool {
        let mut wires = self.component.continuous_assignments.iter();
        let is_driven = wires.any(|to| port_of(&to.dst).is_some_and(|(of, _)| of == cell));
        is_driven || self.is_read_by_wires(cell)
    }
}

/// What logic, and what memories give at once, comes from.
#[derive(Default)]
struct Logic {
    flow: Flow,
    cells: Cells,
}

impl Logic {
    fn add<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for to in assignments {
            let chooses = to.dst.borrow().name.as_ref().starts_with("addr");
            if let Some(cell) = cell_of(&to.dst).filter(|of| chooses || is_combinational(of)) {
                self.flow.add(std::slice::from_ref(to), |_| true);
                self.cells.insert(cell.borrow().name());
            }
        }
    }
}
