//! Calls: what the assignments of a group, or the continuous ones, call, and the CG, CC and CP probes
//! that are high while they do (paper, section 5.2).

use calyx_ir as ir;
use petal_metadata::ProbeKind;
use petal_program::tree::called_group;

use super::Instrumenter;
use super::cells::add_probe;
use crate::probes::{CallProbe, CalleeName};
use crate::references::{RefPort, References};

impl Instrumenter<'_> {
    /// The assignments that drive the call probes of `assignments`.
    pub fn instrument_calls<T: Clone + Eq>(
        &mut self,
        caller: Option<usize>,
        assignments: &[ir::Assignment<T>],
    ) -> Vec<ir::Assignment<T>> {
        let mut callees: Vec<(CalleeName, Activation<T>)> = Vec::new();
        for assignment in assignments {
            let Some((callee, go_driven)) = self.callee(assignment, caller.is_some()) else {
                continue;
            };
            let trigger = match callees.iter_mut().find(|(other, _)| *other == callee) {
                Some((_, trigger)) => trigger,
                None => {
                    callees.push((callee, Activation::default()));
                    &mut callees.last_mut().expect("one was just pushed").1
                }
            };
            if go_driven {
                trigger.add(Some(&assignment.src), &assignment.guard);
            } else {
                trigger.add(None, &assignment.guard);
            }
        }
        let mut added = Vec::new();
        for (callee, trigger) in callees {
            let kind = match &callee {
                CalleeName::Group(_) => ProbeKind::CG,
                CalleeName::Cell(cell) => match self.component.find_cell(*cell) {
                    Some(cell) if cell.borrow().is_component() => ProbeKind::CC,
                    _ => ProbeKind::CP,
                },
                CalleeName::Reference(at) => match self.own_references().cells[*at].prototype {
                    ir::CellType::Component { .. } => ProbeKind::CC,
                    _ => ProbeKind::CP,
                },
            };
            let mut builder = ir::Builder::new(self.component, self.lib);
            let (probe, port) = add_probe(&mut builder, &mut self.probes.count, kind, self.prefix);
            let on = builder.add_constant(1, 1);
            let on = on.borrow().get("out");
            for (source, guard) in trigger.terms {
                added.push(ir::Assignment {
                    dst: port.clone(),
                    src: source.unwrap_or_else(|| on.clone()),
                    guard: Box::new(guard),
                    attributes: ir::Attributes::default(),
                });
            }
            self.probes.calls.push(CallProbe {
                caller,
                callee,
                probe,
            });
        }
        added
    }

    /// What an assignment calls, and whether it does so by a `go` port (else by driving inputs).
    pub fn callee<T>(
        &self,
        assignment: &ir::Assignment<T>,
        in_group: bool,
    ) -> Option<(CalleeName, bool)> {
        if let Some(group) = called_group(assignment) {
            return Some((CalleeName::Group(group), true));
        }
        let dst = assignment.dst.borrow();
        if dst.is_hole() || self.is_handed_over(&assignment.src.borrow()) {
            return None;
        }
        let cell = dst.cell_parent();
        let cell = cell.borrow();
        let has_state = |prototype: &ir::CellType| match prototype {
            ir::CellType::Component { name } => !self.comb_components.contains(name),
            _ => true,
        };
        let (callee, started, go) = match &cell.prototype {
            ir::CellType::Constant { .. } => return None,
            ir::CellType::ThisComponent => {
                let references = self.own_references();
                let RefPort::Own(at, go) = references.port(dst.name)? else {
                    return None;
                };
                let reference = &references.cells[at];
                let started = reference.is_started() && has_state(&reference.prototype);
                (CalleeName::Reference(at), started, go)
            }
            prototype => {
                let started = cell.find_all_with_attr(ir::NumAttr::Go).next().is_some();
                let go = dst.attributes.has(ir::NumAttr::Go);
                let callee = CalleeName::Cell(cell.name());
                (callee, started && has_state(prototype), go)
            }
        };
        if started {
            go.then_some((callee, true))
        } else {
            // What is only driven continuously computes all the time, which says nothing about a cycle.
            in_group.then_some((callee, false))
        }
    }

    /// Whether `port` carries what an invoked component drives a `ref` cell with: whoever wires it to
    /// the cell calls nothing by that, the component does.
    pub fn is_handed_over(&self, port: &ir::Port) -> bool {
        if port.is_hole() {
            return false;
        }
        match port.cell_parent().borrow().prototype {
            ir::CellType::Component { name } => self
                .references
                .get(&name)
                .is_some_and(|references| references.port(port.name).is_some()),
            ir::CellType::ThisComponent => {
                self.own_references().port(port.name) == Some(RefPort::HandedOn)
            }
            _ => false,
        }
    }

    pub fn own_references(&self) -> &References {
        &self.references[&self.component.name]
    }
}

/// When a callee is active: the sources of its `go`, each with its guard.
pub(super) struct Activation<T> {
    /// `None` stands for a constant 1.
    pub terms: Vec<(Option<ir::RRC<ir::Port>>, ir::Guard<T>)>,
}

impl<T> Default for Activation<T> {
    fn default() -> Self {
        Self { terms: Vec::new() }
    }
}

impl<T: Clone + Eq> Activation<T> {
    /// Adds a condition; terms with the same source become one, so that no two assignments drive
    /// the probe with the same value at once.
    pub fn add(&mut self, source: Option<&ir::RRC<ir::Port>>, guard: &ir::Guard<T>) {
        let source = source
            .filter(|port| !port.borrow().is_constant(1, 1))
            .cloned();
        let same = |a: &Option<ir::RRC<ir::Port>>| match (a, &source) {
            (Some(a), Some(b)) => std::rc::Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        match self.terms.iter_mut().find(|(term, _)| same(term)) {
            None => self.terms.push((source, guard.clone())),
            Some((_, term)) if term.is_true() || term == guard => {}
            Some((_, term)) if guard.is_true() => *term = ir::Guard::True,
            Some((_, term)) => {
                *term = std::mem::replace(term, ir::Guard::True).or(guard.clone());
            }
        }
    }
}
