//! What can be looked at in a compiled design: the signals and cells of each instance.
//!
//! Names are those of the Verilog. Knows nothing of what is active in them.

use calyx_ir as ir;

use crate::design::Design;

/// An instance of a component in the compiled design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardwareInstance {
    /// The Verilog instances from the top of the simulation down to this one.
    pub scope: Vec<String>,
    /// The signals in it with their widths in bits: its ports, and those of its cells as `cell_port`.
    pub signals: Vec<(String, u32)>,
    /// Its cells of primitives.
    pub cells: Vec<HardwareCell>,
}

/// A cell of a primitive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardwareCell {
    /// Its name.
    pub name: String,
    /// The primitive's name.
    pub primitive: String,
    /// The primitive's parameters.
    pub parameters: Vec<(String, u64)>,
}

impl Design {
    /// All instances of the compiled design, main first and each before what is in it.
    pub fn instances(&self) -> Vec<HardwareInstance> {
        let mut instances = Vec::new();
        let scope = vec!["toplevel".to_owned(), "main".to_owned()];
        self.unfold(self.program.entrypoint, scope, &mut instances);
        instances
    }

    fn unfold(&self, name: ir::Id, scope: Vec<String>, instances: &mut Vec<HardwareInstance>) {
        let component = self.program.components.iter().find(|of| of.name == name);
        let Some(component) = component else {
            return;
        };
        let mut instance = HardwareInstance {
            scope,
            signals: Vec::new(),
            cells: Vec::new(),
        };
        add_ports(&mut instance, &component.signature.borrow(), "");
        let mut inner = Vec::new();
        for cell in component.cells.iter() {
            let cell = cell.borrow();
            match &cell.prototype {
                ir::CellType::Primitive {
                    name,
                    param_binding,
                    ..
                } => instance.cells.push(HardwareCell {
                    name: cell.name().to_string(),
                    primitive: name.to_string(),
                    parameters: param_binding
                        .iter()
                        .map(|(name, value)| (name.to_string(), *value))
                        .collect(),
                }),
                ir::CellType::Component { name } => {
                    let mut scope = instance.scope.clone();
                    scope.push(cell.name().to_string());
                    inner.push((*name, scope));
                }
                ir::CellType::ThisComponent | ir::CellType::Constant { .. } => continue,
            }
            add_ports(&mut instance, &cell, &format!("{}_", cell.name()));
        }
        instances.push(instance);
        for (name, scope) in inner {
            self.unfold(name, scope, instances);
        }
    }
}

fn add_ports(instance: &mut HardwareInstance, cell: &ir::Cell, prefix: &str) {
    for port in &cell.ports {
        let port = port.borrow();
        let width = u32::try_from(port.width).unwrap_or(u32::MAX);
        instance
            .signals
            .push((format!("{prefix}{}", port.name), width));
    }
}
