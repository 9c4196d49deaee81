//! The plain design as Verilog for synthesis, and what in the program each of its wires comes from.
//!
//! Owns the way from the groups of the program to the names in that Verilog. Runs no tool of synthesis.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use calyx_ir as ir;
use calyx_opt::passes::Externalize;
use calyx_opt::traversal::Named as _;
use petal_metadata::Metadata;
use petal_program::{Program, guarded};

use crate::design::{self, Design};
use crate::error::PassesError;
use crate::owners::{Marks, Owners};
use crate::pipeline::{self, Pipeline};
use crate::removal::{self, GroupName};

pub use crate::owners::Groups;

/// Where the `@external` memories of main are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPlace {
    /// Outside: their ports are ports of the design.
    Outside,
    /// Cells of the design, as others are.
    Inside,
}

/// A design as synthesis takes it.
#[derive(Debug)]
pub struct Hardware {
    /// All of it, without what only simulation needs; the top module is `main`.
    pub verilog: String,
    /// The name of the top module.
    pub top: String,
    /// The bits of all ports of the top module.
    pub port_bits: u64,
    /// The instances in the top module that are external memories.
    pub memories: Vec<String>,
}

/// A design for synthesis, and what in the program it comes from.
#[derive(Debug)]
pub struct Synthesizable {
    /// The design.
    pub hardware: Hardware,
    /// What the program is; its groups are those that assignments come from.
    pub metadata: Metadata,
    /// The components, main first.
    pub components: Vec<Component>,
    /// The groups that can be left out of it, for [`without`].
    pub removable: BTreeSet<GroupName>,
}

/// A component in the Verilog.
#[derive(Debug, Clone, Default)]
pub struct Component {
    /// Its module.
    pub module: String,
    /// Its name in the metadata.
    pub name: String,
    /// Its instances of other modules.
    pub cells: Vec<Cell>,
    /// For each wire that assignments drive, the groups of each, in the order of the Verilog.
    pub drivers: BTreeMap<String, Vec<Groups>>,
}

/// An instance of a module.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its name in the Verilog.
    pub instance: String,
    /// Its name in the compiled program, before it got one that Verilog allows.
    pub name: String,
    /// The module: a primitive with its parameters, or a component.
    pub prototype: String,
    /// Whether it is of a component.
    pub is_component: bool,
    /// Whether the program has it, and not the compiler made it.
    pub is_of_program: bool,
    /// Its ports.
    pub ports: Vec<String>,
}

/// Compiles a design for synthesis: the plain one, and, for its names, the one with probes. `None` if they are not the same hardware:
/// then nobody knows what the plain one comes from.
///
/// # Errors
/// When the compiler refuses the program.
pub fn synthesizable(
    plain: Program,
    mut probed: Program,
    pipeline: &Pipeline,
    memories: MemoryPlace,
) -> Result<Option<Synthesizable>, PassesError> {
    let reading = petal_program::compiling();
    let manager = pipeline::stock()?;
    let (pipeline, _) = &pipeline.completed(&plain.ctx);
    let texts = Arc::new(std::mem::take(&mut probed.texts));
    let written = source_cells(&probed.ctx);
    let removable = removal::removable(&plain.ctx);
    let mut found = None;
    let (with_probes, renamed) = pipeline::build(probed, pipeline, |ctx, path| {
        let mut marks = Marks::default();
        let texts = Arc::clone(&texts);
        let (metadata, _) =
            pipeline::run_probed(&manager, ctx, path, texts, pipeline, Some(&mut marks))?;
        found = Some((metadata, marks.take(ctx)));
        Ok(())
    })
    .map_err(|error| match error {
        PassesError::Program(error) => texts.located(error).into(),
        other => other,
    })?;
    let (mut metadata, owners) = found.expect("set by the passes, which have run");
    design::rename_instances(&mut metadata, &renamed);
    metadata.verified = true;
    metadata.seal();
    let mut known = Vec::new();
    let (mut design, _) = pipeline::build(plain, pipeline, |ctx, path| {
        for pass in pipeline.passes() {
            pipeline::run(&manager, ctx, path, pipeline, pass)?;
        }
        known = ctx
            .components
            .iter()
            .map(|component| Known::of(component, &owners, &written))
            .collect();
        Ok(())
    })?;
    if design.structure != with_probes.structure {
        return Ok(None);
    }
    let components = known
        .into_iter()
        .zip(&design.program.components)
        .map(|(known, component)| known.component(component))
        .collect();
    let components = main_first(components, design.program.entrypoint.as_ref());
    design.prepare_for_synthesis(memories)?;
    // The Verilog reads on its own: whoever reads twice may wait for itself.
    drop(reading);
    Ok(Some(Synthesizable {
        hardware: design.hardware()?,
        metadata,
        components,
        removable,
    }))
}

