//! A compiled design: its program, its memories and its Verilog.
//!
//! Owns what compilation keeps of the source for a simulation. Does not run passes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calyx_backend::{Backend, VerilogBackend};
use calyx_ir as ir;
use petal_files::Scratch;
use petal_metadata::Metadata;
use petal_program::{Includes, ProgramError, guarded};

use crate::error::PassesError;
use crate::kept_state::Joined;
use crate::structure::Structure;
use crate::verilog_names::Renamed;

/// A memory of main that a simulation loads and stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Name of the `@external` cell.
    pub name: String,
    /// Its name in the Verilog, and so that of its data files: differs where Verilog does not
    /// allow the name.
    pub instance: String,
    /// Bits per element.
    pub width: u64,
    /// Number of elements in each dimension, outermost first.
    pub dims: Vec<u64>,
}

/// A compiled design.
pub struct Design {
    pub(crate) program: ir::Context,
    /// The source.
    pub(crate) path: PathBuf,
    /// Has the files of the extern primitives.
    pub(crate) library: Arc<Scratch>,
    /// What its Verilog needs besides itself.
    pub includes: Includes,
    /// The memories of main.
    pub memories: Vec<Memory>,
    /// The pass that ran because the design needs it, although the pipeline lacks it.
    pub added_pass: Option<&'static str>,
    /// What the compiler may have made wrong, each with its place.
    pub warnings: Vec<String>,
    /// The cells that the warnings are about; empty if it has no probes.
    pub joined: Joined,
    /// What hardware it is, probes left out.
    pub structure: Structure,
}

impl Design {
    /// The program after all passes, with names that Verilog allows: only guarded continuous
    /// assignments, primitives and component instances.
    pub fn program(&self) -> &ir::Context {
        &self.program
    }
    /// How many cells of each primitive there are in all instances of all components, by its name with its parameters,
    /// such as `std_add(32)`. Cells that have no hardware are left out.
    pub fn cells(&self) -> BTreeMap<String, u64> {
        let mut cells = BTreeMap::new();
        let mut waiting = vec![self.program.entrypoint];
        while let Some(name) = waiting.pop() {
            let component = self.program.components.iter().find(|of| of.name == name);
            for cell in component
                .into_iter()
                .flat_map(|component| component.cells.iter())
            {
                match &cell.borrow().prototype {
                    ir::CellType::Component { name } => waiting.push(*name),
                    ir::CellType::Primitive {
                        name,
                        param_binding,
                        ..
                    } if !matches!(name.as_ref(), "std_wire" | "std_const" | "undef") => {
                        let parameters: Vec<String> = param_binding
                            .iter()
                            .map(|(_, value)| value.to_string())
                            .collect();
                        let name = format!("{name}({})", parameters.join(", "));
                        *cells.entry(name).or_default() += 1;
                    }
                    _ => {}
                }
            }
        }
        cells
    }

    /// The whole design as `SystemVerilog`, primitives included; the top module is `main`.
    ///
    /// # Errors
    /// When the compiler's backend refuses the design, when Verilog of its primitives is missing, or the temporary folder can't be written.
    pub fn verilog(&self) -> Result<String, PassesError> {
        self.includes.complete()?;
        let _reading = petal_program::compiling();
        verilog(&self.program, &self.path, self.library.path())
    }
}

/// The Verilog of a compiled program. The backend writes to files only, and starts a file anew for
/// the primitives and for the components: here, in the folder of the library.
fn verilog(ctx: &ir::Context, path: &Path, library: &Path) -> Result<String, PassesError> {
    let failed = |source| ProgramError::Library {
        path: library.to_owned(),
        source,
    };
    let dir = tempfile::tempdir_in(library).map_err(failed)?;
    let primitives = dir.path().join("primitives.sv");
    let components = dir.path().join("components.sv");
    guarded(path, "backend", || {
        VerilogBackend::validate(ctx)?;
        VerilogBackend::link_externs(ctx, &mut petal_compiler::output_file(primitives.clone()))?;
        VerilogBackend::emit(ctx, &mut petal_compiler::output_file(components.clone()))
    })?;
    let mut verilog = std::fs::read_to_string(&primitives).map_err(failed)?;
    verilog.push_str(&std::fs::read_to_string(&components).map_err(failed)?);
    Ok(verilog)
}

/// An `@external` memory of the entry point: name, width and dimensions.
pub(crate) type External = (ir::Id, u64, Vec<u64>);

/// The external memories of the source, before any pass changes them.
pub(crate) fn external_memories(ctx: &ir::Context) -> Vec<External> {
    let Some(main) = ctx.components.iter().find(|c| c.name == ctx.entrypoint) else {
        return vec![];
    };
    main.cells
        .iter()
        .map(|cell| cell.borrow())
        .filter(|cell| cell.get_attribute(ir::BoolAttr::External).is_some())
        .filter_map(|cell| {
            let dims: Vec<u64> = match cell.get_parameter("SIZE") {
                Some(size) => vec![size],
                None => (0..4)
                    .map_while(|dim| cell.get_parameter(format!("D{dim}_SIZE")))
                    .collect(),
            };
            let width = cell.get_parameter("WIDTH")?;
            (!dims.is_empty()).then(|| (cell.name(), width, dims))
        })
        .collect()
}

/// The same memories after compilation, with their names in the Verilog.
pub(crate) fn memories(main: ir::Id, external: Vec<External>, renamed: &Renamed) -> Vec<Memory> {
    external
        .into_iter()
        .map(|(name, width, dims)| Memory {
            name: name.to_string(),
            instance: renamed
                .get(&(main, name))
                .copied()
                .unwrap_or(name)
                .to_string(),
            width,
            dims,
        })
        .collect()
}

/// Brings the Verilog names in the metadata up to date.
pub(crate) fn rename_instances(metadata: &mut Metadata, renamed: &Renamed) {
    let new_name = |component: &str, old: &str| {
        renamed
            .get(&(component.into(), old.into()))
            .map(ToString::to_string)
    };
    for component in &mut metadata.components {
        for cell in &mut component.cells {
            let renamed = |name: &String| new_name(&component.name, name);
            if let Some(name) = cell.instance.as_ref().and_then(renamed) {
                cell.instance = Some(name);
            }
        }
        for register in &mut component.registers {
            if let Some(name) = new_name(&component.name, &register.name) {
                register.name = name;
            }
        }
    }
    for level in metadata.scope.iter_mut().skip(2) {
        // Only a wrapper around the entry point adds a level; it is called main.
        if let Some(name) = new_name("main", level) {
            *level = name;
        }
    }
}
