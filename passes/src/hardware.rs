//! What can be looked at in a compiled design: the signals and cells of each instance.
//!
//! Names are those of the Verilog. Knows nothing of what is active in them.

use std::collections::BTreeMap;
use std::path::Path;

use calyx_frontend::{Primitive, PrimitiveInfo};
use calyx_ir as ir;
use petal_program::library;

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

/// That cells of a primitive are done so many cycles after they were started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardwarePromise {
    /// The port that starts it.
    pub go: String,
    /// The port that is high when it is done.
    pub done: String,
    /// The cycles: its `@interval`.
    pub cycles: u64,
}

impl Design {
    /// All instances of the compiled design, main first and each before what is in it.
    pub fn instances(&self) -> Vec<HardwareInstance> {
        let mut instances = Vec::new();
        let scope = vec!["toplevel".to_owned(), "main".to_owned()];
        self.unfold(self.program.entrypoint, scope, &mut instances);
        instances
    }

    /// What libraries of the user's say of when their primitives are done, by their names. Petal's own says what is so.
    pub fn promises(&self) -> BTreeMap<String, HardwarePromise> {
        let own = self.library.path().canonicalize().ok();
        // The user's files are links in there.
        let is_own_file = |path: &Path| {
            let real = path.canonicalize().ok();
            own.as_ref()
                .zip(real)
                .is_some_and(|(own, real)| real.starts_with(own))
        };
        let is_own_text = |body: &str| library::files().values().any(|text| text.contains(body));
        let mut promises = BTreeMap::new();
        let mut add = |primitive: &Primitive, is_own: &dyn Fn() -> bool| {
            let promise = promise(primitive).filter(|_| !is_own());
            promises.extend(promise.map(|promise| (primitive.name.to_string(), promise)));
        };
        for info in self.program.lib.prim_infos() {
            match info {
                PrimitiveInfo::Extern {
                    path, primitives, ..
                } => {
                    for primitive in primitives.values() {
                        add(primitive, &|| is_own_file(path));
                    }
                }
                PrimitiveInfo::Inline { primitive, .. } => {
                    let body = primitive.body.as_deref().unwrap_or_default();
                    add(primitive, &|| is_own_text(body.trim()));
                }
            }
        }
        promises
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

/// What is said of when cells of a primitive are done.
fn promise(primitive: &Primitive) -> Option<HardwarePromise> {
    let mut ports = primitive.signature.iter();
    let (go, number, cycles) = ports.find_map(|port| {
        let number = port.attributes.get(ir::NumAttr::Go)?;
        let cycles = port.attributes.get(ir::NumAttr::Interval)?;
        Some((port.name().to_string(), number, cycles))
    })?;
    let mut ports = primitive.signature.iter();
    let done = ports.find(|port| port.attributes.get(ir::NumAttr::Done) == Some(number))?;
    let done = done.name().to_string();
    Some(HardwarePromise { go, done, cycles })
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
