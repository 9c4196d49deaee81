//! A Calyx driver that uses petal's passes as a plug-in: compiles designs with probes, prints the
//! Verilog of their components, and writes the metadata of each beside it.
//!
//! ```text
//! cargo run -p petal-passes --example driver -- LIBRARY DESIGN.futil METADATA.json ...
//! ```
//!
//! `petal_compiler` has the calls that the published compiler and upstream's spell differently. A driver that is built with
//! one of them alone calls that.

use std::path::Path;

use calyx_backend::{Backend, VerilogBackend};
use calyx_ir as ir;
use calyx_opt::traversal::Named as _;
use calyx_utils::{CalyxResult, Error, OutputFile};

fn main() -> CalyxResult<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((library, designs)) = args.split_first() else {
        return Err(Error::misc(
            "usage: driver LIBRARY DESIGN.futil METADATA.json ...",
        ));
    };
    let mut manager = petal_compiler::default_passes()?;
    petal_passes::register(&mut manager)?;
    for design in designs.chunks(2) {
        let [design, metadata] = design else {
            return Err(Error::misc("a design lacks its METADATA.json"));
        };
        let mut ctx = read(Path::new(design), Path::new(library), Path::new(metadata))?;
        petal_compiler::run_pass(&manager, &mut ctx, "profile-all")?;
        VerilogBackend.run(ctx, OutputFile::Stdout)?;
    }
    Ok(())
}

/// Reads a design whose metadata are to go to the file `metadata`.
///
/// # Errors
/// When a file is missing or is not Calyx.
pub fn read(design: &Path, library: &Path, metadata: &Path) -> CalyxResult<ir::Context> {
    let workspace = petal_compiler::workspace(design, library)?;
    let mut ctx = petal_compiler::ast_to_ir(workspace)?;
    let pass = petal_passes::Instrumentation::name();
    ctx.extra_opts
        .push(format!("{pass}:metadata={}", metadata.display()));
    Ok(ctx)
}
