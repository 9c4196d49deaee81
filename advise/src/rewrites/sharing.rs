//! Cells that do not share their hardware.
//!
//! Calyx 0.7.1 has no attribute for that, but it never shares a cell that a continuous assignment names. So the cell gets one reader
//! that does: a slice of all its bits, which is but wires.

use calyx_ir as ir;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

impl Scope<'_> {
    /// What shares hardware has to wait for what it shares with.
    pub fn unshared(&self, found: &mut Vec<Rewrite>) {
        for cell in self.component.cells.iter() {
            let of = (
                self.component.name.to_string(),
                cell.borrow().name().to_string(),
            );
            if self.observed.shared.contains(&of) {
                found.extend(self.kept_apart(&cell.borrow()));
            }
        }
    }

    fn kept_apart(&self, cell: &ir::Cell) -> Option<Rewrite> {
        let name = cell.name();
        if cell.is_reference() || self.lib.find_primitive("std_slice").is_none() {
            return None;
        }
        let declared = self.span(&cell.attributes)?;
        let is_combinational = matches!(
            cell.prototype,
            ir::CellType::Primitive { is_comb: true, .. }
        );
        // Of what is not stable, the compiler would no longer see that it has to be read at once.
        let is_stable =
            |port: &ir::Port| is_combinational || port.attributes.has(ir::BoolAttr::Stable);
        let first = self.component.get_groups().iter().find_map(|group| {
            let group = group.borrow();
            let mut sources = group.assignments.iter().map(|assignment| &assignment.src);
            let source = sources.find(|source| {
                let port = source.borrow();
                !port.is_hole()
                    && port.get_parent_name() == name
                    && !port.attributes.has(ir::NumAttr::Done)
                    && is_stable(&port)
            })?;
            let (port, width) = (source.borrow().name, source.borrow().width);
            let span = self.span(&group.attributes)?;
            let place = self.text.port(span, name.as_ref(), port.as_ref())?;
            Some((port, width, place))
        });
        let (port, width, place) = first?;
        let wires = self
            .text
            .section(self.span(&self.component.attributes)?, "wires")?;
        let slice = self.free_name(&format!("{name}_apart"), ["in", "out"]);
        let declaration = format!("{slice} = std_slice({width}, {width});");
        let assignment = format!("{slice}.in = {name}.{port};");
        let edits = vec![
            self.text.behind(&declared, &declaration),
            self.text.within(wires, &assignment),
            Edit::replace(place, format!("{slice}.out")),
        ];
        Some(self.rewrite(
            RewriteKind::UnsharedCell,
            self.runs_of(name),
            declared,
            format!("keep the cell `{name}` apart: read it through the slice `{slice}`"),
            (
                Certainty::Proved,
                "a slice of all bits gives what it gets".to_owned(),
            ),
            edits,
        ))
    }
}
