//! Which cells a statement names, and whether it reads, writes or only drives them.
//!
//! Owns what a port tells of that. What follows from it for statements is in `statements.rs`.

use calyx_ir as ir;

use super::effects::Cells;
use crate::tree::View;

/// The cells whose ports a statement names.
#[derive(Default)]
pub(super) struct Uses {
    pub reads: Cells,
    pub writes: Cells,
    pub drives: Cells,
}

impl Uses {
    /// What a control node names itself, without its groups and what is below it.
    pub fn control(&mut self, view: View<'_>) {
        match view {
            View::Dynamic(ir::Control::If(node)) => self.read(&node.port),
            View::Dynamic(ir::Control::While(node)) => self.read(&node.port),
            View::Static(ir::StaticControl::If(node)) => self.read(&node.port),
            View::Dynamic(ir::Control::Invoke(node)) => {
                self.invoke(&node.comp, &node.inputs, &node.outputs, &node.ref_cells);
            }
            View::Static(ir::StaticControl::Invoke(node)) => {
                self.invoke(&node.comp, &node.inputs, &node.outputs, &node.ref_cells);
            }
            View::Dynamic(_) | View::Static(_) => {}
        }
    }

    fn invoke(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        inputs: &[(ir::Id, ir::RRC<ir::Port>)],
        outputs: &[(ir::Id, ir::RRC<ir::Port>)],
        handed_over: &[(ir::Id, ir::RRC<ir::Cell>)],
    ) {
        let cells = handed_over.iter().map(|(_, cell)| cell);
        for cell in cells.chain([cell]) {
            let name = cell.borrow().name();
            self.reads.insert(name);
            self.writes.insert(name);
            self.drives.insert(name);
        }
        for (_, port) in inputs {
            self.read(port);
        }
        for (_, port) in outputs {
            self.drive(port);
        }
    }

    pub fn assignments<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            self.drive(&assignment.dst);
            for port in ports_read(assignment) {
                self.read(&port);
            }
        }
    }

    fn read(&mut self, port: &ir::RRC<ir::Port>) {
        self.reads.extend(name_of(port));
    }

    fn drive(&mut self, port: &ir::RRC<ir::Port>) {
        let Some(cell) = cell_of(port) else { return };
        let name = cell.borrow().name();
        self.drives.insert(name);
        let reads_memory = primitive(&cell.borrow())
            .is_some_and(|of| of.as_ref().starts_with("comb_mem_d"))
            && port.borrow().name.as_ref().starts_with("addr");
        if reads_memory {
            self.reads.insert(name);
        } else if !is_combinational(&cell) {
            self.writes.insert(name);
        }
    }
}

/// The primitive of a cell, if it is one: a component may have any name.
pub fn primitive(cell: &ir::Cell) -> Option<ir::Id> {
    match cell.prototype {
        ir::CellType::Primitive { name, .. } => Some(name),
        _ => None,
    }
}

/// Whether a primitive is declared so; what is not declared may be anything.
pub fn is_declared(ctx: &ir::Context, primitive: ir::Id, attribute: ir::BoolAttr) -> bool {
    let declared = ctx.lib.find_primitive(primitive);
    declared.is_none_or(|declared| declared.attributes.has(attribute))
}

/// The constant that a port always has. What its width has no room for is cut off, as in hardware.
pub fn constant(port: &ir::RRC<ir::Port>) -> Option<u64> {
    let port = port.borrow();
    if port.is_hole() {
        return None;
    }
    let cell = port.cell_parent();
    let cell = cell.borrow();
    let value = match cell.prototype {
        ir::CellType::Constant { val, .. } => Some(val),
        _ if cell.is_primitive(Some("std_const")) => cell.get_parameter("VALUE"),
        _ => None,
    };
    let width = u32::try_from(port.width).ok()?;
    let mask = 1_u64.checked_shl(width).map_or(u64::MAX, |end| end - 1);
    value.map(|value| value & mask)
}

/// The ports that an assignment reads, without constants and those of groups.
pub fn ports_read<T>(assignment: &ir::Assignment<T>) -> Vec<ir::RRC<ir::Port>> {
    let mut ports = assignment.guard.all_ports();
    ports.push(assignment.src.clone());
    ports
}

/// The cell that a port belongs to; `None` for constants, ports of groups and inputs of the component, which do not
/// change while it runs.
pub fn cell_of(port: &ir::RRC<ir::Port>) -> Option<ir::RRC<ir::Cell>> {
    let port = port.borrow();
    if port.is_hole() {
        return None;
    }
    let cell = port.cell_parent();
    let constant = matches!(cell.borrow().prototype, ir::CellType::Constant { .. });
    let is_input = cell.borrow().is_this() && port.direction == ir::Direction::Output;
    (!constant && !is_input).then_some(cell)
}

pub(super) fn name_of(port: &ir::RRC<ir::Port>) -> Option<ir::Id> {
    cell_of(port).map(|cell| cell.borrow().name())
}

/// Whether a cell is of a primitive that keeps nothing.
pub fn is_combinational(cell: &ir::RRC<ir::Cell>) -> bool {
    matches!(
        cell.borrow().prototype,
        ir::CellType::Primitive { is_comb: true, .. }
    )
}

/// The ports that a statement reads, and those that it drives, without its groups.
pub fn ports_of(view: View<'_>) -> (Vec<ir::RRC<ir::Port>>, Vec<ir::RRC<ir::Port>>) {
    let port = match view {
        View::Dynamic(ir::Control::If(node)) => Some(&node.port),
        View::Dynamic(ir::Control::While(node)) => Some(&node.port),
        View::Static(ir::StaticControl::If(node)) => Some(&node.port),
        _ => None,
    };
    let (inputs, outputs) = match view {
        View::Dynamic(ir::Control::Invoke(node)) => {
            (node.inputs.as_slice(), node.outputs.as_slice())
        }
        View::Static(ir::StaticControl::Invoke(node)) => {
            (node.inputs.as_slice(), node.outputs.as_slice())
        }
        _ => (&[][..], &[][..]),
    };
    let read = inputs.iter().map(|(_, port)| port).chain(port);
    let driven = outputs.iter().map(|(_, port)| port);
    (read.cloned().collect(), driven.cloned().collect())
}
