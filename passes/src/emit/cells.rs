//! The cells of a component in its metadata: each gets its entry when it is named first.

use calyx_ir as ir;
use petal_metadata::{Binding, Cell, CellId, CellKind, Id, Origin};

use super::Assembler;
use crate::sharing::Driver;

impl Assembler<'_> {
    pub(super) fn called_cell(&mut self, driver: Option<Driver>, name: ir::Id) -> Option<CellId> {
        let source_name =
            driver.map_or(name, |driver| self.record.sharing.source_cell(driver, name));
        self.cell(source_name, name)
    }

    /// The entry for the source's cell `name`, whose work the cell `instance` does.
    pub(super) fn cell(&mut self, name: ir::Id, instance: ir::Id) -> Option<CellId> {
        if let Some(&id) = self.cell_ids.get(&name) {
            return Some(id);
        }
        let cell = self.component.find_cell(instance)?;
        let kind = self.kind(&cell.borrow().prototype)?;
        Some(self.add_cell(name, kind, Some(instance)))
    }

    fn kind(&self, prototype: &ir::CellType) -> Option<CellKind> {
        match prototype {
            ir::CellType::Component { name } => {
                self.ids.get(name).map(|id| CellKind::Component(*id))
            }
            ir::CellType::Primitive { name, .. } => Some(CellKind::Primitive(name.to_string())),
            ir::CellType::ThisComponent | ir::CellType::Constant { .. } => None,
        }
    }

    fn add_cell(&mut self, name: ir::Id, kind: CellKind, instance: Option<ir::Id>) -> CellId {
        let in_source = self.record.source.cells.iter().find(|(of, _)| *of == name);
        let is_source = in_source.is_some();
        let place = in_source.map(|(_, place)| place.clone());
        let place = place.unwrap_or_default();
        let id = CellId::from_index(self.cells.len());
        self.cells.push(Cell {
            name: name.to_string(),
            kind,
            origin: if is_source {
                Origin::Source
            } else {
                Origin::Compiler
            },
            span: place.span,
            positions: place.positions,
            instance: instance.map(|instance| instance.to_string()),
        });
        self.cell_ids.insert(name, id);
        id
    }

    /// Entries for all `ref` cells, in order.
    pub(super) fn add_references(&mut self) {
        for reference in &self.references[&self.component.name].cells {
            if let Some(kind) = self.kind(&reference.prototype) {
                self.add_cell(reference.name, kind, None);
            }
        }
    }

    /// What an invoke of a cell of `component` hands over.
    pub(super) fn bindings(
        &mut self,
        component: ir::Id,
        handed_over: &[(ir::Id, ir::Id)],
    ) -> Vec<Binding> {
        let references = self.references.get(&component);
        let binding = |&(formal, actual): &(ir::Id, ir::Id)| {
            let formal = references?.position(formal)?;
            let actual = match self.kind(&references?.cells[formal].prototype)? {
                CellKind::Component(_) => self.cell(actual, actual)?,
                // The optimiser may have done without it in the end.
                kind @ CellKind::Primitive(_) => match self.cell(actual, actual) {
                    Some(cell) => cell,
                    None => self.add_cell(actual, kind, Some(actual)),
                },
            };
            Some(Binding {
                formal: CellId::from_index(formal),
                actual,
            })
        };
        handed_over.iter().filter_map(binding).collect()
    }

    /// Entries for all component cells that have hardware of their own.
    pub(super) fn add_instances(&mut self) {
        let instances: Vec<ir::Id> = self
            .component
            .cells
            .iter()
            .map(|cell| cell.borrow())
            .filter(|cell| cell.is_component())
            .map(|cell| cell.name())
            .collect();
        for name in instances {
            self.cell(name, name);
        }
    }
}
