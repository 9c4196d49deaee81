//! What can be looked at in a compiled design: the signals and cells of each instance.
//!
//! Names are those of the Verilog. Knows nothing of what is active in them.

use std::collections::BTreeSet;
use std::path::Path;

use calyx_frontend::PrimitiveInfo;
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
    /// When it is done, if a library of the user's says so.
    pub promise: Option<HardwarePromise>,
}

/// That a cell is done so many cycles after it was started.
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
        let known = self.of_petal();
        self.unfold(self.program.entrypoint, scope, &known, &mut instances);
        instances
    }

    /// The primitives that are from petal's own library, which says of them what is so.
    fn of_petal(&self) -> BTreeSet<ir::Id> {
        let own = self.library.path().canonicalize().ok();
        // The user's files are links in there.
        let is_own = |path: &Path| {
            let real = path.canonicalize().ok();
            own.as_ref()
                .zip(real)
                .is_some_and(|(own, real)| real.starts_with(own))
        };
        let is_known = |body: &str| library::files().values().any(|text| text.contains(body));
        let infos = self.program.lib.prim_infos().iter();
        let own = infos.flat_map(|info| match info {
            PrimitiveInfo::Extern {
                path, primitives, ..
            } if is_own(path) => primitives.keys().copied().collect(),
            PrimitiveInfo::Inline { primitive, .. } => {
                let body = primitive.body.as_deref().unwrap_or_default();
                let is_own = is_known(body.trim());
                is_own.then_some(primitive.name).into_iter().collect()
            }
            PrimitiveInfo::Extern { .. } => Vec::new(),
        });
        own.collect()
    }

    fn unfold(
        &self,
        name: ir::Id,
        scope: Vec<String>,
        known: &BTreeSet<ir::Id>,
        instances: &mut Vec<HardwareInstance>,
    ) {
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
                    promise: (!known.contains(name)).then(|| promise(&cell)).flatten(),
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
            self.unfold(name, scope, known, instances);
        }
    }
}

/// What is said of when a cell is done.
fn promise(cell: &ir::Cell) -> Option<HardwarePromise> {
    let start = cell.ports.iter().find_map(|port| {
        let port = port.borrow();
        let number = port.attributes.get(ir::NumAttr::Go)?;
        let cycles = port.attributes.get(ir::NumAttr::Interval)?;
        Some((port.name.to_string(), number, cycles))
    });
    let (go, number, cycles) = start?;
    let is_done =
        |port: &&ir::RRC<ir::Port>| port.borrow().attributes.get(ir::NumAttr::Done) == Some(number);
    let done = cell.ports.iter().find(is_done)?.borrow().name.to_string();
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
