//! Groups that read a word of a memory and copy it into a register: two steps of a cycle each.
//!
//! Such a group holds the memory until the word is copied, but needs it in its first cycle only. Owns of which groups that is certain, and what
//! each of the two does.

use calyx_ir as ir;
use petal_program::Course;
use petal_program::dependences::{Cells, Effects, cell_of, constant, is_combinational, ports_read};
use petal_program::tree::GroupRef;

use super::Scope;
use super::guards::always;
use super::kept::is_sequential_memory;
use super::steps::Part;
use crate::proof::{self, Assignment};
use crate::rewrites::shifts::is_port;
use crate::rewrites::state::port_of;

impl Scope<'_> {
    /// What a group of two cycles does in the first and in the second one; `None` if it does something else than to read and to copy.
    pub(super) fn read_and_copy(&self, group: &GroupRef, effects: &Effects) -> Option<[Part; 2]> {
        let all = proof::assignments(group);
        let mut enables = all.iter().enumerate().filter(|(_, to)| {
            let is_register =
                cell_of(&to.dst).is_some_and(|cell| cell.borrow().is_primitive(Some("std_reg")));
            is_register && to.dst.borrow().name == "write_en"
        });
        let ((at, enable), None) = (enables.next()?, enables.next()) else {
            return None;
        };
        let (register, _) = port_of(&enable.dst)?;
        is_in_second(group, at, enable).then_some(())?;
        let is_copy = |to: &&Assignment| port_of(&to.dst).is_some_and(|(cell, _)| cell == register);
        let mut copies = all.iter().filter(is_copy);
        let copy = copies.find(|to| is_port(&to.dst, register, "in"))?;
        let (memory, word) = port_of(&copy.src)?;
        let is_plain = copy.guard.is_true()
            && word == "read_data"
            && self
                .component
                .find_cell(memory)
                .is_some_and(|cell| is_sequential_memory(&cell.borrow()))
            && all.iter().filter(is_copy).count() == 2
            && !self.is_seen_elsewhere(register)
            && ![register, memory]
                .iter()
                .any(|cell| self.is_read_by_wires(*cell));
        is_plain.then_some(())?;

        let mut reads = Vec::new();
        let others = all.iter().filter(|to| !is_copy(to));
        for to in others.filter(|to| !to.dst.borrow().is_hole()) {
            let mut to = to.clone();
            *to.guard = match &*to.guard {
                ir::Guard::Info(timing) if timing.get_interval().0 == 0 => ir::Guard::True,
                guard => always(guard, 2)?,
            };
            let of_memory =
                |port: &ir::RRC<ir::Port>| port_of(port).is_some_and(|(cell, _)| cell == memory);
            let is_known = !ports_read(&to).iter().any(of_memory)
                && if is_port(&to.dst, memory, "write_en") {
                    constant(&to.src) == Some(0)
                } else {
                    of_memory(&to.dst)
                        || cell_of(&to.dst).is_some_and(|cell| is_combinational(&cell))
                };
            is_known.then_some(())?;
            reads.push(to);
        }
        let mut starts = reads
            .iter()
            .filter(|to| is_port(&to.dst, memory, "content_en"));
        let (start, None) = (starts.next()?, starts.next()) else {
            return None;
        };
        (start.guard.is_true() && constant(&start.src) == Some(1)).then_some(())?;
        let mut enable = enable.clone();
        *enable.guard = ir::Guard::True;
        enable.src = start.src.clone();

        let own = |cells: &Cells, without: &[ir::Id]| -> Cells {
            let cells = cells.iter().filter(|cell| !without.contains(cell));
            cells.copied().collect()
        };
        let names_register = reads.iter().any(|to| {
            let mut read = ports_read(to).into_iter();
            read.any(|port| port_of(&port).is_some_and(|(cell, _)| cell == register))
        });
        let unread = if names_register {
            &[memory][..]
        } else {
            &[memory, register]
        };
        let read = Effects {
            reads: own(&effects.reads, unread),
            writes: own(&effects.writes, &[register]),
            drives: own(&effects.drives, &[register]),
            timed: effects.timed,
        };
        let may_be = self.aliases.may_be(self.component.name, memory);
        let copied = Effects {
            reads: may_be
                .cloned()
                .unwrap_or_default()
                .into_iter()
                .chain([memory])
                .collect(),
            writes: Cells::from([register]),
            drives: Cells::from([register]),
            timed: effects.timed,
        };
        Some([(reads, read), (vec![copy.clone(), enable], copied)])
    }

    /// Whether something else than the groups of the component may have to do with a cell.
    pub(super) fn is_seen_elsewhere(&self, cell: ir::Id) -> bool {
        self.handed_over.contains(&(self.component.name, cell))
            || self
                .component
                .find_cell(cell)
                .is_none_or(|cell| cell.borrow().is_reference())
    }

    /// Whether wires look at what a cell gives.
    pub(super) fn is_read_by_wires(&self, cell: ir::Id) -> bool {
        let wires = self.component.continuous_assignments.iter();
        let mut read = wires.flat_map(ports_read);
        read.any(|port| port_of(&port).is_some_and(|(of, _)| of == cell))
    }
}

/// Whether an assignment that writes a register, the one with this number, does so in the second of two cycles of its group alone.
fn is_in_second(group: &GroupRef, at: usize, to: &Assignment) -> bool {
    match group {
        GroupRef::Dynamic(group) => Course::of(&group.borrow()).is_some_and(|course| {
            course.cycles() == 2 && course.holds(at).as_deref() == Some(&[false, true])
        }),
        GroupRef::Static(group) => {
            let is_second =
                matches!(&*to.guard, ir::Guard::Info(timing) if timing.get_interval() == (1, 2));
            group.borrow().latency == 2 && is_second && constant(&to.src) == Some(1)
        }
    }
}
