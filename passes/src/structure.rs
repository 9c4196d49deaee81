//! What hardware a lowered program is, so that two can be compared.
//!
//! A lowered program is no more than cells and guarded assignments between their ports. Both are
//! sets: their order means nothing. So two programs with the same ports, cells and assignments in
//! every component are the same hardware. A cell without outputs and with an empty module, such as
//! a probe, changes nothing about the others, so it does not count.

use std::fmt::{self, Write as _};

use calyx_ir as ir;
use petal_metadata::ProbePrefix;
use sha2::{Digest as _, Sha256};

/// A digest of a lowered program's components with their ports, cells and assignments, but for probes.
/// Two programs with equal digests are the same hardware, down to the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structure([u8; 32]);

impl Structure {
    /// The structure of a program after all passes.
    pub(crate) fn of(ctx: &ir::Context) -> Self {
        Self::beside(ctx, |_| false)
    }

    /// The same without all cells and ports of components whose names begin with a prefix.
    pub(crate) fn without(ctx: &ir::Context, prefix: &ProbePrefix) -> Self {
        let beginning = prefix.named("");
        Self::beside(ctx, |name| name.as_ref().starts_with(&beginning))
    }

    fn beside(ctx: &ir::Context, is_left_out: impl Fn(ir::Id) -> bool) -> Self {
        let mut components: Vec<&ir::Component> = ctx.components.iter().collect();
        components.sort_unstable_by_key(|component| component.name.as_ref());
        let mut digest = Sha256::new();
        digest.update(ctx.entrypoint.as_ref());
        for component in components {
            for line in lines(component, &ctx.lib, &is_left_out) {
                digest.update(line);
                digest.update("\n");
            }
        }
        Self(digest.finalize().into())
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A line for the component's signature, then one for each cell and assignment, in order.
fn lines(
    component: &ir::Component,
    lib: &ir::LibrarySignatures,
    is_left_out: &impl Fn(ir::Id) -> bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in component.cells.iter() {
        let cell = cell.borrow();
        if is_left_out(cell.name()) || does_nothing(&cell, lib) {
            continue;
        }
        let mut line = format!("cell {} =", cell.name());
        match &cell.prototype {
            ir::CellType::Primitive {
                name,
                param_binding,
                ..
            } => {
                let _ = write!(line, " {name}");
                for (parameter, value) in param_binding.iter() {
                    let _ = write!(line, " {parameter}={value}");
                }
            }
            ir::CellType::Component { name } => {
                let _ = write!(line, " {name}");
            }
            // Assignments tell which constants they read.
            ir::CellType::Constant { .. } => continue,
            ir::CellType::ThisComponent => {}
        }
        lines.push(line);
    }
    for assignment in &component.continuous_assignments {
        let to_nothing = {
            let port = assignment.dst.borrow();
            let to_left_out = |cell: &ir::Cell| {
                let name = if cell.is_this() {
                    port.name
                } else {
                    cell.name()
                };
                is_left_out(name) || does_nothing(cell, lib)
            };
            !port.is_hole() && to_left_out(&port.cell_parent().borrow())
        };
        if !to_nothing {
            lines.push(ir::Printer::assignment_to_str(assignment));
        }
    }
    lines.sort_unstable();
    let signature = component.signature.borrow();
    let mut first = format!("component {}", component.name);
    for port in &signature.ports {
        let port = port.borrow();
        if is_left_out(port.name) {
            continue;
        }
        let _ = write!(first, " {:?} {}:{}", port.direction, port.name, port.width);
    }
    lines.insert(0, first);
    lines
}

/// Whether a cell is of a primitive without outputs and with an empty body.
fn does_nothing(cell: &ir::Cell, lib: &ir::LibrarySignatures) -> bool {
    let ir::CellType::Primitive { name, .. } = &cell.prototype else {
        return false;
    };
    lib.find_primitive(*name).is_some_and(|primitive| {
        let body = primitive.body.as_ref();
        let mut ports = primitive.signature.iter();
        body.is_some_and(|body| body.trim().is_empty())
            && ports.all(|port| port.direction == ir::Direction::Input)
    })
}
