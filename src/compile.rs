//! From the command line's design to instrumented Verilog and its memories.

use petal_metadata::Metadata;
use petal_passes::{Design, Library, Pipeline, Program};
use petal_simulate::{Data, MemoryLayout};

use crate::args::{DesignArgs, RunArgs};
use crate::failure::Failure;

/// Compiles a design with probes.
pub fn instrument(args: &DesignArgs) -> Result<(Design, Metadata), Failure> {
    let pipeline = Pipeline::parse(&args.passes, &args.disable_pass)?;
    let library = Library::new(&args.library)?;
    let program = Program::read(&args.design, &library)?;
    Ok(petal_passes::instrument(program, &pipeline)?)
}

/// The contents of a design's memories before the run, and what the user should know of them.
pub fn data(args: &RunArgs, design: &Design) -> Result<(Data, Option<String>), Failure> {
    let layouts = layouts(design)?;
    let default = {
        let mut name = args.design.design.clone().into_os_string();
        name.push(".data");
        std::path::PathBuf::from(name)
    };
    let path = match &args.data {
        Some(path) => path.clone(),
        None if default.exists() => default,
        None if layouts.is_empty() => return Ok((Data::zeros(&layouts), None)),
        None => {
            let note = format!(
                "no data file: memories start at zero (give one with --data, or as {})",
                default.display()
            );
            return Ok((Data::zeros(&layouts), Some(note)));
        }
    };
    let text = std::fs::read_to_string(&path).map_err(Failure::io("read the data file", &path))?;
    let data = Data::parse(&text, &path)?;
    data.check(&layouts)?;
    Ok((data, None))
}

fn layouts(design: &Design) -> Result<Vec<MemoryLayout>, Failure> {
    design
        .memories
        .iter()
        .map(|memory| {
            let width = u32::try_from(memory.width).map_err(|_| {
                Failure::new(format!(
                    "memory `{}` is {} bits wide",
                    memory.name, memory.width
                ))
            })?;
            Ok(MemoryLayout {
                name: memory.name.clone(),
                width,
                dims: memory.dims.clone(),
            })
        })
        .collect()
}