/// Compiles a design for synthesis as [`synthesizable`] does, but without one of its groups.
///
/// # Errors
/// When the compiler refuses what is left.
pub fn without(
    mut plain: Program,
    pipeline: &Pipeline,
    memories: MemoryPlace,
    group: &GroupName,
) -> Result<Hardware, PassesError> {
    let reading = petal_program::compiling();
    let manager = pipeline::stock()?;
    let (pipeline, _) = &pipeline.completed(&plain.ctx);
    removal::remove(&mut plain.ctx, group);
    let (mut design, _) = pipeline::build(plain, pipeline, |ctx, path| {
        for pass in pipeline.passes() {
            pipeline::run(&manager, ctx, path, pipeline, pass)?;
        }
        Ok(())
    })?;
    design.prepare_for_synthesis(memories)?;
    drop(reading);
    design.hardware()
}

fn main_first(mut components: Vec<Component>, main: &str) -> Vec<Component> {
    components.sort_by_key(|component| component.module != main);
    components
}

/// By component: the cells of the source.
type SourceCells = HashMap<ir::Id, BTreeSet<ir::Id>>;

fn source_cells(ctx: &ir::Context) -> SourceCells {
    let of = |component: &ir::Component| {
        let cells = component.cells.iter().map(|cell| cell.borrow().name());
        (component.name, cells.collect())
    };
    ctx.components.iter().map(of).collect()
}

/// What is known of a component before its names become Verilog's.
struct Known {
    name: String,
    /// The names of its cells, in order, and whether the source has them.
    cells: Vec<(String, bool)>,
    /// In the order of its assignments.
    groups: Vec<Groups>,
}

impl Known {
    fn of(component: &ir::Component, owners: &Owners, written: &SourceCells) -> Self {
        let of_component = owners.get(&component.name);
        let groups = component.continuous_assignments.iter().map(|assignment| {
            let text = ir::Printer::assignment_to_str(assignment);
            of_component
                .and_then(|owners| owners.get(&text))
                .cloned()
                .unwrap_or_default()
        });
        let cell = |cell: &ir::RRC<ir::Cell>| {
            let name = cell.borrow().name();
            let cells = written.get(&component.name);
            let is_written = cells.is_some_and(|cells| cells.contains(&name));
            (name.to_string(), is_written)
        };
        Self {
            name: component.name.to_string(),
            cells: component.cells.iter().map(cell).collect(),
            groups: groups.collect(),
        }
    }

    /// With the names of Verilog.
    fn component(self, component: &ir::Component) -> Component {
        let mut drivers: BTreeMap<String, Vec<Groups>> = BTreeMap::new();
        for (assignment, groups) in component.continuous_assignments.iter().zip(self.groups) {
            let wire = wire(&assignment.dst.borrow());
            drivers.entry(wire).or_default().push(groups);
        }
        let cells = component.cells.iter().zip(self.cells);
        let cells = cells.filter_map(|(cell, (name, is_of_program))| {
            let cell = cell.borrow();
            let prototype = prototype(&cell)?;
            Some(Cell {
                instance: cell.name().to_string(),
                name,
                prototype,
                is_component: cell.is_component(),
                ports: cell
                    .ports
                    .iter()
                    .map(|port| port.borrow().name.to_string())
                    .collect(),
                is_of_program,
            })
        });
        Component {
            module: component.name.to_string(),
            name: self.name,
            cells: cells.collect(),
            drivers,
        }
    }
}

fn prototype(cell: &ir::Cell) -> Option<String> {
    match &cell.prototype {
        ir::CellType::Primitive {
            name,
            param_binding,
            ..
        } => {
            let parameters: Vec<String> = param_binding
                .iter()
                .map(|(_, value)| value.to_string())
                .collect();
            Some(format!("{name}({})", parameters.join(", ")))
        }
        ir::CellType::Component { name } => Some(name.to_string()),
        ir::CellType::ThisComponent | ir::CellType::Constant { .. } => None,
    }
}

/// What the backend calls the wire of a port.
fn wire(port: &ir::Port) -> String {
    let parent = port.get_parent_name();
    match &port.parent {
        ir::PortParent::Cell(cell)
            if matches!(
                cell.upgrade().borrow().prototype,
                ir::CellType::ThisComponent
            ) =>
        {
            port.name.to_string()
        }
        _ => format!("{parent}_{}", port.name),
    }
}

impl Design {
    /// Leaves out what only simulation needs, and puts the memories where they are to be.
    fn prepare_for_synthesis(&mut self, memories: MemoryPlace) -> Result<(), PassesError> {
        let ctx = &mut self.program;
        ctx.bc.synthesis_mode = true;
        ctx.bc.enable_verification = false;
        if memories == MemoryPlace::Outside {
            let manager = pipeline::stock()?;
            guarded(&self.path, Externalize::name(), || {
                petal_compiler::run_pass(&manager, ctx, Externalize::name())
            })?;
        }
        Ok(())
    }

    fn hardware(&self) -> Result<Hardware, PassesError> {
        let external = self.memories.iter();
        Ok(Hardware {
            verilog: self.verilog()?,
            top: self.program.entrypoint.to_string(),
            port_bits: self.port_bits(),
            memories: external.map(|memory| memory.instance.clone()).collect(),
        })
    }

    /// The bits of all ports of the top module.
    fn port_bits(&self) -> u64 {
        let main = self.program.entrypoint();
        let signature = main.signature.borrow();
        signature.ports.iter().map(|port| port.borrow().width).sum()
    }
}
