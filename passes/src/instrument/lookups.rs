//! Lookups: who drives the address of a memory that gives the word there in the same cycle, and who takes that word. Such a memory is
//! not started, so no call tells of it.

use calyx_ir as ir;
use petal_metadata::ProbeKind;
use petal_program::dependences::ports_read;

use super::Instrumenter;
use super::calls::Activation;
use super::cells::add_probe;
use crate::probes::{CalleeName, LookupProbe};
use crate::references::RefPort;

/// What a port of such a memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Address,
    Data,
}

/// How some assignments use a memory.
struct Found<T> {
    memory: CalleeName,
    asks: Activation<T>,
    takes: bool,
}

impl Instrumenter<'_> {
    /// Records what `assignments` of a group, or continuous ones, look up. Returns the assignments that drive probes: only an address that is driven
    /// in a part of the time needs one.
    pub fn instrument_lookups<T: Clone + Eq>(
        &mut self,
        group: Option<ir::Id>,
        assignments: &[ir::Assignment<T>],
    ) -> Vec<ir::Assignment<T>> {
        let mut added = Vec::new();
        for Found {
            memory,
            asks,
            takes,
        } in self.lookups(assignments)
        {
            let mut probe = None;
            let guards: Vec<ir::Guard<T>> = asks.terms.into_iter().map(|(_, of)| of).collect();
            let asks = !guards.is_empty();
            if asks && !guards.iter().any(ir::Guard::is_true) {
                let mut builder = ir::Builder::new(self.component, self.lib);
                let (count, prefix) = (&mut self.probes.count, self.prefix);
                let (name, port) = add_probe(&mut builder, count, ProbeKind::CP, prefix);
                let on = builder.add_constant(1, 1);
                let on = on.borrow().get("out");
                added.extend(guards.into_iter().map(|guard| ir::Assignment {
                    dst: port.clone(),
                    src: on.clone(),
                    guard: Box::new(guard),
                    attributes: ir::Attributes::default(),
                }));
                probe = Some(name);
            }
            self.probes.lookups.push(LookupProbe {
                group,
                memory,
                asks,
                probe,
                takes,
            });
        }
        added
    }

    /// The memories that assignments use, in their order.
    fn lookups<T: Clone + Eq>(&self, assignments: &[ir::Assignment<T>]) -> Vec<Found<T>> {
        let mut all: Vec<Found<T>> = Vec::new();
        let found = |all: &mut Vec<Found<T>>, memory: CalleeName| {
            let at = all.iter().position(|of| of.memory == memory);
            at.unwrap_or_else(|| {
                all.push(Found {
                    memory,
                    asks: Activation::default(),
                    takes: false,
                });
                all.len() - 1
            })
        };
        for assignment in assignments {
            let dst = assignment.dst.borrow();
            if !self.is_handed_over(&assignment.src.borrow())
                && let Some((memory, Use::Address)) = self.port_of_memory(&dst)
            {
                let at = found(&mut all, memory);
                all[at].asks.add(None, &assignment.guard);
            }
            if !self.is_handed_over(&dst) {
                for port in ports_read(assignment) {
                    if let Some((memory, Use::Data)) = self.port_of_memory(&port.borrow()) {
                        let at = found(&mut all, memory);
                        all[at].takes = true;
                    }
                }
            }
        }
        all
    }

    /// The memory that gives a word in the same cycle of which this is the address or the word.
    fn port_of_memory(&self, port: &ir::Port) -> Option<(CalleeName, Use)> {
        let usage = |name: &str| match name {
            "read_data" => Some(Use::Data),
            _ => name.starts_with("addr").then_some(Use::Address),
        };
        let is_memory = |prototype: &ir::CellType, has: &dyn Fn(&str) -> bool| {
            let ir::CellType::Primitive { name, .. } = prototype else {
                return false;
            };
            name.as_ref().contains("_mem_d") && has("read_data") && !has("content_en")
        };
        if port.is_hole() {
            return None;
        }
        let cell = port.cell_parent();
        let cell = cell.borrow();
        if let ir::CellType::ThisComponent = cell.prototype {
            let references = self.own_references();
            let RefPort::Own(at, _) = references.port(port.name)? else {
                return None;
            };
            let reference = &references.cells[at];
            // The compiler calls it so.
            let name = port.name.as_ref().strip_prefix(reference.name.as_ref())?;
            let name = name.strip_prefix('_')?;
            let is_memory = is_memory(&reference.prototype, &|port| reference.has(port));
            // It may have a number behind it.
            let name = if name.starts_with("read_data") {
                "read_data"
            } else {
                name
            };
            return Some((
                CalleeName::Reference(at),
                usage(name).filter(|_| is_memory)?,
            ));
        }
        let is_memory = is_memory(&cell.prototype, &|port| cell.find(port).is_some());
        let usage = usage(port.name.as_ref()).filter(|_| is_memory)?;
        Some((CalleeName::Cell(cell.name()), usage))
    }
}
