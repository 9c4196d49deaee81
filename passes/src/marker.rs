//! The cell that ties a simulation to its metadata: its name holds their fingerprint.
//!
//! The cell is put in with the probes, so that it goes through the same passes; it gets its name
//! when the metadata are complete.

use calyx_ir as ir;
use petal_metadata::{Metadata, ProbePrefix};

use crate::instrument::add_cell;

/// Adds the cell to the main component.
pub(crate) fn add(ctx: &mut ir::Context, prefix: &ProbePrefix) {
    let lib = &ctx.lib;
    let main = ctx.entrypoint;
    if let Some(main) = ctx.components.iter_mut().find(|c| c.name == main) {
        let mut builder = ir::Builder::new(main, lib);
        let cell = add_cell(&mut builder, &prefix.marker(""), prefix);
        let on = builder.add_constant(1, 1);
        let assignment = builder.build_assignment(
            cell.borrow().get("in"),
            on.borrow().get("out"),
            ir::Guard::True,
        );
        builder.component.continuous_assignments.push(assignment);
    }
}

/// Gives the cell the name that belongs to `metadata`.
pub(crate) fn name(ctx: &mut ir::Context, metadata: &Metadata) {
    let before = ir::Id::new(metadata.prefix.marker(""));
    let name = ir::Id::new(metadata.prefix.marker(&metadata.fingerprint));
    let mut components = ctx.components.iter_mut();
    let Some(component) = components.find(|component| component.find_cell(before).is_some()) else {
        return;
    };
    let cells: Vec<ir::RRC<ir::Cell>> = component.cells.drain().collect();
    for cell in &cells {
        if cell.borrow().name() == before {
            rename(&mut cell.borrow_mut(), name);
        }
    }
    component.cells.append(cells.into_iter());
}

/// A cell's name can't be set, so the cell becomes another one with the same content. The cells of
/// its component have to be put in again.
pub(crate) fn rename(cell: &mut ir::Cell, name: ir::Id) {
    let mut replacement = ir::Cell::new(name, cell.prototype.clone());
    replacement.ports = std::mem::take(&mut cell.ports);
    replacement.attributes = std::mem::take(&mut cell.attributes);
    *cell = replacement;
}
